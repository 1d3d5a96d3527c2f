/*
 * TypeScript made into JavaScript by erasing types. Types become spaces, so lines and columns stay as they
 * were; where text must be inserted (enums, namespaces, parameter properties), a map leads back.
 *
 *	struct gb_ts_output out;
 *	struct gb_ts_error error;
 *	gb_ts_output_init(&out, 16 << 20);
 *	if (!gb_ts_erase(source, n, &out, &error))
 *		... error.line, error.column, error.message
 *	JS_Eval(ctx, out.text.data, out.text.len, ...);		// has a zero after its end
 *	gb_ts_map(&out, &line, &column);			// a position of the engine -> of the source
 *	gb_ts_output_finish(&out);
 *
 * What is understood is what TypeScript 5.9 parses; what cannot be erased (decorators, accessor, JSX,
 * import = require, export =) is refused with a message that says what to write instead. Types are not
 * checked. docs/TYPESCRIPT.md tells the rest.
 *
 * Lines end where they end for the engine; columns are bytes, counted from 1, as quickjs-ng counts them.
 *
 * The time is linear in the size of the text. What would not be ends in an error: nesting deeper than a
 * limit, and text that can be read in so many ways that a budget of work runs out. There is no global state.
 */
#ifndef GB_TS_ERASE_H
#define GB_TS_ERASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { GB_TS_SOURCE_MAX = 256 << 20, GB_TS_MESSAGE_MAX = 240 };

struct gb_ts_error {
	char message[GB_TS_MESSAGE_MAX];
	unsigned line, column;
};

enum gb_ts_import_kind {
	GB_TS_IMPORT,         /* import ... from "specifier", import "specifier" */
	GB_TS_EXPORT_FROM,    /* export ... from "specifier" */
	GB_TS_IMPORT_DYNAMIC, /* import("specifier"), if a string literal is all that stands there */
};

/* A module that the text asks for. Imports that were erased are not among them. */
struct gb_ts_import {
	enum gb_ts_import_kind kind;
	uint32_t specifier, length; /* the literal in the source, quotes included */
	uint32_t first_name, n_names;
};

/* A name that is asked of a module, as it stands in the source (it may be a literal). The "default" of
 * "import x from" is written as x. */
struct gb_ts_name {
	uint32_t start, length;
	bool is_default;
};

enum gb_ts_declared_kind {
	GB_TS_DECLARED_VAR, /* or a function: what was there before stays until it is assigned */
	GB_TS_DECLARED_LET, /* or a class, or an import */
	GB_TS_DECLARED_CONST,
};

/* A name that a session's text declares at its top level, in the source. */
struct gb_ts_declared {
	uint32_t start, length;
	enum gb_ts_declared_kind kind;
};

struct gb_ts_shift;

struct gb_ts_output {
	struct gb_buf text; /* with a zero after its end */
	struct gb_ts_shift *shifts;
	size_t n_shifts;
	struct gb_ts_import *imports;
	size_t n_imports;
	struct gb_ts_name *names;
	size_t n_names;
	struct gb_ts_declared *declared; /* by gb_ts_erase_session only */
	size_t n_declared;
};

/* @max bounds the text that is made. */
void gb_ts_output_init(struct gb_ts_output *out, size_t max);
/* Release what it holds; it may be used again. */
void gb_ts_output_finish(struct gb_ts_output *out);

/* Erase the types of @source, which has @n bytes and a zero after them. On failure @out holds nothing. */
bool gb_ts_erase(const char *source, size_t n, struct gb_ts_output *out, struct gb_ts_error *ret_error);

/* The same for a script whose top-level names are to survive it, and may be declared again by the next: let,
 * const and class become var, imports are awaited, and exports are plain declarations. Of what is not
 * @typescript nothing else changes, and text that cannot be read stays as it is, for the engine to refuse. */
bool gb_ts_erase_session(
    const char *source, size_t n, bool typescript, struct gb_ts_output *out, struct gb_ts_error *ret_error);

/* Only find the imports of @source, which is JavaScript: @out gets no text. Never fails; of text that is not
 * JavaScript it finds what comes before the mistake. */
void gb_ts_find_imports(const char *source, size_t n, struct gb_ts_output *out);

/* A position in the erased text -> the position in the source. Inserted text has the position of what it
 * stands for. */
void gb_ts_map(const struct gb_ts_output *out, unsigned *line, unsigned *column);

/* The position of a byte of the source. */
void gb_ts_locate(const char *source, size_t n, size_t offset, unsigned *ret_line, unsigned *ret_column);

#endif
