/* Edits, their application to the source, and the position map. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ts/parser.h"
#include "ts/span.h"

/* A mapping for one line of the erased text: from @column up to the next shift of the line, column @column +
 * n is column @source_column + n of the source. All columns of inserted text map to @source_column. */
struct gb_ts_shift {
	uint32_t line, column; /* in the erased text */
	uint32_t source_column;
	bool inserted;
};

/* --- recording --- */

static struct ts_edit *add(struct ts_parser *p, uint8_t kind, uint32_t start, uint32_t end) {
	struct ts_edit *edit = ADD(p, edits);
	*edit = (struct ts_edit){.start = start, .end = end, .order = p->edits.n, .kind = kind};
	return edit;
}

uint32_t gb_ts_blank(struct ts_parser *p, uint32_t start, uint32_t end) {
	if (start >= end || p->failed)
		return TS_NONE;
	add(p, EDIT_BLANK, start, end);
	return p->last_blank = p->edits.n - 1;
}

void gb_ts_overlay(struct ts_parser *p, uint32_t index, const char *text) {
	if (index >= p->edits.n)
		return;
	struct ts_edit *edit = &p->edits.items[index];
	edit->text = (uint32_t)p->text.len;
	edit->length = (uint32_t)strlen(text);
	gb_buf_append(&p->text, text, edit->length);
}

void gb_ts_blank_token(struct ts_parser *p) {
	gb_ts_blank(p, p->token.start, p->token.end);
	gb_ts_next(p);
}

/* Only the conversions that insertions need; printf is several times slower. */
static void append_format(struct gb_buf *to, const char *format, va_list ap) {
	for (const char *c = format; *c; c++) {
		const char *percent = strchrnul(c, '%');
		gb_buf_append(to, c, (size_t)(percent - c));
		if (!*percent)
			return;
		c = percent + 1;
		if (*c == 's') {
			const char *text = va_arg(ap, const char *);
			gb_buf_append(to, text, strlen(text));
		} else if (*c == '.') { /* %.*s */
			int n = va_arg(ap, int);
			gb_buf_append(to, va_arg(ap, const char *), (size_t)n);
			c += 2;
		} else { /* %lld */
			gb_buf_printf(to, "%lld", va_arg(ap, long long));
			c += 2;
		}
	}
}

/* Inserted text must not add lines: line terminators in a copied literal become escapes. */
static void join_lines(struct gb_buf *text, size_t from) {
	char *data = text->data;
	size_t n = text->len - from;
	if (!memchr(data + from, '\n', n) && !memchr(data + from, '\r', n) && !memchr(data + from, 0xe2, n))
		return;
	struct gb_buf copy;
	gb_buf_init(&copy, text->max);
	gb_buf_append(&copy, data + from, n);
	const char *c = gb_buf_c_str(&copy), *end = c + n;
	text->len = from;
	text->failed |= !c;
	while (c && c < end) {
		bool escape = *c == '\\' && c + 1 < end;
		unsigned ends = gb_ts_line_end(c + escape);
		if (!ends) { /* copy both characters of an escape, so that the second cannot start another */
			gb_buf_append(text, c, 1 + escape);
			c += 1 + escape;
			continue;
		}
		bool wide = ends == 3;
		if (!escape) /* an escaped line terminator is dropped, as JavaScript does */
			gb_buf_append(text,
			    wide && c[2] == '\xa8' ? "\\u2028"
			    : wide                 ? "\\u2029"
						   : "\\n",
			    wide ? 6 : 2);
		c += escape + ends;
	}
	gb_buf_finish(&copy);
}

void gb_ts_insert(struct ts_parser *p, uint8_t kind, uint32_t at, const char *format, ...) {
	if (p->failed)
		return;
	struct ts_edit *edit = add(p, kind, at, at);
	edit->text = (uint32_t)p->text.len;
	va_list ap;
	va_start(ap, format);
	append_format(&p->text, format, ap);
	va_end(ap);
	join_lines(&p->text, edit->text);
	edit->length = (uint32_t)p->text.len - edit->text;
}

