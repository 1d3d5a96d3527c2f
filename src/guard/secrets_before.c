/* What stands before the name of a secret: the word that it ends, the line, a user. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum {
	USER_BEHIND = 40,
	NAME_BEHIND = 64,
	OPTION_BEHIND = 24,
	NETWORK_BEHIND = 60,
	SIGNER_BEHIND = 24,
	NAMESPACE_MAX = 8,
	BLANKS = 16
};

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

static bool is_word_byte(int c) {
	return isalnum(c) || strchr("_.$-", c);
}

/* <wsse:Password>: a namespace; @p is at the colon. */
static bool is_element(const struct gb_named *text, const uint8_t *p) {
	const uint8_t *colon = p;
	while (p > text->start && colon - p < NAMESPACE_MAX && isalnum(p[-1]))
		p--;
	return p < colon && p > text->start && p[-1] == '<';
}

void gb_before_word(const struct gb_named *text, const uint8_t *at, struct gb_name *name) {
	name->from = at;
	while (name->from > text->start && at - name->from < NAME_BEHIND && name->from[-1] &&
	       is_word_byte(name->from[-1]))
		name->from--;
	name->prev = name->from > text->start ? name->from[-1] : -1;
	if (name->prev == ':' && is_element(text, name->from - 1))
		name->prev = '<';
	/* "\\nPASSWORD=x": a line break inside of a text */
	if (name->prev == '\\' && name->from < at && (*name->from == 'n' || *name->from == 'r')) {
		name->from++;
		name->prev = '\n';
	}
}

/* SSHPASS */
static bool is_before_caps(const uint8_t *at, size_t n) {
	return isupper(*at) && n >= 3 && memcmp(at - 3, "SSH", 3) == 0;
}

/* bypass, compass and tokenpass are no names of passwords, storepass and DB_PASS are. */
bool gb_before_is_part(const struct gb_name *name, const uint8_t *at) {
	static const char *const known[] = {"store", "key", "require", "user", "db", "root", "my", "admin",
	    "wpa_", "rpc", "smtp", "mail", "login", "proxy", "ftp", "sudo", "become", "bind", "mysql", "pg",
	    "sta", "wifi", "wlan"};
	size_t n = (size_t)(at - name->from);
	if (!n || !isalpha(at[-1]) || (isupper(*at) && islower(at[-1])))
		return false;
	if (is_before_caps(at, n))
		return false;
	for (size_t i = 0; i < GB_COUNT(known); i++) {
		size_t length = strlen(known[i]), j = 0;
		while (
		    j < length && length <= n && tolower(at[(ptrdiff_t)j - (ptrdiff_t)length]) == known[i][j])
			j++;
		if (j == length)
			return false;
	}
	return true;
}

enum gb_echo gb_before_echo(const struct gb_name *name, const uint8_t *from, size_t n) {
	const uint8_t *end = name->to;
	for (const uint8_t *p = from + n; p > from; p--) {
		if (!isalnum(p[-1]))
			continue;
		while (end > name->from && !isalnum(end[-1]))
			end--;
		if (end == name->from || tolower(*--end) != tolower(p[-1]))
			return GB_ECHO_NONE;
	}
	while (end > name->from && !isalnum(end[-1]))
		end--;
	return end == name->from ? GB_ECHO_WHOLE : GB_ECHO_END;
}

bool gb_before_is_public(const struct gb_name *name) {
	for (const uint8_t *p = name->from; p + 6 <= name->to; p++)
		if (strncasecmp((const char *)p, "public", 6) == 0 ||
		    strncasecmp((const char *)p, "socket", 6) == 0)
			return true;
	return false;
}

bool gb_before_is_network(const struct gb_named *text, const struct gb_name *name) {
	static const char *const words[] = {"wifi", "wi-fi", "wlan", "ssid", "hotspot", "wireless"};
	const uint8_t *p = name->from;
	while (p > text->start && name->from - p < NETWORK_BEHIND && p[-1] != '\n')
		p--;
	for (; p < name->to; p++)
		for (size_t i = 0; i < GB_COUNT(words); i++)
			if ((*p | 0x20) == *words[i] && (size_t)(name->to - p) >= strlen(words[i]) &&
			    strncasecmp((const char *)p, words[i], strlen(words[i])) == 0)
				return true;
	return false;
}

bool gb_before_is_cookie(const struct gb_named *text, const struct gb_name *name) {
	const uint8_t *p = name->from;
	for (; p > text->start && name->from - p < NETWORK_BEHIND && p[-1] != '\n'; p--)
		if (gb_before_is(text, p, "ookie") || gb_before_is(text, p, "COOKIE") ||
		    gb_before_is(text, p, " -b "))
			return true;
	return false;
}

bool gb_before_is_signer(const struct gb_named *text, const struct gb_name *name) {
	for (const uint8_t *p = name->from; p > text->start && name->from - p < SIGNER_BEHIND; p--)
		if (strchr("\":_", *p) && *p &&
		    (gb_before_is(text, p, "Jwt") || gb_before_is(text, p, "JWT") ||
			gb_before_is(text, p, "jwt")))
			return true;
	return false;
}

