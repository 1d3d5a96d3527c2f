/* Passwords among the arguments of programs (mysql -psecret, curl -u user:secret) and in addresses. */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum {
	ARGUMENTS = 16,
	ROWS_MAX = 8,
	BLANKS_MAX = 32,
	ARGUMENTS_MAX = 256,
	ARGUMENT_MAX = 128,
	ECHO_MAX = 64,
	USER_MAX = 128,
	TOKEN_MIN = 16
};

enum form {
	ATTACHED,  /* -psecret */
	EITHER,    /* -psecret or -p secret */
	SEPARATE,  /* -p secret */
	PAIR,      /* -u user:secret */
	LIST,      /* -u user,secret */
	PERCENT,   /* -U user%secret */
	THIRD,     /* -b file user secret */
	SECOND,    /* user secret, behind the option */
	FOLLOWING, /* secret, behind what begins with the option */
	TOKEN,     /* an argument that looks random */
	SLASH,     /* user/secret@database */
};

/* The names are also in the pattern 'command-password', which finds them; here a name may go on: mysqldump.
 */
static const struct command {
	const char *name, *option;
	enum form form;
	bool first; /* it is the first argument or none */
} commands[] = {
    {"mysql", "-p", ATTACHED, false},
    {"mariadb", "-p", ATTACHED, false},
    {"curl", "-u", PAIR, false},
    {"curl", "--user", PAIR, false},
    {"curl", "-U", PAIR, false},
    {"curl", "--proxy-user", PAIR, false},
    {"http", "-a", PAIR, false},
    {"sshpass", "-p", EITHER, false},
    {"login", "-p", SEPARATE, false},
    {"redis-cli", "-a", SEPARATE, false},
    {"mongo", "-p", SEPARATE, false},
    {"ldap", "-w", SEPARATE, false},
    {"ldappasswd", "-s", SEPARATE, false},
    {"ldappasswd", "-a", SEPARATE, false},
    {"smbclient", "-U", PERCENT, false},
    {"sqlcmd", "-P", EITHER, false},
    {"mosquitto_", "-P", SEPARATE, false},
    {"ipmitool", "-P", SEPARATE, false},
    {"snmp", "-A", SEPARATE, false},
    {"snmp", "-X", SEPARATE, false},
    {"zip", "-P", EITHER, false},
    {"unzip", "-P", EITHER, false},
    {"7z", "-p", ATTACHED, false},
    {"twine", "-p", SEPARATE, false},
    {"ncftp", "-p", SEPARATE, false},
    {"rabbitmqadmin", "-p", SEPARATE, false},
    {"useradd", "-p", SEPARATE, false},
    {"openssl", "-k", SEPARATE, false},
    {"openssl", "-pass", FOLLOWING, false},
    {"ssh-keygen", "-N", SEPARATE, false},
    {"ssh-keygen", "-P", SEPARATE, false},
    {"plink", "-pw", SEPARATE, false},
    {"lftp", "-u", LIST, false},
    {"htpasswd", "-b", THIRD, false},
    {"htpasswd", "-cb", THIRD, false},
    {"rabbitmqctl", "add_user", SECOND, false},
    {"rabbitmqctl", "change_password", SECOND, false},
    {"net use", "/user:", FOLLOWING, false},
    {"login", "", TOKEN, true},
    {"sqlplus", "", SLASH, false},
    {"convertto-securestring", "-string", SEPARATE, false},
    {"convertto-securestring", "", FOLLOWING, true},
};

/* An argument without its quotes. */
struct argument {
	const uint8_t *from, *to;
	const uint8_t *next; /* behind it, and its quotes */
};

static bool is_quote(int c) {
	return c == '"' || c == '\'';
}

static bool ends_command(int c) {
	return c < 0 || strchr("\n\r|;", c);
}

static bool next_argument(struct gb_named *text, const uint8_t *p, struct argument *arg) {
	const uint8_t *start = p;
	int c;
	/* No more than this many blanks: a stream keeps what may still belong to the command. */
	while (((c = gb_named_at(text, p)) == ' ' || c == '\t') && p - start < BLANKS_MAX)
		p++;
	if (ends_command(c) || c == ' ' || c == '\t')
		return false;
	int quote = is_quote(c) ? c : 0;
	p += quote != 0;
	arg->from = p;
	for (unsigned i = 0; i < ARGUMENT_MAX; i++, p++) {
		c = gb_named_at(text, p);
		if (c < 0 || c == '\n' ||
		    (quote ? c == quote : isspace(c) || is_quote(c) || c == ';' || c == '|'))
			break;
	}
	arg->to = p;
	arg->next = p + (quote && c == quote);
	return p > arg->from || quote;
}

