/* Passwords that stand apart from a name: behind directives of devices and installers, and behind a user in
 * prose. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum {
	MODIFIERS = 3,
	INDENT = 8,
	WORDS = 6,
	WORD_MAX = 14,
	USER_MAX = 40,
	DESCRIPTION_MAX = 90,
	TAG_MAX = 60,
	PREFIX_MAX = 24,
	OPENINGS = 3,
	CLOSINGS = 5,
	LINES = 4,
	BLANKS = 32,
	TYPE_MAX = 24
};

/* --- reading --- */

static bool is_quote(int c) {
	return c == '"' || c == '\'' || c == '`';
}

const uint8_t *gb_named_skip_blanks(struct gb_named *text, const uint8_t *p, bool lines) {
	for (unsigned i = 0; i < BLANKS; i++, p++) {
		int c = gb_named_at(text, p);
		if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r')))
			break;
	}
	return p;
}

bool gb_named_goes_on(struct gb_named *text, const uint8_t *p, const char *word) {
	for (; *word; word++, p++) {
		int c = gb_named_at(text, p);
		if (c < 0 || tolower(c) != (uint8_t)*word)
			return false;
	}
	return true;
}

/* --- sentences --- */

/* Where a value begins behind a colon: in this line, or alone behind an empty one. */
static const uint8_t *skip_colon(struct gb_named *text, const uint8_t *p, struct gb_place *place) {
	if (gb_named_at(text, p) == ' ')
		return gb_named_skip_blanks(text, p, false);
	place->alone = true;
	return gb_named_at(text, p) == '\n' ? gb_prose_next_line(text, p) : NULL;
}

/* has been reset to: x: where the value begins, or NULL. */
static const uint8_t *behind_verb(struct gb_named *text, const uint8_t *p) {
	static const char *const verbs[] = {"set to", "changed to", "reset to", "was", "has been set to",
	    "should be", "has been changed to", "has been reset to", "is set to", "was reset to",
	    "was changed to", "was set to", "is now", "is", "updated to", "defaults to", "will be",
	    "\xc3\xa9"};
	int first = gb_named_at(text, p);
	if (first < 0 || !strchr("schriuwd\xc3", tolower(first)))
		return NULL;
	for (size_t i = 0; i < GB_COUNT(verbs); i++) {
		if (!gb_named_is_at(text, p, verbs[i]))
			continue;
		const uint8_t *end = p + strlen(verbs[i]);
		end += gb_named_is_at(text, end, " :") ? 2 : gb_named_at(text, end) == ':';
		if (gb_named_at(text, end) == ' ')
			return end + 1;
	}
	return NULL;
}

/* Password for admin: x. Password (temporary): x. AWS Secret Access Key [None]: x. PASSWORD elastic = x */
const uint8_t *gb_prose_description(struct gb_named *text, const uint8_t *p, struct gb_place *place) {
	static const char *const begins[] = {"for ", "of ", "to ", "(", "[", "padr", "por defecto", "inicial",
	    "temporal", "par d", "provisoire"};
	bool assigned = place->capital && place->line, described = false;
	const uint8_t *value = gb_named_is_at(text, p, "is ") ? NULL : behind_verb(text, p);
	place->stated |= value != NULL;
	if (value || text->cut)
		return value;
	for (size_t i = 0; i < GB_COUNT(begins); i++)
		described |= gb_named_is_at(text, p, begins[i]);
	if (!described && !assigned)
		return NULL;
	for (unsigned i = 0; i < DESCRIPTION_MAX; i++, p++) {
		int c = gb_named_at(text, p);
		if (c < 0 || c == '\n' || c == ';' || c == '{')
			return NULL;
		/* SET PASSWORD FOR bob = 'x' */
		if (c == ' ' && place->capital && gb_named_is_at(text, p, " = '"))
			return p + 3;
		if (c == ':')
			return described ? skip_colon(text, p + 1, place) : NULL;
		const uint8_t *stated = c == ' ' && described ? behind_verb(text, p + 1) : NULL;
		if (stated) {
			place->stated = true;
			return stated;
		}
		if (c == '=' || (c == ' ' && !described))
			return assigned && gb_named_is_at(text, p, " = ") ? p + 3 : NULL;
	}
	return NULL;
}

