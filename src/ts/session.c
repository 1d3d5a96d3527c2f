/*
 * Rewrites a module as a script whose top-level names persist after it, for evaluation in a session.
 *
 * let, const and class become var, whose names are properties of the global object and may be redeclared;
 * imports become awaited import(); the word export is removed. Only top-level statements are changed.
 *
 * A program stays a module, and its last expression becomes its default export.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ts/parser.h"

/* --- names --- */

/* Record what was declared in the outermost scope since @first. */
static void record_declared(struct ts_parser *p, uint32_t first, enum gb_ts_declared_kind kind) {
	for (uint32_t i = first; i < p->decls.n && !p->failed; i++) {
		const struct ts_decl *decl = &p->decls.items[i];
		bool erased = decl->kind == DECL_TYPE || decl->kind == DECL_AMBIENT;
		if (decl->scope != 0 || erased || decl->name.length == 0)
			continue;
		struct gb_ts_declared *declared = ADD(p, declared);
		*declared = (struct gb_ts_declared){decl->name.start, decl->name.length, kind};
	}
}

/* Mark the edits since @first as the session's. */
static void mark_session_edits(struct ts_parser *p, uint32_t first) {
	for (uint32_t i = first; i < p->edits.n; i++)
		p->edits.items[i].session = true;
}

static void blank(struct ts_parser *p, uint32_t start, uint32_t end, const char *text) {
	uint32_t edit = gb_ts_blank(p, start, end);
	if (edit == TS_NONE)
		return;
	if (text)
		gb_ts_overlay(p, edit, text);
	p->edits.items[edit].session = true;
	p->last_blank = TS_NONE;
}

static void reject(struct ts_parser *p, uint32_t at, const char *message) {
	p->rejected = !p->failed;
	gb_ts_fail(p, at, message);
}

/* --- declarations --- */

static void variables(struct ts_parser *p, enum gb_ts_declared_kind kind) {
	uint32_t first = p->decls.n;
	blank(p, p->token.start, p->token.end, "var");
	gb_ts_statement(p);
	record_declared(p, first, kind);
}

/* "class A {}" -> "var A=class A {};" */
static void class_statement(struct ts_parser *p) {
	uint32_t at = p->token.start, first = p->decls.n;
	struct ts_mark mark = gb_ts_mark(p);
	accept_word(p, W_ABSTRACT);
	gb_ts_next(p);
	struct ts_name name = token_name(&p->token);
	gb_ts_rewind(p, &mark);
	uint32_t edit = p->edits.n;
	insert_before(p, at, "var %.*s=", NAME_ARG(p, name));
	mark_session_edits(p, edit);
	gb_ts_statement(p);
	edit = p->edits.n;
	insert_after(p, p->previous_end, ";");
	mark_session_edits(p, edit);
	record_declared(p, first, GB_TS_DECLARED_LET);
}

/* --- imports --- */

static bool is_blank_or_semicolon(const struct ts_parser *p, uint32_t from, uint32_t to) {
	for (; from < to; from++)
		if (!strchr(" \t\r\n;", p->source[from]))
			return false;
	return true;
}

static bool write_names(struct ts_parser *p, uint32_t first, struct gb_buf *text) {
	bool any = false;
	for (uint32_t i = first; i < p->bindings.n; i++) {
		const struct ts_binding *binding = &p->bindings.items[i];
		if (binding->is_type || binding->name == TS_NONE)
			continue;
		const struct gb_ts_name *name = &p->names.items[binding->name];
		gb_buf_append_char(text, any ? ',' : '{');
		if (name->is_default)
			gb_buf_append(text, "default", strlen("default"));
		else
			gb_buf_append(text, p->source + name->start, name->length);
		gb_buf_append_char(text, ':');
		gb_buf_append(text, p->source + binding->local.start, binding->local.length);
		any = true;
	}
	return any;
}

static const struct ts_binding *find_star(const struct ts_parser *p, uint32_t first) {
	for (uint32_t i = first; i < p->bindings.n; i++)
		if (!p->bindings.items[i].is_type && p->bindings.items[i].name == TS_NONE)
			return &p->bindings.items[i];
	return NULL;
}

/* 'import d, {a as b} from "m"' -> 'var {default:d,a:b}=await import("m");' */
static void write_import(struct ts_parser *p, uint32_t first, struct gb_buf *text) {
	const struct gb_ts_import *import = &p->imports.items[p->imports.n - 1];
	const struct ts_binding *star = find_star(p, first);
	gb_auto_buf struct gb_buf names;
	gb_buf_init(&names, p->size * 2 + 64);
	bool named = write_names(p, first, &names);
	if (named || star)
		gb_buf_append(text, "var ", strlen("var "));
	if (star)
		gb_buf_printf(text, "%.*s=", NAME_ARG(p, star->local));
	if (!star && named)
		gb_buf_printf(text, "%.*s}=", (int)names.len, names.data);
	gb_buf_printf(text, "await import(%.*s)", (int)import->length, p->source + import->specifier);
	if (star && named)
		gb_buf_printf(text, ",%.*s}=%.*s", (int)names.len, names.data, NAME_ARG(p, star->local));
	gb_buf_append_char(text, ';');
}

