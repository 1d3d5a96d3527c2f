/* Name resolution after parsing: which imports and exports are values, and which names are members of a
 * namespace or an enum. */
#include "ts/parser.h"

enum {
	ANY_VALUE = ~(1u << DECL_TYPE) & 0xffff,
};

struct linker {
	struct ts_parser *p;
	const struct ts_table *table;
};

struct target {
	const struct ts_decl *decl; /* or NULL */
	uint32_t container;         /* the container it is a member of, or TS_NONE */
};

/* Resolve a name, from the innermost scope outwards. */
static struct target resolve(const struct linker *linker, const struct ts_ref *ref, unsigned kinds) {
	struct ts_parser *p = linker->p;
	struct ts_key key = gb_ts_key(p, (struct ts_name){ref->start, ref->length});
	if (!gb_ts_table_may_have(linker->table, key))
		return (struct target){NULL, TS_NONE};
	for (uint32_t at = ref->scope; at != TS_NONE && p->budget > 0; at = p->scopes.items[at].parent) {
		const struct ts_scope *scope = &p->scopes.items[at];
		const struct ts_decl *decl = gb_ts_table_find(p, linker->table, at, key, kinds);
		if (decl) {
			bool member = decl->kind == DECL_EXPORTED_VARIABLE || decl->kind == DECL_MEMBER;
			return (struct target){decl, member ? scope->container : TS_NONE};
		}
		if (scope->container == TS_NONE)
			continue;
		decl = gb_ts_table_find_exported(p, linker->table, scope->container, key);
		if (decl)
			return (struct target){decl, scope->container};
	}
	return (struct target){NULL, TS_NONE};
}

static void prefix(struct ts_parser *p, const struct ts_ref *ref, uint32_t container) {
	char room[TS_INNER_MAX];
	const char *inner = gb_ts_inner_name(p, container, room);
	if (ref->shorthand)
		insert_before(p, ref->start, "%.*s: %s.", (int)ref->length, p->source + ref->start, inner);
	else
		insert_before(p, ref->start, "%s.", inner);
}

/* --- uses --- */

/* Mark a binding as used; for an alias, also the binding that it refers to. */
static void mark_used(const struct linker *linker, uint32_t index) {
	struct ts_parser *p = linker->p;
	while (index != TS_NONE && !p->bindings.items[index].used) {
		struct ts_binding *binding = &p->bindings.items[index];
		binding->used = true;
		index = TS_NONE;
		if (binding->ref == TS_NONE)
			continue;
		const struct ts_ref *ref = &p->refs.items[binding->ref];
		struct target target = resolve(linker, ref, ANY_VALUE);
		if (target.container != TS_NONE)
			prefix(p, ref, target.container);
		else if (target.decl && target.decl->kind == DECL_IMPORT)
			index = target.decl->index;
	}
}

/* Names are compared as written. A name with an escape could refer to any import, so all count as used. */
static void mark_all_used(struct ts_parser *p) {
	for (uint32_t i = 0; i < p->bindings.n; i++) {
		struct ts_binding *binding = &p->bindings.items[i];
		binding->used |= !binding->is_type && binding->ref == TS_NONE && !binding->is_require;
	}
}

static void mark_computed_used(const struct linker *linker) {
	struct ts_parser *p = linker->p;
	for (uint32_t i = 0; i < p->computed.n && p->budget > 0; i++) {
		struct target target = resolve(linker, &p->computed.items[i], ANY_VALUE);
		if (target.decl && target.decl->kind == DECL_IMPORT)
			mark_used(linker, target.decl->index);
	}
}

static void link_refs(const struct linker *linker) {
	struct ts_parser *p = linker->p;
	for (uint32_t i = 0; i < p->refs.n && !p->failed; i++) {
		const struct ts_ref *ref = &p->refs.items[i];
		if (ref->of_alias ||
		    !gb_ts_table_may_have_text(linker->table, p->source + ref->start, ref->length))
			continue;
		struct target target = resolve(linker, ref, ANY_VALUE);
		if (target.container != TS_NONE)
			prefix(p, ref, target.container);
		else if (target.decl && target.decl->kind == DECL_IMPORT)
			mark_used(linker, target.decl->index);
		if (p->budget <= 0)
			gb_ts_fail(p, ref->start, "too many scopes: resolving names exceeds the work limit");
	}
}

/* Whether an alias refers to a namespace that contains only types. */
static bool is_type_alias(const struct linker *linker, const struct ts_binding *binding) {
	if (binding->ref == TS_NONE)
		return false;
	const struct ts_ref *ref = &linker->p->refs.items[binding->ref];
	struct target target = resolve(linker, ref, ANY_VALUE);
	if (target.decl)
		return target.decl->kind == DECL_IMPORT &&
		       linker->p->bindings.items[target.decl->index].is_type;
	target = resolve(linker, ref, 1u << DECL_TYPE);
	return target.decl != NULL;
}

