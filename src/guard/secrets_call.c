/* Passwords among the arguments of functions (new PDO(dsn, "user", "secret")) and in addresses. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum { CALL_MAX = 140, DSN_MAX = 200, USER_MAX = 128, ODD_MAX = 64 };

/* The pattern 'call-password' has the same names. The last text among the arguments @from to @to is the
 * password; where @sure is set it may be a plain word. */
static const struct call {
	const char *name;
	uint8_t from, to;
	bool sure;
} calls[] = {
    {"login(", 1, 1, true},
    {"authenticate(", 1, 1, false},
    {".auth(", 1, 1, false},
    {"getconnection(", 1, 2, true},
    {"pscredential(", 1, 1, true},
    {"basicauth(", 1, 1, true},
    {"basic_auth(", 1, 1, true},
    {"credentials.basic(", 1, 1, true},
    {"networkcredential(", 1, 1, true},
    {"passwordauthentication(", 1, 1, true},
    {"passwordcredentials(", 1, 1, true},
    {"passwordcredential(", 1, 1, true},
    {"authenticationtoken(", 1, 1, false},
    {"iccredentials(", 1, 1, true},
    {"awscredentials(", 1, 1, true},
    {"simple_bind_s(", 1, 1, true},
    {"simple_bind(", 1, 1, true},
    {"ldap_bind(", 2, 2, true},
    {"wifi.begin(", 1, 1, true},
    {"mysqli(", 2, 2, true},
    {"mysqli_connect(", 2, 2, true},
    {"mysql_connect(", 2, 2, true},
    {"mysql_pconnect(", 2, 2, true},
    {"real_connect(", 2, 2, true},
    {"pymysql.connect(", 2, 2, true},
    {"mysqldb.connect(", 2, 2, true},
    {"tor.connect(", 2, 2, true},
    {"pdo(", 2, 2, true},
    {"sequelize(", 2, 2, true},
    {"oci_connect(", 1, 1, true},
    {"imap_open(", 2, 2, true},
    {"ftp_login(", 2, 2, true},
    {"auth_password(", 2, 2, true},
    {"plainauth(", 2, 2, true},
    {"create_superuser(", 1, 2, true},
    {"create_user(", 1, 2, true},
    {"createuser(", 1, 2, false},
    {"password_hash(", 0, 0, false},
    {"hash_password(", 0, 0, false},
    {"hashpw(", 0, 0, false},
    {"hash::make(", 0, 0, false},
    {"bcrypt(", 0, 0, false},
    {"check_password(", 0, 0, false},
    {"set_password(", 0, 0, true},
    {"bcrypt.hash(", 0, 0, false},
    {"bcrypt.hashsync(", 0, 0, false},
    {"passwordencoder.encode(", 0, 0, false},
    {"passwordencoder().encode(", 0, 0, false},
    {"username_pw_set(", 1, 1, true},
    {"ssh.connect(", 3, 3, false},
    {"emailandpassword(", 1, 1, true},
    {"createhmac(", 1, 1, false},
    {"createcipher(", 1, 1, false},
    {"hash_hmac(", 2, 2, false},
    {"hmac256(", 0, 0, false},
    {"hmac512(", 0, 0, false},
    {"signwith(", 1, 1, false},
    {"httpdigestauth(", 1, 1, true},
    {"auth().basic(", 1, 1, true},
    {"ftplib.ftp(", 2, 2, true},
    {"password_verify(", 0, 0, false},
    {"bcrypt.compare(", 0, 0, false},
    {"bcrypt.comparesync(", 0, 0, false},
    {"make_password(", 0, 0, true},
    {"generate_password_hash(", 0, 0, true},
    {"login_user(", 1, 1, false},
    {"signin(", 1, 1, false},
    {"loginas(", 1, 1, false},
    {"bearer_auth(", 0, 0, true},
    {"bearerauth(", 0, 0, true},
    {"credentials(", 3, 3, false},
    {".connect(", 2, 3, false},
    {"oracle.connect(", 1, 1, true},
    {"oracledb.connect(", 1, 1, true},
    {"dbi->connect(", 2, 2, true},
    {"cookieparser(", 0, 0, false},
    {"jwt.sign(", 1, 1, false},
    {"jwt.verify(", 1, 1, false},
    {"jwt.encode(", 1, 1, false},
    {"jwt.decode(", 1, 1, false},
};

static bool is_quote(int c) {
	return c == '"' || c == '\'';
}

static const struct call *call_of(const uint8_t *name, size_t n) {
	for (size_t i = 0; i < GB_COUNT(calls); i++) {
		size_t j = 0;
		while (j < n && calls[i].name[j] && tolower(name[j]) == calls[i].name[j])
			j++;
		if (j == n && !calls[i].name[j])
			return &calls[i];
	}
	return NULL;
}

/* client.login("token"): alone it is no user, if it looks random. */
static bool is_lone_token(struct gb_named *text, const struct call *call, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_KEY, .joint = GB_JOINT_LIST};
	return call == calls && gb_guess_value(text, &place, p);
}

