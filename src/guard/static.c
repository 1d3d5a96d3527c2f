#include "guard/static.h"

#include "guard/static_rules.h"
#include "ts/erase.h"

const struct gb_guard_rule *gb_guard_rules(enum gb_guard_language language, size_t *ret_n) {
	bool shell = language == GB_GUARD_SHELL;
	*ret_n = shell                             ? gb_guard_shell_rules_count
		 : language == GB_GUARD_JAVASCRIPT ? gb_guard_js_rules_count
						   : 0;
	return shell ? gb_guard_shell_rules : gb_guard_js_rules;
}

/* The line and column of an offset. JavaScript has more ends of lines than others. */
static void locate(
    enum gb_guard_language language, struct gb_str source, size_t at, struct gb_guard_finding *finding) {
	if (language != GB_GUARD_SHELL) {
		gb_ts_locate(source.p, source.n, at, &finding->line, &finding->column);
		return;
	}
	finding->line = finding->column = 1;
	for (size_t i = 0; i < at && i < source.n; i++) {
		finding->column++;
		if (source.p[i] == '\n') {
			finding->line++;
			finding->column = 1;
		}
	}
}

bool gb_guard_check_more(enum gb_guard_language language, const char *source, size_t n,
    const char *const *more, size_t n_more, struct gb_guard_finding *ret) {
	struct gb_str text = {source, n};
	struct guard_search search = {.more = more, .n_more = n_more};
	search.rules = gb_guard_rules(language, &search.n_rules);
	if (language == GB_GUARD_SHELL ? guard_search_shell(&search, text) : guard_search_js(&search, text))
		return true;
	struct gb_guard_finding finding = {.pattern = search.found.pattern,
	    .reason = search.found.reason,
	    .suggestion = search.found.suggestion};
	locate(language, text, search.at, &finding);
	*ret = finding;
	return false;
}

bool gb_guard_check(
    enum gb_guard_language language, const char *source, size_t n, struct gb_guard_finding *ret) {
	return gb_guard_check_more(language, source, n, NULL, 0, ret);
}
