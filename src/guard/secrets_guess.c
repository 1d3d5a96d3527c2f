/* Whether a value that stands behind the name of a secret is one: by its shape, and by what stands around it.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum { VALUE_MIN = 4, MIXED_MIN = 6, LETTERS_MIN = 24, CAMEL_MIN = 14, APP_PASSWORD = 19 };

/* --- values in their context --- */

static bool ends_line(int next) {
	return next < 0 || next == '\n' || next == '\r';
}

static bool ends_loosely(int next) {
	return ends_line(next) || next >= 0x80 || strchr(" \t\"'`;&|<\\", next);
}

/* Where code has no variables: gb_shape_where. */
static unsigned setting_of(const struct gb_place *place) {
	return (place->capital ? GB_SHAPE_ENV : 0) | GB_SHAPE_SETTING;
}

/* jdbc.password */
static bool is_dotted(const struct gb_name *name) {
	return memchr(name->from, '.', (size_t)(name->to - name->from)) != NULL;
}

static bool is_hyphenated_name(const struct gb_name *name) {
	return memchr(name->from, '-', (size_t)(name->to - name->from)) != NULL;
}

/* jdbc.password, db-password: no name of a variable. */
static bool is_property(const struct gb_name *name) {
	return is_dotted(name) || is_hyphenated_name(name);
}

/* The same for a text in quotes. */
static unsigned words_of_text(const struct gb_place *place, const uint8_t *from, enum gb_echo echo) {
	bool word = place->tail == GB_RX_PASSWORD;
	/* :'new_password' is a variable of SQL, and PASSWORD = "password" the name of a field. */
	if (place->capital && (from[-2] == ':' || (echo && (echo == GB_ECHO_WHOLE || place->spaced))))
		return 0;
	return echo && !word ? 0 : GB_SHAPE_WORDS | (word ? GB_SHAPE_WORD : 0);
}

/* Whether words that name a value in code may be one here: flags of gb_shape_where. */
static unsigned words_of(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, bool quoted) {
	bool assigned = place->joint == GB_JOINT_EQUALS || place->joint == GB_JOINT_COLON;
	/* server.ssl.key-password = x is no code. */
	bool property = place->name && is_dotted(place->name) && is_hyphenated_name(place->name);
	bool flush =
	    place->line && place->flush && (!place->spaced || place->joint == GB_JOINT_COLON || property);
	enum gb_echo echo =
	    place->name && !s->blanks ? gb_before_echo(place->name, from, s->n) : GB_ECHO_NONE;
	if (place->compared || (echo && (!assigned || memchr(from, '_', s->n) || memchr(from, '-', s->n))))
		return 0;
	/* ConvertTo-SecureString "password" */
	if (quoted && place->sure && !place->name && place->joint == GB_JOINT_BLANK)
		return GB_SHAPE_WORDS | GB_SHAPE_WORD;
	if (quoted)
		return assigned ? words_of_text(place, from, echo) : 0;
	/* "spring.mail.password=password", ?password=password&user=bob */
	bool inner = place->inside && place->name && is_dotted(place->name);
	if (assigned && !place->spaced && place->tail == GB_RX_PASSWORD && (inner || place->query))
		return GB_SHAPE_WORDS | GB_SHAPE_WORD;
	/* --password string  password of the user */
	bool help = place->joint == GB_JOINT_BLANK && from[-1] == ' ' && from[-2] == ' ';
	if ((echo == GB_ECHO_WHOLE && !place->option) || help)
		return 0;
	/* An argument may have such a name: password=new_password */
	bool name = place->joint == GB_JOINT_COLON && memchr(from, '_', s->n);
	if (place->capital || place->option || (flush && !name && (!echo || is_property(place->name))))
		return GB_SHAPE_WORDS | GB_SHAPE_WORD;
	bool settled = (place->known && place->apart && !place->spaced) || place->sure || place->query ||
		       place->link || place->fallback || place->joint == GB_JOINT_ELEMENT;
	return settled && (!echo || place->joint == GB_JOINT_ELEMENT) ? GB_SHAPE_WORDS | GB_SHAPE_WORD : 0;
}

/* abcd efgh ijkl mnop, as Google makes them. */
static bool is_app_password(const struct gb_shape *s) {
	return s->n == APP_PASSWORD && s->blanks == 3 && s->lower == 16;
}

