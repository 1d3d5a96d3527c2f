/* Types are parsed only to find where they end. Only the functions under "with edits" record edits. */
#include <string.h>

#include "ts/parser.h"

static void type_or_predicate(struct ts_parser *p);

/* --- parameters and arguments of types --- */

static bool at_variance(struct ts_parser *p) {
	static const uint8_t words[] = {W_CONST, W_IN, W_OUT, W_PUBLIC, W_PRIVATE, W_PROTECTED, W_READONLY};
	for (unsigned i = 0; i < sizeof words; i++)
		if (is_word(p, words[i])) {
			struct ts_token next = gb_ts_peek(p);
			return next.kind == T_NAME && next.word != W_EXTENDS;
		}
	return false;
}

void gb_ts_type_parameters(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.no_conditional_type = false;
	gb_ts_rescan_less(p);
	gb_ts_expect(p, '<');
	if (is(p, '>'))
		gb_ts_fail(p, p->token.start, "expected a type parameter");
	while (more_before(p, '>')) {
		while (at_variance(p))
			gb_ts_next(p);
		if (!at_identifier(p))
			gb_ts_fail(p, p->token.start, "expected a type parameter");
		gb_ts_next(p);
		if (accept_word(p, W_EXTENDS))
			gb_ts_type(p);
		if (accept(p, '='))
			gb_ts_type(p);
		if (!accept(p, ','))
			break;
	}
	p->in = outer;
	gb_ts_expect(p, '>');
}

void gb_ts_type_arguments(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.no_conditional_type = false;
	gb_ts_rescan_less(p);
	gb_ts_expect(p, '<');
	while (more_before(p, '>')) {
		gb_ts_type(p);
		if (!accept(p, ','))
			break;
	}
	p->in = outer;
	gb_ts_expect(p, '>');
}

/* --- functions --- */

/* At '(': whether a function type begins, and not a type in parentheses. */
static bool looks_like_function(struct ts_parser *p) {
	gb_ts_next(p);
	if (is(p, ')') || is(p, T_DOTS))
		return true;
	while (p->token.kind == T_NAME && p->token.word >= W_PRIVATE && p->token.word <= W_PUBLIC &&
	       gb_ts_peek(p).kind == T_NAME)
		gb_ts_next(p);
	if (is(p, '[') || is(p, '{'))
		gb_ts_pattern(p, DECL_TYPE);
	else if (at_identifier(p) || is_word(p, W_THIS))
		gb_ts_next(p);
	else
		return false;
	if (is(p, ':') || is(p, ',') || is(p, '?') || is(p, '='))
		return true;
	return accept(p, ')') && is(p, T_ARROW);
}

static bool at_function_type(struct ts_parser *p) {
	switch (p->token.kind) {
	case '<':
		return true;
	case T_NAME:
		return is_word(p, W_NEW) || (is_word(p, W_ABSTRACT) && gb_ts_peek(p).word == W_NEW);
	case '(':
		break;
	default:
		return false;
	}
	struct ts_mark mark = gb_ts_mark(p);
	bool function = looks_like_function(p) && !p->failed;
	gb_ts_rewind(p, &mark);
	return function;
}

static void function_type(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.no_conditional_type = false;
	accept_word(p, W_ABSTRACT);
	accept_word(p, W_NEW);
	if (is(p, '<'))
		gb_ts_type_parameters(p);
	gb_ts_parameters(p, PARAMS_TYPE);
	gb_ts_expect(p, T_ARROW);
	type_or_predicate(p);
	p->in = outer;
}

/* "asserts x", "asserts x is T", at "asserts". */
static bool at_assertion(struct ts_parser *p) {
	struct ts_token next = gb_ts_peek(p);
	return !next.newline && (next.word == W_THIS || is_identifier(&next));
}

static void assertion_type(struct ts_parser *p) {
	gb_ts_next(p);
	gb_ts_next(p);
	if (is_word(p, W_IS) && !p->token.newline) {
		gb_ts_next(p);
		gb_ts_type(p);
	}
}

static void type_or_predicate(struct ts_parser *p) {
	if (at_identifier(p)) {
		struct ts_token next = gb_ts_peek(p);
		if (next.word == W_IS && !next.newline) {
			gb_ts_next(p);
			gb_ts_next(p);
		}
	}
	gb_ts_type(p);
}

void gb_ts_return_type(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.no_conditional_type = false;
	type_or_predicate(p);
	p->in = outer;
}

/* --- primary types --- */

