/* The text before the cursor of a terminal. */
#include "runtime/shell/prompt.h"
#include "table.h"
#include "tap.h"

static void unescape(const char *from, char *to) {
	static const char names[] = "entrba", bytes[] = "\033\n\t\r\b\a";
	for (; *from; from++) {
		const char *name = from[0] == '\\' && from[1] ? strchr(names, from[1]) : NULL;
		if (name) {
			*to++ = bytes[name - names];
			from++;
		} else if (from[0] == '\\' && from[1] == '\\') {
			*to++ = *from++;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static void check_prompt(const struct record *record) {
	char written[1000], text[1001];
	const char *expected = record_get(record, "prompt");
	unescape(record_get(record, "written"), written);
	/* In one piece, and byte by byte. */
	for (int once = 0; once < 2; once++) {
		struct gb_prompt prompt = {.n = 0};
		if (once)
			gb_prompt_feed(&prompt, written, strlen(written));
		for (const char *at = written; !once && *at; at++)
			gb_prompt_feed(&prompt, at, 1);
		text[gb_prompt_text(&prompt, text, sizeof text - 1)] = '\0';
		if (!CHECK_STR(text, expected))
			printf("#   line %u\n", record->line);
	}
}

TEST(prompt_is_the_text_before_the_cursor) {
	CHECK(table_each("shell/prompts.txt", check_prompt) > 10);
}

TEST(long_line_is_truncated_at_its_start) {
	static struct gb_prompt prompt;
	char text[100];
	for (int i = 0; i < 3000; i++)
		gb_prompt_feed(&prompt, "0123456789", 10);
	gb_prompt_feed(&prompt, "end? ", 5);
	/* Without the end of a truncated word. */
	CHECK_INT(gb_prompt_text(&prompt, text, 10), 5);
	CHECK(memcmp(text, "end? ", 5) == 0);
	gb_prompt_feed(&prompt, "are you sure? ", 14);
	CHECK_INT(gb_prompt_text(&prompt, text, 16), 14);
	CHECK(memcmp(text, "are you sure? ", 14) == 0);
	static char much[10000];
	memset(much, 'x', sizeof much);
	gb_prompt_feed(&prompt, much, sizeof much);
	CHECK_INT(gb_prompt_text(&prompt, text, sizeof text), sizeof text / 2);
	/* Never in the middle of a character; invalid bytes become '?'. */
	gb_prompt_clear(&prompt);
	gb_prompt_feed(&prompt, "aüb", 4);
	CHECK_INT(gb_prompt_text(&prompt, text, 2), 1);
	gb_prompt_clear(&prompt);
	gb_prompt_feed(&prompt, "a\xff ", 3);
	CHECK_INT(gb_prompt_text(&prompt, text, 10), 3);
	CHECK(memcmp(text, "a? ", 3) == 0);
}

TEST(questions_are_recognised) {
	static const char *const yes[] = {"Continue? [y/N] ", "Password: ", ">>> ", "$ ", "(y/n)"};
	static const char *const no[] = {"", "loading", "10", "done."};
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		CHECK(gb_prompt_asks(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		CHECK(!gb_prompt_asks(no[i], strlen(no[i])));
}
