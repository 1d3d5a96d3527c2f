/* Values that consist of words that name or describe a value: your_api_key_here, invalidPassword, changeme.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_shape.h"

enum { TEXT_MAX = 64 };

/* A chunk of letters may consist of several of these without anything between them. */
static const char *const joined[26] = {
    ['a' - 'a'] = "access again algorithm allowed anonymous api args argument arguments "
		  "attr attribute attributes auth authenticate authenticated authentication authorization",
    ['b' - 'a'] = "basic bearer binary bool boolean bytes",
    ['c' - 'a'] = "certificate change changed changeme char clave cleartext comment config "
		  "configuration confirm confirmation confirmed const contrasena correct create created cred "
		  "credential credentials creds csrf current",
    ['d' - 'a'] = "decrypted default defaults delete denied description digest disabled dummy",
    ['e' - 'a'] = "empty enabled encoded encrypted encryption enter enum env environment erforderlich "
		  "error errors example expiration expired expires expiry",
    ['f' - 'a'] = "failed failure fake falsch false field fields filtered flag flags float forgot "
		  "forgotten function",
    ['g' - 'a'] = "generate generated grant granted",
    ['h' - 'a'] = "hash hashed here heslo hidden html",
    ['i' - 'a'] = "identifier incorrect incorrecta input insert integer interface invalid invalide",
    ['j' - 'a'] = "json",
    ['k' - 'a'] = "kennwort key keys",
    ['l' - 'a'] = "length literal",
    ['m' - 'a'] = "masked match message method mismatch missing mock",
    ['n' - 'a'] = "name names needed nobody none null nullable number numeric",
    ['o' - 'a'] = "oauth obligatoire obligatoria omitted operator option optional options",
    ['p' - 'a'] = "param parameter parameters params parola pass passcode passphrase passwd password "
		  "passwords passwort path permission placeholder plain plaintext previous private "
		  "prompt properties property props protected pswd punctuation pwd",
    ['r' - 'a'] = "random readonly recover recovery redacted reference refresh regex remove removed replace "
		  "requerida request require required requires requis reset result",
    ['s' - 'a'] = "salasana sample schema secret secrets secure security selector senha setting "
		  "settings signature signing stdin stdout stored strength string strings "
		  "strong success supported",
    ['t' - 'a'] = "template token tokens true type types",
    ['u' - 'a'] = "unchanged undefined unknown unset unspecified unsupported update updated uuid",
    ['v' - 'a'] = "valid validate validation validator value values varchar variable variables verification "
		  "verified verify visible void",
    ['w' - 'a'] = "wachtwoord weak whitespace wrong",
    ['x' - 'a'] = "xsrf",
    ['y' - 'a'] = "yaml your",
};

/* The same: who or what a value belongs to. With the name of a secret it may be a password that a person chose for
 * that: userpass. */
static const char *const owners[26] = {
    ['a' - 'a'] = "account accounts",
    ['c' - 'a'] = "client command",
    ['e' - 'a'] = "email",
    ['f' - 'a'] = "file",
    ['k' - 'a'] = "keyword",
    ['l' - 'a'] = "login logout",
    ['p' - 'a'] = "process public",
    ['s' - 'a'] = "session signin signup",
    ['u' - 'a'] = "user username users",
};

/* The same, if one of the words above stands beside them: tokenParser; "builder" alone may be a password. */
static const char *const beside[26] = {
    ['a' - 'a'] = "action actions array",
    ['b' - 'a'] = "base buffer builder button",
    ['c' - 'a'] = "cache cipher class context controller cookie cookies count",
    ['d' - 'a'] = "database dialog",
    ['e' - 'a'] = "element event",
    ['f' - 'a'] = "factory filter form format",
    ['h' - 'a'] = "handler header headers helper hide",
    ['i' - 'a'] = "icon identity index",
    ['l' - 'a'] = "label lexer list lookup",
    ['m' - 'a'] = "management manager mask matches middleware modal model module",
    ['o' - 'a'] = "object",
    ['p' - 'a'] = "page parser pattern payload policies policy provider",
    ['q' - 'a'] = "query",
    ['r' - 'a'] = "reader repeat resolve resolver response role roles rotate rotation rule rules",
    ['s' - 'a'] = "server service services show source state status storage store stream",
    ['t' - 'a'] = "target text title toggle",
    ['v' - 'a'] = "view",
    ['w' - 'a'] = "writer",
};