void gb_ts_blank_statement(struct ts_parser *p, uint32_t start, const struct ts_mark *mark) {
	gb_ts_forget(p, mark);
	uint32_t edit = gb_ts_blank(p, start, p->previous_end);
	/* The previous statement may have ended only because this one began; a semicolon ends it
	 * explicitly. */
	if (mark->previous != ';' && mark->previous != '{' && mark->previous != T_END)
		gb_ts_overlay(p, edit, ";");
	p->last_blank = TS_NONE;
}

bool gb_ts_has_line_end(const struct ts_parser *p, uint32_t start, uint32_t end) {
	for (; start < end; start++)
		if (gb_ts_line_end(p->source + start))
			return true;
	return false;
}

/* --- applying --- */

/* Order at one position: insertions that belong to the text before, innermost first; then insertions that
 * belong to the text after, innermost last; then blanks. */
static bool is_before(const struct ts_edit *a, const struct ts_edit *b) {
	if (a->start != b->start)
		return a->start < b->start;
	static const uint8_t rank[] = {[EDIT_INSERT_AFTER] = 0, [EDIT_INSERT_BEFORE] = 1, [EDIT_BLANK] = 2};
	if (a->kind != b->kind)
		return rank[a->kind] < rank[b->kind];
	bool earlier = a->order < b->order;
	return earlier == (a->kind != EDIT_INSERT_BEFORE);
}

/* The end of the sorted run that begins at @from. */
static uint32_t run_end(const struct ts_edit *edits, uint32_t n, uint32_t from) {
	while (++from < n && !is_before(&edits[from], &edits[from - 1]))
		;
	return from < n ? from : n;
}

/* Merge pairs of runs of @from into @to. Returns the number of runs left. */
static uint32_t merge_runs(const struct ts_edit *from, struct ts_edit *to, uint32_t n) {
	uint32_t runs = 0;
	for (uint32_t a = 0, b, end; a < n; a = end, runs++) {
		uint32_t middle = run_end(from, n, a), at = a;
		b = middle;
		end = b < n ? run_end(from, n, b) : n;
		for (uint32_t left = a; at < end; at++)
			to[at] = b == end || (left < middle && !is_before(&from[b], &from[left]))
				     ? from[left++]
				     : from[b++];
	}
	return runs;
}

/* A merge sort over existing runs: edits are recorded almost in order, so there are few. */
static bool sort(struct ts_parser *p) {
	uint32_t n = p->edits.n;
	if (n < 2 || run_end(p->edits.items, n, 0) == n)
		return true;
	struct ts_edit *spare = malloc(p->edits.cap * sizeof *spare);
	if (!spare)
		return false;
	for (uint32_t runs = 2; runs > 1;) {
		runs = merge_runs(p->edits.items, spare, n);
		struct ts_edit *items = p->edits.items;
		p->edits.items = spare;
		spare = items;
	}
	free(spare);
	return true;
}

/* The space was reserved by gb_ts_render. */
static void append(struct gb_buf *to, const char *bytes, size_t n) {
	memcpy(to->data + to->len, bytes, n);
	to->len += n;
}

/* Rendering state: the position in the source and on the current line. */
struct renderer {
	const struct ts_parser *p;
	struct gb_ts_output *out;
	size_t cap;            /* of out->shifts */
	uint32_t at;           /* everything before is rendered */
	uint32_t line;         /* of @at, and of the end of the output */
	uint32_t counted;      /* lines are counted up to here */
	uint32_t line_start;   /* in the source */
	size_t out_line_start; /* in the output; valid while the line is shifted */
	bool shifted;          /* text was inserted into this line */
	bool failed;
};

static void count_lines(struct renderer *r, uint32_t to) {
	const char *s = r->p->source;
	while (r->counted < to) {
		r->counted = span_find(s, r->counted, to, '\n', '\r', '\xe2', '\n');
		if (r->counted >= to)
			return;
		unsigned n = gb_ts_line_end(s + r->counted);
		r->counted += n ? n : 1;
		if (n) {
			r->line++;
			r->line_start = r->counted;
			r->shifted = false;
		}
	}
}

