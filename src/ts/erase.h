/*
 * Converts TypeScript to JavaScript by erasing types. Types become spaces, so lines and columns do not
 * change; where text must be inserted (enums, namespaces, parameter properties), gb_ts_map() maps positions
 * back.
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
 * The input language is what TypeScript 5.9 parses. Constructs that cannot be erased (decorators, accessor,
 * JSX, import = require, export =) are rejected with a message that suggests an alternative. Types are not
 * checked. For details see docs/TYPESCRIPT.md.
 *
 * Line terminators are those of the engine; columns are bytes, counted from 1, as in quickjs-ng.
 *
 * The time is linear in the size of the text. Input that would take longer is rejected: nesting deeper than a
 * limit, and text so ambiguous that the work budget runs out. There is no global state.
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
	bool is_incomplete; /* the text ends inside a construct: more text could make it valid */
};

enum gb_ts_import_kind {
	GB_TS_IMPORT,         /* import ... from "specifier", import "specifier" */
	GB_TS_EXPORT_FROM,    /* export ... from "specifier" */
	GB_TS_IMPORT_DYNAMIC, /* import("specifier"), only if its argument is a string literal */
};

/* A module that the text imports. Erased imports are not included. */
struct gb_ts_import {
	enum gb_ts_import_kind kind;
	uint32_t specifier, length; /* of the literal in the source, quotes included */
	uint32_t first_name, n_names;
};

/* A name that is imported from a module, as written in the source (possibly a string literal). For "import x
 * from", which imports "default", it is x. */
struct gb_ts_name {
	uint32_t start, length;
	bool is_default;
};

enum gb_ts_declared_kind {
	GB_TS_DECLARED_VAR, /* or a function: an earlier value stays until the name is assigned */
	GB_TS_DECLARED_LET, /* or a class, or an import */
	GB_TS_DECLARED_CONST,
};

/* A name that a session's text declares at its top level: its position in the source. */
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
	struct gb_ts_declared *declared; /* only set by gb_ts_erase_session */
	size_t n_declared;
	bool
	    has_value; /* only set by gb_ts_erase_program: the last expression has become the default export */
};

/* @max limits the size of the output text. */
void gb_ts_output_init(struct gb_ts_output *out, size_t max);
/* Release all memory; @out may be used again. */
void gb_ts_output_finish(struct gb_ts_output *out);

/* Erase the types of @source, which has @n bytes followed by a zero. On failure @out is empty. */
bool gb_ts_erase(const char *source, size_t n, struct gb_ts_output *out, struct gb_ts_error *ret_error);

/* The same for one script of a session, whose top-level names persist and may be redeclared by the next
 * script: let, const and class become var, imports become awaited import() calls, and "export" is removed.
 * Without @typescript nothing else changes, and text that cannot be parsed is copied unchanged, so that the
 * engine reports the error. */
bool gb_ts_erase_session(
    const char *source, size_t n, bool typescript, struct gb_ts_output *out, struct gb_ts_error *ret_error);

/* The same for a module whose last expression is its value: if the module exports nothing and its last statement is
 * an expression, that becomes "export default(0,expression)". Without @typescript nothing else changes, and text that
 * cannot be parsed is copied unchanged. */
bool gb_ts_erase_program(
    const char *source, size_t n, bool typescript, struct gb_ts_output *out, struct gb_ts_error *ret_error);

/* Find the imports of @source, which is JavaScript; @out gets no text. Never fails: after a syntax error, the
 * imports before it are reported. */
void gb_ts_find_imports(const char *source, size_t n, struct gb_ts_output *out);

/* Map a position in the erased text to the position in the source. Inserted text maps to the source text that
 * it was generated from. */
void gb_ts_map(const struct gb_ts_output *out, unsigned *line, unsigned *column);

/* The line and column of a byte of the source. */
void gb_ts_locate(const char *source, size_t n, size_t offset, unsigned *ret_line, unsigned *ret_column);

#endif
