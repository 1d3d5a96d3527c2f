#include "secrets.h"

#include "base/cleanup.h"
#include "base/fields.h"
#include "guard/masked.h"
#include "guard/secrets_filter.h"
#include "tap.h"
#include "value/text.h"

static struct gb_filter *filter;

static void feed_in_two(const struct gb_buf *text, size_t cut, struct gb_buf *out) {
	struct gb_mask *stream = gb_mask_create(filter);
	gb_mask_feed(stream, text->data, cut, out);
	gb_mask_feed(stream, text->data + cut, text->len - cut, out);
	gb_mask_end(stream, out);
	gb_mask_destroy(stream);
}

static void feed_in_pieces(const struct gb_buf *text, size_t piece, struct gb_buf *out, size_t *ret_most) {
	struct gb_mask *stream = gb_mask_create(filter);
	*ret_most = 0;
	for (size_t at = 0; at < text->len; at += piece) {
		gb_mask_feed(stream, text->data + at, text->len - at < piece ? text->len - at : piece, out);
		size_t held = gb_mask_held(stream);
		*ret_most = held > *ret_most ? held : *ret_most;
	}
	gb_mask_end(stream, out);
	gb_mask_destroy(stream);
}

static const char value[] = "s3cr\"t/vä+lue 1";

static void make_sample(struct gb_buf *text) {
	sample_expand("start ghp_<w36>, postgres://u:<w9>@h/x; eyJ<w20>.eyJ<w40>.<w20> \\n"
		      "-----BEGIN RSA PRIVATE KEY-----\\n<w64>\\n<w64>\\n-----END RSA PRIVATE KEY-----\\n"
		      "ghp_ghp_ghp_<w36> AKIAAKIA AKIA<A15> AKIA<A16> password = \"<w12>\" Bearer <w30>",
	    text);
	gb_buf_printf(text, " %s and ", value);
	gb_base64_append(text, value, sizeof value - 1);
	gb_buf_printf(text, " s3cr\"t/v s3cr\"t/vä+lue 2 the end");
}

/* A filter, a text, and what is told of it. */
static void begin_sample(struct gb_buf *text, struct gb_buf *whole, struct gb_buf *out) {
	gb_buf_init(text, 4000);
	gb_buf_init(whole, 4000);
	gb_buf_init(out, 4000);
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", value, sizeof value - 1, NULL));
	make_sample(text);
	mask_whole(filter, text->data, text->len, whole);
}

/* What is told of it is the beginning of what would have been told of the whole. */
TEST(truncated_stream_does_not_end_with_a_part_of_a_secret) {
	gb_auto_buf struct gb_buf text, whole, out;
	begin_sample(&text, &whole, &out);
	size_t most = 0;
	struct gb_mask *stream = gb_mask_create(filter);
	for (size_t cut = 0; cut <= text.len; cut++) {
		gb_buf_clear(&out);
		gb_mask_feed(stream, text.data, cut, &out);
		gb_mask_cut(stream, &out);
		CHECK(out.len <= whole.len && (!out.len || memcmp(out.data, whole.data, out.len) == 0));
		most = out.len > most ? out.len : most;
	}
	CHECK(most > whole.len - 10);
	gb_mask_destroy(stream);
	gb_filter_destroy(filter);
}

TEST(output_does_not_depend_on_how_a_stream_is_split) {
	gb_auto_buf struct gb_buf text, whole, out;
	begin_sample(&text, &whole, &out);
	CHECK_STR(gb_buf_c_str(&whole),
	    "start ***, postgres://u:***@h/x; *** \n-----BEGIN RSA PRIVATE KEY-----\n"
	    "***-----END RSA PRIVATE KEY-----\nghp_ghp_*** AKIAAKIA AKIANLR3KFIFUND64GF *** password = "
	    "\"***\" "
	    "Bearer *** *** and *** s3cr\"t/v s3cr\"t/vä+lue 2 the end");
	for (size_t cut = 0; cut <= text.len; cut++) {
		gb_buf_clear(&out);
		feed_in_two(&text, cut, &out);
		CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&whole));
	}
	for (size_t piece = 1; piece < 70; piece++) {
		size_t most;
		gb_buf_clear(&out);
		feed_in_pieces(&text, piece, &out, &most);
		CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&whole));
		CHECK(most <= gb_filter_longest(filter));
	}
	gb_filter_destroy(filter);
}

