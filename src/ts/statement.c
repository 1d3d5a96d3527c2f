#include "ts/parser.h"

bool gb_ts_semicolon(struct ts_parser *p) {
	if (accept(p, ';'))
		return true;
	if (!is(p, '}') && !is(p, T_END) && !p->token.newline) {
		gb_ts_fail(p, p->token.start, "expected ';'");
		return true;
	}
	if (is(p, T_END) || p->last_blank >= p->edits.n ||
	    p->edits.items[p->last_blank].end != p->previous_end)
		return false;
	/* The statement ends with its line, in an erased type. Without the type the next line might continue
	 * it, so a semicolon is inserted. */
	const struct ts_edit *last = &p->edits.items[p->edits.n - 1];
	if (last->kind == EDIT_INSERT_AFTER && last->start == p->previous_end)
		insert_after(p, p->previous_end, ";");
	else
		p->edits.items[p->last_blank].last = ';';
	return true;
}

void gb_ts_statements(struct ts_parser *p) {
	uint8_t previous = p->previous;
	p->previous = '{';
	while (more_before(p, '}'))
		gb_ts_statement(p);
	p->previous = previous;
}

void gb_ts_block(struct ts_parser *p) {
	struct ts_context outer = p->in;
	gb_ts_open_scope(p, SCOPE_BLOCK);
	p->in.container = TS_NONE;
	gb_ts_expect(p, '{');
	gb_ts_statements(p);
	gb_ts_expect(p, '}');
	p->in = outer;
}

static void parenthesised(struct ts_parser *p) {
	gb_ts_expect(p, '(');
	gb_ts_expression(p);
	gb_ts_expect(p, ')');
}

/* The body of an if, a loop or a label. */
static void embedded(struct ts_parser *p) {
	struct ts_context outer = p->in;
	p->in.track_super = false;
	p->previous = ')';
	gb_ts_statement(p);
	p->in = outer;
}

void gb_ts_variables(struct ts_parser *p, uint8_t kind) {
	do {
		gb_ts_pattern(p, kind);
		if (is(p, '!') && !p->token.newline)
			gb_ts_blank_token(p);
		gb_ts_annotation(p);
		if (accept(p, '='))
			gb_ts_assignment(p, false);
	} while (accept(p, ','));
}

/* --- loops --- */

/* The head of a for up to "of", "in" or ';'. */
static void for_variables(struct ts_parser *p) {
	p->in.no_in = true;
	bool is_var = is_word(p, W_VAR), is_using = gb_ts_at_using(p);
	if (is_var || is_word(p, W_CONST) || (is_word(p, W_LET) && gb_ts_at_let(p)) || is_using) {
		if (is_using)
			accept_word(p, W_AWAIT);
		gb_ts_next(p);
		gb_ts_variables(p, is_var ? DECL_VAR : DECL_VALUE);
	} else {
		gb_ts_expression(p);
	}
	p->in.no_in = false;
}

static void for_head(struct ts_parser *p) {
	if (!is(p, ';')) {
		for_variables(p);
		if (accept_word(p, W_OF)) {
			gb_ts_assignment(p, false);
			return;
		}
		if (accept_word(p, W_IN)) {
			gb_ts_expression(p);
			return;
		}
	}
	gb_ts_expect(p, ';');
	if (!is(p, ';'))
		gb_ts_expression(p);
	gb_ts_expect(p, ';');
	if (!is(p, ')'))
		gb_ts_expression(p);
}

static void for_statement(struct ts_parser *p) {
	struct ts_context outer = p->in;
	gb_ts_next(p);
	accept_word(p, W_AWAIT);
	gb_ts_open_scope(p, SCOPE_FOR);
	p->in.container = TS_NONE;
	gb_ts_expect(p, '(');
	for_head(p);
	gb_ts_expect(p, ')');
	embedded(p);
	p->in = outer;
}

static void do_statement(struct ts_parser *p) {
	gb_ts_next(p);
	embedded(p);
	gb_ts_expect_word(p, W_WHILE, "expected 'while'");
	parenthesised(p);
	accept(p, ';');
}

/* --- branches --- */

static void if_statement(struct ts_parser *p) {
	/* A loop and not recursion: chains of "else if" can be long without any other nesting. */
	for (;;) {
		gb_ts_next(p);
		parenthesised(p);
		embedded(p);
		if (!accept_word(p, W_ELSE))
			return;
		if (!is_word(p, W_IF)) {
			embedded(p);
			return;
		}
	}
}

static void switch_case(struct ts_parser *p) {
	if (accept_word(p, W_CASE))
		gb_ts_expression(p);
	else
		gb_ts_expect_word(p, W_DEFAULT, "expected 'case' or 'default'");
	gb_ts_expect(p, ':');
	p->previous = ':';
	while (more_before(p, '}') && !is_word(p, W_CASE) && !is_word(p, W_DEFAULT))
		gb_ts_statement(p);
}

