/*
 * The module sources of a run: original text, compiled text, and the mapping of positions between them.
 * TypeScript types are erased before compilation; JavaScript is unchanged.
 *
 *	struct gb_js_source *source = gb_js_source_add(&sources, name, text, is_typescript);
 *	if (!gb_js_source_prepare(source, &error)) ...		// invalid TypeScript: error.line, error.column
 *	compile(source->compiled ...);
 *	gb_js_source_map_stack(&sources, stack, &out);		// from compiled to original positions
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
	bool has_imports;    /* imports are in output, for JavaScript too */
	bool is_session;     /* a job of a session, not a module */
	bool is_program;     /* a module whose last expression is its value */
	struct gb_buf whole; /* with the text around it; empty: there is none */
	/* Where it begins and ends in that, and the position of its end in itself. */
	struct gb_js_position {
		unsigned line, column;
	} begin, end, last;
	char *own_name; /* set once it outlives its job */
	struct gb_ts_output output;
};

/* Zero-initialised. */
struct gb_js_sources {
	struct gb_js_source **list;
	size_t n, cap;
};

/* Register a module's text, which remains owned by the caller. NULL if out of memory. */
struct gb_js_source *gb_js_source_add(
    struct gb_js_sources *sources, const char *name, struct gb_job_text written, bool is_typescript);
/* Put text around @source, so that it is a module. Positions stay those of @source. */
bool gb_js_source_wrap(struct gb_js_source *source, struct gb_str head, struct gb_str tail);
/* The same for the body of an async function, which becomes the default export. */
bool gb_js_source_wrap_body(struct gb_js_source *source);
/* Produce the text to compile. */
bool gb_js_source_prepare(struct gb_js_source *source, struct gb_ts_error *ret_error);
/* Call after the job that owns these texts: keeps the position mappings of code that outlives it. */
void gb_js_sources_keep_mappings(struct gb_js_sources *sources);
void gb_js_sources_finish(struct gb_js_sources *sources);

/* Map every position in a stack trace of the engine to the original text. Frames of text around it, and of scripts of
 * Glovebox, are left out. */
void gb_js_source_map_stack(const struct gb_js_sources *sources, const char *stack, struct gb_buf *out);

/* The position where module @importer imports @specifier. False if it does not. */
bool gb_js_source_find_import(const struct gb_js_sources *sources, const char *importer,
    const char *specifier, unsigned *ret_line, unsigned *ret_column);

/* Find a literal specifier that contains U+0000, literally or as an escape: the engine would treat the part
 * before it as the whole specifier. *ret_specifier is the text between the quotes. False if there is none. */
bool gb_js_source_find_nul(
    struct gb_js_source *source, struct gb_str *ret_specifier, unsigned *ret_line, unsigned *ret_column);

struct gb_js_place {
	const char *importer;
	char specifier[256];
	unsigned line, column;
};

/* Find the import of export @name from module @module, and its position. @resolve returns the module name for
 * a specifier; its result is freed. */
bool gb_js_source_find_name(const struct gb_js_sources *sources, const char *module, const char *name,
    char *(*resolve)(void *data, const char *importer, const char *specifier), void *data,
    struct gb_js_place *ret_place);

/* One line of a stack trace: "    at f (file.js:3:9)" or "    at file.js:3:9". */
struct gb_js_stack_line {
	const char *file;
	size_t n_file;
	unsigned line, column;
	const char *after; /* the text after the position */
};

/* False if @line, of @n bytes, has no position. */
bool gb_js_stack_line_parse(const char *line, size_t n, struct gb_js_stack_line *ret);
/* Whether the line is of a script of Glovebox, such as "glovebox:web". */
bool gb_js_stack_line_is_ours(const struct gb_js_stack_line *line);

#endif
