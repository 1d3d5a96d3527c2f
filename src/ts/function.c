/* Parameters, patterns, bodies, and arrow functions, which only the tokens after their parameters
 * identify. */
#include <stdlib.h>

#include "ts/parser.h"

/* --- patterns --- */

static void declare_as(struct ts_parser *p, struct ts_name name, uint8_t kind) {
	if (kind == DECL_VAR) {
		gb_ts_declare_var(p, name);
		return;
	}
	gb_ts_declare(p, name, kind);
}

/* A name exported from a namespace is written as a property of it. */
static void record_exported(struct ts_parser *p, struct ts_name name, bool shorthand) {
	struct ts_place *place = ADD(p, places);
	*place = (struct ts_place){
	    .at = name.start, .container = p->in.container, .name = name, .shorthand = shorthand};
}

static void bind(struct ts_parser *p, struct ts_name name, uint8_t kind, bool shorthand) {
	declare_as(p, name, kind);
	if (kind == DECL_EXPORTED_VARIABLE)
		record_exported(p, name, shorthand);
}

static void array_pattern(struct ts_parser *p, uint8_t kind) {
	gb_ts_next(p);
	while (more_before(p, ']')) {
		if (accept(p, ','))
			continue;
		accept(p, T_DOTS);
		gb_ts_pattern(p, kind);
		if (accept(p, '='))
			gb_ts_assignment_in(p);
		if (!is(p, ']'))
			gb_ts_expect(p, ',');
	}
	gb_ts_expect(p, ']');
}

static void pattern_property(struct ts_parser *p, uint8_t kind) {
	if (accept(p, T_DOTS)) {
		gb_ts_pattern(p, kind);
		return;
	}
	struct ts_token name = p->token;
	gb_ts_property_name(p);
	if (accept(p, ':'))
		gb_ts_pattern(p, kind);
	else if (is_identifier(&name))
		bind(p, token_name(&name), kind, true);
	else
		gb_ts_expect(p, ':');
	if (accept(p, '='))
		gb_ts_assignment_in(p);
}

void gb_ts_pattern(struct ts_parser *p, uint8_t kind) {
	enter(p);
	if (is(p, '[')) {
		array_pattern(p, kind);
	} else if (is(p, '{')) {
		gb_ts_next(p);
		while (more_before(p, '}')) {
			pattern_property(p, kind);
			if (!accept(p, ','))
				break;
		}
		gb_ts_expect(p, '}');
	} else if (at_identifier(p)) {
		bind(p, token_name(&p->token), kind, false);
		gb_ts_next(p);
	} else {
		gb_ts_fail(p, p->token.start, "expected a name");
	}
	leave(p);
}

/* --- parameters --- */

static bool at_parameter_modifier(struct ts_parser *p) {
	uint8_t word = p->token.word;
	if (word != W_PUBLIC && word != W_PRIVATE && word != W_PROTECTED && word != W_READONLY &&
	    word != W_OVERRIDE)
		return false;
	struct ts_token next = gb_ts_peek(p);
	return is_identifier(&next) || next.word == W_THIS || next.kind == '[' || next.kind == '{';
}

static void parameter(struct ts_parser *p, unsigned kind) {
	bool property = false;
	if (is(p, '@'))
		gb_ts_reject_decorator(p);
	while (at_parameter_modifier(p)) {
		gb_ts_blank_token(p);
		property = true;
	}
	accept(p, T_DOTS);
	if (is_word(p, W_THIS))
		gb_ts_next(p);
	else {
		if (property && kind == PARAMS_CONSTRUCTOR && at_identifier(p))
			*(struct ts_name *)ADD(p, properties) = token_name(&p->token);
		gb_ts_pattern(p, DECL_VALUE);
	}
	if (is(p, '?'))
		gb_ts_blank_token(p);
	gb_ts_annotation(p);
	if (accept(p, '='))
		gb_ts_assignment_in(p);
}

void gb_ts_parameters(struct ts_parser *p, unsigned kind) {
	gb_ts_expect(p, '(');
	if (is_word(p, W_THIS)) {
		uint32_t start = p->token.start;
		struct ts_mark mark = gb_ts_mark(p);
		parameter(p, kind);
		accept(p, ',');
		gb_ts_forget(p, &mark);
		gb_ts_blank(p, start, p->previous_end);
	}
	while (more_before(p, ')')) {
		parameter(p, kind);
		if (!accept(p, ','))
			break;
	}
	gb_ts_expect(p, ')');
}

/* --- bodies --- */

