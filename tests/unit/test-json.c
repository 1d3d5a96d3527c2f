#include <locale.h>
#include <math.h>

#include "../hex.h"
#include "../table.h"
#include "../tap.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "glovebox/value.h"

static struct gb_value *parse(struct gb_values *pool, const char *json, struct gb_err *err) {
	char *copy = exact_copy(json, strlen(json));
	struct gb_value *value = gb_value_from_json(pool, copy, strlen(json), err);
	free(copy);
	return value;
}

/* Parse @json and write it again. */
static void check_round_trip(const char *json, unsigned indent, const char *expected) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	size_t n = 0;
	struct gb_value *value = parse(pool, json, &err);
	gb_auto_free char *again = gb_value_to_json(value, indent, &n, &err);
	CHECK_STR(again, expected);
	CHECK_STR(again ? "" : err.message, "");
	CHECK_INT(n, strlen(expected));
	gb_values_destroy(pool);
}

static void check_value(const struct record *record) {
	const char *json = record_get(record, "json"), *in = record_get(record, "in");
	check_round_trip(json, 0, json);
	if (in)
		check_round_trip(in, 0, json);
}

TEST(every_kind_of_value_has_one_json_text) {
	CHECK(table_each("values.txt", check_value) > 80);
}

static void check_error(const struct record *record) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	CHECK(!parse(pool, record_get(record, "json"), &err));
	if (!CHECK_STR(err.message, record_get(record, "err")))
		printf("#   line %u\n", record->line);
	CHECK_INT(err.code, GB_EFORMAT);
	gb_values_destroy(pool);
}

TEST(errors_report_what_was_expected_and_where) {
	CHECK(table_each("json-errors.txt", check_error) > 60);
}

static void check_truncated(const struct record *record) {
	const char *json = record_get(record, "json");
	if (json[0] == '-' || (json[0] >= '0' && json[0] <= '9'))
		return; /* a prefix of a number is a number */
	for (size_t n = 0; n < strlen(json); n++) {
		struct gb_values *pool = gb_values_create(0);
		char *copy = exact_copy(json, n);
		CHECK(!gb_value_from_json(pool, copy, n, NULL));
		free(copy);
		gb_values_destroy(pool);
	}
}

TEST(truncated_text_is_rejected) {
	table_each("values.txt", check_truncated);
}

static void check_small_pools(const struct record *record) {
	bool done = false;
	for (size_t max = 1; !done && max < 8192; max += 8) {
		struct gb_values *pool = gb_values_create(max);
		struct gb_err err = {0};
		done = parse(pool, record_get(record, "json"), &err) != NULL;
		CHECK_INT(err.code, done ? GB_OK : GB_ELIMIT);
		gb_values_destroy(pool);
	}
	CHECK(done);
}

TEST(pool_of_any_size_suffices_or_fails_cleanly) {
	table_each("values.txt", check_small_pools);
}

TEST(lines_and_columns_count_from_one_in_characters) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	CHECK(!parse(pool, "{\n  \"ü€😀\": [1,\n\t\t?]\n}", &err));
	CHECK_STR(err.message, "line 3, column 3: expected a value");
	CHECK(!parse(pool, "{\"ü€😀\": ?}", &err));
	CHECK_STR(err.message, "line 1, column 9: expected a value");
	gb_values_destroy(pool);
}

TEST(indented_text_has_one_item_per_line) {
	check_round_trip("{\"a\":[1,[],{}],\"b\":{\"$type\":\"Map\",\"entries\":[[1,2]]}}", 2,
	    "{\n"
	    "  \"a\": [\n"
	    "    1,\n"
	    "    [],\n"
	    "    {}\n"
	    "  ],\n"
	    "  \"b\": {\n"
	    "    \"$type\": \"Map\",\n"
	    "    \"entries\": [\n"
	    "      [\n"
	    "        1,\n"
	    "        2\n"
	    "      ]\n"
	    "    ]\n"
	    "  }\n"
	    "}");
}

TEST(depth_is_bounded_in_both_directions) {
	for (size_t depth = 2000; depth <= 2001; depth++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_err err = {0};
		struct gb_value *value = gb_value_array(pool);
		gb_auto_free char *json = calloc(1, 2 * depth + 1);
		memset(json, '[', depth);
		memset(json + depth, ']', depth);
		for (size_t i = 1; i < depth; i++) {
			struct gb_value *outer = gb_value_array(pool);
			gb_value_push(outer, value);
			value = outer;
		}
		gb_auto_free char *written = gb_value_to_json(value, 0, NULL, &err);
		CHECK_STR(written, depth == 2000 ? json : NULL);
		CHECK_STR(err.message, depth == 2000 ? "" : "value nests deeper than 2000 levels of JSON");
		CHECK((parse(pool, json, &err) != NULL) == (depth == 2000));
		CHECK_STR(
		    err.message, depth == 2000 ? "" : "line 1, column 2001: nested deeper than 2000 levels");
		gb_values_destroy(pool);
	}
}

