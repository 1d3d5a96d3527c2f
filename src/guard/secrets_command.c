/* Passwords among the arguments of programs (mysql -psecret, curl -u user:secret) and in addresses. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_named.h"

enum {
	ARGUMENTS = 16,
	ROWS_MAX = 8,
	BLANKS_MAX = 32,
	ARGUMENTS_MAX = 256,
	ARGUMENT_MAX = 128,
	ECHO_MAX = 64,
	TOKEN_MIN = 16,
	WORD_MIN = 12 /* of a plain word that is encoded; shorter ones are users more often */
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
	HOST,      /* domain/user:secret@host */
	BOTH,      /* -nb user secret, or -b file user secret */
	ARGUMENT,  /* secret, behind the option or a digit behind it; no plain word */
	NUMBER,    /* -p 123456, where a word would be something else */
	USER,      /* the second argument is the secret, unless it is an option */
};

/* The names are also in the pattern 'command-password', which finds them; here a name may go on: mysqldump.
 */
static const struct command {
	const char *name, *option;
	enum form form;
	bool first; /* it is the first argument or none */
} commands[] = {
    {"mysql", "-p", ATTACHED, false},
    {"mysql", "-p", NUMBER, false},
    {"mysql", "password", SEPARATE, false},
    {"mariadb", "-p", ATTACHED, false},
    {"mariadb", "-p", NUMBER, false},
    {"curl", "-u", PAIR, false},
    {"curl", "--user", PAIR, false},
    {"curl", "-U", PAIR, false},
    {"curl", "-E", PAIR, false},
    {"curl", "--cert", PAIR, false},
    {"curl", "--proxy-user", PAIR, false},
    {"http", "-a", PAIR, false},
    {"http", "--auth", PAIR, false},
    {"sshpass", "-p", EITHER, true},
    {"login", "-p", SEPARATE, false},
    {"redis-cli", "-a", SEPARATE, false},
    {"redis-cli", "auth", ARGUMENT, false},
    {"vault operator unseal", "", TOKEN, true},
    {"schtasks", "/rp", SEPARATE, false},
    {"hydra", "-p", SEPARATE, false},
    {"steghide", "-p", SEPARATE, false},
    {"fcrackzip", "-p", SEPARATE, false},
    {"pdftotext", "-upw", SEPARATE, false},
    {"pdftotext", "-opw", SEPARATE, false},
    {"rclone config", "pass", SEPARATE, false},
    {"pdftk", "input_pw", SEPARATE, false},
    {"pdftk", "user_pw", SEPARATE, false},
    {"pdftk", "owner_pw", SEPARATE, false},
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
    {"openssl", "-K", SEPARATE, false},
    {"openssl", "-pass", FOLLOWING, false},
    {"ssh-keygen", "-N", SEPARATE, false},
    {"ssh-keygen", "-P", SEPARATE, false},
    {"plink", "-pw", SEPARATE, false},
    {"lftp", "-u", LIST, false},
    {"pscp", "-pw", SEPARATE, false},
    {"psftp", "-pw", SEPARATE, false},
    {"putty", "-pw", SEPARATE, false},
    {"htpasswd", "-", BOTH, false},
    {"rabbitmqctl", "add_user", SECOND, false},
    {"rabbitmqctl", "change_password", SECOND, false},
    {"net use", "/user:", FOLLOWING, false},
    {"net use", "\\\\", ARGUMENT, false},
    {"net user", "", USER, true},
    {"evil-winrm", "-p", SEPARATE, false},
    {"evil-winrm", "-H", SEPARATE, false},
    {"xfreerdp", "/p:", ATTACHED, false},
    {"rdesktop", "-p", SEPARATE, false},
    {"crackmapexec", "-p", SEPARATE, false},
    {"crackmapexec", "-H", SEPARATE, false},
    {"netexec", "-p", SEPARATE, false},
    {"netexec", "-H", SEPARATE, false},
    {"nxc", "-p", SEPARATE, false},
    {"nxc", "-H", SEPARATE, false},
    {"bloodhound", "-p", SEPARATE, false},
    {"smbmap", "-p", SEPARATE, false},
    {"rpcclient", "-U", PERCENT, false},
    {"impacket", "", HOST, false},
    {"secretsdump", "", HOST, false},
    {"psexec", "", HOST, false},
    {"psexec", "-p", SEPARATE, false},
    {"wmiexec", "", HOST, false},
    {"smbexec", "", HOST, false},
    {"snyk auth", "", TOKEN, true},
    {"bcp", "-P", EITHER, false},
    {"isql", "-P", EITHER, false},
    {"osql", "-P", EITHER, false},
    {"tsql", "-P", EITHER, false},
    {"cqlsh", "-p", SEPARATE, false},
    {"rar", "-p", ATTACHED, false},
    {"rar", "-hp", ATTACHED, false},
    {"unrar", "-p", ATTACHED, false},
    {"usermod", "-p", SEPARATE, false},
    {"wpa_passphrase", "", USER, true},
    {"etcdctl", "--user", PAIR, false},
    {"snmp", "-c", SEPARATE, false},
    {"openssl", "-1", SEPARATE, false},
    {"openssl", "-5", ARGUMENT, false},
    {"openssl", "-6", SEPARATE, false},
    {"openssl", "-apr1", ARGUMENT, false},
    {"openssl", "-salt", SECOND, false},
    {"username ", "password", ARGUMENT, false},
    {"username ", "secret", ARGUMENT, false},
    {"login", "", TOKEN, true},
    {"sqlplus", "", SLASH, false},
    {"expdp", "", SLASH, false},
    {"impdp", "", SLASH, false},
    {"sqlldr", "", SLASH, false},
    {"rman", "", SLASH, false},
    {"cypher-shell", "-p", SEPARATE, false},
    {"slappasswd", "-s", SEPARATE, false},
    {"mosquitto_passwd", "-b", THIRD, false},
    {"beeline", "-p", SEPARATE, false},
    {"medusa", "-p", SEPARATE, false},
    {"signtool", "/p", SEPARATE, false},
    {"certutil", "-p", SEPARATE, false},
    {"pk12util", "-W", SEPARATE, false},
    {"kadmin", "-pw", SEPARATE, false},
    {"addprinc", "-pw", SEPARATE, false},
    {"gnmic", "-p", SEPARATE, false},
    {"mkpasswd", "", FOLLOWING, true},
    {"dscl", "-passwd", SECOND, false},
    {"ejabberdctl", "register", THIRD, false},
    {"samba-tool", "create", SECOND, false},
    {"samba-tool", "add", SECOND, false},
    {"winexe", "-U", PERCENT, false},
    {"nuget push", "", TOKEN, false},
    {"nuget setapikey", "", TOKEN, true},
    {"net.exe user", "", USER, true},
    {"net.exe use", "/user:", FOLLOWING, false},
    {"net.exe use", "\\\\", ARGUMENT, false},
    {"security import", "-P", SEPARATE, false},
    {"security unlock-keychain", "-p", SEPARATE, false},
    {"security create-keychain", "-p", SEPARATE, false},
    {"qpdf", "--encrypt", FOLLOWING, false},
    {"doctl", "-t", SEPARATE, false},
    {"config http-basic", "", USER, true},
    {"rclone obscure", "", FOLLOWING, true},
    {"bw unlock", "", FOLLOWING, true},
    {"mc alias set", "", THIRD, true},
    {"mc config host add", "", THIRD, true},
    {"ngrok authtoken", "", FOLLOWING, true},
    {"runas", "/user:", FOLLOWING, false},
    {"auth add", "", TOKEN, false},
    {"convertto-securestring", "-string", SEPARATE, false},
    {"convertto-securestring", "-asplaintext", FOLLOWING, false},
    {"convertto-securestring", "", FOLLOWING, true},
};

