/* The line editor, its view, and its history file. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/history.h"
#include "cli/line.h"
#include "cli/line_view.h"
#include "tap.h"

static enum line_event feed(struct line *line, const char *keys) {
	enum line_event event = LINE_SAME;
	for (; *keys; keys++)
		event = line_feed(line, (unsigned char)*keys);
	return event;
}

#define LEFT   "\033[D"
#define UP     "\033[A"
#define DOWN   "\033[B"
#define PASTE  "\033[200~"
#define PASTED "\033[201~"

TEST(keys_change_the_text) {
	static const struct {
		const char *keys, *text;
		size_t cursor;
	} cases[] = {
	    {"abc", "abc", 3},
	    {"abc" LEFT "x", "abxc", 3},
	    {"abc\001x\005y", "xabcy", 5},
	    {"abc\177", "ab", 2},
	    {"abc" LEFT LEFT "\004", "ac", 1},
	    {"abc" LEFT LEFT "\033[3~", "ac", 1},
	    {"one two\027", "one ", 4},
	    {"one two\027\031\031", "one twotwo", 10},
	    {"one two" LEFT "\013", "one tw", 6},
	    {"one two" LEFT "\025", "o", 0},
	    {"one two\033b\033bX", "Xone two", 1},
	    {"one two\033[1;5DX", "one Xtwo", 5},
	    {"one two\001\033dX", "X two", 1},
	    {"one two\033\177", "one ", 4},
	    {"ab\024", "ba", 2},
	    {"a\303\244\177", "a", 1},
	    {"\303\244" LEFT "b", "b\303\244", 1},
	    {"\342\202\254\303\244\024", "\303\244\342\202\254", 5},
	    {"one\033\rtwo" UP "X", "oneX\ntwo", 4},
	    {"one\033\rtwo" UP DOWN "X", "one\ntwoX", 8},
	    {"\033OH\033[F\033[1~\033[4~a", "a", 1},
	    {"a\033[?1;2cb\033[999999999999999999999999999999999999999zc", "abc", 3},
	    {"\002\006\020\016\004"
	     "a",
		"a", 1},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct line line;
		line_init(&line, NULL);
		feed(&line, cases[i].keys);
		if (!CHECK_STR(line_text(&line), cases[i].text) || !CHECK_INT(line.cursor, cases[i].cursor))
			tap_quote("keys: ", cases[i].keys);
		line_finish(&line);
	}
}

TEST(keys_report_what_they_ask_for) {
	struct line line;
	line_init(&line, NULL);
	CHECK(feed(&line, "\004") == LINE_END);
	CHECK(feed(&line, "a\r") == LINE_ENTER && feed(&line, "\n") == LINE_ENTER);
	CHECK(feed(&line, "\t") == LINE_TAB && feed(&line, "\014") == LINE_CLEAR);
	CHECK(feed(&line, "\003") == LINE_CANCEL && feed(&line, "\033") == LINE_SAME);
	CHECK_STR(line_text(&line), "a");
	line_finish(&line);
}

TEST(pasted_text_is_inserted_as_it_is) {
	static const struct {
		const char *keys, *text;
	} cases[] = {
	    {PASTE "a\rb\r\nc\nd" PASTED "e", "a\nb\nc\nde"},
	    {PASTE "\ta\003\004b\177" PASTED, "\tab"},
	    {PASTE "a\033[31mb\033[20" PASTED "c", "a[31mb[20c"},
	    {PASTE "a\033" PASTED "b", "ab"},
	    {PASTE "\303" PASTED "b", "b"},
	    {PASTE "\303\244\342\202" PASTED "\303\266", "\303\244\303\266"},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct line line;
		line_init(&line, NULL);
		feed(&line, cases[i].keys);
		if (!CHECK_STR(line_text(&line), cases[i].text))
			tap_quote("keys: ", cases[i].keys);
		line_finish(&line);
	}
}

TEST(bytes_that_are_not_utf8_are_dropped) {
	struct line line;
	line_init(&line, NULL);
	feed(&line, "a\377b\303(\302\205\355\240\200c");
	CHECK_STR(line_text(&line), "ab(c");
	line_finish(&line);
}

TEST(the_text_has_a_maximum) {
	struct line line;
	line_init(&line, NULL);
	char *many = malloc(LINE_TEXT_MAX);
	memset(many, 'a', LINE_TEXT_MAX);
	CHECK(line_insert(&line, many, LINE_TEXT_MAX) && line.n == LINE_TEXT_MAX);
	CHECK(!line_insert(&line, "b", 1) && line.n == LINE_TEXT_MAX);
	CHECK(feed(&line, "b\177") == LINE_CHANGED && line.n == LINE_TEXT_MAX - 1);
	free(many);
	line_finish(&line);
}

TEST(any_bytes_keep_the_text_valid) {
	unsigned state = 1;
	for (int round = 0; round < 300; round++) {
		struct line line;
		struct line_view view = {0};
		const struct line_look look = {"> ", ". ", 17, 5};
		line_init(&line, NULL);
		for (int i = 0; i < 300; i++) {
			static const char likely[] = "\033[O~0123;ABCDHF\r\n\t\303\244 a";
			state = state * 1103515245 + 12345;
			unsigned char byte = state >> 20 & 1
						 ? (unsigned char)likely[(state >> 8) % (sizeof likely - 1)]
						 : (unsigned char)(state >> 12);
			line_feed(&line, byte);
			CHECK(line.cursor <= line.n && strlen(line_text(&line)) == line.n);
		}
		gb_auto_buf struct gb_buf out;
		gb_buf_init(&out, 1 << 20);
		line_view_paint(&view, &line, &look, &out);
		CHECK(!gb_buf_failed(&out) && view.row < view.rows && view.rows < look.rows);
		line_finish(&line);
	}
}

TEST(earlier_texts_are_found_and_the_draft_is_kept) {
	struct history history = {.fd = -1};
	struct line line;
	history_add(&history, "one");
	history_add(&history, "two\nlines");
	history_add(&history, "two\nlines");
	history_add(&history, "");
	CHECK_INT(history.n, 2);
	line_init(&line, &history);
	feed(&line, "draft" UP);
	CHECK_STR(line_text(&line), "two\nlines");
	feed(&line, UP);
	CHECK_STR(line_text(&line), "two\nlines"); /* the cursor went to its first line */
	feed(&line, UP UP UP);
	CHECK_STR(line_text(&line), "one");
	feed(&line, "!" DOWN DOWN DOWN DOWN DOWN);
	CHECK_STR(line_text(&line), "draft");
	line_finish(&line);
	history_close(&history);
}

