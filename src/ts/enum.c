/* Parses enums; emit.c writes them. */
#include <stdlib.h>
#include <string.h>

#include "ts/parser.h"

/* --- the type of a value, from its text --- */

struct shape {
	bool names, plus, arithmetic, other;
};

static bool is_name_character(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '$' || c == '.';
}

static struct shape shape_of(const char *at, const char *end) {
	struct shape shape = {0};
	while (at < end) {
		char c = *at;
		if (is_name_character(c)) {
			shape.names |= !(c >= '0' && c <= '9') && c != '.';
			while (at < end && is_name_character(*at))
				at++;
			shape.other |= at < end && *at == '(';
			continue;
		}
		shape.plus |= c == '+';
		shape.arithmetic |= strchr("|&^~*%-", c) != NULL;
		shape.other |= !strchr("|&^~*%-+() \t\r\n", c) && c != '<' && c != '>';
		at++;
	}
	return shape;
}

/* Number members get a reverse mapping from value to name, string members do not. If the text does not
 * determine the type, the emitted code tests it at run time. */
static uint8_t type_of_value(const struct ts_parser *p, uint32_t start, uint32_t end, bool is_string) {
	if (is_string)
		return MEMBER_STRING;
	if (p->failed)
		return MEMBER_UNKNOWN;
	struct shape shape = shape_of(p->source + start, p->source + end);
	bool number = !shape.other && (!shape.names || (shape.arithmetic && !shape.plus));
	return number ? MEMBER_NUMBER : MEMBER_UNKNOWN;
}

/* "12", "-3", "0x10": the next member can continue from it. */
static bool whole_number(const struct ts_parser *p, uint32_t start, uint32_t end, int64_t *ret) {
	char text[24], *rest;
	uint32_t n = end - start;
	if (n >= sizeof text || p->failed)
		return false;
	memcpy(text, p->source + start, n);
	text[n] = '\0';
	const char *digits = text[0] == '-' ? text + 1 : text;
	bool plain = digits[0] >= '1' && digits[0] <= '9' && strspn(digits, "0123456789") == strlen(digits);
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') && digits[2];
	if (!plain && !hex && strcmp(digits, "0") != 0)
		return false;
	long long value = strtoll(digits, &rest, hex ? 16 : 10);
	if (*rest || value >= 1ll << 53)
		return false;
	*ret = text[0] == '-' ? -value : value;
	return true;
}

/* --- members --- */

/* Parse the key; in brackets only a literal is allowed. */
static void key(struct ts_parser *p, struct ts_member *member) {
	member->start = p->token.start;
	bool brackets = accept(p, '[');
	uint32_t start = p->token.start;
	if (is(p, T_STRING) || is(p, T_NUMBER) || (!brackets && p->token.kind == T_NAME)) {
		gb_ts_next(p);
	} else if (!brackets || !is(p, '`') || gb_ts_template_text(p, start + 1)) {
		gb_ts_fail(p, start,
		    brackets ? "the name of an enum's member cannot be computed"
			     : "expected the name of an enum's member");
		return;
	}
	member->key = (struct ts_name){start, p->previous_end - start};
	if (brackets)
		gb_ts_expect(p, ']');
	member->key_end = p->previous_end;
}

/* Declare the name by which other members can refer to it. */
static void declare_member(struct ts_parser *p, struct ts_name key) {
	bool quoted = !p->failed && (p->source[key.start] == '"' || p->source[key.start] == '\'');
	if (quoted)
		key = (struct ts_name){key.start + 1, key.length - 2};
	struct ts_decl *decl = ADD(p, decls);
	*decl = (struct ts_decl){.name = key, .scope = p->in.scope, .kind = DECL_MEMBER};
}

/* The value of the next member without an initializer. */
struct count {
	bool known;
	int64_t next;
};

static void value(struct ts_parser *p, struct ts_member *member, struct count *count) {
	uint32_t start = p->token.start;
	bool text = is(p, T_STRING) || is(p, '`');
	struct ts_token first = p->token;
	gb_ts_assignment(p, false);
	member->value_end = p->previous_end;
	bool one_token = first.end == p->previous_end;
	/* A template without expressions: the only backtick after the first is the last character. */
	bool is_string = text && !p->failed &&
			 (one_token || (first.kind == '`' && (is(p, ',') || is(p, '}')) &&
					   p->source[p->previous_end - 1] == '`' &&
					   !memchr(p->source + start + 1, '`', p->previous_end - start - 2)));
	member->type = type_of_value(p, start, p->previous_end, is_string);
	count->known = whole_number(p, start, p->previous_end, &count->next);
	count->next++;
}

static void member(struct ts_parser *p, uint32_t container, uint32_t previous, struct count *count) {
	struct ts_member member = {
	    .container = container, .value_end = TS_NONE, .previous = previous, .type = MEMBER_NUMBER};
	key(p, &member);
	declare_member(p, member.key);
	if (accept(p, '=')) {
		value(p, &member, count);
	} else {
		member.number_known = count->known;
		member.number = count->next++;
	}
	*(struct ts_member *)ADD(p, members) = member;
}

void gb_ts_enum(struct ts_parser *p, uint32_t start, uint32_t keyword, bool exported) {
	struct ts_context outer = p->in;
	p->instantiated = true;
	gb_ts_next(p);
	if (!at_identifier(p))
		gb_ts_fail(p, p->token.start, "expected the name of an enum");
	uint32_t container = gb_ts_open_container(p, (struct ts_container){
							 .name = token_name(&p->token),
							 .start = start,
							 .keyword = keyword,
							 .exported = exported,
							 .previous = p->previous,
						     });
	p->in.container = TS_NONE;
	gb_ts_next(p);
	gb_ts_expect(p, '{');
	struct count count = {.known = true};
	uint32_t previous = TS_NONE;
	while (more_before(p, '}')) {
		member(p, container, previous, &count);
		previous = p->members.n - 1;
		if (is(p, ','))
			gb_ts_blank_token(p);
		else
			break;
	}
	gb_ts_expect(p, '}');
	p->in = outer;
	p->last_blank = TS_NONE;
	if (container < p->containers.n)
		p->containers.items[container].end = p->previous_end;
}
