#include "../tap.h"

#include "../table.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "guard/static.h"

/* A new line, a tab and U+2028 are written as escapes, and nothing else is. */
static void unescape(const char *text, enum gb_guard_language language, struct gb_buf *out) {
	gb_buf_init(out, 1 << 16);
	for (; *text; text++) {
		const char *as = strncmp(text, "\\n", 2) == 0   ? "\n"
				 : strncmp(text, "\\t", 2) == 0 ? "\t"
								: NULL;
		if (language == GB_GUARD_SHELL && strncmp(text, "\\\\n", 3) == 0) {
			gb_buf_printf(out, "\\\n");
			text += 2;
		} else if (strncmp(text, "\\u2028", 6) == 0) {
			gb_buf_printf(out, "\u2028");
			text += 5;
		} else if (as) {
			gb_buf_printf(out, "%s", as);
			text++;
		} else {
			gb_buf_append_char(out, *text);
			if (text[0] == '\\' && text[1] == '\\')
				gb_buf_append_char(out, *++text);
		}
	}
}

/* In memory that ends where the code does. */
static bool check_text(const struct record *record, struct gb_guard_finding *ret) {
	gb_auto_buf struct gb_buf text;
	enum gb_guard_language language = record_get(record, "js") ? GB_GUARD_JAVASCRIPT : GB_GUARD_SHELL;
	unescape(record_get(record, language == GB_GUARD_JAVASCRIPT ? "js" : "sh"), language, &text);
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

TEST(what_is_refused_is_named_with_its_place) {
	CHECK_INT(table_each("guard/refused.txt", check_refused), 94);
}

static void check_passed(const struct record *record) {
	struct gb_guard_finding finding = {.pattern = "none"};
	if (!CHECK(check_text(record, &finding)))
		printf("#   in line %u: %s at %u:%u\n", record->line, finding.pattern, finding.line,
		    finding.column);
}

TEST(texts_comments_and_arguments_pass) {
	CHECK_INT(table_each("guard/passed.txt", check_passed), 65);
}

static bool passes(enum gb_guard_language language, const char *text, const char *more) {
	struct gb_guard_finding finding = {0};
	bool passed = gb_guard_check_more(language, text, strlen(text), &more, 1, &finding);
	CHECK(passed || finding.pattern == more);
	return passed;
}

TEST(an_owner_adds_patterns) {
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

TEST(every_rule_says_why_and_what_else) {
	for (int language = GB_GUARD_JAVASCRIPT; language <= GB_GUARD_SHELL; language++) {
		size_t n = 0;
		const struct gb_guard_rule *rules = gb_guard_rules((enum gb_guard_language)language, &n);
		CHECK(n >= 10);
		for (size_t i = 0; i < n; i++) {
			struct gb_guard_finding finding = {0};
			CHECK(*rules[i].pattern && *rules[i].reason && *rules[i].suggestion);
			/* Each finds itself. */
			CHECK(!gb_guard_check((enum gb_guard_language)language, rules[i].pattern,
			    strlen(rules[i].pattern), &finding));
			CHECK_STR(finding.pattern, rules[i].pattern);
		}
	}
}

TEST(nothing_is_fine) {
	struct gb_guard_finding finding;
	CHECK(gb_guard_check(GB_GUARD_JAVASCRIPT, NULL, 0, &finding));
	CHECK(gb_guard_check(GB_GUARD_SHELL, NULL, 0, &finding));
}

/* Texts in which a careless reader begins again and again. Nothing is said about time but that it ends. */
TEST(long_and_broken_texts_are_read_once) {
	static const char *const pieces[] = {
	    "'\\", "\\`", "`${", "/*", "/", "((", "$((", "`(", "\"", "<<a\n", "${", "<("};
	for (size_t i = 0; i < GB_COUNT(pieces); i++) {
		gb_auto_buf struct gb_buf text;
		struct gb_guard_finding finding;
		gb_buf_init(&text, 4 << 20);
		while (text.len < 1 << 20)
			gb_buf_printf(&text, "%s", pieces[i]);
		gb_guard_check(GB_GUARD_JAVASCRIPT, text.data, text.len, &finding);
		gb_guard_check(GB_GUARD_SHELL, text.data, text.len, &finding);
		CHECK(text.len >= 1 << 20);
	}
}
