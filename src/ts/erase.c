#include "ts/erase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ts/parser.h"

/* Limit on scanned bytes, rescans included: real files need up to 3.5 times their size. The minimum takes a
 * few milliseconds. */
enum { SCAN_PER_BYTE = 4, SCAN_LEAST = 3 << 19 };
/* The same for name lookups, which are cheaper. */
enum { LOOK_PER_BYTE = 16, LOOK_LEAST = 4 << 20 };
/* Limit on inserted text. */
enum { TEXT_PER_BYTE = 64, TEXT_LEAST = 1 << 16 };

void gb_ts_output_init(struct gb_ts_output *out, size_t max) {
	*out = (struct gb_ts_output){0};
	gb_buf_init(&out->text, max);
}

void gb_ts_output_finish(struct gb_ts_output *out) {
	size_t max = out->text.max;
	gb_buf_finish(&out->text);
	free(out->shifts);
	free(out->imports);
	free(out->names);
	free(out->declared);
	gb_ts_output_init(out, max);
}

static void parser_init(struct ts_parser *p, const char *source, size_t n) {
	*p = (struct ts_parser){
	    .source = source,
	    .size = (uint32_t)n,
	    .in = {.scope = TS_NONE, .container = TS_NONE},
	    .budget = (int64_t)n * SCAN_PER_BYTE + SCAN_LEAST,
	    .ahead_from = TS_NONE,
	    .assertion = TS_NONE,
	    .jsx = {.start = TS_NONE},
	    .last_blank = TS_NONE,
	    .super_end = TS_NONE,
	};
	gb_buf_init(&p->text, n * TEXT_PER_BYTE + TEXT_LEAST);
	gb_ts_open_scope(p, SCOPE_FUNCTION);
	p->in.in_async = true;
	gb_ts_next(p);
}

static void parser_finish(struct ts_parser *p) {
	void *const owned[] = {p->not_arrow, p->not_arrow_in_conditional, p->edits.items, p->scopes.items,
	    p->decls.items, p->refs.items, p->computed.items, p->bindings.items, p->statements.items,
	    p->exports.items, p->containers.items, p->places.items, p->members.items, p->properties.items,
	    p->imports.items, p->names.items, p->declared.items};
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		free(owned[i]);
	gb_buf_finish(&p->text);
}

static void parse(struct ts_parser *p) {
	while (!p->failed && !is(p, T_END))
		gb_ts_statement(p);
}

/* Move the recorded imports and names to @out, without those that link.c marked as erased (length 0). */
static void move_imports(struct ts_parser *p, struct gb_ts_output *out) {
	uint32_t names = 0, imports = 0;
	for (uint32_t i = 0; i < p->imports.n; i++) {
		struct gb_ts_import import = p->imports.items[i];
		uint32_t first = names;
		for (uint32_t j = 0; j < import.n_names && import.length; j++)
			if (p->names.items[import.first_name + j].length)
				p->names.items[names++] = p->names.items[import.first_name + j];
		import.first_name = first;
		import.n_names = names - first;
		if (import.length)
			p->imports.items[imports++] = import;
	}
	out->imports = p->imports.items;
	out->n_imports = imports;
	out->names = p->names.items;
	out->n_names = names;
	out->declared = p->declared.items;
	out->n_declared = p->declared.n;
	p->imports.items = NULL;
	p->names.items = NULL;
	p->declared.items = NULL;
}

/* --- errors --- */

/* Whether the failure is due to JSX, which begins at *ret_at. */
static bool is_jsx(const struct ts_parser *p, uint32_t *ret_at) {
	if (p->exhausted || p->assertion == TS_NONE)
		return false;
	struct ts_parser again;
	parser_init(&again, p->source, p->size);
	again.jsx.wanted = true;
	parse(&again);
	bool jsx = gb_ts_is_jsx(&again, p, ret_at);
	parser_finish(&again);
	return jsx;
}

