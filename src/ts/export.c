#include "ts/parser.h"

/* --- export { ... } --- */

static void record_export(
    struct ts_parser *p, struct ts_token name, uint32_t start, uint32_t end, bool is_default) {
	struct ts_export *export = ADD(p, exports);
	*export = (struct ts_export){
	    .name = token_name(&name), .start = start, .end = end, .is_default = is_default};
}

static void add_name(struct ts_parser *p, const struct ts_specifier *s) {
	struct gb_ts_name *name = ADD(p, names);
	*name = (struct gb_ts_name){s->imported.start, s->imported.end - s->imported.start, false};
}

/* "export { a } from": the names are not names of this module, so only those marked "type" are erased. */
static void from_clause(
    struct ts_parser *p, uint32_t start, const struct ts_mark *mark, uint32_t first_export) {
	gb_ts_next(p);
	bool any = p->exports.n > first_export;
	p->exports.n = first_export;
	gb_ts_module_specifier(p, GB_TS_EXPORT_FROM, mark->names);
	gb_ts_import_attributes(p);
	gb_ts_semicolon(p);
	if (!any)
		gb_ts_blank_statement(p, start, mark);
}

static void export_list(struct ts_parser *p, uint32_t start, bool is_type, const struct ts_mark *mark) {
	uint32_t first_export = p->exports.n;
	gb_ts_next(p);
	while (more_before(p, '}')) {
		struct ts_specifier s = gb_ts_specifier(p);
		if (is_type || s.is_type) {
			gb_ts_blank(p, s.start, s.end);
			continue;
		}
		record_export(p, s.imported, s.start, s.end, false);
		add_name(p, &s);
	}
	gb_ts_expect(p, '}');
	p->instantiated = true;
	if (is_word(p, W_FROM)) {
		from_clause(p, start, mark, first_export);
	} else {
		gb_ts_semicolon(p);
		p->names.n = mark->names;
	}
	if (is_type && !p->failed)
		gb_ts_blank_statement(p, start, mark);
}

static void export_star(struct ts_parser *p, uint32_t start, bool is_type, const struct ts_mark *mark) {
	gb_ts_next(p);
	if (accept_word(p, W_AS))
		gb_ts_next(p);
	gb_ts_expect_word(p, W_FROM, "expected 'from'");
	gb_ts_module_specifier(p, GB_TS_EXPORT_FROM, p->names.n);
	gb_ts_import_attributes(p);
	gb_ts_semicolon(p);
	p->instantiated = true;
	if (is_type)
		gb_ts_blank_statement(p, start, mark);
}

/* --- export default --- */

static void default_function(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	bool is_async = accept_word(p, W_ASYNC);
	gb_ts_next(p);
	bool is_generator = accept(p, '*');
	if (p->token.kind == T_NAME) {
		gb_ts_declare(p, token_name(&p->token), DECL_FUNCTION);
		gb_ts_next(p);
	}
	if (gb_ts_function_rest(p, is_async, is_generator))
		return;
	gb_ts_semicolon(p);
	gb_ts_blank_statement(p, start, mark);
}

static bool at_word_pair(struct ts_parser *p, uint8_t first, uint8_t second) {
	if (!is_word(p, first))
		return false;
	struct ts_token next = gb_ts_peek(p);
	return next.word == second && !next.newline;
}

static bool at_interface(struct ts_parser *p) {
	if (!is_word(p, W_INTERFACE))
		return false;
	struct ts_token next = gb_ts_peek(p);
	return is_identifier(&next) && !next.newline;
}

static void export_default(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	gb_ts_next(p);
	p->instantiated = true;
	if (at_interface(p)) {
		gb_ts_declaration(p, start, false);
		return;
	}
	if (at_word_pair(p, W_ABSTRACT, W_CLASS))
		gb_ts_blank_token(p);
	if (is(p, '@')) {
		gb_ts_reject_decorator(p);
	} else if (is_word(p, W_CLASS)) {
		gb_ts_class(p, true, false);
	} else if (is_word(p, W_FUNCTION) || at_word_pair(p, W_ASYNC, W_FUNCTION)) {
		default_function(p, start, mark);
	} else {
		struct ts_token first = p->token;
		gb_ts_assignment(p, false);
		bool name = is_identifier(&first) && p->previous_end == first.end;
		gb_ts_semicolon(p);
		if (name)
			record_export(p, first, start, p->previous_end, true);
	}
}

/* --- the rest --- */

/* "export = x" */
static void export_assignment(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	if (!p->in.ambient) {
		gb_ts_fail(p, start, "'export =' is not supported in a module; write 'export default'");
		return;
	}
	gb_ts_next(p);
	gb_ts_expression(p);
	gb_ts_semicolon(p);
	gb_ts_blank_statement(p, start, mark);
}

/* "export as namespace X" */
static void export_as_namespace(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	gb_ts_next(p);
	gb_ts_expect_word(p, W_NAMESPACE, "expected 'namespace'");
	gb_ts_next(p);
	gb_ts_semicolon(p);
	gb_ts_blank_statement(p, start, mark);
}

static void export_declaration(struct ts_parser *p, uint32_t start) {
	uint32_t end = p->previous_end, first_edit = p->edits.n;
	uint8_t word = p->token.word;
	bool local = word == W_FUNCTION || word == W_ASYNC || word == W_CLASS || word == W_ABSTRACT;
	if (is(p, '@')) {
		gb_ts_reject_decorator(p);
		return;
	}
	gb_ts_declaration(p, start, true);
	/* In a namespace, blank the word "export", unless the whole statement was blanked. */
	bool erased = p->edits.n > first_edit && p->edits.items[first_edit].start == start;
	if (local && p->in.container != TS_NONE && !erased)
		gb_ts_blank(p, start, end);
}

void gb_ts_export(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	uint32_t start = p->token.start;
	gb_ts_next(p);
	bool is_type = false;
	if (is_word(p, W_TYPE)) {
		struct ts_token next = gb_ts_peek(p);
		is_type = next.kind == '{' || next.kind == '*';
		if (is_type)
			gb_ts_next(p);
	}
	bool of_module = is(p, '{') || is(p, '*') || is_word(p, W_DEFAULT);
	if (of_module && p->in.container != TS_NONE && !p->in.ambient)
		gb_ts_fail(p, start, "only declarations can be exported from a namespace");
	else if (is(p, '{'))
		export_list(p, start, is_type, &mark);
	else if (is(p, '*'))
		export_star(p, start, is_type, &mark);
	else if (is(p, '='))
		export_assignment(p, start, &mark);
	else if (is_word(p, W_DEFAULT))
		export_default(p, start, &mark);
	else if (is_word(p, W_AS))
		export_as_namespace(p, start, &mark);
	else
		export_declaration(p, start);
}
