/*
 * Registered values, looked for all at once: Aho and Corasick's automaton, which reads each byte once and
 * whose state says how many of the last bytes may still become one of them.
 *
 *	gb_literals_add(&literals, bytes, n, kind);	// any number
 *	gb_literals_build(&literals);
 *	state = gb_literals_scan(&literals, state, bytes, n, on_match, data);
 *	gb_literals_depth(&literals, state);	// so many of the last bytes may be the beginning of a match
 *
 * While nothing has begun, the prefilter skips to where something could. Four bytes are looked at together,
 * so what has matched fewer of them has not begun: with many literals a text would otherwise never leave the
 * automaton.
 *
 * What is built may be shared with another thread, which only scans. References are counted on one thread. Before
 * anything is added to literals that have other owners, gb_literals_detach makes a copy.
 */
#ifndef GB_GUARD_SECRETS_LITERALS_H
#define GB_GUARD_SECRETS_LITERALS_H

#include "guard/secrets_prefilter.h"

struct gb_literal_node;

/* State 0 is that nothing has begun. */
struct gb_literals {
	unsigned references;
	struct gb_literal_node *nodes;
	uint32_t n, cap;
	uint32_t root[256];
	struct gb_prefilter prefilter;
	size_t longest;
};

/* NULL if memory is out. */
struct gb_literals *gb_literals_create(void);
struct gb_literals *gb_literals_ref(struct gb_literals *literals);
/* The last owner erases what it knew. NULL is fine. */
void gb_literals_unref(struct gb_literals *literals);
/* Make *literals the only reference to its object, by a copy if there are others. False if memory is out. */
bool gb_literals_detach(struct gb_literals **literals);

/* @n is at least GB_PREFILTER_BYTES. False if memory is out. The same bytes again keep their first kind. */
bool gb_literals_add(struct gb_literals *literals, const void *bytes, size_t n, uint32_t kind);
/* Once all are added. False if memory is out. */
bool gb_literals_build(struct gb_literals *literals);

/* The bytes [from, to) of what was given are a literal; @from may be negative: it began in an earlier call.
 * The longest that ends in a place is told, which covers the others that end there. */
typedef void (*gb_literal_found)(void *data, ptrdiff_t from, ptrdiff_t to, uint32_t kind);

uint32_t gb_literals_scan(const struct gb_literals *literals, uint32_t state, const uint8_t *bytes, size_t n,
    gb_literal_found found, void *data);
size_t gb_literals_depth(const struct gb_literals *literals, uint32_t state);

#endif
