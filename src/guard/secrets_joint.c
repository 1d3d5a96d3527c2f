/* What joins the name of a secret to its value: suffixes, quotes and brackets, signs. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum { SUFFIXES = 3, BLOCK_MAX = 160 };

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

/* secret_key_base, SecretAccessKey, token1: what may follow; anything else makes another word of it. */
const uint8_t *gb_joint_suffix(struct gb_named *text, const uint8_t *p) {
	static const char *const suffixes[] = {
	    "key", "base", "value", "text", "access", "id", "confirmation", "confirm"};
	for (unsigned times = 0; times < SUFFIXES; times++) {
		int c = gb_named_at(text, p);
		const uint8_t *at = p + (c == '_' || c == '-' || c == ' ' || c == '.');
		const uint8_t *from = at;
		for (size_t i = 0; at == from && i < GB_COUNT(suffixes); i++)
			if (gb_named_is_at(text, at, suffixes[i]))
				at += strlen(suffixes[i]);
		const uint8_t *digits = at;
		while (at - digits < 2 && isdigit(gb_named_at(text, at)))
			at++;
		if (at > digits && isalnum(gb_named_at(text, at)))
			at = digits;
		if (at == from || text->cut)
			break;
		p = at;
	}
	return p;
}

/* What closes the name: a quote, also one with a backslash, a bracket, asterisks. */
const uint8_t *gb_joint_closing(struct gb_named *text, const uint8_t *p, struct gb_name *name) {
	int c = gb_named_at(text, p);
	if (c == '\\' && is_quote(gb_named_at(text, p + 1)))
		c = gb_named_at(text, ++p);
	if (is_quote(c)) {
		name->quoted = true;
		c = gb_named_at(text, ++p);
	}
	if (c == '[')
		for (unsigned i = 0; i < 6 && (c == '[' || isdigit(c)); i++)
			c = gb_named_at(text, ++p);
	if (c == ']')
		c = gb_named_at(text, ++p);
	/* fill('input[name="password"]', 'x') */
	if (name->quoted && is_quote(c) && p[-1] == ']')
		c = gb_named_at(text, ++p);
	if (c == '?' && gb_named_at(text, p + 1) == ':')
		c = gb_named_at(text, ++p);
	while (c == '*')
		c = gb_named_at(text, ++p);
	return p;
}

/* key="password" value="x"; {"name": "password", "value": "x"} */
const uint8_t *gb_joint_to_value(struct gb_named *text, const uint8_t *p) {
	static const char *const words[] = {"value", "default", "--body"};
	p += gb_named_at(text, p) == ',';
	p = gb_named_skip_blanks(text, p, true);
	if (gb_named_at(text, p) == '{') {
		p = gb_named_skip_blanks(text, p + 1, true);
		return gb_named_is_at(text, p, "default") ? gb_named_skip_blanks(text, p + 7, false) : NULL;
	}
	p += is_quote(gb_named_at(text, p));
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (gb_named_is_at(text, p, words[i])) {
			p += strlen(words[i]);
			p += is_quote(gb_named_at(text, p));
			return gb_named_skip_blanks(text, p, false);
		}
	return NULL;
}

/* ${PASSWORD:-x}, ${PASSWORD:=x}, ${PASSWORD-x}; Spring has ${PASSWORD:x}. */
static bool find_fallback(struct gb_named *text, const uint8_t **p, struct gb_place *place) {
	int c = gb_named_at(text, *p), sign = gb_named_at(text, *p + 1);
	if (sign < 0 || sign == '?' || sign == '+')
		return false;
	*p += c == ':' && (sign == '-' || sign == '=') ? 2 : 1;
	place->joint = GB_JOINT_EQUALS;
	return true;
}

bool gb_joint_sign(struct gb_named *text, const uint8_t **p, struct gb_place *place) {
	int c = gb_named_at(text, *p);
	if (place->fallback && (c == '-' || c == ':'))
		return find_fallback(text, p, place);
	/* Nothing is read beyond what could be the first byte of a value. */
	if (c < 0 || !strchr("=:|?!%", c))
		return false;
	int next = gb_named_at(text, *p + 1);
	/* password%3Dx */
	if (c == '%' && next == '3' && tolower(gb_named_at(text, *p + 2)) == 'd') {
		place->joint = GB_JOINT_EQUALS;
		*p += 3;
		return true;
	}
	if ((c == '|' && next == '|') || (c == '?' && next == '?') || (c == '!' && next == '=')) {
		place->joint = GB_JOINT_EQUALS;
		*p += 2 + (gb_named_at(text, *p + 2) == '=');
		return is_quote(gb_named_at(text, gb_named_skip_blanks(text, *p, false)));
	}
	if (c != '=' && c != ':')
		return false;
	if (next == '~' || (c == ':' && (next == ':' || next == '/')))
		return false;
	place->joint = c == '=' ? GB_JOINT_EQUALS : GB_JOINT_COLON;
	++*p;
	if (next == '>' || (c == ':' && (next == '=' || next == '-')))
		++*p;
	unsigned more = 0;
	for (; c == '=' && more < 2 && gb_named_at(text, *p) == '='; more++)
		++*p;
	for (unsigned i = 0; i < 2 && gb_named_at(text, *p) == '*'; i++)
		++*p;
	/* What is compared with is a secret if it is a text, and a variable otherwise. */
	return !more || is_quote(gb_named_at(text, gb_named_skip_blanks(text, *p, false)));
}
