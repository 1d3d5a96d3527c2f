/* What joins the name of a secret to its value: suffixes, quotes and brackets, signs. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum {
	SUFFIXES = 3,
	BLOCK_MAX = 200,
	ATTRIBUTES_MAX = 80,
	ACCESSORS_MAX = 32,
	USER_MAX = 64,
	DESCRIPTION_BEHIND = 60,
	TAG_MAX = 24
};

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

/* PASSWORD_DEV, passwordRouter: where or what a password is for. Behind the word at @p, or @p. */
static const uint8_t *further_word(struct gb_named *text, const uint8_t *p) {
	static const char *const words[] = {"dev", "prod", "staging", "stage", "test", "local", "live", "qa",
	    "uat", "ci", "router", "wifi", "wlan", "ap", "sta", "home", "admin", "root", "user", "db",
	    "database", "app", "main", "master", "backup", "web", "api", "google", "github", "telegram",
	    "mysql", "postgres", "redis", "mongo", "smtp", "mail", "ftp", "ssh", "server", "client",
	    "development", "production", "testing", "sandbox", "primary", "secondary", "one", "two", "three",
	    "four", "five", "net", "network", "openai", "for", "read", "write", "readonly", "remote",
	    "internal", "external", "global", "guest", "demo", "refresh", "openweather", "weather", "discord",
	    "slack", "twitter", "facebook", "gitlab", "aws", "azure", "gcp"};
	bool parted = p[-1] == '_' || p[-1] == '-', capital = isupper(gb_named_at(text, p));
	if (!parted && !(capital && islower(p[-1])))
		return p;
	for (size_t i = 0; i < GB_COUNT(words); i++) {
		const uint8_t *end = p + strlen(words[i]);
		if (!gb_named_is_at(text, p, words[i]))
			continue;
		int c = gb_named_at(text, end);
		/* password_application, PasswordTester; passwordWifiHome */
		if (!isalpha(c) || (isupper(c) && islower(end[-1])))
			return end;
	}
	return p;
}

/* secret_key_base, SecretAccessKey, token1: what may follow; anything else makes another word of it. */
const uint8_t *gb_joint_suffix(struct gb_named *text, const uint8_t *p) {
	static const char *const suffixes[] = {"key", "base", "value", "text", "access", "id", "confirmation",
	    "confirm", "phrase", "orkey", "string", "plain"};
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
		if (at == from && c != ' ' && c != '.')
			at = further_word(text, from);
		/* -pass keypass */
		if (at == from || text->cut || (c == ' ' && isalnum(gb_named_at(text, at))))
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
	size_t curly = gb_quote_curly(text, p);
	if (is_quote(c) || curly) {
		name->quoted = true;
		c = gb_named_at(text, p += curly ? curly : 1);
	}
	if (c == '[')
		for (unsigned i = 0; i < 6 && (c == '[' || isdigit(c)); i++)
			c = gb_named_at(text, ++p);
	if (c == ']')
		c = gb_named_at(text, ++p);
	/* fill('input[name=password]', 'x') */
	if (!name->quoted && is_quote(c) && p[-1] == ']' && name->prev == '=') {
		name->quoted = true;
		c = gb_named_at(text, ++p);
	}
	/* fill('input[name="password"]', 'x') */
	if (name->quoted && is_quote(c) && p[-1] == ']')
		c = gb_named_at(text, ++p);
	if (c == '?' && gb_named_at(text, p + 1) == ':') {
		name->optional = true;
		c = gb_named_at(text, ++p);
	}
	/* %PASSWORD%==x */
	if (c == '%' && name->prev == '%')
		c = gb_named_at(text, ++p);
	while (c == '*')
		c = gb_named_at(text, ++p);
	return p;
}

/* variable "db_password" { type = string, default = "x" }: behind "default", or NULL. */
static const uint8_t *default_of(struct gb_named *text, const uint8_t *p) {
	const uint8_t *end = p + BLOCK_MAX;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '}'; p++)
		if ((isspace(p[-1]) || is_quote(p[-1])) &&
		    (gb_named_is_at(text, p, "default") || gb_named_is_at(text, p, "example")))
			return p + 7 + is_quote(gb_named_at(text, p + 7));
	return NULL;
}