static bool is_secret(struct gb_named *text, const uint8_t *from, const struct argument *arg) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_BLANK, .sure = true};
	text->from = from;
	text->to = arg->to;
	text->resume = arg->next;
	return !text->cut && gb_guess_is_secret(&place, from, arg->to, false, ' ');
}

static bool is_random_token(struct gb_named *text, const struct argument *arg) {
	static const struct gb_place place = {.tail = GB_RX_KEY, .joint = GB_JOINT_BLANK, .sure = true};
	return is_secret(text, arg->from, arg) && gb_guess_is_secret(&place, arg->from, arg->to, false, ' ');
}

static bool is_after(struct gb_named *text, const struct argument *arg, int separator) {
	const uint8_t *at = memchr(arg->from, separator, (size_t)(arg->to - arg->from));
	if (!at)
		return false;
	/* sqlplus user/secret@database */
	struct argument part = *arg;
	const uint8_t *end = separator == '/' ? memchr(at, '@', (size_t)(arg->to - at)) : NULL;
	part.to = end ? end : part.to;
	return is_secret(text, at + 1, &part);
}

/* The secret that @arg, which begins with the option, has or is followed by. */
static bool take(struct gb_named *text, enum form form, const char *option, struct argument arg) {
	size_t n = strlen(option);
	bool attached = (size_t)(arg.to - arg.from) > n;
	unsigned skip = form == THIRD ? 2 : form == SECOND ? 1 : 0;
	if (form == SLASH)
		return is_after(text, &arg, '/');
	/* vault login x */
	if (form == TOKEN)
		return arg.to - arg.from >= TOKEN_MIN &&
		       !memchr(arg.from, '=', (size_t)(arg.to - arg.from)) && is_random_token(text, &arg);
	/* token=x: secrets_named.c knows it by its name. */
	if (form == FOLLOWING && !*option)
		return !memchr(arg.from, '=', (size_t)(arg.to - arg.from)) && is_secret(text, arg.from, &arg);
	/* -p'secret' */
	if (form == ATTACHED && !attached)
		return is_quote(gb_named_at(text, arg.next)) && next_argument(text, arg.next, &arg) &&
		       is_secret(text, arg.from, &arg);
	if (form == ATTACHED || (form == EITHER && attached))
		return is_secret(text, arg.from + n, &arg);
	if (form == PAIR && attached && (n == 2 || arg.from[n] == '='))
		return is_after(text, &arg, ':');
	if (form != FOLLOWING && form != THIRD && attached && arg.from[n] != '=')
		return false;
	for (unsigned i = 0; i <= skip; i++)
		if (!next_argument(text, arg.next, &arg))
			return false;
	text->from = arg.from;
	if (form == PAIR || form == LIST || form == PERCENT)
		return is_after(text, &arg, form == PAIR ? ':' : form == LIST ? ',' : '%');
	if (form == FOLLOWING && arg.to - arg.from > 5 && memcmp(arg.from, "pass:", 5) == 0)
		arg.from += 5;
	return is_secret(text, arg.from, &arg);
}

