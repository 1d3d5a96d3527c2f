#include "guard/secrets_literals.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 16 << 20, NOBODY = 0 };

struct gb_literal_node {
	uint32_t child;   /* the first; further ones are its siblings */
	uint32_t sibling; /* of the same parent */
	uint32_t fail;    /* the longest other beginning that ends here */
	uint32_t depth;
	uint32_t length; /* of the longest literal that ends here, or 0 */
	uint32_t kind;   /* of that literal */
	uint8_t byte;
};

struct gb_literals *gb_literals_create(void) {
	struct gb_literals *literals = calloc(1, sizeof *literals);
	if (literals)
		literals->references = 1;
	return literals;
}

struct gb_literals *gb_literals_ref(struct gb_literals *literals) {
	literals->references++;
	return literals;
}

void gb_literals_unref(struct gb_literals *literals) {
	if (!literals || --literals->references)
		return;
	if (literals->nodes)
		explicit_bzero(literals->nodes, literals->cap * sizeof *literals->nodes);
	free(literals->nodes);
	explicit_bzero(literals, sizeof *literals);
	free(literals);
}

bool gb_literals_detach(struct gb_literals **literals) {
	const struct gb_literals *shared = *literals;
	if (shared->references == 1)
		return true;
	struct gb_literals *copy = malloc(sizeof *copy);
	struct gb_literal_node *nodes = copy && shared->nodes ? calloc(shared->cap, sizeof *nodes) : NULL;
	if (!copy || (shared->nodes && !nodes)) {
		free(copy);
		return false;
	}
	*copy = *shared;
	copy->references = 1;
	copy->nodes = nodes;
	if (nodes)
		memcpy(nodes, shared->nodes, shared->n * sizeof *nodes);
	gb_literals_unref(*literals);
	*literals = copy;
	return true;
}

/* Not realloc: the old memory would still contain secrets. */
static bool grow(struct gb_literals *literals) {
	uint32_t cap = literals->cap ? literals->cap * 2 : 256;
	struct gb_literal_node *nodes = cap <= MAX_NODES ? calloc(cap, sizeof *nodes) : NULL;
	if (!nodes)
		return false;
	if (literals->nodes) {
		memcpy(nodes, literals->nodes, literals->n * sizeof *nodes);
		explicit_bzero(literals->nodes, literals->n * sizeof *nodes);
		free(literals->nodes);
	}
	literals->nodes = nodes;
	literals->cap = cap;
	literals->n = literals->n ? literals->n : 1; /* the root */
	return true;
}

static inline uint32_t child_of(const struct gb_literals *literals, uint32_t node, uint8_t byte) {
	if (node == 0)
		return literals->root[byte];
	uint32_t child = literals->nodes[node].child;
	while (child && literals->nodes[child].byte != byte)
		child = literals->nodes[child].sibling;
	return child;
}

static uint32_t add_child(struct gb_literals *literals, uint32_t parent, uint8_t byte) {
	if (literals->n == literals->cap && !grow(literals))
		return NOBODY;
	struct gb_literal_node *nodes = literals->nodes;
	uint32_t child = literals->n++;
	nodes[child] = (struct gb_literal_node){
	    .sibling = nodes[parent].child, .depth = nodes[parent].depth + 1, .byte = byte};
	nodes[parent].child = child;
	if (parent == 0)
		literals->root[byte] = child;
	return child;
}

bool gb_literals_add(struct gb_literals *literals, const void *bytes, size_t n, uint32_t kind) {
	const uint8_t *p = bytes;
	uint32_t node = 0;
	if (!literals->nodes && !grow(literals))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t child = child_of(literals, node, p[i]);
		if (!child && !(child = add_child(literals, node, p[i])))
			return false;
		node = child;
	}
	if (!literals->nodes[node].length) {
		literals->nodes[node].length = (uint32_t)n;
		literals->nodes[node].kind = kind;
	}
	literals->longest = n > literals->longest ? n : literals->longest;
	return true;
}

/* --- what to do when no literal goes on --- */