/* description = "The password of the database", default = "x" in the lines below: behind "default", or NULL. */
const uint8_t *gb_joint_described(struct gb_named *text, const struct gb_name *name, const uint8_t *p) {
	const uint8_t *at = name->from, *end = p + BLOCK_MAX;
	while (at > text->start && at[-1] != '\n' && name->from - at < DESCRIPTION_BEHIND &&
	       !gb_before_is(text, at, "escription"))
		at--;
	if (!gb_before_is(text, at, "escription"))
		return NULL;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '}' && c != '{'; p++) {
		if (c != '\n')
			continue;
		const uint8_t *line = gb_named_skip_blanks(text, p + 1, false);
		line += is_quote(gb_named_at(text, line));
		if (gb_named_is_at(text, line, "default")) {
			line += 7;
			line += is_quote(gb_named_at(text, line));
			return gb_named_skip_blanks(text, line, false);
		}
	}
	return NULL;
}

/* key="password" value="x"; {"name": "password", "value": "x"} */
const uint8_t *gb_joint_to_value(struct gb_named *text, const uint8_t *p) {
	static const char *const words[] = {"value", "android:value", "default", "--body", "/t reg_sz /d",
	    "--value", "--secret-string", "--type securestring --value"};
	p += gb_named_at(text, p) == ',';
	p = gb_named_skip_blanks(text, p, true);
	if (gb_named_at(text, p) == '{') {
		p = default_of(text, p + 1);
		return p ? gb_named_skip_blanks(text, p, false) : NULL;
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
	if (c < 0 || !strchr("=:|?!%<", c))
		return false;
	int next = gb_named_at(text, *p + 1);
	/* R: password <- "x" */
	if (c == '<') {
		const uint8_t *value = gb_named_skip_blanks(text, *p + 2, false);
		if (next != '-' || !is_quote(gb_named_at(text, value)))
			return false;
		place->joint = GB_JOINT_EQUALS;
		*p = value;
		return true;
	}
	/* password%3Dx */
	if (c == '%' && next == '3' && tolower(gb_named_at(text, *p + 2)) == 'd') {
		place->joint = GB_JOINT_EQUALS;
		*p += 3;
		return true;
	}
	if ((c == '|' && next == '|') || (c == '?' && next == '?') || (c == '!' && next == '=')) {
		place->joint = GB_JOINT_EQUALS;
		place->compared = c == '!';
		*p += 2 + (gb_named_at(text, *p + 2) == '=');
		return is_quote(gb_named_at(text, gb_named_skip_blanks(text, *p, false)));
	}
	/* Make and BitBake: NAME ?= x, NAME ??= x, NAME ::= x */
	if ((c == '?' && next == '=') || (c == ':' && next == ':' && gb_named_at(text, *p + 2) == '=')) {
		place->joint = GB_JOINT_EQUALS;
		*p += c == '?' ? 2 : 3;
		return true;
	}
	if (c != '=' && c != ':')
		return false;
	/* userPassword:: x, base64 in LDIF */
	if (c == ':' && next == ':' && gb_named_at(text, *p + 2) == ' ' && !place->spaced) {
		place->joint = GB_JOINT_COLON;
		*p += 2;
		return true;
	}
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
	place->compared = more > 0;
	/* What is compared with is a secret if it is a text, and a variable otherwise. */
	return !more || place->sure || is_quote(gb_named_at(text, gb_named_skip_blanks(text, *p, false)));
}

const uint8_t *gb_joint_method(struct gb_named *text, const uint8_t *p) {
	static const char *const methods[] = {".send_keys(", ".sendkeys(", ".type(", ".fill(", ".setvalue(",
	    ".val(", ".settext(", ".typetext(", ".equals(", ".equalsignorecase(", ".contentequals(", ".tobe(",
	    ".toequal(", ".to.equal(", ".to.eq(", ".to eq(", ".isequalto(", ".raw(", ".of(", ".from("};
	for (size_t i = 0; i < GB_COUNT(methods); i++)
		if (gb_named_is_at(text, p, methods[i])) {
			p += strlen(methods[i]);
			return is_quote(gb_named_at(text, p)) ? p : NULL;
		}
	return NULL;
}

const uint8_t *gb_joint_widget(struct gb_named *text, const uint8_t *p) {
	static const char *const widgets[] = {
	    "field", "input", "box", "textbox", "element", "elem", "edittext"};
	static const char *const values[] = {"{ target: { value: ", "{target: {value: "};
	const uint8_t *end = p += gb_named_at(text, p) == '_';
	/* passwordInputField */
	for (unsigned times = 0; times < 2; times++)
		for (size_t i = 0; i < GB_COUNT(widgets); i++)
			if (gb_named_is_at(text, end, widgets[i])) {
				end += strlen(widgets[i]);
				break;
			}
	if (end == p)
		return NULL;
	if (gb_named_at(text, end) != ',')
		return gb_joint_method(text, end);
	p = gb_named_skip_blanks(text, end + 1, false);
	for (size_t i = 0; i < GB_COUNT(values); i++)
		if (gb_named_is_at(text, p, values[i]))
			p += strlen(values[i]);
	return is_quote(gb_named_at(text, p)) ? p : NULL;
}

const uint8_t *gb_joint_attributes(struct gb_named *text, const uint8_t *p) {
	const uint8_t *end = p + ATTRIBUTES_MAX;
	int c, quote = 0;
	for (; p < end && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != '<'; p++) {
		if (is_quote(c) && (!quote || quote == c))
			quote = quote ? 0 : c;
		else if (c == '>' && !quote)
			return p[-1] == '/' ? NULL : p + 1;
	}
	return NULL;
}

/* setPassword("x"), .withToken("x"), .bearer_auth("x") */
bool gb_joint_is_setter(const struct gb_name *name) {
	static const char *const words[] = {"set", "with", "using", "change", "update", "reset"};
	const uint8_t *p = name->to;
	while (p > name->from && p[-1] != '.')
		p--;
	for (size_t i = 0; i < GB_COUNT(words); i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(name->to - p) > n && strncasecmp((const char *)p, words[i], n) == 0)
			return true;
	}
	return false;
}

