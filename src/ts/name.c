#include <string.h>

#include "ts/parser.h"

/* Both ends of it, without a loop: names that differ only in the middle are few, and told apart later. */
static uint32_t hash(const char *text, uint32_t n) {
	uint64_t first = 0, last = 0;
	if (n >= 8) {
		memcpy(&first, text, 8);
		memcpy(&last, text + n - 8, 8);
	} else if (n >= 4) {
		memcpy(&first, text, 4);
		memcpy(&last, text + n - 4, 4);
	} else if (n > 0) {
		first = (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[n / 2] << 8 |
			(uint8_t)text[n - 1];
	}
	uint64_t mixed = (first ^ n) * 0x9e3779b97f4a7c15u + last * 0xc2b2ae3d27d4eb4fu;
	return (uint32_t)(mixed >> 32) ^ (uint32_t)mixed;
}

struct ts_name gb_ts_name(const struct ts_parser *p, uint32_t start, uint32_t end) {
	return (struct ts_name){start, end - start, hash(p->source + start, end - start)};
}

bool gb_ts_name_equal(const struct ts_parser *p, struct ts_name a, struct ts_name b) {
	return a.hash == b.hash && a.length == b.length &&
	       memcmp(p->source + a.start, p->source + b.start, a.length) == 0;
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

/* A container whose name is taken inside it must get another one there. */
static void note_shadowed(struct ts_parser *p, uint32_t at, struct ts_name name) {
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
		note_shadowed(p, p->in.scope, name);
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
