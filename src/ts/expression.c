#include "ts/parser.h"

static void unary(struct ts_parser *p);

/* --- "in" as an operator --- */

void gb_ts_assignment_in(struct ts_parser *p) {
	bool no_in = p->in.no_in;
	p->in.no_in = false;
	gb_ts_assignment(p, false);
	p->in.no_in = no_in;
}

void gb_ts_expression_in(struct ts_parser *p) {
	bool no_in = p->in.no_in;
	p->in.no_in = false;
	gb_ts_expression(p);
	p->in.no_in = no_in;
}

/* --- members and calls --- */

/* Precedence of binary operators; 0 if the token is none. */
enum { PRECEDENCE_COMPARE = 8, PRECEDENCE_POWER = 12, PRECEDENCE_UNARY, PRECEDENCE_LEFT_HAND };

static int precedence(struct ts_parser *p) {
	static const uint8_t table[256] = {
	    [T_NULLISH] = 1,
	    [T_OR] = 2,
	    [T_AND] = 3,
	    ['|'] = 4,
	    ['^'] = 5,
	    ['&'] = 6,
	    [T_EQUAL] = 7,
	    [T_UNEQUAL] = 7,
	    ['<'] = PRECEDENCE_COMPARE,
	    ['>'] = PRECEDENCE_COMPARE,
	    [T_LESS_EQUAL] = PRECEDENCE_COMPARE,
	    [T_GREATER_EQUAL] = PRECEDENCE_COMPARE,
	    [T_SHIFT_LEFT] = 9,
	    [T_SHIFT_RIGHT] = 9,
	    [T_SHIFT_RIGHT_ZERO] = 9,
	    ['+'] = 10,
	    ['-'] = 10,
	    ['*'] = 11,
	    ['/'] = 11,
	    ['%'] = 11,
	    [T_POWER] = PRECEDENCE_POWER,
	};
	if (p->token.kind == '>')
		gb_ts_rescan_greater(p);
	if (p->token.kind != T_NAME || p->token.word == W_NONE)
		return table[p->token.kind];
	switch (p->token.word) {
	case W_INSTANCEOF:
		return PRECEDENCE_COMPARE;
	case W_IN:
		return p->in.no_in ? 0 : PRECEDENCE_COMPARE;
	case W_AS:
	case W_SATISFIES:
		return p->token.newline ? 0 : PRECEDENCE_COMPARE;
	default:
		return 0;
	}
}

static bool starts_expression(const struct ts_parser *p) {
	switch (p->token.kind) {
	case T_NUMBER:
	case T_STRING:
	case T_PRIVATE:
	case '(':
	case '[':
	case '{':
	case '`':
	case '/':
	case '+':
	case '-':
	case '~':
	case '!':
	case T_PLUS_PLUS:
	case T_MINUS_MINUS:
	case '<':
	case '@':
		return true;
	case T_ASSIGN:
		return p->source[p->token.start] == '/';
	case T_NAME:
		break;
	default:
		return false;
	}
	switch (p->token.word) {
	case W_THIS:
	case W_SUPER:
	case W_NULL:
	case W_TRUE:
	case W_FALSE:
	case W_FUNCTION:
	case W_CLASS:
	case W_NEW:
	case W_DELETE:
	case W_TYPEOF:
	case W_VOID:
	case W_IMPORT:
		return true;
	default:
		return at_identifier(p);
	}
}

/* After "f<T>": whether the next token makes it type arguments and not two comparisons. Same rules as
 * TypeScript. */
static bool can_follow_type_arguments(struct ts_parser *p) {
	switch (p->token.kind) {
	case '(':
	case '`':
		return true;
	case '<':
	case '>':
	case '+':
	case '-':
		return false;
	default:
		/* A ">" that begins ">=" or ">>" did not close type arguments. */
		if (p->token.start == p->previous_end && (is(p, '=') || is(p, T_EQUAL) || is(p, T_ARROW)))
			return false;
		return p->token.newline || precedence(p) > 0 || !starts_expression(p);
	}
}

static bool try_type_arguments(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	uint32_t start = p->token.start;
	gb_ts_type_arguments(p);
	if (p->failed || !can_follow_type_arguments(p)) {
		gb_ts_rewind(p, &mark);
		return false;
	}
	gb_ts_forget(p, &mark);
	gb_ts_blank(p, start, p->previous_end);
	return true;
}