/* NkXcCwdo, but no userName. */
static bool is_made_of_letters(const struct gb_shape *s, const uint8_t *from) {
	return gb_shape_is_letters(s, from) && !gb_shape_is_camel_name(s, from);
}

/* ("password", "x"), .setPassword("x") */
static bool listed_is_secret(const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	bool certain = place->capital || place->option || place->closed;
	/* ["CLIENT_SECRET", "TRAFFIC_SECRET_0"] */
	if (!place->sure && !s->lower && memchr(from, '_', s->n) && gb_shape_names_a_value(from, s->n))
		return false;
	/* ("DB_PASSWORD", "secret") */
	bool repeats =
	    place->name && !gb_joint_is_setter(place->name) && gb_before_echo(place->name, from, s->n);
	unsigned words = place->tail == GB_RX_PASSWORD && place->name && !place->compared && !repeats
			     ? GB_SHAPE_WORDS | GB_SHAPE_WORD
			     : 0;
	if (place->sure)
		return gb_shape_is_value(s, from, VALUE_MIN, setting_of(place) | words);
	if (place->tail == GB_RX_PASSWORD)
		return (gb_shape_is_mixed(s, from) && s->digits) || is_app_password(s) ||
		       gb_shape_is_number(s) ||
		       (certain && !place->weak &&
			   gb_shape_is_value(s, from, VALUE_MIN, place->capital | words));
	if ((place->chosen && certain) ||
	    ((place->header || place->capital) && place->closed && !place->doubtful))
		return gb_shape_is_value(s, from, VALUE_MIN, place->capital);
	return (place->capital || place->closed) && gb_shape_is_mixed(s, from) && s->digits &&
	       s->n >= (place->closed ? MIXED_MIN : GB_SHAPE_RANDOM_MIN);
}

static bool has_parts(const struct gb_shape *s, const uint8_t *from) {
	return s->digits || memchr(from, '-', s->n) || memchr(from, '_', s->n);
}

/* Behind "api_key", which people choose less often than passwords, and "token", which parsers have too. */
static bool quoted_key_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	bool env = place->capital && place->joint == GB_JOINT_EQUALS && !place->spaced;
	if ((!place->doubtful || place->qualified) && !place->compared && (s->lower || !place->weak) &&
	    !gb_shape_is_camel_name(s, from) && (s->digits || !memchr(from, '.', s->n)) &&
	    gb_shape_is_value(s, from, place->weak ? MIXED_MIN : VALUE_MIN, place->capital))
		return true;
	return (gb_shape_is_mixed(s, from) && s->digits && s->n >= 8 &&
		   (s->token_like || gb_shape_is_jumble(s))) ||
	       gb_shape_is_chosen(s, from) || (s->digits == s->n && s->n >= 12) ||
	       (place->capital && place->joint == GB_JOINT_EQUALS && gb_shape_is_phrase(s, from)) ||
	       (place->capital && !place->doubtful && gb_shape_is_quoted_word(s, from)) ||
	       ((env || place->option || place->query) &&
		   gb_shape_is_value(s, from, VALUE_MIN, place->capital));
}

/* Words with signs between them, which labels do not have: vault-operator-token, sifre-güçlü. */
static bool is_hyphenated(const struct gb_shape *s, const uint8_t *from) {
	return !s->upper && !s->symbols && !memchr(from, '.', s->n) && memchr(from, '-', s->n) &&
	       *from != '-' && from[s->n - 1] != '-';
}

/* DB_PASSWORD = "password", 'PASSWORD': 'password' of Django: an enumeration has neither. */
static bool is_owned(const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	static const char *const owners[] = {"db_", "database_", "mysql_", "postgres", "mongo", "redis",
	    "admin_", "root_", "test_", "smtp", "mail_", "ftp_", "wifi", "mqtt", "user_", "default_",
	    "login_", "ssh_"};
	const struct gb_name *name = place->name;
	if (!name || !place->capital || s->lower != s->n || place->tail != GB_RX_PASSWORD || place->compared)
		return false;
	if (name->quoted && place->joint == GB_JOINT_COLON)
		return true;
	for (size_t i = 0; s->n > VALUE_MIN && i < GB_COUNT(owners); i++)
		if (gb_shape_has_part(name->from, (size_t)(name->to - name->from), owners[i]))
			return true;
	return false;
}

