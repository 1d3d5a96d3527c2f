#include "secrets.h"

#include "base/cleanup.h"
#include "tap.h"
#include "value/codec.h"
#include "value/repr.h"

static struct gb_filter *filter;

static void begin(void) {
	filter = gb_filter_create();
	CHECK(gb_secrets_add(filter, "PET", "hunter22", 8, NULL));
	CHECK(gb_secrets_add(filter, "PIN", "4711081", 7, NULL));
}

static void check_json(const char *json, const char *expected) {
	struct gb_values *pool = gb_values_create(0), *other = gb_values_create(0);
	struct gb_err err = {0};
	struct gb_value *value = gb_value_from_json(pool, json, strlen(json), &err);
	const struct gb_value *masked = NULL;
	CHECK(value && gb_mask_value(filter, value, other, &masked, &err));
	gb_auto_free char *text = masked ? gb_value_to_json(masked, 0, NULL, &err) : NULL;
	CHECK_STR(text, expected);
	/* Nothing to mask: nothing copied. */
	CHECK((masked == value) == (strcmp(json, expected) == 0));
	gb_values_destroy(pool);
	gb_values_destroy(other);
}

TEST(every_text_of_a_value_is_masked) {
	static const char *const cases[][2] = {
	    {"\"plain\"", "\"plain\""},
	    {"[1,true,null,\"a\",{\"b\":\"c\"}]", "[1,true,null,\"a\",{\"b\":\"c\"}]"},
	    {"\"my hunter22!\"", "\"my ***!\""},
	    {"[\"hunter22\",[\"x\",[\"aHVudGVyMjI=\"]],2]", "[\"***\",[\"x\",[\"***\"]],2]"},
	    {"{\"a\":{\"hunter22\":1}}", "{\"a\":{\"***\":1}}"},
	    {"{\"xhunter22\":1,\"yhunter22\":2,\"zhunter22\":3}",
		"{\"x***\":1,\"y*** (2)\":2,\"z*** (3)\":3}"},
	    {"{\"hunter22\":1,\"*** (2)\":2,\"hunter22hunter22\":3}", "{\"***\":1,\"*** (2)\":3}"},
	    {"4711081", "\"***\""},
	    {"[47,4711082]", "[47,4711082]"},
	    {"{\"$type\":\"bigint\",\"value\":\"94711081\"}", "\"***\""},
	    {"{\"$type\":\"Map\",\"entries\":[[\"hunter22\",\"v\"],[1,\"hunter22\"]]}",
		"{\"$type\":\"Map\",\"entries\":[[\"***\",\"v\"],[1,\"***\"]]}"},
	    {"{\"$type\":\"Set\",\"values\":[\"hunter22\",2]}", "{\"$type\":\"Set\",\"values\":[\"***\",2]}"},
	    {"{\"$type\":\"Error\",\"name\":\"E\",\"message\":\"bad hunter22\",\"stack\":\"at hunter22:1\"}",
		"{\"$type\":\"Error\",\"name\":\"E\",\"message\":\"bad ***\",\"stack\":\"at ***:1\"}"},
	    {"{\"$type\":\"RegExp\",\"source\":\"hunter22\",\"flags\":\"g\"}",
		"{\"$type\":\"RegExp\",\"source\":\"***\",\"flags\":\"g\"}"},
	    {"{\"$type\":\"Uint8Array\",\"data\":\"eGh1bnRlcjIyeA==\"}",
		"{\"$type\":\"Uint8Array\",\"data\":\"eCoqKioqKioqeA==\"}"},
	    {"[{\"$type\":\"Date\",\"value\":\"1970-01-01T00:00:00.000Z\"},\"hunter22\"]",
		"[{\"$type\":\"Date\",\"value\":\"1970-01-01T00:00:00.000Z\"},\"***\"]"},
	};
	begin();
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		check_json(cases[i][0], cases[i][1]);
	gb_filter_destroy(filter);
}