/* is, and what other languages have for it; 0 if nothing of the kind stands there. */
size_t gb_prose_verb(struct gb_named *text, const uint8_t *p) {
	static const char *const verbs[] = {"is", "ist", "lautet", "est", "es", "\xc3\xa9", "jest", "-", "->",
	    "\xe2\x80\x94", "\xe2\x80\x93", "\xe2\x86\x92"};
	for (size_t i = 0; i < GB_COUNT(verbs); i++) {
		size_t n = strlen(verbs[i]);
		if (gb_named_is_at(text, p, verbs[i]) &&
		    (gb_named_at(text, p + n) == ' ' || gb_named_at(text, p + n) == ':' ||
			gb_named_is_at(text, p + n, "\n`")))
			return n;
	}
	return 0;
}

/* Languages without blanks: their colon, and their verbs. */
size_t gb_prose_wide_verb(struct gb_named *text, const uint8_t *p) {
	static const char *const verbs[] = {
	    "\xef\xbc\x9a", "\xe4\xb8\xba", "\xe7\x82\xba", "\xe6\x98\xaf", "\xe3\x81\xaf"};
	for (size_t i = 0; i < GB_COUNT(verbs); i++)
		if (gb_named_is_at(text, p, verbs[i]))
			return strlen(verbs[i]);
	return 0;
}

/* <strong>, </b>, <code class="x">: behind the tag, or @p. */
static const uint8_t *skip_tag(struct gb_named *text, const uint8_t *p) {
	static const char *const tags[] = {"b", "strong", "code", "i", "em", "u", "td", "th", "span", "kbd",
	    "pre", "tt", "samp", "mark", "font", "p", "br", "div", "dd", "dt", "h1", "h2", "h3", "h4"};
	const uint8_t *at = p + 1;
	if (gb_named_at(text, p) != '<')
		return p;
	at += gb_named_at(text, at) == '/';
	for (size_t i = 0; i < GB_COUNT(tags); i++) {
		const uint8_t *end = at + strlen(tags[i]);
		int c;
		if (!gb_named_is_at(text, at, tags[i]) || (c = gb_named_at(text, end)) < 0 ||
		    !strchr("> /", c))
			continue;
		for (; end - p < TAG_MAX && (c = gb_named_at(text, end)) >= 0 && c != '\n'; end++)
			if (c == '>')
				return end + 1;
	}
	return p;
}

/* ESC [ 1 ; 3 2 m */
static const uint8_t *skip_colour(struct gb_named *text, const uint8_t *p) {
	const uint8_t *at = p;
	if (gb_named_at(text, at) != '\x1b' || gb_named_at(text, at + 1) != '[')
		return p;
	for (at += 2; at - p < TYPE_MAX && (isdigit(gb_named_at(text, at)) || gb_named_at(text, at) == ';');)
		at++;
	return gb_named_at(text, at) == 'm' ? at + 1 : p;
}

/* What opens a value without being a quote of code: **x**, quotes of prose, tags, colours. */
const uint8_t *gb_prose_opening(struct gb_named *text, const uint8_t *p, struct gb_place *place) {
	static const char *const marks[] = {
	    "**", "``", "\xe3\x80\x8c", "\xe3\x80\x8e", "\xe2\x80\x9c", "\xe2\x80\x98", "\xc2\xab", "&quot;"};
	for (unsigned times = 0; times < OPENINGS; times++) {
		const uint8_t *at = skip_colour(text, skip_tag(text, p));
		for (size_t i = 0; at == p && i < GB_COUNT(marks); i++)
			if (gb_named_is_at(text, p, marks[i]))
				at = p + strlen(marks[i]);
		if (at == p)
			break;
		p = gb_named_skip_blanks(text, at, false);
		place->stated = true;
	}
	return p;
}