static bool names_one(const struct gb_shape *s, const uint8_t *from) {
	return gb_shape_has_part(from, s->n, "-token") || gb_shape_has_part(from, s->n, "-secret");
}

/* tulip:garden, #tulip; no address, path or sentence. */
static bool is_punctuated(const struct gb_shape *s, const uint8_t *from) {
	size_t signs = 0;
	for (size_t i = 0; i < s->n; i++)
		signs += strchr("#~=|;:,.@$", from[i]) && from[i];
	return signs && signs <= 2 && s->n >= MIXED_MIN && s->lower + s->upper + s->digits + signs == s->n &&
	       s->lower >= 3 && isalnum(from[s->n - 1]) && !gb_shape_names_a_value(from, s->n);
}

/* Where a text in quotes is a value whatever it says: PASSWORD 'secure_password', owner.password = "Dummy". */
static bool is_definite(const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	if (place->compared || s->n < VALUE_MIN || from[-2] == ':' || strchr("<[({?:", *from))
		return false;
	/* "operatorToken": "vault-operator-token" */
	bool assigned = place->joint == GB_JOINT_EQUALS || place->joint == GB_JOINT_COLON;
	enum gb_echo echo = place->name ? gb_before_echo(place->name, from, s->n) : GB_ECHO_NONE;
	if (place->tail != GB_RX_KEY && !s->blanks && assigned && !echo && is_hyphenated(s, from) &&
	    (place->tail == GB_RX_PASSWORD
		    ? !place->weak
		    : (place->joint == GB_JOINT_EQUALS || !gb_shape_is_placeholder(from, s->n, 0)) &&
			  (!place->doubtful || names_one(s, from))))
		return true;
	if (echo && (assigned || place->closed) && is_owned(place, s, from))
		return true;
	/* "client_secret": "secret" */
	if (echo == GB_ECHO_END && place->chosen && place->compound && place->name->quoted &&
	    place->joint == GB_JOINT_COLON && s->lower == s->n)
		return true;
	if (place->tail == GB_RX_PASSWORD ? place->weak : !place->chosen || place->doubtful)
		return false;
	if (place->sql)
		return from[-1] != '`' && (!s->blanks || s->digits);
	/* A setting of an environment may have letters of any language, and blanks. */
	if (place->capital && place->compound && place->joint == GB_JOINT_EQUALS && !place->spaced)
		return s->blanks ? s->blanks <= 4 &&
				       !gb_shape_is_message(from, s->n, place->name && place->name->env)
				 : s->foreign || (s->symbols && !gb_shape_names_a_value(from, s->n));
	/* SECRET_KEY = 'hard to guess string' */
	if (place->chosen && place->joint == GB_JOINT_EQUALS && place->line && s->blanks && s->blanks <= 5)
		return s->lower + s->blanks == s->n;
	/* password = "#tulip" */
	if (place->tail == GB_RX_PASSWORD && place->joint == GB_JOINT_EQUALS && !place->capital &&
	    is_punctuated(s, from))
		return true;
	/* getenv("DB_PASSWORD", "app_pass"), .withPassword("Dummy") */
	bool argument = place->joint == GB_JOINT_LIST &&
			(place->closed || (place->tail == GB_RX_PASSWORD && place->chosen)) &&
			(place->sure || place->capital ||
			    (place->tail == GB_RX_PASSWORD && place->name && is_dotted(place->name)));
	if (s->blanks || s->symbols || s->foreign || gb_shape_is_remark(from, s->n) || echo ||
	    !isalnum(*from) || memchr(from, '.', s->n))
		return false;
	if (argument)
		return s->lower && !s->digits;
	if (place->tail == GB_RX_PASSWORD)
		return assigned && s->lower && isalpha(*from);
	/* "SecretKey": "ThisIsASecretKeyForJwt"; SECRET_KEY = "mySecretKey" */
	bool spoken = gb_shape_has_part(from, 2, "my") || gb_shape_has_part(from, 4, "this") ||
		      gb_shape_has_part(from, 5, "super");
	if (place->joint == GB_JOINT_EQUALS)
		return !place->capital || spoken;
	return assigned && place->name && place->name->quoted && s->camel &&
	       (spoken || (s->n >= CAMEL_MIN && gb_shape_has_part(from, s->n, "secret")));
}

