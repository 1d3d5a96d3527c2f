/*
 * JSX is rejected, but "<a>b</a>" begins like the type assertion "<a>b", so the first error in it says little.
 * After a failure the text is parsed once more, with elements where expressions begin, only to tell whether it
 * contains JSX. An opening tag that no type assertion can look like is enough. "<a>" counts only as a part of a
 * complete element, in a statement without further errors.
 */
#include <string.h>

#include "ts/parser.h"

/* --- names --- */

/* At a name: go past it, with its dashes, which are no part of a name in JavaScript. */
static void name(struct ts_parser *p) {
	if (!is(p, T_NAME))
		gb_ts_fail(p, p->token.start, "expected a name");
	while (!p->failed && p->source[p->token.end] == '-') {
		uint32_t end = p->token.end + 1;
		end +=
		    (uint32_t)strspn(p->source + end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
						      "0123456789_$");
		p->token.end = end;
	}
	gb_ts_next(p);
}

/* a, a.b, a:b, or nothing, for a fragment. */
static struct ts_name tag_name(struct ts_parser *p) {
	uint32_t start = p->token.start;
	if (is(p, '>'))
		return (struct ts_name){start, 0};
	do
		name(p);
	while (accept(p, '.') || accept(p, ':'));
	return (struct ts_name){start, p->previous_end - start};
}

/* --- attributes --- */

/* "{...}", at '{'. Ends at the '}'. */
static void container(struct ts_parser *p) {
	gb_ts_next(p);
	accept(p, T_DOTS);
	if (!is(p, '}'))
		gb_ts_expression_in(p);
	if (!is(p, '}'))
		gb_ts_expect(p, '}');
}

static void element(struct ts_parser *p);

/* At '='. A string has no escapes and may contain line terminators. */
static void attribute_value(struct ts_parser *p) {
	const char *s = p->source + p->token.end;
	s += strspn(s, " \t\r\n");
	if (*s == '"' || *s == '\'') {
		const char *end = strchr(s + 1, *s);
		if (!end)
			gb_ts_fail(p, p->token.start, "unterminated string");
		else
			p->token.end = (uint32_t)(end + 1 - p->source);
	} else {
		gb_ts_next(p);
		if (is(p, '{'))
			container(p);
		else if (is(p, '<'))
			element(p);
		else
			gb_ts_expect(p, '{');
	}
	gb_ts_next(p);
}

/* Returns whether no type has this form. "<const T = {}>" begins type parameters; they have spaces. */
static bool attribute(struct ts_parser *p) {
	if (is(p, '{')) {
		bool spread = gb_ts_peek(p).kind == T_DOTS;
		container(p);
		gb_ts_next(p);
		return spread;
	}
	do
		name(p);
	while (accept(p, ':'));
	if (!is(p, '='))
		return false;
	bool tight = p->token.start == p->previous_end && strchr("\"'{", p->source[p->token.end]);
	attribute_value(p);
	return tight;
}

/* --- elements --- */

struct tag {
	struct ts_name name;
	bool certain; /* it cannot be a type assertion */
	bool closed;  /* <a/> */
};

/* At '<'. Ends at the '>'. */
static struct tag opening_tag(struct ts_parser *p) {
	struct tag tag = {0};
	gb_ts_next(p);
	tag.name = tag_name(p);
	if (is(p, '<'))
		gb_ts_type_arguments(p);
	while (is(p, T_NAME) || is(p, '{'))
		tag.certain |= attribute(p);
	tag.closed = accept(p, '/');
	tag.certain |= tag.closed && is(p, '>');
	if (!is(p, '>'))
		gb_ts_expect(p, '>');
	return tag;
}

/* Text begins at @from. Makes the '<' or '{' after it the current token. */
static void text(struct ts_parser *p, uint32_t from) {
	if (p->failed)
		return;
	uint32_t at = from + (uint32_t)strcspn(p->source + from, "<{>}");
	p->budget -= at - from;
	p->token = (struct ts_token){.start = at, .end = at + 1, .kind = (uint8_t)p->source[at]};
	if (at >= p->size || !(is(p, '<') || is(p, '{')))
		gb_ts_fail(p, at, "unexpected character in JSX");
}