TEST(item_with_the_name_of_a_secret_is_masked) {
	static const char *const cases[][2] = {
	    {"{\"password\":\"it's \\\"me\\\"\"}", "{\"password\":\"***\"}"},
	    {"{\"db\":{\"api_key\":\"abcdefg\",\"host\":\"abcdefg\"}}",
		"{\"db\":{\"api_key\":\"***\",\"host\":\"abcdefg\"}}"},
	    {"{\"DB_PASSWORD\":\"two words\"}", "{\"DB_PASSWORD\":\"***\"}"},
	    {"{\"password\":\"short\"}", "{\"password\":\"short\"}"},
	    {"{\"password\":\"***abc\"}", "{\"password\":\"***abc\"}"},
	    {"{\"password\":12345678,\"passwords\":[\"abcdefgh\"]}",
		"{\"password\":12345678,\"passwords\":[\"abcdefgh\"]}"},
	    {"{\"token_count\":\"1234567\"}", "{\"token_count\":\"1234567\"}"},
	};
	begin();
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		check_json(cases[i][0], cases[i][1]);
	CHECK_INT(count_of(filter, "named-password") + count_of(filter, "named-secret"), 3);
	gb_filter_destroy(filter);
}

TEST(sharing_and_cycles_are_kept) {
	struct gb_values *pool = gb_values_create(0), *other = gb_values_create(0);
	begin();
	struct gb_value *root = gb_value_object(pool), *shared = gb_value_array(pool);
	struct gb_value *buffer = gb_value_buffer(pool, "..hunter22..", 12);
	gb_value_push(shared, gb_value_string(pool, "hunter22", 8));
	gb_value_push(shared, root);
	gb_value_put_key(root, "a", shared);
	gb_value_put_key(root, "b", shared);
	gb_value_put_key(root, "buffer", buffer);
	gb_value_put_key(root, "view", gb_value_view(pool, GB_UINT16, buffer, 2, 4));
	gb_value_put_key(root, "call", gb_value_function(pool, 7, "hunter22"));
	const struct gb_value *masked;
	CHECK(gb_mask_value(filter, root, other, &masked, NULL) && masked != root);
	const struct gb_value *a = gb_value_get(masked, "a"), *view = gb_value_get(masked, "view");
	size_t n, offset, length;
	CHECK(a == gb_value_get(masked, "b"));
	CHECK(gb_value_at(a, 1) == masked);
	CHECK_STR(gb_value_bytes(gb_value_at(a, 0), &n), "***");
	CHECK(gb_value_view_buffer(view, &offset, &length) == gb_value_get(masked, "buffer"));
	CHECK(offset == 2 && length == 4 && gb_value_view_kind(view) == GB_UINT16);
	CHECK(memcmp(gb_value_bytes(gb_value_get(masked, "buffer"), &n), "..********..", 12) == 0 && n == 12);
	CHECK_STR(gb_value_get(masked, "call")->callable.name->bytes.p, "***");
	/* What was given is as it was. */
	CHECK(memcmp(gb_value_bytes(buffer, &n), "..hunter22..", 12) == 0);
	gb_values_destroy(pool);
	gb_values_destroy(other);
	gb_filter_destroy(filter);
}

TEST(text_that_is_cut_inside_a_character_is_repaired) {
	struct gb_values *pool = gb_values_create(0);
	const struct gb_value *masked;
	filter = gb_filter_create();
	/* The last byte of the value is the first of a character's two. */
	CHECK(gb_secrets_add(filter, "V", "abcdef\xc3", 7, NULL));
	struct gb_value *text = gb_value_string(pool, "xabcdef\xc3\xa4y", 10);
	CHECK(gb_mask_value(filter, text, pool, &masked, NULL));
	CHECK_STR(gb_value_bytes(masked, NULL), "x***\xef\xbf\xbdy");
	gb_values_destroy(pool);
	gb_filter_destroy(filter);
}

TEST(values_that_are_too_large_or_too_deep_are_refused) {
	struct gb_values *pool = gb_values_create(0), *small = gb_values_create(256);
	struct gb_err err = {0};
	const struct gb_value *masked;
	begin();
	struct gb_value *list = gb_value_array(pool), *deep = gb_value_string(pool, "hunter22", 8);
	for (unsigned i = 0; i < 1000; i++)
		gb_value_push(list, gb_value_string(pool, "hunter22", 8));
	CHECK(!gb_mask_value(filter, list, small, &masked, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	for (unsigned i = 0; i < 3000; i++) {
		struct gb_value *outer = gb_value_array(pool);
		gb_value_push(outer, deep);
		deep = outer;
	}
	CHECK(!gb_mask_value(filter, deep, pool, &masked, &err));
	CHECK(strstr(err.message, "nested deeper") != NULL);
	CHECK(!gb_mask_value(filter, NULL, pool, &masked, &err));
	gb_values_destroy(pool);
	gb_values_destroy(small);
	gb_filter_destroy(filter);
}