static void describe_failure(struct ts_parser *p, struct gb_ts_error *ret) {
	uint32_t at = p->failure.at;
	const char *message = p->failure.message;
	ret->is_incomplete = !p->exhausted && (p->is_open || at >= p->size);
	if (is_jsx(p, &at))
		message = "JSX is not supported; call the function that makes the element";
	else if (at >= p->size && strncmp(message, "expected", 8) == 0) {
		gb_ts_locate(p->source, p->size, p->size, &ret->line, &ret->column);
		snprintf(ret->message, sizeof ret->message, "%s, but the text ends", message);
		return;
	}
	gb_ts_locate(p->source, p->size, at, &ret->line, &ret->column);
	snprintf(ret->message, sizeof ret->message, "%s", message);
}

static bool reject(struct gb_ts_error *ret_error, const char *message) {
	ret_error->line = ret_error->column = 1;
	ret_error->is_incomplete = false;
	snprintf(ret_error->message, sizeof ret_error->message, "%s", message);
	return false;
}

/* --- entry points --- */

static bool render(struct ts_parser *p, struct gb_ts_output *out, struct gb_ts_error *ret_error) {
	if (!p->failed && (gb_buf_failed(&p->text) || !gb_ts_render(p, out))) {
		gb_ts_exhaust(p, "the generated JavaScript is too long");
		p->failure.at = 0;
	}
	bool ok = !p->failed;
	if (ok) {
		move_imports(p, out);
	} else {
		describe_failure(p, ret_error);
		gb_ts_output_finish(out);
	}
	return ok;
}

static void resolve_names(struct ts_parser *p) {
	p->budget = (int64_t)p->size * LOOK_PER_BYTE + LOOK_LEAST;
	gb_ts_link(p);
}

bool gb_ts_erase(const char *source, size_t n, struct gb_ts_output *out, struct gb_ts_error *ret_error) {
	gb_ts_output_finish(out);
	if (n > GB_TS_SOURCE_MAX)
		return reject(ret_error, "the text is too long");
	struct ts_parser p;
	parser_init(&p, source, n);
	parse(&p);
	resolve_names(&p);
	bool ok = render(&p, out, ret_error);
	parser_finish(&p);
	return ok;
}

static bool copy_unchanged(
    const struct ts_parser *p, struct gb_ts_output *out, struct gb_ts_error *ret_error) {
	gb_buf_append(&out->text, p->source, p->size);
	return gb_buf_c_str(&out->text) || reject(ret_error, "the text is too long");
}

bool gb_ts_erase_session(
    const char *source, size_t n, bool typescript, struct gb_ts_output *out, struct gb_ts_error *ret_error) {
	gb_ts_output_finish(out);
	if (n > GB_TS_SOURCE_MAX)
		return reject(ret_error, "the text is too long");
	struct ts_parser p;
	parser_init(&p, source, n);
	gb_ts_session_statements(&p);
	if (typescript)
		resolve_names(&p);
	else
		gb_ts_keep_session_edits(&p);
	bool ok = p.failed && !typescript && !p.rejected ? copy_unchanged(&p, out, ret_error)
							 : render(&p, out, ret_error);
	parser_finish(&p);
	return ok;
}

bool gb_ts_erase_program(
    const char *source, size_t n, bool typescript, struct gb_ts_output *out, struct gb_ts_error *ret_error) {
	gb_ts_output_finish(out);
	if (n > GB_TS_SOURCE_MAX)
		return reject(ret_error, "the text is too long");
	struct ts_parser p;
	parser_init(&p, source, n);
	bool has_value = gb_ts_program_statements(&p);
	if (typescript)
		resolve_names(&p);
	else
		gb_ts_keep_session_edits(&p);
	bool ok = p.failed && !typescript ? copy_unchanged(&p, out, ret_error) : render(&p, out, ret_error);
	out->has_value = ok && has_value && !p.failed;
	parser_finish(&p);
	return ok;
}

void gb_ts_find_imports(const char *source, size_t n, struct gb_ts_output *out) {
	gb_ts_output_finish(out);
	if (n > GB_TS_SOURCE_MAX)
		return;
	struct ts_parser p;
	parser_init(&p, source, n);
	parse(&p);
	move_imports(&p, out);
	parser_finish(&p);
}
