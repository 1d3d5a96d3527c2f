/*
 * What `import` finds: source modules by relative specifier, what the host gave by bare specifier, and
 * nothing else.
 *
 *	gb_js_modules_open(js, &modules, &job);		// modules.imports is the decoded object
 *	JSModuleDef *entry = gb_js_modules_enter(js, &failed_in);
 *
 * Modules are found while their importer is still being read in. One that cannot be found or compiled then is
 * replaced by an empty one and the failure kept, so that the engine is never left with half a graph.
 */
#ifndef GB_JS_MODULES_H
#define GB_JS_MODULES_H

#include "runtime/job.h"
#include "runtime/js/realm.h"
#include "runtime/js/source.h"

struct gb_js_modules {
	const struct gb_job *job;
	JSValue imports;  /* an object, or undefined */
	unsigned reading; /* modules that are being read in just now */
	char *asked_by;   /* the importer of the last specifier that was looked for */
	char *asked_for;  /* the specifier as it stands there */
	JSValue failure;  /* an error, or undefined */
	struct gb_js_sources sources;
	char specifier[256]; /* that failed, and where it stands; the line is 0 if that is not known */
	char importer[256];
	unsigned line, column;
};

/* Once, in the zygote. */
void gb_js_modules_install(struct gb_js *js);

void gb_js_modules_open(struct gb_js *js, struct gb_js_modules *modules, const struct gb_job *job);

/* Compile the job's source and find all that it imports. NULL with an exception pending in *ret_failed_in. */
JSModuleDef *gb_js_modules_enter(struct gb_js *js, JSContext **ret_failed_in);

/* The next job of a session: what was loaded before stays. */
void gb_js_modules_reopen(struct gb_js *js, struct gb_js_modules *modules, const struct gb_job *job);
/* Compile the job's source as a session's. *ret_source lives until the next job. */
JSValue gb_js_modules_enter_session(
    struct gb_js *js, const char *name, const struct gb_js_source **ret_source, JSContext **ret_failed_in);

/* The pending exception of the guest says that modules do not fit together: note who asks for what. */
void gb_js_modules_note_mismatch(struct gb_js *js);

/* Resolve @specifier against the module called @base: "./lib/a.js" and "../b.js" make "./b.js". Bare
 * specifiers, and those that lead out of the graph, stay as they are. The caller's to free(). */
char *gb_js_resolve_specifier(const char *base, const char *specifier);

#endif
