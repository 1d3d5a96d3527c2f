#include "config/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"

enum { MAX_ANCHORS = 256 };

struct anchor {
	const char *name;
	struct gb_yaml *node;
};

struct reader {
	struct gb_arena *arena;
	const char *name;
	struct gb_err *err;
	struct {
		struct gb_yaml *node, *key; /* a key whose value follows */
		const char *anchor;
	} open[GB_YAML_MAX_DEPTH];
	unsigned depth, nodes, documents;
	struct anchor anchors[MAX_ANCHORS];
	unsigned n_anchors;
	struct gb_yaml *root;
};

bool gb_yaml_is_null(const struct gb_yaml *node) {
	return node->kind == GB_YAML_SCALAR && !node->quoted &&
	       (gb_str_eq(node->text, GB_STR("")) || gb_str_eq(node->text, GB_STR("~")) ||
		   gb_str_eq(node->text, GB_STR("null")));
}

static bool fail(struct reader *r, const yaml_mark_t *at, const char *what) {
	return gb_fail(r->err, GB_EFORMAT, 0, "%s:%zu:%zu: %s", r->name, at->line + 1, at->column + 1, what);
}

static bool fail_memory(struct reader *r) {
	return gb_fail(r->err, GB_ENOMEM, 0, "%s: there is no memory to read it", r->name);
}

static struct gb_yaml *new_node(
    struct reader *r, enum gb_yaml_kind kind, const yaml_mark_t *at, const char *tag) {
	if (tag) {
		fail(r, at, "tags such as !!str are not supported; remove it");
		return NULL;
	}
	if (++r->nodes > GB_YAML_MAX_NODES) {
		fail(r, at, "there are too many values in this file");
		return NULL;
	}
	struct gb_yaml *node = gb_arena_alloc(r->arena, sizeof *node);
	if (!node) {
		fail_memory(r);
		return NULL;
	}
	node->kind = kind;
	node->line = (unsigned)at->line + 1;
	node->column = (unsigned)at->column + 1;
	node->last = &node->first;
	return node;
}

/* Called when the node is complete, so that an anchor cannot be used inside its own node. */
static bool name_node(struct reader *r, struct gb_yaml *node, const char *anchor, const yaml_mark_t *at) {
	if (!anchor)
		return true;
	if (r->n_anchors == MAX_ANCHORS)
		return fail(r, at, "there are too many anchors in this file");
	r->anchors[r->n_anchors++] = (struct anchor){anchor, node};
	return true;
}

/* Add a complete node to its parent. */
static bool place(struct reader *r, struct gb_yaml *node, const yaml_mark_t *at) {
	struct gb_yaml *parent = r->depth ? r->open[r->depth - 1].node : NULL;
	if (!parent) {
		r->root = node;
		return true;
	}
	struct gb_yaml *key = r->open[r->depth - 1].key;
	if (parent->kind == GB_YAML_MAPPING && !key) {
		if (node->kind != GB_YAML_SCALAR)
			return fail(r, at, "a key must be a scalar, not a list or mapping");
		r->open[r->depth - 1].key = node;
		return true;
	}
	struct gb_yaml_item *item = gb_arena_alloc(r->arena, sizeof *item);
	if (!item)
		return fail_memory(r);
	*item = (struct gb_yaml_item){key, node, NULL};
	*parent->last = item;
	parent->last = &item->next;
	parent->n++;
	r->open[r->depth - 1].key = NULL;
	return true;
}

static bool copy_anchor(struct reader *r, const yaml_char_t *anchor, const char **ret) {
	*ret = anchor ? gb_arena_copy(r->arena, gb_str_from((const char *)anchor)) : NULL;
	return !anchor || *ret || fail_memory(r);
}

static bool on_scalar(struct reader *r, const yaml_event_t *event) {
	const char *anchor;
	struct gb_yaml *node =
	    new_node(r, GB_YAML_SCALAR, &event->start_mark, (const char *)event->data.scalar.tag);
	if (!node || !copy_anchor(r, event->data.scalar.anchor, &anchor))
		return false;
	struct gb_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = (struct gb_str){gb_arena_copy(r->arena, text), text.n};
	if (!node->text.p)
		return fail_memory(r);
	return place(r, node, &event->start_mark) && name_node(r, node, anchor, &event->start_mark);
}