static bool quoted_is_secret(const struct gb_place *place, const struct gb_shape *s, const uint8_t *from) {
	/* ;Password='a;b="c'; */
	if (place->link && place->tail == GB_RX_PASSWORD && place->joint == GB_JOINT_EQUALS &&
	    !place->spaced && s->symbols && !s->blanks)
		return !gb_shape_is_placeholder(from, s->n, GB_SHAPE_SETTING);
	if (place->joint == GB_JOINT_LIST)
		return listed_is_secret(place, s, from);
	if (place->tail == GB_RX_SECRET && !place->chosen)
		return quoted_key_is_secret(place, s, from);
	if (!place->weak || place->known)
		return gb_shape_is_value(s, from, VALUE_MIN - 1,
		    (place->literal ? setting_of(place) : place->capital) | words_of(place, s, from, true));
	return gb_shape_is_mixed(s, from) || gb_shape_is_quoted_word(s, from) ||
	       gb_shape_is_phrase(s, from) || gb_shape_is_pin(s) || is_made_of_letters(s, from) ||
	       (s->foreign && s->digits && !s->blanks && s->n >= 8);
}

/* Where shells, addresses and connection strings have values, and code has none. */
static bool is_firm(const struct gb_place *place, int next) {
	if (place->fallback || place->sure || place->option || place->query || place->link ||
	    place->joint == GB_JOINT_ELEMENT)
		return true;
	if (place->joint != GB_JOINT_EQUALS || place->spaced)
		return false;
	return place->capital || place->inside || (place->line && ends_line(next));
}

/* A word or a number where nothing but a value stands. Prose and usage texts go on behind an option. */
static bool firm_is_value(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool capitals = s->upper && !s->lower && !s->digits;
	if (place->tail == GB_RX_SECRET && !place->chosen && !place->capital && !place->option &&
	    !place->query)
		return false;
	/* Bearer a.b.c has as many parts as a web token. */
	if (s->path && memchr(from, '.', s->n) && !s->digits &&
	    !(place->bearer && memchr(from, '.', s->n) != memrchr(from, '.', s->n)))
		return false;
	unsigned where = setting_of(place) | words_of(place, s, from, false);
	if (place->sure || (place->option && place->joint == GB_JOINT_EQUALS))
		return gb_shape_is_value(s, from, VALUE_MIN - 1, where | (place->bearer ? GB_SHAPE_ENV : 0));
	/* --password PW */
	if (place->joint == GB_JOINT_BLANK && (capitals || next == ','))
		return false;
	/* PASSWORD=someVariable in code that a program has made small. */
	bool text = place->inside && (next == '"' || next == '\'') && isupper(*from);
	if (gb_shape_is_camel_name(s, from) && !ends_line(next) && next != ' ' && !place->option &&
	    !place->query && !place->link && !text)
		return false;
	return gb_shape_is_value(s, from,
	    place->capital || place->query || place->link ? VALUE_MIN - 1 : VALUE_MIN,
	    where | (place->query ? GB_SHAPE_ENV : 0));
}

static bool firm_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	if (!ends_loosely(next) && !(place->fallback && next == '}') && !(place->option && next == ',') &&
	    !((place->query || place->known) && next == ')') && !(place->sure && next == '>') &&
	    !(place->bearer && next == ',') && !(place->joint == GB_JOINT_ELEMENT && next == ']'))
		return place->joint == GB_JOINT_EQUALS && gb_shape_is_mixed(s, from) &&
		       (!s->path || place->capital) && s->digits;
	bool word = gb_shape_is_word(s, from);
	if (place->tail == GB_RX_SECRET)
		word = place->capital && gb_shape_is_quoted_word(s, from) && !s->upper;
	/* "apiKey=123456" */
	bool number = place->inside && !place->weak && !place->doubtful && gb_shape_is_number(s);
	return gb_shape_is_mixed(s, from) || word || number || firm_is_value(place, s, from, next) ||
	       (place->tail == GB_RX_PASSWORD && (gb_shape_is_number(s) || gb_shape_is_letters(s, from) ||
						     gb_shape_is_quoted_word(s, from)));
}