/* Forward references create a graph that is deeper than its text. */
TEST(a_chain_of_forward_references_is_too_deep_to_write) {
	gb_auto_buf struct gb_buf text;
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	gb_buf_init(&text, 1 << 20);
	gb_buf_append_char(&text, '[');
	for (unsigned i = 0; i < 5000; i++)
		gb_buf_printf(&text,
		    "{\"$type\":\"shared\",\"id\":%u,\"value\":[{\"$type\":\"ref\",\"id\":%u}]},", i, i + 1);
	gb_buf_printf(&text, "{\"$type\":\"shared\",\"id\":5000,\"value\":[]}]");
	struct gb_value *value = parse(pool, gb_buf_c_str(&text), &err);
	CHECK_INT(gb_value_count(value), 5001);
	CHECK(!gb_value_to_json(value, 0, NULL, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	gb_auto_free char *shown = gb_value_inspect(value, 1000);
	CHECK(shown != NULL);
	gb_values_destroy(pool);
}

TEST(last_of_duplicate_keys_wins_among_many) {
	enum { N = 1000000 };
	gb_auto_buf struct gb_buf text;
	struct gb_values *pool = gb_values_create(512 << 20);
	struct gb_err err = {0};
	gb_buf_init(&text, 64 << 20);
	gb_buf_append_char(&text, '{');
	for (unsigned i = 0; i < N; i++)
		gb_buf_printf(&text, "\"k%u\":%u,", i % (N / 2), i);
	gb_buf_printf(&text, "\"last\":0}");
	struct gb_value *value = gb_value_from_json(pool, text.data, text.len, &err);
	CHECK_STR(err.message, "");
	CHECK_INT(gb_value_count(value), N / 2 + 1);
	CHECK_INT(gb_value_as_number(gb_value_at(value, 0)), N / 2);
	CHECK_INT(gb_value_as_number(gb_value_at(value, N / 2 - 1)), N - 1);
	CHECK_STR(gb_value_bytes(gb_value_key_at(value, N / 2), NULL), "last");
	gb_values_destroy(pool);
}

TEST(numbers_do_not_depend_on_the_locale) {
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		SKIP("no locale with a decimal comma");
	check_round_trip("[0.5,1.2345678901234567e-20]", 0, "[0.5,1.2345678901234567e-20]");
	setlocale(LC_ALL, "C");
}

TEST(very_long_numbers_are_parsed) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 200000);
	gb_buf_printf(&text, "0.%0*d", 100000, 1);
	check_round_trip(gb_buf_c_str(&text), 0, "0.0");
	gb_buf_clear(&text);
	gb_buf_printf(&text, "1%0*d", 100000, 1);
	check_round_trip(gb_buf_c_str(&text), 0, "{\"$type\":\"number\",\"value\":\"Infinity\"}");
}

TEST(large_bigints_are_decimal_up_to_4096_bytes_and_then_hex) {
	uint8_t magnitude[4097];
	struct gb_values *pool = gb_values_create(0);
	memset(magnitude, 0xff, sizeof magnitude);
	for (size_t n = 4096; n <= 4097; n++) {
		struct gb_value *value = gb_value_bigint(pool, true, magnitude, n);
		gb_auto_free char *json = gb_value_to_json(value, 0, NULL, NULL);
		bool negative;
		size_t again_n;
		struct gb_value *again = parse(pool, json, NULL);
		const uint8_t *again_bytes = gb_value_magnitude(again, &negative, &again_n);
		CHECK(strncmp(json + 27, n == 4096 ? "-14" : "-0xff", n == 4096 ? 3 : 5) == 0);
		CHECK(negative);
		CHECK_INT(again_n, n);
		CHECK(again_bytes && memcmp(again_bytes, magnitude, n) == 0);
	}
	gb_values_destroy(pool);
}

TEST(decimal_bigint_longer_than_the_writer_produces_is_rejected) {
	for (size_t digits = 9866; digits <= 9867; digits++) {
		gb_auto_buf struct gb_buf text;
		struct gb_values *pool = gb_values_create(0);
		gb_buf_init(&text, 1 << 20);
		gb_buf_printf(&text, "{\"$type\":\"bigint\",\"value\":\"");
		for (size_t i = 0; i < digits; i++)
			gb_buf_append_char(&text, '9');
		gb_buf_printf(&text, "\"}");
		CHECK((parse(pool, gb_buf_c_str(&text), NULL) != NULL) == (digits == 9866));
		gb_values_destroy(pool);
	}
}

TEST(zero_bytes_do_not_end_the_text) {
	struct gb_values *pool = gb_values_create(0);
	size_t n;
	struct gb_value *value =
	    parse(pool, "{\"$type\":\"Error\",\"name\":\"E\",\"message\":\"a\\u0000b\"}", NULL);
	CHECK_STR(gb_value_text(value, 1), "a");
	gb_auto_free char *json = gb_value_to_json(value, 0, &n, NULL);
	CHECK_STR(json, "{\"$type\":\"Error\",\"name\":\"E\",\"message\":\"a\\u0000b\"}");
	struct gb_err err = {0};
	CHECK(!gb_value_from_json(pool, "1\0", 2, &err));
	CHECK_STR(err.message, "line 1, column 2: unexpected text after the value");
	CHECK(!gb_value_from_json(pool, "\"\\\0\"", 4, &err));
	CHECK(!gb_value_from_json(pool, NULL, 0, &err));
	gb_values_destroy(pool);
}

TEST(invalid_utf8_is_rejected) {
	static const char *const texts[] = {
	    "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\x80\"", "\"\\n\xf4\x90\x80\x80\"", "\357\273\2771"};
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_err err = {0};
		CHECK(!parse(pool, texts[i], &err));
		CHECK_INT(err.code, GB_EFORMAT);
		gb_values_destroy(pool);
	}
}

TEST(null_pointer_is_rejected) {
	struct gb_err err = {0};
	CHECK(!gb_value_to_json(NULL, 0, NULL, &err));
	CHECK_STR(err.message, "no value to write as JSON");
}
