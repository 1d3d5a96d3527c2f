/* Inside the filter: for its own files. */
#ifndef GB_GUARD_SECRETS_FILTER_H
#define GB_GUARD_SECRETS_FILTER_H

#include "guard/secrets.h"
#include "guard/secrets_literals.h"
#include "guard/secrets_match.h"

struct gb_kind {
	char *name;
	uint64_t count;
};

struct gb_filter {
	unsigned references;
	struct gb_filter *parent; /* of a fork */
	unsigned n_forks;
	struct gb_kind *kinds; /* patterns and registered values, as they came; never fewer */
	size_t n_kinds, cap_kinds;
	bool bare;             /* it does without the table of patterns */
	struct gb_rx rx;       /* if patterns were added: of these and, unless it is bare, of the table */
	struct gb_matcher own; /* of rx */
	const struct gb_matcher *matcher; /* that is used: its own, or gb_secret_table */
	struct gb_literals *literals;     /* shared with forks */
	size_t n_secrets, secret_bytes;
	bool numeric; /* a registered value could be a number's digits */
	bool
	    compiled; /* the matcher has all patterns: forks read it, so it is built only when these change */
	bool linked;  /* the literals are built: the same */
	bool ready;   /* patterns are compiled, matcher and literals built */
	uint64_t total;        /* times that anything was masked */
	bool named;            /* the kinds of the table are there, unless it is bare */
	uint32_t version;      /* changes when anything was added */
	struct gb_mask *block; /* for gb_mask_value */
};

static inline void gb_filter_note(struct gb_filter *filter, size_t kind) {
	filter->kinds[kind].count++;
	filter->total++;
}

/* Compile patterns and values that were added since the last call. False without memory. */
bool gb_filter_ready(struct gb_filter *filter);

/* The places to mask in @bytes, a complete text, as offsets. Valid until the next call. NULL without
 * memory. */
const struct gb_spans *gb_mask_spans(struct gb_filter *filter, const void *bytes, size_t n);

#endif
