#include "guard/secrets_match.h"

#include <stdlib.h>
#include <string.h>

#include "guard/secrets_named.h"

/* --- spans --- */

void gb_spans_add(struct gb_spans *spans, size_t from, size_t to, uint32_t kind) {
	const struct gb_span *last = spans->n ? &spans->list[spans->n - 1] : NULL;
	/* Nothing, or nothing new: the last one begins before it, and covers it. */
	if (from >= to || (last && last->from < from && last->to >= to))
		return;
	if (!spans->list || spans->n == spans->cap) {
		size_t cap = spans->cap ? spans->cap * 2 : 16;
		struct gb_span *list = realloc(spans->list, cap * sizeof *list);
		if (!list) {
			spans->failed = true;
			return;
		}
		spans->list = list;
		spans->cap = cap;
	}
	spans->list[spans->n++] = (struct gb_span){from, to, kind};
}

void gb_spans_finish(struct gb_spans *spans) {
	free(spans->list);
	*spans = (struct gb_spans){0};
}

static int compare_spans(const void *a, const void *b) {
	const struct gb_span *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void gb_spans_merge(struct gb_spans *spans) {
	if (spans->n < 2)
		return;
	qsort(spans->list, spans->n, sizeof *spans->list, compare_spans);
	size_t n = 0;
	for (size_t i = 1; i < spans->n; i++) {
		struct gb_span *last = &spans->list[n], *next = &spans->list[i];
		if (next->from > last->to)
			spans->list[++n] = *next;
		else if (next->to > last->to)
			last->to = next->to;
	}
	spans->n = n + 1;
}

/* --- words --- */

static inline bool is_digit(uint8_t c) {
	return (uint8_t)(c - '0') < 10;
}

static inline bool is_letter(uint8_t c) {
	return (uint8_t)((c | 32) - 'a') < 26;
}

static bool is_hex(const uint8_t *p, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (!is_digit(p[i]) && (uint8_t)((p[i] | 32) - 'a') > 5)
			return false;
	return true;
}

enum { COLOUR = 10 }; /* bytes of what colours a terminal */

/* Where text is spelled in another text, the letter before may belong to an escape: \n, \x1b, \u003d, %3D; or
 * to what colours a terminal: ESC [ 3 1 m. */
static bool is_escape(const uint8_t *p, size_t before) {
	if (before >= 2 && p[-2] == '\\')
		return is_letter(p[-1]);
	if (before >= 3 && p[-3] == '%')
		return is_hex(p - 2, 2);
	if (before >= 4 && p[-4] == '\\' && p[-3] == 'x')
		return is_hex(p - 2, 2);
	if (before >= 6 && p[-6] == '\\' && p[-5] == 'u')
		return is_hex(p - 4, 4);
	if (p[-1] != 'm')
		return false;
	for (size_t back = 2; back <= before && back <= COLOUR; back++) {
		uint8_t c = *(p - back);
		if (!is_digit(c) && c != ';')
			return c == '[';
	}
	return false;
}

static inline bool begins_word(const uint8_t *p, size_t before) {
	return before == 0 || !(is_letter(p[-1]) || is_digit(p[-1])) || is_escape(p, before);
}

/* --- matching --- */

enum verdict { DEAD, ALIVE, MATCHED };

/* How many bytes from @p on are in the set, at most @max. Long runs are looked at once, however many chains
 * begin in them: the work stays linear. */
static size_t run_length(struct gb_match *m, uint16_t set, const uint8_t *p, size_t max) {
	const uint8_t *end = m->window + m->n;
	const struct gb_byteset *bytes = &m->matcher->rx->sets[set];
	if (max > (size_t)(end - p))
		max = (size_t)(end - p);
	struct gb_seen *seen = &m->seen[set];
	if (m->seen_used && p >= seen->from && p < seen->to) {
		size_t left = (size_t)(seen->to - p);
		/* What was seen was cut only by the window's end or by another byte. */
		return left < max ? left : max;
	}
	if (max <= 16) {
		size_t n = 0;
		while (n < max && gb_byteset_has(bytes, p[n]))
			n++;
		return n;
	}
	const uint8_t *to = p;
	while (to < end && gb_byteset_has(bytes, *to))
		to++;
	if (!m->seen_used)
		memset(m->seen, 0, m->matcher->rx->n_sets * sizeof *m->seen);
	m->seen_used = true;
	*seen = (struct gb_seen){p, to};
	size_t n = (size_t)(to - p);
	return n < max ? n : max;
}

static void add_open(struct gb_match *m, uint16_t set, uint16_t left, uint32_t kind) {
	for (uint32_t i = 0; i < m->n_open; i++)
		if (m->open[i].set == set) {
			if (left > m->open[i].left)
				m->open[i].left = left;
			return;
		}
	m->open[m->n_open++] = (struct gb_open){set, left, kind};
}

static inline uint16_t left_of(const struct gb_rx_run *run, size_t n) {
	return run->max == GB_RX_ENDLESS ? GB_RX_ENDLESS : (uint16_t)(run->max - n);
}

/* @p is where the last run begins, and the secret perhaps. */
static enum verdict match_last(
    struct gb_match *m, const struct gb_rx_chain *chain, const uint8_t *p, const uint8_t *secret) {
	const struct gb_rx_run *run = &m->matcher->rx->runs[chain->first + chain->n - 1];
	size_t n = run_length(m, run->set, p, run->max == GB_RX_ENDLESS ? SIZE_MAX : run->max);
	bool at_end = p + n == m->window + m->n && !m->last;
	if (n < run->min)
		return at_end ? ALIVE : DEAD;
	size_t to = (size_t)(p - m->window) + (chain->ahead ? 0 : n);
	gb_spans_add(m->spans, (size_t)(secret - m->window), to, chain->kind);
	uint16_t left = left_of(run, n);
	if (at_end && left)
		add_open(m, run->set, left, chain->kind);
	return MATCHED;
}

/* @p is behind the name of a secret or of a command. */
static enum verdict match_tail(struct gb_match *m, const struct gb_rx_chain *chain, const uint8_t *name,
    const uint8_t *p, const uint8_t **ret_secret) {
	const struct gb_rx_run *run = &m->matcher->rx->runs[chain->first + chain->n - 1];
	struct gb_named text = {
	    .start = m->window, .end = m->window + m->n, .last = m->last, .from = m->window + m->n};
	if (!gb_named_find(&text, name, p, (enum gb_rx_tail)chain->tail)) {
		*ret_secret = text.from;
		return text.cut ? ALIVE : DEAD;
	}
	do {
		const uint8_t *to = text.to;
		if (text.goes_on)
			to += run_length(m, run->set, to, SIZE_MAX);
		gb_spans_add(
		    m->spans, (size_t)(text.from - m->window), (size_t)(to - m->window), chain->kind);
		if (text.goes_on && to == text.end && !m->last)
			add_open(m, run->set, GB_RX_ENDLESS, chain->kind);
	} while (text.resume && gb_named_next(&text, name, p, (enum gb_rx_tail)chain->tail));
	*ret_secret = text.from;
	if (text.cut)
		return ALIVE;
	return MATCHED;
}

/* *ret_secret is where the secret begins, if that is known already; else the end of the window. */
static enum verdict match_chain(
    struct gb_match *m, const struct gb_rx_chain *chain, const uint8_t *p, const uint8_t **ret_secret) {
	const struct gb_rx_run *runs = &m->matcher->rx->runs[chain->first];
	const uint8_t *name = p, *end = m->window + m->n;
	*ret_secret = end;
	for (unsigned i = 0;; i++) {
		if (i == chain->keep && !chain->tail)
			*ret_secret = p;
		if (i + 1 == chain->n && chain->tail)
			return match_tail(m, chain, name, p, ret_secret);
		if (i + 1 == chain->n)
			return match_last(m, chain, p, *ret_secret);
		/* Most runs are a single byte of a name. */
		size_t n = runs[i].max == 1
			       ? p < end && gb_byteset_has(&m->matcher->rx->sets[runs[i].set], *p)
			       : run_length(m, runs[i].set, p, runs[i].max);
		p += n;
		if (p == end && n < runs[i].max && !m->last)
			return ALIVE;
		if (n < runs[i].min)
			return DEAD;
	}
}

/* The bytes at a place as chains have them; near the window's end only those that are there count. */
struct head {
	uint64_t bytes[GB_RX_HEADS], there[GB_RX_HEADS];
};

static inline struct head load_head(const uint8_t *p, size_t left) {
	struct head head;
	memset(head.there, 0xff, sizeof head.there);
	if (left >= sizeof head.bytes) {
		memcpy(head.bytes, p, sizeof head.bytes);
		return head;
	}
	memset(&head, 0, sizeof head);
	memcpy(head.bytes, p, left);
	memset(head.there, 0xff, left);
	return head;
}

static inline bool head_fits(const struct gb_rx_chain *chain, const struct head *head) {
	for (unsigned i = 0; i < GB_RX_HEADS; i++)
		if ((head->bytes[i] ^ chain->head[i]) & chain->head_mask[i] & head->there[i])
			return false;
	return true;
}

static void try_chain(struct gb_match *m, const struct gb_rx_chain *chain, const uint8_t *p) {
	const uint8_t *secret;
	if (match_chain(m, chain, p, &secret) != ALIVE)
		return;
	size_t at = (size_t)(p - m->window), held = (size_t)(secret - m->window);
	m->alive = at < m->alive ? at : m->alive;
	m->held = held < m->held ? held : m->held;
}

static void try_list(struct gb_match *m, const struct gb_chain_list *list, const uint8_t *p) {
	const struct gb_rx *rx = m->matcher->rx;
	size_t at = (size_t)(p - m->window);
	struct head head = load_head(p, m->n - at);
	uint32_t end = begins_word(p, at) ? list->end : list->words;
	for (uint32_t i = list->first; i < end; i++) {
		const struct gb_rx_chain *chain = &rx->chains[m->matcher->chains[i]];
		if (head_fits(chain, &head))
			try_chain(m, chain, p);
	}
}

void gb_match_scan(struct gb_match *m, size_t from) {
	const struct gb_matcher *matcher = m->matcher;
	const uint8_t *p, *end = m->window + m->n;
	struct gb_places places = gb_places_from(m->window + from, end);
	m->alive = m->held = m->n;
	while ((p = gb_prefilter_next(&matcher->prefilter, &places)) < end) {
		uint32_t list = matcher->by_key[gb_matcher_key(p, (size_t)(end - p))];
		if (list)
			try_list(m, &matcher->lists[list], p);
		if (matcher->wild.end > matcher->wild.first)
			try_list(m, &matcher->wild, p);
	}
}

void gb_match_continue(struct gb_match *m, size_t at) {
	uint32_t n = m->n_open;
	m->n_open = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct gb_open open = m->open[i];
		size_t max = open.left == GB_RX_ENDLESS ? SIZE_MAX : open.left;
		size_t run = run_length(m, open.set, m->window + at, max);
		if (run)
			gb_spans_add(m->spans, at, at + run, open.kind);
		if (at + run < m->n || m->last || run == max)
			continue;
		add_open(m, open.set,
		    open.left == GB_RX_ENDLESS ? GB_RX_ENDLESS : (uint16_t)(open.left - run), open.kind);
	}
}