/* --- the view --- */

static void check_view(const char *keys, const char *expected, unsigned columns, unsigned rows) {
	struct line line;
	struct line_view view = {0};
	const struct line_look look = {"> ", ". ", columns, rows};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 16);
	line_init(&line, NULL);
	feed(&line, keys);
	line_view_paint(&view, &line, &look, &out);
	CHECK_STR(gb_buf_c_str(&out), expected);
	line_finish(&line);
}

TEST(the_view_has_prompts_and_the_cursor) {
	check_view("ab", "\r\033[J> ab\r\033[4C", 20, 10);
	check_view("ab" LEFT, "\r\033[J> ab\r\033[3C", 20, 10);
	check_view("ab\033\rc" UP, "\r\033[J> ab\r\n. c\r\033[1A\033[3C", 20, 10);
	check_view("\346\227\245" LEFT, "\r\033[J> \346\227\245\r\033[2C", 20, 10);
	check_view("\346\227\245", "\r\033[J> \346\227\245\r\033[4C", 20, 10);
	check_view(PASTE "\ta" PASTED, "\r\033[J>       a\r\033[9C", 20, 10);
	check_view("0123456789abcdefgh", "\r\033[J> 0123456789abcdefg\r\nh\r\033[1C", 20, 10);
}

TEST(the_view_shows_no_control_or_misleading_characters) {
	check_view("a\342\200\256b", "\r\033[J> a<U+202E>b\r\033[12C", 40, 10);
}

