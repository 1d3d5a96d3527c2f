/* What stands around the name of a secret: whether a value follows, and where. */
#include "guard/secrets_named.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_match.h"
#include "guard/secrets_shape.h"

enum {
	DIALOGUE_BEHIND = 60,
	NAME_BEHIND = 40,
	OPTION_BEHIND = 24,
	BLANKS = 16,
	SCHEME_MAX = 12,
	TYPE_MAX = 20
};

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

/* --- behind the name --- */

/* "Authorization: Bearer x": what follows the scheme. */
static bool guess_authorization(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	/* "Authorization": []string{"Bearer x"} */
	p += gb_named_is_at(text, p, "[]string{") ? 9 : gb_named_at(text, p) == '[';
	if (gb_named_at(text, p) == '\\')
		p++;
	if (is_quote(gb_named_at(text, p)))
		p++;
	text->from = p < text->end ? p : text->end;
	for (unsigned i = 0; i < SCHEME_MAX && isalnum(gb_named_at(text, p + i)); i++)
		if (gb_named_at(text, p + i + 1) == ' ' || gb_named_is_at(text, p + i + 1, "\\ ")) {
			place->bearer = gb_named_is_at(text, p, "bearer");
			p += i + 2 + (p[i + 1] == '\\');
			place->chosen = true;
			break;
		}
	place->sure = true;
	return gb_guess_value(text, place, p);
}

/* Authorization, Proxy-Authorization, HTTP_AUTHORIZATION */
static bool is_authorization(struct gb_named *text, const struct gb_name *name) {
	static const char *const before[] = {"", "http_", "proxy-", "proxy_", "http_proxy_", "x-", "header_"};
	size_t n = (size_t)(name->to - name->from);
	for (size_t i = 0; i < GB_COUNT(before); i++)
		if (n == strlen(before[i]) + strlen("authorization") &&
		    (!i || gb_named_is_at(text, name->from, before[i])))
			return gb_named_is_at(text, name->to - strlen("authorization"), "authorization");
	return false;
}

/* USER bob, PASS x; client:PASS x, > PASS x: a dialogue. A test that has passed is reported otherwise. */
static bool is_dialogue(const struct gb_named *text, const struct gb_name *name) {
	const uint8_t *p = name->from;
	if (gb_before_is(text, p, "quote "))
		return true;
	p -= p > text->start && p[-1] == ' ';
	if (p > text->start && strchr(":>", p[-1]) && p[-1])
		return true;
	for (; p > text->start && name->from - p < DIALOGUE_BEHIND; p--)
		if (gb_before_is(text, p, "USER "))
			return true;
	return false;
}

/* auth=("alice", "x") */
static bool guess_pair(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	int quote = gb_named_at(text, ++p);
	if (!is_quote(quote))
		return false;
	for (unsigned i = 0; i < NAME_BEHIND && gb_named_at(text, ++p) != quote;)
		i++;
	if (gb_named_at(text, p) != quote || gb_named_at(text, p + 1) != ',')
		return false;
	p = gb_named_skip_blanks(text, p + 2, false);
	place->tail = GB_RX_PASSWORD;
	return is_quote(gb_named_at(text, p)) && gb_guess_value(text, place, p);
}

/* <password>x</password> */
static bool guess_element(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	place->joint = GB_JOINT_ELEMENT;
	/* <property name="password"><value>x</value> */
	p += gb_named_is_at(text, p, "<value>") ? 7 : 0;
	p += gb_named_is_at(text, p, "<![cdata[") ? 9 : 0;
	if (!gb_guess_value(text, place, p))
		return false;
	return text->goes_on || (p[-1] == '[' && gb_named_is_at(text, text->to, "]]>")) ||
	       (gb_named_at(text, text->to) == '<' && gb_named_at(text, text->to + 1) == '/');
}