/* A chunk may be one of these, but not be made of them: "let me in" is a password. */
static const char *const alone[26] = {
    ['a' - 'a'] = "a an and any are as async at await",
    ['b' - 'a'] = "be begin body both but by",
    ['c' - 'a'] = "can cannot col column comma could csv",
    ['d' - 'a'] = "date does",
    ['e' - 'a'] = "each either exists",
    ['f' - 'a'] = "fixme for from",
    ['g' - 'a'] = "get gets",
    ['h' - 'a'] = "has have href",
    ['i' - 'a'] = "id ident if in info int into is isn it item items its",
    ['j' - 'a'] = "jwt",
    ['l' - 'a'] = "len let link long",
    ['m' - 'a'] = "matching max may me min minimum must my",
    ['n' - 'a'] = "never new newline nil no not num",
    ['o' - 'a'] = "of off ok old on one only or other",
    ['p' - 'a'] = "please post prop put",
    ['r' - 'a'] = "return right row",
    ['s' - 'a'] = "same screen select send set sets sha short should some space start stop str submit",
    ['t' - 'a'] = "tbd that the their then there these this to todo too",
    ['u' - 'a'] = "uid uri url use used uses using",
    ['v' - 'a'] = "val var",
    ['w' - 'a'] = "was when where which while will with without",
    ['x' - 'a'] = "xml xxx",
    ['y' - 'a'] = "yes you",
};

/* As "alone", of what values belong to: db_password. */
static const char *const alone_owners[26] = {
    ['a' - 'a'] = "app",
    ['c' - 'a'] = "cli",
    ['d' - 'a'] = "data db",
    ['h' - 'a'] = "http https",
    ['i' - 'a'] = "image",
    ['l' - 'a'] = "local",
    ['p' - 'a'] = "phone",
    ['s' - 'a'] = "sql ssl system",
    ['t' - 'a'] = "table tls",
    ['w' - 'a'] = "web",
};

/* Words of names that have digits. */
static const char *const whole[26] = {
    ['a' - 'a'] = "aes256 argon2 ascii",
    ['b' - 'a'] = "base64 base64url bcrypt",
    ['e' - 'a'] = "ed25519 ed448 es256 es384 es512",
    ['h' - 'a'] = "hs256 hs384 hs512",
    ['i' - 'a'] = "int32 int64 iso8859",
    ['l' - 'a'] = "latin1",
    ['m' - 'a'] = "md5",
    ['o' - 'a'] = "oauth1 oauth2",
    ['p' - 'a'] = "pkcs1 pkcs12 pkcs8 ps256",
    ['r' - 'a'] = "rs256 rs384 rs512",
    ['s' - 'a'] = "scrypt secp256k1 sha1 sha224 sha256 sha384 sha512",
    ['u' - 'a'] = "uint8array utf8 utf8mb4",
    ['x' - 'a'] = "x509",
};

struct letters {
	uint8_t text[TEXT_MAX];
	size_t n;
};

/* The next word of a list, which has the words that begin with one letter; 0 at the end. */
static size_t next_word(const char **list) {
	size_t n = 0;
	while (**list == ' ')
		++*list;
	while ((*list)[n] && (*list)[n] != ' ')
		n++;
	return n;
}

static const char *words_at(const char *const *lists, uint8_t letter) {
	return islower(letter) && lists[letter - 'a'] ? lists[letter - 'a'] : "";
}

static bool is_listed(const struct letters *chunk, const char *const *lists) {
	const char *word = words_at(lists, chunk->text[0]);
	for (size_t n; (n = next_word(&word)) > 0; word += n)
		if (n == chunk->n && memcmp(word, chunk->text, n) == 0)
			return true;
	return false;
}

/* Whether the words of both lists make up the chunk: reached[i] says that they make up its first i letters,
 * and whether one of them names a value. */
enum reach { NOT, BESIDE, NAMES };

static void reach_with(
    const struct letters *chunk, size_t i, enum reach *reached, const char *const *lists, enum reach least) {
	enum reach now = reached[i] > least ? reached[i] : least;
	const char *word = words_at(lists, chunk->text[i]);
	for (size_t n; (n = next_word(&word)) > 0; word += n)
		if (i + n <= chunk->n && reached[i + n] < now && memcmp(word, chunk->text + i, n) == 0)
			reached[i + n] = now;
}