/* Behind "is" or a verb: The default password is x. */
static bool stated_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	bool ends = ends_loosely(next) || strchr("),*", next);
	if (place->tail == GB_RX_PASSWORD && ends && gb_shape_is_pin(s))
		return true;
	bool word = gb_shape_is_word(s, from) || (gb_shape_is_quoted_word(s, from) && !s->upper) ||
		    s->lower == s->n || is_made_of_letters(s, from) ||
		    (place->qualified && gb_shape_is_quoted_word(s, from)) ||
		    (place->known && !s->upper && !s->symbols && !s->blanks && !s->foreign);
	if (place->tail == GB_RX_PASSWORD && !place->weak && (next != ' ' || place->known) && ends && word &&
	    (place->wide || place->known || !gb_shape_is_remark(from, s->n)) &&
	    gb_shape_is_value(s, from, VALUE_MIN, false))
		return true;
	return mixed && (s->digits || place->tail == GB_RX_PASSWORD) && ends &&
	       (place->tail == GB_RX_PASSWORD || (s->n >= 8 && !memchr(from, '$', s->n)));
}

/* password: x, where the value has the rest of the line or of a text in quotes. */
static bool colon_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	bool word =
	    gb_shape_is_word(s, from) || (place->line && gb_shape_is_quoted_word(s, from) && !s->upper);
	if (mixed || word || gb_shape_is_pin(s))
		return true;
	/* "password: password" is a line of YAML; code would be indented. */
	if (place->line && place->flush && !place->weak && ends_line(next) && s->lower == s->n &&
	    place->name && gb_before_echo(place->name, from, s->n) == GB_ECHO_WHOLE)
		return true;
	/* 'user: bob, password: NkXcCwdo' */
	if (!ends_line(next))
		return place->known && is_made_of_letters(s, from);
	if (is_made_of_letters(s, from))
		return true;
	return (!s->camel || place->compound || (place->line && !place->weak) ||
		   !gb_shape_is_camel_name(s, from)) &&
	       gb_shape_is_value(s, from, VALUE_MIN, setting_of(place) | words_of(place, s, from, false));
}

/* Other names than those of passwords. */
static bool loose_key_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	/* -H "X-Auth-Token: x" */
	if (place->inside && place->spaced && (next == '"' || next == '\'')) {
		if (!place->weak && !place->doubtful && place->header &&
		    gb_shape_is_value(s, from, VALUE_MIN, false))
			return true;
		return (mixed && s->n >= 8 && s->digits) ||
		       (s->n >= GB_SHAPE_RANDOM_MIN && gb_shape_is_letters(s, from) &&
			   gb_shape_is_unpronounceable(from, s->n, s->turns));
	}
	/* X-Auth-Token: swordfish, in the text of a request */
	if (place->header && place->line && place->flush && place->joint == GB_JOINT_COLON && place->spaced &&
	    ends_line(next) && s->n >= MIXED_MIN && !gb_shape_is_remark(from, s->n) &&
	    gb_shape_is_value(s, from, VALUE_MIN, GB_SHAPE_SETTING))
		return true;
	/* | Header: X-Auth-Token: abc123 | */
	if (place->header && place->joint == GB_JOINT_COLON && mixed && s->digits && s->n >= MIXED_MIN &&
	    !s->camel && ends_loosely(next))
		return true;
	/* nul token=x && next */
	if (place->apart && !place->spaced && place->joint == GB_JOINT_EQUALS && ends_loosely(next) &&
	    next != ';' && mixed && s->digits && s->n >= 8 && !s->camel &&
	    (!s->path || s->groups >= 2 || !memchr(from, '_', s->n) ||
		(s->acronym && s->n >= GB_SHAPE_RANDOM_MIN && s->lower)))
		return true;
	bool strong = !place->weak && !place->doubtful;
	/* Settings(secret_key=x, debug=True) */
	if (place->chosen && !place->spaced && place->joint == GB_JOINT_EQUALS &&
	    (next == ',' || next == ')') && mixed && s->digits && s->n >= 8 && s->turns * 3 >= s->n)
		return !gb_shape_names_a_value(from, s->n);
	if (strong && place->line && ends_line(next) && s->n >= MIXED_MIN && s->turns >= 2 &&
	    is_made_of_letters(s, from) && gb_shape_is_unpronounceable(from, s->n, s->turns))
		return true;
	if (strong && place->line && ends_line(next) && mixed && s->digits && !s->path && s->n >= MIXED_MIN)
		return true;
	if (strong && place->line && ends_line(next) && place->spaced && mixed && s->digits &&
	    s->n >= MIXED_MIN && place->joint == GB_JOINT_COLON && !s->camel)
		return true;
	/* secret: mySecretKeyForTokens; no line of code ends so */
	if (place->chosen && place->line && ends_line(next) && s->n >= CAMEL_MIN &&
	    s->lower + s->upper == s->n && s->camel && islower(*from))
		return gb_shape_has_part(from, s->n, "secret") && !gb_shape_is_form(from, s->n);
	if (place->chosen && place->line && ends_line(next) && place->joint == GB_JOINT_COLON &&
	    place->spaced)
		return (!s->camel || s->groups >= 2) && gb_shape_is_value(s, from, VALUE_MIN, place->capital);
	if (place->chosen && place->line && place->flush && ends_line(next) &&
	    place->joint == GB_JOINT_EQUALS)
		return !s->camel && gb_shape_is_value(s, from, VALUE_MIN, setting_of(place));
	/* Your access token: x */
	if (mixed && s->n >= 8 && s->digits && place->apart && place->joint == GB_JOINT_COLON &&
	    place->spaced && ends_line(next) && (!s->path || s->groups >= 2))
		return true;
	if (s->digits == s->n && s->n >= 12 && place->line && place->capital)
		return true;
	if (place->capital && place->line && ends_line(next) && !place->weak)
		return gb_shape_is_value(
		    s, from, has_parts(s, from) ? MIXED_MIN : 8, GB_SHAPE_ENV | GB_SHAPE_SETTING);
	return mixed && s->n >= 8 && place->line && ends_line(next) &&
	       (!s->path || !s->upper || s->groups >= 2);
}

