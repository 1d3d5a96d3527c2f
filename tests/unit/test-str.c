#include "../tap.h"
#include "base/cleanup.h"
#include "base/str.h"

TEST(cut_returns_the_part_before_the_separator) {
	struct gb_str rest = GB_STR("a=b=c"), head;
	CHECK(gb_str_cut(&rest, '=', &head));
	CHECK(gb_str_eq(head, GB_STR("a")));
	CHECK(gb_str_eq(rest, GB_STR("b=c")));
}

TEST(cut_without_separator_returns_everything) {
	struct gb_str rest = GB_STR("abc"), head;
	CHECK(!gb_str_cut(&rest, '=', &head));
	CHECK(gb_str_eq(head, GB_STR("abc")));
	CHECK_INT(rest.n, 0);
}

TEST(cut_of_empty_string_is_empty) {
	struct gb_str rest = {NULL, 0}, head;
	CHECK(!gb_str_cut(&rest, '=', &head));
	CHECK_INT(head.n, 0);
	CHECK_INT(rest.n, 0);
}

TEST(cut_at_the_edges_gives_empty_parts) {
	struct gb_str rest = GB_STR("=a="), head;
	CHECK(gb_str_cut(&rest, '=', &head));
	CHECK_INT(head.n, 0);
	CHECK(gb_str_cut(&rest, '=', &head));
	CHECK(gb_str_eq(head, GB_STR("a")));
	CHECK_INT(rest.n, 0);
}

TEST(equality_and_endings) {
	CHECK(gb_str_eq(GB_STR(""), (struct gb_str){NULL, 0}));
	CHECK(!gb_str_eq(GB_STR("a"), GB_STR("b")));
	CHECK(!gb_str_eq(GB_STR("a"), GB_STR("aa")));
	CHECK(gb_str_ends_with(GB_STR("file.js"), GB_STR(".js")));
	CHECK(gb_str_ends_with(GB_STR(".js"), GB_STR(".js")));
	CHECK(!gb_str_ends_with(GB_STR("js"), GB_STR(".js")));
	CHECK(gb_str_ends_with(GB_STR("a"), (struct gb_str){NULL, 0}));
	CHECK_INT(gb_str_from(NULL).n, 0);
	CHECK_INT(gb_str_from("abc").n, 3);
}

TEST(durations_have_units) {
	static const struct {
		const char *text;
		uint64_t ms;
	} cases[] = {{"250ms", 250}, {"5s", 5000}, {"2m", 120000}, {"1h", 3600000}, {"2d", 172800000},
	    {"0.5", 500}, {"7", 7000}, {"0", 0}, {"0.0004s", 0}, {"1.5s", 1500}};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		uint64_t ms = 77;
		CHECK(gb_str_parse_duration_ms(cases[i].text, &ms));
		CHECK_INT(ms, cases[i].ms);
	}
}

TEST(invalid_durations_are_rejected) {
	static const char *const cases[] = {
	    "", "s", "-1", "1w", "1 s", " 1", "1s ", "inf", "nan", "0x10", "1e999", "99999999999999999h"};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		uint64_t ms = 77;
		if (!CHECK(!gb_str_parse_duration_ms(cases[i], &ms)))
			printf("#   '%s'\n", cases[i]);
		CHECK_INT(ms, 77);
	}
}

TEST(sizes_have_units) {
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {{"64M", 64 << 20}, {"512K", 512 << 10}, {"1G", 1 << 30}, {"7", 7}, {"7B", 7},
	    {"1.5K", 1536}, {"1KiB", 1024}, {"1MB", 1 << 20}};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		uint64_t bytes = 77;
		CHECK(gb_str_parse_size(cases[i].text, &bytes));
		CHECK_INT(bytes, cases[i].bytes);
	}
}

TEST(invalid_sizes_are_rejected) {
	static const char *const cases[] = {"", "M", "-1M", "1T", "1 M", "0x10", "0x1p3", "10000000000G"};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		uint64_t bytes;
		if (!CHECK(!gb_str_parse_size(cases[i], &bytes)))
			printf("#   '%s'\n", cases[i]);
	}
}
