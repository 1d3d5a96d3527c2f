/* The credentials that are known by their shape: one table, which docs/SECRETS.md explains. */
#ifndef GB_GUARD_SECRETS_PATTERNS_H
#define GB_GUARD_SECRETS_PATTERNS_H

#include <stddef.h>

struct gb_secret_pattern {
	const char *name;    /* what it is counted as */
	const char *pattern; /* see secrets_regex.h */
	const char *note;    /* whose it is, for people */
};

extern const struct gb_secret_pattern gb_secret_patterns[];
extern const size_t gb_n_secret_patterns;

#endif
