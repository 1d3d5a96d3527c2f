/* What the two readers of the static guard share. */
#ifndef GB_GUARD_STATIC_RULES_H
#define GB_GUARD_STATIC_RULES_H

#include "base/str.h"
#include "guard/static.h"

/* What is looked for, and what was found: *rule, or the owner's pattern, at an offset. */
struct guard_search {
	const struct gb_guard_rule *rules;
	size_t n_rules;
	const char *const *more;
	size_t n_more;
	struct gb_guard_rule found;
	size_t at;
};

extern const struct gb_guard_rule gb_guard_js_rules[], gb_guard_shell_rules[];
extern const size_t gb_guard_js_rules_count, gb_guard_shell_rules_count;
/* Beside the commands: a device that is written to, a function that breeds, more levels than are read. */
extern const struct gb_guard_rule gb_guard_shell_device, gb_guard_shell_bomb, gb_guard_shell_depth;

/* The n-th rule, the owner's patterns after the others. False if there is none. */
bool guard_rule_at(const struct guard_search *search, size_t index, struct gb_guard_rule *ret);

/* False if something was found: search->found and search->at say what and where. */
bool guard_search_js(struct guard_search *search, struct gb_str source);
bool guard_search_shell(struct guard_search *search, struct gb_str source);

#endif
