#include "../table.h"
#include "../tap.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "glovebox/value.h"

static void check_shown(const char *json, size_t max, const char *expected) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	struct gb_value *value = gb_value_from_json(pool, json, strlen(json), &err);
	CHECK_STR(err.message, "");
	gb_auto_free char *shown = gb_value_inspect(value, max);
	CHECK_STR(shown, expected);
	gb_values_destroy(pool);
}

static void check_record(const struct record *record) {
	if (record_get(record, "show"))
		check_shown(record_get(record, "json"), 1000, record_get(record, "show"));
}

TEST(every_kind_of_value_is_shown) {
	table_each("values.txt", check_record);
}

TEST(top_level_string_is_not_quoted) {
	check_shown("\"\"", 100, "");
	check_shown("\"it's \\\"quoted\\\" \\\\ and\\n\\ttabbed\"", 100, "it's \"quoted\" \\ and\n\ttabbed");
}

TEST(nested_string_is_quoted) {
	check_shown("[\"it's \\\"quoted\\\" \\\\ and\\n\\ttabbed\"]", 100,
	    "[ \"it's \\\"quoted\\\" \\\\ and\\n\\ttabbed\" ]");
}

TEST(terminal_control_characters_are_escaped) {
	const char *escaped = "\\x1b[2J\\x07\\r\\x7f\\x9b1m\\u202e\\u2066";
	check_shown("\"\\u001b[2J\\u0007\\r\x7f\\u009b1m\\u202e\\u2066\"", 100, escaped);
	struct gb_values *pool = gb_values_create(0);
	gb_auto_free char *error = gb_value_inspect(gb_value_error(pool, "\x1b", "\x1b[A\nb", NULL), 100);
	CHECK_STR(error, "\\x1b: \\x1b[A\nb");
	gb_auto_free char *stack = gb_value_inspect(gb_value_error(pool, "a", "b", "E\x1b\n\tat\r"), 100);
	CHECK_STR(stack, "E\\x1b\n\tat\\r");
	gb_auto_free char *regexp = gb_value_inspect(gb_value_regexp(pool, "\n\x1b", "\x1b"), 100);
	CHECK_STR(regexp, "/\\n\\x1b/\\x1b");
	gb_values_destroy(pool);
	check_shown("{\"\\u001b\":1}", 100, "{ \"\\x1b\": 1 }");
}

TEST(long_containers_are_broken_over_lines) {
	check_shown("{\"first\":[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\"],\"second\":{\"third\":"
		    "\"bbbbbbbbbbbbbbbbbbbbbbbbb\"}}",
	    1000,
	    "{\n"
	    "  first: [ \"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\" ],\n"
	    "  second: { third: \"bbbbbbbbbbbbbbbbbbbbbbbbb\" }\n"
	    "}");
	check_shown("[[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]]", 1000,
	    "[\n"
	    "  [\n"
	    "    \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n"
	    "  ]\n"
	    "]");
}

TEST(containers_of_up_to_72_columns_stay_on_one_line) {
	char text[80] = "[ \"", json[80];
	for (size_t n = 66; n <= 67; n++) {
		snprintf(json, sizeof json, "[\"%.*s\"]", (int)n,
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
		snprintf(text, sizeof text, n == 66 ? "[ %.*s ]" : "[\n  %.*s\n]", (int)n + 2, json + 1);
		check_shown(json, 1000, text);
	}
}

TEST(primitive_elements_share_lines) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *array = gb_value_array(pool);
	for (unsigned i = 0; i < 30; i++)
		gb_value_push(array, gb_value_number(pool, 100 + i));
	gb_auto_free char *shown = gb_value_inspect(array, 1000);
	CHECK_STR(shown, "[\n"
			 "  100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113,\n"
			 "  114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127,\n"
			 "  128, 129\n"
			 "]");
	gb_values_destroy(pool);
}

static size_t count_in(const char *text, const char *pattern) {
	size_t n = 0;
	while ((text = strstr(text, pattern))) {
		text++;
		n++;
	}
	return n;
}

TEST(more_than_100_elements_are_only_counted) {
	for (unsigned n = 100; n <= 123; n += 23) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_value *array = gb_value_array(pool), *map = gb_value_map(pool);
		for (unsigned i = 0; i < n; i++) {
			gb_value_push(array, gb_value_number(pool, 7));
			gb_value_put(map, gb_value_number(pool, i), gb_value_number(pool, 7));
		}
		gb_auto_free char *shown = gb_value_inspect(array, 100000);
		CHECK_INT(count_in(shown, "7"), 100);
		CHECK_INT(count_in(shown, "... 23 more items"), n > 100);
		gb_auto_free char *shown_map = gb_value_inspect(map, 100000);
		CHECK_INT(count_in(shown_map, "=> 7"), 100);
		CHECK_INT(count_in(shown_map, "... 23 more items"), n > 100);
		gb_values_destroy(pool);
	}
}

