/* Finds what the chains of secrets_regex.h match in a window of a stream. */
#ifndef GB_GUARD_SECRETS_MATCH_H
#define GB_GUARD_SECRETS_MATCH_H

#include "guard/secrets_prefilter.h"

enum {
	GB_MATCHER_HASH = 12,    /* bits of the key of four bytes */
	GB_MATCHER_END_HASH = 8, /* of fewer, at the end of a window */
	GB_MATCHER_KEYS = (1 << GB_MATCHER_HASH) + (GB_PREFILTER_BYTES - 1) * (1 << GB_MATCHER_END_HASH)
};

/* The first four bytes at @p, or all @n if there are fewer, decide which chains could begin there. */
static inline uint32_t gb_matcher_key(const uint8_t *p, size_t n) {
	uint32_t hash = gb_prefilter_hash(p, n);
	if (n >= GB_PREFILTER_BYTES)
		return hash >> (32 - GB_MATCHER_HASH);
	return (1U << GB_MATCHER_HASH) + ((uint32_t)n - 1) * (1U << GB_MATCHER_END_HASH) +
	       (hash >> (32 - GB_MATCHER_END_HASH));
}

/* Chains whose first bytes have the same key: first those that may stand anywhere, then those that begin a word. */
struct gb_chain_list {
	uint32_t first, words, end;
};

/* What gb_rx has, so that a place is compared with few chains only. Built anew when patterns were added. */
struct gb_matcher {
	const struct gb_rx *rx;
	struct gb_prefilter prefilter;
	uint32_t *chains;            /* the lists, one after the other */
	struct gb_chain_list *lists; /* the first one is empty */
	uint32_t n_chains, n_lists;
	/* The list for a key of gb_matcher_key. */
	uint32_t by_key[GB_MATCHER_KEYS];
	struct gb_chain_list wild; /* whose first bytes could be nearly any */
};

bool gb_matcher_build(struct gb_matcher *matcher, const struct gb_rx *rx);
void gb_matcher_finish(struct gb_matcher *matcher);

/* A place to mask: offsets into the window. */
struct gb_span {
	size_t from, to;
	uint32_t kind;
};

struct gb_spans {
	struct gb_span *list;
	size_t n, cap;
	bool failed; /* memory is exhausted */
};

void gb_spans_add(struct gb_spans *spans, size_t from, size_t to, uint32_t kind);
void gb_spans_finish(struct gb_spans *spans);
/* In order, with those that overlap or touch made into one; its kind is that of the first. */
void gb_spans_merge(struct gb_spans *spans);

/* A last run that reached the end of the window and goes on with what follows. */
struct gb_open {
	uint16_t set;
	uint16_t left; /* how many bytes more, or GB_RX_ENDLESS */
	uint32_t kind;
};

/* The longest run of a set that was seen: a match that begins inside of it need not be searched again. */
struct gb_seen {
	const uint8_t *from, *to;
};

struct gb_match {
	/* What is given. */
	const struct gb_matcher *matcher;
	const uint8_t *window;
	size_t n;
	bool last; /* nothing follows the window */
	/* What is found. */
	struct gb_spans *spans;
	struct gb_open *open; /* one for each set, at most */
	uint32_t n_open;
	size_t alive;         /* the first place where a match may have begun that more bytes will decide */
	size_t held;          /* what could then be masked begins here */
	struct gb_seen *seen; /* for each set */
	bool seen_used;
};

/* Continue the open runs at @at, where the window was longer than before. */
void gb_match_continue(struct gb_match *match, size_t at);
/* Look at every place from @from on. */
void gb_match_scan(struct gb_match *match, size_t from);

enum {
	GB_MATCH_BEHIND = 96
}; /* bytes before a place that tell whether it begins a word, or what a name
    * stands behind */

#endif
