/*
 * Resolution of `import`: source modules by relative specifier, host imports by bare specifier, and nothing
 * else.
 *
 *	gb_js_modules_open(js, &modules, &job);		// modules.imports is the decoded object
 *	JSModuleDef *entry = gb_js_modules_enter(js, &failed_in);
 *
 * Modules are resolved while their importer is being read. A module that cannot be found or compiled is
 * replaced by an empty one and the failure recorded, so that the engine never has an incomplete graph.
 */
#ifndef GB_JS_MODULES_H
#define GB_JS_MODULES_H

#include "runtime/job.h"
#include "runtime/js/realm.h"
#include "runtime/js/source.h"

struct gb_js_modules {
	const struct gb_job *job;
	JSValue imports;      /* an object, or undefined */
	unsigned reading;     /* number of modules being read */
	char *last_importer;  /* importer of the last resolved specifier */
	char *last_specifier; /* that specifier as written */
	JSValue failure;      /* an error, or undefined */
	bool has_value;       /* the default export of the entry is its last expression */
	struct gb_js_sources sources;
	char specifier[256]; /* of the failed import, and its position; line is 0 if unknown */
	char importer[256];
	unsigned line, column;
};

/* Call once, in the zygote. */
void gb_js_modules_install(struct gb_js *js);

void gb_js_modules_open(struct gb_js *js, struct gb_js_modules *modules, const struct gb_job *job);

/* Compile the job's source and resolve all its imports. NULL with an exception pending in *ret_failed_in. */
JSModuleDef *gb_js_modules_enter(struct gb_js *js, JSContext **ret_failed_in);

/* The next job of a session: loaded modules are kept. */
void gb_js_modules_reopen(struct gb_js *js, struct gb_js_modules *modules, const struct gb_job *job);
/* Compile the job's source for a session. *ret_source is valid until the next job. */
JSValue gb_js_modules_enter_session(
    struct gb_js *js, const char *name, const struct gb_js_source **ret_source, JSContext **ret_failed_in);

/* The guest's pending exception reports a missing export: record the importer and the position. */
void gb_js_modules_record_mismatch(struct gb_js *js);

/* Resolve @specifier against the module @base: "./lib/a.js" and "../b.js" give "./b.js". Bare specifiers, and
 * those that lead out of the graph, are returned unchanged. The caller frees the result. */
char *gb_js_resolve_specifier(const char *base, const char *specifier);

#endif
