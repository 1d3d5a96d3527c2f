#include "cli/line.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "value/wtf8.h"

enum {
	CTRL_A = 1,
	CTRL_B,
	CTRL_C,
	CTRL_D,
	CTRL_E,
	CTRL_F,
	CTRL_H = 8,
	TAB,
	NEWLINE,
	CTRL_K,
	CTRL_L,
	RETURN,
	CTRL_N,
	CTRL_P = 16,
	CTRL_T = 20,
	CTRL_U,
	CTRL_W = 23,
	CTRL_Y = 25,
	ESCAPE = 27,
	DELETE = 127,
};

void line_init(struct line *line, const struct history *history) {
	*line = (struct line){.history = history, .at = history ? history->n : 0};
}

void line_finish(struct line *line) {
	free(line->text);
	free(line->killed);
	free(line->draft);
	*line = (struct line){0};
}

const char *line_text(const struct line *line) {
	return line->text ? line->text : "";
}

/* --- the text --- */

static bool make_room(struct line *line, size_t n) {
	if (n > LINE_TEXT_MAX - line->n)
		return false;
	if (line->n + n < line->room)
		return true;
	size_t room = 2 * (line->n + n) + 64;
	char *text = realloc(line->text, room);
	if (!text)
		return false;
	line->text = text;
	line->room = room;
	return true;
}

static bool insert_bytes(struct line *line, const char *bytes, size_t n) {
	if (!make_room(line, n))
		return false;
	memmove(line->text + line->cursor + n, line->text + line->cursor, line->n - line->cursor);
	memcpy(line->text + line->cursor, bytes, n);
	line->n += n;
	line->cursor += n;
	line->text[line->n] = '\0';
	return true;
}

static bool is_text(uint32_t code) {
	return code == '\n' || code == '\t' ||
	       (code >= ' ' && code != 0x7f && !(code >= 0x80 && code < 0xa0) &&
		   !(code >= 0xd800 && code < 0xe000));
}

bool line_insert(struct line *line, const char *text, size_t n) {
	for (size_t at = 0; at < n;) {
		uint32_t code = 0;
		size_t length = gb_wtf8_next(text + at, n - at, &code);
		if (length && is_text(code) && !insert_bytes(line, text + at, length))
			return false;
		at += length ? length : 1;
	}
	return true;
}

static void remove_range(struct line *line, size_t from, size_t to) {
	if (from >= to)
		return;
	memmove(line->text + from, line->text + to, line->n - to);
	line->n -= to - from;
	line->cursor = from;
	line->text[line->n] = '\0';
}

static void kill_range(struct line *line, size_t from, size_t to) {
	if (from >= to)
		return;
	free(line->killed);
	line->killed = strndup(line->text + from, to - from);
	remove_range(line, from, to);
}

static bool set_text(struct line *line, const char *text) {
	line->n = line->cursor = 0;
	return line_insert(line, text, strlen(text));
}

/* --- positions --- */

static bool continues(const struct line *line, size_t at) {
	return at < line->n && ((unsigned char)line->text[at] & 0xc0) == 0x80;
}

static size_t before(const struct line *line, size_t at) {
	if (at > 0)
		at--;
	while (at > 0 && continues(line, at))
		at--;
	return at;
}

static size_t after(const struct line *line, size_t at) {
	if (at < line->n)
		at++;
	while (continues(line, at))
		at++;
	return at;
}