/* jenkins_1  | */
static const uint8_t *skip_prefix(struct gb_named *text, const uint8_t *p) {
	const uint8_t *at = p;
	int c;
	while (at - p < PREFIX_MAX && (c = gb_named_at(text, at)) >= 0 && (isalnum(c) || strchr("_.-", c)))
		at++;
	at = at > p ? gb_named_skip_blanks(text, at, false) : p;
	if (at > p && gb_named_at(text, at) == '|')
		return gb_named_skip_blanks(text, at + 1, false);
	/* ```text */
	if (gb_named_is_at(text, p, "```"))
		for (at = p + 3; at - p < TYPE_MAX && isalpha(gb_named_at(text, at));)
			at++;
	return gb_named_is_at(text, p, "```") ? at : p;
}

const uint8_t *gb_prose_next_line(struct gb_named *text, const uint8_t *p) {
	for (unsigned lines = 0; lines < LINES; lines++) {
		int c = gb_named_at(text, p);
		if (c != '\n' && c != '\r')
			break;
		p = skip_prefix(text, gb_named_skip_blanks(text, p + 1, false));
	}
	return p;
}

/* find("password").send_keys("x") */
bool gb_method_find(struct gb_named *text, struct gb_place *place, const uint8_t *p) {
	unsigned n = 0;
	int c;
	/* find(By.xpath("//input[contains(@id, 'password')]")).send_keys("x") */
	while (n++ < CLOSINGS && (c = gb_named_at(text, p)) > 0 && strchr(")]\"", c))
		p++;
	/* type(find(By.name("password")), "x") */
	const uint8_t *further = gb_named_at(text, p) == ',' ? gb_named_skip_blanks(text, p + 1, false) : p;
	if (further > p && is_quote(gb_named_at(text, further))) {
		place->joint = GB_JOINT_LIST;
		return gb_guess_value(text, place, further);
	}
	static const char *const signs[] = {
	    " ?: ", " || ", " ?? ", " { ", " or ", ".value = ", ".value=", ".text = "};
	for (size_t i = 0; i < GB_COUNT(signs); i++)
		if (gb_named_is_at(text, p, signs[i])) {
			p += strlen(signs[i]);
			place->joint = GB_JOINT_EQUALS;
			return is_quote(gb_named_at(text, p)) && gb_guess_value(text, place, p);
		}
	const uint8_t *typed = gb_joint_method(text, p);
	if (typed) {
		place->joint = GB_JOINT_LIST;
		place->sure = true;
		return gb_guess_value(text, place, typed);
	}
	if (text->cut || gb_named_at(text, p) != '.')
		return false;
	for (n = 0, p++; n < TYPE_MAX && (isalpha(gb_named_at(text, p)) || gb_named_at(text, p) == '_'); n++)
		p++;
	place->joint = GB_JOINT_LIST;
	return gb_named_at(text, p) == '(' && is_quote(gb_named_at(text, p + 1)) &&
	       gb_guess_value(text, place, p + 1);
}

/* password: String = "x" */
const uint8_t *gb_prose_type(struct gb_named *text, const uint8_t *p) {
	const uint8_t *at = p;
	int c;
	/* string(9) "x", as PHP shows values */
	if (gb_named_is_at(text, p, "string(")) {
		for (at += 7; at - p < TYPE_MAX && isdigit(gb_named_at(text, at));)
			at++;
		return gb_named_is_at(text, at, ") \"") ? at + 2 : p;
	}
	while (at - p < TYPE_MAX && (c = gb_named_at(text, at)) >= 0 &&
	       (isalnum(c) || strchr("_&*[]<>?.", c) || (c == '\'' && at[-1] == '&') ||
		   (c == ' ' && gb_before_is(text, at, "'static"))))
		at++;
	if (at == p || gb_named_at(text, at) != ' ' || gb_named_at(text, at + 1) != '=' ||
	    gb_named_at(text, at + 2) != ' ')
		return p;
	if (gb_named_at(text, at + 3) == 'b' && is_quote(gb_named_at(text, at + 4)))
		return at + 3;
	return is_quote(gb_named_at(text, at + 3)) || gb_joint_wrapper(text, at + 3) > at + 3 ? at + 3 : p;
}

