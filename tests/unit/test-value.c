#include <math.h>

#include "../tap.h"
#include "base/cleanup.h"
#include "glovebox/value.h"

TEST(scalars_have_their_type_and_value) {
	struct gb_values *pool = gb_values_create(0);
	CHECK_INT(gb_value_type(gb_value_undefined(pool)), GB_UNDEFINED);
	CHECK_INT(gb_value_type(gb_value_null(pool)), GB_NULL);
	CHECK_INT(gb_value_type(gb_value_hole(pool)), GB_HOLE);
	CHECK(gb_value_is_true(gb_value_boolean(pool, true)));
	CHECK(!gb_value_is_true(gb_value_boolean(pool, false)));
	CHECK(!gb_value_is_true(gb_value_number(pool, 1)));
	CHECK(gb_value_as_number(gb_value_number(pool, 1.5)) == 1.5);
	CHECK(isnan(gb_value_as_number(gb_value_null(pool))));
	CHECK(!gb_values_failed(pool));
	gb_values_destroy(pool);
}

TEST(null_pointer_is_undefined_and_empty) {
	size_t n = 7;
	bool negative;
	CHECK_INT(gb_value_type(NULL), GB_UNDEFINED);
	CHECK(!gb_value_is_true(NULL));
	CHECK(isnan(gb_value_as_number(NULL)));
	CHECK(!gb_value_bytes(NULL, &n));
	CHECK(!gb_value_magnitude(NULL, &negative, &n));
	CHECK(!gb_value_view_buffer(NULL, &n, &n));
	CHECK(!gb_value_text(NULL, 0));
	CHECK_INT(gb_value_count(NULL), 0);
	CHECK(!gb_value_at(NULL, 0));
	CHECK(!gb_value_key_at(NULL, 0));
	CHECK(!gb_value_get(NULL, "a"));
	CHECK(!gb_value_push(NULL, NULL));
	CHECK(!gb_value_put(NULL, NULL, NULL));
	CHECK(!gb_value_put_key(NULL, "a", NULL));
	CHECK_INT(n, 7);
	gb_values_destroy(NULL);
}

TEST(strings_are_copied_and_zero_terminated) {
	struct gb_values *pool = gb_values_create(0);
	char text[] = "hello";
	size_t n;
	struct gb_value *value = gb_value_string(pool, text, 4);
	text[0] = 'j';
	CHECK_STR(gb_value_bytes(value, &n), "hell");
	CHECK_INT(n, 4);
	CHECK_STR(gb_value_bytes(gb_value_string(pool, NULL, 0), &n), "");
	CHECK(!gb_values_failed(pool));
	CHECK(!gb_value_string(pool, "\xff", 1));
	CHECK(gb_values_failed(pool));
	gb_values_destroy(pool);
}

TEST(bigints_have_no_leading_zeros_and_no_minus_zero) {
	struct gb_values *pool = gb_values_create(0);
	size_t n;
	bool negative;
	const uint8_t *magnitude =
	    gb_value_magnitude(gb_value_bigint(pool, true, (const uint8_t *)"\0\0\1\2", 4), &negative, &n);
	CHECK_INT(n, 2);
	CHECK(negative && magnitude[0] == 1 && magnitude[1] == 2);
	CHECK(gb_value_magnitude(gb_value_bigint(pool, true, (const uint8_t *)"\0", 1), &negative, &n));
	CHECK(!negative);
	CHECK_INT(n, 0);
	gb_values_destroy(pool);
}

TEST(dates_are_clipped_as_in_javascript) {
	struct gb_values *pool = gb_values_create(0);
	CHECK(gb_value_as_number(gb_value_date(pool, 1.9)) == 1);
	CHECK(gb_value_as_number(gb_value_date(pool, -1.9)) == -1);
	CHECK(!signbit(gb_value_as_number(gb_value_date(pool, -0.0))));
	CHECK(gb_value_as_number(gb_value_date(pool, 8.64e15)) == 8.64e15);
	CHECK(isnan(gb_value_as_number(gb_value_date(pool, 8.64e15 + 1))));
	CHECK(isnan(gb_value_as_number(gb_value_date(pool, (double)INFINITY))));
	CHECK_INT(gb_value_type(gb_value_date(pool, (double)NAN)), GB_DATE);
	gb_values_destroy(pool);
}

TEST(views_must_fit_their_buffer) {
	static const struct {
		size_t offset, length;
		enum gb_view_kind kind;
		bool fits;
	} cases[] = {
	    {0, 8, GB_UINT8, true},
	    {8, 0, GB_UINT8, true},
	    {9, 0, GB_UINT8, false},
	    {1, 8, GB_UINT8, false},
	    {2, 3, GB_UINT16, true},
	    {1, 1, GB_UINT16, false},
	    {0, 1, GB_FLOAT64, true},
	    {0, 2, GB_FLOAT64, false},
	    {0, SIZE_MAX / 8 + 1, GB_BIGUINT64, false},
	    {3, 5, GB_DATAVIEW, true},
	    {3, SIZE_MAX, GB_DATAVIEW, false},
	    {0, 0, (enum gb_view_kind)13, false},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_value *buffer = gb_value_buffer(pool, "12345678", 8);
		struct gb_value *view =
		    gb_value_view(pool, cases[i].kind, buffer, cases[i].offset, cases[i].length);
		CHECK((view != NULL) == cases[i].fits);
		CHECK(gb_values_failed(pool) == !cases[i].fits);
		gb_values_destroy(pool);
	}
	struct gb_values *pool = gb_values_create(0);
	CHECK(!gb_value_view(pool, GB_UINT8, NULL, 0, 0));
	CHECK(!gb_value_view(pool, GB_UINT8, gb_value_array(pool), 0, 0));
	gb_values_destroy(pool);
}