static bool is_capital(const struct gb_name *name) {
	unsigned upper = 0;
	for (const uint8_t *p = name->from; p < name->to; p++) {
		if (islower(*p))
			return false;
		upper += isupper(*p) != 0;
	}
	return upper >= 2;
}

static void look_at_line(const struct gb_named *text, struct gb_name *name, struct gb_place *place) {
	/* Behind the first of them a name is in capitals, or it is prose: "set password". */
	static const char *const commands[] = {"set ", "ENV ", "ARG ", "-x ", "export ", "setenv ", "setx ",
	    "-e ", "--env ", "--build-arg ", "env:", "secret set ", "-var ", "-literal=", "configure set ",
	    "SetEnv ", "fastcgi_param ", "et_header ", "Header set "};
	const uint8_t *p = name->from;
	if (is_quote(name->prev))
		p--;
	for (size_t i = 0; p > text->start && strchr(" :=", p[-1]) && i < GB_COUNT(commands); i++)
		name->env |= gb_before_is(text, p, commands[i]) &&
			     (i >= 4 || place->capital || gb_before_is(text, p, "> set "));
	for (const uint8_t *at = p;
	     place->tail == GB_RX_PASSWORD && at > text->start && p - at < OPTION_BEHIND && at[-1] != '\n';
	     at--)
		name->env |= gb_before_is(text, at, "--set ");
	unsigned blanks = 0;
	while (p > text->start && blanks < BLANKS && strchr(" \t-*>#", p[-1]) && p[-1]) {
		p--;
		blanks++;
	}
	place->line = p == text->start || p[-1] == '\n' || p[-1] == '\r' || name->prev == '\n';
	/* - smtpPassword: x, an item of a list, which code does not have */
	place->compound |= blanks >= 2 && gb_before_is(text, name->from, "- ");
	place->flush = !blanks;
}

/* default password, root password: what follows is more likely the password than a remark about it. */
static bool is_qualified(const struct gb_named *text, const struct gb_name *name) {
	static const char *const words[] = {"default", "initial", "temporary", "temp", "generated", "root",
	    "admin", "administrator", "standard", "demo", "test", "new", "master", "login", "user",
	    "current"};
	const uint8_t *end = name->from - 1;
	for (size_t i = 0; i < GB_COUNT(words); i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - text->start) >= n && strncasecmp((const char *)end - n, words[i], n) == 0)
			return true;
	}
	return false;
}

/* (user: bob, password: x) */
static bool has_user(const struct gb_named *text, const struct gb_name *name) {
	const uint8_t *p = name->from;
	for (; p > text->start && name->from - p < USER_BEHIND && p[-1] != '\n'; p--)
		if ((p[0] == ':' || p[0] == '=') &&
		    (gb_before_is(text, p, "user") || gb_before_is(text, p, "[name") ||
			gb_before_is(text, p, "User") || gb_before_is(text, p, "ername") ||
			gb_before_is(text, p, "ogin") || gb_before_is(text, p, "mail") ||
			gb_before_is(text, p, "(un") || gb_before_is(text, p, " un") ||
			gb_before_is(text, p, "usr") || gb_before_is(text, p, "host") ||
			gb_before_is(text, p, "USER")))
			return true;
	return false;
}

/* set system root-authentication plain-text-password-value x */
static bool is_set_path(const struct gb_named *text, const struct gb_name *name) {
	static const char *const words[] = {
	    " the ", " a ", " your ", " up ", " new ", " this ", " an ", "= "};
	const uint8_t *p = name->from, *from = p;
	while (from > text->start && p - from < USER_BEHIND && from[-1] != '\n')
		from--;
	if ((from > text->start && from[-1] != '\n') || p - from < 6 || memcmp(from, "set ", 4) != 0)
		return false;
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (memmem(from, (size_t)(p - from), words[i], strlen(words[i])))
			return false;
	return true;
}

/* " password x", " set passwd x" */
static bool is_config(const struct gb_named *text, const struct gb_name *name) {
	const uint8_t *p = name->from;
	if (name->prev == ' ' && is_set_path(text, name))
		return true;
	p -= gb_before_is(text, p, "set ") ? 4 : 0;
	unsigned blanks = 0;
	for (; p > text->start && blanks < BLANKS && p[-1] == ' '; p--)
		blanks++;
	bool dotted = memchr(name->from, '.', (size_t)(name->to - name->from)) != NULL;
	return (blanks || dotted) && (p == text->start || p[-1] == '\n');
}

/* getValue($data, "db_password", "x"), config.get(section, "password", "x"): the name is the second argument of what
 * looks a value up; @quote is before it. */
