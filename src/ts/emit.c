/* Emits enums and namespaces, as functions that are called with the object that they fill. */
#include <stdio.h>
#include <string.h>

#include "ts/parser.h"

/* --- names --- */

/* The container's own name is redeclared inside: find a suffix that makes it unique in the file. */
static uint32_t find_suffix(struct ts_parser *p, struct ts_name name) {
	char text[TS_INNER_MAX];
	for (uint32_t suffix = 1;; suffix++) {
		int n = snprintf(text, sizeof text, "%.*s_%u", NAME_ARG(p, name), suffix);
		p->budget -= p->size;
		if (n < 0 || (size_t)n >= sizeof text || p->budget < 0)
			gb_ts_fail(p, name.start,
			    "no unique variant of this name of a namespace or enum was found: it is too long "
			    "or too frequent");
		if (p->failed || !memmem(p->source, p->size, text, (size_t)n))
			return suffix;
	}
}

void gb_ts_name_containers(struct ts_parser *p) {
	for (uint32_t i = 0; i < p->containers.n && !p->failed; i++) {
		struct ts_container *container = &p->containers.items[i];
		/* The size of gb_ts_inner_name's buffer. */
		if (container->name.length > TS_INNER_MAX - 20)
			gb_ts_fail(p, container->name.start, "this name is too long for a namespace or enum");
		if (container->shadowed)
			container->suffix = find_suffix(p, container->name);
	}
}

const char *gb_ts_inner_name(const struct ts_parser *p, uint32_t index, char room[TS_INNER_MAX]) {
	const struct ts_container *container = &p->containers.items[index];
	memcpy(room, p->source + container->name.start, container->name.length);
	room[container->name.length] = '\0';
	if (container->suffix)
		snprintf(room + container->name.length, TS_INNER_MAX - container->name.length, "_%u",
		    container->suffix);
	return room;
}

/* --- enums --- */

static const char *quote_of(const struct ts_parser *p, struct ts_name key) {
	char c = p->source[key.start];
	return c == '"' || c == '\'' || c == '`' || (c >= '0' && c <= '9') || c == '.' ? "" : "\"";
}

/* After the key of a member without an initializer. */
static void emit_counted(
    struct ts_parser *p, const struct ts_member *m, const char *inner, const char *close) {
	const char *q = quote_of(p, m->key);
	if (m->number_known) {
		insert_after(p, m->key_end, "%s = %lld] = %s%.*s%s;", close, (long long)m->number, q,
		    NAME_ARG(p, m->key), q);
		return;
	}
	const struct ts_member *previous = &p->members.items[m->previous];
	if (previous->type == MEMBER_STRING) {
		insert_after(p, m->key_end, "%s = void 0] = %s%.*s%s;", close, q, NAME_ARG(p, m->key), q);
		return;
	}
	const char *pq = quote_of(p, previous->key);
	insert_after(p, m->key_end, "%s = %s[%s%.*s%s] + 1] = %s%.*s%s;", close, inner, pq,
	    NAME_ARG(p, previous->key), pq, q, NAME_ARG(p, m->key), q);
}

static void emit_member(struct ts_parser *p, const struct ts_member *m) {
	char room[TS_INNER_MAX];
	const char *inner = gb_ts_inner_name(p, m->container, room), *q = quote_of(p, m->key);
	bool brackets = p->source[m->start] == '[';
	const char *open = brackets ? "" : "[", *close = brackets ? "" : *q ? "\"]" : "]";
	if (m->type == MEMBER_NUMBER)
		insert_before(p, m->start, "%s[%s%s%s", inner, inner, open, brackets ? "" : q);
	else
		insert_before(p, m->start, "%s%s%s", inner, open, brackets ? "" : q);
	if (m->value_end == TS_NONE) {
		emit_counted(p, m, inner, close);
		return;
	}
	insert_after(p, m->key_end, "%s", close);
	if (m->type == MEMBER_NUMBER)
		insert_after(p, m->value_end, "] = %s%.*s%s;", q, NAME_ARG(p, m->key), q);
	else if (m->type == MEMBER_STRING)
		insert_after(p, m->value_end, ";");
	else
		insert_after(p, m->value_end,
		    "; if (typeof %s[%s%.*s%s] !== \"string\") %s[%s[%s%.*s%s]] = %s%.*s%s;", inner, q,
		    NAME_ARG(p, m->key), q, inner, inner, q, NAME_ARG(p, m->key), q, q, NAME_ARG(p, m->key),
		    q);
}