TEST(a_long_text_shows_the_rows_around_the_cursor) {
	check_view(PASTE "a\nb\nc\nd" PASTED, "\r\033[J. c\r\n. d\r\033[3C", 20, 3);
	check_view(PASTE "a\nb\nc\nd" PASTED UP UP UP, "\r\033[J> a\r\n. b\r\033[1A\033[3C", 20, 3);
}

TEST(the_next_view_begins_where_the_former_did) {
	struct line line;
	struct line_view view = {0};
	const struct line_look look = {"> ", ". ", 20, 10};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 16);
	line_init(&line, NULL);
	feed(&line, "a\033\rb");
	line_view_paint(&view, &line, &look, &out);
	gb_buf_clear(&out);
	feed(&line, UP);
	line_view_paint(&view, &line, &look, &out);
	CHECK_STR(gb_buf_c_str(&out), "\r\033[1A\033[J> a\r\n. b\r\033[1A\033[3C");
	gb_buf_clear(&out);
	line_view_leave(&view, &out);
	CHECK_STR(gb_buf_c_str(&out), "\033[1B\r\n");
	line_finish(&line);
}

/* --- the file --- */

static char folder[] = "/tmp/gb-history-XXXXXX";
static char path[100];

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder))
		exit(1);
	snprintf(path, sizeof path, "%s/file", folder);
}

__attribute__((destructor)) static void tear_down(void) {
	unlink(path);
	rmdir(folder);
}

static bool reopen(struct history *history) {
	struct gb_err err = {0};
	*history = (struct history){.fd = -1};
	return CHECK(history_open(history, folder, "file", &err)) || (tap_quote("", err.message), false);
}

TEST(a_history_is_kept_in_a_file_of_the_user) {
	struct history history;
	struct stat st;
	umask(0);
	if (!reopen(&history))
		return;
	history_add(&history, "one\\n\ntwo\\");
	history_add(&history, "\303\244");
	history_close(&history);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	chmod(path, 0644);
	if (!reopen(&history) || !CHECK_INT(history.n, 2))
		return;
	CHECK_STR(history.entries[0], "one\\n\ntwo\\");
	CHECK_STR(history.entries[1], "\303\244");
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	history_close(&history);
	unlink(path);
}

TEST(a_history_has_a_maximum) {
	struct history history;
	char text[20];
	if (!reopen(&history))
		return;
	for (int i = 0; i < 2 * HISTORY_ENTRIES + 10; i++) {
		snprintf(text, sizeof text, "entry %d", i);
		history_add(&history, text);
	}
	CHECK_INT(history.n, HISTORY_ENTRIES);
	history_close(&history);
	struct stat before, after;
	CHECK(stat(path, &before) == 0 && reopen(&history) && stat(path, &after) == 0);
	CHECK(after.st_size < before.st_size);
	CHECK_INT(history.n, HISTORY_ENTRIES);
	snprintf(text, sizeof text, "entry %d", HISTORY_ENTRIES + 10);
	CHECK_STR(history.entries[0], text);
	history_close(&history);
	unlink(path);
}

TEST(a_file_that_is_none_or_has_any_bytes_is_survived) {
	struct history history = {.fd = -1};
	struct gb_err err = {0};
	FILE *file = fopen(path, "we");
	CHECK(file && fwrite("good\n\377\n\n\\\na\0b\nlast", 1, 18, file) == 18);
	if (file)
		fclose(file);
	if (reopen(&history) && CHECK_INT(history.n, 3)) {
		CHECK_STR(history.entries[0], "good");
		CHECK_STR(history.entries[1], "\\");
		CHECK_STR(history.entries[2], "last");
	}
	history_close(&history);
	unlink(path);
	CHECK(symlink("/etc/passwd", path) == 0 && !history_open(&history, folder, "file", &err));
	history_add(&history, "works");
	CHECK_INT(history.n, 1);
	history_close(&history);
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0 && !history_open(&history, folder, "file", &err));
	history_close(&history);
	unlink(path);
}