/* The table was compiled when this was built; with a pattern of its own a filter compiles it again. */
TEST(precompiled_table_finds_the_same) {
	gb_auto_buf struct gb_buf text, table, own;
	gb_buf_init(&text, 1 << 20);
	gb_buf_init(&table, 1 << 20);
	gb_buf_init(&own, 1 << 20);
	while (text.len < 100000)
		make_sample(&text);
	filter = gb_filter_create();
	mask_whole(filter, text.data, text.len, &table);
	CHECK(filter->matcher != &filter->own);
	struct gb_filter *other = gb_filter_create();
	CHECK(gb_secret_patterns_add(other, "own", "neverthere[0-9]{4}", NULL));
	mask_whole(other, text.data, text.len, &own);
	CHECK(other->matcher == &other->own);
	CHECK(table.len == own.len && memcmp(table.data, own.data, own.len) == 0);
	CHECK(table.len < text.len);
	CHECK_INT(gb_filter_longest(filter), gb_filter_longest(other));
	const char *name;
	uint64_t count, again;
	for (size_t i = 0; gb_filter_count(filter, i, &name, &count); i++)
		CHECK(gb_filter_count(other, i, &name, &again) && count == again);
	gb_filter_destroy(other);
	gb_filter_destroy(filter);
}

TEST(bare_filter_finds_only_added_values) {
	static const char token[] = "ghp_0123456789012345678901234567890123456789 seven-of-nine aa-1234";
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 20);
	filter = gb_filter_create_bare();
	CHECK(gb_filter_is_empty(filter));
	mask_whole(filter, token, sizeof token - 1, &out);
	CHECK_STR(gb_buf_c_str(&out), token);
	CHECK(gb_secrets_add(filter, "V", "seven-of-nine", 13, NULL));
	CHECK(!gb_filter_is_empty(filter));
	CHECK(gb_secret_patterns_add(filter, "own", "aa-[0-9]{4}", NULL));
	gb_buf_clear(&out);
	mask_whole(filter, token, sizeof token - 1, &out);
	CHECK_STR(gb_buf_c_str(&out), "ghp_0123456789012345678901234567890123456789 *** ***");
	/* Another owner has it still. */
	struct gb_filter *other = gb_filter_ref(filter);
	gb_filter_destroy(filter);
	gb_buf_clear(&out);
	mask_whole(other, token, sizeof token - 1, &out);
	CHECK(strstr(gb_buf_c_str(&out), "***"));
	gb_filter_destroy(other);
}

TEST(output_is_the_same_without_avx2) {
	gb_auto_buf struct gb_buf text, wide, narrow;
	gb_buf_init(&text, 1 << 20);
	gb_buf_init(&wide, 1 << 20);
	gb_buf_init(&narrow, 1 << 20);
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", value, sizeof value - 1, NULL));
	/* So that it has a matcher of its own. */
	CHECK(gb_secret_patterns_add(filter, "own", "neverthere[0-9]{4}", NULL));
	while (text.len < 100000)
		make_sample(&text);
	mask_whole(filter, text.data, text.len, &wide);
	filter->own.prefilter.narrow = filter->literals->prefilter.narrow = true;
	mask_whole(filter, text.data, text.len, &narrow);
	CHECK(wide.len == narrow.len && memcmp(wide.data, narrow.data, wide.len) == 0);
	CHECK(wide.len < text.len);
	gb_filter_destroy(filter);
}

TEST(secrets_across_the_borders_of_large_chunks) {
	gb_auto_buf struct gb_buf text, whole, out, token;
	gb_buf_init(&text, 1 << 20);
	gb_buf_init(&whole, 1 << 20);
	gb_buf_init(&out, 1 << 20);
	gb_buf_init(&token, 100);
	filter = gb_filter_create();
	sample_expand("ghp_<w36>", &token);
	/* The borders of our own slices, and beside them. */
	for (size_t at = (64 << 10) - 45; text.len < 3 * (64 << 10);) {
		while (text.len < at)
			gb_buf_append_char(&text, text.len % 61 ? 'x' : '\n');
		gb_buf_append_char(&text, ' ');
		gb_buf_append_str(&text, gb_buf_str(&token));
		gb_buf_append_char(&text, ' ');
		at += (64 << 10) + 7;
	}
	mask_whole(filter, text.data, text.len, &whole);
	CHECK_INT(count_of(filter, "github-token"), 3);
	CHECK(!memmem(whole.data, whole.len, token.data + 4, 8));
	static const size_t pieces[] = {1 << 16, (1 << 16) - 1, 4096, 1000, 1};
	for (size_t i = 0; i < GB_COUNT(pieces); i++) {
		size_t most;
		gb_buf_clear(&out);
		feed_in_pieces(&text, pieces[i], &out, &most);
		CHECK(out.len == whole.len && memcmp(out.data, whole.data, out.len) == 0);
	}
	gb_filter_destroy(filter);
}