TEST(a_view_returns_its_part_of_the_buffer) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *buffer = gb_value_buffer(pool, "12345678", 8);
	struct gb_value *view = gb_value_view(pool, GB_UINT16, buffer, 2, 2);
	size_t n, offset, length;
	CHECK(memcmp(gb_value_bytes(view, &n), "3456", 4) == 0);
	CHECK_INT(n, 4);
	CHECK_INT(gb_value_view_kind(view), GB_UINT16);
	CHECK(gb_value_view_buffer(view, &offset, &length) == buffer);
	CHECK_INT(offset, 2);
	CHECK_INT(length, 2);
	gb_values_destroy(pool);
}

TEST(errors_and_regexps_have_texts) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *error = gb_value_error(pool, "TypeError", "no", NULL);
	CHECK_STR(gb_value_text(error, 0), "TypeError");
	CHECK_STR(gb_value_text(error, 1), "no");
	CHECK_STR(gb_value_text(error, 2), NULL);
	CHECK_STR(gb_value_text(error, 3), NULL);
	CHECK_STR(gb_value_text(gb_value_error(pool, "E", "m", "s"), 2), "s");
	CHECK_STR(gb_value_text(gb_value_regexp(pool, "a", "g"), 1), "g");
	CHECK(!gb_value_text(gb_value_array(pool), 0));
	CHECK(!gb_values_failed(pool));
	CHECK(!gb_value_error(pool, NULL, "m", NULL));
	CHECK(!gb_value_error(pool, "E", "m", "\xff"));
	CHECK(gb_values_failed(pool));
	gb_values_destroy(pool);
}

TEST(containers_grow_and_keep_their_order) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *array = gb_value_array(pool), *map = gb_value_map(pool);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(gb_value_push(array, gb_value_number(pool, i)));
		CHECK(gb_value_put(map, gb_value_number(pool, i), gb_value_number(pool, 2 * i)));
	}
	CHECK_INT(gb_value_count(array), 1000);
	CHECK_INT(gb_value_count(map), 1000);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK_INT(gb_value_as_number(gb_value_at(array, i)), i);
		CHECK_INT(gb_value_as_number(gb_value_key_at(map, i)), i);
		CHECK_INT(gb_value_as_number(gb_value_at(map, i)), 2 * i);
	}
	CHECK(!gb_value_at(array, 1000));
	CHECK(!gb_value_key_at(array, 0));
	gb_values_destroy(pool);
}

TEST(objects_are_found_by_key) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *object = gb_value_object(pool);
	CHECK(gb_value_put_key(object, "a", gb_value_number(pool, 1)));
	CHECK(gb_value_put_key(object, "bb", gb_value_number(pool, 2)));
	CHECK_INT(gb_value_as_number(gb_value_get(object, "bb")), 2);
	CHECK(!gb_value_get(object, "b"));
	CHECK(!gb_value_get(gb_value_map(pool), "a"));
	gb_values_destroy(pool);
}

TEST(invalid_items_and_keys_are_rejected) {
	static const char *const names[] = {"null item", "hole in a set", "hole in a map", "number as a key"};
	for (unsigned i = 0; i < GB_COUNT(names); i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_value *hole = gb_value_hole(pool), *one = gb_value_number(pool, 1);
		bool ok = i == 0   ? gb_value_push(gb_value_array(pool), NULL)
			  : i == 1 ? gb_value_push(gb_value_set(pool), hole)
			  : i == 2 ? gb_value_put(gb_value_map(pool), one, hole)
				   : gb_value_put(gb_value_object(pool), one, one);
		CHECK(!ok);
		CHECK(gb_values_failed(pool));
		gb_values_destroy(pool);
	}
	struct gb_values *pool = gb_values_create(0);
	CHECK(!gb_value_push(gb_value_object(pool), gb_value_null(pool)));
	CHECK(!gb_value_put(gb_value_array(pool), gb_value_null(pool), gb_value_null(pool)));
	CHECK(gb_value_push(gb_value_array(pool), gb_value_hole(pool)));
	gb_values_destroy(pool);
}

/* Typical use: a chain of calls and one check at the end. */
static struct gb_value *build(struct gb_values *pool) {
	struct gb_value *object = gb_value_object(pool), *array = gb_value_array(pool);
	for (unsigned i = 0; i < 20; i++)
		gb_value_push(array, gb_value_number(pool, i));
	gb_value_put_key(object, "array", array);
	gb_value_put_key(object, "self", object);
	gb_value_put_key(
	    object, "view", gb_value_view(pool, GB_UINT8, gb_value_buffer(pool, "1234", 4), 0, 4));
	gb_value_put_key(object, "error", gb_value_error(pool, "E", "m", "stack"));
	gb_value_put_key(object, "bigint", gb_value_bigint(pool, true, (const uint8_t *)"\1\2\3", 3));
	return gb_values_failed(pool) ? NULL : object;
}

TEST(pool_of_any_size_suffices_or_fails) {
	bool done = false;
	for (size_t max = 1; !done; max += 16) {
		struct gb_values *pool = gb_values_create(max);
		done = build(pool) != NULL;
		CHECK(gb_values_failed(pool) == !done);
		gb_values_destroy(pool);
	}
}