static bool is_quote(int c) {
	return c == '"' || c == '\'';
}

static bool ends_command(int c) {
	return c < 0 || strchr("\n\r|;", c);
}

bool gb_argument_next(struct gb_named *text, const uint8_t *p, struct gb_argument *arg) {
	if (text->listed)
		return gb_argument_listed(text, p, arg);
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
		/* $(openssl passwd -1 x) */
		if (c == ')' && !quote && !memchr(arg->from, '(', (size_t)(p - arg->from)))
			break;
	}
	arg->to = p;
	arg->next = p + (quote && c == quote);
	return p > arg->from || quote;
}

static bool is_secret(struct gb_named *text, const uint8_t *from, const struct gb_argument *arg) {
	static const struct gb_place place = {.tail = GB_RX_PASSWORD, .joint = GB_JOINT_BLANK, .sure = true};
	text->from = from;
	text->to = arg->to;
	text->resume = arg->next;
	bool quoted = from == arg->from && arg->next > arg->to;
	return !text->cut && gb_guess_is_secret(&place, from, arg->to, quoted, ' ');
}

static bool is_random_token(struct gb_named *text, const struct gb_argument *arg) {
	static const struct gb_place place = {.tail = GB_RX_KEY, .joint = GB_JOINT_BLANK, .sure = true};
	return is_secret(text, arg->from, arg) && gb_guess_is_secret(&place, arg->from, arg->to, false, ' ');
}