static size_t held_after(const char *text) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 10000);
	struct gb_mask *stream = gb_mask_create(filter);
	gb_mask_feed(stream, text, strlen(text), &out);
	size_t held = gb_mask_held(stream);
	gb_mask_destroy(stream);
	return held;
}

TEST(only_possible_matches_are_held_back) {
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", "zebra-crossing", 14, NULL));
	static const struct {
		const char *text;
		size_t held;
	} cases[] = {{"", 0}, {"hello world\n", 0}, {"Continue? [y/N] ", 0}, {"Password: ", 0}, {">>> ", 0},
	    {"$ ", 0}, {"password = \"", 0}, {"password = \"abc", 3}, {"x ghp_", 4}, {"x ghp_0123456789", 14},
	    {"x ghp_0123.", 0}, {"a zeb", 3}, {"a zebrq", 0}, {"zebra-crossinf", 0},
	    {"https://example.com:80", 2}, {"https://example.com/.", 0}, {"eyJ0123456789", 13}};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		if (!CHECK_INT(held_after(cases[i].text), cases[i].held))
			printf("# '%s'\n", cases[i].text);
	gb_filter_destroy(filter);
}

TEST(near_misses_are_delayed_by_no_more_than_the_longest_match) {
	static const char *const units[] = {"ghp_", "AKIA", "eyJ", "eyJaaaaaaaaaaaaa.", "password=\"abcde",
	    "://a:b", "://:", "-----BEGIN RSA PRIVATE KEY-----\n",
	    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: a\n", "zebra-", "zzzz", "sk-ant-",
	    "SG.aaaaaaaaaaaaaaaa."};
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", "zebra-zebra-zebra-cross", 23, NULL));
	size_t longest = gb_filter_longest(filter);
	CHECK(longest <= 1024);
	for (size_t i = 0; i < GB_COUNT(units); i++) {
		gb_auto_buf struct gb_buf text, out, whole;
		gb_buf_init(&text, 20000);
		gb_buf_init(&out, 20000);
		gb_buf_init(&whole, 20000);
		while (text.len < 5000)
			gb_buf_append_str(&text, gb_str_from(units[i]));
		size_t most;
		feed_in_pieces(&text, 1, &out, &most);
		mask_whole(filter, text.data, text.len, &whole);
		CHECK(most <= longest);
		CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&whole));
	}
	gb_filter_destroy(filter);
}

TEST(endless_key_is_masked_without_being_held_back) {
	gb_auto_buf struct gb_buf text, out;
	gb_buf_init(&text, 1 << 20);
	gb_buf_init(&out, 1000);
	filter = gb_filter_create();
	sample_expand("-----BEGIN PRIVATE KEY-----\\n", &text);
	while (text.len < 300000)
		gb_buf_append_str(&text, GB_STR("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n"));
	size_t most;
	feed_in_pieces(&text, 1000, &out, &most);
	CHECK_STR(gb_buf_c_str(&out), "-----BEGIN PRIVATE KEY-----\n***");
	CHECK_INT(most, 0);
	gb_filter_destroy(filter);
}

/* --- registered values --- */

static void check_hidden(const char *what, const void *bytes, size_t n) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 100000);
	mask_whole(filter, bytes, n, &out);
	if (!CHECK_STR(gb_buf_c_str(&out), "<***>"))
		printf("# %s\n", what);
}

