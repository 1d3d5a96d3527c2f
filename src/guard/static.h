/*
 * The static guard: checks code before it runs, and refuses risky constructs.
 *
 *	struct gb_guard_finding finding;
 *	if (!gb_guard_check(GB_GUARD_JAVASCRIPT, source, n, &finding))
 *		... "line %u: '%s' is not allowed: %s. %s", finding.line, finding.pattern, ...
 *
 * It catches mistakes and names an alternative. It is not a security boundary: code can be written so that no
 * static check recognises it, and the sandbox does not rely on this check. Comments and string literals are
 * skipped; code in template literals and in command substitutions is checked.
 */
#ifndef GB_GUARD_STATIC_H
#define GB_GUARD_STATIC_H

#include <stdbool.h>
#include <stddef.h>

enum gb_guard_language {
	GB_GUARD_JAVASCRIPT, /* and TypeScript */
	GB_GUARD_SHELL,
	GB_GUARD_NODE, /* and Deno: only the owner's patterns; require() and the like are common there */
};

/* The first match. The strings are static, except that @pattern may be one of the owner's. */
struct gb_guard_finding {
	const char *pattern, *reason, *suggestion;
	unsigned line, column; /* from 1; columns are bytes */
};

/* True if nothing was found. Else *ret is the first finding. */
bool gb_guard_check(
    enum gb_guard_language language, const char *source, size_t n, struct gb_guard_finding *ret);
/* The same, with @n_more patterns of the owner in addition to the rules. */
bool gb_guard_check_more(enum gb_guard_language language, const char *source, size_t n,
    const char *const *more, size_t n_more, struct gb_guard_finding *ret);

#endif