const uint8_t *gb_prose_declared(struct gb_named *text, const uint8_t *p) {
	const uint8_t *at = p += gb_named_is_at(text, p, "as ") ? 3 : 0;
	int c;
	while (at - p < TYPE_MAX && (c = gb_named_at(text, at)) >= 0 && (isalnum(c) || strchr("_&*()", c)))
		at++;
	if (at == p || gb_named_at(text, at) != ' ')
		return NULL;
	at += gb_named_at(text, at + 1) == ':';
	if (gb_named_at(text, at + 1) != '=' || gb_named_at(text, at + 2) != ' ')
		return NULL;
	return is_quote(gb_named_at(text, at + 3)) ? at + 3 : NULL;
}

/* --- directives --- */

static bool begins_line(const struct gb_named *text, const uint8_t *p) {
	for (unsigned i = 0; i < INDENT && p > text->start && p[-1] == ' '; i++)
		p--;
	return p == text->start || strchr("\n\r#>", p[-1]);
}

/* enable password 7 x, rootpw --plaintext x, pre-shared-key ascii-text x */
static bool is_modifier(const struct gb_argument *arg) {
	static const char *const words[] = {"ascii", "ascii-text", "local", "remote", "hex", "clear", "md5",
	    "unencrypted", "plain", "login", "cram-md5", "xoauth2", "default"};
	size_t n = (size_t)(arg->to - arg->from);
	if ((n == 1 && isdigit(*arg->from)) || (n > 2 && n <= 16 && memcmp(arg->from, "--", 2) == 0))
		return true;
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (n == strlen(words[i]) && strncasecmp((const char *)arg->from, words[i], n) == 0)
			return true;
	return false;
}

bool gb_prose_has_no_word(const uint8_t *from, const uint8_t *to) {
	for (const uint8_t *p = from; p < to; p++)
		if (isdigit(*p) || strchr("!@#$%^&*+?~", *p))
			return true;
	return false;
}

bool gb_prose_has_letter(const uint8_t *from, const uint8_t *to) {
	while (from < to && !isalpha(*from))
		from++;
	return from < to;
}

/* | admin@example.org | active | */
static bool is_role(const uint8_t *from, size_t n) {
	static const char *const words[] = {"active", "inactive", "enabled", "disabled", "pending",
	    "verified", "editor", "viewer", "owner", "member", "staff", "customer", "student", "teacher",
	    "seller", "buyer", "author", "moderator", "support", "sales", "superuser", "operator",
	    "developer", "employee", "doctor", "patient", "client", "vendor", "driver", "full", "read",
	    "write", "everything"};
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (n == strlen(words[i]) && strncasecmp((const char *)from, words[i], n) == 0)
			return true;
	return gb_prose_is_user(from, from + n);
}

/* admin@example.org: @p is at the last dot. */
static bool is_mail_of_user(const struct gb_named *text, const uint8_t *p) {
	const uint8_t *at = p, *from;
	while (at > text->start && p - at < USER_MAX && (isalnum(at[-1]) || strchr(".-", at[-1])))
		at--;
	if (at == text->start || at[-1] != '@')
		return false;
	from = --at;
	while (from > text->start && at - from < USER_MAX && isalnum(from[-1]))
		from--;
	return gb_prose_is_user(from, at);
}

/* "mypass", "adminpwd", "some-word"; @n is at least 4. */
static bool ends_like_password(const uint8_t *from, size_t n) {
	const char *end = (const char *)from + n - 4;
	return strncasecmp(end, "pass", 4) == 0 || strncasecmp(end, "word", 4) == 0 ||
	       strncasecmp(end + 1, "pwd", 3) == 0;
}

