#include <string.h>

#include "ts/parser.h"

bool gb_ts_name_equal(const struct ts_parser *p, struct ts_name a, struct ts_name b) {
	return a.length == b.length && memcmp(p->source + a.start, p->source + b.start, a.length) == 0;
}

void gb_ts_open_scope(struct ts_parser *p, uint8_t kind) {
	uint32_t parent = p->in.scope, inside = TS_NONE;
	if (parent < p->scopes.n)
		inside =
		    p->scopes.items[parent].container != TS_NONE ? parent : p->scopes.items[parent].inside;
	struct ts_scope *scope = ADD(p, scopes);
	*scope = (struct ts_scope){.parent = parent, .container = TS_NONE, .inside = inside, .kind = kind};
	p->in.scope = p->scopes.n - 1;
}

/* A container whose name is redeclared inside it needs another name there. */
static void mark_shadowed(struct ts_parser *p, uint32_t at, struct ts_name name) {
	if (at < p->scopes.n && p->scopes.items[at].container == TS_NONE)
		at = p->scopes.items[at].inside;
	for (; at < p->scopes.n; at = p->scopes.items[at].inside) {
		struct ts_container *container = &p->containers.items[p->scopes.items[at].container];
		if (gb_ts_name_equal(p, container->name, name))
			container->shadowed = true;
		p->budget--;
	}
}

static void declare_in(struct ts_parser *p, uint32_t scope, struct ts_name name, uint8_t kind) {
	struct ts_decl *decl = ADD(p, decls);
	*decl = (struct ts_decl){.name = name, .scope = scope, .kind = kind};
	if (p->containers.n)
		mark_shadowed(p, p->in.scope, name);
}

void gb_ts_declare(struct ts_parser *p, struct ts_name name, uint8_t kind) {
	declare_in(p, p->in.scope, name, kind);
}

void gb_ts_declare_var(struct ts_parser *p, struct ts_name name) {
	uint32_t scope = p->in.scope;
	while (scope < p->scopes.n && p->scopes.items[scope].kind != SCOPE_FUNCTION &&
	       p->scopes.items[scope].parent != TS_NONE)
		scope = p->scopes.items[scope].parent;
	declare_in(p, scope, name, DECL_VALUE);
}

struct ts_ref *gb_ts_refer(struct ts_parser *p) {
	struct ts_ref *ref = ADD(p, refs);
	*ref = (struct ts_ref){.start = p->token.start,
	    .scope = p->in.scope,
	    .length = (p->token.end - p->token.start) & 0x3fffffff};
	return ref;
}