static const uint8_t *stated_value(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	place->joint = GB_JOINT_COLON;
	place->spaced = place->stated = true;
	place->line = false;
	p = gb_named_skip_blanks(text, p + (gb_named_at(text, p) == ':'), false);
	p += gb_named_is_at(text, p, "\n`");
	text->from = p < text->end ? p : text->end;
	return gb_prose_opening(text, p, place);
}

static bool guess_wide(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	place->wide = true;
	return gb_guess_value(text, place, stated_value(text, place, p));
}

/* password is x, password for bob: x, password As String = "x": where the value begins, or NULL. */
static const uint8_t *value_in_sentence(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	size_t verb = gb_prose_verb(text, p);
	if (text->cut)
		return NULL;
	/* German has a verb that is said of nothing else. */
	place->qualified |= verb == 6;
	if (verb && !place->option)
		return stated_value(text, place, p + verb);
	/* are both `x` */
	const uint8_t *both = p + (gb_named_is_at(text, p, "are both ") ? 9
				      : gb_named_is_at(text, p, "are ") ? 4
									: 0);
	if (both > p && is_quote(gb_named_at(text, both)))
		return stated_value(text, place, both);
	/* initial password (`x`) */
	if (gb_named_is_at(text, p, "(`"))
		return stated_value(text, place, p + 1);
	/* the password **x**, the password ``x`` */
	if (place->tail == GB_RX_PASSWORD && name->to - name->from >= 6 &&
	    (gb_named_is_at(text, p, "**") || gb_named_is_at(text, p, "``")))
		return stated_value(text, place, p);
	/* a password of x */
	if (place->tail == GB_RX_PASSWORD && gb_named_is_at(text, p, "of ")) {
		place->told |= gb_before_is(text, name->from, " a ");
		const uint8_t *of = p + 3;
		int c = gb_named_at(text, of);
		if (is_quote(c) || isdigit(c) || place->told)
			return stated_value(text, place, of);
	}
	const uint8_t *value = gb_prose_description(text, p, place);
	if (!value && !text->cut && place->tail == GB_RX_PASSWORD && name->prev == ' ' &&
	    name->to - name->from >= 6 && (both = gb_told_example(text, p)) != NULL)
		return stated_value(text, place, both);
	if (!value && !text->cut && place->tail == GB_RX_PASSWORD && name->to - name->from > 4 &&
	    gb_named_is_at(text, p, "to "))
		value = p + 3;
	if (value) {
		/* Password [admin]: x */
		bool colon = value > p + 1 && value[-1] == ' ' && value[-2] == ':' && !place->stated;
		place->joint = colon ? GB_JOINT_COLON : GB_JOINT_PROSE;
		place->spaced |= colon;
		return value;
	}
	value = gb_prose_declared(text, p);
	if (value)
		place->joint = GB_JOINT_EQUALS;
	return value;
}

