/* What is read of a shell's words without running it, and of what stands before a cursor. */
#include "runtime/shell/prompt.h"
#include "runtime/shell/restrict.h"
#include "table.h"
#include "tap.h"

static void unescape(const char *from, char *to, bool all) {
	static const char names[] = "entrba", bytes[] = "\033\n\t\r\b\a";
	for (; *from; from++) {
		const char *name = from[0] == '\\' && from[1] ? strchr(names, from[1]) : NULL;
		if (name && (all || *name == 'n' || *name == 't')) {
			*to++ = bytes[name - names];
			from++;
		} else if (all && from[0] == '\\' && from[1] == '\\') {
			*to++ = *from++;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static void check_script(const struct record *record) {
	char script[1000];
	struct gb_refusal refusal = {0};
	const char *refused = record_get(record, "refused"), *line = record_get(record, "line");
	unescape(record_get(record, "script"), script, false);
	bool ok = gb_restrict_check(gb_str_from(script), &refusal);
	bool right = refused ? CHECK_STR(refusal.word, refused) : CHECK(ok);
	if (refused)
		right &= CHECK(!ok && refusal.rule && *refusal.rule->reason && *refusal.rule->instead);
	if (line)
		right &= CHECK_INT(refusal.line, atoi(line));
	if (!right)
		printf("#   line %u: %s\n", record->line, script);
}

TEST(what_is_refused_and_what_is_not) {
	CHECK(table_each("shell/restricted.txt", check_script) > 60);
}

/* However it ends, it ends. */
TEST(every_beginning_of_a_script_can_be_read) {
	static const char script[] =
	    "a=\"x $(b `c` \"$d\" ${e}) 'f'\" <(g) <<-E >h 2>&1 | i() { j; } && k \\\n l # m\nn\n\tE\n"
	    "$'\\'' ((1)) [[ x ]] `o` ; case p in q) r;; esac";
	struct gb_refusal refusal;
	for (size_t n = 0; n <= sizeof script; n++)
		for (size_t from = 0; from <= n; from++)
			CHECK(gb_restrict_check((struct gb_str){script + from, n - from}, &refusal));
}

TEST(a_script_may_nest_deeper_than_anybody_looks) {
	static char script[20000];
	struct gb_refusal refusal;
	for (size_t i = 0; i + 2 < sizeof script; i += 2)
		memcpy(script + i, "$(", 2);
	CHECK(gb_restrict_check((struct gb_str){script, sizeof script}, &refusal));
	memset(script, '(', sizeof script);
	CHECK(gb_restrict_check((struct gb_str){script, sizeof script}, &refusal));
	memset(script, 'x', sizeof script);
	CHECK(gb_restrict_check((struct gb_str){script, sizeof script}, &refusal));
}

static void check_prompt(const struct record *record) {
	char written[1000], text[1001];
	const char *expected = record_get(record, "prompt");
	unescape(record_get(record, "written"), written, true);
	/* At once, and byte by byte. */
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

TEST(what_stands_before_the_cursor) {
	CHECK(table_each("shell/prompts.txt", check_prompt) > 10);
}

TEST(a_long_line_is_its_end) {
	static struct gb_prompt prompt;
	char text[100];
	for (int i = 0; i < 3000; i++)
		gb_prompt_feed(&prompt, "0123456789", 10);
	gb_prompt_feed(&prompt, "end? ", 5);
	/* Without what may be the end of a longer word. */
	CHECK_INT(gb_prompt_text(&prompt, text, 10), 5);
	CHECK(memcmp(text, "end? ", 5) == 0);
	gb_prompt_feed(&prompt, "are you sure? ", 14);
	CHECK_INT(gb_prompt_text(&prompt, text, 16), 14);
	CHECK(memcmp(text, "are you sure? ", 14) == 0);
	static char much[10000];
	memset(much, 'x', sizeof much);
	gb_prompt_feed(&prompt, much, sizeof much);
	CHECK_INT(gb_prompt_text(&prompt, text, sizeof text), sizeof text / 2);
	/* Not in the middle of a character; and what is none is not text. */
	gb_prompt_clear(&prompt);
	gb_prompt_feed(&prompt, "aüb", 4);
	CHECK_INT(gb_prompt_text(&prompt, text, 2), 1);
	gb_prompt_clear(&prompt);
	gb_prompt_feed(&prompt, "a\xff ", 3);
	CHECK_INT(gb_prompt_text(&prompt, text, 10), 3);
	CHECK(memcmp(text, "a? ", 3) == 0);
}

TEST(what_looks_like_a_question) {
	static const char *const yes[] = {"Continue? [y/N] ", "Password: ", ">>> ", "$ ", "(y/n)"};
	static const char *const no[] = {"", "loading", "10", "done."};
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		CHECK(gb_prompt_asks(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		CHECK(!gb_prompt_asks(no[i], strlen(no[i])));
}
