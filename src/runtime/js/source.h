/*
 * The texts of a run's modules: as they were written, as they are compiled, and the way back from the one to
 * the other. TypeScript is erased before it is compiled; JavaScript is left alone.
 *
 *	struct gb_js_source *source = gb_js_source_add(&sources, name, text, is_typescript);
 *	if (!gb_js_source_prepare(source, &error)) ...		// not TypeScript: error.line, error.column
 *	compile(source->compiled ...);
 *	gb_js_source_map(&sources, "main.ts", &line, &column);	// from compiled to written positions
 */
#ifndef GB_JS_SOURCE_H
#define GB_JS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "runtime/job.h"
#include "ts/erase.h"

struct gb_js_source {
	const char *name;
	struct gb_job_text written, compiled;
	bool is_typescript;
	bool has_imports; /* in output, of JavaScript too */
	bool is_session;  /* of a session's own text, not of a module */
	char *own_name;   /* once it outlives its job */
	struct gb_ts_output output;
};

/* Starts zeroed. */
struct gb_js_sources {
	struct gb_js_source **list;
	size_t n, cap;
};

/* Remember a module's text, which stays the caller's. NULL if memory is out. */
struct gb_js_source *gb_js_source_add(
    struct gb_js_sources *sources, const char *name, struct gb_job_text written, bool is_typescript);
/* Make what is to be compiled. */
bool gb_js_source_prepare(struct gb_js_source *source, struct gb_ts_error *ret_error);
/* The job is over, whose texts these are: keep what it takes to find positions in code that lives on. */
void gb_js_sources_outlive(struct gb_js_sources *sources);
void gb_js_sources_finish(struct gb_js_sources *sources);

/* From where the engine says that something is in module @name to where it stands in the text. */
void gb_js_source_map(
    const struct gb_js_sources *sources, const char *name, unsigned *line, unsigned *column);
/* The same for every position in a stack trace. */
void gb_js_source_map_stack(const struct gb_js_sources *sources, const char *stack, struct gb_buf *out);

/* Where module @importer asks for @specifier. False if it does not. */
bool gb_js_source_find_import(const struct gb_js_sources *sources, const char *importer,
    const char *specifier, unsigned *ret_line, unsigned *ret_column);

/* A literal specifier that holds U+0000, written out or as an escape: the engine would take what stands
 * before it for the whole. *ret_specifier is what stands between the quotes. False if there is none. */
bool gb_js_source_find_zero(
    struct gb_js_source *source, struct gb_str *ret_specifier, unsigned *ret_line, unsigned *ret_column);

struct gb_js_place {
	const char *importer;
	char specifier[256];
	unsigned line, column;
};

/* Who asks module @module for an export that is called @name, and where. @resolve gives the name of the
 * module that a specifier means; its result is freed. */
bool gb_js_source_find_name(const struct gb_js_sources *sources, const char *module, const char *name,
    char *(*resolve)(void *data, const char *importer, const char *specifier), void *data,
    struct gb_js_place *ret_place);

/* One line of a stack trace: "    at f (file.js:3:9)" or "    at file.js:3:9". */
struct gb_js_stack_line {
	const char *file;
	size_t n_file;
	unsigned line, column;
	const char *after; /* what follows the position */
};

/* False if @line, of @n bytes, has no position. */
bool gb_js_stack_line_parse(const char *line, size_t n, struct gb_js_stack_line *ret);

#endif
