#include <string.h>

#include "ts/parser.h"

/* State shared by the members of one class body. */
struct body {
	bool derived;
	uint32_t open;     /* after '{' */
	bool member_ended; /* by ';' or a body, not by the end of its line */
};

struct member {
	struct ts_mark mark;
	uint32_t start;
	uint32_t first_blank; /* index of the blank over its first token, a modifier; or TS_NONE */
	bool is_static, is_async, is_generator, is_accessor_pair;
	bool erased; /* declare, abstract */
};

/* --- modifiers --- */

static bool is_modifier(uint8_t word) {
	static const uint8_t words[] = {W_PUBLIC, W_PRIVATE, W_PROTECTED, W_STATIC, W_ABSTRACT, W_READONLY,
	    W_OVERRIDE, W_DECLARE, W_ASYNC, W_ACCESSOR, W_EXPORT, W_CONST};
	return word != W_NONE && memchr(words, word, sizeof words);
}

static bool at_modifier(struct ts_parser *p) {
	if (p->token.kind != T_NAME || !is_modifier(p->token.word))
		return false;
	struct ts_token next = gb_ts_peek(p);
	if (is_word(p, W_STATIC))
		return next.kind != '{' && gb_ts_can_follow_modifier(&next);
	return !next.newline && gb_ts_can_follow_modifier(&next);
}

static void parse_modifier(struct ts_parser *p, struct member *m) {
	switch (p->token.word) {
	case W_STATIC:
		m->is_static = true;
		gb_ts_next(p);
		return;
	case W_ASYNC:
		m->is_async = true;
		gb_ts_next(p);
		return;
	case W_ACCESSOR:
		if (p->in.ambient)
			break;
		gb_ts_fail(p, p->token.start,
		    "'accessor' is not supported; write a private field with a getter and a setter");
		return;
	case W_ABSTRACT:
	case W_DECLARE:
		m->erased = true;
		break;
	default:
		break;
	}
	uint32_t at = p->token.start;
	gb_ts_blank_token(p);
	if (m->first_blank == TS_NONE && at == m->start)
		m->first_blank = p->last_blank;
}

/* At "get" or "set" before the name of a property. */
static bool at_accessor_word(struct ts_parser *p) {
	if (!is_word(p, W_GET) && !is_word(p, W_SET))
		return false;
	struct ts_token next = gb_ts_peek(p);
	return next.kind == T_NAME || next.kind == T_STRING || next.kind == T_NUMBER || next.kind == '[' ||
	       next.kind == T_PRIVATE;
}

/* --- constructors --- */

static uint32_t directives_end(struct ts_parser *p) {
	uint32_t end = p->previous_end;
	while (is(p, T_STRING)) {
		struct ts_token next = gb_ts_peek(p);
		if (next.kind != ';' && next.kind != '}' && !next.newline)
			break;
		gb_ts_statement(p);
		end = p->previous_end;
	}
	return end;
}

/* The fields of "constructor(private x)" are declared at the start of the class body, and assigned as soon as
 * "this" is available: after super(...), otherwise at the start of the constructor. */
static void constructor_body(struct ts_parser *p, const struct body *body, uint32_t first) {
	uint32_t outer_super = p->super_end;
	gb_ts_expect(p, '{');
	uint8_t previous = p->previous;
	p->previous = '{';
	p->super_end = TS_NONE;
	p->in.track_super = body->derived;
	uint32_t at = directives_end(p);
	while (more_before(p, '}'))
		gb_ts_statement(p);
	p->previous = previous;
	if (p->super_end != TS_NONE)
		at = p->super_end;
	bool ended = p->failed || p->source[at - 1] == ';' || p->source[at - 1] == '{';
	for (uint32_t i = first; i < p->properties.n; i++) {
		struct ts_name name = p->properties.items[i];
		insert_after(
		    p, at, "%s this.%.*s = %.*s;", ended ? "" : ";", NAME_ARG(p, name), NAME_ARG(p, name));
		ended = true;
		insert_after(p, body->open, " %.*s;", NAME_ARG(p, name));
	}
	gb_ts_expect(p, '}');
	p->super_end = outer_super;
}

/* --- members --- */

static bool at_constructor(const struct ts_parser *p, const struct member *m) {
	if (m->is_static || m->is_generator || m->is_accessor_pair)
		return false;
	return is_word(p, W_CONSTRUCTOR) ||
	       (is(p, T_STRING) && p->token.end - p->token.start == sizeof "constructor" + 1 &&
		   memcmp(p->source + p->token.start + 1, "constructor", sizeof "constructor" - 1) == 0);
}

/* The rest of a method, from its parameters. */
static void method(struct ts_parser *p, struct body *body, struct member *m, bool constructor) {
	struct ts_context outer = p->in;
	uint32_t first = p->properties.n;
	gb_ts_enter_function(p, m->is_async, m->is_generator);
	gb_ts_blank_type_parameters(p);
	gb_ts_parameters(p, constructor ? PARAMS_CONSTRUCTOR : PARAMS_PLAIN);
	gb_ts_return_annotation(p);
	body->member_ended = true;
	bool has_body = is(p, '{');
	if (has_body && constructor && p->properties.n > first)
		constructor_body(p, body, first);
	else if (has_body)
		gb_ts_function_body(p);
	else
		gb_ts_semicolon(p);
	p->properties.n = first;
	p->in = outer;
	if (!has_body)
		gb_ts_blank_statement(p, m->start, &m->mark);
}

