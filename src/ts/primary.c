/* Primary expressions: literals, names, functions, parentheses. */
#include "ts/parser.h"

void gb_ts_reject_decorator(struct ts_parser *p) {
	gb_ts_fail(p, p->token.start,
	    "decorators are not supported; call the function on the class or wrap the method by hand");
}

/* --- literals --- */

void gb_ts_template(struct ts_parser *p, bool in_type) {
	uint32_t from = p->token.start + 1;
	while (gb_ts_template_text(p, from)) {
		if (in_type)
			gb_ts_type(p);
		else
			gb_ts_expression_in(p);
		if (!is(p, '}')) {
			gb_ts_fail(p, p->token.start, "expected '}' in this template");
			return;
		}
		from = p->token.start + 1;
	}
}

bool gb_ts_property_name(struct ts_parser *p) {
	switch (p->token.kind) {
	case '[':
		gb_ts_next(p);
		gb_ts_expression_in(p);
		gb_ts_expect(p, ']');
		return true;
	case T_NAME:
	case T_STRING:
	case T_NUMBER:
	case T_PRIVATE:
		gb_ts_next(p);
		return false;
	case '@':
		gb_ts_reject_decorator(p);
		return false;
	default:
		gb_ts_fail(p, p->token.start, "expected the name of a property");
		return false;
	}
}

static void array_literal(struct ts_parser *p) {
	gb_ts_next(p);
	while (more_before(p, ']')) {
		if (accept(p, ','))
			continue;
		accept(p, T_DOTS);
		gb_ts_assignment_in(p);
		if (!is(p, ']'))
			gb_ts_expect(p, ',');
	}
	gb_ts_expect(p, ']');
}

/* async, get or set before the name of a property; sets *ret_async for async. */
static bool accept_property_modifier(struct ts_parser *p, bool *ret_async) {
	uint8_t word = p->token.word;
	if (word != W_ASYNC && word != W_GET && word != W_SET)
		return false;
	struct ts_token next = gb_ts_peek(p);
	bool named = next.kind == T_NAME || next.kind == T_STRING || next.kind == T_NUMBER ||
		     next.kind == T_PRIVATE || next.kind == '[' || (next.kind == '*' && word == W_ASYNC);
	if (!named || (word == W_ASYNC && next.newline))
		return false;
	*ret_async |= word == W_ASYNC;
	gb_ts_next(p);
	return true;
}

static void property(struct ts_parser *p) {
	bool is_async = false;
	if (accept(p, T_DOTS)) {
		gb_ts_assignment_in(p);
		return;
	}
	while (accept_property_modifier(p, &is_async))
		;
	bool is_generator = accept(p, '*');
	struct ts_token name = p->token;
	uint32_t n_refs = p->refs.n;
	if (is_identifier(&name))
		gb_ts_refer(p)->shorthand = true;
	gb_ts_property_name(p);
	bool shorthand = is(p, ',') || is(p, '}') || is(p, '=');
	if (!shorthand && is_identifier(&name))
		p->refs.n = n_refs;
	if (is(p, '?') || is(p, '!'))
		gb_ts_blank_token(p);
	if (is(p, '(') || is(p, '<')) {
		if (!gb_ts_function_rest(p, is_async, is_generator))
			gb_ts_expect(p, '{');
		return;
	}
	if (name.kind != T_NAME && !is(p, ':'))
		gb_ts_expect(p, ':');
	if (accept(p, ':') || accept(p, '='))
		gb_ts_assignment_in(p);
}

static void object_literal(struct ts_parser *p) {
	gb_ts_next(p);
	while (more_before(p, '}')) {
		property(p);
		if (!accept(p, ','))
			break;
	}
	gb_ts_expect(p, '}');
}

/* --- primary expressions --- */

static void function_expression(struct ts_parser *p, bool is_async) {
	struct ts_context outer = p->in;
	gb_ts_next(p);
	bool is_generator = accept(p, '*');
	gb_ts_open_scope(p, SCOPE_BLOCK);
	if (p->token.kind == T_NAME) {
		gb_ts_declare(p, token_name(&p->token), DECL_VALUE);
		gb_ts_next(p);
	}
	if (!gb_ts_function_rest(p, is_async, is_generator))
		gb_ts_expect(p, '{');
	p->in = outer;
}

static void import_expression(struct ts_parser *p) {
	gb_ts_next(p);
	if (accept(p, '.')) {
		gb_ts_next(p); /* meta, defer, source */
		if (!is(p, '('))
			return;
	}
	if (!is(p, '('))
		gb_ts_expect(p, '(');
	gb_ts_dynamic_import(p);
}

static void primary_word(struct ts_parser *p) {
	switch (p->token.word) {
	case W_FUNCTION:
		function_expression(p, false);
		return;
	case W_CLASS:
		gb_ts_class(p, false, false);
		return;
	case W_ASYNC: {
		struct ts_token next = gb_ts_peek(p);
		if (next.word == W_FUNCTION && !next.newline) {
			gb_ts_next(p);
			function_expression(p, true);
			return;
		}
		break;
	}
	case W_THIS:
	case W_NULL:
	case W_TRUE:
	case W_FALSE:
	case W_SUPER:
		gb_ts_next(p);
		return;
	case W_IMPORT:
		import_expression(p);
		return;
	default:
		break;
	}
	if (at_identifier(p)) {
		gb_ts_refer(p);
		gb_ts_next(p);
	} else {
		gb_ts_fail(p, p->token.start, "expected an expression");
	}
}

void gb_ts_primary(struct ts_parser *p) {
	switch (p->token.kind) {
	case T_NAME:
		primary_word(p);
		return;
	case T_NUMBER:
	case T_STRING:
	case T_PRIVATE:
		gb_ts_next(p);
		return;
	case '`':
		gb_ts_template(p, false);
		return;
	case '(':
		gb_ts_next(p);
		gb_ts_expression_in(p);
		gb_ts_expect(p, ')');
		return;
	case '[':
		array_literal(p);
		return;
	case '{':
		object_literal(p);
		return;
	case '@':
		gb_ts_reject_decorator(p);
		return;
	case '/':
	case T_ASSIGN:
		if (p->source[p->token.start] == '/') {
			gb_ts_rescan_regexp(p);
			gb_ts_next(p);
			return;
		}
		break;
	default:
		break;
	}
	gb_ts_fail(p, p->token.start, "expected an expression");
}