static bool is_looked_up(const struct gb_named *text, const uint8_t *quote) {
	static const char *const calls[] = {
	    "get(", "Value(", "value(", "env(", "fetch(", "Option(", "option("};
	const uint8_t *p = quote;
	while (p > text->start && quote - p < USER_BEHIND && (is_word_byte(p[-1]) || strchr(", >[]'", p[-1])))
		p--;
	for (size_t i = 0; i < GB_COUNT(calls); i++)
		if (gb_before_is(text, p, calls[i]))
			return gb_before_is(text, quote, ", ");
	return false;
}

void gb_before_look(const struct gb_named *text, struct gb_name *name, struct gb_place *place) {
	int prev = name->prev;
	place->capital = is_capital(name);
	place->header = tolower(*name->from) == 'x' && name->from[1] == '-';
	place->query = prev == '?' || (prev == '&' && !gb_before_is(text, name->from, "&&"));
	place->link = prev == ';' || (prev == ' ' && gb_before_is(text, name->from, "; "));
	place->inside = is_quote(prev) && !name->quoted;
	place->apart = prev == ' ' || prev == ',';
	place->pair = (is_quote(prev) && name->from - 1 > text->start && name->from[-2] == '(') ||
		      (name->quoted && (prev == '#' || prev == '=')) ||
		      (name->quoted && is_quote(prev) && is_looked_up(text, name->from - 1));
	look_at_line(text, name, place);
	/* //registry/:_authToken=x */
	place->option = *name->from == '-' || (*name->from == '_' && prev == ':') || name->env ||
			gb_before_is(text, name->from, "-p:") || gb_before_is(text, name->from, "/p:");
	place->fallback = prev == '{' && gb_before_is(text, name->from, "${");
	place->qualified = prev == ' ' && is_qualified(text, name);
	place->known = (place->apart || prev == '/') && has_user(text, name);
	place->bracket = prev == '(' && (name->from - 1 == text->start || strchr(" \n", name->from[-2]));
	place->compound |= memchr(name->from, '_', (size_t)(name->to - name->from)) != NULL;
}

void gb_before_look_in_prose(
    const struct gb_named *text, const struct gb_name *name, struct gb_place *place) {
	place->config = is_config(text, name);
	place->told |= place->apart && name->to - name->from >= 8 && gb_told_is_behind_user(text, name);
}

/* proxy_pass of nginx has an address, and /etc/passwd is a file. */
bool gb_before_is_other(const struct gb_named *text, const struct gb_name *name, const uint8_t *at) {
	static const char *const words[] = {"proxy_", "fastcgi_", "uwsgi_", "scgi_", "grpc_", "memcached_"};
	if (name->prev == '/' && gb_before_is(text, name->from, "etc/"))
		return true;
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (gb_before_is(text, at, words[i]) && name->from + strlen(words[i]) == at)
			return true;
	return false;
}

/* apiToken, BOT_TOKEN; no nextToken, which parsers have. */
bool gb_before_is_credential(const struct gb_name *name, const uint8_t *at) {
	static const char *const words[] = {"api", "auth", "access", "bot", "bearer", "refresh", "session",
	    "user", "admin", "hub", "lab", "slack", "root", "app", "private", "personal", "secret", "vault",
	    "deploy"};
	const uint8_t *end = at > name->from && strchr("_-.", at[-1]) ? at - 1 : at;
	for (size_t i = 0; i < GB_COUNT(words); i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - name->from) >= n && strncasecmp((const char *)end - n, words[i], n) == 0)
			return true;
	}
	return false;
}

bool gb_before_is_doubtful(
    const struct gb_named *text, const struct gb_name *name, const uint8_t *at, int next, bool weak) {
	static const char *const words[] = {
	    "invalid", "missing", "expired", "error", "err_", "unknown", "public"};
	/* credentials: "include"; an access key is an identifier more often. */
	if (tolower(*at) == 'c' || strncasecmp((const char *)at, "access", 6) == 0 ||
	    (tolower(*at) == 'a' && tolower(at[4]) == 'o'))
		return true;
	/* $token, self.token; no nextToken, and no "Unexpected token: 'x'" */
	static const char *const owners[] = {"self.", "this.", "cfg.", "conf.", "config.", "Config.", "opts.",
	    "options.", "settings.", "Settings.", "client.", "Client.", "creds.", "credentials."};
	bool own = name->from == at || at[-1] == '$' || at[-1] == '@';
	for (size_t i = 0; !own && i < GB_COUNT(owners); i++)
		own = gb_before_is(text, at, owners[i]);
	bool worded =
	    next == ':' && name->prev == ' ' && name->from - 1 > text->start && islower(name->from[-2]);
	if (weak && (!own || worded))
		return true;
	for (const uint8_t *p = name->from; p < at; p++)
		for (size_t i = 0; i < GB_COUNT(words); i++)
			if ((size_t)(at - p) >= strlen(words[i]) &&
			    strncasecmp((const char *)p, words[i], strlen(words[i])) == 0)
				return true;
	return false;
}