/* --- exports --- */

static void blank_whole(struct ts_parser *p, uint32_t start, uint32_t end, uint8_t previous) {
	uint32_t blank = gb_ts_blank(p, start, end);
	if (previous != ';' && previous != '{' && previous != T_END)
		gb_ts_overlay(p, blank, ";");
}

static void link_export(const struct linker *linker, const struct ts_export *export) {
	enum { MODULE_SCOPE = 0 };
	struct ts_parser *p = linker->p;
	struct ts_key key = gb_ts_key(p, export->name);
	const struct ts_decl *decl = gb_ts_table_find(p, linker->table, MODULE_SCOPE, key, ANY_VALUE);
	if (decl && decl->kind != DECL_IMPORT)
		return;
	if (decl && !is_type_alias(linker, &p->bindings.items[decl->index])) {
		mark_used(linker, decl->index);
		return;
	}
	/* An undeclared name may exist at run time. */
	if (!decl && !gb_ts_table_find(p, linker->table, MODULE_SCOPE, key, 1u << DECL_TYPE))
		return;
	if (export->is_default)
		blank_whole(p, export->start, export->end, '}');
	else
		gb_ts_blank(p, export->start, export->end);
}

/* --- imports --- */

static void forget_name(struct ts_parser *p, const struct ts_binding *binding) {
	if (binding->name != TS_NONE)
		p->names.items[binding->name].length = 0;
}

static void drop_binding(struct ts_parser *p, const struct ts_binding *binding) {
	gb_ts_blank(p, binding->start, binding->end);
	forget_name(p, binding);
}

static void keep_alias(struct ts_parser *p, const struct ts_import_statement *statement) {
	const struct ts_binding *binding = &p->bindings.items[statement->first];
	if (binding->is_require) {
		gb_ts_fail(p, statement->start,
		    "'import x = require()' is not supported in a module; write 'import x from' or 'import * "
		    "as x from'");
		return;
	}
	if (statement->container == TS_NONE) {
		gb_ts_overlay(p, gb_ts_blank(p, statement->from, statement->from + 6), "var");
		return;
	}
	char room[TS_INNER_MAX];
	blank_whole(p, statement->start, binding->local.start, statement->previous);
	insert_before(p, binding->local.start, "%s.", gb_ts_inner_name(p, statement->container, room));
}

/* Some of its names are used: remove the others. */
static void trim_import(struct ts_parser *p, const struct ts_import_statement *statement) {
	const struct ts_binding *bindings = p->bindings.items + statement->first;
	uint32_t first = bindings[0].is_default, kept = 0;
	for (uint32_t i = first; i < statement->n; i++)
		kept += bindings[i].used;
	if (first && !bindings[0].used) {
		gb_ts_blank(p, bindings[0].start, statement->clause);
		forget_name(p, &bindings[0]);
	}
	if (kept == 0 && statement->clause != TS_NONE)
		gb_ts_blank(p, bindings[0].end, statement->from);
	for (uint32_t i = first; i < statement->n; i++) {
		if (kept == 0)
			forget_name(p, &bindings[i]);
		else if (!bindings[i].used)
			drop_binding(p, &bindings[i]);
	}
}

static void link_import(struct ts_parser *p, const struct ts_import_statement *statement) {
	bool used = false;
	for (uint32_t i = 0; i < statement->n; i++)
		used |= p->bindings.items[statement->first + i].used;
	if (!used) {
		blank_whole(p, statement->start, statement->end, statement->previous);
		if (statement->import != TS_NONE)
			p->imports.items[statement->import].length = 0;
	} else if (statement->is_alias) {
		keep_alias(p, statement);
	} else {
		trim_import(p, statement);
	}
}

void gb_ts_link(struct ts_parser *p) {
	if (p->failed || (!p->statements.n && !p->containers.n && !p->exports.n))
		return;
	struct linker linker = {.p = p, .table = gb_ts_table_create(p)};
	if (!linker.table)
		return;
	gb_ts_name_containers(p);
	for (uint32_t i = 0; i < p->statements.n; i++) {
		const struct ts_import_statement *statement = &p->statements.items[i];
		if (statement->is_alias && statement->exported &&
		    !is_type_alias(&linker, &p->bindings.items[statement->first]))
			mark_used(&linker, statement->first);
	}
	if (p->escaped_names)
		mark_all_used(p);
	mark_computed_used(&linker);
	link_refs(&linker);
	for (uint32_t i = 0; i < p->exports.n; i++)
		link_export(&linker, &p->exports.items[i]);
	for (uint32_t i = 0; i < p->statements.n; i++)
		link_import(p, &p->statements.items[i]);
	gb_ts_emit_containers(p, linker.table);
	gb_ts_table_destroy((struct ts_table *)linker.table);
}