TEST(every_form_of_a_value_is_found) {
	/* As encodeURIComponent, quote_plus, JSON, Python and base64 of others spell it. */
	static const char *const forms[] = {"<s3cr\"t/vä+lue 1>", "<s3cr%22t%2Fv%C3%A4%2Blue%201>",
	    "<s3cr%22t%2fv%c3%a4%2blue%201>", "<s3cr%22t/v%C3%A4%2Blue%201>", "<s3cr%22t%2Fv%C3%A4%2Blue+1>",
	    "<s3cr\\\"t/vä+lue 1>", "<s3cr\\\"t\\/vä+lue 1>", "<s3cr\\\"t/v\\u00e4+lue 1>",
	    "<s3cr\\\"t/v\\u00E4+lue 1>", "<s3cr\\\\\\\"t/vä+lue 1>", "<s3cr\"t/v\\xc3\\xa4+lue 1>"};
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", value, sizeof value - 1, NULL));
	for (size_t i = 0; i < GB_COUNT(forms); i++)
		check_hidden(forms[i], forms[i], strlen(forms[i]));
	for (unsigned upper = 0; upper < 2; upper++) {
		char hex[100] = "<";
		for (size_t i = 0; i + 1 < sizeof value; i++)
			snprintf(hex + 1 + 2 * i, 3, upper ? "%02X" : "%02x", (unsigned char)value[i]);
		hex[2 * sizeof value - 1] = '>';
		check_hidden("hex", hex, 2 * sizeof value);
	}
	gb_filter_destroy(filter);
}

/* What is left of a secret's base64 tells at most a few bits at either end. */
static void check_base64(const char *secret, size_t n, size_t before, size_t after, bool url) {
	gb_auto_buf struct gb_buf bytes, text, out;
	gb_buf_init(&bytes, 1000);
	gb_buf_init(&text, 1000);
	gb_buf_init(&out, 1000);
	for (size_t i = 0; i < before; i++)
		gb_buf_append_char(&bytes, (char)(7 * i + 200));
	gb_buf_append(&bytes, secret, n);
	for (size_t i = 0; i < after; i++)
		gb_buf_append_char(&bytes, (char)(11 * i + 100));
	gb_base64_append(&text, bytes.data, bytes.len);
	for (size_t i = 0; url && i < text.len; i++)
		text.data[i] = text.data[i] == '+' ? '-' : text.data[i] == '/' ? '_' : text.data[i];
	mask_whole(filter, text.data, text.len, &out);
	/* Characters that come from the secret alone: all gone. Those beside them: at most one on each side.
	 */
	size_t first = (before * 8 + 5) / 6, end = (before + n) * 8 / 6;
	gb_auto_buf struct gb_buf expected;
	gb_buf_init(&expected, 1000);
	gb_buf_append(&expected, text.data, first);
	gb_buf_append(&expected, "***", 3);
	/* Alone, or at the end of what is aligned, it is known to its last bit. */
	if (after || before % 3)
		gb_buf_append(&expected, text.data + end, text.len - end);
	CHECK_STR(gb_buf_c_str(&out), gb_buf_c_str(&expected));
}

TEST(base64_is_found_at_every_alignment) {
	static const char secret[] = "\x01\xff>?hunter22~\xfe\xfb\xef\xbe";
	for (size_t n = GB_SECRET_MIN; n < sizeof secret; n++) {
		filter = gb_filter_create();
		CHECK(gb_secrets_add(filter, "V", secret, n, NULL));
		for (size_t before = 0; before < 7; before++)
			for (size_t after = 0; after < 4; after++)
				for (unsigned url = 0; url < 2; url++)
					check_base64(secret, n, before, after, url);
		gb_filter_destroy(filter);
	}
}

TEST(nested_and_overlapping_values_are_masked) {
	static const struct {
		const char *text, *masked;
	} cases[] = {{"a secret1 b", "a *** b"}, {"a secret12 b", "a *** b"}, {"a secret123 b", "a *** b"},
	    {"xsecret1x", "x***x"}, {"et12345 secret12345", "*** ***"}, {"secret1secret1", "***"},
	    {"secretsecret1", "secret***"}, {"ananasananasbanana", "***"}, {"secret", "secret"}};
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "SHORT", "secret1", 7, NULL));
	CHECK(gb_secrets_add(filter, "LONG", "secret123", 9, NULL));
	CHECK(gb_secrets_add(filter, "INSIDE", "ecret12", 7, NULL));
	CHECK(gb_secrets_add(filter, "OVER", "et12345", 7, NULL));
	CHECK(gb_secrets_add(filter, "FRUIT", "ananas", 6, NULL));
	CHECK(gb_secrets_add(filter, "FRUITS", "sbanana", 7, NULL));
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		for (size_t piece = 1; piece < 20; piece++) {
			gb_auto_buf struct gb_buf text, out;
			gb_buf_init(&text, 100);
			gb_buf_init(&out, 100);
			gb_buf_append_str(&text, gb_str_from(cases[i].text));
			size_t most;
			feed_in_pieces(&text, piece, &out, &most);
			CHECK_STR(gb_buf_c_str(&out), cases[i].masked);
		}
	gb_filter_destroy(filter);
}

