/* Values that consist of words that name or describe a value: your_api_key_here, invalidPassword, changeme.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_shape.h"

enum { TEXT_MAX = 64 };

/* A chunk of letters may consist of several of these without anything between them. */
static const char *const joined[] = {"unknown", "weak", "strong", "random", "path", "file", "basic", "digest",
    "again", "match", "password", "passwords", "passwort", "passwd", "pass", "passphrase", "passcode", "pswd",
    "pwd", "secret", "secrets", "token", "tokens", "key", "keys", "api", "auth", "authorization",
    "authentication", "authenticate", "authenticated", "oauth", "login", "logout", "signin", "signup",
    "credential", "credentials", "cred", "creds", "access", "refresh", "client", "user", "users", "username",
    "name", "names", "email", "account", "accounts", "your", "change", "changed", "changeme", "replace",
    "insert", "enter", "here", "example", "sample", "dummy", "fake", "mock", "placeholder", "value", "values",
    "string", "strings", "type", "types", "input", "field", "fields", "description", "message", "error",
    "errors", "invalid", "valid", "validate", "validation", "validator", "missing", "incorrect", "wrong",
    "correct", "mismatch", "confirm", "confirmed", "confirmation", "current", "previous", "forgot",
    "forgotten", "reset", "recover", "recovery", "update", "updated", "create", "created", "generate",
    "generated", "hidden", "visible", "masked", "redacted", "filtered", "omitted", "removed", "encrypted",
    "decrypted", "hashed", "plain", "plaintext", "cleartext", "encoded", "bearer", "session", "request",
    "result", "config", "configuration", "setting", "settings", "option", "options", "optional", "required",
    "require", "requires", "argument", "arguments", "args", "param", "params", "parameter", "parameters",
    "property", "properties", "props", "attribute", "attributes", "variable", "variables", "default",
    "defaults", "undefined", "null", "true", "false", "none", "void", "boolean", "bool", "number", "integer",
    "float", "bytes", "binary", "char", "varchar", "json", "yaml", "html", "uuid", "regex", "schema", "enum",
    "const", "function", "method", "interface", "readonly", "expired", "expires", "expiry", "expiration",
    "strength", "secure", "security", "public", "private", "csrf", "xsrf", "permission", "prompt", "stdin",
    "stdout", "command", "flag", "flags", "remove", "delete", "verify", "verified", "verification", "unset",
    "empty", "unspecified", "anonymous", "nobody", "failed", "failure", "success", "denied", "allowed",
    "disabled", "enabled", "length", "selector", "attr", "comment", "keyword", "identifier", "operator",
    "punctuation", "literal", "numeric", "whitespace", "template", "signature", "signing", "encryption",
    "certificate", "algorithm", "hash", "process", "environment", "env", "protected", "unchanged", "stored",
    "needed", "unsupported", "supported", "nullable", "reference", "grant", "granted", "contrasena", "clave",
    "senha", "kennwort", "wachtwoord", "salasana", "heslo", "parola", "requerida", "obligatoria",
    "incorrecta", "falsch", "erforderlich", "requis", "obligatoire", "invalide"};

/* The same, if one of the words above stands beside them: tokenParser; "builder" alone may be a password. */
static const char *const beside[] = {"manager", "management", "handler", "helper", "factory", "builder",
    "parser", "lexer", "reader", "writer", "stream", "storage", "store", "cache", "context", "state",
    "status", "event", "action", "actions", "rotation", "rotate", "lookup", "resolver", "resolve",
    "middleware", "controller", "filter", "page", "view", "button", "icon", "modal", "dialog", "element",
    "source", "target", "class", "module", "model", "format", "pattern", "index", "count", "list", "base",
    "buffer", "array", "object", "service", "services", "server", "database", "policy", "policies", "rule",
    "rules", "cookie", "cookies", "cipher", "query", "header", "headers", "response", "matches", "repeat",
    "role", "roles", "provider", "identity", "show", "hide", "toggle", "mask", "label", "title", "text",
    "form"};

/* A chunk may be one of these, but not be made of them: "let me in" is a password. */
static const char *const alone[] = {"a", "an", "and", "any", "app", "are", "as", "at", "async", "await", "be",
    "begin", "body", "both", "but", "by", "can", "cannot", "cli", "col", "column", "comma", "could", "csv",
    "data", "date", "db", "does", "each", "either", "exists", "fixme", "for", "from", "get", "gets", "has",
    "have", "href", "http", "https", "id", "ident", "if", "image", "in", "info", "int", "into", "is", "isn",
    "it", "item", "items", "its", "jwt", "len", "let", "link", "local", "long", "matching", "max", "may",
    "me", "min", "minimum", "must", "my", "never", "new", "newline", "nil", "no", "not", "num", "of", "off",
    "ok", "old", "on", "one", "only", "or", "other", "our", "phone", "please", "post", "prop", "put",
    "return", "right", "row", "same", "screen", "select", "send", "set", "sets", "should", "sha", "short",
    "some", "space", "sql", "ssl", "start", "stop", "str", "submit", "system", "table", "tbd", "that", "the",
    "their", "then", "there", "these", "this", "tls", "to", "todo", "too", "uid", "uri", "url", "use", "used",
    "uses", "using", "val", "var", "was", "web", "when", "where", "which", "while", "will", "with", "without",
    "xml", "xxx", "yes", "you"};