/* At a name: whether it labels a tuple member. */
static bool at_label(struct ts_parser *p) {
	if (p->token.kind != T_NAME)
		return false;
	struct ts_token next = gb_ts_peek(p);
	if (next.kind != '?')
		return next.kind == ':';
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	bool label = gb_ts_peek(p).kind == ':';
	gb_ts_rewind(p, &mark);
	return label;
}

static void tuple(struct ts_parser *p) {
	gb_ts_expect(p, '[');
	while (more_before(p, ']')) {
		accept(p, T_DOTS);
		if (at_label(p)) {
			gb_ts_next(p);
			accept(p, '?');
			gb_ts_expect(p, ':');
		}
		gb_ts_type(p);
		accept(p, '?');
		if (!accept(p, ','))
			break;
	}
	gb_ts_expect(p, ']');
}

/* The rest of a.b.c<T>, after a. */
static void qualified(struct ts_parser *p) {
	while (accept(p, '.')) {
		if (p->token.kind != T_NAME && p->token.kind != T_PRIVATE)
			gb_ts_fail(p, p->token.start, "expected a name");
		gb_ts_next(p);
	}
	if (p->token.newline)
		return;
	gb_ts_rescan_less(p);
	if (is(p, '<'))
		gb_ts_type_arguments(p);
}

/* import("x", { with: ... }).y<T> */
static void import_type(struct ts_parser *p) {
	gb_ts_next(p);
	gb_ts_expect(p, '(');
	gb_ts_type(p);
	if (accept(p, ',')) {
		if (is(p, '{'))
			gb_ts_assignment_in(p);
		accept(p, ',');
	}
	gb_ts_expect(p, ')');
	qualified(p);
}

static void type_query(struct ts_parser *p) {
	gb_ts_next(p);
	if (is_word(p, W_IMPORT)) {
		import_type(p);
		return;
	}
	if (p->token.kind != T_NAME)
		gb_ts_fail(p, p->token.start, "expected a name");
	gb_ts_next(p);
	qualified(p);
}

static bool at_plain_name(const struct ts_parser *p) {
	return p->token.kind == T_NAME && (p->token.word == W_NONE || p->token.word >= W_FIRST_TYPE);
}

/* A name, perhaps with dots and arguments. */
static void reference_type(struct ts_parser *p) {
	/* string<T> is not a type, so "a as string < b" is a comparison. */
	bool primitive = p->token.word >= W_FIRST_TYPE;
	gb_ts_next(p);
	if (!primitive || is(p, '.'))
		qualified(p);
}

static void type_word(struct ts_parser *p) {
	switch (p->token.word) {
	case W_TYPEOF:
		type_query(p);
		return;
	case W_IMPORT:
		import_type(p);
		return;
	case W_ASSERTS:
		if (at_assertion(p)) {
			assertion_type(p);
			return;
		}
		break;
	case W_THIS:
		gb_ts_next(p);
		if (is_word(p, W_IS) && !p->token.newline) {
			gb_ts_next(p);
			gb_ts_type(p);
		}
		return;
	case W_VOID:
	case W_NULL:
	case W_TRUE:
	case W_FALSE:
		gb_ts_next(p);
		return;
	case W_CONST: /* as const */
		break;
	default:
		if (!at_identifier(p)) {
			gb_ts_fail(p, p->token.start, "expected a type");
			return;
		}
	}
	reference_type(p);
}

static bool ends_type(const struct ts_token *token) {
	return token->kind < T_NAME && strchr(",)]}>=;", token->kind);
}

/* "*", "?", "?T", "!T": JSDoc types, which TypeScript parses in code as well. */
static void jsdoc_type(struct ts_parser *p) {
	bool star = is(p, '*');
	gb_ts_next(p);
	if (!star && !ends_type(&p->token))
		gb_ts_type(p);
}

/* "T?", "T!" */
static bool at_jsdoc_postfix(struct ts_parser *p) {
	if ((!is(p, '?') && !is(p, '!')) || p->token.newline)
		return false;
	struct ts_token next = gb_ts_peek(p);
	return ends_type(&next);
}