/* | admin | x |, admin@example.org / x: what else is in such cells is a role or a remark. */
static bool is_secret_behind_user(struct gb_named *text, const uint8_t *name, const struct gb_argument *arg) {
	const uint8_t *from = text->from, *to = text->to;
	size_t n = (size_t)(to - from);
	if (!gb_prose_has_letter(from, to))
		return false;
	int c = gb_named_at(text, gb_prose_skip_marks(text, arg->next, " `*"));
	bool alone = c < 0 || strchr("|\n\r", c);
	if (text->cut || (*name != '.' && !alone))
		return false;
	if (gb_prose_has_no_word(from, to))
		return true;
	/* | `admin` | `swordfish` | */
	if (*name != '.' && from[-1] == '`' && name > text->start && name[-1] == '`' && n >= 5 &&
	    gb_named_at(text, to) == '`' && !is_role(from, n) && !memchr(from, '.', n))
		return true;
	if (*name != '.')
		return n > 5 && ends_like_password(from, n);
	for (const uint8_t *p = from; p < to; p++)
		if (!islower(*p) && *p != '-')
			return false;
	return alone && n >= 5 && is_mail_of_user(text, name) && !is_role(from, n);
}

/* "admin | ": the name is a cell of a table. */
static bool is_cell(const uint8_t *name, const uint8_t *p) {
	return memchr(name, '|', (size_t)(p - name)) != NULL;
}

bool gb_directive_find(struct gb_named *text, const uint8_t *name, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_BLANK, .sure = true};
	struct gb_argument arg = {0};
	bool cell = *name == '.' || is_cell(name, p);
	text->from = p < text->end ? p : text->end;
	for (unsigned i = 0; i <= MODIFIERS; i++, p = arg.next) {
		if (!gb_argument_next(text, p, &arg) || text->cut)
			return false;
		if (!is_modifier(&arg))
			break;
	}
	/* A config in a text of code ends where the text does. */
	const uint8_t *to = arg.to;
	while (to > arg.from && strchr("`\"',.;", to[-1]))
		to--;
	text->from = arg.from + (arg.from < to && *arg.from == '`');
	text->to = to;
	if (text->from >= to || !gb_guess_is_secret(&place, text->from, to, false, ' ') ||
	    gb_shape_is_chosen_of_words(text->from, (size_t)(to - text->from), GB_SHAPE_WORD))
		return false;
	/* A cell behind an address of mail could be a name or a number; an answer to an installer is certain.
	 */
	if (cell)
		return is_secret_behind_user(text, name, &arg);
	if (gb_prose_has_no_word(text->from, to) || *name == '-')
		return true;
	/* A word, where prose has none: snmp-server community x RO */
	int next = gb_named_at(text, arg.next);
	bool last = next < 0 || next == '\n' || next == '\r';
	/* ip ospf message-digest-key 1 md5 x, ppp chap password 0 x */
	if (last && (strchr("dcnktri", tolower(*name)) || gb_named_is_at(text, name, "authentication-key")))
		return !text->cut;
	/* crypto isakmp key x address 10.0.0.1 */
	if (gb_named_is_at(text, name, "isakmp") && gb_named_is_at(text, arg.next, " address "))
		return true;
	return begins_line(text, name) && (tolower(*name) == 's' || last) && !text->cut;
}

/* --- a user and a password --- */

bool gb_prose_is_user(const uint8_t *from, const uint8_t *to) {
	static const char *const users[] = {"admin", "root", "guest", "test", "demo", "user", "administrator",
	    "postgres", "sa", "pi", "ubuntu", "elastic", "manager", "tomcat", "system", "kibana",
	    "superadmin", "sysadmin"};
	for (size_t i = 0; i < GB_COUNT(users); i++)
		if ((size_t)(to - from) == strlen(users[i]) &&
		    strncasecmp((const char *)from, users[i], strlen(users[i])) == 0)
			return true;
	return false;
}

const uint8_t *gb_prose_skip_marks(struct gb_named *text, const uint8_t *p, const char *marks) {
	int c;
	for (unsigned i = 0; i < INDENT && (c = gb_named_at(text, p)) > 0 && strchr(marks, c); i++)
		p++;
	return p;
}

