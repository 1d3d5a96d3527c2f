#include <stdlib.h>
#include <string.h>

#include "guard/secrets_filter.h"

/*
 * The window of a stream: what has come and may still matter. Its front is
 *
 *	context | looked at, and decided | from `scan` on: a match may have begun that is not decided
 *
 * and `shown` is how far everything has been let out or masked; up to `decided` it may be. Matches are found by
 * looking at the window again from `scan` on whenever bytes are added; since nothing is undecided before it, that
 * finds what one look at the whole stream would have found. Spans whose beginning is not decided yet are kept.
 */
enum { SLICE = 64 << 10 };

struct gb_mask {
	struct gb_filter *filter;
	uint32_t version; /* of the filter, when it was last looked at */
	uint8_t *window;
	size_t n, cap;
	size_t scan;
	size_t shown;
	size_t decided;
	bool masked; /* the byte before `shown` was */
	bool failed;
	uint32_t literal;   /* state of the literals after the window */
	size_t literals_at; /* how far they have read */
	struct gb_spans spans;
	struct gb_open *open;
	uint32_t n_open;
	struct gb_seen *seen;
	uint32_t n_sets; /* that open and seen have room for */
};

struct gb_mask *gb_mask_create(struct gb_filter *filter) {
	struct gb_mask *stream = calloc(1, sizeof *stream);
	if (stream)
		stream->filter = filter;
	return stream;
}

static void erase(struct gb_mask *stream) {
	if (stream->window)
		explicit_bzero(stream->window, stream->cap);
}

void gb_mask_destroy(struct gb_mask *stream) {
	if (!stream)
		return;
	erase(stream);
	free(stream->window);
	free(stream->open);
	free(stream->seen);
	gb_spans_finish(&stream->spans);
	free(stream);
}

void gb_mask_use(struct gb_mask *stream, struct gb_filter *filter) {
	stream->filter = filter;
}

size_t gb_mask_held(const struct gb_mask *stream) {
	return stream->n - stream->shown;
}

/* --- getting ready --- */

static bool make_room_for_sets(struct gb_mask *stream) {
	uint32_t n = stream->filter->matcher->rx->n_sets;
	if (n <= stream->n_sets)
		return true;
	struct gb_open *open = realloc(stream->open, n * sizeof *open);
	if (open)
		stream->open = open;
	struct gb_seen *seen = realloc(stream->seen, n * sizeof *seen);
	if (seen)
		stream->seen = seen;
	if (!open || !seen)
		return false;
	stream->n_sets = n;
	return true;
}

/* Additions to the filter apply to all bytes that are not yet written. */
static bool catch_up(struct gb_mask *stream) {
	if (stream->version == stream->filter->version && stream->filter->ready)
		return true;
	if (!gb_filter_ready(stream->filter) || !make_room_for_sets(stream))
		return false;
	stream->version = stream->filter->version;
	stream->literal = 0;
	stream->literals_at = stream->shown;
	if (stream->scan > stream->shown)
		stream->scan = stream->shown;
	return true;
}

static bool append(struct gb_mask *stream, const uint8_t *bytes, size_t n) {
	if (stream->n + n > stream->cap) {
		size_t cap = stream->cap ? stream->cap : 512;
		while (cap < stream->n + n)
			cap *= 2;
		uint8_t *window = realloc(stream->window, cap);
		if (!window)
			return false;
		stream->window = window;
		stream->cap = cap;
	}
	if (n)
		memcpy(stream->window + stream->n, bytes, n);
	stream->n += n;
	return true;
}

/* --- finding --- */

static void on_literal(void *data, ptrdiff_t from, ptrdiff_t to, uint32_t kind) {
	struct gb_mask *stream = data;
	ptrdiff_t at = (ptrdiff_t)stream->literals_at;
	/* What the window has lost of it was masked by another match already. */
	from = at + from < 0 ? 0 : at + from;
	gb_spans_add(&stream->spans, (size_t)from, (size_t)(at + to), kind);
}

/* Returns where what may be the beginning of a literal begins. */
static size_t find_literals(struct gb_mask *stream) {
	const struct gb_literals *literals = stream->filter->literals;
	if (!literals->longest)
		return stream->n;
	stream->literal = gb_literals_scan(literals, stream->literal, stream->window + stream->literals_at,
	    stream->n - stream->literals_at, on_literal, stream);
	stream->literals_at = stream->n;
	return stream->n - gb_literals_depth(literals, stream->literal);
}

/* Returns up to where everything is decided. @before is where the window ended when it was last looked at. */
static size_t find(struct gb_mask *stream, size_t before, bool last) {
	struct gb_match match = {
	    .matcher = stream->filter->matcher,
	    .window = stream->window,
	    .n = stream->n,
	    .last = last,
	    .spans = &stream->spans,
	    .open = stream->open,
	    .n_open = stream->n_open,
	    .seen = stream->seen,
	};
	gb_match_continue(&match, before);
	gb_match_scan(&match, stream->scan);
	stream->n_open = match.n_open;
	stream->scan = match.alive;
	size_t literal = find_literals(stream);
	return last ? stream->n : literal < match.held ? literal : match.held;
}

/* --- letting out --- */

