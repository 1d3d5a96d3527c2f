/*
 * Paths of requests: normalised once, so that a rule and a server see the same path; and the patterns of rules.
 *
 *	char path[GB_PATH_MAX];
 *	struct gb_str normal;
 *	if (!gb_path_normalise(GB_STR("/v1/./models?limit=1"), path, sizeof path, &normal, &problem)) ...
 *	if (gb_path_matches("/v1/" "*", normal)) ...	// normal is "/v1/models"
 *
 * What two servers could read differently is refused: encoded slashes and backslashes, NUL, two slashes in a row, a
 * path that leads above "/", and dots that are encoded twice.
 */
#ifndef GB_EGRESS_PATH_H
#define GB_EGRESS_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum {
	GB_PATH_MAX = 8 << 10,
	GB_PATH_PATTERN_MAX = 255, /* of a rule */
};

/* Write the path of @target, which may have a query, in its normal form: unreserved characters are decoded, other
 * escapes have upper case digits, and dot segments are removed. @ret_path borrows @to. On failure *ret_problem says
 * why. */
bool gb_path_normalise(
    struct gb_str target, char *to, size_t size, struct gb_str *ret_path, const char **ret_problem);

/* Read the pattern of a rule: a path in which a segment "*" stands for one segment that is not empty, and at the end
 * for all that follows. Written in its normal form; @to has GB_PATH_PATTERN_MAX + 1 bytes. */
bool gb_path_pattern_parse(struct gb_str text, char *to, const char **ret_problem);
/* @path is normal. */
bool gb_path_matches(const char *pattern, struct gb_str path);
/* Whether every path that @inner matches is matched by @outer. */
bool gb_path_covers(const char *outer, const char *inner);

#endif