static void link_child(struct gb_literals *literals, uint32_t parent, uint32_t child) {
	struct gb_literal_node *nodes = literals->nodes, *node = &nodes[child];
	uint32_t fail = parent, next = 0;
	while (fail && !next) {
		fail = nodes[fail].fail;
		next = child_of(literals, fail, node->byte);
	}
	node->fail = next == child ? 0 : next;
	if (!node->length) {
		node->length = nodes[node->fail].length;
		node->kind = nodes[node->fail].kind;
	}
}

/* Breadth first: shorter states are linked already. */
static bool link_all(struct gb_literals *literals) {
	uint32_t *queue = malloc(literals->n * sizeof *queue);
	if (!queue)
		return false;
	uint32_t head = 0, tail = 0;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t parent = queue[head++];
		for (uint32_t child = literals->nodes[parent].child; child;
		     child = literals->nodes[child].sibling) {
			link_child(literals, parent, child);
			queue[tail++] = child;
		}
	}
	free(queue);
	return true;
}

/* --- the prefilter --- */

struct beginnings {
	struct gb_beginning *list;
	size_t n, cap;
};

static bool add_beginning(const uint8_t bytes[GB_PREFILTER_BYTES], struct beginnings *all) {
	if (all->n == all->cap) {
		size_t cap = all->cap ? all->cap * 2 : 64;
		struct gb_beginning *list = realloc(all->list, cap * sizeof *list);
		if (!list)
			return false;
		all->list = list;
		all->cap = cap;
	}
	struct gb_beginning *beginning = &all->list[all->n++];
	*beginning = (struct gb_beginning){0};
	for (unsigned i = 0; i < GB_PREFILTER_BYTES; i++)
		gb_byteset_add(&beginning->at[i], bytes[i]);
	return true;
}

static bool collect(const struct gb_literals *literals, uint32_t node, uint8_t bytes[GB_PREFILTER_BYTES],
    struct beginnings *all) {
	unsigned depth = literals->nodes[node].depth;
	if (depth == GB_PREFILTER_BYTES)
		return add_beginning(bytes, all);
	for (uint32_t child = literals->nodes[node].child; child; child = literals->nodes[child].sibling) {
		bytes[depth] = literals->nodes[child].byte;
		if (!collect(literals, child, bytes, all))
			return false;
	}
	return true;
}

bool gb_literals_build(struct gb_literals *literals) {
	struct beginnings all = {0};
	uint8_t bytes[GB_PREFILTER_BYTES] = {0};
	if (!literals->nodes && !grow(literals))
		return false;
	bool ok = link_all(literals) && collect(literals, 0, bytes, &all);
	ok = ok && gb_prefilter_build(&literals->prefilter, all.list, all.n, GB_PREFILTER_FEW);
	free(all.list);
	return ok;
}

/* --- the search --- */

static inline uint32_t step(const struct gb_literals *literals, uint32_t state, uint8_t byte) {
	uint32_t next;
	while (!(next = child_of(literals, state, byte)) && state)
		state = literals->nodes[state].fail;
	return next;
}

uint32_t gb_literals_scan(const struct gb_literals *literals, uint32_t state, const uint8_t *bytes, size_t n,
    gb_literal_found found, void *data) {
	const uint8_t *p = bytes, *end = bytes + n;
	while (p < end) {
		if (state == 0) {
			struct gb_places places = gb_places_from(p, end);
			if ((p = gb_prefilter_next(&literals->prefilter, &places)) == end)
				break;
		}
		uint32_t depth = literals->nodes[state].depth;
		state = step(literals, state, *p++);
		const struct gb_literal_node *node = &literals->nodes[state];
		if (node->length)
			found(data, p - bytes - (ptrdiff_t)node->length, p - bytes, node->kind);
		/* Not the beginning that was followed, but a shorter one: look whether it is worth it. */
		const uint8_t *start = p - (node->depth <= p - bytes ? node->depth : 0);
		if (node->depth <= depth && node->depth < GB_PREFILTER_BYTES && start < p &&
		    end - start >= GB_PREFILTER_BYTES) {
			p = start;
			state = 0;
		}
	}
	return state;
}

size_t gb_literals_depth(const struct gb_literals *literals, uint32_t state) {
	return literals->nodes ? literals->nodes[state].depth : 0;
}