void gb_ts_enter_function(struct ts_parser *p, bool is_async, bool is_generator) {
	gb_ts_open_scope(p, SCOPE_FUNCTION);
	p->in = (struct ts_context){.scope = p->in.scope,
	    .container = TS_NONE,
	    .ambient = p->in.ambient,
	    .in_async = is_async,
	    .in_generator = is_generator};
}

void gb_ts_function_body(struct ts_parser *p) {
	bool instantiated = p->instantiated;
	uint32_t parameters = p->in.scope;
	/* Default values of parameters cannot refer to declarations of the body. */
	gb_ts_open_scope(p, SCOPE_FUNCTION);
	gb_ts_expect(p, '{');
	gb_ts_statements(p);
	gb_ts_expect(p, '}');
	p->in.scope = parameters;
	p->instantiated = instantiated;
}

bool gb_ts_function_rest(struct ts_parser *p, bool is_async, bool is_generator) {
	struct ts_context outer = p->in;
	gb_ts_enter_function(p, is_async, is_generator);
	gb_ts_blank_type_parameters(p);
	gb_ts_parameters(p, PARAMS_PLAIN);
	gb_ts_return_annotation(p);
	bool body = is(p, '{');
	if (body)
		gb_ts_function_body(p);
	p->in = outer;
	return body;
}

/* --- arrow functions --- */

struct arrow {
	bool is_async;
	uint32_t less, open, close;            /* '<' or TS_NONE, '(', ')' */
	uint32_t type_parameters, return_type; /* edits, or TS_NONE */
};

/* Parse "(a, b): T" and check for "=>". Returns false if this is not an arrow function. */
static bool arrow_head(struct ts_parser *p, struct arrow *arrow) {
	arrow->less = arrow->type_parameters = arrow->return_type = TS_NONE;
	gb_ts_enter_function(p, arrow->is_async, false);
	if (is(p, '<')) {
		arrow->less = p->token.start;
		gb_ts_blank_type_parameters(p);
		arrow->type_parameters = p->last_blank;
	}
	arrow->open = p->token.start;
	gb_ts_parameters(p, PARAMS_PLAIN);
	arrow->close = p->previous_end - 1;
	if (is(p, ':')) {
		gb_ts_return_annotation(p);
		arrow->return_type = p->last_blank;
	}
	return !p->failed && is(p, T_ARROW);
}

/* JavaScript allows no line terminator between ')' and "=>", nor between "async" or "return" and '('. If a
 * blank leaves one, the parenthesis moves to the other end of the blank. */
static void fix_line_ends(struct ts_parser *p, const struct arrow *arrow) {
	if (p->failed)
		return;
	if (arrow->return_type != TS_NONE && gb_ts_has_line_end(p, arrow->close, p->token.start)) {
		p->edits.items[arrow->return_type].last = ')';
		gb_ts_blank(p, arrow->close, arrow->close + 1);
	}
	if (arrow->less != TS_NONE && gb_ts_has_line_end(p, arrow->less, arrow->open)) {
		gb_ts_overlay(p, arrow->type_parameters, "(");
		gb_ts_blank(p, arrow->open, arrow->open + 1);
	}
}

/* At "=>", in the function's scope. */
static void arrow_body(struct ts_parser *p, bool no_return_type) {
	gb_ts_expect(p, T_ARROW);
	if (is(p, '{'))
		gb_ts_function_body(p);
	else
		gb_ts_assignment(p, no_return_type);
}

static bool arrow_whole(struct ts_parser *p, struct arrow *arrow) {
	struct ts_context outer = p->in;
	if (!arrow_head(p, arrow))
		return false;
	fix_line_ends(p, arrow);
	p->in.no_in = outer.no_in;
	arrow_body(p, false);
	p->in = outer;
	return true;
}

enum guess { NO, YES, PERHAPS };

/* Decide by the first tokens, at '('. Same rules as TypeScript. */
static enum guess guess_by_parenthesis(struct ts_parser *p) {
	gb_ts_next(p);
	switch (p->token.kind) {
	case ')':
		gb_ts_next(p);
		return is(p, T_ARROW) || is(p, ':') || is(p, '{') ? YES : NO;
	case '[':
	case '{':
		return PERHAPS;
	case T_DOTS:
		return YES;
	case '@':
		return PERHAPS;
	default:
		break;
	}
	if (at_parameter_modifier(p)) {
		gb_ts_next(p);
		return is_word(p, W_AS) ? NO : YES;
	}
	if (!at_identifier(p) && !is_word(p, W_THIS))
		return NO;
	gb_ts_next(p);
	switch (p->token.kind) {
	case ':':
		return YES;
	case '?':
		gb_ts_next(p);
		return is(p, ':') || is(p, ',') || is(p, '=') || is(p, ')') ? YES : NO;
	case ',':
	case '=':
	case ')':
		return PERHAPS;
	default:
		return NO;
	}
}