static bool equals_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	/* LoginRequest(username=bob, password=x) */
	if (place->apart && !place->spaced && place->known && (next == ')' || next == ']') &&
	    (gb_shape_is_word(s, from) || gb_prose_is_user(from, from + s->n)))
		return true;
	/* -o username=bob,password=x,rw */
	if (place->apart && !place->spaced && place->known && next == ',' &&
	    (gb_shape_is_chosen(s, from) || gb_shape_is_pin(s) || (mixed && s->digits)))
		return !gb_shape_names_a_value(from, s->n);
	if (place->apart && !place->spaced && (next == ')' || next == ']' || next == ';' || next == ','))
		return mixed && s->digits && !s->camel && !gb_shape_names_a_value(from, s->n);
	/* Login(password=x, debug=True) */
	if (!place->spaced && (next == ',' || next == ')') && mixed && s->digits && s->turns * 3 >= s->n &&
	    !s->camel)
		return !gb_shape_names_a_value(from, s->n);
	/* "host=db user=alice password=lark" */
	if (place->apart && !place->spaced && place->known && ends_loosely(next) && next != ';' &&
	    gb_shape_is_value(s, from, VALUE_MIN, GB_SHAPE_SETTING | words_of(place, s, from, false)) &&
	    (!s->camel || s->symbols || is_made_of_letters(s, from)) && !memchr(from, '.', s->n))
		return true;
	/* Username = admin, Password = x */
	if (place->apart && place->known && ends_line(next) && gb_shape_is_word(s, from))
		return true;
	if (place->line && place->flush && ends_line(next))
		return mixed || is_made_of_letters(s, from) ||
		       (!s->camel &&
			   gb_shape_is_value(s, from, VALUE_MIN - place->compound, setting_of(place)));
	if (ends_line(next))
		return (mixed && (!s->path || (place->apart && !place->line && !place->spaced) ||
				     !gb_shape_names_a_value(from, s->n))) ||
		       gb_shape_is_number(s) || is_made_of_letters(s, from) ||
		       (place->apart && !place->spaced && (gb_shape_is_word(s, from) || gb_shape_is_pin(s)));
	/* user=alice password=hunter2 */
	if ((place->apart || place->flush) && !place->spaced && next == ' ' &&
	    (gb_shape_is_word(s, from) || gb_shape_is_pin(s)))
		return true;
	return mixed && s->digits && (!place->spaced || next == '<') && ends_loosely(next) && next != ';' &&
	       !memchr(from, '(', s->n);
}