static bool is_called(const struct command *command, const uint8_t *name, const uint8_t *to) {
	size_t n = strlen(command->name);
	if ((size_t)(to - name) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (tolower(name[i]) != command->name[i])
			return false;
	return true;
}

static bool has_option(const struct argument *arg, const char *option) {
	size_t n = strlen(option);
	if ((size_t)(arg->to - arg->from) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (arg->from[i] != (uint8_t)option[i] && tolower(arg->from[i]) != option[i])
			return false;
	/* -string is no -s, --user-agent is no --user. */
	return *option || *arg->from != '-';
}

/* echo secret | sudo -S */
static bool find_piped(struct gb_named *text, const uint8_t *p) {
	static const struct {
		const char *reader;
		bool pair;
	} readers[] = {{"sudo -S", false}, {"passwd --stdin", false}, {"docker login", false},
	    {"chpasswd", true}, {"sudo chpasswd", true}, {"su ", false}, {"kinit", false}};
	struct argument arg = {0};
	if (!next_argument(text, p, &arg) || arg.to - arg.from >= ECHO_MAX) {
		text->from = text->cut && arg.from ? arg.from : text->end;
		return false;
	}
	text->from = arg.from;
	p = arg.next;
	while (gb_named_at(text, p) == ' ' && p - arg.next < 4)
		p++;
	if (gb_named_at(text, p) != '|')
		return false;
	for (p++; gb_named_at(text, p) == ' ' && p - arg.next < 8;)
		p++;
	for (size_t i = 0; i < GB_COUNT(readers); i++) {
		const char *c = readers[i].reader;
		const uint8_t *at = p;
		for (; *c && gb_named_at(text, at) == *c; c++)
			at++;
		if (!*c)
			return readers[i].pair ? is_after(text, &arg, ':') : is_secret(text, arg.from, &arg);
	}
	return false;
}

/* The rows of the table for a command: those that have its name stand together, or nearly so. */
static unsigned rows_of(const uint8_t *name, const uint8_t *to, const struct command *rows[ROWS_MAX]) {
	unsigned n = 0;
	for (size_t i = 0; i < GB_COUNT(commands) && n < ROWS_MAX; i++)
		if (is_called(&commands[i], name, to))
			rows[n++] = &commands[i];
	return n;
}

static bool find_among(struct gb_named *text, const uint8_t *name, const uint8_t *p, bool first) {
	const struct command *rows[ROWS_MAX];
	struct argument arg = {0};
	unsigned n = rows_of(name, p, rows), args = 0;
	for (; args < ARGUMENTS && p - name < ARGUMENTS_MAX && next_argument(text, p, &arg);
	     first = false, args++) {
		/* Half an argument may be half a secret. */
		text->from = arg.from;
		for (unsigned i = 0; !text->cut && i < n; i++) {
			if (!has_option(&arg, rows[i]->option) || (rows[i]->first && !first))
				continue;
			if (take(text, rows[i]->form, rows[i]->option, arg))
				return true;
		}
		/* Another command begins, which is looked at by itself. */
		if (text->cut || (n && is_called(rows[0], arg.from, arg.to)))
			return false;
		p = arg.next;
		text->from = text->end;
	}
	return false;
}

bool gb_command_find(struct gb_named *text, const uint8_t *name, const uint8_t *to, const uint8_t *p) {
	bool first = p == to;
	if (first) {
		if (to - name == 5 && memcmp(name, "echo ", 5) == 0)
			return find_piped(text, p);
		/* "zip -": the hyphen begins the first argument. mysqldump, ldapsearch: a name goes on. */
		if (p[-1] == '-' || (p[-2] == ' ' && p[-1] != ' '))
			p--;
		for (int c; (c = gb_named_at(text, p)) >= 0 && p >= to && p - to < 16 &&
			    (isalnum(c) || strchr("_-.", c));)
			p++;
		if (p >= to && gb_named_at(text, p) != ' ')
			return false;
	}
	return find_among(text, name, p, first);
}

/* --- calls --- */

bool gb_call_find(struct gb_named *text, const uint8_t *p) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_LIST, .pair = true};
	const uint8_t *end = p + ARGUMENTS_MAX;
	bool first = true;
	for (int c; p < end && (c = gb_named_at(text, p)) >= 0 && c != '\n' && c != ')' && c != '('; p++) {
		first &= c != ',';
		if (!is_quote(c))
			continue;
		if (!first && gb_guess_value(text, &place, p))
			return true;
		/* Behind what is no password. */
		for (p++; p < end && (int)gb_named_at(text, p) != c && gb_named_at(text, p) >= 0;)
			p++;
		if (text->cut)
			return false;
		text->goes_on = false;
		text->from = text->end;
	}
	return false;
}

/* --- addresses --- */

static bool is_userinfo(int c) {
	return c >= 0 && !isspace(c) && !strchr("/@\"'<>\\", c);
}

bool gb_userinfo_find(struct gb_named *text, const uint8_t *p) {
	const uint8_t *from = p;
	int c;
	for (; is_userinfo(c = gb_named_at(text, p)) && c != ':'; p++)
		if (p - from == USER_MAX)
			return false;
	if (c != ':')
		return false;
	from = text->from = ++p;
	while (is_userinfo(c = gb_named_at(text, p)))
		if (p++ - from == GB_NAMED_VALUE)
			return false;
	text->to = p;
	return c == '@' && !text->cut && gb_guess_is_password(from, p);
}