static enum guess guess_arrow(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	enum guess guess = NO;
	if (is(p, '(')) {
		guess = guess_by_parenthesis(p);
	} else {
		gb_ts_next(p);
		guess = at_identifier(p) || is_word(p, W_CONST) ? PERHAPS : NO;
	}
	if (p->failed)
		guess = NO;
	gb_ts_rewind(p, &mark);
	return guess;
}

static bool is_marked(const uint8_t *bits, uint32_t at) {
	return bits && bits[at / 8] & 1 << at % 8;
}

static void set_mark(const struct ts_parser *p, uint8_t **bits, uint32_t at) {
	if (!*bits)
		*bits = calloc(p->size / 8 + 1, 1);
	if (*bits)
		(*bits)[at / 8] |= (uint8_t)(1 << at % 8);
}

/* Parse speculatively where the first tokens do not decide. A position that failed once always fails, so it
 * is recorded: otherwise nested attempts would take exponential time. */
static bool try_arrow(struct ts_parser *p, bool is_async, bool no_return_type) {
	uint32_t at = p->token.start;
	if (is_marked(p->not_arrow, at) || (no_return_type && is_marked(p->not_arrow_in_conditional, at)))
		return false;
	struct ts_mark mark = gb_ts_mark(p);
	struct arrow arrow = {.is_async = is_async};
	bool head = arrow_head(p, &arrow);
	/* a ? (b) : c => d: "(b) : c" is a return type only if a ':' follows the body as well. */
	bool ambiguous = head && no_return_type && arrow.return_type != TS_NONE;
	if (ambiguous) {
		fix_line_ends(p, &arrow);
		p->in.no_in = mark.in.no_in;
		arrow_body(p, no_return_type);
		head = !p->failed && is(p, ':');
	}
	if (!head) {
		gb_ts_rewind(p, &mark);
		set_mark(p, ambiguous ? &p->not_arrow_in_conditional : &p->not_arrow, at);
		return false;
	}
	if (!ambiguous) {
		fix_line_ends(p, &arrow);
		p->in.no_in = mark.in.no_in;
		arrow_body(p, no_return_type);
	}
	p->in = mark.in;
	return true;
}

static bool arrow_with_parentheses(struct ts_parser *p, bool is_async, bool no_return_type) {
	switch (guess_arrow(p)) {
	case YES: {
		struct arrow arrow = {.is_async = is_async};
		if (!arrow_whole(p, &arrow))
			gb_ts_expect(p, T_ARROW);
		return true;
	}
	case PERHAPS:
		return try_arrow(p, is_async, no_return_type);
	default:
		return false;
	}
}

/* "x => ..." */
static void simple_arrow(struct ts_parser *p, bool is_async, bool no_return_type) {
	struct ts_context outer = p->in;
	gb_ts_enter_function(p, is_async, false);
	p->in.no_in = outer.no_in;
	gb_ts_declare(p, token_name(&p->token), DECL_VALUE);
	gb_ts_next(p);
	arrow_body(p, no_return_type);
	p->in = outer;
}

static bool async_arrow(struct ts_parser *p, struct ts_token next, bool no_return_type) {
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	if (is_identifier(&next)) {
		struct ts_token arrow = gb_ts_peek(p);
		if (arrow.kind == T_ARROW) {
			simple_arrow(p, true, no_return_type);
			return true;
		}
	} else if (arrow_with_parentheses(p, true, no_return_type)) {
		return true;
	}
	gb_ts_rewind(p, &mark);
	return false;
}

bool gb_ts_arrow(struct ts_parser *p, bool no_return_type) {
	if (is(p, '(') || is(p, '<'))
		return arrow_with_parentheses(p, false, no_return_type);
	if (!at_identifier(p) || (!is_word(p, W_ASYNC) && !may_follow(p, '=')))
		return false;
	struct ts_token next = gb_ts_peek(p);
	if (next.kind == T_ARROW && !next.newline) {
		simple_arrow(p, false, no_return_type);
		return true;
	}
	if (is_word(p, W_ASYNC) && !next.newline &&
	    (is_identifier(&next) || next.kind == '(' || next.kind == '<'))
		return async_arrow(p, next, no_return_type);
	return false;
}
