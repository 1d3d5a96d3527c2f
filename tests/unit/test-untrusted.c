#include "cli/untrusted.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "tap.h"
#include "value/json.h"

typedef void (*printer)(FILE *to, const char *text, size_t n);

static char *printed(printer print, struct gb_str text) {
	char *out = NULL;
	size_t n;
	FILE *to = open_memstream(&out, &n);
	if (!to)
		abort();
	print(to, text.p, text.n);
	fclose(to);
	return out;
}

/* Passes the text in pieces of @size bytes. */
static char *streamed(struct gb_str text, size_t size) {
	struct untrusted stream = {0};
	char *out = NULL;
	size_t n;
	FILE *to = open_memstream(&out, &n);
	if (!to)
		abort();
	for (size_t at = 0; at < text.n; at += size)
		untrusted_feed(&stream, to, text.p + at, size < text.n - at ? size : text.n - at);
	untrusted_end(&stream, to);
	fclose(to);
	return out;
}

static const struct {
	struct gb_str text;
	const char *expected;
} texts[] = {
    {GB_STR("plain \xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80\n\tx"),
	"plain \xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80\n\tx"},
    {GB_STR("\x1b]52;c;eA==\x07\x1b[2J"), "?]52;c;eA==??[2J"},
    {GB_STR("a\rb\bc\x7f\0d"), "a?b?c??d"},
    {GB_STR("\xc2\x9b"
	    "31m\xc2\x85"),
	"?31m?"}, /* C1 in UTF-8 */
    {GB_STR("\x9b"
	    "31m\xc3"),
	"?31m?"}, /* C1 as a byte; a truncated character */
    {GB_STR("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8e\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf"), "???????"},
    {GB_STR("\xed\xa0\x80\xed\xb0\x80"), "??"},          /* surrogates */
    {GB_STR("\xe0\x80\x9b\xf0\x80\x80\x9b"), "???????"}, /* overlong */
    {GB_STR("\xff\xc3\xa9\xe4\xb8"
	    "a"),
	"?\xc3\xa9??a"},
};

TEST(control_characters_and_invalid_bytes_are_replaced) {
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		gb_auto_free char *out = printed(print_untrusted, texts[i].text);
		CHECK_STR(out, texts[i].expected);
	}
}

TEST(the_output_does_not_depend_on_piece_sizes) {
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		for (size_t size = 1; size <= texts[i].text.n; size++) {
			gb_auto_free char *out = streamed(texts[i].text, size);
			CHECK_STR(out, texts[i].expected);
		}
}

TEST(lines_of_a_message_are_indented) {
	gb_auto_free char *message = printed(print_message, GB_STR("one\nglovebox: forged\n  two\n\n\x1b"));
	CHECK_STR(message, "one\n  glovebox: forged\n  two\n\n  ?");
	gb_auto_free char *block = printed(print_block, GB_STR("forged\n    at f\n\tx"));
	CHECK_STR(block, "  forged\n    at f\n\tx\n");
	gb_auto_free char *nothing = printed(print_block, GB_STR(""));
	CHECK_STR(nothing, "");
}

TEST(names_are_one_line_with_visible_escapes) {
	gb_auto_free char *out = printed(print_name, GB_STR("a\nb\t\xe2\x80\x8b\x1b\xff\xc3\xa9"));
	CHECK_STR(out, "a<U+000A>b<U+0009><U+200B><U+001B><0xFF>\xc3\xa9");
}

TEST(terminal_control_characters_are_escaped_in_json) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1000);
	gb_json_append_string(
	    &out, GB_STR("\x1b\x7f\xc2\x80\xc2\x9f\xd8\x9c\xe2\x80\x8e\xe2\x80\xa8\xe2\x80\xae"
			 "\xe2\x81\xa9\xef\xbb\xbf"));
	CHECK_STR(
	    gb_buf_c_str(&out), "\"\\u001b\\u007f\\u0080\\u009f\\u061c\\u200e\\u2028\\u202e\\u2069\\ufeff\"");
	gb_buf_clear(&out);
	gb_json_append_string(&out, GB_STR("\xc2\xa0\xd8\xa7\xe2\x82\xac\xef\xbf\xbd"));
	CHECK_STR(gb_buf_c_str(&out), "\"\xc2\xa0\xd8\xa7\xe2\x82\xac\xef\xbf\xbd\"");
}