/* Behind blanks alone: where a value is certain to follow, or where it looks like nothing else. */
static bool guess_after_blank(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	static const char *const sure[] = {"requirepass", "masterauth", "IDENTIFIED BY"};
	int c = gb_named_at(text, p);
	place->joint = GB_JOINT_BLANK;
	/* The program that has this name is given the name of a network first. */
	if (name->to - name->from == 14 && gb_named_is_at(text, name->from, "wpa_passphrase"))
		return false;
	text->from = c < 0 ? text->end : p;
	/* proxy_set_header Authorization "Basic x" */
	if (gb_named_is_at(text, name->from, "authorization") &&
	    (is_quote(c) || gb_named_is_at(text, p, "basic") || gb_named_is_at(text, p, "bearer")))
		return guess_authorization(text, place, p);
	if (place->capital && place->line && p - name->to >= 2 && gb_told_is_option(text, p)) {
		place->sure = true;
		return gb_guess_value(text, place, p);
	}
	const uint8_t *value = text->cut ? NULL : value_in_sentence(text, name, place, p);
	if (value || text->cut)
		return value && gb_guess_value(text, place, value);
	for (size_t i = 0; i < GB_COUNT(sure); i++)
		place->sure |= (size_t)(name->to - name->from) == strlen(sure[i]) &&
			       memcmp(name->from, sure[i], strlen(sure[i])) == 0;
	bool sql = tolower(*name->from) == 'i';
	place->literal = place->capital && (sql || name->to - name->from == 8);
	place->sql = is_quote(c) && (sql || place->literal || gb_before_is(text, name->from, "with "));
	for (const uint8_t *at = name->from; at > text->start && name->from - at < OPTION_BEHIND + 16 * sql;
	     at--)
		place->sure |= (sql && gb_before_is(text, at, "user ")) ||
			       (place->capital && gb_before_is(text, name->from, "WITH ")) ||
			       gb_before_is(text, at, "login ") || gb_before_is(text, at, "wifi connect ");
	bool shortest = name->to - name->from <= 4;
	place->sure |= shortest && place->capital && is_dialogue(text, name);
	if (place->option || place->sure)
		return gb_guess_value(text, place, p);
	/* Other things pass; only a dialogue of FTP or POP3 has PASS at the beginning of a line. : PSK "x" */
	if (place->tail == GB_RX_PASSWORD && shortest && !place->known &&
	    !(place->capital && (place->line || is_quote(c))))
		return false;
	if (is_quote(c) && (place->capital || place->line || place->tail == GB_RX_PASSWORD ||
			       (place->chosen && place->qualified)))
		place->joint = GB_JOINT_EQUALS;
	else if (place->tail == GB_RX_PASSWORD)
		place->joint = is_quote(c) ? GB_JOINT_LIST : GB_JOINT_PROSE;
	else
		place->tail = GB_RX_KEY;
	if (place->joint == GB_JOINT_PROSE)
		gb_before_look_in_prose(text, name, place);
	return gb_guess_value(text, place, p);
}

static bool is_behind_bar(const struct gb_named *text, const struct gb_name *name) {
	const uint8_t *p = name->from;
	for (unsigned i = 0; i < BLANKS && p > text->start && strchr(" `*", p[-1]) && p[-1]; i++)
		p--;
	return p > text->start && p[-1] == '|';
}

static bool guess_joined(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	const uint8_t *value = gb_named_skip_blanks(text, p, false);
	place->spaced |= value > p;
	/* WITH PASSWORD = '#x' */
	place->literal |= place->capital && gb_before_is(text, name->from, "WITH ");
	place->sql |= place->literal;
	/* password?: Type */
	if (name->optional && !is_quote(gb_named_at(text, value)))
		return false;
	if (is_authorization(text, name))
		return guess_authorization(text, place, value);
	if (gb_named_at(text, value) == '(' ||
	    (gb_named_at(text, value) == '[' && name->to - name->from >= 4 &&
		gb_named_is_at(text, name->to - 4, "auth")))
		return guess_pair(text, place, value);
	/* user, password = "bob", "x" */
	const uint8_t *second = place->joint == GB_JOINT_EQUALS && is_quote(gb_named_at(text, value)) &&
					gb_before_is(text, name->from, ", ")
				    ? gb_joint_second(text, value)
				    : NULL;
	if (second || text->cut)
		return second && gb_guess_value(text, place, second);
	/* "password": { "value": "x" } */
	if (gb_named_at(text, value) == '{' && !place->query && gb_extent_encoding(text, value) == value &&
	    !gb_named_is_at(text, value, "{{ '") && !gb_named_is_at(text, value, "{{ \"")) {
		const uint8_t *inner = gb_joint_to_value(text, value + 1);
		if (!inner && !text->cut)
			inner = gb_joint_to_value(text, value);
		if (!inner || !gb_joint_sign(text, &inner, place))
			return false;
		inner = gb_named_skip_blanks(text, inner, false);
		return is_quote(gb_named_at(text, inner)) && gb_guess_value(text, place, inner);
	}
	if (place->joint == GB_JOINT_COLON &&
	    (gb_named_at(text, value) == '\n' || gb_named_at(text, value) == '\r')) {
		value = gb_prose_next_line(text, value);
		place->alone = true;
	}
	if (place->joint == GB_JOINT_COLON && place->spaced)
		value = gb_joint_yaml(text, value);
	text->from = value < text->end ? value : text->end;
	value = gb_prose_opening(text, value, place);
	if (place->joint == GB_JOINT_COLON || name->quoted)
		value = gb_prose_type(text, value);
	place->literal |= name->quoted && place->joint == GB_JOINT_COLON && !place->capital &&
			  place->tail == GB_RX_PASSWORD;
	place->field =
	    place->joint == GB_JOINT_COLON && !place->spaced && name->prev > 0 && strchr("{[ \n", name->prev);
	/* /password:x */
	place->option |= name->prev == '/' && place->joint == GB_JOINT_COLON && !place->spaced;
	if (gb_guess_value(text, place, value))
		return true;
	const uint8_t *other = text->cut ? NULL : gb_joint_alternative(text, value);
	place->joint = GB_JOINT_EQUALS;
	return other && place->tail != GB_RX_KEY && gb_guess_value(text, place, other);
}