static void switch_statement(struct ts_parser *p) {
	struct ts_context outer = p->in;
	gb_ts_next(p);
	parenthesised(p);
	gb_ts_open_scope(p, SCOPE_BLOCK);
	p->in.container = TS_NONE;
	p->in.track_super = false;
	gb_ts_expect(p, '{');
	while (more_before(p, '}'))
		switch_case(p);
	gb_ts_expect(p, '}');
	p->in = outer;
}

static void catch_clause(struct ts_parser *p) {
	struct ts_context outer = p->in;
	gb_ts_open_scope(p, SCOPE_BLOCK);
	p->in.track_super = false;
	if (accept(p, '(')) {
		gb_ts_pattern(p, DECL_VALUE);
		gb_ts_annotation(p);
		gb_ts_expect(p, ')');
	}
	gb_ts_block(p);
	p->in = outer;
}

static void try_statement(struct ts_parser *p) {
	gb_ts_next(p);
	gb_ts_block(p);
	if (!is_word(p, W_CATCH) && !is_word(p, W_FINALLY))
		gb_ts_fail(p, p->token.start, "expected 'catch' or 'finally'");
	if (accept_word(p, W_CATCH))
		catch_clause(p);
	if (accept_word(p, W_FINALLY)) {
		bool counts = p->in.track_super;
		p->in.track_super = false;
		gb_ts_block(p);
		p->in.track_super = counts;
	}
}

/* --- the rest --- */

static void return_statement(struct ts_parser *p) {
	gb_ts_next(p);
	if (!is(p, ';') && !is(p, '}') && !is(p, T_END) && !p->token.newline)
		gb_ts_expression(p);
	gb_ts_semicolon(p);
}

static void jump_statement(struct ts_parser *p) {
	gb_ts_next(p);
	if (at_identifier(p) && !p->token.newline)
		gb_ts_next(p);
	gb_ts_semicolon(p);
}

static void expression_statement(struct ts_parser *p) {
	if (at_identifier(p) && may_follow(p, ':') && gb_ts_peek(p).kind == ':') {
		gb_ts_next(p);
		gb_ts_next(p);
		embedded(p);
		return;
	}
	bool counts = p->in.track_super && is_word(p, W_SUPER) && gb_ts_peek(p).kind == '(';
	uint32_t start = p->token.start;
	gb_ts_expression(p);
	p->expression = (struct ts_name){start, p->previous_end - start};
	gb_ts_semicolon(p);
	if (counts && p->super_end == TS_NONE)
		p->super_end = p->previous_end;
}

/* A statement that begins with a reserved word. Returns false if it is none. */
static bool word_statement(struct ts_parser *p) {
	switch (p->token.word) {
	case W_IF:
		if_statement(p);
		return true;
	case W_FOR:
		for_statement(p);
		return true;
	case W_WHILE:
	case W_WITH:
		gb_ts_next(p);
		parenthesised(p);
		embedded(p);
		return true;
	case W_DO:
		do_statement(p);
		return true;
	case W_SWITCH:
		switch_statement(p);
		return true;
	case W_TRY:
		try_statement(p);
		return true;
	case W_RETURN:
		return_statement(p);
		return true;
	case W_THROW:
		gb_ts_next(p);
		gb_ts_expression(p);
		gb_ts_semicolon(p);
		return true;
	case W_BREAK:
	case W_CONTINUE:
	case W_DEBUGGER:
		jump_statement(p);
		return true;
	default:
		return false;
	}
}

static void plain_statement(struct ts_parser *p) {
	p->instantiated = true;
	switch (p->token.kind) {
	case '{': {
		bool counts = p->in.track_super;
		p->in.track_super = false;
		gb_ts_block(p);
		p->in.track_super = counts;
		return;
	}
	case ';':
		gb_ts_next(p);
		return;
	case '@':
		gb_ts_reject_decorator(p);
		return;
	case T_NAME:
		if (p->token.word != W_NONE && word_statement(p))
			return;
		break;
	default:
		break;
	}
	expression_statement(p);
}

void gb_ts_statement(struct ts_parser *p) {
	enter(p);
	bool exported = is_word(p, W_EXPORT);
	if (p->token.word == W_NONE || (!exported && !gb_ts_at_declaration(p)))
		plain_statement(p);
	else if (exported)
		gb_ts_export(p);
	else
		gb_ts_declaration(p, p->token.start, false);
	/* Only these two certainly ended the statement. */
	char last = p->previous_end ? p->source[p->previous_end - 1] : ';';
	p->previous = last == ';' ? ';' : '}';
	if (!p->failed)
		p->ended = p->previous_end;
	leave(p);
}
