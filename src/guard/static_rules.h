/* The rules for JavaScript, and the search for them. Shell commands: runtime/shell/refused.h. */
#ifndef GB_GUARD_STATIC_RULES_H
#define GB_GUARD_STATIC_RULES_H

#include "base/str.h"
#include "guard/static.h"

struct gb_guard_rule {
	const char *pattern;    /* consecutive tokens */
	const char *reason;     /* "loads modules" */
	const char *suggestion; /* an alternative, as a sentence */
};

/* Input: rules, and the owner's patterns. Output: the rule that matched, and its offset. */
struct guard_search {
	const struct gb_guard_rule *rules;
	size_t n_rules;
	const char *const *more;
	size_t n_more;
	struct gb_guard_rule found;
	size_t at;
};

extern const struct gb_guard_rule gb_guard_js_rules[];
extern const size_t gb_guard_js_rules_count;

/* The rule number @index; the owner's patterns follow the rules. False if there is none. */
bool guard_rule_at(const struct guard_search *search, size_t index, struct gb_guard_rule *ret);

/* False if a rule matches; search->found and search->at describe the match. */
bool guard_search_js(struct guard_search *search, struct gb_str source);

#endif