static bool on_start(struct reader *r, const yaml_event_t *event, enum gb_yaml_kind kind,
    const yaml_char_t *tag, const yaml_char_t *anchor) {
	if (r->depth == GB_YAML_MAX_DEPTH)
		return fail(r, &event->start_mark, "nested too deeply");
	struct gb_yaml *node = new_node(r, kind, &event->start_mark, (const char *)tag);
	const char *name = NULL;
	if (!node || !copy_anchor(r, anchor, &name))
		return false;
	r->open[r->depth].node = node;
	r->open[r->depth].key = NULL;
	r->open[r->depth++].anchor = name;
	return true;
}

static bool on_end(struct reader *r, const yaml_event_t *event) {
	r->depth--;
	struct gb_yaml *node = r->open[r->depth].node;
	return place(r, node, &event->start_mark) &&
	       name_node(r, node, r->open[r->depth].anchor, &event->start_mark);
}

static bool on_alias(struct reader *r, const yaml_event_t *event) {
	const char *name = (const char *)event->data.alias.anchor;
	if (++r->nodes > GB_YAML_MAX_NODES)
		return fail(r, &event->start_mark, "there are too many values in this file");
	for (unsigned i = r->n_anchors; i-- > 0;)
		if (strcmp(r->anchors[i].name, name) == 0)
			return place(r, r->anchors[i].node, &event->start_mark);
	return fail(r, &event->start_mark, "an alias without an anchor, or inside its own anchor");
}

static bool on_event(struct reader *r, const yaml_event_t *event) {
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(r, event);
	case YAML_MAPPING_START_EVENT:
		return on_start(r, event, GB_YAML_MAPPING, event->data.mapping_start.tag,
		    event->data.mapping_start.anchor);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(r, event, GB_YAML_SEQUENCE, event->data.sequence_start.tag,
		    event->data.sequence_start.anchor);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return on_end(r, event);
	case YAML_ALIAS_EVENT:
		return on_alias(r, event);
	case YAML_DOCUMENT_START_EVENT:
		return ++r->documents == 1 ||
		       fail(r, &event->start_mark, "a second document begins here; only one is allowed");
	default:
		return true;
	}
}

/* Convert an error of libyaml. */
static bool fail_syntax(struct reader *r, const yaml_parser_t *parser) {
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	if (parser->error == YAML_MEMORY_ERROR)
		return fail_memory(r);
	if (parser->error == YAML_READER_ERROR)
		return gb_fail(r->err, GB_EFORMAT, 0, "%s: byte %zu: not YAML: %s", r->name,
		    parser->problem_offset, problem);
	const yaml_mark_t *at = &parser->problem_mark;
	return gb_fail(r->err, GB_EFORMAT, 0, "%s:%zu:%zu: not YAML: %s%s%s", r->name, at->line + 1,
	    at->column + 1, problem, parser->context ? " " : "", parser->context ? parser->context : "");
}

static bool read_events(struct reader *r, yaml_parser_t *parser) {
	for (bool ended = false; !ended;) {
		yaml_event_t event;
		if (!yaml_parser_parse(parser, &event))
			return fail_syntax(r, parser);
		ended = event.type == YAML_STREAM_END_EVENT;
		bool ok = on_event(r, &event);
		yaml_event_delete(&event);
		if (!ok)
			return false;
	}
	return true;
}

bool gb_yaml_read(
    struct gb_arena *arena, const char *name, struct gb_str text, struct gb_yaml **ret, struct gb_err *err) {
	struct reader r = {.arena = arena, .name = name, .err = err};
	yaml_parser_t parser;
	if (text.n > GB_YAML_MAX_BYTES)
		return gb_fail(err, GB_ELIMIT, 0, "%s: larger than %d bytes; is it the right file?", name,
		    GB_YAML_MAX_BYTES);
	if (!yaml_parser_initialize(&parser))
		return fail_memory(&r);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	/* libyaml needs a pointer even for an empty text. */
	yaml_parser_set_input_string(&parser, (const unsigned char *)(text.p ? text.p : ""), text.n);
	bool ok = read_events(&r, &parser);
	yaml_parser_delete(&parser);
	if (ok)
		*ret = r.root;
	return ok;
}