static void field(struct ts_parser *p, struct body *body, struct member *m) {
	if (is(p, '?') || is(p, '!'))
		gb_ts_blank_token(p);
	gb_ts_annotation(p);
	if (accept(p, '=')) {
		struct ts_context outer = p->in;
		gb_ts_enter_function(p, false, false);
		gb_ts_assignment(p, false);
		p->in = outer;
	}
	body->member_ended = gb_ts_semicolon(p);
	if (m->erased) {
		gb_ts_blank_statement(p, m->start, &m->mark);
		body->member_ended = true;
	}
}

static void static_block(struct ts_parser *p, struct body *body) {
	struct ts_context outer = p->in;
	gb_ts_next(p);
	gb_ts_enter_function(p, false, false);
	gb_ts_function_body(p);
	p->in = outer;
	body->member_ended = true;
}

/* A blanked modifier began this member. Without it, the previous member, which has no semicolon, might
 * continue on this line; the semicolon prevents that. */
static void separate_from_previous(struct ts_parser *p, const struct body *body, const struct member *m) {
	if (m->first_blank != TS_NONE && !body->member_ended)
		gb_ts_overlay(p, m->first_blank, ";");
}

static void member(struct ts_parser *p, struct body *body) {
	p->previous = body->member_ended ? ';' : '}';
	struct member m = {.mark = gb_ts_mark(p), .start = p->token.start, .first_blank = TS_NONE};
	if (is(p, '@')) {
		gb_ts_reject_decorator(p);
		return;
	}
	if (is_word(p, W_STATIC) && gb_ts_peek(p).kind == '{') {
		static_block(p, body);
		return;
	}
	while (at_modifier(p))
		parse_modifier(p, &m);
	if (is(p, '[') && gb_ts_at_index_signature(p)) {
		gb_ts_index_signature(p);
		gb_ts_semicolon(p);
		accept(p, ',');
		gb_ts_blank_statement(p, m.start, &m.mark);
		body->member_ended = true;
		return;
	}
	separate_from_previous(p, body, &m);
	if (at_accessor_word(p)) {
		m.is_accessor_pair = true;
		gb_ts_next(p);
	}
	m.is_generator = accept(p, '*');
	bool constructor = at_constructor(p, &m);
	gb_ts_property_name(p);
	if (is(p, '?'))
		gb_ts_blank_token(p);
	if (is(p, '(') || is(p, '<'))
		method(p, body, &m, constructor);
	else
		field(p, body, &m);
}

static void class_body(struct ts_parser *p, bool derived) {
	struct body body = {.derived = derived, .member_ended = true};
	uint8_t previous = p->previous;
	bool instantiated = p->instantiated;
	struct ts_context outer = p->in;
	p->in.container = TS_NONE;
	p->in.no_in = p->in.track_super = false;
	gb_ts_expect(p, '{');
	body.open = p->previous_end;
	while (more_before(p, '}')) {
		if (accept(p, ';'))
			body.member_ended = true;
		else
			member(p, &body);
	}
	gb_ts_expect(p, '}');
	p->in = outer;
	p->previous = previous;
	p->instantiated = instantiated;
}

/* --- the head --- */

/* "class implements X {}" has no name; "class implements {}" is named "implements". */
static bool at_class_name(struct ts_parser *p) {
	if (!at_identifier(p))
		return false;
	return !is_word(p, W_IMPLEMENTS) || gb_ts_peek(p).kind != T_NAME;
}

static void implements_clause(struct ts_parser *p) {
	uint32_t start = p->token.start;
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	do
		gb_ts_type(p);
	while (accept(p, ','));
	gb_ts_forget(p, &mark);
	gb_ts_blank(p, start, p->previous_end);
}

/* The extends clause is an expression. Its type arguments are parsed with it, except those before '{'. */
static bool heritage(struct ts_parser *p) {
	bool derived = false;
	while (is_word(p, W_EXTENDS) || is_word(p, W_IMPLEMENTS)) {
		if (is_word(p, W_IMPLEMENTS)) {
			implements_clause(p);
			continue;
		}
		gb_ts_next(p);
		derived = true;
		gb_ts_left_hand(p, true);
		gb_ts_rescan_less(p);
		if (is(p, '<')) {
			uint32_t start = p->token.start;
			struct ts_mark mark = gb_ts_mark(p);
			gb_ts_type_arguments(p);
			gb_ts_forget(p, &mark);
			gb_ts_blank(p, start, p->previous_end);
		}
	}
	return derived;
}

void gb_ts_class(struct ts_parser *p, bool statement, bool exported) {
	struct ts_context outer = p->in;
	struct ts_name name = {0};
	gb_ts_next(p);
	gb_ts_open_scope(p, SCOPE_BLOCK);
	if (at_class_name(p)) {
		name = token_name(&p->token);
		if (!statement)
			gb_ts_declare(p, name, DECL_VALUE);
		gb_ts_next(p);
	}
	gb_ts_blank_type_parameters(p);
	bool derived = heritage(p);
	class_body(p, derived);
	p->in = outer;
	if (!statement)
		return;
	p->instantiated = true;
	if (name.length)
		gb_ts_declare_function_or_class(p, name, exported);
}
