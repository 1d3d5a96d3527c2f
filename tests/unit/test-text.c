#include <math.h>

#include "../tap.h"
#include "base/cleanup.h"
#include "value/text.h"

TEST(numbers_are_formatted_as_in_javascript) {
	static const struct {
		double number;
		const char *text;
	} cases[] = {{0, "0"}, {-0.0, "0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"},
	    {1e20, "100000000000000000000"}, {1e21, "1e+21"}, {1.5e300, "1.5e+300"}, {1e-6, "0.000001"},
	    {1.5e-7, "1.5e-7"}, {123e-20, "1.23e-18"}, {5e-324, "5e-324"}, {4.35, "4.35"},
	    {0x1p53, "9007199254740992"}, {0x1p53 + 2, "9007199254740994"},
	    {1.7976931348623157e308, "1.7976931348623157e+308"},
	    {2.2250738585072014e-308, "2.2250738585072014e-308"},
	    {2.225073858507201e-308, "2.225073858507201e-308"}, {1e23, "1e+23"}, {123456.789, "123456.789"},
	    {(double)NAN, "NaN"}, {-(double)INFINITY, "-Infinity"}};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		char text[GB_NUMBER_TEXT];
		CHECK_INT(gb_number_format(text, cases[i].number), strlen(cases[i].text));
		CHECK_STR(text, cases[i].text);
	}
}

TEST(formatted_numbers_are_parsed_back_exactly) {
	uint64_t bits = 88172645463325252;
	unsigned wrong = 0;
	for (unsigned i = 0; i < 20000; i++) {
		double number, again = 0;
		char text[GB_NUMBER_TEXT];
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&number, &bits, sizeof number);
		if (!isfinite(number))
			continue;
		size_t n = gb_number_format(text, number);
		wrong += !gb_number_parse((struct gb_str){text, n}, &again) || again != number;
	}
	CHECK_INT(wrong, 0);
}

TEST(dates_round_trip_for_every_day_of_a_thousand_years) {
	unsigned wrong = 0;
	char last[GB_DATE_TEXT] = "";
	for (int day = -200000; day < 200000; day++) {
		char text[GB_DATE_TEXT];
		double again = NAN, ms = day * 86400000.0 + 86399999;
		size_t n = gb_date_format(text, ms);
		wrong += !gb_date_parse((struct gb_str){text, n}, &again) || again != ms;
		wrong += strcmp(text, last) <= 0;
		memcpy(last, text, sizeof last);
	}
	CHECK_INT(wrong, 0);
	CHECK_STR(last, "2517-07-31T23:59:59.999Z");
}

TEST(base64_of_every_length) {
	uint8_t bytes[256];
	for (unsigned i = 0; i < 256; i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n <= 256; n++) {
		gb_auto_buf struct gb_buf text, again;
		gb_buf_init(&text, 1000);
		gb_buf_init(&again, 1000);
		gb_base64_append(&text, bytes, n);
		CHECK_INT(text.len, (n + 2) / 3 * 4);
		CHECK(gb_base64_decode(&again, gb_buf_str(&text)));
		CHECK(again.len == n && (n == 0 || memcmp(again.data, bytes, n) == 0));
	}
}

TEST(quoted_text_is_short_and_escaped) {
	char quoted[GB_QUOTED_TEXT];
	gb_text_quote(quoted, GB_STR(""));
	CHECK_STR(quoted, "\"\"");
	gb_text_quote(quoted, GB_STR("a\x1b[b\n"));
	CHECK_STR(quoted, "\"a?[b?\"");
	for (size_t n = 40; n < 80; n++) {
		gb_auto_buf struct gb_buf text;
		gb_buf_init(&text, 400);
		for (size_t i = 0; i < n; i++)
			gb_buf_append_str(&text, GB_STR("€"));
		gb_text_quote(quoted, gb_buf_str(&text));
		CHECK(strlen(quoted) < GB_QUOTED_TEXT);
		CHECK(strstr(quoted, "…\"") != NULL);
	}
}