static void import_statement(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	uint32_t start = p->token.start;
	gb_ts_statement(p);
	/* An import of types was erased, and "import a = b.c" imports no module. */
	if (p->failed || p->imports.n == mark.imports)
		return;
	const struct gb_ts_import *import = &p->imports.items[p->imports.n - 1];
	if (!is_blank_or_semicolon(p, import->specifier + import->length, p->previous_end)) {
		reject(p, start, "import attributes are not supported: a session's modules are JavaScript");
		return;
	}
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, p->size * 4 + 256);
	write_import(p, mark.bindings, &text);
	p->statements.n = mark.statements;
	uint32_t edit = p->edits.n;
	insert_before(p, start, "%s", gb_buf_c_str(&text) ? text.data : "");
	mark_session_edits(p, edit);
	blank(p, start, p->previous_end, NULL);
	record_declared(p, mark.decls, GB_TS_DECLARED_LET);
}

/* --- exports --- */

static void session_statement(struct ts_parser *p);

static bool at_named_declaration(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	bool is_declaration = true;
	if (is_word(p, W_INTERFACE))
		return true;
	if (accept_word(p, W_ASYNC))
		is_declaration = is_word(p, W_FUNCTION) && !p->token.newline;
	accept_word(p, W_ABSTRACT);
	if (is_declaration && accept_word(p, W_FUNCTION))
		accept(p, '*');
	else if (is_declaration)
		is_declaration = accept_word(p, W_CLASS);
	is_declaration = is_declaration && at_identifier(p) && !is_word(p, W_EXTENDS);
	gb_ts_rewind(p, &mark);
	return is_declaration;
}

/* "export default x": x is the value of the script, unless more statements follow. */
static void default_statement(struct ts_parser *p) {
	blank(p, p->token.start, p->token.end, NULL);
	gb_ts_next(p);
	if (at_named_declaration(p)) {
		session_statement(p);
		return;
	}
	uint32_t edit = p->edits.n;
	insert_before(p, p->token.start, "void 0,");
	mark_session_edits(p, edit);
	gb_ts_assignment(p, false);
	gb_ts_semicolon(p);
	p->previous = '}';
}

static void export_statement(struct ts_parser *p) {
	uint32_t start = p->token.start;
	struct ts_token next = gb_ts_peek(p);
	if (next.kind == '*') {
		reject(p, start, "a session exports nothing; write 'import * as name from ...'");
		return;
	}
	if (next.kind != '{') {
		blank(p, start, p->token.end, NULL);
		gb_ts_next(p);
		if (is_word(p, W_DEFAULT))
			default_statement(p);
		else
			session_statement(p);
		return;
	}
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_statement(p);
	if (p->imports.n > mark.imports) {
		reject(p, start, "a session exports nothing; write 'import { ... } from ...'");
		return;
	}
	gb_ts_forget(p, &mark);
	blank(p, start, p->previous_end, ";");
}

static void session_statement(struct ts_parser *p) {
	uint32_t first = p->decls.n;
	bool is_enum = is_word(p, W_CONST) && gb_ts_peek(p).word == W_ENUM;
	bool declares = p->token.word != W_NONE && gb_ts_at_declaration(p);
	if (is_word(p, W_EXPORT)) {
		export_statement(p);
	} else if (declares && !is_enum && is_word(p, W_CONST)) {
		variables(p, GB_TS_DECLARED_CONST);
	} else if (declares && is_word(p, W_LET)) {
		variables(p, GB_TS_DECLARED_LET);
	} else if (declares && (is_word(p, W_CLASS) || is_word(p, W_ABSTRACT))) {
		class_statement(p);
	} else if (declares && is_word(p, W_IMPORT)) {
		import_statement(p);
	} else {
		gb_ts_statement(p);
		record_declared(p, first, GB_TS_DECLARED_VAR);
	}
}

void gb_ts_session_statements(struct ts_parser *p) {
	while (!p->failed && !is(p, T_END))
		session_statement(p);
}

/* --- a program --- */

bool gb_ts_program_statements(struct ts_parser *p) {
	bool exports = false, is_expression = false;
	while (!p->failed && !is(p, T_END)) {
		uint32_t start = p->token.start;
		bool is_empty = is(p, ';');
		exports |= is_word(p, W_EXPORT);
		p->expression.start = TS_NONE;
		gb_ts_statement(p);
		/* The expression of a statement that begins elsewhere belongs to an inner one. */
		if (!is_empty)
			is_expression = p->expression.start == start;
		if (is_expression && !is_empty)
			p->value = p->expression;
	}
	if (p->failed || exports || !is_expression)
		return false;
	uint32_t edit = p->edits.n;
	insert_before(p, p->value.start, "export default(0,");
	insert_after(p, p->value.start + p->value.length, ")");
	mark_session_edits(p, edit);
	return true;
}

void gb_ts_keep_session_edits(struct ts_parser *p) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->edits.n; i++)
		if (p->edits.items[i].session)
			p->edits.items[n++] = p->edits.items[i];
	p->edits.n = n;
}