/* YAML, INI, properties, prose. */
static bool loose_is_secret(
    const struct gb_place *place, const struct gb_shape *s, const uint8_t *from, int next) {
	bool mixed = gb_shape_is_mixed(s, from) && (s->digits || !s->path);
	if (place->alone)
		return ends_line(next) && s->n >= 8 && from[s->n - 1] != ':' &&
		       ((mixed && s->digits) || (gb_shape_is_letters(s, from) && s->turns * 4 >= s->n));
	if (place->stated)
		return stated_is_secret(place, s, from, next);
	if (place->field && place->tail == GB_RX_PASSWORD && (next == ' ' || next == ']' || next == '}'))
		return mixed && !(s->path && next == '}');
	/* "spring.mail.password:swordfish" */
	if (place->inside && place->joint == GB_JOINT_COLON && !place->spaced && place->name &&
	    is_dotted(place->name) && (next == '"' || next == '\'') &&
	    (place->tail == GB_RX_PASSWORD || place->chosen) &&
	    gb_shape_is_value(s, from, VALUE_MIN, GB_SHAPE_SETTING | words_of(place, s, from, false)))
		return true;
	/* DB_PASSWORD: marble_arch */
	if (place->capital && place->line && ends_line(next) && place->joint != GB_JOINT_PROSE &&
	    place->joint != GB_JOINT_BLANK && (place->tail == GB_RX_PASSWORD || place->chosen) &&
	    !(place->weak && s->upper) &&
	    gb_shape_is_value(
		s, from, VALUE_MIN - 1, GB_SHAPE_ENV | GB_SHAPE_SETTING | words_of(place, s, from, false)))
		return true;
	if (place->tail == GB_RX_SECRET)
		return loose_key_is_secret(place, s, from, next);
	if (place->joint == GB_JOINT_EQUALS)
		return equals_is_secret(place, s, from, next);
	if (place->joint == GB_JOINT_COLON && place->spaced &&
	    (ends_line(next) || next == '"' || next == '\'' || next == '`' ||
		(next == '<' && !gb_shape_is_remark(from, s->n))) &&
	    colon_is_secret(place, s, from, next))
		return true;
	/* - password:x */
	if (place->joint == GB_JOINT_COLON && !place->spaced && place->line && ends_line(next) &&
	    !place->weak && (gb_shape_is_word(s, from) || gb_shape_is_pin(s)) &&
	    !gb_shape_is_remark(from, s->n))
		return true;
	/* username:admin password:x */
	if (place->joint == GB_JOINT_COLON && !place->spaced && place->apart && place->known &&
	    ends_loosely(next) && gb_shape_is_word(s, from))
		return true;
	if (place->joint == GB_JOINT_PROSE && place->config && ends_line(next) &&
	    (s->lower == s->n || (s->lower + 1 == s->n && isupper(*from))) &&
	    !gb_shape_is_remark(from, s->n) && !gb_told_is_noun(from, s->n) &&
	    gb_shape_is_value(s, from, VALUE_MIN, GB_SHAPE_SETTING))
		return true;
	/* LDAP_BIND_PASSWORD swordfish */
	if (place->joint == GB_JOINT_PROSE && place->capital && place->compound && place->line &&
	    place->flush && ends_line(next) && gb_shape_is_word(s, from))
		return true;
	/* as user bob with password swordfish. */
	if (place->joint == GB_JOINT_PROSE && place->told && (ends_line(next) || strchr("\"'`),", next)) &&
	    gb_shape_is_word(s, from) && !gb_shape_is_remark(from, s->n) && !gb_told_is_noun(from, s->n))
		return true;
	if (place->joint == GB_JOINT_PROSE)
		return mixed && s->digits && (!s->camel || (s->symbols && s->groups >= 2)) &&
		       !memchr(from, '.', s->n) && (ends_loosely(next) || next == ')');
	/* (default password: x) */
	if (next == ')' && place->known && gb_prose_is_user(from, from + s->n))
		return true;
	if (next == ')' && (place->qualified || place->known || place->bracket) && gb_shape_is_word(s, from))
		return true;
	if (next == ')' || next == ',')
		return mixed && s->digits && place->spaced && place->tail == GB_RX_PASSWORD && !s->camel &&
		       !gb_shape_names_a_value(from, s->n) && !memchr(from, '.', s->n);
	/* {Password: Port:3306} */
	if (memchr(from, ':', s->n))
		return false;
	return mixed && s->digits && (!s->camel || next == '}') && (ends_loosely(next) || next == '}') &&
	       next != ';' && place->spaced;
}

