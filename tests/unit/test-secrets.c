#include "secrets.h"

#include "base/cleanup.h"
#include "guard/secrets_patterns.h"
#include "table.h"
#include "tap.h"

static struct gb_filter *filter;

static const char *mask_text(const void *text, size_t n, struct gb_buf *out) {
	gb_buf_clear(out);
	mask_whole(filter, text, n, out);
	return gb_buf_c_str(out);
}

/* --- the table --- */

static char seen[4096]; /* " name name " */

static void check_hit(const char *kind, const char *text, unsigned line) {
	gb_auto_buf struct gb_buf sample, out;
	gb_buf_init(&sample, 1 << 16);
	gb_buf_init(&out, 1 << 16);
	sample_expand(text, &sample);
	uint64_t before = count_of(filter, kind);
	const char *masked = mask_text(sample.data, sample.len, &out);
	bool ok = strstr(masked, "***") && count_of(filter, kind) == before + 1;
	/* No run of the made-up bytes is left: twelve of them in a row would be half a token. */
	for (size_t i = 0; ok && i + 12 <= sample.len; i++) {
		char part[13] = "";
		memcpy(part, sample.data + i, 12);
		ok = !strstr(masked, part) || strstr(text, part) || strpbrk(part, " \n:/-=._@\"{");
	}
	if (!CHECK(ok))
		printf("# kinds.txt:%u: %s: '%s' became '%s'\n", line, kind, text, masked);
}

static void check_miss(const char *kind, const char *text, unsigned line) {
	gb_auto_buf struct gb_buf sample, out;
	gb_buf_init(&sample, 1 << 16);
	gb_buf_init(&out, 1 << 16);
	sample_expand(text, &sample);
	if (!CHECK_STR(mask_text(sample.data, sample.len, &out), gb_buf_c_str(&sample)))
		printf("# line %u: %s\n", line, kind);
}

static void check_kind(const struct record *record) {
	const char *kind = record_get(record, "kind");
	CHECK(kind && record_get(record, "hit") && record_get(record, "miss"));
	for (unsigned i = 0; i < record->n; i++) {
		const char *name = record->lines[i], *text = name + strlen(name) + 1;
		if (strcmp(name, "hit") == 0)
			check_hit(kind, text, record->line);
		if (strcmp(name, "miss") == 0)
			check_miss(kind, text, record->line);
	}
	size_t used = strlen(seen);
	snprintf(seen + used, sizeof seen - used, " %s ", kind);
}

TEST(every_kind_is_found_and_lookalikes_are_not) {
	filter = gb_filter_create();
	CHECK_INT(table_each("secrets/kinds.txt", check_kind), gb_n_secret_patterns);
	CHECK(gb_n_secret_patterns >= 60);
	for (size_t i = 0; i < gb_n_secret_patterns; i++) {
		char name[100];
		snprintf(name, sizeof name, " %s ", gb_secret_patterns[i].name);
		CHECK(strstr(seen, name) != NULL);
		CHECK(*gb_secret_patterns[i].note);
	}
	gb_filter_destroy(filter);
}

static void check_plain(const struct record *record) {
	check_miss("plain", record_get(record, "text"), record->line);
}

TEST(ordinary_output_of_programs_is_unchanged) {
	filter = gb_filter_create();
	CHECK(table_each("secrets/plain.txt", check_plain) > 20);
	gb_filter_destroy(filter);
}

/* --- where secrets turn up --- */

TEST(token_is_found_at_every_position) {
	static const char *const contexts[] = {"%s", "x = '%s'", "\"%s\"", "{\"k\":\"%s\"}",
	    "{\"a\":\"b\\n%s\\n\"}", "\\\"%s\\\"", "File \"/box/%s/main.py\", line 1", "KeyError: '%s'",
	    "a=%%3D%s&", "\033[31m%s\033[0m", "\\u003d%s", "\\x1b%s", "/tmp/%s.json", "[%s,", "(%s)",
	    "<b>%s</b>", "é%s", "\n%s\n", "\t%s", "ü=%s;", "    at f (%s:1:2)", "b'%s'", "...%s..."};
	filter = gb_filter_create();
	gb_auto_buf struct gb_buf token, text, out, expected;
	gb_buf_init(&token, 1000);
	gb_buf_init(&text, 1000);
	gb_buf_init(&out, 1000);
	gb_buf_init(&expected, 1000);
	sample_expand("sk-ant-api03-<w40>", &token);
	for (size_t i = 0; i < GB_COUNT(contexts); i++) {
		gb_buf_clear(&text);
		gb_buf_clear(&expected);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		gb_buf_printf(&text, contexts[i], gb_buf_c_str(&token));
		gb_buf_printf(&expected, contexts[i], "***");
#pragma GCC diagnostic pop
		CHECK_STR(mask_text(text.data, text.len, &out), gb_buf_c_str(&expected));
	}
	gb_filter_destroy(filter);
}