/* Everything before @decided; and what is masked already, as far as it reaches. */
static void let_out(struct gb_mask *stream, size_t decided, struct gb_buf *out) {
	struct gb_spans *spans = &stream->spans;
	gb_spans_merge(spans);
	size_t i = 0;
	for (; i < spans->n && spans->list[i].from < decided; i++) {
		const struct gb_span *span = &spans->list[i];
		if (span->to <= stream->shown)
			continue;
		bool goes_on = stream->masked && span->from <= stream->shown;
		if (span->from > stream->shown)
			gb_buf_append(out, stream->window + stream->shown, span->from - stream->shown);
		if (!goes_on) {
			gb_buf_append(out, "***", 3);
			gb_filter_note(stream->filter, span->kind);
		}
		stream->shown = span->to;
		stream->masked = true;
	}
	spans->n -= i;
	if (i)
		memmove(spans->list, spans->list + i, spans->n * sizeof *spans->list);
	if (decided > stream->shown) {
		gb_buf_append(out, stream->window + stream->shown, decided - stream->shown);
		stream->shown = decided;
		stream->masked = false;
	}
}

/* Drop bytes that cannot be part of a match any more. */
static void move_on(struct gb_mask *stream) {
	size_t keep = stream->scan < stream->shown ? stream->scan : stream->shown;
	keep = keep > GB_MATCH_BEHIND ? keep - GB_MATCH_BEHIND : 0;
	if (!keep)
		return;
	memmove(stream->window, stream->window + keep, stream->n - keep);
	stream->n -= keep;
	stream->scan -= keep;
	stream->shown -= keep;
	stream->decided -= keep;
	stream->literals_at -= keep;
	for (size_t i = 0; i < stream->spans.n; i++) {
		stream->spans.list[i].from -= keep;
		stream->spans.list[i].to -= keep;
	}
}

static void fail(struct gb_mask *stream, struct gb_buf *out) {
	stream->failed = true;
	out->failed = true;
}

static void look(struct gb_mask *stream, const uint8_t *bytes, size_t n, bool last, struct gb_buf *out) {
	size_t before = stream->n;
	if (stream->failed || !catch_up(stream) || !append(stream, bytes, n)) {
		fail(stream, out);
		return;
	}
	stream->decided = find(stream, before, last);
	if (stream->spans.failed)
		fail(stream, out);
}

/* At most @max bytes, and the whole of a masked place. */
static void release(struct gb_mask *stream, size_t max, struct gb_buf *out) {
	if (stream->failed)
		return;
	size_t ready = stream->decided > stream->shown ? stream->decided - stream->shown : 0;
	let_out(stream, stream->shown + (ready < max ? ready : max), out);
	move_on(stream);
}

void gb_mask_feed(struct gb_mask *stream, const void *bytes, size_t n, struct gb_buf *out) {
	const uint8_t *p = bytes;
	while (n) {
		size_t slice = n < SLICE ? n : SLICE;
		look(stream, p, slice, false, out);
		release(stream, SIZE_MAX, out);
		p += slice;
		n -= slice;
	}
}

void gb_mask_add(struct gb_mask *stream, const void *bytes, size_t n, struct gb_buf *out) {
	look(stream, bytes, n, false, out);
}

size_t gb_mask_release(struct gb_mask *stream, size_t max, bool last, struct gb_buf *out) {
	size_t held = gb_mask_held(stream);
	/* The filter may know more by now than when it was looked at. */
	if (last || stream->version != stream->filter->version || !stream->filter->ready)
		look(stream, NULL, 0, last, out);
	release(stream, max, out);
	return held - gb_mask_held(stream);
}

static void begin_anew(struct gb_mask *stream) {
	stream->n = stream->scan = stream->shown = stream->decided = stream->literals_at = 0;
	stream->n_open = 0;
	stream->literal = 0;
	stream->spans.n = 0;
	stream->masked = stream->failed = stream->spans.failed = false;
}

void gb_mask_end(struct gb_mask *stream, struct gb_buf *out) {
	if (stream->n > stream->shown || stream->failed) {
		look(stream, NULL, 0, true, out);
		release(stream, SIZE_MAX, out);
	}
	begin_anew(stream);
}

void gb_mask_cut(struct gb_mask *stream, struct gb_buf *out) {
	out->failed |= stream->failed;
	begin_anew(stream);
}

/* --- complete texts --- */

const struct gb_spans *gb_mask_spans(struct gb_filter *filter, const void *bytes, size_t n) {
	if (!filter->block && !(filter->block = gb_mask_create(filter)))
		return NULL;
	struct gb_mask *block = filter->block;
	if (!catch_up(block))
		return NULL;
	block->spans.n = 0;
	block->spans.failed = false;
	struct gb_match match = {
	    .matcher = filter->matcher,
	    .window = bytes,
	    .n = n,
	    .last = true,
	    .spans = &block->spans,
	    .open = block->open,
	    .seen = block->seen,
	};
	gb_match_scan(&match, 0);
	if (filter->literals->longest)
		gb_literals_scan(filter->literals, 0, bytes, n, on_literal, block);
	gb_spans_merge(&block->spans);
	return block->spans.failed ? NULL : &block->spans;
}

void gb_mask_text(struct gb_filter *filter, struct gb_str text, struct gb_buf *out) {
	struct gb_mask *stream = gb_mask_create(filter);
	if (stream) {
		gb_mask_feed(stream, text.p, text.n, out);
		gb_mask_end(stream, out);
	} else {
		out->failed = true;
	}
	gb_mask_destroy(stream);
}
