#include "cli/listing.h"

#include <sys/ioctl.h>

#include "cli/glyph.h"
#include "cli/untrusted.h"

enum { DEFAULT_COLUMNS = 100, LEAST_COLUMNS = 30, TAB = 4, RUN = 4096 };

/* A run is text that was laid out and not yet printed: of one style, without a line end. */
struct state {
	const struct listing *listing;
	unsigned gutter, columns, column;
	enum style style;
	struct listing_seen seen;
	size_t n;
	char run[RUN];
};

static unsigned count_columns(const struct listing *listing) {
	struct winsize size;
	unsigned columns = listing->columns;
	if (!columns && ioctl(fileno(listing->to), TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (!columns)
		columns = DEFAULT_COLUMNS;
	return columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
}

static unsigned count_digits(struct gb_str text) {
	size_t lines = 1;
	unsigned digits = 1;
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	for (; lines >= 10; lines /= 10)
		digits++;
	return digits < 3 ? 3 : digits;
}

static void flush(struct state *s) {
	print_untrusted_styled(s->listing->to, s->style, s->run, s->n);
	s->n = 0;
}

static void begin_line(struct state *s) {
	FILE *to = s->listing->to;
	s->seen.lines++;
	if (s->listing->has_numbers)
		print_styled(to, DIM, "%*zu | ", (int)s->gutter - 3, s->seen.lines);
	else if (s->seen.lines > 1)
		fprintf(to, "%*s", (int)s->gutter, "");
	s->column = s->gutter;
}

/* Wrap: continue the same line below. */
static void break_line(struct state *s) {
	flush(s);
	fputc('\n', s->listing->to);
	if (s->listing->has_numbers)
		print_styled(s->listing->to, DIM, "%*s > ", (int)s->gutter - 3, "");
	else
		fprintf(s->listing->to, "%*s", (int)s->gutter, "");
	s->column = s->gutter;
}

static void set_style(struct state *s, enum style style) {
	if (s->style == style)
		return;
	flush(s);
	s->style = style;
}

static void put(struct state *s, enum style style, const char *text, unsigned width) {
	size_t n = strlen(text);
	if (s->column + width > s->columns)
		break_line(s);
	if (s->n + n > sizeof s->run)
		flush(s);
	set_style(s, style);
	memcpy(s->run + s->n, text, n);
	s->n += n;
	s->column += width;
}

static void note(struct state *s, const struct glyph *glyph) {
	if (glyph->is_number && s->seen.deceptive++ == 0)
		s->seen.first_deceptive = s->seen.lines;
	if (!glyph->is_number && glyph->is_non_ascii && s->seen.non_ascii++ == 0)
		s->seen.first_non_ascii = s->seen.lines;
}

/* Returns how many bytes it took. */
static size_t put_one(struct state *s, enum style style, const char *at, size_t n) {
	if (*at == '\n') {
		flush(s);
		fputc('\n', s->listing->to);
		begin_line(s);
		return 1;
	}
	if (*at == '\t') {
		put(s, style, "    ", TAB);
		return 1;
	}
	struct glyph glyph = glyph_first(at, n);
	note(s, &glyph);
	put(s, glyph.is_number ? RED : style, glyph.text, glyph.width);
	return glyph.bytes;
}

void print_listing(const struct listing *listing, struct gb_str text, struct listing_seen *ret_seen) {
	static const enum style styles[] = {[TOKEN_PLAIN] = PLAIN,
	    [TOKEN_COMMENT] = GREEN,
	    [TOKEN_STRING] = YELLOW,
	    [TOKEN_KEYWORD] = BOLD,
	    [TOKEN_NUMBER] = CYAN};
	struct state s = {.listing = listing, .columns = count_columns(listing)};
	struct highlight highlight = {.code = text, .syntax = listing->syntax};
	s.gutter = listing->has_numbers ? count_digits(text) + 3 : listing->indent;
	/* A line feed at the end of the text does not begin another line. */
	size_t n = text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n, token_end = 0;
	enum token token = TOKEN_PLAIN;
	begin_line(&s);
	for (size_t at = 0; at < n;) {
		while (token_end <= at)
			token = highlight_next(&highlight, &token_end);
		at += put_one(&s, styles[token], text.p + at, text.n - at);
	}
	flush(&s);
	fputc('\n', listing->to);
	if (ret_seen)
		*ret_seen = s.seen;
}
