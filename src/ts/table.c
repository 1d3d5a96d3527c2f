/* Hash table of declarations by scope and name, built once after parsing, for the names that are looked
 * up. */
#include <stdlib.h>
#include <string.h>

#include "ts/parser.h"

enum { FILTER_BITS = 1 << 11 };

struct entry {
	uint64_t owner; /* scope_owner() or exports_owner() */
	uint32_t decl;
	uint32_t next; /* in its bucket, or TS_NONE */
};

struct ts_table {
	uint64_t filter[FILTER_BITS / 64];
	uint16_t lengths[256]; /* by first byte: bit set of name lengths modulo 16 */
	uint32_t *buckets;
	uint32_t mask;
	TS_LIST(struct entry) entries;
};

/* Hashes both ends, without a loop: few names differ only in the middle, and the lookup compares them. */
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

struct ts_key gb_ts_key(const struct ts_parser *p, struct ts_name name) {
	return (struct ts_key){name, hash(p->source + name.start, name.length)};
}

/* Scopes and exports of containers share one table. */
static uint64_t scope_owner(uint32_t scope) {
	return scope;
}
static uint64_t exports_owner(uint32_t symbol) {
	return (uint64_t)1 << 32 | symbol;
}

bool gb_ts_table_may_have(const struct ts_table *table, struct ts_key key) {
	uint32_t bit = key.hash % FILTER_BITS;
	return table->filter[bit / 64] >> bit % 64 & 1;
}

bool gb_ts_table_may_have_text(const struct ts_table *table, const char *name, uint32_t length) {
	return table->lengths[(uint8_t)*name] >> length % 16 & 1;
}

static void add_to_filter(const struct ts_parser *p, struct ts_table *table, struct ts_name name) {
	table->lengths[(uint8_t)p->source[name.start]] |= (uint16_t)(1u << name.length % 16);
	uint32_t bit = gb_ts_key(p, name).hash % FILTER_BITS;
	table->filter[bit / 64] |= (uint64_t)1 << bit % 64;
}

static uint32_t bucket_of(const struct ts_table *table, uint64_t owner, uint32_t hash_of_name) {
	uint64_t mixed = (owner * 0x9e3779b97f4a7c15u) ^ ((uint64_t)hash_of_name * 0xc2b2ae3d27d4eb4fu);
	return (uint32_t)(mixed >> 32) & table->mask;
}

/* Insert at the head of the bucket: declarations are inserted from the last to the first. */
static void put(
    struct ts_parser *p, struct ts_table *table, uint64_t owner, struct ts_key key, uint32_t decl) {
	uint32_t bucket = bucket_of(table, owner, key.hash);
	struct entry *entry = ADD_TO(p, &table->entries);
	*entry = (struct entry){owner, decl, table->buckets[bucket]};
	if (!p->exhausted)
		table->buckets[bucket] = table->entries.n - 1;
}

static const struct ts_decl *find(
    struct ts_parser *p, const struct ts_table *table, uint64_t owner, struct ts_key key, unsigned kinds) {
	p->budget -= 8;
	for (uint32_t i = table->buckets[bucket_of(table, owner, key.hash)]; i != TS_NONE;
	     i = table->entries.items[i].next) {
		const struct entry *entry = &table->entries.items[i];
		const struct ts_decl *decl = &p->decls.items[entry->decl];
		p->budget--;
		if (entry->owner == owner && kinds >> decl->kind & 1 &&
		    gb_ts_name_equal(p, decl->name, key.name))
			return decl;
	}
	return NULL;
}

const struct ts_decl *gb_ts_table_find(
    struct ts_parser *p, const struct ts_table *table, uint32_t scope, struct ts_key key, unsigned kinds) {
	return find(p, table, scope_owner(scope), key, kinds);
}

const struct ts_decl *gb_ts_table_find_exported(
    struct ts_parser *p, const struct ts_table *table, uint32_t container, struct ts_key key) {
	return find(p, table, exports_owner(p->containers.items[container].symbol), key, ~0u);
}

