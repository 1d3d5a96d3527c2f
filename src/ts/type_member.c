/* The members of interfaces, object types and mapped types. */
#include "ts/parser.h"

bool gb_ts_can_follow_modifier(const struct ts_token *token) {
	switch (token->kind) {
	case '[':
	case '{':
	case '*':
	case T_DOTS:
	case T_NAME:
	case T_STRING:
	case T_NUMBER:
	case T_PRIVATE:
		return true;
	default:
		return false;
	}
}

bool gb_ts_at_index_signature(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	bool index = false;
	gb_ts_next(p);
	if (is(p, T_DOTS) || is(p, ']')) {
		index = true;
	} else {
		while (p->token.kind == T_NAME && p->token.word >= W_PRIVATE && p->token.word <= W_STATIC &&
		       gb_ts_peek(p).kind == T_NAME)
			gb_ts_next(p);
		if (at_identifier(p)) {
			gb_ts_next(p);
			index = is(p, ':') || is(p, ',');
			if (accept(p, '?'))
				index = is(p, ':') || is(p, ',') || is(p, ']');
		}
	}
	index &= !p->failed;
	gb_ts_rewind(p, &mark);
	return index;
}

void gb_ts_index_signature(struct ts_parser *p) {
	gb_ts_expect(p, '[');
	while (more_before(p, ']')) {
		accept(p, T_DOTS);
		if (!at_identifier(p))
			gb_ts_fail(p, p->token.start, "expected the name of a parameter");
		gb_ts_next(p);
		accept(p, '?');
		if (accept(p, ':'))
			gb_ts_type(p);
		if (!accept(p, ','))
			break;
	}
	gb_ts_expect(p, ']');
	if (accept(p, ':'))
		gb_ts_type(p);
}

static bool at_member_modifier(struct ts_parser *p) {
	static const uint8_t words[] = {W_READONLY, W_GET, W_SET, W_STATIC, W_PUBLIC, W_PRIVATE, W_PROTECTED,
	    W_ASYNC, W_DECLARE, W_OVERRIDE, W_ABSTRACT, W_ACCESSOR, W_EXPORT};
	for (unsigned i = 0; i < sizeof words; i++)
		if (is_word(p, words[i])) {
			struct ts_token next = gb_ts_peek(p);
			bool same_line =
			    !next.newline || is_word(p, W_GET) || is_word(p, W_SET) || is_word(p, W_STATIC);
			return same_line && gb_ts_can_follow_modifier(&next);
		}
	return false;
}

/* TypeScript counts an import used in a computed name as used, although the name is erased. */
static void name(struct ts_parser *p) {
	uint32_t first = p->refs.n;
	bool computed = gb_ts_property_name(p);
	for (uint32_t i = first; computed && !p->in.ambient && i < p->refs.n; i++)
		*(struct ts_ref *)ADD(p, computed) = p->refs.items[i];
}

static void signature(struct ts_parser *p) {
	if (is(p, '<'))
		gb_ts_type_parameters(p);
	gb_ts_parameters(p, PARAMS_TYPE);
	if (accept(p, ':'))
		gb_ts_return_type(p);
}

static void member(struct ts_parser *p) {
	if (is(p, '(') || is(p, '<')) {
		signature(p);
		return;
	}
	if (is_word(p, W_NEW)) {
		struct ts_token next = gb_ts_peek(p);
		if (next.kind == '(' || next.kind == '<') {
			gb_ts_next(p);
			signature(p);
			return;
		}
	}
	while (at_member_modifier(p))
		gb_ts_next(p);
	if (is(p, '[') && gb_ts_at_index_signature(p)) {
		gb_ts_index_signature(p);
		return;
	}
	name(p);
	accept(p, '?');
	if (is(p, '(') || is(p, '<')) {
		signature(p);
		/* An accessor of an ambient class, or an error in the source. */
		if (is(p, '{'))
			gb_ts_block(p);
		return;
	}
	if (accept(p, ':'))
		gb_ts_type(p);
	if (accept(p, '='))
		gb_ts_assignment_in(p);
}

static void members(struct ts_parser *p) {
	while (more_before(p, '}')) {
		member(p);
		if (!accept(p, ';') && !accept(p, ',') && !is(p, '}') && !p->token.newline)
			gb_ts_fail(p, p->token.start, "expected ';' after a member of this type");
	}
	gb_ts_expect(p, '}');
}

void gb_ts_type_members(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.no_conditional_type = false;
	gb_ts_expect(p, '{');
	members(p);
	p->in = outer;
}

bool gb_ts_at_mapped_type(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	bool mapped = false;
	gb_ts_next(p);
	if (is(p, '+') || is(p, '-')) {
		gb_ts_next(p);
		mapped = is_word(p, W_READONLY);
	} else {
		accept_word(p, W_READONLY);
		if (accept(p, '[') && at_identifier(p)) {
			gb_ts_next(p);
			mapped = is_word(p, W_IN);
		}
	}
	gb_ts_rewind(p, &mark);
	return mapped;
}

static void accept_sign(struct ts_parser *p) {
	if (!accept(p, '+'))
		accept(p, '-');
}

void gb_ts_mapped_type(struct ts_parser *p) {
	gb_ts_expect(p, '{');
	accept_sign(p);
	accept_word(p, W_READONLY);
	gb_ts_expect(p, '[');
	gb_ts_next(p);
	gb_ts_expect_word(p, W_IN, "expected 'in'");
	gb_ts_type(p);
	if (accept_word(p, W_AS))
		gb_ts_type(p);
	gb_ts_expect(p, ']');
	accept_sign(p);
	accept(p, '?');
	if (accept(p, ':'))
		gb_ts_type(p);
	if (!accept(p, ';'))
		accept(p, ',');
	/* Further members are an error of the type checker, not of the grammar. */
	members(p);
}
