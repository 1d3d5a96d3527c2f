/* Passwords in the cells of tables: Markdown, the rows of SQL, and values separated by commas. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum {
	LINE_BEFORE_MAX = 80, /* bytes of a line before the name that are looked at */
	TABLE_MAX = 140,
	CELL_MAX = 40,
	NUMBER_MIN = 6,
	HEADER_MAX = 60,
	ROW_MAX = 100,
	LINE_REST = 80,
	ROWS_MAX = 160 /* from the heading to the last row that is looked at */
};

static const uint8_t *end_of_line(struct gb_named *text, const uint8_t *p, const uint8_t *end) {
	for (int c; p < end; p++)
		if ((c = gb_named_at(text, p)) < 0 || c == '\n')
			return c < 0 ? NULL : p + 1;
	return NULL;
}

/* The next bar of the same row, or NULL. */
const uint8_t *gb_table_next(struct gb_named *text, const uint8_t *p) {
	const uint8_t *end = p + CELL_MAX;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != '\r'; p++)
		if (c == '|')
			return gb_named_at(text, p + 1) == ' ' ? p : NULL;
	return NULL;
}

bool gb_table_ends(struct gb_named *text, const uint8_t *p) {
	int c = gb_named_at(text, gb_prose_skip_marks(text, gb_prose_skip_marks(text, p, "`*\"'"), " "));
	return c < 0 || strchr("|\n\r(", c);
}

/* Between descriptions a value is known by digits or signs, with letters. */
bool gb_table_has_value(const uint8_t *from, const uint8_t *to) {
	return gb_prose_has_letter(from, to) && gb_prose_has_no_word(from, to);
}

const uint8_t *gb_table_cell(struct gb_named *text, const uint8_t *heading, const uint8_t *p) {
	const uint8_t *end = p + TABLE_MAX;
	unsigned column = 0;
	for (; heading > text->start && heading[-1] != '\n' && p - heading < LINE_BEFORE_MAX; heading--)
		column += heading[-1] == '|';
	if (heading > text->start && heading[-1] != '\n')
		return NULL;
	/* The line below the headings consists of these. */
	const uint8_t *line = end_of_line(text, p, end);
	int c = line ? gb_named_at(text, gb_prose_skip_marks(text, line, " |+:")) : -1;
	if (c != '-' && c != '=')
		return NULL;
	const uint8_t *row = end_of_line(text, line, end);
	for (; row && column && row < end; row++) {
		if ((c = gb_named_at(text, row)) < 0 || c == '\n')
			return NULL;
		column -= c == '|';
	}
	return row && row < end ? gb_prose_skip_marks(text, row, " ") : NULL;
}

/* INSERT INTO users (name, password) VALUES ('bob', 'x'); @p is behind the column's name. */
const uint8_t *gb_values_cell(struct gb_named *text, const uint8_t *column, const uint8_t *p) {
	static const char values[] = " values";
	const uint8_t *end = p + TABLE_MAX, *at = column;
	unsigned skip = 0;
	int c;
	for (; at > text->start && at[-1] != '(' && p - at < LINE_BEFORE_MAX && at[-1] != '\n'; at--)
		skip += at[-1] == ',';
	if (at == text->start || at[-1] != '(')
		return NULL;
	while (p < end && (c = gb_named_at(text, p)) >= 0 && (isalnum(c) || strchr("_`, ", c)))
		p++;
	if (gb_named_at(text, p) != ')')
		return NULL;
	for (size_t i = 0; values[i]; i++)
		if ((c = gb_named_at(text, ++p)) < 0 || tolower(c) != values[i])
			return NULL;
	p = gb_prose_skip_marks(text, p + 1, " ");
	if (gb_named_at(text, p) != '(')
		return NULL;
	for (p++; skip && p < end; p++) {
		if ((c = gb_named_at(text, p)) < 0 || c == ')' || c == '\n')
			return NULL;
		skip -= c == ',';
	}
	p = gb_prose_skip_marks(text, p, " ");
	return gb_named_at(text, p) == '\'' || gb_named_at(text, p) == '"' ? p : NULL;
}