/* <key>password</key> <string>x</string> */
static bool guess_next_element(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	for (unsigned tags = 0; tags < 2; tags++) {
		const uint8_t *from = p;
		if (gb_named_at(text, p) != '<')
			return false;
		while (p - from < TYPE_MAX && gb_named_at(text, p) >= 0 && gb_named_at(text, p) != '>')
			p++;
		if (gb_named_at(text, p) != '>')
			return false;
		p++;
		if (!tags)
			p = gb_named_skip_blanks(text, p, true);
	}
	place->sure = true;
	return guess_element(text, place, p);
}

/* passwordField.send_keys("x") */
static bool guess_written(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	place->joint = GB_JOINT_LIST;
	place->sure = true;
	return gb_guess_value(text, place, p);
}

/* {password, "x"}, put(Context.SECURITY_CREDENTIALS, "x"); @p is behind the comma. */
static bool guess_listed(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	place->pair |= !name->quoted;
	p = gb_named_skip_blanks(text, p, *name->from == '-');
	place->sure |= gb_named_is_at(text, p, "with: ");
	p += gb_named_is_at(text, p, "with: ") ? 6 : 0;
	place->joint = GB_JOINT_LIST;
	if (gb_quote_curly(text, p))
		return gb_guess_value(text, place, p);
	/* setHeader("Authorization", "Bearer x") */
	if (gb_named_is_at(text, name->from, "authorization") && is_quote(gb_named_at(text, p)))
		return guess_authorization(text, place, p);
	/* {"security": "PSK", "ssid": "x"}: what follows is the name of another value. */
	return is_quote(gb_named_at(text, p)) && gb_guess_value(text, place, p) &&
	       (text->goes_on || gb_named_at(text, text->to + 1) != ':');
}

/* INSERT INTO users (name, password_hash) VALUES ('bob', 'x'); @p is behind the column's name. */
static bool guess_column(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	int c = gb_named_at(text, p);
	const uint8_t *value = c == ',' || c == ')' ? gb_values_cell(text, name->from, p) : NULL;
	place->joint = GB_JOINT_EQUALS;
	return value && gb_guess_value(text, place, value) && gb_values_found(text, name->from);
}

/* Constants.SSL_KEY_STORE_PASSWORD */
static bool is_constant(const struct gb_name *name) {
	const uint8_t *p = name->to;
	for (; p > name->from && p[-1] != '.'; p--)
		if (!isupper(p[-1]) && !isdigit(p[-1]) && p[-1] != '_')
			return false;
	return p > name->from && memchr(p, '_', (size_t)(name->to - p));
}