/* Whether it is a property of its container. */
static bool is_export(const struct ts_decl *decl) {
	const unsigned kinds = 1u << DECL_EXPORTED_VARIABLE | 1u << DECL_EXPORTED_LOCAL | 1u << DECL_MEMBER |
			       1u << DECL_EXPORTED_AMBIENT;
	return kinds >> decl->kind & 1;
}

/* Names of imports, and all names that code inside an enum or a namespace can refer to. */
static void fill_filter(struct ts_parser *p, struct ts_table *table) {
	for (uint32_t i = 0; i < p->bindings.n; i++) {
		const struct ts_binding *binding = &p->bindings.items[i];
		add_to_filter(p, table, binding->local);
		if (binding->ref != TS_NONE) {
			const struct ts_ref *ref = &p->refs.items[binding->ref];
			add_to_filter(p, table, (struct ts_name){ref->start, ref->length});
		}
	}
	for (uint32_t i = 0; i < p->containers.n; i++)
		add_to_filter(p, table, p->containers.items[i].name);
	for (uint32_t i = 0; i < p->exports.n; i++)
		add_to_filter(p, table, p->exports.items[i].name);
	for (uint32_t i = 0; i < p->decls.n; i++) {
		if (is_export(&p->decls.items[i]))
			add_to_filter(p, table, p->decls.items[i].name);
	}
}

/* Blocks of the same name in one scope, or exported from one namespace, are one container: all get the symbol
 * of the first. */
static void number_containers(struct ts_parser *p, struct ts_table *table) {
	for (uint32_t i = 0; i < p->containers.n; i++) {
		struct ts_container *container = &p->containers.items[i];
		const struct ts_decl *first;
		bool member = container->parent != TS_NONE && container->exported;
		container->symbol = i;
		uint64_t owner = member ? exports_owner(p->containers.items[container->parent].symbol)
					: scope_owner(container->outer);
		unsigned kinds = 1u << (member ? DECL_EXPORTED_LOCAL : DECL_CONTAINER);
		struct ts_key key = gb_ts_key(p, container->name);
		first = find(p, table, owner, key, kinds);
		/* Exports are entered under the symbol of their namespace, which is already assigned here. */
		if (!first && member)
			put(p, table, owner, key, container->decl);
		if (first && first->index < i)
			container->symbol = p->containers.items[first->index].symbol;
	}
}

static void put_exports(struct ts_parser *p, struct ts_table *table) {
	for (uint32_t i = p->decls.n; i-- > 0;) {
		const struct ts_decl *decl = &p->decls.items[i];
		uint32_t container = p->scopes.items[decl->scope].container;
		if (container != TS_NONE && is_export(decl))
			put(p, table, exports_owner(p->containers.items[container].symbol),
			    gb_ts_key(p, decl->name), i);
	}
}

static bool fill(struct ts_parser *p, struct ts_table *table) {
	table->mask = 63;
	while (table->mask < p->decls.n)
		table->mask = table->mask * 2 + 1;
	table->buckets = malloc(((size_t)table->mask + 1) * sizeof *table->buckets);
	if (!table->buckets)
		return false;
	for (uint32_t i = 0; i <= table->mask; i++)
		table->buckets[i] = TS_NONE;
	fill_filter(p, table);
	for (uint32_t i = p->decls.n; i-- > 0;) {
		const struct ts_decl *decl = &p->decls.items[i];
		if (!gb_ts_table_may_have_text(table, p->source + decl->name.start, decl->name.length))
			continue;
		struct ts_key key = gb_ts_key(p, decl->name);
		if (gb_ts_table_may_have(table, key))
			put(p, table, scope_owner(decl->scope), key, i);
	}
	number_containers(p, table);
	put_exports(p, table);
	return !p->exhausted;
}

struct ts_table *gb_ts_table_create(struct ts_parser *p) {
	struct ts_table *table = calloc(1, sizeof *table);
	if (table && fill(p, table))
		return table;
	gb_ts_fail(p, 0, "out of memory");
	gb_ts_table_destroy(table);
	return NULL;
}

void gb_ts_table_destroy(struct ts_table *table) {
	if (!table)
		return;
	free(table->buckets);
	free(table->entries.items);
	free(table);
}
