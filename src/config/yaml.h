/*
 * YAML as a tree, of which every node knows its place. Bounded: bytes, depth, nodes. An alias is the node
 * that its anchor names, once more: nothing is copied, and a node cannot hold itself.
 */
#ifndef GB_CONFIG_YAML_H
#define GB_CONFIG_YAML_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	GB_YAML_MAX_BYTES = 256 << 10,
	GB_YAML_MAX_DEPTH = 16,
	GB_YAML_MAX_NODES = 20000,
	GB_YAML_ARENA = 16 << 20, /* what the largest tree needs, and more */
};

enum gb_yaml_kind { GB_YAML_SCALAR, GB_YAML_SEQUENCE, GB_YAML_MAPPING };

struct gb_yaml_item;

struct gb_yaml {
	enum gb_yaml_kind kind;
	bool quoted;                /* a scalar that is text, whatever it looks like */
	unsigned line, column;      /* from 1 on */
	struct gb_str text;         /* of a scalar; a zero follows */
	struct gb_yaml_item *first; /* of the others */
	struct gb_yaml_item **last;
	size_t n;
};

struct gb_yaml_item {
	struct gb_yaml *key; /* NULL in a sequence */
	struct gb_yaml *value;
	struct gb_yaml_item *next;
};

/* Nothing was written: "", ~ or null. */
bool gb_yaml_is_null(const struct gb_yaml *node);

/* *ret lives in @arena; it is NULL if there is nothing but comments. Errors begin with "name:line:column: ".
 */
bool gb_yaml_read(
    struct gb_arena *arena, const char *name, struct gb_str text, struct gb_yaml **ret, struct gb_err *err);

#endif
