/* Parses namespaces; emit.c writes them, after merged declarations are known. */
#include "ts/parser.h"

uint32_t gb_ts_open_container(struct ts_parser *p, struct ts_container container) {
	bool is_member = container.exported && p->in.container != TS_NONE;
	uint32_t scope = p->in.scope;
	/* As the body of a for, it is declared outside, as in TypeScript. */
	while (p->in.scope < p->scopes.n && p->scopes.items[p->in.scope].kind == SCOPE_FOR)
		p->in.scope = p->scopes.items[p->in.scope].parent;
	container.outer = p->in.scope;
	container.parent = p->in.container;
	container.decl = p->decls.n;
	gb_ts_declare(p, container.name, is_member ? DECL_EXPORTED_LOCAL : DECL_CONTAINER);
	p->in.scope = scope;
	if (!p->exhausted)
		p->decls.items[container.decl].index = p->containers.n;
	gb_ts_open_scope(p, SCOPE_FUNCTION);
	container.scope = p->in.scope;
	*(struct ts_container *)ADD(p, containers) = container;
	if (!p->exhausted)
		p->scopes.items[p->in.scope].container = p->containers.n - 1;
	return p->containers.n - 1;
}

/* A, or A.B.C: one container for each, nested. */
static void names(struct ts_parser *p, uint32_t start, uint32_t keyword, bool exported, uint8_t previous) {
	for (bool dotted = false;; dotted = true) {
		if (p->token.kind != T_NAME) {
			gb_ts_fail(p, p->token.start, "expected the name of a namespace");
			return;
		}
		uint32_t container = gb_ts_open_container(p, (struct ts_container){
								 .name = token_name(&p->token),
								 .start = start,
								 .keyword = keyword,
								 .exported = exported || dotted,
								 .dotted = dotted,
								 .previous = previous,
							     });
		p->in = (struct ts_context){
		    .scope = p->in.scope, .container = container, .ambient = p->in.ambient};
		gb_ts_next(p);
		if (!is(p, '.'))
			return;
		start = p->token.start;
		gb_ts_next(p);
	}
}

/* declare module "x" */
static void ambient_module(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	gb_ts_next(p);
	p->in.ambient = true;
	if (is(p, '{'))
		gb_ts_block(p);
	else
		gb_ts_semicolon(p);
	p->in = mark->in;
	gb_ts_blank_statement(p, start, mark);
}

void gb_ts_namespace(struct ts_parser *p, uint32_t start, bool exported) {
	struct ts_mark mark = gb_ts_mark(p);
	uint32_t keyword = p->token.start, first = p->containers.n;
	gb_ts_next(p);
	if (is(p, T_STRING)) {
		ambient_module(p, start, &mark);
		return;
	}
	struct ts_name name = token_name(&p->token);
	names(p, start, keyword, exported, mark.previous);
	p->instantiated = false;
	gb_ts_expect(p, '{');
	gb_ts_statements(p);
	gb_ts_expect(p, '}');
	bool instantiated = p->instantiated;
	p->in = mark.in;
	p->instantiated = mark.instantiated || instantiated;
	if (!instantiated) {
		gb_ts_blank_statement(p, start, &mark);
		gb_ts_declare(p, name, DECL_TYPE);
		return;
	}
	p->last_blank = TS_NONE;
	for (uint32_t i = first; i < p->containers.n; i++)
		if (p->containers.items[i].end == 0)
			p->containers.items[i].end = p->previous_end;
}

/* --- exported variables --- */

struct variables {
	uint32_t comma;      /* position of the comma before this variable, or TS_NONE */
	uint32_t first, end; /* of the variables with a value; TS_NONE if none */
	bool braces;         /* the first is an object pattern */
};

/* Without a value there is nothing to assign: blank the variable. */
static void drop_variable(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	p->edits.n = mark->edits;
	p->places.n = mark->places;
	gb_ts_blank(p, start, p->previous_end);
}

static void exported_variable(struct ts_parser *p, struct variables *all) {
	uint32_t start = p->token.start;
	bool braces = is(p, '{');
	struct ts_mark mark = gb_ts_mark(p);
	gb_ts_pattern(p, DECL_EXPORTED_VARIABLE);
	if (is(p, '!') && !p->token.newline)
		gb_ts_blank_token(p);
	gb_ts_annotation(p);
	bool stays = accept(p, '=');
	if (stays)
		gb_ts_assignment(p, false);
	else
		drop_variable(p, start, &mark);
	if (all->comma != TS_NONE && (!stays || all->first == TS_NONE))
		gb_ts_blank(p, all->comma, all->comma + 1);
	if (!stays)
		return;
	if (all->first == TS_NONE) {
		all->first = start;
		all->braces = braces;
	}
	all->end = p->previous_end;
}

/* "export const x = 1" -> "N.x = 1"; the keywords are blanked. */
void gb_ts_exported_variables(struct ts_parser *p, uint32_t start) {
	struct variables all = {TS_NONE, TS_NONE, TS_NONE, false};
	uint32_t blank = gb_ts_blank(p, start, p->token.end);
	if (p->previous != ';' && p->previous != '{')
		gb_ts_overlay(p, blank, ";");
	gb_ts_next(p);
	for (;;) {
		exported_variable(p, &all);
		if (!is(p, ','))
			break;
		all.comma = p->token.start;
		gb_ts_next(p);
	}
	if (all.braces) {
		insert_before(p, all.first, "(");
		insert_after(p, all.end, ")");
	}
	gb_ts_semicolon(p);
}