static enum reach known_as(const struct letters *chunk, bool clearly) {
	enum reach reached[TEXT_MAX + 1] = {BESIDE};
	if (!chunk->n)
		return BESIDE;
	if (is_listed(chunk, alone) || (!clearly && is_listed(chunk, alone_owners)))
		return NAMES;
	for (size_t i = 0; i < chunk->n; i++) {
		if (reached[i] == NOT)
			continue;
		reach_with(chunk, i, reached, joined, NAMES);
		if (clearly)
			continue;
		reach_with(chunk, i, reached, owners, NAMES);
		reach_with(chunk, i, reached, beside, BESIDE);
	}
	return reached[chunk->n];
}

static bool is_whole(const uint8_t *from, size_t n) {
	struct letters text = {.n = n};
	for (size_t i = 0; i < n; i++)
		text.text[i] = (uint8_t)tolower(from[i]);
	return is_listed(&text, whole);
}

/* "Password?" and "Password*" are labels; inside of a value these signs were chosen. */
static bool is_sign_of_a_person(const uint8_t *p, const uint8_t *end) {
	return *p && strchr("!@$%^&*+?~", *p) && (p + 1 < end || *p == '@' || *p == '$');
}

static bool is_made_of_words(const uint8_t *from, size_t n, bool clearly) {
	struct letters chunk = {0};
	enum reach all = BESIDE, known = BESIDE;
	for (const uint8_t *p = from, *end = from + n; known != NOT && p < end; p++) {
		if (isdigit(*p) || is_sign_of_a_person(p, end) || *p >= 0x80)
			return false;
		bool begins = isupper(*p) && p > from &&
			      (islower(p[-1]) || (isupper(p[-1]) && p + 1 < end && islower(p[1])));
		if (!isalpha(*p) || begins) {
			known = known_as(&chunk, clearly);
			all = known > all ? known : all;
			chunk.n = 0;
		}
		if (isalpha(*p))
			chunk.text[chunk.n++] = (uint8_t)tolower(*p);
	}
	enum reach last = known == NOT ? NOT : known_as(&chunk, clearly);
	return last != NOT && (all == NAMES || last == NAMES);
}

/* userpass: no name of a variable, which would have a capital or a sign between its words. */
static bool is_one_word(const uint8_t *from, size_t n) {
	while (n && islower(*from)) {
		from++;
		n--;
	}
	return !n;
}

/* Words of a value that describe the last one: new_password, my secret, examplepass. */
static const char *const describing[26] = {
    ['a' - 'a'] = "a api app",
    ['c' - 'a'] = "client cookie correct",
    ['d' - 'a'] = "default dummy",
    ['e' - 'a'] = "example",
    ['f' - 'a'] = "fake",
    ['i' - 'a'] = "is",
    ['j' - 'a'] = "jwt",
    ['m' - 'a'] = "my",
    ['n' - 'a'] = "new",
    ['o' - 'a'] = "old",
    ['p' - 'a'] = "plain plaintext",
    ['r' - 'a'] = "random",
    ['s' - 'a'] = "sample secret secure session some strong super",
    ['t' - 'a'] = "text the this",
    ['v' - 'a'] = "valid very",
    ['w' - 'a'] = "weak wrong",
};

/* The letters of a value in lower case, without what separates its words; none if it has anything else or is long. */
static struct letters letters_of(const uint8_t *from, size_t n, bool camel) {
	struct letters letters = {0};
	for (size_t i = 0; i < n; i++) {
		if (letters.n == TEXT_MAX)
			return (struct letters){0};
		if (islower(from[i]) || (isupper(from[i]) && (!i || (camel && islower(from[i - 1])))))
			letters.text[letters.n++] = (uint8_t)tolower(from[i]);
		else if (!strchr(" _-", from[i]))
			return (struct letters){0};
	}
	return letters;
}

static bool is_described(const struct letters *letters, size_t n) {
	enum reach reached[TEXT_MAX + 1] = {NAMES};
	for (size_t i = 0; i < n; i++)
		if (reached[i] != NOT)
			reach_with(letters, i, reached, describing, NAMES);
	return reached[n] != NOT;
}