/* Where no sign joins the name and its value. */
static bool find_further(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	const uint8_t *at = gb_named_skip_blanks(text, p, false), *value;
	int c = gb_named_at(text, at);
	if ((c == ',' || c == ')') && place->tail == GB_RX_PASSWORD && at == p) {
		bool found = guess_column(text, name, place, at);
		if (found || text->cut)
			return found;
	}
	if (place->tail == GB_RX_PASSWORD && at <= p + 1 && c >= 0 && strchr(",;\t\r\n", c)) {
		bool found = gb_csv_find(text, name->from, p);
		if (found || text->cut)
			return found;
	}
	/* my password's x */
	if (place->tail == GB_RX_PASSWORD && name->quoted && p[-1] == '\'' && name->prev == ' ' &&
	    gb_named_is_at(text, p, "s "))
		return gb_guess_value(text, place, stated_value(text, place, p + 2));
	if (c == ')' && name->quoted)
		return gb_method_find(text, place, at);
	/* expect(user.password).toBe("x") */
	value = c == ')' && at == p && place->tail == GB_RX_PASSWORD ? gb_joint_method(text, at + 1) : NULL;
	if (value)
		return guess_written(text, place, value);
	/* ($user, $pass) = ("bob", "x") */
	if (gb_named_is_at(text, at, ") = (") && is_quote(gb_named_at(text, at + 5))) {
		value = gb_joint_second(text, at + 5);
		return value && gb_guess_value(text, place, value);
	}
	if (c == 'w' && name->quoted && gb_named_is_at(text, at, "with ") &&
	    is_quote(gb_named_at(text, at + 5)))
		return guess_written(text, place, at + 5);
	if (c == '<' && gb_named_at(text, at + 1) == '/')
		return guess_next_element(text, place, at);
	value = c == '{' && !name->quoted ? gb_joint_brace(text, at) : NULL;
	if (value) {
		place->joint = GB_JOINT_EQUALS;
		return gb_guess_value(text, place, value);
	}
	value = gb_joint_to_value(text, p);
	if (!value && !text->cut && name->quoted && gb_before_is(text, name->from - 1, "type="))
		value = gb_joint_input_value(text, p, " value=");
	if (!value && !text->cut && name->quoted && *name->from == '-' && c == ',')
		value = gb_joint_input_value(text, p, " default=");
	if (!value && !text->cut && place->tail == GB_RX_PASSWORD && name->to - name->from >= 6)
		value = gb_joint_described(text, name, p);
	if (text->cut) {
		/* It may be a value itself. */
		const uint8_t *first = c == ',' ? gb_named_skip_blanks(text, at + 1, false) : at;
		first += c == ',' && first < text->end && is_quote(*first);
		text->from = (c == ',' || at > p) && first < text->end ? first : text->end;
		return false;
	}
	if (value && gb_joint_sign(text, &value, place)) {
		/* name: PASSWORD, and value: x in the next line */
		place->line |= place->joint == GB_JOINT_COLON;
		return guess_joined(text, name, place, value);
	}
	/* reg add KEY /v DefaultPassword /t REG_SZ /d x */
	place->option |= value && (c == '/' || c == '-' || c == '<');
	if (value && value > p && value[-1] == ' ')
		return gb_guess_value(text, place, value);
	if (c == ',' && (name->quoted || gb_joint_is_argument(text, name) || name->prev == ':' ||
			    name->prev == '{' || place->capital || is_constant(name))) {
		/* fill('input[name="password"]', 'x') */
		place->sure |= is_quote(p[-1]) && p[-2] == ']';
		/* flag.String("password", "x", "usage") */
		place->sure |= name->quoted && gb_before_is(text, name->from - 1, "lag.String(");
		return guess_listed(text, name, place, at + 1);
	}
	return at > p && guess_after_blank(text, name, place, at);
}

/* assertThat(box.getPassword()).isEqualTo("x"), String clientSecret() default "x"; @p is behind the brackets. */
static bool guess_called(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	if (gb_named_is_at(text, p, " default ")) {
		place->joint = GB_JOINT_EQUALS;
		return is_quote(gb_named_at(text, p + 9)) && gb_guess_value(text, place, p + 9);
	}
	const uint8_t *value =
	    place->tail == GB_RX_PASSWORD ? gb_joint_method(text, p + (gb_named_at(text, p) == ')')) : NULL;
	return value && guess_written(text, place, value);
}

