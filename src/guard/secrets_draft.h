/* The parser of patterns. Its output, one draft for each alternative, is then compiled to chains: secrets_regex.h. */
#ifndef GB_GUARD_SECRETS_DRAFT_H
#define GB_GUARD_SECRETS_DRAFT_H

#include "base/arena.h"
#include "guard/secrets_regex.h"

enum { GB_DRAFT_RUNS = 128, GB_DRAFTS = 128, GB_DRAFT_WHOLE = UINT16_MAX };

/* One alternative of a pattern. */
struct gb_draft {
	struct gb_rx_run *runs; /* room for GB_DRAFT_RUNS */
	uint16_t n;
	uint16_t keep; /* the run that follows \K; GB_DRAFT_WHOLE if the pattern has no \K */
};

struct gb_drafts {
	struct gb_draft list[GB_DRAFTS];
	unsigned n;
};

struct gb_draft_flags {
	bool caseless; /* begins with (?i) */
	bool word;     /* begins with \b */
	bool ahead;    /* ends with a lookahead, (?=...): the last run */
	uint8_t tail;  /* enum gb_rx_tail */
};

/* Parse @pattern. The drafts and their runs are allocated from @arena; their byte sets are added to @rx. */
bool gb_draft_parse(struct gb_rx *rx, struct gb_arena *arena, const char *pattern,
    struct gb_drafts *ret_drafts, struct gb_draft_flags *ret_flags, struct gb_err *err);

#endif