static bool is_after(struct gb_named *text, const struct gb_argument *arg, int separator) {
	const uint8_t *at = memchr(arg->from, separator, (size_t)(arg->to - arg->from));
	if (!at)
		return false;
	struct gb_argument part = *arg;
	/* -u bob:'x' */
	if (separator == ':' && at + 1 == arg->to && is_quote(gb_named_at(text, arg->next)))
		return gb_argument_next(text, arg->next, &part) && is_secret(text, part.from, &part);
	/* sqlplus user/secret@database */
	const uint8_t *end = separator == '/' ? memchr(at, '@', (size_t)(arg->to - at)) : NULL;
	bool local = separator == '/' && !end && !memchr(arg->from, '.', (size_t)(arg->to - arg->from)) &&
		     memrchr(arg->from, '/', (size_t)(arg->to - arg->from)) == at;
	if (separator == '/' && ((!end && !local) || at == arg->from || at[-1] == ':'))
		return false;
	part.to = end ? end : part.to;
	if (gb_user_is_example(arg->from, at, at + 1, part.to))
		return false;
	return is_secret(text, at + 1, &part);
}

/* domain/user:secret@host; quotes may stand around the secret alone. */
static bool is_before_host(struct gb_named *text, const struct gb_argument *arg) {
	const uint8_t *slash = memchr(arg->from, '/', (size_t)(arg->to - arg->from));
	const uint8_t *user = slash ? slash : arg->from;
	const uint8_t *at = memchr(user, ':', (size_t)(arg->to - user));
	struct gb_argument part = *arg;
	if (!at)
		return false;
	if (at + 1 == arg->to && is_quote(gb_named_at(text, arg->next)))
		return gb_argument_next(text, arg->next, &part) && is_secret(text, part.from, &part);
	const uint8_t *end = memrchr(at, '@', (size_t)(arg->to - at));
	part.to = end ? end : arg->to;
	return is_secret(text, at + 1, &part);
}

static bool is_plain(const struct gb_argument *arg) {
	for (const uint8_t *p = arg->from; p < arg->to; p++)
		if (isdigit(*p) || (!isalnum(*p) && !strchr("_.-", *p)))
			return false;
	return true;
}

/* The arguments that a plain word would not be: enable secret 5 x. */
static bool take_argument(struct gb_named *text, struct gb_argument arg) {
	if (!gb_argument_next(text, arg.next, &arg))
		return false;
	text->from = arg.from;
	if (arg.to - arg.from == 1 && isdigit(*arg.from) && !gb_argument_next(text, arg.next, &arg))
		return false;
	text->from = arg.from;
	return *arg.from != '/' && !is_plain(&arg) && is_secret(text, arg.from, &arg);
}

/* net user bob swordfish /add */
static bool take_before_option(struct gb_named *text, struct gb_argument arg) {
	struct gb_argument next;
	if (text->cut || !gb_argument_next(text, arg.next, &arg) || *arg.from == '/')
		return false;
	text->from = arg.from;
	return gb_argument_next(text, arg.next, &next) && *next.from == '/' &&
	       is_secret(text, arg.from, &arg);
}

/* username bob secret x: a directive of a device has the whole line. */
static bool take_last(struct gb_named *text, const uint8_t *name, struct gb_argument arg) {
	if ((name > text->start && !strchr("\n\r#", name[-1])) || !gb_argument_next(text, arg.next, &arg))
		return false;
	if (arg.to - arg.from == 1 && isdigit(*arg.from) && !gb_argument_next(text, arg.next, &arg))
		return false;
	text->from = arg.from;
	int c = gb_named_at(text, arg.next);
	return (c < 0 || c == '\n' || c == '\r') && !text->cut && is_secret(text, arg.from, &arg);
}

/* htpasswd -nb user secret, htpasswd -bc file user secret */
static unsigned skipped_by(const struct gb_argument *arg) {
	size_t n = (size_t)(arg->to - arg->from);
	if (n > 5 || !memchr(arg->from, 'b', n))
		return ARGUMENTS;
	return (memchr(arg->from, 'n', n) ? 1 : 2) + (memchr(arg->from, 'C', n) != NULL);
}