TEST(value_that_is_added_to_an_open_stream_is_masked_from_then_on) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1000);
	filter = gb_filter_create();
	struct gb_mask *stream = gb_mask_create(filter);
	gb_mask_feed(stream, "before: hunter22 ghp_0123", 25, &out);
	CHECK(gb_secrets_add(filter, "LATE", "hunter22", 8, NULL));
	gb_mask_feed(stream, "456789012345678901234567890123456789 after: hunter22.", 53, &out);
	gb_mask_end(stream, &out);
	CHECK_STR(gb_buf_c_str(&out), "before: hunter22 *** after: ***.");
	gb_mask_destroy(stream);
	gb_filter_destroy(filter);
}

TEST(values_that_cannot_be_registered_are_refused) {
	struct gb_err err = {0};
	char large[GB_SECRET_MAX + 1];
	memset(large, 'x', sizeof large);
	filter = gb_filter_create();
	CHECK(!gb_secrets_add(filter, "A", "12345", 5, &err));
	CHECK(strstr(err.message, "has 5 bytes, and at least 6") != NULL);
	CHECK(!gb_secrets_add(filter, "A", large, sizeof large, &err));
	CHECK(strstr(err.message, "larger than") != NULL);
	CHECK(!gb_secrets_add(filter, "a b", "123456", 6, &err));
	CHECK(strstr(err.message, "name") != NULL);
	CHECK(!gb_secrets_add(filter, "", "123456", 6, &err));
	CHECK(!gb_secrets_add(filter, "1A", "123456", 6, &err));
	/* What was refused is not looked for. */
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 100);
	mask_whole(filter, "12345 123456", 12, &out);
	CHECK_STR(gb_buf_c_str(&out), "12345 123456");
	gb_filter_destroy(filter);
}

TEST(secrets_of_the_environment_are_masked) {
	char *environment[] = {
	    (char *)"PATH=/bin", (char *)"GLOVEBOX_SECRET_DB=hunter22", (char *)"GLOVEBOX_SECRET", NULL};
	char *bad[] = {(char *)"GLOVEBOX_SECRET_DB=abc", NULL};
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 100);
	filter = gb_filter_create();
	CHECK(gb_secrets_add_environment(filter, environment, &err));
	mask_whole(filter, "/bin hunter22", 13, &out);
	CHECK_STR(gb_buf_c_str(&out), "/bin ***");
	CHECK_INT(count_of(filter, "DB"), 1);
	CHECK(!gb_secrets_add_environment(filter, bad, &err));
	CHECK(strstr(err.message, "GLOVEBOX_SECRET_DB") != NULL);
	gb_filter_destroy(filter);
}

TEST(full_buffer_lets_nothing_through_unmasked) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 10);
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", "hunter22", 8, NULL));
	mask_whole(filter, "a longer text with hunter22 in it", 33, &out);
	CHECK(gb_buf_failed(&out));
	CHECK(out.len <= 10);
	gb_filter_destroy(filter);
}

/* The output of a run that failed with @code, whose end is half of the secret. */
static void check_failed_output(const char *code, const char *expected) {
	struct gb_masked masked;
	struct gb_masked_event event;
	const struct gb_result result = gb_result_instead(GB_FAILURE, "Error", code, "", NULL);
	CHECK(gb_masked_init(&masked, filter, 1000, 1000));
	gb_masked_put_output(&masked, 1, "start s3cr\"t/v", 14);
	gb_masked_put_end(&masked, &result);
	while (gb_masked_next(&masked, &event))
		;
	CHECK_STR(gb_buf_c_str(&masked.outputs[0]), expected);
	gb_masked_finish(&masked);
}

TEST(output_of_a_worker_that_ended_early_has_no_part_of_a_secret) {
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "V", value, sizeof value - 1, NULL));
	check_failed_output(GB_CODE_EXIT_CODE, "start s3cr\"t/v");
	check_failed_output(GB_CODE_CRASHED, "start ");
	check_failed_output(GB_CODE_SANDBOX_LOST, "start ");
	check_failed_output(GB_CODE_PROTOCOL, "start ");
	gb_filter_destroy(filter);
}