TEST(deep_containers_are_shown_by_type_only) {
	check_shown("[[[[[[[[1]]]]]]]]", 1000, "[ [ [ [ [ [ [ [Array] ] ] ] ] ] ] ]");
	check_shown("[[[[[[[1]]]]]]]", 1000, "[ [ [ [ [ [ [ 1 ] ] ] ] ] ] ]");
	check_shown("[[[[[[[{\"a\":1}]]]]]]]", 1000, "[ [ [ [ [ [ [ [Object] ] ] ] ] ] ] ]");
	check_shown("[[[[[[[{\"$type\":\"Uint8Array\",\"data\":\"\"}]]]]]]]", 1000,
	    "[ [ [ [ [ [ [ [Uint8Array] ] ] ] ] ] ] ]");
}

TEST(holes_are_counted_together) {
	check_shown("[{\"$type\":\"hole\"},{\"$type\":\"hole\"},1,{\"$type\":\"hole\"}]", 1000,
	    "[ <2 empty items>, 1, <1 empty item> ]");
}

TEST(cycles_are_numbered_from_outside_in) {
	check_shown(
	    "{\"$type\":\"shared\",\"id\":0,\"value\":{\"a\":{\"$type\":\"shared\",\"id\":1,\"value\":["
	    "{\"$type\":\"ref\",\"id\":1},{\"$type\":\"ref\",\"id\":0}]}}}",
	    1000, "<ref *2> { a: <ref *1> [ [Circular *1], [Circular *2] ] }");
}

TEST(numbers_of_cycles_are_kept_over_line_breaks) {
	check_shown(
	    "{\"$type\":\"shared\",\"id\":0,\"value\":{\"a\":{\"$type\":\"shared\",\"id\":1,\"value\":["
	    "{\"$type\":\"ref\",\"id\":1},{\"$type\":\"ref\",\"id\":0}]},\"b\":"
	    "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}}",
	    1000,
	    "<ref *2> {\n"
	    "  a: <ref *1> [ [Circular *1], [Circular *2] ],\n"
	    "  b: \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"\n"
	    "}");
}

TEST(stack_of_a_nested_error_is_indented) {
	check_shown(
	    "{\"e\":{\"$type\":\"Error\",\"name\":\"E\",\"message\":\"m\",\"stack\":\"E: m\\n    at f\"}}",
	    1000,
	    "{\n"
	    "  e: E: m\n"
	    "      at f\n"
	    "}");
}

TEST(output_is_truncated_between_characters_at_any_length) {
	struct gb_values *pool = gb_values_create(0);
	const char *json =
	    "{\"$type\":\"shared\",\"id\":0,\"value\":[\"ü€😀\",{\"$type\":\"ref\",\"id\":0},"
	    "{\"$type\":\"bigint\",\"value\":\"123\"},\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]}";
	struct gb_value *value = gb_value_from_json(pool, json, strlen(json), NULL);
	gb_auto_free char *whole = gb_value_inspect(value, 1000);
	for (size_t max = 0; max <= strlen(whole); max++) {
		gb_auto_free char *shown = gb_value_inspect(value, max);
		bool cut = max < strlen(whole);
		CHECK(strlen(shown) <= max + (cut ? strlen("…") : 0));
		CHECK_INT(count_in(shown, "…"), cut);
		CHECK(gb_value_string(pool, shown, strlen(shown)) != NULL);
	}
	gb_values_destroy(pool);
}

/* Each level contains the one below a hundred times: an unbounded traversal would not end. */
TEST(sharing_does_not_multiply_work) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *value = gb_value_array(pool);
	for (unsigned i = 0; i < 100000; i++)
		gb_value_push(value, gb_value_hole(pool));
	for (unsigned level = 0; level < 50; level++) {
		struct gb_value *outer = gb_value_array(pool);
		for (unsigned i = 0; i < 100; i++)
			gb_value_push(outer, value);
		value = outer;
	}
	gb_auto_free char *shown = gb_value_inspect(value, 100000);
	CHECK(shown && strlen(shown) >= 1000);
	gb_auto_free char *json = gb_value_to_json(value, 0, NULL, NULL);
	CHECK(json != NULL);
	gb_values_destroy(pool);
}

TEST(null_pointer_is_shown_as_undefined) {
	gb_auto_free char *shown = gb_value_inspect(NULL, 100);
	CHECK_STR(shown, "undefined");
}