static bool find_value(
    struct gb_named *text, const struct gb_name *name, struct gb_place *place, const uint8_t *p) {
	const uint8_t *at = gb_named_skip_blanks(text, p, false), *value;
	int c = gb_named_at(text, at);
	const uint8_t *sign = at;
	place->spaced = at > p;
	bool joined = gb_joint_sign(text, &at, place);
	/* What looks like a sign may be the first byte of a value; a prompt ends with a colon. */
	if (text->cut && sign > p && c >= 0 && c != ':') {
		text->from = sign;
		return false;
	}
	if (joined)
		return guess_joined(text, name, place, at);
	if (text->cut || c < 0)
		return false;
	if (c == '>' && (name->prev == '<' || name->quoted))
		return guess_element(text, place, at + 1);
	if (name->prev == '<' && at > p && (value = gb_joint_attributes(text, at)) != NULL)
		return guess_element(text, place, value);
	/* <setting name="Password" serializeAs="String"><value>x</value> */
	if (name->quoted && at > p && isalpha(c) && (value = gb_joint_attributes(text, at)) != NULL &&
	    gb_named_is_at(text, value, "<value>"))
		return guess_element(text, place, value);
	if (text->cut) {
		/* The attributes may turn out to be a value. */
		text->from = at < text->end ? at : text->end;
		return false;
	}
	if (c == '|' && (gb_named_at(text, at + 1) == ' ' || gb_named_at(text, at + 1) == '\n') &&
	    (is_behind_bar(text, name) || (place->capital && place->line))) {
		/* Types are joined by the same sign. */
		place->tail = place->tail == GB_RX_PASSWORD ? GB_RX_PASSWORD : GB_RX_KEY;
		place->sure = true;
		return gb_table_guess(text, name, place, at);
	}
	if (c == '\n' && place->tail == GB_RX_PASSWORD && is_behind_bar(text, name))
		return gb_table_find_below(text, name, at);
	size_t verb = gb_prose_wide_verb(text, at);
	if (verb || text->cut)
		return verb && guess_wide(text, place, at + verb);
	if (c == '(' && at == p && is_quote(gb_named_at(text, at + 1))) {
		place->joint = GB_JOINT_LIST;
		/* t.pass("equal") */
		place->pair = name->to - name->from > 4 && tolower(name->to[-1]) != 's';
		place->sure = gb_joint_is_setter(name);
		value = place->sure ? gb_joint_second(text, at + 1) : NULL;
		return !text->cut && gb_guess_value(text, place, value ? value : at + 1);
	}
	if (c == '.' && at == p && (value = gb_joint_method(text, at)) != NULL)
		return guess_written(text, place, value);
	if (c == '(' && at == p && gb_named_at(text, p + 1) == ')')
		return place->tail != GB_RX_KEY && guess_called(text, place, p + 2);
	/* config pypi-token.pypi x */
	if (c == '.' && at == p && !text->cut) {
		for (at++; at - p < TYPE_MAX && isalnum(gb_named_at(text, at));)
			at++;
		place->tail = GB_RX_KEY;
		place->joint = GB_JOINT_BLANK;
		return gb_named_at(text, at) == ' ' && gb_guess_value(text, place, at + 1);
	}
	return find_further(text, name, place, p);
}

/* encryption_key, jwt_key: people choose those like passwords. */
static bool is_key_of_cipher(struct gb_named *text, const uint8_t *at) {
	static const char *const words[] = {"encrypt", "cipher", "crypt", "aes", "hmac", "jwt"};
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (gb_named_is_at(text, at, words[i]))
			return true;
	return false;
}