/* The words between "credentials" and the user. */
static const uint8_t *skip_words(struct gb_named *text, const uint8_t *p) {
	static const char *const words[] = {"are", "is", "as", "with", "using", "use", "the", "default", "to",
	    "for", "user", "username", "credentials", "admin", "password", "of", "account", "administrator",
	    "both", "commonly", "usually", "typically", "often", "normally"};
	for (unsigned times = 0; times < WORDS; times++) {
		p = gb_prose_skip_marks(text, p, " :*()=>");
		unsigned n = 0;
		while (n < WORD_MAX && isalpha(gb_named_at(text, p + n)))
			n++;
		bool known = false;
		for (size_t i = 0; !text->cut && i < GB_COUNT(words); i++)
			known |= n == strlen(words[i]) && strncasecmp((const char *)p, words[i], n) == 0;
		int c = gb_named_at(text, p + n);
		/* "admin" may be the user. */
		if (!known || (c != ' ' && c != ':') || gb_named_at(text, p + n + 1) == '/' ||
		    (c == ':' && gb_named_at(text, p + n + 1) != ' '))
			break;
		p += n;
	}
	return p;
}

/* "basicAuth": "bob:x" */
static bool is_quoted_rest(struct gb_named *text, const uint8_t *p, int quote) {
	const uint8_t *from = p;
	int c;
	while (p - from < USER_MAX && (c = gb_named_at(text, p)) > ' ' && c != quote && c != ':')
		p++;
	text->to = p;
	return gb_named_at(text, p) == quote && gb_prose_has_letter(from, p) && gb_guess_is_password(from, p);
}

bool gb_pair_find(struct gb_named *text, const uint8_t *name, const uint8_t *p) {
	struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_PROSE, .stated = true};
	int c = gb_named_at(text, p);
	/* One more letter makes another word of it. */
	if (c < 0 || (p[-1] != ' ' && p[-1] != ':' && p[-1] != '(' && !strchr(" :*)=,\"'", c)))
		return false;
	/* BASIC_AUTH=bob:x, 'auth' => 'bob:x', setopt(CURLOPT_USERPWD, "bob:x") */
	bool joined_only = p - name >= 4 && (strncasecmp((const char *)p - 4, "auth", 4) == 0 ||
						strncasecmp((const char *)p - 4, "rpwd", 4) == 0);
	if (joined_only)
		p = gb_prose_skip_marks(text, p, tolower(p[-1]) == 'd' ? "\"' ,:=>" : "\"' :=>");
	else
		p = skip_words(text, p);
	p = gb_prose_skip_marks(text, p, "`*\"'");
	const uint8_t *user = p;
	while (p - user < USER_MAX && (c = gb_named_at(text, p)) >= 0 && (isalnum(c) || strchr("_.@+%-", c)))
		p++;
	if (p - user < 2)
		return false;
	const uint8_t *end = p;
	p = gb_prose_skip_marks(text, p, "`*\"'");
	p = gb_prose_skip_marks(text, p, " ");
	c = gb_named_at(text, p);
	/* the credentials are `root` and `x` */
	bool joined =
	    p > end + 1 && is_quote(*end) && tolower(*name) != 'd' && gb_named_is_at(text, p, "and `");
	if ((c != '/' && c != ':' && !joined) || (joined_only && (c != ':' || p > end)))
		return false;
	const uint8_t *value = gb_prose_skip_marks(text, p + (joined ? 4 : 1), " ");
	/* user: admin, which a name follows */
	if (c == ':' && value > p + 1)
		return false;
	text->from = value < text->end ? value : text->end;
	/* the default is to use next/babel */
	if (tolower(*name) == 'd' && !gb_prose_is_user(user, end))
		return false;
	/* credentials: bob:swordfish */
	place.qualified = c == ':';
	place.known = value == p + 1 && gb_prose_is_user(user, end) && strchr("cud", tolower(*name));
	/* Login: bob@example.org / x */
	place.sure = c == '/' && memchr(user, '@', (size_t)(end - user));
	if (gb_named_at(text, value) == '/')
		return false;
	if (joined_only && is_quote(user[-1]) && is_quoted_rest(text, value, user[-1]))
		return true;
	if (text->cut || !gb_guess_value(text, &place, gb_prose_skip_marks(text, value, "*")))
		return false;
	/* (main.ts:12:7) */
	return c != ':' || !memchr(text->from, ':', (size_t)(text->to - text->from));
}
