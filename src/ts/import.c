/* Parses and records imports; link.c decides which stay. */
#include "ts/parser.h"

/* --- shared by imports and exports --- */

void gb_ts_import_attributes(struct ts_parser *p) {
	if (!is_word(p, W_WITH) && !(is_word(p, W_ASSERT) && !p->token.newline))
		return;
	gb_ts_next(p);
	if (!is(p, '{'))
		gb_ts_expect(p, '{');
	gb_ts_assignment(p, false);
}

uint32_t gb_ts_module_specifier(struct ts_parser *p, enum gb_ts_import_kind kind, uint32_t first_name) {
	struct gb_ts_import *import = ADD(p, imports);
	*import = (struct gb_ts_import){.kind = kind,
	    .specifier = p->token.start,
	    .length = is(p, T_STRING) ? p->token.end - p->token.start : 0,
	    .first_name = first_name,
	    .n_names = p->names.n - first_name};
	uint32_t index = p->imports.n - 1;
	gb_ts_expect(p, T_STRING);
	return index;
}

void gb_ts_dynamic_import(struct ts_parser *p) {
	gb_ts_expect(p, '(');
	if (is(p, T_STRING)) {
		struct ts_token next = gb_ts_peek(p);
		if (next.kind == ')' || next.kind == ',')
			gb_ts_module_specifier(p, GB_TS_IMPORT_DYNAMIC, p->names.n);
	}
	while (more_before(p, ')')) {
		if (accept(p, ','))
			continue;
		accept(p, T_DOTS);
		gb_ts_assignment_in(p);
		if (!is(p, ','))
			break;
	}
	gb_ts_expect(p, ')');
}

static bool at_specifier_name(const struct ts_parser *p) {
	return p->token.kind == T_NAME || p->token.kind == T_STRING;
}

static struct ts_token expect_specifier_name(struct ts_parser *p) {
	struct ts_token name = p->token;
	if (!at_specifier_name(p))
		gb_ts_fail(p, p->token.start, "expected a name");
	gb_ts_next(p);
	return name;
}

/* After the word "type", which is a modifier or a name; "as" may be a name as well. */
static void after_type(struct ts_parser *p, struct ts_specifier *s) {
	if (!is_word(p, W_AS)) {
		if (!at_specifier_name(p))
			return;
		s->is_type = true;
		s->imported = s->local = expect_specifier_name(p);
		return;
	}
	struct ts_token first = expect_specifier_name(p);
	if (is_word(p, W_AS)) {
		struct ts_token second = expect_specifier_name(p);
		s->local = second; /* type as as */
		if (at_specifier_name(p)) {
			s->is_type = true; /* type as as x */
			s->imported = first;
			s->local = expect_specifier_name(p);
		}
	} else if (at_specifier_name(p)) {
		s->local = expect_specifier_name(p); /* type as x */
	} else {
		s->is_type = true; /* type as */
		s->imported = s->local = first;
	}
}

struct ts_specifier gb_ts_specifier(struct ts_parser *p) {
	struct ts_specifier s = {.start = p->token.start};
	s.imported = s.local = expect_specifier_name(p);
	if (s.imported.word == W_TYPE)
		after_type(p, &s);
	if (is_word(p, W_AS)) {
		gb_ts_next(p);
		s.local = expect_specifier_name(p);
	}
	if (!accept(p, ',') && !is(p, '}'))
		gb_ts_expect(p, ',');
	s.end = p->previous_end;
	return s;
}

/* --- import a = b.c, import a = require("b") --- */

static void alias_target(struct ts_parser *p, struct ts_binding *binding) {
	binding->ref = p->refs.n;
	gb_ts_refer(p)->of_alias = true;
	if (!at_identifier(p))
		gb_ts_fail(p, p->token.start, "expected a name");
	gb_ts_next(p);
	while (accept(p, '.'))
		gb_ts_next(p);
}

static void import_alias(struct ts_parser *p, struct ts_import_statement *statement, struct ts_token name,
    bool is_type, const struct ts_mark *mark) {
	struct ts_binding binding = {.local = token_name(&name), .name = TS_NONE, .ref = TS_NONE};
	gb_ts_expect(p, '=');
	binding.is_require = is_word(p, W_REQUIRE) && gb_ts_peek(p).kind == '(';
	if (binding.is_require) {
		gb_ts_next(p);
		gb_ts_next(p);
		gb_ts_expect(p, T_STRING);
		gb_ts_expect(p, ')');
	} else {
		alias_target(p, &binding);
	}
	gb_ts_semicolon(p);
	if (is_type || p->in.ambient) {
		gb_ts_blank_statement(p, statement->start, mark);
		gb_ts_declare(p, binding.local, DECL_TYPE);
		return;
	}
	bool member = statement->exported && p->in.container != TS_NONE;
	p->instantiated |= statement->exported;
	statement->is_alias = true;
	statement->container = member ? p->in.container : TS_NONE;
	statement->end = p->previous_end;
	statement->first = p->bindings.n;
	statement->n = 1;
	gb_ts_declare(p, binding.local, member ? DECL_EXPORTED_VARIABLE : DECL_IMPORT);
	if (!p->exhausted)
		p->decls.items[p->decls.n - 1].index = p->bindings.n;
	*(struct ts_binding *)ADD(p, bindings) = binding;
	*(struct ts_import_statement *)ADD(p, statements) = *statement;
}

