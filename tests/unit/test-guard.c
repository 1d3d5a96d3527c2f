#include "../tap.h"

#include "../scripts.h"
#include "../table.h"
#include "base/cleanup.h"
#include "guard/static_rules.h"

/* In memory that ends where the code does. */
static bool check_text(const struct record *record, struct gb_guard_finding *ret) {
	gb_auto_buf struct gb_buf text;
	enum gb_guard_language language = record_get(record, "js") ? GB_GUARD_JAVASCRIPT : GB_GUARD_SHELL;
	script_unescape(record_get(record, language == GB_GUARD_JAVASCRIPT ? "js" : "sh"),
	    language == GB_GUARD_SHELL, &text);
	gb_auto_free char *exact = malloc(text.len ? text.len : 1);
	if (!exact)
		abort();
	memcpy(exact, text.data, text.len);
	return gb_guard_check(language, exact, text.len, ret);
}

static void check_refused(const struct record *record) {
	struct gb_guard_finding finding = {.pattern = "none"};
	char at[32];
	bool passed = check_text(record, &finding);
	snprintf(at, sizeof at, "%u:%u", finding.line, finding.column);
	if (!CHECK(!passed) || !CHECK_STR(finding.pattern, record_get(record, "pattern")) ||
	    !CHECK_STR(at, record_get(record, "at")))
		printf("#   in line %u\n", record->line);
	CHECK(passed || (finding.reason && finding.suggestion));
}

TEST(refused_code_is_reported_with_its_position) {
	CHECK_INT(table_each("guard/refused.txt", check_refused), 147);
}

static void check_passed(const struct record *record) {
	struct gb_guard_finding finding = {.pattern = "none"};
	if (!CHECK(check_text(record, &finding)))
		printf("#   in line %u: %s at %u:%u\n", record->line, finding.pattern, finding.line,
		    finding.column);
}

TEST(texts_comments_and_arguments_pass) {
	CHECK_INT(table_each("guard/passed.txt", check_passed), 81);
}

static bool passes(enum gb_guard_language language, const char *text, const char *more) {
	struct gb_guard_finding finding = {0};
	bool passed = gb_guard_check_more(language, text, strlen(text), &more, 1, &finding);
	CHECK(passed || finding.pattern == more);
	return passed;
}

TEST(owner_adds_patterns) {
	CHECK(!passes(GB_GUARD_JAVASCRIPT, "let a = process . env", "process.env"));
	CHECK(passes(GB_GUARD_JAVASCRIPT, "let a = process.environment", "process.env"));
	CHECK(!passes(GB_GUARD_JAVASCRIPT, "while (true) {}", "while (true)"));
	CHECK(!passes(GB_GUARD_JAVASCRIPT, "a . b . c . d . e . f . g", "a.b.c.d.e.f.g"));
	CHECK(passes(GB_GUARD_JAVASCRIPT, "a", ""));
	CHECK(!passes(GB_GUARD_SHELL, "echo a | curl -d @- b", "curl"));
	CHECK(!passes(GB_GUARD_SHELL, "python3.11 x", "python*"));
	CHECK(passes(GB_GUARD_SHELL, "echo curl", "curl"));
}

TEST(node_is_searched_for_the_owners_patterns_only) {
	struct gb_guard_finding finding = {0};
	const char *usual =
	    "const p = require('path'); await import('fs'); globalThis.x = 1; process.exit(0)";
	CHECK(gb_guard_check(GB_GUARD_NODE, usual, strlen(usual), &finding));
	CHECK(!passes(GB_GUARD_NODE, "let a = process . env", "process.env"));
	CHECK(passes(GB_GUARD_NODE, "let a = 'process.env'", "process.env"));
}

TEST(every_javascript_rule_has_a_reason_and_an_alternative) {
	CHECK_INT(gb_guard_js_rules_count, 10);
	for (size_t i = 0; i < gb_guard_js_rules_count; i++) {
		const struct gb_guard_rule *rule = &gb_guard_js_rules[i];
		struct gb_guard_finding finding = {0};
		CHECK(*rule->reason && *rule->suggestion);
		CHECK(!gb_guard_check(GB_GUARD_JAVASCRIPT, rule->pattern, strlen(rule->pattern), &finding));
		CHECK_STR(finding.pattern, rule->pattern);
	}
}

TEST(empty_code_passes) {
	struct gb_guard_finding finding;
	CHECK(gb_guard_check(GB_GUARD_JAVASCRIPT, NULL, 0, &finding));
	CHECK(gb_guard_check(GB_GUARD_SHELL, NULL, 0, &finding));
}

/* A reader that is quadratic in any of these would not end before the test is killed. */
TEST(long_and_broken_code_is_read_once) {
	static const char *const pieces[] = {"'\\", "\\`", "`${", "/*", "/", "((", "`(", "\"", "${"};
	for (size_t i = 0; i < GB_COUNT(pieces); i++) {
		gb_auto_buf struct gb_buf text;
		struct gb_guard_finding finding;
		gb_buf_init(&text, 4 << 20);
		while (text.len < 1 << 20)
			gb_buf_printf(&text, "%s", pieces[i]);
		gb_guard_check(GB_GUARD_JAVASCRIPT, text.data, text.len, &finding);
		CHECK(text.len >= 1 << 20);
	}
}