static bool is_word_byte(const struct line *line, size_t at) {
	unsigned char c = (unsigned char)line->text[at];
	return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

static size_t word_before(const struct line *line, size_t at) {
	while (at > 0 && !is_word_byte(line, at - 1))
		at--;
	while (at > 0 && is_word_byte(line, at - 1))
		at--;
	return at;
}

static size_t word_after(const struct line *line, size_t at) {
	while (at < line->n && !is_word_byte(line, at))
		at++;
	while (at < line->n && is_word_byte(line, at))
		at++;
	return at;
}

static size_t blank_before(const struct line *line, size_t at) {
	while (at > 0 && strchr(" \t\n", line->text[at - 1]))
		at--;
	while (at > 0 && !strchr(" \t\n", line->text[at - 1]))
		at--;
	return at;
}

static size_t row_begin(const struct line *line, size_t at) {
	while (at > 0 && line->text[at - 1] != '\n')
		at--;
	return at;
}

static size_t row_end(const struct line *line, size_t at) {
	while (at < line->n && line->text[at] != '\n')
		at++;
	return at;
}

/* The position in the row that begins at @row, as many characters from its begin as @at is from that of its own. */
static size_t same_column(const struct line *line, size_t row, size_t at) {
	size_t end = row_end(line, row);
	for (size_t from = row_begin(line, at); from < at && row < end; from = after(line, from))
		row = after(line, row);
	return row;
}

/* --- history --- */

static void show_entry(struct line *line, size_t at) {
	if (line->at == line->history->n) {
		free(line->draft);
		line->draft = strdup(line_text(line));
	}
	bool is_new = at == line->history->n;
	line->at = at;
	set_text(line, is_new ? (line->draft ? line->draft : "") : line->history->entries[at]);
}

static void go_up(struct line *line) {
	size_t row = row_begin(line, line->cursor);
	if (row > 0)
		line->cursor = same_column(line, row_begin(line, row - 1), line->cursor);
	else if (line->history && line->at > 0)
		show_entry(line, line->at - 1);
}

static void go_down(struct line *line) {
	size_t end = row_end(line, line->cursor);
	if (end < line->n)
		line->cursor = same_column(line, end + 1, line->cursor);
	else if (line->history && line->at < line->history->n)
		show_entry(line, line->at + 1);
}

/* --- keys --- */

/* Exchange the characters before and after the cursor. */
static void transpose(struct line *line) {
	size_t right = line->cursor == line->n ? before(line, line->cursor) : line->cursor;
	size_t left = before(line, right), end = after(line, right);
	char swapped[8];
	if (left == right || end - left > sizeof swapped)
		return;
	memcpy(swapped, line->text + right, end - right);
	memcpy(swapped + (end - right), line->text + left, right - left);
	memcpy(line->text + left, swapped, end - left);
	line->cursor = end;
}

static enum line_event control(struct line *line, unsigned char key) {
	size_t at = line->cursor;
	switch (key) {
	case CTRL_A:
		line->cursor = row_begin(line, at);
		break;
	case CTRL_B:
		line->cursor = before(line, at);
		break;
	case CTRL_C:
		return LINE_CANCEL;
	case CTRL_D:
		if (line->n == 0)
			return LINE_END;
		remove_range(line, at, after(line, at));
		break;
	case CTRL_E:
		line->cursor = row_end(line, at);
		break;
	case CTRL_F:
		line->cursor = after(line, at);
		break;
	case CTRL_H:
	case DELETE:
		remove_range(line, before(line, at), at);
		break;
	case TAB:
		return LINE_TAB;
	case NEWLINE:
	case RETURN:
		return LINE_ENTER;
	case CTRL_K:
		kill_range(line, at, row_end(line, at) == at ? after(line, at) : row_end(line, at));
		break;
	case CTRL_L:
		return LINE_CLEAR;
	case CTRL_N:
		go_down(line);
		break;
	case CTRL_P:
		go_up(line);
		break;
	case CTRL_T:
		transpose(line);
		break;
	case CTRL_U:
		kill_range(line, row_begin(line, at), at);
		break;
	case CTRL_W:
		kill_range(line, blank_before(line, at), at);
		break;
	case CTRL_Y:
		if (line->killed)
			line_insert(line, line->killed, strlen(line->killed));
		break;
	default:
		return LINE_SAME;
	}
	return LINE_CHANGED;
}

/* A key whose sequence is ESC and one character. */
static enum line_event meta(struct line *line, unsigned char key) {
	size_t at = line->cursor;
	switch (key) {
	case 'b':
		line->cursor = word_before(line, at);
		break;
	case 'f':
		line->cursor = word_after(line, at);
		break;
	case 'd':
		kill_range(line, at, word_after(line, at));
		break;
	case CTRL_H:
	case DELETE:
		kill_range(line, word_before(line, at), at);
		break;
	case RETURN:
	case NEWLINE:
		insert_bytes(line, "\n", 1);
		break;
	default:
		return LINE_SAME;
	}
	return LINE_CHANGED;
}

/* The keys whose sequences are "ESC [ parameters final" or "ESC O final". */
static enum line_event special(struct line *line, const char *parameters, char final) {
	static const struct {
		const char *parameters; /* NULL: any */
		char final;
		unsigned char key;
		bool is_meta;
	} keys[] = {
	    {"1;5", 'C', 'f', true},
	    {"1;3", 'C', 'f', true},
	    {"1;5", 'D', 'b', true},
	    {"1;3", 'D', 'b', true},
	    {NULL, 'A', CTRL_P, false},
	    {NULL, 'B', CTRL_N, false},
	    {NULL, 'C', CTRL_F, false},
	    {NULL, 'D', CTRL_B, false},
	    {NULL, 'H', CTRL_A, false},
	    {NULL, 'F', CTRL_E, false},
	    {"1", '~', CTRL_A, false},
	    {"7", '~', CTRL_A, false},
	    {"4", '~', CTRL_E, false},
	    {"8", '~', CTRL_E, false},
	};
	if (final == '~' && strcmp(parameters, "200") == 0)
		line->pastes = true;
	if (final == '~' && strcmp(parameters, "3") == 0)
		remove_range(line, line->cursor, after(line, line->cursor));
	for (size_t i = 0; i < GB_COUNT(keys); i++)
		if (keys[i].final == final &&
		    (!keys[i].parameters || strcmp(keys[i].parameters, parameters) == 0))
			return keys[i].is_meta ? meta(line, keys[i].key) : control(line, keys[i].key);
	return LINE_CHANGED;
}

/* --- bytes --- */

/* The sequence begins with ESC. It ends with a byte from '@' to '~', as in ECMA-48. */
static enum line_event escape(struct line *line) {
	char *sequence = line->sequence;
	size_t n = line->n_sequence;
	unsigned char last = (unsigned char)sequence[n - 1];
	if (n == 1 || (n == 2 && (last == '[' || last == 'O')))
		return LINE_SAME;
	bool ends = n == 2 || (last >= '@' && last <= '~');
	if (!ends) {
		/* A longer sequence is none that has an effect; its end counts. */
		line->n_sequence -= n == sizeof line->sequence;
		return LINE_SAME;
	}
	line->n_sequence = 0;
	if (n == 2)
		return meta(line, last);
	sequence[n - 1] = '\0';
	return special(line, sequence + 2, (char)last);
}

static enum line_event character(struct line *line) {
	size_t n = line->n_sequence;
	if (gb_wtf8_is_cut(line->sequence, n))
		return LINE_SAME;
	line->n_sequence = 0;
	line_insert(line, line->sequence, n);
	return LINE_CHANGED;
}

static enum line_event paste(struct line *line, unsigned char byte) {
	static const char end[] = "\033[201~";
	if (line->n_sequence && line->sequence[0] != ESCAPE && (byte & 0xc0) != 0x80)
		line->n_sequence = 0;
	/* The bytes of the end are kept until it is complete, or they turn out to be text. */
	if (line->n_sequence || byte == ESCAPE) {
		line->sequence[line->n_sequence++] = (char)byte;
		if (memcmp(line->sequence, end, line->n_sequence) == 0) {
			line->pastes = line->n_sequence < sizeof end - 1;
			line->n_sequence = line->pastes ? line->n_sequence : 0;
			return line->pastes ? LINE_SAME : LINE_CHANGED;
		}
		if (line->sequence[0] == ESCAPE) {
			size_t n = line->n_sequence;
			char held[LINE_SEQUENCE_MAX];
			memcpy(held, line->sequence, n);
			line->n_sequence = 0;
			for (size_t i = 1; i < n; i++)
				paste(line, (unsigned char)held[i]);
			return LINE_SAME;
		}
		return character(line);
	}
	if (byte == RETURN || (byte == NEWLINE && !line->after_return))
		insert_bytes(line, "\n", 1);
	line->after_return = byte == RETURN;
	if (byte == RETURN || byte == NEWLINE)
		return LINE_SAME;
	line->sequence[line->n_sequence++] = (char)byte;
	return character(line);
}

enum line_event line_feed(struct line *line, unsigned char byte) {
	if (line->pastes)
		return paste(line, byte);
	bool in_escape = line->n_sequence && line->sequence[0] == ESCAPE;
	/* A byte that does not continue the character begins another one. */
	if (line->n_sequence && !in_escape && (byte & 0xc0) != 0x80)
		line->n_sequence = 0;
	if (in_escape || byte == ESCAPE) {
		/* A second ESC begins again: the first was the key itself. */
		line->n_sequence = byte == ESCAPE ? 0 : line->n_sequence;
		line->sequence[line->n_sequence++] = (char)byte;
		return escape(line);
	}
	if (byte < ' ' || byte == DELETE)
		return control(line, byte);
	line->sequence[line->n_sequence++] = (char)byte;
	return character(line);
}