/* The secret that @arg, which begins with the option, has or is followed by. */
static bool take(struct gb_named *text, enum form form, const char *option, struct gb_argument arg) {
	size_t n = strlen(option);
	bool attached = (size_t)(arg.to - arg.from) > n;
	unsigned skip = form == BOTH ? skipped_by(&arg) : form == THIRD ? 2 : form == SECOND ? 1 : 0;
	if (skip == ARGUMENTS)
		return false;
	if (form == SLASH)
		return is_after(text, &arg, '/');
	if (form == HOST)
		return is_before_host(text, &arg);
	if (form == ARGUMENT && (!attached || *option == '\\'))
		return take_argument(text, arg);
	if (form == NUMBER)
		return !attached && take_argument(text, arg);
	/* net user bob x /add */
	if (form == USER)
		return take_argument(text, arg) || take_before_option(text, arg);
	/* vault login x */
	if (form == TOKEN)
		return arg.to - arg.from >= TOKEN_MIN &&
		       !memchr(arg.from, '=', (size_t)(arg.to - arg.from)) && is_random_token(text, &arg);
	/* token=x: secrets_named.c knows it by its name. */
	if (form == FOLLOWING && !*option)
		return !memchr(arg.from, '=', (size_t)(arg.to - arg.from)) && is_secret(text, arg.from, &arg);
	/* -p'secret' */
	if (form == ATTACHED && !attached)
		return is_quote(gb_named_at(text, arg.next)) && gb_argument_next(text, arg.next, &arg) &&
		       is_secret(text, arg.from, &arg);
	/* Invoke-Sqlcmd -Password x: secrets_named.c knows it by its name. */
	if (form == EITHER && attached && arg.to - arg.from >= 9 &&
	    strncasecmp((const char *)arg.from, "-password", 9) == 0)
		return false;
	if (form == ATTACHED || (form == EITHER && attached))
		return is_secret(text, arg.from + n, &arg);
	if (form == PAIR && attached && (n == 2 || arg.from[n] == '='))
		return is_after(text, &arg, ':');
	if (form != FOLLOWING && form != THIRD && form != BOTH && attached && arg.from[n] != '=')
		return false;
	for (unsigned i = 0; i <= skip; i++)
		do
			if (!gb_argument_next(text, arg.next, &arg) ||
			    (i < skip && form == SECOND && *arg.from == '-'))
				return false;
		while (form == BOTH && arg.from < arg.to && *arg.from == '-');
	text->from = arg.from;
	if (form == PAIR || form == LIST || form == PERCENT)
		return is_after(text, &arg, form == PAIR ? ':' : form == LIST ? ',' : '%');
	if (form == FOLLOWING && arg.to - arg.from > 5 && memcmp(arg.from, "pass:", 5) == 0)
		arg.from += 5;
	return is_secret(text, arg.from, &arg);
}

static bool is_called(const struct command *command, const uint8_t *name, const uint8_t *to) {
	const char *c = command->name;
	for (; *c && name < to && tolower(*name) == *c; c++)
		name++;
	return !*c;
}

static bool has_option(const struct gb_argument *arg, const char *option) {
	size_t n = strlen(option);
	if ((size_t)(arg->to - arg->from) < n)
		return false;
	/* -P3306 is no -p; programs of Windows take -STRING for -string. */
	for (size_t i = 0; i < n; i++)
		if (arg->from[i] != (uint8_t)option[i] && (n == 2 || tolower(arg->from[i]) != option[i]))
			return false;
	/* -string is no -s, --user-agent is no --user. */
	return *option || *arg->from != '-';
}

/* echo secret | sudo -S; "pair" is for user:secret, "code" for what encodes either. */
static const struct reader {
	const char *name;
	bool pair, code;
} readers[] = {{"sudo -S", false, false}, {"passwd", false, false}, {"sudo passwd", false, false},
    {"smbpasswd", false, false}, {"docker login", false, false}, {"podman login", false, false},
    {"helm registry login", false, false}, {"docker secret create", false, false}, {"chpasswd", true, false},
    {"sudo chpasswd", true, false}, {"su ", false, false}, {"kinit", false, false},
    {"cryptsetup", false, false}, {"sudo cryptsetup", false, false}, {"gpg", false, false},
    {"htpasswd", false, false}, {"vault login", false, false}, {"base64", true, true},
    {"openssl base64", true, true}, {"openssl enc", true, true}};

/* echo -e "secret\nsecret": up to the line break. */
static bool is_piped(struct gb_named *text, const struct reader *reader, struct gb_argument arg) {
	const uint8_t *line = memmem(arg.from, (size_t)(arg.to - arg.from), "\\n", 2);
	arg.to = line && line > arg.from && line + 2 == arg.to ? line : arg.to;
	if (reader->pair && memchr(arg.from, ':', (size_t)(arg.to - arg.from)))
		return is_after(text, &arg, ':');
	return (!reader->pair || (reader->code && (!is_plain(&arg) || arg.to - arg.from >= WORD_MIN) &&
				     !memchr(arg.from, ' ', (size_t)(arg.to - arg.from)))) &&
	       is_secret(text, arg.from, &arg);
}