/* Words of names that have digits. */
static const char *const whole[] = {"sha1", "sha224", "sha256", "sha384", "sha512", "md5", "base64",
    "base64url", "ed25519", "secp256k1", "oauth2", "oauth1", "utf8", "utf8mb4", "latin1", "iso8859", "hs256",
    "hs384", "hs512", "rs256", "rs384", "rs512", "es256", "es384", "es512", "ps256", "x509", "pkcs1", "pkcs8",
    "pkcs12", "bcrypt", "scrypt", "argon2", "ascii", "int32", "int64", "uint8array", "ed448", "aes256"};

struct letters {
	uint8_t text[TEXT_MAX];
	size_t n;
};

static bool is_listed(const struct letters *chunk, const char *const *list, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (list[i][0] == chunk->text[0] && strlen(list[i]) == chunk->n &&
		    memcmp(list[i], chunk->text, chunk->n) == 0)
			return true;
	return false;
}

/* Whether the words of both lists make up the chunk: reached[i] says that they make up its first i letters,
 * and whether one of them names a value. */
enum reach { NOT, BESIDE, NAMES };

static void reach_with(const struct letters *chunk, size_t i, enum reach *reached, const char *const *list,
    size_t count, enum reach least) {
	for (size_t w = 0; w < count; w++) {
		size_t n = strlen(list[w]);
		enum reach now = reached[i] > least ? reached[i] : least;
		if (list[w][0] == chunk->text[i] && i + n <= chunk->n &&
		    memcmp(list[w], chunk->text + i, n) == 0 && reached[i + n] < now)
			reached[i + n] = now;
	}
}

static enum reach known_as(const struct letters *chunk) {
	enum reach reached[TEXT_MAX + 1] = {BESIDE};
	if (!chunk->n)
		return BESIDE;
	if (is_listed(chunk, alone, GB_COUNT(alone)))
		return NAMES;
	for (size_t i = 0; i < chunk->n; i++) {
		if (reached[i] == NOT)
			continue;
		reach_with(chunk, i, reached, joined, GB_COUNT(joined), NAMES);
		reach_with(chunk, i, reached, beside, GB_COUNT(beside), BESIDE);
	}
	return reached[chunk->n];
}

static bool is_whole(const uint8_t *from, size_t n) {
	struct letters text = {.n = n};
	for (size_t i = 0; i < n; i++)
		text.text[i] = (uint8_t)tolower(from[i]);
	return is_listed(&text, whole, GB_COUNT(whole));
}

/* "Password?" and "Password*" are labels; inside of a value these signs were chosen. */
static bool is_sign_of_a_person(const uint8_t *p, const uint8_t *end) {
	return *p && strchr("!@$%^&*+?~", *p) && (p + 1 < end || *p == '@' || *p == '$');
}

bool gb_shape_is_placeholder(const uint8_t *from, size_t n) {
	struct letters chunk = {0};
	enum reach all = BESIDE, known = BESIDE;
	if (!n || n >= TEXT_MAX)
		return false;
	/* your_admin_password; {password} */
	if (is_whole(from, n) || (n > 4 && gb_shape_has_part(from, 4, "your")) ||
	    (*from == '{' && from[n - 1] == '}' && !memchr(from, '=', n)))
		return true;
	for (const uint8_t *p = from, *end = from + n; known != NOT && p < end; p++) {
		if (isdigit(*p) || is_sign_of_a_person(p, end) || *p >= 0x80)
			return false;
		bool begins = isupper(*p) && p > from &&
			      (islower(p[-1]) || (isupper(p[-1]) && p + 1 < end && islower(p[1])));
		if (!isalpha(*p) || begins) {
			known = known_as(&chunk);
			all = known > all ? known : all;
			chunk.n = 0;
		}
		if (isalpha(*p))
			chunk.text[chunk.n++] = (uint8_t)tolower(*p);
	}
	enum reach last = known == NOT ? NOT : known_as(&chunk);
	return last != NOT && (all == NAMES || last == NAMES);
}

bool gb_shape_is_message(const uint8_t *from, size_t n, bool loosely) {
	static const char *const words[] = {"password", "passwords", "passphrase", "pass", "token", "tokens",
	    "key", "your", "enter", "please", "must", "should", "cannot", "not", "invalid", "required",
	    "missing", "failed", "error", "user", "username", "login", "account", "value", "string", "change",
	    "confirm", "reset", "forgot", "create", "show", "hide", "remember", "characters"};
	static const char *const loose[] = {"the", "and", "or", "for", "to", "of", "with", "a", "an", "use",
	    "used", "least", "de", "le", "la", "el", "das", "ist", "if", "this", "in", "on", "by", "as", "be",
	    "no", "from"};
	struct letters chunk = {0};
	for (size_t i = 0; i <= n; i++) {
		if (i < n && isalpha(from[i])) {
			if (chunk.n < TEXT_MAX)
				chunk.text[chunk.n++] = (uint8_t)tolower(from[i]);
			continue;
		}
		if (chunk.n && (is_listed(&chunk, words, GB_COUNT(words)) ||
				   (!loosely && is_listed(&chunk, loose, GB_COUNT(loose)))))
			return true;
		chunk.n = 0;
	}
	return false;
}
