/* Passwords in the cells of tables: Markdown, the rows of SQL, and values separated by commas. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum {
	LINE_BEFORE_MAX = 80, /* bytes of a line before the name that are looked at */
	TABLE_MAX = 300,
	TABLE_ROWS_MAX = 600, /* from the heading to the last row that is looked at */
	TABLE_ROWS = 12,
	CELLS = 3,
	VALUES_MAX = 140,
	CELL_MAX = 40,
	REMARK_MAX = 110, /* a cell that describes a setting */
	NUMBER_MIN = 6,
	HEADER_MAX = 60,
	ROW_MAX = 100,
	LINE_REST = 80,
	TABLE_REST = 160,
	ROWS_MAX = 160 /* from the heading to the last row that is looked at */
};

static const uint8_t *end_of_line(struct gb_named *text, const uint8_t *p, const uint8_t *end) {
	for (int c; p < end; p++)
		if ((c = gb_named_at(text, p)) < 0 || c == '\n')
			return c < 0 ? NULL : p + 1;
	return NULL;
}

/* The next bar of the same row, or NULL. */
static const uint8_t *next_cell(struct gb_named *text, const uint8_t *p) {
	const uint8_t *end = p + REMARK_MAX;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != '\r'; p++)
		if (c == '|')
			return gb_named_at(text, p + 1) == ' ' ? p : NULL;
	return NULL;
}

static bool ends_cell(struct gb_named *text, const uint8_t *p) {
	int c = gb_named_at(text, gb_prose_skip_marks(text, gb_prose_skip_marks(text, p, "`*\"'"), " "));
	return c < 0 || strchr("|\n\r(", c);
}

/* Between descriptions a value is known by digits or signs, with letters. */
static bool has_value(const uint8_t *from, const uint8_t *to) {
	return gb_prose_has_letter(from, to) && gb_prose_has_no_word(from, to);
}

/* | username | password |, a line of which no cell has two words: in Gherkin the rows follow at once. @p is at the
 * beginning of the line. */
static bool is_heading_of_users(struct gb_named *text, const uint8_t *p) {
	static const char *const users[] = {"user", "login", "email", "name", "e-mail", "account"};
	const uint8_t *end = p + LINE_BEFORE_MAX;
	bool known = false;
	p = gb_named_skip_blanks(text, p, false);
	if (gb_named_at(text, p) != '|')
		return false;
	while (p < end && gb_named_at(text, p) == '|') {
		p = gb_named_skip_blanks(text, p + 1, false);
		for (size_t i = 0; i < GB_COUNT(users); i++)
			known |= gb_named_is_at(text, p, users[i]);
		for (int c;
		     p < end && ((c = gb_named_at(text, p)) >= 0x80 || isalnum(c) || c == '_' || c == '-');)
			p++;
		p = gb_named_skip_blanks(text, p, false);
	}
	int c = gb_named_at(text, p);
	return known && (c < 0 || c == '\n' || c == '\r') && !text->cut;
}

/* The first row below the headings, of which @heading is one. */
static const uint8_t *first_row(struct gb_named *text, const uint8_t *heading, const uint8_t *p) {
	const uint8_t *end = p + TABLE_MAX;
	text->separator = '|';
	text->column = 0;
	for (; heading > text->start && heading[-1] != '\n' && p - heading < LINE_BEFORE_MAX; heading--)
		text->column += heading[-1] == '|';
	if (heading > text->start && heading[-1] != '\n')
		return NULL;
	/* The line below the headings consists of these. */
	const uint8_t *line = end_of_line(text, p, end);
	int c = line ? gb_named_at(text, gb_prose_skip_marks(text, line, " |+:")) : -1;
	if (c == '-' || c == '=')
		return end_of_line(text, line, end);
	return line && !text->cut && is_heading_of_users(text, heading) ? line : NULL;
}

/* The cell of the row that is below the heading, or NULL. */
static const uint8_t *cell_of(struct gb_named *text, const uint8_t *row) {
	const uint8_t *end = row + ROW_MAX;
	int left = text->column, c;
	for (; left && row < end; row++) {
		if ((c = gb_named_at(text, row)) < 0 || c == '\n')
			return NULL;
		left -= c == '|';
	}
	return row < end ? gb_prose_skip_marks(text, row, " ") : NULL;
}

static bool has_rows(struct gb_named *text, const uint8_t *heading, const uint8_t *p) {
	const uint8_t *row = first_row(text, heading, p);
	return row && cell_of(text, row);
}

