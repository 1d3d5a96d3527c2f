/* Declarations, ambient ones included. */
#include "ts/parser.h"

/* --- declaration or expression --- */

bool gb_ts_at_let(struct ts_parser *p) {
	struct ts_token next = gb_ts_peek(p);
	return is_identifier(&next) || next.kind == '[' || next.kind == '{';
}

/* "using x", "await using x". */
bool gb_ts_at_using(struct ts_parser *p) {
	if (!is_word(p, W_USING) && !is_word(p, W_AWAIT))
		return false;
	struct ts_mark mark = gb_ts_mark(p);
	bool using = false;
	if (accept_word(p, W_AWAIT) && p->token.newline)
		p->token.word = W_NONE;
	if (accept_word(p, W_USING) && at_identifier(p) && !p->token.newline) {
		using = !is_word(p, W_AS) && !is_word(p, W_SATISFIES);
		if (accept_word(p, W_OF))
			using = is(p, '=') || is(p, ';') || is(p, ':');
	}
	using &= !p->failed;
	gb_ts_rewind(p, &mark);
	return using;
}

/* At "declare": whether a declaration follows. */
static bool at_ambient(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	bool ambient = p->token.kind == T_NAME && !p->token.newline &&
		       (is_word(p, W_TYPE) || is_word(p, W_EXPORT) || gb_ts_at_declaration(p));
	gb_ts_rewind(p, &mark);
	return ambient;
}

static bool at_global(struct ts_parser *p) {
	struct ts_token next = gb_ts_peek(p);
	return next.kind == '{' && !next.newline;
}

bool gb_ts_at_declaration(struct ts_parser *p) {
	struct ts_token next;
	switch (p->token.word) {
	case W_VAR:
	case W_CONST:
	case W_FUNCTION:
	case W_CLASS:
	case W_ENUM:
		return true;
	case W_LET:
		return gb_ts_at_let(p);
	case W_USING:
	case W_AWAIT:
		return gb_ts_at_using(p);
	case W_INTERFACE:
	case W_TYPE:
		next = gb_ts_peek(p);
		return is_identifier(&next) && !next.newline;
	case W_NAMESPACE:
	case W_MODULE:
		next = gb_ts_peek(p);
		return (is_identifier(&next) || next.kind == T_STRING) && !next.newline;
	case W_ABSTRACT:
		next = gb_ts_peek(p);
		return next.word == W_CLASS && !next.newline;
	case W_ASYNC:
		next = gb_ts_peek(p);
		return next.word == W_FUNCTION && !next.newline;
	case W_DECLARE:
		return at_ambient(p);
	case W_GLOBAL:
		return at_global(p);
	case W_IMPORT:
		next = gb_ts_peek(p);
		return next.kind != '(' && next.kind != '.';
	default:
		return false;
	}
}

/* --- declarations --- */

static void expect_type_name(struct ts_parser *p) {
	if (!at_identifier(p))
		gb_ts_fail(p, p->token.start, "expected the name of a type");
	gb_ts_next(p);
}

/* Blank the declaration of a type, and record the name as a type. */
static void blank_type(struct ts_parser *p, uint32_t start, const struct ts_mark *mark, struct ts_name name) {
	gb_ts_blank_statement(p, start, mark);
	gb_ts_declare(p, name, DECL_TYPE);
}

static void interface_declaration(struct ts_parser *p, uint32_t start) {
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	struct ts_name name = token_name(&p->token);
	expect_type_name(p);
	if (is(p, '<'))
		gb_ts_type_parameters(p);
	while (accept_word(p, W_EXTENDS) || accept_word(p, W_IMPLEMENTS))
		do
			gb_ts_type(p);
		while (accept(p, ','));
	gb_ts_type_members(p);
	blank_type(p, start, &mark, name);
}

static void type_alias(struct ts_parser *p, uint32_t start) {
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	struct ts_name name = token_name(&p->token);
	expect_type_name(p);
	if (is(p, '<'))
		gb_ts_type_parameters(p);
	gb_ts_expect(p, '=');
	gb_ts_type(p);
	gb_ts_semicolon(p);
	blank_type(p, start, &mark, name);
}

void gb_ts_declare_function_or_class(struct ts_parser *p, struct ts_name name, bool exported) {
	p->instantiated = true;
	if (!exported || p->in.container == TS_NONE) {
		gb_ts_declare(p, name, DECL_FUNCTION);
		return;
	}
	gb_ts_declare(p, name, DECL_EXPORTED_LOCAL);
	struct ts_place *place = ADD(p, places);
	*place = (struct ts_place){
	    .at = p->previous_end, .container = p->in.container, .name = name, .after = true};
}

