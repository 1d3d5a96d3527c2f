/*
 * The static guard: looks at code before it runs, and refuses what honest code of an agent does not need.
 *
 *	struct gb_guard_finding finding;
 *	if (!gb_guard_check(GB_GUARD_JAVASCRIPT, source, n, &finding))
 *		... "EXECUTION_BLOCKED: Code contains disallowed pattern: %s", finding.pattern ...
 *
 * It catches mistakes and says what to do instead. It is never the boundary: there are endless ways to write
 * the same so that no reader sees it, and behind it stands the wall, for which it makes no difference.
 * Comments and texts in quotes are not looked at; code in template literals and in command substitutions is.
 */
#ifndef GB_GUARD_STATIC_H
#define GB_GUARD_STATIC_H

#include <stdbool.h>
#include <stddef.h>

enum gb_guard_language {
	GB_GUARD_JAVASCRIPT, /* and TypeScript */
	GB_GUARD_SHELL,
	GB_GUARD_NODE, /* and Deno: no rules, only the owner's patterns. require() and the like are usual
			  there */
};

struct gb_guard_rule {
	const char *pattern;    /* JavaScript: tokens that follow each other; shell: a command, "mkfs*" */
	const char *reason;     /* why it is refused */
	const char *suggestion; /* what to do instead */
};

/* Where and what. The texts are the rule's. */
struct gb_guard_finding {
	const char *pattern, *reason, *suggestion;
	unsigned line, column; /* from 1 on; columns are bytes */
};

/* True if nothing was found. Else *ret is the first finding. */
bool gb_guard_check(
    enum gb_guard_language language, const char *source, size_t n, struct gb_guard_finding *ret);
/* The same, with @n_more patterns of the owner's beside the rules; a finding's pattern may be one of them. */
bool gb_guard_check_more(enum gb_guard_language language, const char *source, size_t n,
    const char *const *more, size_t n_more, struct gb_guard_finding *ret);

/* The rules, for people to read. */
const struct gb_guard_rule *gb_guard_rules(enum gb_guard_language language, size_t *ret_n);

#endif