/* At "</". Ends at the '>'. */
static void closing_tag(struct ts_parser *p, struct ts_name opened) {
	gb_ts_next(p);
	gb_ts_next(p);
	struct ts_name closed = tag_name(p);
	if (!is(p, '>'))
		gb_ts_expect(p, '>');
	if (!p->failed && !gb_ts_name_equal(p, opened, closed))
		gb_ts_fail(p, closed.start, "expected the closing tag of another element");
}

/* After the '>' of an opening tag. Ends at the '>' of the closing one; returns where that begins. */
static uint32_t children(struct ts_parser *p, struct ts_name opened) {
	for (;;) {
		text(p, p->token.end);
		uint32_t at = p->token.start;
		if (is(p, '{')) {
			container(p);
		} else if (p->failed || p->source[at + 1] == '/') {
			closing_tag(p, opened);
			return at;
		} else {
			element(p);
		}
	}
}

/* At '<'. Ends at the last '>', since what follows may be text. */
static void element(struct ts_parser *p) {
	enter(p);
	struct tag tag = opening_tag(p);
	if (!tag.closed)
		children(p, tag.name);
	leave(p);
}

/* --- the second pass --- */

static void found(struct ts_parser *p, uint32_t start, uint32_t closing) {
	if (p->jsx.start != TS_NONE)
		return;
	p->jsx.start = start;
	p->jsx.closing = closing;
	p->jsx.end = p->token.end;
}

bool gb_ts_jsx(struct ts_parser *p) {
	struct ts_mark mark = gb_ts_mark(p);
	uint32_t start = p->token.start;
	bool outermost = !p->jsx.nested;
	p->jsx.nested = true;
	enter(p);
	struct tag tag = opening_tag(p);
	if (outermost && tag.certain) {
		found(p, start, TS_NONE);
		gb_ts_exhaust(p, "JSX"); /* the rest does not matter */
	}
	uint32_t closing = tag.closed ? TS_NONE : children(p, tag.name);
	leave(p);
	p->jsx.nested = !outermost;
	if (p->failed) {
		gb_ts_rewind(p, &mark);
		return p->failed;
	}
	if (outermost)
		found(p, start, closing);
	gb_ts_next(p);
	return true;
}

/* Whether TypeScript without JSX reads @at, which is after @from, as a part of a string or comment. */
static bool in_literal(struct ts_parser *p, uint32_t from, uint32_t at) {
	struct ts_parser plain = {.source = p->source, .size = p->size, .ahead_from = TS_NONE};
	plain.budget = (int64_t)p->size * 8;
	plain.token.end = from;
	do {
		gb_ts_next(&plain);
		if (is(&plain, '`')) {
			const char *end = strchr(p->source + plain.token.end, '`');
			plain.token.end = end ? (uint32_t)(end + 1 - p->source) : p->size;
		}
	} while (!plain.failed && plain.token.end <= at && !is(&plain, T_END));
	return !plain.failed && plain.token.start != at;
}

/* Whether the first element that the second pass found is the cause of the failure. */
static bool is_cause(struct ts_parser *again, const struct ts_parser *failed) {
	const struct ts_jsx *jsx = &again->jsx;
	if (jsx->start == TS_NONE || jsx->start > failed->failure.at)
		return false;
	if (jsx->closing == TS_NONE)
		return true;
	if (again->failed && again->ended < jsx->end)
		return false;
	/* In "<a>b; c d; // </a>", the assertion was complete before the error. */
	return failed->ended <= jsx->start || !in_literal(again, jsx->start, jsx->closing);
}

bool gb_ts_is_jsx(struct ts_parser *again, const struct ts_parser *failed, uint32_t *ret_at) {
	uint32_t at = failed->failure.at;
	/* In "<a>b</c>", a regular expression begins after the operator '<', and does not end. */
	bool closing =
	    at > failed->assertion && at < failed->size && memcmp(failed->source + at - 1, "</", 2) == 0;
	if (is_cause(again, failed))
		*ret_at = again->jsx.start;
	else if (closing)
		*ret_at = failed->assertion;
	else
		return false;
	return true;
}
