#include "../tap.h"
#include "base/buf.h"

TEST(a_buffer_grows) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 1 << 20);
	for (unsigned i = 0; i < 10000; i++)
		gb_buf_append(&buf, "0123456789", 10);
	CHECK_INT(buf.len, 100000);
	CHECK(memcmp(buf.data + 99990, "0123456789", 10) == 0);
	CHECK(!gb_buf_failed(&buf));
}

TEST(buffer_holds_exactly_its_maximum) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 4);
	gb_buf_append(&buf, "abcd", 4);
	CHECK(!gb_buf_failed(&buf));
	gb_buf_append_char(&buf, 'e');
	CHECK(gb_buf_failed(&buf));
	CHECK_INT(buf.len, 4);
}

TEST(failure_sticks_until_cleared) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 4);
	gb_buf_append(&buf, "abcde", 5);
	gb_buf_append(&buf, "a", 1);
	CHECK(gb_buf_failed(&buf));
	CHECK_INT(buf.len, 0);
	CHECK(!gb_buf_c_str(&buf));
	gb_buf_clear(&buf);
	gb_buf_append(&buf, "a", 1);
	CHECK_STR(gb_buf_c_str(&buf), "a");
}

TEST(sizes_that_overflow_fail) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, SIZE_MAX);
	gb_buf_append(&buf, "a", 1);
	CHECK(!gb_buf_reserve(&buf, SIZE_MAX));
	CHECK(gb_buf_failed(&buf));
}

TEST(formatted_text_is_appended) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 1000);
	gb_buf_printf(&buf, "%d-%s", 42, "x");
	gb_buf_append_str(&buf, GB_STR("!"));
	CHECK_STR(gb_buf_c_str(&buf), "42-x!");
	gb_buf_printf(&buf, "%2000d", 1);
	CHECK(gb_buf_failed(&buf));
}

TEST(zero_bytes_can_be_appended_or_reserved) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 10);
	gb_buf_append(&buf, NULL, 0);
	CHECK(gb_buf_reserve(&buf, 0) != NULL);
	CHECK_STR(gb_buf_c_str(&buf), "");
	CHECK(!gb_buf_failed(&buf));
}

TEST(consumed_bytes_are_dropped_from_the_front) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 10);
	gb_buf_append(&buf, "abcdef", 6);
	gb_buf_consume(&buf, 2);
	CHECK_STR(gb_buf_c_str(&buf), "cdef");
	gb_buf_consume(&buf, 0);
	CHECK_STR(gb_buf_c_str(&buf), "cdef");
	gb_buf_consume(&buf, 100);
	CHECK_STR(gb_buf_c_str(&buf), "");
}

TEST(a_finished_buffer_can_be_used_again) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, 10);
	gb_buf_append(&buf, "abc", 3);
	gb_buf_finish(&buf);
	gb_buf_append(&buf, "d", 1);
	CHECK_STR(gb_buf_c_str(&buf), "d");
	CHECK(gb_str_eq(gb_buf_str(&buf), GB_STR("d")));
}