/* How much the name [at, end) says about its value. */
static void classify(struct gb_named *text, const struct gb_name *name, struct gb_place *place,
    const uint8_t *at, const uint8_t *end) {
	enum gb_rx_tail tail = place->tail;
	bool id = name->to > end && tolower(name->to[-1]) == 'd';
	place->chosen = tail == GB_RX_SECRET && !id && (tolower(*at) == 's' || is_key_of_cipher(text, at));
	place->weak = (tail == GB_RX_PASSWORD && end - at <= 4 && at == name->from && !is_quote(name->prev) &&
			  tolower(at[1]) == 'a') ||
		      (tail == GB_RX_SECRET && tolower(*at) != 's' && !gb_named_is_at(text, end - 3, "key") &&
			  !gb_before_is_credential(name, at));
	/* String pass = "x", const char* pass = "x" */
	if (tail == GB_RX_PASSWORD && name->prev == ' ' &&
	    (gb_before_is(text, name->from, "String ") || gb_before_is(text, name->from, "char* ") ||
		gb_before_is(text, name->from, "char ")))
		place->weak = false;
	place->doubtful = tail == GB_RX_SECRET && (id || gb_before_is_doubtful(text, name, at,
							     gb_named_at(text, name->to), place->weak));
	/* WIFI_KEY */
	if (tail == GB_RX_KEY && end - at == 4 && *at == '_' && gb_before_is_network(text, name))
		place->tail = GB_RX_PASSWORD;
	/* put(Context.SECURITY_CREDENTIALS, "x"), of LDAP in Java */
	if (tail == GB_RX_SECRET && *at == 'C' && gb_before_is(text, at, "SECURITY_")) {
		place->tail = GB_RX_PASSWORD;
		place->doubtful = place->weak = false;
	}
	if (tail != GB_RX_KEY || end - at != 3)
		return;
	/* WiFi: Guests  Key: x */
	if ((name->from == at || at[-1] == '.') && gb_before_is_network(text, name))
		place->tail = GB_RX_PASSWORD;
	/* "Jwt": { "Key": "x" } */
	if (name->from == at && gb_before_is_signer(text, name)) {
		place->tail = GB_RX_SECRET;
		place->chosen = true;
	}
}

/* Cookie: session=x; token=y */
static void look_for_cookie(struct gb_named *text, const struct gb_name *name, struct gb_place *place,
    const uint8_t *at, const uint8_t *end) {
	bool session =
	    place->tail == GB_RX_KEY && tolower(end[-1]) != 'y' && (end - at >= 6 || tolower(*at) == 's');
	bool token = place->tail == GB_RX_SECRET && tolower(end[-1]) == 'n';
	if ((!session && !token) || gb_named_at(text, end) != '=' || !gb_before_is_cookie(text, name))
		return;
	place->tail = GB_RX_SECRET;
	place->sure = place->chosen = true;
}

/* [Password] or "passwords:" ends the line: what is behind the name, or NULL. */
static const uint8_t *heading_end(
    struct gb_named *text, const struct gb_name *name, const uint8_t *p, enum gb_rx_tail tail) {
	int c = gb_named_at(text, p);
	bool list = c == 's', section = name->prev == '[';
	if (tail == GB_RX_KEY || !(section ? list || c == ']' : list && tail == GB_RX_PASSWORD))
		return NULL;
	p += list;
	if (gb_named_at(text, p) != (section ? ']' : ':') || gb_named_at(text, p + 1) != '\n')
		return NULL;
	return section || gb_named_at(text, p + 2) == ' ' ? p : NULL;
}

/* [Password] alone in its line, and "Keystore = x" in the next one; @p is behind the name. */
static bool find_below_heading(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	int c;
	const uint8_t *name = p = gb_named_skip_blanks(text, p + 2, false);
	while (p - name < NAME_BEHIND && (c = gb_named_at(text, p)) >= 0 && (isalnum(c) || strchr("_-.", c)))
		p++;
	const uint8_t *sign = gb_named_skip_blanks(text, p, false);
	c = gb_named_at(text, sign);
	if (p == name || (c != '=' && c != ':'))
		return false;
	const uint8_t *value = gb_named_skip_blanks(text, sign + 1, false);
	place->joint = GB_JOINT_EQUALS;
	place->line = place->flush = true;
	place->weak = place->doubtful = false;
	place->name = NULL;
	return gb_guess_value(text, place, value);
}