bool gb_guess_is_password(const uint8_t *from, const uint8_t *to) {
	struct gb_shape s = gb_shape_of(from, to);
	if (s.n && gb_shape_is_placeholder(from, s.n, GB_SHAPE_SETTING))
		return false;
	return !gb_shape_stands_for_one(&s, from, to, false) && s.n >= VALUE_MIN - 1;
}

/* A value that has the rest of the line, where a type or a variable would have fewer capitals. */
static bool is_alone(const struct gb_place *place, const struct gb_shape *s, int next) {
	return ends_line(next) && s->acronym &&
	       (place->line || !place->spaced || place->joint == GB_JOINT_COLON) && !s->symbols;
}

static bool is_digits(const uint8_t *from, const uint8_t *to) {
	while (from < to && isdigit(*from))
		from++;
	return from == to;
}

// NOLINTNEXTLINE(misc-no-recursion): once, behind the digits
bool gb_guess_is_secret(
    const struct gb_place *place, const uint8_t *from, const uint8_t *to, bool quoted, int next) {
	struct gb_shape s = gb_shape_of(from, to);
	if (!s.n || gb_shape_stands_for_one(&s, from, to, quoted) || (!quoted && next == '(') ||
	    gb_shape_is_email(from, s.n))
		return false;
	/* ["password", "/v1/password"], ["--password", "--verbose"] */
	if (quoted && place->joint == GB_JOINT_LIST && !place->sure && (*from == '/' || *from == '-'))
		return false;
	/* --- PASS: TestLogin (0.00s) */
	if (!quoted && place->joint == GB_JOINT_COLON && s.n > 5 && memcmp(from, "Test", 4) == 0 &&
	    isupper(from[4]) && s.lower + s.upper == s.n)
		return false;
	/* 12|x, as Laravel makes tokens */
	const uint8_t *bar = memchr(from, '|', s.n);
	if (bar && bar > from && bar + 1 < to && is_digits(from, bar))
		return gb_guess_is_secret(place, bar + 1, to, quoted, next);
	if (gb_shape_is_base64(&s, from) || (quoted && place->capital && gb_shape_is_noise(&s)))
		return true;
	if (gb_shape_is_random(&s, from) &&
	    (quoted || !gb_shape_is_identifier(&s) || is_firm(place, next) || is_alone(place, &s, next)) &&
	    (place->tail != GB_RX_KEY || place->query || s.digits >= 2 ||
		(s.n >= LETTERS_MIN && is_made_of_letters(&s, from))))
		return true;
	/* options.password2, and --password --verbose */
	if (!quoted &&
	    ((s.path && memchr(from, '.', s.n) && gb_shape_names_a_value(from, s.n)) || *from == '-'))
		return false;
	if (place->capital && s.n >= GB_SHAPE_RANDOM_MIN && s.upper == s.n && !s.same)
		return true;
	if (place->tail == GB_RX_KEY && quoted && place->capital && gb_shape_is_jumble(&s))
		return true;
	/* Premium Key: ABCD2024X7 */
	if (place->tail == GB_RX_KEY && !quoted && place->joint == GB_JOINT_COLON && place->spaced &&
	    place->line && ends_line(next) && s.upper >= 4 && !s.lower && s.digits >= 2 && s.n >= 10)
		return true;
	if (place->tail == GB_RX_KEY &&
	    (gb_shape_is_grouped(&s, from) ||
		(quoted && s.n >= 20 && s.upper >= 8 && !s.lower && s.digits >= 4 && s.token_like)))
		return true;
	if (place->tail == GB_RX_KEY)
		return (quoted || place->capital) && place->joint == GB_JOINT_EQUALS &&
		       gb_shape_is_chosen(&s, from);
	if (quoted && is_definite(place, &s, from) && !gb_shape_is_form(from, s.n))
		return true;
	if (quoted)
		return !gb_shape_is_name_of_one(&s, from) && quoted_is_secret(place, &s, from);
	if (is_firm(place, next))
		return firm_is_secret(place, &s, from, next);
	return loose_is_secret(place, &s, from, next);
}