static void function_declaration(struct ts_parser *p, uint32_t start, bool exported) {
	struct ts_mark mark = gb_ts_mark(p);
	bool is_async = accept_word(p, W_ASYNC);
	gb_ts_expect_word(p, W_FUNCTION, "expected 'function'");
	bool is_generator = accept(p, '*');
	struct ts_name name = token_name(&p->token);
	if (p->token.kind != T_NAME)
		gb_ts_fail(p, p->token.start, "expected the name of a function");
	gb_ts_next(p);
	if (gb_ts_function_rest(p, is_async, is_generator)) {
		gb_ts_declare_function_or_class(p, name, exported);
		return;
	}
	/* An overload signature, or an ambient function. */
	gb_ts_semicolon(p);
	p->instantiated = true;
	gb_ts_blank_statement(p, start, &mark);
	if (p->in.ambient)
		gb_ts_declare_function_or_class(p, name, exported);
}

static void variable_declaration(struct ts_parser *p, uint32_t start, bool exported) {
	p->instantiated = true;
	if (exported && p->in.container != TS_NONE && !is_word(p, W_USING) && !is_word(p, W_AWAIT)) {
		gb_ts_exported_variables(p, start);
		return;
	}
	uint8_t kind = is_word(p, W_VAR) ? DECL_VAR : DECL_VALUE;
	accept_word(p, W_AWAIT);
	gb_ts_next(p);
	gb_ts_variables(p, kind);
	gb_ts_semicolon(p);
}

static uint8_t ambient_kind(uint8_t kind) {
	switch (kind) {
	case DECL_TYPE:
	case DECL_EXPORTED_VARIABLE:
		return kind;
	case DECL_EXPORTED_LOCAL:
		return DECL_EXPORTED_AMBIENT;
	default:
		return DECL_AMBIENT;
	}
}

/* A statement was erased, with its declarations from @mark to @end. Declare its names again: they hide outer
 * ones, and those that a namespace exports are its properties. Returns whether they are types. */
static bool declare_ambient(struct ts_parser *p, const struct ts_mark *mark, uint32_t end) {
	bool is_type = false;
	for (uint32_t i = mark->decls; i < end && !p->failed; i++) {
		struct ts_decl decl = p->decls.items[i];
		if (decl.scope != mark->in.scope)
			continue;
		decl.kind = ambient_kind(decl.kind);
		is_type = decl.kind == DECL_TYPE;
		p->decls.items[p->decls.n++] = decl;
	}
	return is_type;
}

/* "declare ...": everything is erased. */
static void ambient(struct ts_parser *p, uint32_t start, bool exported) {
	struct ts_mark mark = gb_ts_mark(p);
	bool instantiated = p->instantiated;
	gb_ts_next(p);
	p->in.ambient = true;
	if (is_word(p, W_EXPORT))
		gb_ts_export(p);
	else
		gb_ts_declaration(p, p->token.start, exported);
	uint32_t end = p->decls.n;
	p->in = mark.in;
	gb_ts_blank_statement(p, start, &mark);
	bool is_type = declare_ambient(p, &mark, end);
	p->instantiated = instantiated || !is_type;
}

void gb_ts_declaration(struct ts_parser *p, uint32_t start, bool exported) {
	switch (p->token.word) {
	case W_INTERFACE:
		interface_declaration(p, start);
		return;
	case W_TYPE:
		type_alias(p, start);
		return;
	case W_DECLARE:
		ambient(p, start, exported);
		return;
	case W_GLOBAL: {
		struct ts_mark mark = gb_ts_mark(p);
		gb_ts_next(p);
		gb_ts_block(p);
		gb_ts_blank_statement(p, start, &mark);
		return;
	}
	case W_ABSTRACT:
		gb_ts_blank_token(p);
		if (!is_word(p, W_CLASS))
			gb_ts_fail(p, p->token.start, "expected 'class'");
		gb_ts_class(p, true, exported);
		return;
	case W_CLASS:
		gb_ts_class(p, true, exported);
		return;
	case W_ENUM:
		gb_ts_enum(p, start, p->token.start, exported);
		return;
	case W_NAMESPACE:
	case W_MODULE:
		gb_ts_namespace(p, start, exported);
		return;
	case W_FUNCTION:
	case W_ASYNC:
		function_declaration(p, start, exported);
		return;
	case W_IMPORT:
		gb_ts_import(p, start, exported);
		return;
	case W_CONST:
		if (gb_ts_peek(p).word == W_ENUM) {
			uint32_t keyword = p->token.start;
			gb_ts_next(p);
			gb_ts_enum(p, start, keyword, exported);
			return;
		}
		variable_declaration(p, start, exported);
		return;
	case W_VAR:
	case W_LET:
	case W_USING:
	case W_AWAIT:
		variable_declaration(p, start, exported);
		return;
	default:
		gb_ts_fail(p, p->token.start, "expected a declaration");
	}
}