static bool find_piped(struct gb_named *text, const uint8_t *p) {
	struct gb_argument arg = {0};
	unsigned options = 0;
	do {
		if (!gb_argument_next(text, p, &arg) || arg.to - arg.from >= ECHO_MAX) {
			text->from = text->cut && arg.from ? arg.from : text->end;
			return false;
		}
		p = arg.next;
		/* printf '%s\\n' "x" "x" | passwd */
	} while (options++ < 2 && strchr("-%", *arg.from) && arg.to - arg.from <= 8);
	text->from = arg.from;
	struct gb_argument again;
	if (gb_argument_next(text, p, &again) && again.to - again.from == arg.to - arg.from &&
	    memcmp(again.from, arg.from, (size_t)(arg.to - arg.from)) == 0) {
		arg.to = again.to;
		p = arg.next = again.next;
	}
	while (gb_named_at(text, p) == ' ' && p - arg.next < 4)
		p++;
	if (gb_named_at(text, p) != '|')
		return false;
	for (p++; gb_named_at(text, p) == ' ' && p - arg.next < 8;)
		p++;
	for (size_t i = 0; i < GB_COUNT(readers); i++) {
		const char *c = readers[i].name;
		const uint8_t *at = p;
		for (; *c && gb_named_at(text, at) == *c; c++)
			at++;
		if (!*c)
			return is_piped(text, &readers[i], arg);
	}
	return false;
}

/* The rows of the table for a command: those that have its name stand together, or nearly so. */
static unsigned rows_of(const uint8_t *name, const uint8_t *to, const struct command *rows[ROWS_MAX]) {
	unsigned n = 0;
	const char first = (char)tolower(*name);
	for (size_t i = 0; i < GB_COUNT(commands) && n < ROWS_MAX; i++)
		if (*commands[i].name == first && is_called(&commands[i], name, to))
			rows[n++] = &commands[i];
	return n;
}

static bool find_among(struct gb_named *text, const uint8_t *name, const uint8_t *p, bool first) {
	const struct command *rows[ROWS_MAX];
	struct gb_argument arg = {0};
	unsigned n = rows_of(name, p, rows), args = 0;
	for (; args < ARGUMENTS && p - name < ARGUMENTS_MAX && gb_argument_next(text, p, &arg);
	     first = false, args++) {
		/* Half an argument may be half a secret. */
		text->from = arg.from;
		for (unsigned i = 0; !text->cut && i < n; i++) {
			if (!has_option(&arg, rows[i]->option) || (rows[i]->first && !first))
				continue;
			if (rows[i]->form == ARGUMENT && tolower(*name) == 'u' && take_last(text, name, arg))
				return true;
			if (take(text, rows[i]->form, rows[i]->option, arg))
				return true;
		}
		/* Another command begins, which is looked at by itself. */
		if (text->cut || (n && is_called(rows[0], arg.from, arg.to) && gb_argument_is_name(&arg)))
			return false;
		/* lftp -c 'open -u user,x' */
		bool script = arg.next > arg.to && memmem(arg.from, (size_t)(arg.to - arg.from), " -", 2);
		p = script ? arg.from : arg.next;
		text->from = text->end;
		arg.from = NULL;
	}
	/* ["mysql", "-px": its closing quote is not there yet. */
	if (text->cut && arg.from)
		text->from = arg.from;
	return false;
}

static bool pipes(const uint8_t *name, const uint8_t *to) {
	return (to - name == 5 && strncasecmp((const char *)name, "echo ", 5) == 0) ||
	       (to - name == 7 && strncasecmp((const char *)name, "printf ", 7) == 0);
}

bool gb_command_find(struct gb_named *text, const uint8_t *name, const uint8_t *to, const uint8_t *p) {
	bool first = p == to;
	text->listed = gb_command_is_listed(text, name, to);
	if (first && (*name == ' ' || *name == '\n' || is_quote(*name)) && strchr("-/", name[1]))
		return gb_user_find(text, p);
	if (first) {
		if (pipes(name, to))
			return find_piped(text, p);
		/* "zip -": the hyphen begins the first argument. mysqldump, ldapsearch: a name goes on. */
		if (p[-1] == '-' || (p[-2] == ' ' && p[-1] != ' '))
			p--;
		for (int c; (c = gb_named_at(text, p)) >= 0 && p >= to && p - to < 16 &&
			    (isalnum(c) || strchr("_-.", c));)
			p++;
		if (text->listed)
			p++;
		else if (p >= to && gb_named_at(text, p) != ' ')
			return false;
	}
	return find_among(text, name, p, first);
}