static void add_shift(struct renderer *r, uint32_t source_at, bool inserted) {
	struct gb_ts_output *out = r->out;
	if (out->n_shifts == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 64;
		struct gb_ts_shift *shifts = realloc(out->shifts, cap * sizeof *shifts);
		if (!shifts) {
			r->failed = true;
			return;
		}
		out->shifts = shifts;
		r->cap = cap;
	}
	out->shifts[out->n_shifts++] = (struct gb_ts_shift){r->line,
	    (uint32_t)(out->text.len - r->out_line_start) + 1, source_at - r->line_start + 1, inserted};
}

static void render_insert(struct renderer *r, const struct ts_edit *edit) {
	count_lines(r, r->at);
	if (!r->shifted) {
		/* Nothing was inserted into this line yet. */
		r->out_line_start = r->out->text.len - (r->at - r->line_start);
		r->shifted = true;
	}
	/* Text that belongs to the text before maps to its last character. */
	bool after = edit->kind == EDIT_INSERT_AFTER && r->at > r->line_start;
	add_shift(r, r->at - (after ? 1 : 0), true);
	if (edit->length)
		append(&r->out->text, r->p->text.data + edit->text, edit->length);
	add_shift(r, r->at, false);
}

static void render_blank(struct renderer *r, const struct ts_edit *edit) {
	const char *from = r->p->source + r->at;
	size_t n = edit->end - r->at;
	char *to = r->out->text.data + r->out->text.len;
	size_t left = r->p->size - r->at, room = r->out->text.cap - r->out->text.len;
	bool wide = span_blank(to, from, n, left < room ? left : room);
	/* Keep line terminators of three bytes. */
	for (size_t i = 0; wide && i + 3 <= n; i++)
		if (from[i] == '\xe2' && gb_ts_line_end(from + i))
			memcpy(to + i, from + i, 3);
	if (edit->length && r->at == edit->start)
		memcpy(to, r->p->text.data + edit->text, edit->length);
	if (edit->last)
		to[n - 1] = edit->last;
	r->out->text.len += n;
	r->at = edit->end;
}

bool gb_ts_render(struct ts_parser *p, struct gb_ts_output *out) {
	struct renderer r = {.p = p, .out = out, .line = 1};
	/* Reserve everything at once. */
	if (!sort(p) || !gb_buf_reserve(&out->text, p->size + p->text.len + 1))
		return false;
	for (uint32_t i = 0; i < p->edits.n; i++) {
		const struct ts_edit *edit = &p->edits.items[i];
		if (edit->start > r.at) {
			append(&out->text, p->source + r.at, edit->start - r.at);
			r.at = edit->start;
		}
		if (edit->kind != EDIT_BLANK)
			render_insert(&r, edit);
		else if (edit->end > r.at)
			render_blank(&r, edit);
	}
	append(&out->text, p->source + r.at, p->size - r.at);
	return gb_buf_c_str(&out->text) && !r.failed;
}

/* --- mapping positions back --- */

void gb_ts_map(const struct gb_ts_output *out, unsigned *line, unsigned *column) {
	size_t from = 0, to = out->n_shifts;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct gb_ts_shift *shift = &out->shifts[middle];
		if (shift->line < *line || (shift->line == *line && shift->column <= *column))
			from = middle + 1;
		else
			to = middle;
	}
	if (from == 0 || out->shifts[from - 1].line != *line)
		return;
	const struct gb_ts_shift *shift = &out->shifts[from - 1];
	*column = shift->source_column + (shift->inserted ? 0 : *column - shift->column);
}

void gb_ts_locate(const char *source, size_t n, size_t offset, unsigned *ret_line, unsigned *ret_column) {
	unsigned line = 1;
	size_t line_start = 0;
	for (size_t at = 0; at < offset && at < n;) {
		unsigned length = gb_ts_line_end(source + at);
		at += length ? length : 1;
		if (length && at <= offset) {
			line++;
			line_start = at;
		}
	}
	*ret_line = line;
	*ret_column = (unsigned)(offset - line_start) + 1;
}