/* --- namespaces --- */

static void emit_place(struct ts_parser *p, const struct ts_place *place) {
	char room[TS_INNER_MAX];
	const char *inner = gb_ts_inner_name(p, place->container, room);
	if (place->after)
		insert_after(p, place->at, " %s.%.*s = %.*s;", inner, NAME_ARG(p, place->name),
		    NAME_ARG(p, place->name));
	else if (place->shorthand)
		insert_before(p, place->at, "%.*s: %s.", NAME_ARG(p, place->name), inner);
	else
		insert_before(p, place->at, "%s.", inner);
}

/* --- heads and tails of both --- */

/* Whether it is the first declaration of its name in its scope, functions and classes included. */
static bool is_first(
    struct ts_parser *p, const struct ts_table *table, const struct ts_container *container) {
	unsigned kinds = 1u << DECL_FUNCTION | 1u << DECL_EXPORTED_LOCAL | 1u << DECL_CONTAINER;
	const struct ts_decl *first =
	    gb_ts_table_find(p, table, container->outer, gb_ts_key(p, container->name), kinds);
	return first == &p->decls.items[container->decl];
}

/* Whether it is at the top level of the module; the B of A.B is where A is. */
static bool in_module(const struct ts_parser *p, const struct ts_container *container) {
	while (container->dotted && container->parent != TS_NONE)
		container = &p->containers.items[container->parent];
	return p->scopes.items[container->outer].parent == TS_NONE;
}

/* Whether it is the body of an if, a loop or a label, without braces. */
static bool is_body(const struct ts_container *container) {
	return container->previous == ')' && !container->dotted;
}

static void emit_head(struct ts_parser *p, const struct ts_table *table, uint32_t index) {
	const struct ts_container *container = &p->containers.items[index];
	uint32_t name = container->name.start, name_end = name + container->name.length;
	char room[TS_INNER_MAX];
	const char *inner = gb_ts_inner_name(p, index, room);
	if (container->dotted) {
		gb_ts_blank(p, container->start, name_end);
		insert_after(p, name_end, "{ %s %.*s; (function (%s) ",
		    in_module(p, container) ? "var" : "let", NAME_ARG(p, container->name), inner);
		return;
	}
	bool module = in_module(p, container);
	if (!is_first(p, table, container)) {
		uint32_t blank = gb_ts_blank(p, container->start, name_end);
		if (!is_body(container))
			gb_ts_overlay(p, blank, ";");
		insert_after(p, name_end, "(function (%s) ", inner);
		return;
	}
	/* It becomes two statements. */
	if (is_body(container))
		insert_before(p, container->start, "{ ");
	uint32_t from = module ? container->keyword : container->start;
	gb_ts_overlay(p, gb_ts_blank(p, from, name), module ? "var" : "let");
	insert_after(p, name_end, "; (function (%s) ", inner);
}

static void emit_tail(struct ts_parser *p, const struct ts_table *table, uint32_t index) {
	const struct ts_container *container = &p->containers.items[index];
	struct ts_name name = container->name;
	if (container->parent == TS_NONE || !container->exported) {
		bool braces = is_body(container) && is_first(p, table, container);
		insert_after(p, container->end, ")(%.*s || (%.*s = {}));%s", NAME_ARG(p, name),
		    NAME_ARG(p, name), braces ? " }" : "");
		return;
	}
	char room[TS_INNER_MAX];
	const char *outer = gb_ts_inner_name(p, container->parent, room);
	insert_after(p, container->end, ")(%.*s = %s.%.*s || (%s.%.*s = {}));%s", NAME_ARG(p, name), outer,
	    NAME_ARG(p, name), outer, NAME_ARG(p, name), container->dotted ? " }" : "");
}

void gb_ts_emit_containers(struct ts_parser *p, const struct ts_table *table) {
	for (uint32_t i = 0; i < p->containers.n && !p->failed; i++)
		emit_head(p, table, i);
	for (uint32_t i = 0; i < p->members.n && !p->failed; i++)
		emit_member(p, &p->members.items[i]);
	for (uint32_t i = 0; i < p->places.n && !p->failed; i++)
		emit_place(p, &p->places.items[i]);
	/* Inner containers end before outer ones. */
	for (uint32_t i = p->containers.n; i-- > 0 && !p->failed;)
		emit_tail(p, table, i);
}