static void primary_type(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.no_conditional_type = false;
	switch (p->token.kind) {
	case T_NAME:
		type_word(p);
		break;
	case '-':
		gb_ts_next(p);
		if (!is(p, T_NUMBER))
			gb_ts_fail(p, p->token.start, "expected a number");
		gb_ts_next(p);
		break;
	case T_STRING:
	case T_NUMBER:
		gb_ts_next(p);
		break;
	case '`':
		gb_ts_template(p, true);
		break;
	case '[':
		tuple(p);
		break;
	case '(':
		gb_ts_next(p);
		gb_ts_type(p);
		gb_ts_expect(p, ')');
		break;
	case '{':
		if (gb_ts_at_mapped_type(p))
			gb_ts_mapped_type(p);
		else
			gb_ts_type_members(p);
		break;
	case '*':
	case '?':
	case '!':
		jsdoc_type(p);
		break;
	default:
		gb_ts_fail(p, p->token.start, "expected a type");
	}
	p->in = outer;
}

static void postfix_type(struct ts_parser *p) {
	if (at_plain_name(p))
		reference_type(p);
	else
		primary_type(p);
	while (is(p, '[') && !p->token.newline) {
		gb_ts_next(p);
		if (!is(p, ']')) {
			struct ts_context outer = p->in;
			p->in.no_conditional_type = false;
			gb_ts_type(p);
			p->in = outer;
		}
		gb_ts_expect(p, ']');
	}
	if (at_jsdoc_postfix(p))
		gb_ts_next(p);
}

/* "infer T extends U": before a '?', the extends belongs to the enclosing conditional type. */
static void infer_type(struct ts_parser *p) {
	gb_ts_next(p);
	if (!at_identifier(p))
		gb_ts_fail(p, p->token.start, "expected a type parameter");
	gb_ts_next(p);
	if (!is_word(p, W_EXTENDS))
		return;
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	p->in.no_conditional_type = true;
	gb_ts_type(p);
	p->in = mark.in;
	if (p->failed || (!p->in.no_conditional_type && is(p, '?')))
		gb_ts_rewind(p, &mark);
}

static void operator_type(struct ts_parser *p) {
	if (at_plain_name(p)) {
		postfix_type(p);
		return;
	}
	while (is_word(p, W_KEYOF) || is_word(p, W_UNIQUE) || is_word(p, W_READONLY))
		gb_ts_next(p);
	if (is_word(p, W_INFER))
		infer_type(p);
	else if (at_function_type(p))
		function_type(p);
	else
		postfix_type(p);
}

static void union_type(struct ts_parser *p) {
	if (!accept(p, '|'))
		accept(p, '&');
	for (;;) {
		operator_type(p);
		if (!accept(p, '|') && !accept(p, '&'))
			return;
		accept(p, '&'); /* A | & B */
	}
}

/* Fast path: a type that is only a name, as most are. */
static bool accept_lone_name(struct ts_parser *p) {
	if (!at_plain_name(p) || !ends_here(p, END_OF_TYPE))
		return false;
	gb_ts_next(p);
	return true;
}

void gb_ts_type(struct ts_parser *p) {
	if (accept_lone_name(p))
		return;
	enter(p);
	for (;;) {
		union_type(p);
		if (p->in.no_conditional_type || !is_word(p, W_EXTENDS) || p->token.newline)
			break;
		gb_ts_next(p);
		p->in.no_conditional_type = true;
		gb_ts_type(p);
		p->in.no_conditional_type = false;
		gb_ts_expect(p, '?');
		gb_ts_type(p);
		gb_ts_expect(p, ':');
	}
	leave(p);
}

/* --- with edits --- */

void gb_ts_annotation(struct ts_parser *p) {
	if (!is(p, ':'))
		return;
	uint32_t start = p->token.start;
	gb_ts_next(p);
	if (!accept_lone_name(p)) {
		struct ts_mark mark = gb_ts_mark(p);
		p->in.no_conditional_type = false;
		gb_ts_type(p);
		gb_ts_forget(p, &mark);
		p->in = mark.in;
	}
	gb_ts_blank(p, start, p->previous_end);
}

void gb_ts_return_annotation(struct ts_parser *p) {
	if (!is(p, ':'))
		return;
	uint32_t start = p->token.start;
	gb_ts_next(p);
	if (!accept_lone_name(p)) {
		struct ts_mark mark = gb_ts_mark(p);
		gb_ts_return_type(p);
		gb_ts_forget(p, &mark);
	}
	gb_ts_blank(p, start, p->previous_end);
}

void gb_ts_blank_type_parameters(struct ts_parser *p) {
	if (!is(p, '<'))
		return;
	uint32_t start = p->token.start;
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_type_parameters(p);
	gb_ts_forget(p, &mark);
	gb_ts_blank(p, start, p->previous_end);
}