static void arguments(struct ts_parser *p) {
	gb_ts_next(p);
	while (more_before(p, ')')) {
		accept(p, T_DOTS);
		gb_ts_assignment_in(p);
		if (!accept(p, ','))
			break;
	}
	gb_ts_expect(p, ')');
}

static void index_expression(struct ts_parser *p) {
	gb_ts_next(p);
	gb_ts_expression_in(p);
	gb_ts_expect(p, ']');
}

static void expect_property_name(struct ts_parser *p) {
	if (!is(p, T_NAME) && !is(p, T_PRIVATE))
		gb_ts_fail(p, p->token.start, "expected the name of a property");
	gb_ts_next(p);
}

/* After "?.". */
static void optional_rest(struct ts_parser *p) {
	if (is(p, '[')) {
		index_expression(p);
	} else if (is(p, '<') || is(p, T_SHIFT_LEFT)) {
		uint32_t start = p->token.start;
		struct ts_mark mark = gb_ts_mark(p);
		gb_ts_type_arguments(p);
		gb_ts_forget(p, &mark);
		gb_ts_blank(p, start, p->previous_end);
		if (!is(p, '('))
			gb_ts_expect(p, '(');
	} else if (!is(p, '(') && !is(p, '`')) {
		expect_property_name(p);
	}
}

/* Member accesses, calls and so on after a primary expression. */
static void left_hand_rest(struct ts_parser *p, bool calls) {
	for (;;) {
		switch (p->token.kind) {
		case '.':
			gb_ts_next(p);
			expect_property_name(p);
			continue;
		case T_OPTIONAL:
			if (!calls)
				return;
			gb_ts_next(p);
			optional_rest(p);
			continue;
		case '[':
			index_expression(p);
			continue;
		case '!':
			if (p->token.newline)
				return;
			gb_ts_blank_token(p);
			continue;
		case '`':
			gb_ts_template(p, false);
			continue;
		case '(':
			if (!calls)
				return;
			arguments(p);
			continue;
		case '<':
		case T_SHIFT_LEFT:
			if (!try_type_arguments(p))
				return;
			continue;
		default:
			return;
		}
	}
}

void gb_ts_left_hand(struct ts_parser *p, bool calls) {
	enter(p);
	if (p->token.kind == T_NAME && p->token.word == W_NONE) {
		/* The most common case. */
		gb_ts_refer(p);
		gb_ts_next(p);
	} else if (accept_word(p, W_NEW)) {
		if (accept(p, '.')) {
			expect_property_name(p); /* target */
		} else {
			gb_ts_left_hand(p, false);
			if (is(p, '('))
				arguments(p);
		}
	} else {
		gb_ts_primary(p);
	}
	left_hand_rest(p, calls);
	leave(p);
}

/* --- operators --- */

/* "await" where it may also be a name. */
static bool at_await(struct ts_parser *p) {
	if (p->in.in_async)
		return true;
	struct ts_token next = gb_ts_peek(p);
	if (next.newline)
		return false;
	if (next.kind == T_STRING || next.kind == T_NUMBER)
		return true;
	return next.kind == T_NAME && next.word != W_IN && next.word != W_INSTANCEOF && next.word != W_OF &&
	       next.word != W_AS && next.word != W_SATISFIES;
}

/* "<T>x". Where blanking alone would change the meaning, x gets parentheses: if the type contains a line
 * terminator (after "return"), and if x would begin a statement as a declaration. */
static void assertion(struct ts_parser *p) {
	uint32_t start = p->token.start;
	struct ts_mark mark = gb_ts_mark(p);
	p->assertion = start;
	gb_ts_next(p);
	p->in.no_conditional_type = false;
	gb_ts_type(p);
	p->in = mark.in;
	gb_ts_expect(p, '>');
	gb_ts_forget(p, &mark);
	uint32_t blank = gb_ts_blank(p, start, p->previous_end);
	bool parentheses = is(p, '{') || is_word(p, W_FUNCTION) || is_word(p, W_CLASS) || is_word(p, W_LET) ||
			   is_word(p, W_ASYNC) || gb_ts_has_line_end(p, start, p->token.start);
	if (parentheses)
		gb_ts_overlay(p, blank, "(");
	unary(p);
	if (parentheses)
		insert_after(p, p->previous_end, ")");
}

