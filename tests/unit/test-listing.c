#include "cli/listing.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/glyph.h"
#include "tap.h"

/* --- colours --- */

/* @code with each token that is not plain as the letter of its kind and the token in parentheses. */
static const char *marked(enum gb_syntax syntax, const char *code) {
	static struct gb_buf out = {.max = 1 << 20};
	struct highlight highlight = {.code = gb_str_from(code), .syntax = syntax};
	gb_buf_clear(&out);
	for (size_t at = 0, end; at < highlight.code.n; at = end) {
		enum token token = highlight_next(&highlight, &end);
		if (token == TOKEN_PLAIN)
			gb_buf_append(&out, code + at, end - at);
		else
			gb_buf_printf(&out, "%c(%.*s)", "PCSKN"[token], (int)(end - at), code + at);
	}
	return gb_buf_c_str(&out);
}

TEST(javascript) {
	static const char *const cases[][2] = {
	    {"let x = 1.5e3; // one", "K(let) x = N(1.5e3); C(// one)"},
	    {"/* a\n b */ y", "C(/* a\n b */) y"},
	    {"'a\\'b' + \"c\"", "S('a\\'b') + S(\"c\")"},
	    {"'not closed\nreturn", "S('not closed)\nK(return)"},
	    {"`a${f({b: `c${1}`})}d` // x", "S(`a${)f({b: S(`c${)N(1)S(}`)})S(}d`) C(// x)"},
	    {"x / 2 / y", "x / N(2) / y"},
	    {"f(/[/]\\/*/g) // x", "f(S(/[/]\\/*/)g) C(// x)"},
	    {"return /'/.test(s)", "K(return) S(/'/).test(s)"},
	    {"(a) / 'b' / c", "(a) / S('b') / c"},
	    {"o.delete(x); delete x", "o.delete(x); K(delete) x"},
	    {"#!/usr/bin/env node\n1", "C(#!/usr/bin/env node)\nN(1)"},
	    {"/* never closed", "C(/* never closed)"},
	    {"}}`", "}}S(`)"},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		CHECK_STR(marked(GB_SYNTAX_JS, cases[i][0]), cases[i][1]);
}

TEST(python) {
	static const char *const cases[][2] = {
	    {"def f(x): return x # y", "K(def) f(x): K(return) x C(# y)"},
	    {"rb'a\\'b' 'c'", "S(rb'a\\'b') S('c')"},
	    {"'''a\n'b''' None", "S('''a\n'b''') K(None)"},
	    {"f\"\"\"x\"\"\"+1_0", "S(f\"\"\"x\"\"\")+N(1_0)"},
	    {"bar = buf", "bar = buf"},
	    {"'a\nx'", "S('a)\nxS(')"},
	    {"\"\"\"open", "S(\"\"\"open)"},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		CHECK_STR(marked(GB_SYNTAX_PYTHON, cases[i][0]), cases[i][1]);
}

TEST(shell) {
	static const char *const cases[][2] = {
	    {"if [ a = 'b' ]; then # c", "K(if) [ a = S('b') ]; K(then) C(# c)"},
	    {"echo a#b \\# c $'d\\'e' \"f\\\"\ng\"", "echo a#b \\# c $S('d\\'e') S(\"f\\\"\ng\")"},
	    {"'a\\' b", "S('a\\') b"},
	    {"\\", "\\"},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		CHECK_STR(marked(GB_SYNTAX_SHELL, cases[i][0]), cases[i][1]);
}

TEST(code_of_an_unknown_language_is_plain) {
	CHECK_INT(highlight_syntax(GB_STR("python")), GB_SYNTAX_PYTHON);
	CHECK_INT(highlight_syntax(GB_STR("typescript")), GB_SYNTAX_JS);
	CHECK_INT(highlight_syntax(GB_STR("bash")), GB_SYNTAX_SHELL);
	CHECK_INT(highlight_syntax(GB_STR("cobol")), GB_SYNTAX_NONE);
	CHECK_STR(marked(GB_SYNTAX_NONE, "if 'a' # 1"), "if 'a' # 1");
}

/* --- output --- */

static char *listed(struct listing listing, struct gb_str text, struct listing_seen *ret_seen) {
	char *out = NULL;
	size_t n;
	listing.to = open_memstream(&out, &n);
	if (!listing.to)
		abort();
	print_listing(&listing, text, ret_seen);
	fclose(listing.to);
	return out;
}

TEST(all_lines_are_shown_with_their_numbers) {
	gb_auto_free char *out = listed((struct listing){.has_numbers = true}, GB_STR("a\n\n\tb\n"), NULL);
	CHECK_STR(out, "  1 | a\n  2 | \n  3 |     b\n");
	gb_auto_free char *empty = listed((struct listing){.has_numbers = true}, GB_STR(""), NULL);
	CHECK_STR(empty, "  1 | \n");
}

TEST(long_lines_are_wrapped_after_the_margin) {
	gb_auto_free char *out = listed((struct listing){.has_numbers = true, .columns = 30},
	    GB_STR("12345678901234567890123456789\xe4\xb8\xad"), NULL);
	CHECK_STR(out, "  1 | 123456789012345678901234\n    > 56789\xe4\xb8\xad\n");
	gb_auto_free char *indented =
	    listed((struct listing){.indent = 20, .columns = 30}, GB_STR("12345678901\nx"), NULL);
	CHECK_STR(indented, "1234567890\n                    1\n                    x\n");
}

TEST(deceptive_characters_are_counted_and_shown_as_code_points) {
	struct listing_seen seen;
	gb_auto_free char *out = listed((struct listing){.has_numbers = true},
	    GB_STR("a\xc3\xa9\n\xe2\x80\xae"
		   "b\r\x1b\xed\xa0\x80"),
	    &seen);
	CHECK_STR(out, "  1 | a\xc3\xa9\n  2 | <U+202E>b<U+000D><U+001B><U+D800>\n");
	CHECK_INT(seen.lines, 2);
	CHECK_INT(seen.deceptive, 4);
	CHECK_INT(seen.first_deceptive, 2);
	CHECK_INT(seen.non_ascii, 1);
	CHECK_INT(seen.first_non_ascii, 1);
}

TEST(bytes_that_are_not_utf8_are_shown_in_hex) {
	gb_auto_free char *out =
	    listed((struct listing){.has_numbers = true}, GB_STR("a\xff\xc3\xa9\xe2\x80"), NULL);
	CHECK_STR(out, "  1 | a<0xFF>\xc3\xa9<0xE2><0x80>\n");
}

TEST(ordinary_text_has_no_deceptive_characters) {
	static const uint32_t fine[] = {' ', '~', 0xe9, 0x391, 0x430, 0x4e2d, 0x2026, 0x1f600},
			      misleading[] = {0, 7, 0x1b, 0x7f, 0x9b, 0xa0, 0xad, 0x301, 0x34f, 0x61c, 0x115f,
				  0x180e, 0x2009, 0x200b, 0x200d, 0x200e, 0x2028, 0x202e, 0x2060, 0x2066,
				  0x206f, 0x2800, 0x3000, 0x3164, 0xd800, 0xe000, 0xfe0f, 0xfeff, 0xffa0,
				  0xfff9, 0xe0041, 0x10ffff};
	for (size_t i = 0; i < GB_COUNT(fine); i++)
		CHECK(!glyph_is_misleading(fine[i]));
	for (size_t i = 0; i < GB_COUNT(misleading); i++)
		if (!CHECK(glyph_is_misleading(misleading[i])))
			printf("# U+%04X\n", (unsigned)misleading[i]);
}