bool gb_shape_is_chosen_of_words(const uint8_t *from, size_t n, unsigned where) {
	/* The first ones may stand alone. */
	static const char *const nouns[] = {"example", "password", "secret", "pass", "passwd", "passphrase",
	    "pwd", "dummy", "secretkey", "apikey", "token"};
	enum { SECRET_KEY = 8 };
	struct letters letters = letters_of(
	    from, n, (where & (GB_SHAPE_SETTING | GB_SHAPE_WORDS)) == (GB_SHAPE_SETTING | GB_SHAPE_WORDS));
	bool name = memchr(from, '_', n) != NULL;
	/* "Client secret" is a label. */
	if (!letters.n || (isupper(*from) && memchr(from, ' ', n)))
		return false;
	for (size_t i = 0; i < GB_COUNT(nouns); i++) {
		size_t length = strlen(nouns[i]), rest = letters.n - length;
		if (letters.n < length || memcmp(letters.text + rest, nouns[i], length) != 0)
			continue;
		/* secret_key is a name, "secret key" is none */
		bool is_alone =
		    i < SECRET_KEY ? where & GB_SHAPE_WORD && islower(*from) : i == SECRET_KEY && !name;
		if (rest ? is_described(&letters, rest) : is_alone)
			return true;
	}
	return false;
}

/* YourStrong!Passw0rd: made to pass the rules of a server, which "your_password" does not. */
static bool is_made_for_rules(const uint8_t *from, size_t n) {
	bool lower = false, upper = false, digit = false, sign = false;
	for (size_t i = 0; i < n; i++) {
		lower |= islower(from[i]) != 0;
		upper |= isupper(from[i]) != 0;
		digit |= isdigit(from[i]) != 0;
		sign |= from[i] && strchr("!@#$%^&*", from[i]) != NULL;
		if (from[i] == '-' || from[i] == ' ' || from[i] == '.')
			return false;
	}
	return lower && upper && (digit || sign);
}

bool gb_shape_is_placeholder(const uint8_t *from, size_t n, unsigned where) {
	static const char *const secrets[] = {"pass", "pwd", "secret", "token", "key"};
	bool setting = where & GB_SHAPE_SETTING;
	if (!n || n >= TEXT_MAX)
		return false;
	/* your_admin_password; {password} */
	if (is_whole(from, n) ||
	    (n > 4 && gb_shape_has_part(from, 4, "your") && !is_made_for_rules(from, n)) ||
	    (*from == '{' && from[n - 1] == '}' && !memchr(from, '=', n)))
		return true;
	if (!is_made_of_words(from, n, false))
		return false;
	if (where & (GB_SHAPE_WORDS | GB_SHAPE_WORD) && gb_shape_is_chosen_of_words(from, n, where))
		return false;
	bool named = false;
	for (size_t i = 0; (setting || is_one_word(from, n)) && i < GB_COUNT(secrets); i++)
		named |= n > strlen(secrets[i]) && gb_shape_has_part(from, n, secrets[i]);
	return !named || is_made_of_words(from, n, true);
}

bool gb_shape_is_message(const uint8_t *from, size_t n, bool loosely) {
	static const char *const words[26] = {
	    ['a' - 'a'] = "account",
	    ['c' - 'a'] = "cannot change characters confirm create",
	    ['e' - 'a'] = "enter error",
	    ['f' - 'a'] = "failed forgot",
	    ['h' - 'a'] = "hide",
	    ['i' - 'a'] = "invalid",
	    ['k' - 'a'] = "key",
	    ['l' - 'a'] = "login",
	    ['m' - 'a'] = "missing must",
	    ['n' - 'a'] = "not",
	    ['p' - 'a'] = "pass passphrase password passwords please",
	    ['r' - 'a'] = "remember required reset",
	    ['s' - 'a'] = "should show string",
	    ['t' - 'a'] = "token tokens",
	    ['u' - 'a'] = "user username",
	    ['v' - 'a'] = "value",
	    ['y' - 'a'] = "your",
	};
	static const char *const loose[26] = {
	    ['a' - 'a'] = "a an and as",
	    ['b' - 'a'] = "be by",
	    ['d' - 'a'] = "das de",
	    ['e' - 'a'] = "el",
	    ['f' - 'a'] = "for from",
	    ['i' - 'a'] = "if in ist",
	    ['l' - 'a'] = "la le least",
	    ['n' - 'a'] = "no",
	    ['o' - 'a'] = "of on or",
	    ['t' - 'a'] = "the this to",
	    ['u' - 'a'] = "use used",
	    ['w' - 'a'] = "with",
	};
	struct letters chunk = {0};
	for (size_t i = 0; i <= n; i++) {
		if (i < n && isalpha(from[i])) {
			if (chunk.n < TEXT_MAX)
				chunk.text[chunk.n++] = (uint8_t)tolower(from[i]);
			continue;
		}
		if (chunk.n && (is_listed(&chunk, words) || (!loosely && is_listed(&chunk, loose))))
			return true;
		chunk.n = 0;
	}
	return false;
}