/* --- values separated by commas --- */

static bool is_heading(int c) {
	return isalnum(c) || c == '_' || c == '"' || c == '-';
}

/* The columns before @column, all of which are headings; -1 if the line has anything else. */
static int columns_before(const struct gb_named *text, const uint8_t *column, int separator) {
	const uint8_t *p = column;
	int columns = 0;
	for (; p > text->start && p[-1] != '\n' && column - p < LINE_BEFORE_MAX; p--) {
		if (p[-1] != separator && !is_heading(p[-1]) && p[-1] != ' ')
			return -1;
		/* "user, password" is prose more often. */
		if (p[-1] == ' ' && p - 1 > text->start && p[-2] == separator)
			return -1;
		columns += p[-1] == separator;
	}
	return p == text->start || p[-1] == '\n' ? columns : -1;
}

/* Behind the line break of the headings that go on at @p, or NULL. */
static const uint8_t *headings_end(struct gb_named *text, const uint8_t *p, int separator) {
	const uint8_t *end = p + HEADER_MAX;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0; p++) {
		if (c == '\n')
			return p + 1;
		if (c != separator && c != '\r' && !is_heading(c) && (c != ' ' || p[-1] == separator))
			return NULL;
	}
	return NULL;
}

/* A cell ends at the separator; a short number could be anything. */
static bool is_secret_cell(struct gb_named *text, const uint8_t *cell) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_EQUALS, .sure = true};
	int quote = gb_named_at(text, cell) == '"' ? '"' : 0, c;
	cell += quote != 0;
	const uint8_t *p = cell;
	text->from = cell < text->end ? cell : text->end;
	for (; p - cell < CELL_MAX && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != '\r'; p++)
		if (c == (quote ? quote : text->separator))
			break;
	text->to = text->resume = p;
	size_t n = (size_t)(p - cell);
	return !text->cut && n && n < CELL_MAX && !memchr(cell, ' ', n) && !memchr(cell, '(', n) &&
	       (gb_prose_has_letter(cell, p) || n >= NUMBER_MIN) &&
	       gb_guess_is_secret(&place, cell, p, true, ',');
}

/* In the row that begins at @row. */
static bool find_in_row(struct gb_named *text, const uint8_t *row) {
	const uint8_t *end = row + ROW_MAX;
	int left = text->column;
	text->from = row < text->end ? row : text->end;
	for (int c, quoted = 0; left && row < end; row++) {
		if ((c = gb_named_at(text, row)) < 0 || c == '\n')
			return false;
		if (c == '"')
			quoted = !quoted;
		left -= !quoted && c == text->separator;
	}
	return row < end && is_secret_cell(text, row);
}

bool gb_csv_find(struct gb_named *text, const uint8_t *column, const uint8_t *p) {
	int c = gb_named_at(text, p), before = column > text->start ? column[-1] : -1;
	if (before == '"' && column - 1 > text->start)
		before = column[-2];
	text->separator = c == ',' || c == ';' || c == '\t' ? c : before;
	if (text->separator != ',' && text->separator != ';' && text->separator != '\t')
		return false;
	text->column = columns_before(text, column, text->separator);
	const uint8_t *row = text->column < 0 ? NULL : headings_end(text, p, text->separator);
	return row && (text->column || c == text->separator) && find_in_row(text, row);
}

bool gb_csv_next(struct gb_named *text, const struct gb_named *found, const uint8_t *name) {
	const uint8_t *end = found->resume + LINE_REST, *p = found->resume;
	text->separator = found->separator;
	text->column = found->column;
	if (found->resume - name > ROWS_MAX)
		return false;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0; p++)
		if (c == '\n')
			return find_in_row(text, p + 1);
	return false;
}
