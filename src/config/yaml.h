/*
 * YAML as a tree of nodes with their places. Bytes, depth and nodes are limited. An alias refers to the node
 * of its anchor without a copy, and a node cannot contain itself.
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
	GB_YAML_ARENA = 16 << 20, /* more than the largest tree needs */
};

enum gb_yaml_kind { GB_YAML_SCALAR, GB_YAML_SEQUENCE, GB_YAML_MAPPING };

struct gb_yaml_item;

struct gb_yaml {
	enum gb_yaml_kind kind;
	bool quoted;                /* a quoted scalar is always text */
	unsigned line, column;      /* from 1 */
	struct gb_str text;         /* of a scalar; zero-terminated */
	struct gb_yaml_item *first; /* of a sequence or mapping */
	struct gb_yaml_item **last;
	size_t n;
};

struct gb_yaml_item {
	struct gb_yaml *key; /* NULL in a sequence */
	struct gb_yaml *value;
	struct gb_yaml_item *next;
};

/* Whether it is null: an empty scalar, ~ or null. */
bool gb_yaml_is_null(const struct gb_yaml *node);

/* *ret lives in @arena; NULL if there are only comments. Errors begin with "name:line:column: ". */
bool gb_yaml_read(
    struct gb_arena *arena, const char *name, struct gb_str text, struct gb_yaml **ret, struct gb_err *err);

#endif