static int unary_or_left_hand(struct ts_parser *p) {
	bool plain = p->token.kind == T_NAME && p->token.word == W_NONE;
	switch (plain ? T_END : p->token.kind) {
	case '+':
	case '-':
	case '~':
	case '!':
	case T_PLUS_PLUS:
	case T_MINUS_MINUS:
		gb_ts_next(p);
		unary(p);
		return PRECEDENCE_UNARY;
	case '<':
		if (p->jsx.wanted && gb_ts_jsx(p))
			return PRECEDENCE_UNARY;
		assertion(p);
		return PRECEDENCE_UNARY;
	case T_NAME:
		if (is_word(p, W_TYPEOF) || is_word(p, W_VOID) || is_word(p, W_DELETE) ||
		    (is_word(p, W_AWAIT) && at_await(p))) {
			gb_ts_next(p);
			unary(p);
			return PRECEDENCE_UNARY;
		}
		break;
	default:
		break;
	}
	gb_ts_left_hand(p, true);
	if ((is(p, T_PLUS_PLUS) || is(p, T_MINUS_MINUS)) && !p->token.newline)
		gb_ts_next(p);
	return PRECEDENCE_LEFT_HAND;
}

static void unary(struct ts_parser *p) {
	enter(p);
	unary_or_left_hand(p);
	leave(p);
}

/* "as T" after an operand that began at @start and whose outermost operator has precedence @left. The
 * operator after it may bind tighter once the type is erased: then the operand gets parentheses. */
static int as_type(struct ts_parser *p, uint32_t start, int left) {
	uint32_t as = p->token.start;
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	p->in.no_conditional_type = false;
	gb_ts_type(p);
	p->in = mark.in;
	gb_ts_forget(p, &mark);
	gb_ts_blank(p, as, p->previous_end);
	int next = precedence(p);
	if (next <= left && !(next == PRECEDENCE_POWER && left < PRECEDENCE_LEFT_HAND))
		return left;
	insert_before(p, start, "(");
	insert_after(p, as, ")");
	return PRECEDENCE_LEFT_HAND;
}

/* Parse operators that bind tighter than @least. */
static void binary(struct ts_parser *p, int least) {
	uint32_t start = p->token.start;
	enter(p);
	int left = unary_or_left_hand(p);
	for (;;) {
		int binds = precedence(p);
		if (binds <= least)
			break;
		if (is_word(p, W_AS) || is_word(p, W_SATISFIES)) {
			left = as_type(p, start, left);
			continue;
		}
		gb_ts_next(p);
		binary(p, binds == PRECEDENCE_POWER ? binds - 1 : binds);
		left = binds;
	}
	leave(p);
}

/* "yield" where it may also be a name. */
static bool at_yield(struct ts_parser *p) {
	if (p->in.in_generator)
		return true;
	struct ts_token next = gb_ts_peek(p);
	return !next.newline && (next.kind == T_STRING || next.kind == T_NUMBER ||
				    (next.kind == T_NAME && next.word != W_IN && next.word != W_INSTANCEOF &&
					next.word != W_OF && next.word != W_AS && next.word != W_SATISFIES));
}

static void yield(struct ts_parser *p, bool no_return_type) {
	gb_ts_next(p);
	if (p->token.newline || (!is(p, '*') && !starts_expression(p)))
		return;
	accept(p, '*');
	gb_ts_assignment(p, no_return_type);
}

/* Fast path: an expression that is only a name or a literal, as many arguments and values are. */
static bool plain_operand(struct ts_parser *p) {
	bool name = is(p, T_NAME) && is_word(p, W_NONE);
	if ((!name && !is(p, T_STRING) && !is(p, T_NUMBER)) || !ends_here(p, END_OF_EXPRESSION))
		return false;
	if (name)
		gb_ts_refer(p);
	gb_ts_next(p);
	return true;
}

void gb_ts_assignment(struct ts_parser *p, bool no_return_type) {
	if (plain_operand(p))
		return;
	enter(p);
	for (;;) {
		if (is_word(p, W_YIELD) && at_yield(p)) {
			yield(p, no_return_type);
			break;
		}
		if (gb_ts_arrow(p, no_return_type))
			break;
		binary(p, 0);
		if (is(p, '=') || is(p, T_ASSIGN)) {
			gb_ts_next(p);
			continue;
		}
		if (!accept(p, '?'))
			break;
		bool no_in = p->in.no_in;
		p->in.no_in = false;
		gb_ts_assignment(p, true);
		p->in.no_in = no_in;
		gb_ts_expect(p, ':');
	}
	leave(p);
}

void gb_ts_expression(struct ts_parser *p) {
	do
		gb_ts_assignment(p, false);
	while (accept(p, ','));
}