/* changePassword("bob", "x"): @p is at the first quote. */
const uint8_t *gb_joint_second(struct gb_named *text, const uint8_t *p) {
	int quote = gb_named_at(text, p), c;
	const uint8_t *from = p++;
	/* It may be the secret itself. */
	text->from = p < text->end ? p : text->end;
	while (p - from < USER_MAX && (c = gb_named_at(text, p)) >= 0 && c != quote && c != '\n')
		p++;
	if (gb_named_at(text, p) != quote || gb_named_at(text, p + 1) != ',')
		return NULL;
	p = gb_named_skip_blanks(text, p + 2, false);
	return is_quote(gb_named_at(text, p)) ? p : NULL;
}

/* A call that converts a text, and what may open its string: Some("x"), []byte("x"), b64decode(b'x'). */
const uint8_t *gb_joint_wrapper(struct gb_named *text, const uint8_t *p) {
	static const char *const wrappers[] = {"some(", "string::from(", "secretstr(", "secret(",
	    "buffer.from(", "new string(", "secret.from(", "[]byte(", "[]uint8(", "bytes(", "bytearray(",
	    "string(", "str(", "std::string(", "std::string{", "atob(", "base64.b64decode(", "b64decode(",
	    "encoding.utf8.getbytes(", "encoding.ascii.getbytes(", "encoding.default.getbytes(",
	    "new textencoder().encode(", "convert.frombase64string(", "utf8.encode(", "keys.hmacshakeyfor(",
	    "new symmetricsecuritykey(", "symmetricsecuritykey(", "encodingkey::from_secret(",
	    "decodingkey::from_secret(", "array(", "f(", "strdup(", "text(", "cstring(", "new securestring(",
	    "new sensitivestring(", "sensitive(", "sensitive.new(", "{{ ", "redacted(", "securestring(",
	    "just ", "some ", "return ", "<<", "field(", "default=", "base64encode(", "b64encode(",
	    "base64_encode(", "btoa(", "md5(", "sha1(", "sha256(", "hashlib.md5(", "hashlib.sha256(",
	    "nonsensitive(", "pulumi.secret(", "quote(", "to_secret(", "aws.string(", "pulumi.string(",
	    "to.ptr(", "ptr(", "pointer.string(", "proto.string(", "to.stringptr(", "new guardedstring(",
	    "core.stringptr(", "types.stringvalue(", "secretvalue.unsafeplaintext("};
	const uint8_t *at = p;
	for (unsigned times = 0; times < 3; times++) {
		const uint8_t *from = at;
		int first = tolower(gb_named_at(text, at));
		for (size_t i = 0; at == from && i < GB_COUNT(wrappers); i++)
			if (*wrappers[i] == first && gb_named_is_at(text, at, wrappers[i]))
				at += strlen(wrappers[i]);
		if (at == from || text->cut)
			break;
		int c = gb_named_at(text, at);
		if (is_quote(c) || (c == 'b' && is_quote(gb_named_at(text, at + 1))))
			return at;
	}
	return p;
}