/* A word below the heading is the password, unless it says something about one. */
static bool is_below_heading(struct gb_named *text, const uint8_t *cell) {
	struct gb_place place = {.tail = GB_RX_PASSWORD,
	    .joint = GB_JOINT_PROSE,
	    .stated = true,
	    .known = true,
	    .qualified = true};
	text->from = cell < text->end ? cell : text->end;
	text->goes_on = false;
	return gb_guess_value(text, &place, gb_prose_opening(text, cell, &place)) && !text->cut &&
	       !gb_shape_is_remark(text->from, (size_t)(text->to - text->from));
}

/* In one of the rows from @row on. */
static bool find_in_rows(struct gb_named *text, const uint8_t *row, const uint8_t *heading) {
	for (unsigned i = 0; row && i < TABLE_ROWS && row - heading < TABLE_ROWS_MAX; i++) {
		const uint8_t *cell = cell_of(text, row);
		text->resume = NULL;
		if (!cell)
			return false;
		if (is_below_heading(text, cell)) {
			text->resume = text->goes_on ? NULL : text->to;
			return true;
		}
		if (text->cut)
			return false;
		text->from = text->end;
		row = end_of_line(text, cell, cell + TABLE_REST);
	}
	return false;
}

static bool find_in_column(struct gb_named *text, const uint8_t *heading, const uint8_t *p) {
	return find_in_rows(text, first_row(text, heading, p), heading);
}

bool gb_table_find_below(struct gb_named *text, const struct gb_name *name, const uint8_t *p) {
	text->from = text->end;
	return find_in_column(text, name->from, p);
}

/* In one of the next cells, or in the first row below. @bar is behind the name. */
bool gb_table_guess(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *bar) {
	const uint8_t *cell = gb_named_skip_blanks(text, bar + 1, false), *next = bar;
	text->from = cell < text->end ? cell : text->end;
	if (gb_guess_value(text, place, gb_prose_opening(text, cell, place)) && ends_cell(text, text->to)) {
		/* A word may be the next heading, with a row below. */
		if (has_value(text->from, text->to) || text->goes_on)
			return true;
		if (!has_rows(text, name->from, bar))
			return !text->cut;
	}
	place->joint = GB_JOINT_PROSE;
	place->stated = true;
	place->sure = false;
	for (unsigned i = 0; !text->cut && i < CELLS && (next = next_cell(text, next + 1)) != NULL; i++) {
		text->goes_on = false;
		cell = gb_named_skip_blanks(text, next + 1, false);
		text->from = cell < text->end ? cell : text->end;
		if (gb_guess_value(text, place, gb_prose_opening(text, cell, place)) &&
		    (has_value(text->from, text->to) || (place->capital && text->from[-1] == '`')))
			return !text->cut;
	}
	if (text->cut)
		return false;
	text->from = text->end;
	text->goes_on = false;
	return place->tail == GB_RX_PASSWORD && find_in_column(text, name->from, bar);
}

/* INSERT INTO users (name, password) VALUES ('bob', 'x'); @p is behind the column's name. */
const uint8_t *gb_values_cell(struct gb_named *text, const uint8_t *column, const uint8_t *p) {
	const uint8_t *end = p + VALUES_MAX, *at = column;
	int skip = 0;
	int c;
	for (; at > text->start && at[-1] != '(' && p - at < LINE_BEFORE_MAX && at[-1] != '\n'; at--)
		skip += at[-1] == ',';
	if (at == text->start || at[-1] != '(')
		return NULL;
	while (p < end && (c = gb_named_at(text, p)) >= 0 && (isalnum(c) || strchr("_`, ", c)))
		p++;
	if (gb_named_at(text, p) != ')')
		return NULL;
	p = gb_named_skip_blanks(text, p + 1, true);
	if (!gb_named_is_at(text, p, "values"))
		return NULL;
	p = gb_named_skip_blanks(text, p + 6, true);
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

static bool is_quote(int c) {
	return c == '"' || c == '\'';
}

/* Behind the comma number @skip, or the bracket that closes the row if @skip is negative; NULL if there is none. */
static const uint8_t *skip_values(struct gb_named *text, const uint8_t *p, int skip) {
	const uint8_t *end = p + VALUES_MAX;
	int quote = 0, c;
	for (; skip && p < end; p++) {
		if ((c = gb_named_at(text, p)) < 0)
			return NULL;
		if (is_quote(c) && (!quote || quote == c))
			quote = quote ? 0 : c;
		if (!quote && c == ')')
			return skip < 0 ? p + 1 : NULL;
		skip -= !quote && c == ',' && skip > 0;
	}
	return p < end ? p : NULL;
}

bool gb_values_found(struct gb_named *text, const uint8_t *column) {
	text->resume = text->goes_on ? NULL : text->to + 1;
	text->separator = '(';
	text->column = 0;
	for (const uint8_t *at = column; at > text->start && at[-1] != '(' && column - at < LINE_BEFORE_MAX;
	     at--)
		text->column += at[-1] == ',';
	return true;
}

/* ..., 'x'), ('eve', 'y'): the same value of the next row; @p is behind the value that was found. */
static bool values_next(struct gb_named *text, const uint8_t *p, const uint8_t *name) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_EQUALS};
	text->from = text->end;
	p = p - name < TABLE_ROWS_MAX ? skip_values(text, p, -1) : NULL;
	if (!p || gb_named_at(text, p) != ',')
		return false;
	p = gb_named_skip_blanks(text, p + 1, true);
	if (gb_named_at(text, p) != '(')
		return false;
	p = skip_values(text, p + 1, text->column);
	p = p ? gb_prose_skip_marks(text, p, " ") : NULL;
	if (!p || !is_quote(gb_named_at(text, p)) || !gb_guess_value(text, &place, p))
		return false;
	text->resume = text->goes_on ? NULL : text->to + 1;
	return true;
}

