#include "guard/secrets_draft.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"

enum { MAX_DEPTH = 8, MAX_REPEAT = 4096, MAX_GROUP_REPEAT = 16 };

struct parser {
	struct gb_rx *rx;
	struct gb_arena *arena;
	const char *start, *at;
	struct gb_draft_flags flags;
	bool kept;
	unsigned depth;
	struct gb_err *err;
};

static bool parse_alternatives(struct parser *p, struct gb_drafts *out);

static bool fail(struct parser *p, const char *what) {
	return gb_fail(p->err, GB_EINVAL, 0, "at character %zu: %s", (size_t)(p->at - p->start) + 1, what);
}

static bool eat(struct parser *p, const char *token) {
	size_t n = strlen(token);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

static void add_range(struct gb_byteset *set, unsigned from, unsigned to) {
	for (unsigned byte = from; byte <= to; byte++)
		gb_byteset_add(set, (uint8_t)byte);
}

static void invert(struct gb_byteset *set) {
	for (unsigned i = 0; i < 4; i++)
		set->bits[i] = ~set->bits[i];
}

static void add_both_cases(struct gb_byteset *set) {
	for (unsigned c = 'a'; c <= 'z'; c++) {
		if (gb_byteset_has(set, (uint8_t)c))
			gb_byteset_add(set, (uint8_t)(c - 32));
		if (gb_byteset_has(set, (uint8_t)(c - 32)))
			gb_byteset_add(set, (uint8_t)c);
	}
}

/* --- one byte --- */

static bool parse_hex(struct parser *p, unsigned *ret_byte) {
	static const char digits[] = "0123456789abcdef";
	unsigned byte = 0;
	for (unsigned i = 0; i < 2; i++, p->at++) {
		const char *digit = *p->at ? strchr(digits, tolower((unsigned char)*p->at)) : NULL;
		if (!digit)
			return fail(p, "\\x takes two hexadecimal digits");
		byte = byte * 16 + (unsigned)(digit - digits);
	}
	*ret_byte = byte;
	return true;
}

/* After a backslash: a class, which goes into @set, or a single byte, which *ret_byte tells as well. */
static bool parse_escape(struct parser *p, struct gb_byteset *set, int *ret_byte) {
	static const char names[] = "nrtfv0", bytes[] = "\n\r\t\f\v";
	char c = *p->at;
	unsigned byte = (unsigned char)c;
	*ret_byte = -1;
	if (c == '\0')
		return fail(p, "the pattern ends with a backslash");
	p->at++;
	if (c == 'd' || c == 'w')
		add_range(set, '0', '9');
	if (c == 'w') {
		add_range(set, 'A', 'Z');
		add_range(set, 'a', 'z');
		gb_byteset_add(set, '_');
	}
	if (c == 's') {
		add_range(set, '\t', '\r');
		gb_byteset_add(set, ' ');
	}
	if (strchr("dws", c))
		return true;
	const char *name = strchr(names, c);
	if (name)
		byte = (unsigned char)bytes[name - names];
	else if (c == 'x' && !parse_hex(p, &byte))
		return false;
	else if (c != 'x' && isalnum((unsigned char)c)) {
		p->at--;
		return fail(p, "this escape is not known here");
	}
	gb_byteset_add(set, (uint8_t)byte);
	*ret_byte = (int)byte;
	return true;
}

/* --- classes --- */

/* A byte or escape of a class; *ret_byte is -1 if it stands for several. */
static bool parse_member(struct parser *p, struct gb_byteset *set, int *ret_byte) {
	if (*p->at == '\0')
		return fail(p, "a class has no ']'");
	if (eat(p, "\\"))
		return parse_escape(p, set, ret_byte);
	*ret_byte = (unsigned char)*p->at++;
	gb_byteset_add(set, (uint8_t)*ret_byte);
	return true;
}

static bool parse_class(struct parser *p, struct gb_byteset *set) {
	bool inverted = eat(p, "^");
	int from = -1, to = -1;
	if (*p->at == ']')
		return fail(p, "a class is empty");
	while (!eat(p, "]")) {
		if (!parse_member(p, set, &from))
			return false;
		if (p->at[0] != '-' || p->at[1] == ']')
			continue;
		p->at++;
		if (!parse_member(p, set, &to))
			return false;
		if (from < 0 || to < from)
			return fail(p, "a range goes from a smaller byte to a larger one");
		add_range(set, (unsigned)from, (unsigned)to);
	}
	if (p->flags.caseless)
		add_both_cases(set);
	if (inverted)
		invert(set);
	return true;
}

static bool parse_bytes(struct parser *p, struct gb_byteset *set) {
	int byte;
	if (eat(p, "["))
		return parse_class(p, set);
	if (eat(p, ".")) {
		gb_byteset_add(set, '\n');
		invert(set);
		return true;
	}
	if (strchr("*+?{}^$]", *p->at))
		return fail(p, "this has a meaning of its own here, or none; write a backslash before it");
	if (!parse_member(p, set, &byte))
		return false;
	if (p->flags.caseless)
		add_both_cases(set);
	return true;
}

/* Anything that stands for one byte. */
static bool parse_set(struct parser *p, uint16_t *ret_set) {
	struct gb_byteset set = {0};
	if (!parse_bytes(p, &set))
		return false;
	return gb_rx_intern(p->rx, &set, ret_set) || fail(p, "there are too many classes, or memory is out");
}

/* --- repetition --- */

static bool parse_number(struct parser *p, uint16_t *ret_number) {
	unsigned number = 0;
	if (!isdigit((unsigned char)*p->at))
		return fail(p, "a number is expected");
	for (; isdigit((unsigned char)*p->at); p->at++)
		if ((number = number * 10 + (unsigned)(*p->at - '0')) > MAX_REPEAT)
			return fail(p, "repeated more than 4096 times");
	*ret_number = (uint16_t)number;
	return true;
}

static bool parse_repeat(struct parser *p, uint16_t *ret_min, uint16_t *ret_max) {
	*ret_min = 1;
	*ret_max = 1;
	if (eat(p, "?")) {
		*ret_min = 0;
	} else if (eat(p, "*")) {
		*ret_min = 0;
		*ret_max = GB_RX_ENDLESS;
	} else if (eat(p, "+")) {
		*ret_max = GB_RX_ENDLESS;
	} else if (eat(p, "{")) {
		if (!parse_number(p, ret_min))
			return false;
		*ret_max = *ret_min;
		if (eat(p, ",")) {
			*ret_max = GB_RX_ENDLESS;
			if (*p->at != '}' && !parse_number(p, ret_max))
				return false;
		}
		if (!eat(p, "}"))
			return fail(p, "'}' is expected");
		if (*ret_max < *ret_min || *ret_max == 0)
			return fail(p, "repeated from more times to fewer, or never");
	}
	if (*p->at && strchr("?*+{", *p->at))
		return fail(p, "what is repeated cannot be repeated again");
	return true;
}

/* --- alternatives --- */

static bool copy_draft(struct parser *p, const struct gb_draft *from, struct gb_draft *to) {
	*to = *from;
	to->runs = gb_arena_array(p->arena, GB_DRAFT_RUNS, sizeof *to->runs);
	if (!to->runs)
		return fail(p, "the pattern is too large");
	if (from->n)
		memcpy(to->runs, from->runs, from->n * sizeof *to->runs);
	return true;
}

static bool add_draft(struct parser *p, struct gb_drafts *drafts, const struct gb_draft *draft) {
	if (drafts->n == GB_DRAFTS)
		return fail(p, "there are more than 128 alternatives");
	return copy_draft(p, draft, &drafts->list[drafts->n]) && ++drafts->n;
}

static bool append_run(struct parser *p, struct gb_draft *draft, const struct gb_rx_run *run) {
	if (draft->n == GB_DRAFT_RUNS)
		return fail(p, "an alternative has more than 128 parts");
	draft->runs[draft->n++] = *run;
	return true;
}

/* Each of @drafts, followed by each of @group; and each alone as well if the group may be left out. */
static bool append_group(
    struct parser *p, struct gb_drafts *drafts, const struct gb_drafts *group, bool optional) {
	struct gb_drafts *all = gb_arena_alloc(p->arena, sizeof *all);
	if (!all)
		return fail(p, "the pattern is too large");
	for (unsigned i = 0; i < drafts->n; i++) {
		if (optional && !add_draft(p, all, &drafts->list[i]))
			return false;
		for (unsigned j = 0; j < group->n; j++) {
			if (!add_draft(p, all, &drafts->list[i]))
				return false;
			for (unsigned k = 0; k < group->list[j].n; k++)
				if (!append_run(p, &all->list[all->n - 1], &group->list[j].runs[k]))
					return false;
		}
	}
	*drafts = *all;
	return true;
}

static bool parse_group(struct parser *p, struct gb_drafts *drafts) {
	struct gb_drafts *group = gb_arena_alloc(p->arena, sizeof *group);
	uint16_t min, max;
	eat(p, "?:");
	if (*p->at == '?')
		return fail(p, "of the groups that begin with '?' only (?:...), (?i) at the beginning and "
			       "(?=...) at the end are known");
	if (!group || p->depth == MAX_DEPTH)
		return fail(p, "groups are nested too deeply");
	p->depth++;
	if (!parse_alternatives(p, group))
		return false;
	p->depth--;
	if (!eat(p, ")"))
		return fail(p, "')' is expected");
	if (!parse_repeat(p, &min, &max))
		return false;
	if (max > MAX_GROUP_REPEAT)
		return fail(p, "a group is repeated more than 16 times");
	for (unsigned i = 0; i < max; i++)
		if (!append_group(p, drafts, group, i >= min))
			return false;
	return true;
}

static bool parse_keep(struct parser *p, struct gb_drafts *drafts) {
	if (p->kept || p->depth)
		return fail(p, "\\K stands once, and outside of groups");
	p->kept = true;
	for (unsigned i = 0; i < drafts->n; i++)
		drafts->list[i].keep = drafts->list[i].n;
	return true;
}

static bool parse_run(struct parser *p, struct gb_drafts *drafts) {
	struct gb_rx_run run;
	if (!parse_set(p, &run.set) || !parse_repeat(p, &run.min, &run.max))
		return false;
	for (unsigned i = 0; i < drafts->n; i++)
		if (!append_run(p, &drafts->list[i], &run))
			return false;
	return true;
}

static bool parse_ahead(struct parser *p, struct gb_drafts *drafts) {
	struct gb_rx_run run = {.min = 1, .max = 1};
	p->flags.ahead = true;
	if (!parse_set(p, &run.set))
		return false;
	for (unsigned i = 0; i < drafts->n; i++)
		if (!append_run(p, &drafts->list[i], &run))
			return false;
	if (!eat(p, ")") || *p->at || p->depth)
		return fail(p, "(?=...) holds one byte or class, and ends the pattern");
	return true;
}

/* A value that is longer than what secrets_named.c reads goes on up to a blank, a quote or a separator. */
static bool parse_tail(struct parser *p, struct gb_drafts *drafts) {
	static const char *const names[] = {[GB_RX_PASSWORD] = "password)",
	    [GB_RX_SECRET] = "secret)",
	    [GB_RX_KEY] = "key)",
	    [GB_RX_COMMAND] = "command)",
	    [GB_RX_CALL] = "call)",
	    [GB_RX_USERINFO] = "userinfo)",
	    [GB_RX_DSN] = "dsn)",
	    [GB_RX_DIRECTIVE] = "directive)",
	    [GB_RX_PAIR] = "pair)",
	    [GB_RX_USERS] = "users)",
	    [GB_RX_FORMER] = "former)"};
	struct gb_rx_run run = {.min = 0, .max = GB_RX_ENDLESS};
	struct gb_byteset set = {0};
	for (const char *c = " \t\n\v\f\r\"'`\\<>&;,"; *c; c++)
		gb_byteset_add(&set, (uint8_t)*c);
	invert(&set);
	for (uint8_t i = 1; i < GB_COUNT(names) && !p->flags.tail; i++)
		if (eat(p, names[i]))
			p->flags.tail = i;
	if (!p->flags.tail || *p->at || p->depth || p->kept)
		return fail(
		    p, "(?&password), (?&secret), (?&key) and the other (?&...) end a pattern without \\K");
	if (!gb_rx_intern(p->rx, &set, &run.set))
		return fail(p, "there are too many classes, or memory is out");
	for (unsigned i = 0; i < drafts->n; i++)
		if (!append_run(p, &drafts->list[i], &run))
			return false;
	return true;
}

static bool parse_sequence(struct parser *p, struct gb_drafts *out) {
	struct gb_drafts *drafts = gb_arena_alloc(p->arena, sizeof *drafts);
	if (!drafts || !add_draft(p, drafts, &(struct gb_draft){.keep = GB_DRAFT_WHOLE}))
		return fail(p, "the pattern is too large");
	while (*p->at && *p->at != '|' && *p->at != ')') {
		bool ok = eat(p, "\\K")   ? parse_keep(p, drafts)
			  : eat(p, "(?=") ? parse_ahead(p, drafts)
			  : eat(p, "(?&") ? parse_tail(p, drafts)
			  : eat(p, "(")   ? parse_group(p, drafts)
					  : parse_run(p, drafts);
		if (!ok)
			return false;
	}
	for (unsigned i = 0; i < drafts->n; i++)
		if (!add_draft(p, out, &drafts->list[i]))
			return false;
	return true;
}

static bool parse_alternatives(struct parser *p, struct gb_drafts *out) {
	do {
		if (!parse_sequence(p, out))
			return false;
		if (*p->at == '|' && !p->depth && (p->kept || p->flags.ahead || p->flags.tail))
			return fail(p, "alternatives beside \\K or (?=...) stand in a group");
	} while (eat(p, "|"));
	return true;
}

bool gb_draft_parse(struct gb_rx *rx, struct gb_arena *arena, const char *pattern,
    struct gb_drafts *ret_drafts, struct gb_draft_flags *ret_flags, struct gb_err *err) {
	struct parser p = {.rx = rx, .arena = arena, .start = pattern, .at = pattern, .err = err};
	ret_drafts->n = 0;
	if (strlen(pattern) > GB_RX_PATTERN_MAX)
		return fail(&p, "the pattern is longer than 1000 bytes");
	p.flags.caseless = eat(&p, "(?i)");
	p.flags.word = eat(&p, "\\b");
	if (!parse_alternatives(&p, ret_drafts))
		return false;
	if (*p.at)
		return fail(&p, "')' without '('");
	*ret_flags = p.flags;
	return true;
}