/* <input type="password" name="p" value="x">: behind @word without its sign, or NULL. */
const uint8_t *gb_joint_input_value(struct gb_named *text, const uint8_t *p, const char *word) {
	const uint8_t *end = p + ATTRIBUTES_MAX;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '>' && c != '\n'; p++)
		if (c == ' ' && gb_named_is_at(text, p, word) &&
		    is_quote(gb_named_at(text, p + strlen(word))))
			return p + strlen(word) - 1;
	return NULL;
}

/* !!str x, &anchor x, | and the value in the next line */
const uint8_t *gb_joint_yaml(struct gb_named *text, const uint8_t *p) {
	int c = gb_named_at(text, p);
	const uint8_t *at = p + 1;
	if (c == '|' || c == '>') {
		c = gb_named_at(text, at);
		at += c == '+' || c == '-';
		if (gb_named_at(text, at) != '\n' || gb_named_at(text, at + 1) != ' ')
			return p;
		return gb_named_skip_blanks(text, at + 1, false);
	}
	if (c != '!' && c != '&')
		return p;
	while (at - p < TAG_MAX && (c = gb_named_at(text, at)) > 0 && (isalnum(c) || strchr("!_-", c)))
		at++;
	/* pwd: &str = "x" */
	const uint8_t *value = gb_named_skip_blanks(text, at, false);
	return at > p + 1 && value > at && gb_named_at(text, value) != '=' ? value : p;
}

/* password = args.password or "x": the quote behind the other value, or NULL. */
const uint8_t *gb_joint_alternative(struct gb_named *text, const uint8_t *p) {
	static const char *const signs[] = {" or ", " || ", " ?? ", " ?: ", " else "};
	const uint8_t *from = p;
	int c = gb_named_at(text, p);
	if (c < 0 || !(isalpha(c) || c == '$'))
		return NULL;
	text->from = p;
	for (; p - from < ATTRIBUTES_MAX && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != ';'; p++)
		for (size_t i = 0; c == ' ' && i < GB_COUNT(signs); i++)
			if (gb_named_is_at(text, p, signs[i]) &&
			    is_quote(gb_named_at(text, p + strlen(signs[i]))))
				return p + strlen(signs[i]);
	return NULL;
}

/* strcmp(password, "x"), hash_equals($token, "x") */
bool gb_joint_is_argument(const struct gb_named *text, const struct gb_name *name) {
	static const char *const calls[] = {"cmp(", "cpy(", "quals(", "qual("};
	for (size_t i = 0; i < GB_COUNT(calls); i++)
		if (gb_before_is(text, name->from, calls[i]))
			return true;
	return false;
}

/* Password { get; set; } = "x", password { "x" }: where the value is, or NULL. */
const uint8_t *gb_joint_brace(struct gb_named *text, const uint8_t *p) {
	const uint8_t *at = gb_named_skip_blanks(text, p + 1, false);
	if (is_quote(gb_named_at(text, at)))
		return at;
	if (!gb_named_is_at(text, at, "get;"))
		return NULL;
	while (at - p < ACCESSORS_MAX && gb_named_at(text, at) >= 0 && gb_named_at(text, at) != '}')
		at++;
	return gb_named_is_at(text, at, "} = ") && is_quote(gb_named_at(text, at + 4)) ? at + 4 : NULL;
}
