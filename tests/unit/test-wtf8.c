#include "../hex.h"
#include "../tap.h"
#include "base/cleanup.h"
#include "value/wtf8.h"

static enum gb_wtf8 scan(const char *text) {
	char *copy = exact_copy(text, strlen(text));
	enum gb_wtf8 found = gb_wtf8_scan(copy, strlen(text));
	free(copy);
	return found;
}

TEST(text_is_classified) {
	static const struct {
		const char *text;
		enum gb_wtf8 expected;
	} cases[] = {
	    {"", GB_WTF8_UTF8},
	    {"plain ASCII that is longer than a word", GB_WTF8_UTF8},
	    {"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", GB_WTF8_UTF8},
	    {"\xed\x9f\xbf\xee\x80\x80", GB_WTF8_UTF8},
	    {"\xed\xa0\x80", GB_WTF8_SURROGATES},
	    {"a\xed\xbf\xbfz", GB_WTF8_SURROGATES},
	    {"\xed\xb0\x80\xed\xa0\x80", GB_WTF8_SURROGATES}, /* low, high */
	    {"\xed\xa0\x80\xed\xa0\x80", GB_WTF8_SURROGATES}, /* high, high */
	    {"\xed\xa0\x80"
	     "a\xed\xb0\x80",
		GB_WTF8_SURROGATES},                       /* high, a, low */
	    {"\xed\xa0\x80\xed\xb0\x80", GB_WTF8_INVALID}, /* a pair */
	    {"\xed\xa0\x80\xed\xa0\x80\xed\xb0\x80", GB_WTF8_INVALID},
	    {"\x80", GB_WTF8_INVALID},
	    {"\xbf", GB_WTF8_INVALID},
	    {"\xc0\x80", GB_WTF8_INVALID}, /* overlong */
	    {"\xc1\xbf", GB_WTF8_INVALID},
	    {"\xe0\x9f\xbf", GB_WTF8_INVALID},
	    {"\xf0\x8f\xbf\xbf", GB_WTF8_INVALID},
	    {"\xf4\x90\x80\x80", GB_WTF8_INVALID}, /* beyond U+10FFFF */
	    {"\xf5\x80\x80\x80", GB_WTF8_INVALID},
	    {"\xff", GB_WTF8_INVALID},
	    {"\xc2", GB_WTF8_INVALID}, /* truncated */
	    {"\xe2\x82", GB_WTF8_INVALID},
	    {"\xf0\x9f\x98", GB_WTF8_INVALID},
	    {"\xc2"
	     "a",
		GB_WTF8_INVALID},
	    {"\xe2\x82"
	     "a",
		GB_WTF8_INVALID},
	    {"\xf0\x9f\x98"
	     "a",
		GB_WTF8_INVALID},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		if (!CHECK_INT(scan(cases[i].text), cases[i].expected))
			printf("#   case %zu\n", i);
}

TEST(invalid_byte_is_found_at_any_position) {
	char text[40];
	for (size_t at = 0; at < sizeof text; at++) {
		memset(text, 'a', sizeof text);
		text[at] = (char)0xff;
		CHECK_INT(gb_wtf8_scan(text, sizeof text), GB_WTF8_INVALID);
		CHECK_INT(gb_wtf8_scan(text, at), GB_WTF8_UTF8);
	}
}

TEST(every_code_point_round_trips) {
	unsigned wrong = 0;
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		char bytes[4];
		uint32_t again;
		size_t n = gb_wtf8_encode(bytes, code);
		bool surrogate = code >= 0xd800 && code <= 0xdfff;
		wrong += gb_wtf8_scan(bytes, n) != (surrogate ? GB_WTF8_SURROGATES : GB_WTF8_UTF8);
		wrong += gb_wtf8_decode(bytes, &again) != n || again != code;
	}
	CHECK_INT(wrong, 0);
}

TEST(terminal_control_characters_are_unsafe) {
	static const uint32_t unsafe[] = {
	    0, 0x1b, '\n', 0x7f, 0x9b, 0xd800, 0x200f, 0x2028, 0x202e, 0x2066, 0xfeff};
	static const uint32_t safe[] = {' ', 'a', '"', 0xa0, 0xfc, 0x20ac, 0x1f600};
	for (size_t i = 0; i < GB_COUNT(unsafe); i++)
		CHECK(gb_wtf8_is_unsafe(unsafe[i]));
	for (size_t i = 0; i < GB_COUNT(safe); i++)
		CHECK(!gb_wtf8_is_unsafe(safe[i]));
}