/* --- import ... from "x" --- */

static struct ts_binding *bind(struct ts_parser *p, struct ts_token local, bool is_type) {
	struct ts_binding *binding = ADD(p, bindings);
	*binding = (struct ts_binding){
	    .local = token_name(&local),
	    .start = local.start,
	    .end = local.end,
	    .name = TS_NONE,
	    .ref = TS_NONE,
	    .is_type = is_type,
	};
	gb_ts_declare(p, binding->local, is_type ? DECL_TYPE : DECL_IMPORT);
	if (!p->exhausted)
		p->decls.items[p->decls.n - 1].index = p->bindings.n - 1;
	return binding;
}

static uint32_t add_name(struct ts_parser *p, struct ts_token name, bool is_default) {
	struct gb_ts_name *added = ADD(p, names);
	*added = (struct gb_ts_name){name.start, name.end - name.start, is_default};
	return p->names.n - 1;
}

static void star_binding(struct ts_parser *p, bool is_type) {
	uint32_t start = p->token.start;
	gb_ts_next(p);
	gb_ts_expect_word(p, W_AS, "expected 'as'");
	struct ts_token local = expect_specifier_name(p);
	bind(p, local, is_type)->start = start;
}

static void named_bindings(struct ts_parser *p, bool is_type) {
	gb_ts_next(p);
	while (more_before(p, '}')) {
		struct ts_specifier s = gb_ts_specifier(p);
		uint32_t name = is_type || s.is_type ? TS_NONE : add_name(p, s.imported, false);
		struct ts_binding *binding = bind(p, s.local, is_type || s.is_type);
		binding->start = s.start;
		binding->end = s.end;
		binding->name = name;
	}
	gb_ts_expect(p, '}');
}

/* At "type": whether it is a modifier. */
static bool is_type_modifier(struct ts_parser *p) {
	struct ts_token next = gb_ts_peek(p);
	if (next.kind == '{' || next.kind == '*')
		return true;
	if (!is_identifier(&next))
		return false;
	if (next.word != W_FROM)
		return true;
	/* import type from "x", import type from from "x", import type from = y */
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_next(p);
	struct ts_token third = gb_ts_peek(p);
	gb_ts_rewind(p, &mark);
	return third.word == W_FROM || third.kind == '=';
}

/* "defer" and "source" are left for the engine to accept or reject. */
static void skip_phase_modifier(struct ts_parser *p) {
	if (!is_word(p, W_DEFER) && !is_word(p, W_SOURCE))
		return;
	struct ts_token next = gb_ts_peek(p);
	if (next.kind == '*' || (next.kind == T_NAME && next.word != W_FROM))
		gb_ts_next(p);
}

static void import_clause(struct ts_parser *p, struct ts_import_statement *statement, bool is_type) {
	if (is(p, '*') || is(p, '{'))
		statement->clause = p->token.start;
	if (is(p, '*'))
		star_binding(p, is_type);
	else if (is(p, '{'))
		named_bindings(p, is_type);
	else
		gb_ts_fail(p, p->token.start, "expected '{' or '*'");
}

static void import_from(struct ts_parser *p, struct ts_import_statement *statement, uint32_t first_name,
    bool is_type, const struct ts_mark *mark) {
	statement->from = p->token.start;
	gb_ts_expect_word(p, W_FROM, "expected 'from'");
	statement->import = gb_ts_module_specifier(p, GB_TS_IMPORT, first_name);
	gb_ts_import_attributes(p);
	gb_ts_semicolon(p);
	statement->end = p->previous_end;
	statement->n = p->bindings.n - statement->first;
	p->instantiated = true;
	if (!is_type) {
		*(struct ts_import_statement *)ADD(p, statements) = *statement;
		return;
	}
	/* Keep the names declared, as types. */
	uint32_t decls = p->decls.n;
	gb_ts_blank_statement(p, statement->start, mark);
	p->decls.n = decls;
}

void gb_ts_import(struct ts_parser *p, uint32_t start, bool exported) {
	struct ts_mark mark = gb_ts_mark(p);
	struct ts_import_statement statement = {.start = start,
	    .first = p->bindings.n,
	    .from = p->token.start,
	    .clause = TS_NONE,
	    .import = TS_NONE,
	    .container = TS_NONE,
	    .exported = exported,
	    .previous = p->previous};
	uint32_t first_name = p->names.n;
	gb_ts_next(p);
	if (is(p, T_STRING)) {
		p->instantiated = true;
		gb_ts_module_specifier(p, GB_TS_IMPORT, first_name);
		gb_ts_import_attributes(p);
		gb_ts_semicolon(p);
		return;
	}
	bool is_type = is_word(p, W_TYPE) && is_type_modifier(p);
	if (is_type)
		gb_ts_next(p);
	else
		skip_phase_modifier(p);
	if (p->token.kind == T_NAME) {
		struct ts_token name = p->token;
		gb_ts_next(p);
		if (is(p, '=')) {
			import_alias(p, &statement, name, is_type, &mark);
			return;
		}
		uint32_t index = is_type ? TS_NONE : add_name(p, name, true);
		struct ts_binding *binding = bind(p, name, is_type);
		binding->is_default = true;
		binding->name = index;
		if (accept(p, ','))
			import_clause(p, &statement, is_type);
	} else {
		import_clause(p, &statement, is_type);
	}
	import_from(p, &statement, first_name, is_type, &mark);
}