/* --- users and their passwords --- */

/* Behind a text in quotes that has no blanks, or NULL; [*ret_from, *ret_to) is the text. */
static const uint8_t *quoted_word(
    struct gb_named *text, const uint8_t *p, const uint8_t **ret_from, const uint8_t **ret_to) {
	int quote = gb_named_at(text, p), c;
	*ret_from = ++p;
	if (!is_quote(quote))
		return NULL;
	while (p - *ret_from < CELL_MAX && (c = gb_named_at(text, p)) > ' ' && c != quote)
		p++;
	*ret_to = p;
	int c_end = gb_named_at(text, p);
	return c_end == quote ? p + 1 : c_end < 0 && !text->cut ? p : NULL;
}

/* Behind "= map[string]string{" or the like, or NULL; @p is behind the first byte that follows the name. */
static const uint8_t *open_users(struct gb_named *text, const uint8_t *p) {
	static const char map[] = "map[string]string";
	int c = gb_named_at(text, p);
	if (c < 0 || (!strchr(" :={m", c)))
		return NULL;
	p = gb_prose_skip_marks(text, p, " :=");
	p += gb_named_is_at(text, p, map) ? sizeof map - 1 : 0;
	return gb_named_at(text, p) == '{' ? p + 1 : NULL;
}

/* "bob": "x", "eve": "y"; @p is before one of the users. */
static bool find_among_users(struct gb_named *text, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_LIST};
	const uint8_t *user, *end;
	text->from = text->end;
	for (unsigned i = 0; i < TABLE_ROWS; i++) {
		p = gb_prose_skip_marks(text, gb_named_skip_blanks(text, p, true), ",");
		p = quoted_word(text, gb_named_skip_blanks(text, p, true), &user, &end);
		if (!p)
			return false;
		bool known = gb_prose_is_user(user, end);
		p = gb_prose_skip_marks(text, p, " :=>");
		text->from = p + 1 < text->end ? p + 1 : text->end;
		p = quoted_word(text, p, &text->from, &text->to);
		if (!p || text->cut)
			return false;
		text->resume = p;
		text->separator = '{';
		if (known ? gb_guess_is_password(text->from, text->to)
			  : gb_guess_is_secret(&place, text->from, text->to, true, '"'))
			return true;
		text->from = text->end;
	}
	return false;
}

/* users = {"bob": "x"} */
bool gb_users_find(struct gb_named *text, const uint8_t *p) {
	text->from = text->end;
	p = open_users(text, p);
	return p && find_among_users(text, p);
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

static bool csv_next(struct gb_named *text, const struct gb_named *found, const uint8_t *name) {
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

bool gb_cells_next(struct gb_named *text, const struct gb_named *found, const uint8_t *name) {
	text->separator = found->separator;
	text->column = found->column;
	if (text->separator == '(')
		return values_next(text, found->resume, name);
	if (text->separator == '{')
		return find_among_users(text, found->resume);
	if (text->separator != '|')
		return csv_next(text, found, name);
	return find_in_rows(text, end_of_line(text, found->resume, found->resume + TABLE_REST), name);
}