/* --- patterns of others --- */

TEST(patterns_can_be_added) {
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1000);
	filter = gb_filter_create();
	CHECK(gb_secret_patterns_add(filter, "ticket", "\\bTICKET-\\K[0-9]{4,6}", &err));
	CHECK(gb_secret_patterns_add(filter, "card", "\\b\\d{4}-\\d{4}-\\d{4}-\\d{4}", &err));
	CHECK(gb_secret_patterns_add(filter, "either", "(?i)code(?:ab|c[de])?=[xyz]+", &err));
	CHECK_STR(mask_text("TICKET-12345678 a", 17, &out), "TICKET-***78 a");
	CHECK_STR(mask_text("no 1234-5678-9012-3456!", 23, &out), "no ***!");
	CHECK_STR(mask_text("CodeCE=xyzzy codeab=q", 21, &out), "*** codeab=q");
	CHECK_INT(count_of(filter, "ticket"), 1);
	CHECK_INT(count_of(filter, "either"), 1);
	gb_filter_destroy(filter);
}

TEST(bad_patterns_are_refused_with_the_reason) {
	static const struct {
		const char *pattern, *message;
	} cases[] = {
	    {"", "nothing to match"},
	    {"abc", "fewer than 4"},
	    {"ab(cd", "at character 6: ')' is expected"},
	    {"abcd)", "')' without '('"},
	    {"abcd[", "no ']'"},
	    {"abcd[]", "a class is empty"},
	    {"abcd[z-a]", "range"},
	    {"abcd{5", "'}' is expected"},
	    {"abcd{x}", "a number is expected"},
	    {"abcd{9,2}", "from more times to fewer"},
	    {"abcd{9999}", "more than 4096"},
	    {"abcd\\", "ends with a backslash"},
	    {"abcd\\q", "at character 6: this escape is not known"},
	    {"abcd\\xg0", "two hexadecimal digits"},
	    {"*abcd", "meaning of its own"},
	    {"abcd**", "repeated again"},
	    {"abcd+efgh", "without end"},
	    {"abcd[a-z]{1,9}xyz", "swallow"},
	    {"abcd[0-9]{2000}", "1024"},
	    {"ab\\Kcd\\Kef", "\\K stands once"},
	    {"abcdef\\K", "nothing after \\K"},
	    {"abcd(?=e)f", "ends the pattern"},
	    {"abcd(?<n>e)", "only (?:...)"},
	    {"ab(c(d(e(f(g(h(i(j(k)))))))))", "too deeply"},
	    {"(a|b|c|d)(a|b|c|d)(a|b|c|d)(a|b|c|d)", "alternatives"},
	    {"(abcd){17}", "more than 16 times"},
	};
	filter = gb_filter_create();
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct gb_err err = {0};
		CHECK(!gb_secret_patterns_add(filter, "mine", cases[i].pattern, &err));
		if (!CHECK(strstr(err.message, cases[i].message) && strstr(err.message, "pattern 'mine'")))
			printf("# %s: %s\n", cases[i].pattern, err.message);
	}
	/* It still works, and knows nothing of them. */
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1000);
	CHECK_STR(mask_text("abcdabcd", 8, &out), "abcdabcd");
	gb_filter_destroy(filter);
}

/* --- counting --- */

TEST(masked_places_are_counted_by_kind) {
	gb_auto_buf struct gb_buf text, out;
	gb_buf_init(&text, 1000);
	gb_buf_init(&out, 1000);
	filter = gb_filter_create();
	sample_expand("ghp_<w36> ghp_<w36> AKIA<A16>", &text);
	CHECK_STR(mask_text(text.data, text.len, &out), "*** *** ***");
	CHECK_INT(count_of(filter, "github-token"), 2);
	CHECK_INT(count_of(filter, "aws-access-key-id"), 1);
	gb_filter_destroy(filter);
}