/* jwt.sign({ id: "x", role: "y" }, "secret"): the bracket that closes the object. */
static const uint8_t *object_end(struct gb_named *text, const uint8_t *p, const uint8_t *end) {
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '}';)
		p++;
	return p;
}

bool gb_call_find(struct gb_named *text, const uint8_t *name, const uint8_t *p) {
	const struct call *call = call_of(name, (size_t)(p - name));
	if (!call)
		return false;
	const struct gb_place place = {
	    .tail = GB_RX_PASSWORD, .joint = GB_JOINT_LIST, .pair = call->to < 3, .sure = call->sure};
	struct gb_named found = {0};
	const uint8_t *end = p + CALL_MAX, *held = NULL;
	unsigned index = 0;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != ')' && c != ';'; p++) {
		/* Some("x") */
		if (c == '(' && (p - name < 4 || memcmp(p - 4, "Some", 4) != 0))
			break;
		if (c == '{')
			p = object_end(text, p, end);
		index += c == ',';
		if (index > call->to)
			break;
		if (!is_quote(c))
			continue;
		if (index >= call->from || (call == calls && !index)) {
			held = held ? held : p + 1;
			if (index >= call->from ? gb_guess_value(text, &place, p)
						: is_lone_token(text, call, p))
				found = *text;
		}
		/* Behind what may be a password. */
		for (p++; p < end && (int)gb_named_at(text, p) != c && gb_named_at(text, p) >= 0;)
			p++;
		text->goes_on = false;
		text->from = text->end;
		if (text->cut)
			break;
	}
	if (held)
		text->from = held;
	if (text->cut || !found.to)
		return false;
	text->from = found.from;
	text->to = found.to;
	text->goes_on = found.goes_on;
	return true;
}

/* --- addresses --- */

static bool is_driver(struct gb_named *text, const uint8_t *p) {
	static const char *const drivers[] = {"tcp(", "unix(", "("};
	for (size_t i = 0; i < GB_COUNT(drivers); i++) {
		size_t n = 0;
		while (drivers[i][n] && gb_named_at(text, p + n) == drivers[i][n])
			n++;
		if (!drivers[i][n])
			return true;
	}
	return false;
}

static bool is_oracle(const uint8_t *name, const uint8_t *p) {
	return memmem(name, (size_t)(p - name), "racle", 5) != NULL;
}

bool gb_dsn_find(struct gb_named *text, const uint8_t *name, const uint8_t *p) {
	const uint8_t *end = p + DSN_MAX, *value = NULL;
	bool slash = is_oracle(name, p);
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != '\r'; p++) {
		if (c == '@' && value && value < p) {
			bool driver = slash || is_driver(text, p + 1);
			text->to = p;
			if (text->cut || driver)
				return !text->cut && gb_guess_is_password(value, p);
		}
		/* The last colon may stand behind the name itself: DSN: user:secret@tcp(host). */
		if (isspace(c) || strchr("\"'`=,", c)) {
			value = NULL;
			text->from = text->end;
		} else if (c == (slash ? '/' : ':') && !value) {
			text->from = value = p + 1;
		}
	}
	return false;
}

static bool is_userinfo(int c) {
	return c >= 0 && !isspace(c) && !strchr("/@\"'<>\\", c);
}

static bool is_port(const uint8_t *from, const uint8_t *to) {
	while (from < to && isdigit(*from))
		from++;
	return from == to;
}

/* user:p@ss@host, user:p/ss@host: the last '@' before the host ends the password; NULL if there is none. */
static const uint8_t *last_at(struct gb_named *text, const uint8_t *p) {
	const uint8_t *from = p, *last = NULL;
	for (int c; p - from < ODD_MAX && (c = gb_named_at(text, p)) >= 0 &&
		    (c == '/' || c == '@' || is_userinfo(c));
	     p++) {
		/* https://user:x@host/@scope */
		if (c == '/' && last)
			break;
		if (c == '@')
			last = p;
	}
	return last;
}

bool gb_userinfo_find(struct gb_named *text, const uint8_t *p) {
	const uint8_t *from = p;
	int c;
	unsigned ats = 0;
	/* https://bob@example.org:x@host: a user may be an address of mail. */
	for (; (is_userinfo(c = gb_named_at(text, p)) || (c == '@' && !ats++)) && c != ':'; p++)
		if (p - from == USER_MAX)
			return false;
	if (c != ':')
		return false;
	from = text->from = ++p;
	while (is_userinfo(c = gb_named_at(text, p)))
		if (p++ - from == GB_NAMED_VALUE)
			return false;
	const uint8_t *last = c == '@' || (c == '/' && !is_port(from, p)) ? last_at(text, p) : NULL;
	text->to = last ? last : p;
	/* ssh://git@host:22/x@1 */
	return last && !text->cut && (!ats || !isdigit(*from)) && gb_guess_is_password(from, last);
}
