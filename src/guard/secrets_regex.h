/*
 * Patterns of credentials, compiled to chains: runs of byte sets, one after the other.
 *
 *	struct gb_rx rx = {0};
 *	gb_rx_compile(&rx, "gh[pousr]_[A-Za-z0-9]{36,}", kind, &err);
 *	...
 *	gb_rx_finish(&rx);
 *
 * The language is a part of PCRE's: literals, classes, '.', \d \w \s \xHH and escaped punctuation, groups,
 * '|', '?', '{n}', '{n,m}'; '*', '+' and '{n,}' at the end of the pattern; (?i) and \b at its beginning; \K, after
 * which the secret begins; a class in (?=...) at the very end; or one of the endings of gb_rx_tail at the
 * very end, which hand over to secrets_named.c: what precedes is the name of a secret or a command.
 *
 * What is left out is what would make a match ambiguous or its beginning long: a run must not be able to
 * swallow what may follow it, and only the last run may be without end. So a chain is matched in one pass
 * without going back, and it is known after at most rx->longest bytes whether there is a match. Alternatives
 * become chains of their own.
 */
#ifndef GB_GUARD_SECRETS_REGEX_H
#define GB_GUARD_SECRETS_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	GB_RX_ENDLESS = UINT16_MAX, /* as the maximum of a run: the last one's only */
	GB_RX_HEAD = 8,             /* bytes that are compared at once ... */
	GB_RX_HEADS = 2,            /* ... and how many times, at the beginning of a chain */
	GB_RX_LONGEST = 1024,       /* bytes after which a match must be certain */
	GB_RX_PATTERN_MAX = 1000,   /* bytes of a pattern */
};

struct gb_byteset {
	uint64_t bits[4];
};

static inline bool gb_byteset_has(const struct gb_byteset *set, uint8_t byte) {
	return set->bits[byte >> 6] >> (byte & 63) & 1;
}

static inline void gb_byteset_add(struct gb_byteset *set, uint8_t byte) {
	set->bits[byte >> 6] |= UINT64_C(1) << (byte & 63);
}

/* What follows the chain is not matched by runs: secrets_named.c reads it. The pattern ends with the name in
 * brackets: (?&password). */
enum gb_rx_tail {
	GB_RX_NO_TAIL,
	GB_RX_PASSWORD,  /* the name of a value that a person may have chosen */
	GB_RX_SECRET,    /* the name of a value that a machine made, or a person */
	GB_RX_KEY,       /* a name that other things have too: the value must look random */
	GB_RX_COMMAND,   /* a program whose arguments can hold a password */
	GB_RX_CALL,      /* a function whose arguments can be a user and a password */
	GB_RX_USERINFO,  /* the "://" of an address */
	GB_RX_DSN,       /* what a data source name follows: user:secret@tcp(host) */
	GB_RX_DIRECTIVE, /* a directive of a device or installer: its argument is the secret */
	GB_RX_PAIR,      /* prose that a user and a password follow: admin / secret */
	GB_RX_USERS,     /* a list of users and their passwords: {"bob": "secret"} */
	GB_RX_FORMER,    /* a secret whose name follows it: secret for the password */
};

/* A run: between @min and @max bytes of a set. */
struct gb_rx_run {
	uint16_t set;
	uint16_t min;
	uint16_t max;
};

struct gb_rx_chain {
	uint32_t first; /* of its runs */
	uint16_t n;
	uint16_t keep; /* the secret begins with this run */
	uint16_t kind;
	bool word;                  /* must begin a word */
	bool ahead;                 /* the last run is looked at, and no part of the match */
	uint8_t tail;               /* enum gb_rx_tail: then the last run is what a long value goes on with */
	uint64_t head[GB_RX_HEADS]; /* the first bytes, as they lie in memory ... */
	uint64_t head_mask[GB_RX_HEADS]; /* ... and which of their bits count */
};

/* Starts zeroed; only grows. */
struct gb_rx {
	struct gb_byteset *sets;
	struct gb_rx_run *runs;
	struct gb_rx_chain *chains;
	uint32_t n_sets, n_runs, n_chains;
	uint32_t cap_sets, cap_runs, cap_chains;
	size_t longest;
	uint16_t *table; /* sets by their content: index + 1, or 0 */
};

void gb_rx_finish(struct gb_rx *rx);

/* Add the chains of @pattern. What is wrong with one is told with its place; @rx is then as it was. */
bool gb_rx_compile(struct gb_rx *rx, const char *pattern, uint16_t kind, struct gb_err *err);

/* The number of a set that has the same bytes. */
bool gb_rx_intern(struct gb_rx *rx, const struct gb_byteset *set, uint16_t *ret_index);

/* Which bytes may stand at the first @n places of a match. */
void gb_rx_beginning(
    const struct gb_rx *rx, const struct gb_rx_chain *chain, struct gb_byteset *sets, size_t n);

#endif