bool gb_named_find(struct gb_named *text, const uint8_t *at, const uint8_t *p, enum gb_rx_tail tail) {
	struct gb_name name = {0};
	struct gb_place place = {.tail = tail};
	if (tail == GB_RX_COMMAND)
		return gb_command_find(text, at, p, p) && !text->cut;
	if (tail == GB_RX_CALL)
		return gb_call_find(text, at, p) && !text->cut;
	if (tail == GB_RX_USERINFO)
		return gb_userinfo_find(text, p) && !text->cut;
	if (tail == GB_RX_DSN)
		return gb_dsn_find(text, at, p) && !text->cut;
	if (tail == GB_RX_DIRECTIVE)
		return gb_directive_find(text, at, p) && !text->cut;
	if (tail == GB_RX_PAIR)
		return gb_pair_find(text, at, p) && !text->cut;
	if (tail == GB_RX_USERS)
		return gb_users_find(text, p) && !text->cut;
	if (tail == GB_RX_FORMER)
		return gb_former_find(text, p) && !text->cut;
	/* "pw=" and "key:" are names of two and three letters, with what joins them to the value. */
	while (p - at > 2 && strchr("=: \t\n\r\"'[](", p[-1]))
		p--;
	/* _pw */
	at += *at && strchr(" \t\r\n\f\v(;\"'", *at) != NULL;
	place.name = &name;
	gb_before_word(text, at, &name);
	if (tail == GB_RX_PASSWORD && (p - at <= 4 || (p - at == 5 && tolower(*at) == 'c')) &&
	    gb_before_is_part(&name, at))
		return false;
	if (tail == GB_RX_PASSWORD && gb_before_is_other(text, &name, at))
		return false;
	const uint8_t *end = p;
	name.to = p = gb_joint_suffix(text, p);
	if (text->cut) {
		/* What may be the beginning of a suffix behind a blank may also be a value. */
		text->from = p < text->end && *p == ' ' ? p + 1 : text->end;
		return false;
	}
	if (tail == GB_RX_KEY && gb_before_is_public(&name))
		return false;
	classify(text, &name, &place, at, end);
	int c = gb_named_at(text, p);
	const uint8_t *heading = heading_end(text, &name, p, tail);
	if (heading)
		return find_below_heading(text, &place, heading) && !text->cut;
	/* _Password_: x */
	if (c == '_' && *name.from == '_')
		while ((c = gb_named_at(text, p)) == '_')
			p++;
	if (c >= 0 && (isalnum(c) || c == '_')) {
		if (tail == GB_RX_PASSWORD && gb_named_is_at(text, p, "_hash"))
			return guess_column(text, &name, &place, p + 5) && !text->cut;
		const uint8_t *value = tail == GB_RX_PASSWORD ? gb_joint_widget(text, p) : NULL;
		return value && guess_written(text, &place, value) && !text->cut;
	}
	p = gb_joint_closing(text, p, &name);
	/* if %password%==x; <input type=password value=x> */
	place.sure = (name.prev == '%' && p[-1] == '%') || (name.prev == '=' && name.to > end && *end == ' ');
	gb_before_look(text, &name, &place);
	look_for_cookie(text, &name, &place, at, end);
	return find_value(text, &name, &place, p) && !text->cut;
}

bool gb_named_next(struct gb_named *text, const uint8_t *name, const uint8_t *p, enum gb_rx_tail tail) {
	const struct gb_named found = *text;
	*text =
	    (struct gb_named){.start = text->start, .end = text->end, .last = text->last, .from = text->end};
	if (!found.resume)
		return false;
	if (tail == GB_RX_COMMAND)
		return gb_command_find(text, name, p, found.resume) && !text->cut;
	return gb_cells_next(text, &found, name) && !text->cut;
}
