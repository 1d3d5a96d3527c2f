/* Passwords among the arguments of functions (new PDO(dsn, "user", "secret")) and in addresses. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"
#include "guard/secrets_shape.h"

enum { CALL_MAX = 140, DSN_MAX = 200, USER_MAX = 128, ODD_MAX = 64 };

/* The patterns 'call-password' and 'call-secret' have the same names. The last text among the arguments @from
 * to @to is the password, if it looks like what is wanted there. */
enum wanted {
	MIXED,  /* letters with digits or signs */
	ANY,    /* also a plain word */
	RANDOM, /* only what a machine made */
	PAIR,   /* user:secret */
	SIGNER  /* ANY, also "secret" and "my-secret" */
};

static const struct call {
	const char *name;
	uint8_t from, to;
	enum wanted wanted;
} calls[] = {
    {"login(", 1, 1, ANY},
    {"authenticate(", 1, 1, MIXED},
    {"loginuser(", 1, 1, ANY},
    {".auth(", 0, 1, MIXED},
    {":auth(", 0, 1, MIXED},
    {".basic(", 1, 1, ANY},
    {"authorization_basic(", 1, 1, ANY},
    {"wlan.connect(", 1, 1, ANY},
    {"wifi.connect(", 1, 1, ANY},
    {"sta_if.connect(", 1, 1, ANY},
    {"->connect(", 2, 2, ANY},
    {"createasync(", 1, 1, MIXED},
    {"passwordsigninasync(", 1, 1, ANY},
    {"secretcredential(", 2, 2, MIXED},
    {"wallet(", 0, 0, RANDOM},
    {"privatekeytoaccount(", 0, 0, RANDOM},
    {"getconnection(", 1, 2, ANY},
    {"pscredential(", 1, 1, ANY},
    {"basicauth(", 1, 1, ANY},
    {"httpbasic(", 1, 1, ANY},
    {"basic_auth(", 1, 1, ANY},
    {"credentials.basic(", 1, 1, ANY},
    {"networkcredential(", 1, 1, ANY},
    {"passwordauthentication(", 1, 1, ANY},
    {"passwordcredentials(", 1, 1, ANY},
    {"passwordcredential(", 1, 1, ANY},
    {"authenticationtoken(", 1, 1, MIXED},
    {"iccredentials(", 1, 1, ANY},
    {"awscredentials(", 1, 1, ANY},
    {"simple_bind_s(", 1, 1, ANY},
    {"simple_bind(", 1, 1, ANY},
    {"ldap_bind(", 2, 2, ANY},
    {"wifi.begin(", 1, 1, ANY},
    {"mysqli(", 2, 2, ANY},
    {"mysqli_connect(", 2, 2, ANY},
    {"mysql_connect(", 2, 2, ANY},
    {"mysql_pconnect(", 2, 2, ANY},
    {"real_connect(", 2, 2, ANY},
    {"pymysql.connect(", 2, 2, ANY},
    {"mysqldb.connect(", 2, 2, ANY},
    {"tor.connect(", 2, 2, ANY},
    {"pdo(", 2, 2, ANY},
    {"sequelize(", 2, 2, ANY},
    {"oci_connect(", 1, 1, ANY},
    {"imap_open(", 2, 2, ANY},
    {"ftp_login(", 2, 2, ANY},
    {"auth_password(", 2, 2, ANY},
    {"plainauth(", 2, 2, ANY},
    {"create_superuser(", 1, 2, ANY},
    {"create_user(", 1, 2, ANY},
    {"createuser(", 1, 2, MIXED},
    {"password_hash(", 0, 0, ANY},
    {"hash_password(", 0, 0, ANY},
    {"hashpw(", 0, 0, ANY},
    {"hash::make(", 0, 0, ANY},
    {"bcrypt(", 0, 0, MIXED},
    {"check_password(", 0, 0, ANY},
    {"set_password(", 0, 0, ANY},
    {"bcrypt.hash(", 0, 0, ANY},
    {"bcrypt.hashsync(", 0, 0, ANY},
    {"passwordencoder.encode(", 0, 0, ANY},
    {"passwordencoder().encode(", 0, 0, ANY},
    {"username_pw_set(", 1, 1, ANY},
    {"ssh.connect(", 3, 3, MIXED},
    {"emailandpassword(", 1, 1, ANY},
    {"createhmac(", 1, 1, MIXED},
    {"createcipher(", 1, 1, MIXED},
    {"hash_hmac(", 2, 2, MIXED},
    {"hmac256(", 0, 0, MIXED},
    {"hmac512(", 0, 0, MIXED},
    {"signwith(", 1, 1, MIXED},
    {"httpdigestauth(", 1, 1, ANY},
    {"auth().basic(", 1, 1, ANY},
    {"ftplib.ftp(", 2, 2, ANY},
    {"password_verify(", 0, 0, ANY},
    {"bcrypt.compare(", 0, 0, ANY},
    {"bcrypt.comparesync(", 0, 0, ANY},
    {"make_password(", 0, 0, ANY},
    {"generate_password_hash(", 0, 0, ANY},
    {"login_user(", 1, 1, MIXED},
    {"signin(", 1, 1, MIXED},
    {"loginas(", 1, 1, MIXED},
    {"bearer_auth(", 0, 0, ANY},
    {"bearerauth(", 0, 0, ANY},
    {"credentials(", 1, 3, MIXED},
    {".connect(", 2, 3, MIXED},
    {"oracle.connect(", 1, 1, ANY},
    {"oracledb.connect(", 1, 1, ANY},
    {"dbi->connect(", 2, 2, ANY},
    {"cookieparser(", 0, 0, MIXED},
    {"pgp_sym_encrypt(", 1, 1, ANY},
    {"pgp_sym_decrypt(", 1, 1, ANY},
    {"aes_encrypt(", 1, 1, ANY},
    {"aes_decrypt(", 1, 1, ANY},
    {"jwt.sign(", 1, 1, SIGNER},
    {"jwt.verify(", 1, 1, SIGNER},
    {"jwt.encode(", 1, 1, SIGNER},
    {"jwt.decode(", 1, 1, SIGNER},
    {"networkcredential]::new(", 1, 1, ANY},
    {"keystore.load(", 1, 1, ANY},
    {"ks.load(", 1, 1, ANY},
    {"kmf.init(", 1, 1, ANY},
    {"factory.init(", 1, 1, ANY},
    {"pbekeyspec(", 0, 0, ANY},
    {"ftp(", 2, 2, ANY},
    {"ftp_tls(", 2, 2, ANY},
    {"ftps(", 2, 2, ANY},
    {"signedstring(", 0, 0, ANY},
    {"cookiestore(", 0, 0, ANY},
    {"hmac.new(", 0, 1, MIXED},
    {"hmacsha1(", 0, 1, MIXED},
    {"hmacsha256(", 0, 1, MIXED},
    {"hmacsha512(", 0, 1, MIXED},
    {"hmacsha256.new(", 0, 0, MIXED},
    {"aes.encrypt(", 1, 1, MIXED},
    {"aes.decrypt(", 1, 1, MIXED},
    {"aes.new(", 0, 0, MIXED},
    {"aes.newcipher(", 0, 0, MIXED},
    {"secretkeyspec(", 0, 0, MIXED},
    {"createcipheriv(", 1, 1, MIXED},
    {"createdecipheriv(", 1, 1, MIXED},
    {"createdecipher(", 1, 1, MIXED},
    {"openssl_encrypt(", 2, 2, MIXED},
    {"openssl_decrypt(", 2, 2, MIXED},
    {"zipfile.setpassword(", 0, 0, ANY},
    {"keycredential(", 0, 1, RANDOM},
    {"passwordauthenticator(", 1, 1, ANY},
    {"authprovider(", 1, 1, ANY},
    {"fernet(", 0, 0, RANDOM},
    {"license(", 0, 0, RANDOM},
    {"licensekey(", 0, 1, RANDOM},
    {"blynk.begin(", 0, 0, RANDOM},
    {"client(", 0, 4, RANDOM},
    {"twilio(", 1, 1, RANDOM},
    {"stripe(", 0, 0, RANDOM},
    {"mixpanel(", 0, 0, RANDOM},
    {"bot(", 0, 0, RANDOM},
    {"bot.run(", 0, 0, RANDOM},
    {"client.run(", 0, 0, RANDOM},
    {"analytics.load(", 0, 0, RANDOM},
    {"oauthhandler(", 1, 1, RANDOM},
    {"access_token(", 0, 1, RANDOM},
    {"accesstoken(", 0, 1, RANDOM},
    {"oauth1(", 0, 3, RANDOM},
    {"oauth1session(", 0, 3, RANDOM},
    {"s3connection(", 1, 1, RANDOM},
    {"connect_s3(", 1, 1, RANDOM},
    {"pusher(", 0, 3, RANDOM},
    {"algoliasearch(", 1, 1, RANDOM},
    {"apikeyauth(", 0, 0, RANDOM},
    {"setapikey(", 0, 0, RANDOM},
    {"btoa(", 0, 0, PAIR},
    {"b64encode(", 0, 0, PAIR},
    {"encode64(", 0, 0, PAIR},
    {"base64_encode(", 0, 0, PAIR},
    {"base64.encode(", 0, 0, PAIR},
    {"encodetostring(", 0, 0, PAIR},
    {"getbytes(", 0, 0, PAIR},
    {"pdo->__construct(", 2, 2, ANY},
    {"mysqli->__construct(", 2, 2, ANY},
    {"dbconnect(", 2, 3, ANY},
    {"openconnection(", 1, 3, ANY},
    {"sql.newinstance(", 2, 2, ANY},
    {"newstaticv4(", 1, 1, ANY},
    {"newstaticv2(", 1, 1, ANY},
    {"softap(", 1, 1, ANY},
    {"addap(", 1, 1, ANY},
    {"headervalue(", 1, 1, MIXED},
    {"adduser(", 1, 2, MIXED},
    {"add_user(", 1, 2, MIXED},
    {"signup(", 1, 2, MIXED},
    {"createconnection(", 1, 3, MIXED},
    {"basic_auth ", 1, 1, ANY},
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

/* btoa("user:x") */
static bool is_encoded_pair(struct gb_named *text, const uint8_t *p) {
	int quote = gb_named_at(text, p), c;
	const uint8_t *value = NULL, *from = ++p;
	for (; p - from < USER_MAX && (c = gb_named_at(text, p)) >= 0 && c != quote && c != '\n'; p++)
		if (c == ':' && !value)
			text->from = value = p + 1;
	text->to = p;
	if (text->cut || !value || gb_named_at(text, p) != quote || value - from < 2)
		return false;
	for (const uint8_t *user = from; user + 1 < value; user++)
		if (!isalnum(*user) && !strchr("_.@+-", *user))
			return false;
	return !memchr(value, ' ', (size_t)(p - value)) && gb_guess_is_password(value, p);
}

static bool guess_argument(
    struct gb_named *text, const struct call *call, const struct gb_place *place, const uint8_t *p) {
	return call->wanted == PAIR ? is_encoded_pair(text, p) : gb_guess_value(text, place, p);
}

/* Some("x"), []byte("x"): a call that converts a text. */
static bool is_wrapper(const uint8_t *name, const uint8_t *bracket) {
	static const char *const wrappers[] = {
	    "Some", "]byte", "from", "encode", "GetBytes", "getBytes", "bytes", "decode", "parse", "String"};
	for (size_t i = 0; i < GB_COUNT(wrappers); i++) {
		size_t n = strlen(wrappers[i]);
		if ((size_t)(bracket - name) >= n && memcmp(bracket - n, wrappers[i], n) == 0)
			return true;
	}
	return false;
}

bool gb_call_find(struct gb_named *text, const uint8_t *name, const uint8_t *p) {
	const struct call *call = call_of(name, (size_t)(p - name));
	if (!call)
		return false;
	const struct gb_place place = {.tail = call->wanted == RANDOM ? GB_RX_KEY : GB_RX_PASSWORD,
	    .joint = GB_JOINT_LIST,
	    .pair = call->to < 3,
	    .sure = call->wanted == ANY || call->wanted == SIGNER,
	    .chosen = call->wanted == SIGNER};
	struct gb_named found = {0};
	const uint8_t *end = p + CALL_MAX, *held = NULL;
	unsigned index = 0;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != ')' && c != ';'; p++) {
		/* connect($self->dsn(), "bob", "x") */
		if (c == '(' && gb_named_at(text, p + 1) == ')') {
			p++;
			continue;
		}
		if (c == '(' && !is_wrapper(name, p))
			break;
		if (c == '{')
			p = object_end(text, p, end);
		index += c == ',';
		if (index > call->to)
			break;
		if (!is_quote(c))
			continue;
		/* connect(user="bob", host="x"): a name says what it is. */
		bool named = p[-1] == '=' || (p[-1] == ' ' && p[-2] == '=');
		if (!named && (index >= call->from || (call == calls && !index))) {
			held = held ? held : p + 1;
			if (index >= call->from ? guess_argument(text, call, &place, p)
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
	static const char *const drivers[] = {"tcp(", "unix(", "(", "/"};
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

/* user:'secret'@host; @p is at the quote. */
static bool find_quoted_userinfo(struct gb_named *text, const uint8_t *p) {
	const uint8_t *from = p + 1;
	int quote = *p, c;
	text->from = from < text->end ? from : text->end;
	for (p++; p - from < ODD_MAX && (c = gb_named_at(text, p)) > ' ' && c != quote;)
		p++;
	text->to = p;
	return gb_named_at(text, p) == quote && gb_named_at(text, p + 1) == '@' && !text->cut &&
	       gb_guess_is_password(from, p);
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
	const uint8_t *user = from, *end = p;
	from = text->from = ++p;
	if (is_quote(gb_named_at(text, p)))
		return find_quoted_userinfo(text, p);
	while (is_userinfo(c = gb_named_at(text, p)))
		if (p++ - from == GB_NAMED_VALUE)
			return false;
	const uint8_t *last = c == '@' || (c == '/' && !is_port(from, p)) ? last_at(text, p) : NULL;
	text->to = last ? last : p;
	/* ssh://git@host:22/x@1 */
	if (!last || text->cut || (ats && isdigit(*from)))
		return false;
	return gb_guess_is_password(from, last) ||
	       (gb_shape_is_chosen_of_words(from, (size_t)(last - from), GB_SHAPE_WORD) &&
		   !gb_user_is_example(user, end, from, last));
}
