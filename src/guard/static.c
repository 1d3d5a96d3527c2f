#include "guard/static.h"

#include "guard/static_rules.h"
#include "runtime/shell/commands.h"
#include "ts/erase.h"

static bool check_shell(
    struct gb_str source, const char *const *more, size_t n_more, struct gb_guard_finding *ret) {
	struct gb_refusal refusal;
	if (gb_commands_check(source, GB_REFUSED_GUARD, more, n_more, &refusal))
		return true;
	*ret = (struct gb_guard_finding){.pattern = refusal.pattern,
	    .reason = refusal.reason,
	    .suggestion = refusal.instead,
	    .line = refusal.line,
	    .column = refusal.column};
	return false;
}

static bool check_js(struct gb_str source, struct guard_search *search, struct gb_guard_finding *ret) {
	if (guard_search_js(search, source))
		return true;
	struct gb_guard_finding finding = {.pattern = search->found.pattern,
	    .reason = search->found.reason,
	    .suggestion = search->found.suggestion};
	gb_ts_locate(source.p, source.n, search->at, &finding.line, &finding.column);
	*ret = finding;
	return false;
}

bool gb_guard_check_more(enum gb_guard_language language, const char *source, size_t n,
    const char *const *more, size_t n_more, struct gb_guard_finding *ret) {
	struct gb_str text = {source, n};
	struct guard_search search = {.rules = gb_guard_js_rules,
	    .n_rules = language == GB_GUARD_JAVASCRIPT ? gb_guard_js_rules_count : 0,
	    .more = more,
	    .n_more = n_more};
	return language == GB_GUARD_SHELL ? check_shell(text, more, n_more, ret)
					  : check_js(text, &search, ret);
}

bool gb_guard_check(
    enum gb_guard_language language, const char *source, size_t n, struct gb_guard_finding *ret) {
	return gb_guard_check_more(language, source, n, NULL, 0, ret);
}
