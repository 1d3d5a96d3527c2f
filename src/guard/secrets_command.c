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
	WORD_MIN =
	    12 /* of a plain word that is piped into an encoder; a shorter one is more often a user name */
};

/* Where the secret is, relative to an argument that matches the option. The empty option matches every argument
 * that does not begin with '-'. */
enum form {
	ATTACHED, /* in the same argument: -psecret */
	EITHER,   /* in the same argument or the next one: -psecret, -p secret */
	SEPARATE, /* the next argument: -p secret */
	PAIR,     /* in the next argument: -u user:secret */
	LIST,     /* in the next argument: -u user,secret */
	PERCENT,  /* in the next argument: -U user%secret */
	SECOND,   /* the second argument after it: -salt x secret */
	THIRD,    /* the third argument after it: -b file user secret */
	FOLLOWING, /* the next argument after one that only begins with the option: /user:bob secret. With an empty
		     * option, the argument itself */
	TOKEN,      /* the argument itself, if it looks random */
	SLASH,      /* in the argument itself: user/secret@database */
	HOST,       /* in the argument itself: domain/user:secret@host */
	HTPASSWD,   /* -nb user secret, -b file user secret */
	NOT_A_WORD, /* the next argument, or the one after a single digit: secret 5 x; not a plain word */
	NUMBER,     /* the next argument, if it is not a plain word: -p 123456 */
	AFTER_USER, /* the next argument, which follows a user name: net user bob secret; not an option */
};

/* A name must also be in the pattern 'command-password' (secrets_patterns.c), which finds it in the text. The
 * program's name can be longer: "mysql" stands for mysqldump, too. */
static const struct command {
	const char *name, *option;
	enum form form;
	bool only_first; /* only the first argument of the command can match the option */
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
    {"redis-cli", "auth", NOT_A_WORD, false},
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
    {"htpasswd", "-", HTPASSWD, false},
    {"rabbitmqctl", "add_user", SECOND, false},
    {"rabbitmqctl", "change_password", SECOND, false},
    {"net use", "/user:", FOLLOWING, false},
    {"net use", "\\\\", NOT_A_WORD, false},
    {"net user", "", AFTER_USER, true},
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
    {"wpa_passphrase", "", AFTER_USER, true},
    {"etcdctl", "--user", PAIR, false},
    {"snmp", "-c", SEPARATE, false},
    {"openssl", "-1", SEPARATE, false},
    {"openssl", "-5", NOT_A_WORD, false},
    {"openssl", "-6", SEPARATE, false},
    {"openssl", "-apr1", NOT_A_WORD, false},
    {"openssl", "-salt", SECOND, false},
    {"username ", "password", NOT_A_WORD, false},
    {"username ", "secret", NOT_A_WORD, false},
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
    {"net.exe user", "", AFTER_USER, true},
    {"net.exe use", "/user:", FOLLOWING, false},
    {"net.exe use", "\\\\", NOT_A_WORD, false},
    {"security import", "-P", SEPARATE, false},
    {"security unlock-keychain", "-p", SEPARATE, false},
    {"security create-keychain", "-p", SEPARATE, false},
    {"qpdf", "--encrypt", FOLLOWING, false},
    {"doctl", "-t", SEPARATE, false},
    {"config http-basic", "", AFTER_USER, true},
    {"rclone obscure", "", FOLLOWING, true},
    {"bw unlock", "", FOLLOWING, true},
    {"mc alias set", "", THIRD, true},
    {"mc config host add", "", THIRD, true},
    {"ngrok authtoken", "", FOLLOWING, true},
    {"runas", "/user:", FOLLOWING, false},
    {"knife bootstrap", "-P", SEPARATE, false},
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
	/* The number of blanks is bounded: the filter of a stream holds back all that may belong to the command. */
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
		/* The bracket that closes $(openssl passwd -1 x) is not part of x. */
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

/* Whether the part of @arg after the first @separator is a secret. */
static bool part_after_is_secret(struct gb_named *text, const struct gb_argument *arg, int separator) {
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

/* Whether @arg is domain/user:secret@host. Quotes can enclose the secret only: user:'secret'. */
static bool has_secret_before_host(struct gb_named *text, const struct gb_argument *arg) {
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

/* Whether @arg has only letters and "_.-". */
static bool is_plain_word(const struct gb_argument *arg) {
	for (const uint8_t *p = arg->from; p < arg->to; p++)
		if (isdigit(*p) || (!isalnum(*p) && !strchr("_.-", *p)))
			return false;
	return true;
}

/* Whether the argument after @arg is a secret, but no plain word. A single digit before it is skipped: secret 5 x. */
static bool next_is_secret(struct gb_named *text, struct gb_argument arg) {
	if (!gb_argument_next(text, arg.next, &arg))
		return false;
	text->from = arg.from;
	if (arg.to - arg.from == 1 && isdigit(*arg.from) && !gb_argument_next(text, arg.next, &arg))
		return false;
	text->from = arg.from;
	return *arg.from != '/' && !is_plain_word(&arg) && is_secret(text, arg.from, &arg);
}

/* Whether the argument after @arg is a secret that an option follows: net user bob swordfish /add. */
static bool next_is_secret_before_option(struct gb_named *text, struct gb_argument arg) {
	struct gb_argument next;
	if (text->cut || !gb_argument_next(text, arg.next, &arg) || *arg.from == '/')
		return false;
	text->from = arg.from;
	return gb_argument_next(text, arg.next, &next) && *next.from == '/' &&
	       is_secret(text, arg.from, &arg);
}

/* username bob secret x: a line of the configuration of a network device. The directive @name must begin the line,
 * and the secret must end it. */
static bool last_is_secret(struct gb_named *text, const uint8_t *name, struct gb_argument arg) {
	if ((name > text->start && !strchr("\n\r#", name[-1])) || !gb_argument_next(text, arg.next, &arg))
		return false;
	if (arg.to - arg.from == 1 && isdigit(*arg.from) && !gb_argument_next(text, arg.next, &arg))
		return false;
	text->from = arg.from;
	int c = gb_named_at(text, arg.next);
	return (c < 0 || c == '\n' || c == '\r') && !text->cut && is_secret(text, arg.from, &arg);
}

/* How many arguments are between @arg, the options of htpasswd, and the secret: 1 for -nb user secret, 2 for
 * -bc file user secret, and one more for -C cost. ARGUMENTS if @arg has no -b: then no argument is a secret. */
static unsigned htpasswd_arguments(const struct gb_argument *arg) {
	size_t n = (size_t)(arg->to - arg->from);
	if (n > 5 || !memchr(arg->from, 'b', n))
		return ARGUMENTS;
	return (memchr(arg->from, 'n', n) ? 1 : 2) + (memchr(arg->from, 'C', n) != NULL);
}

/* Whether there is a secret at the place that @form describes. @arg begins with @option. */
static bool option_has_secret(
    struct gb_named *text, enum form form, const char *option, struct gb_argument arg) {
	size_t n = strlen(option);
	bool attached = (size_t)(arg.to - arg.from) > n;
	unsigned skip = form == HTPASSWD ? htpasswd_arguments(&arg)
			: form == THIRD  ? 2
			: form == SECOND ? 1
					 : 0;
	if (skip == ARGUMENTS)
		return false;
	if (form == SLASH)
		return part_after_is_secret(text, &arg, '/');
	if (form == HOST)
		return has_secret_before_host(text, &arg);
	if (form == NOT_A_WORD && (!attached || *option == '\\'))
		return next_is_secret(text, arg);
	if (form == NUMBER)
		return !attached && next_is_secret(text, arg);
	/* net user bob x /add */
	if (form == AFTER_USER)
		return next_is_secret(text, arg) || next_is_secret_before_option(text, arg);
	/* vault login x */
	if (form == TOKEN)
		return arg.to - arg.from >= TOKEN_MIN &&
		       !memchr(arg.from, '=', (size_t)(arg.to - arg.from)) && is_random_token(text, &arg);
	/* token=x is left to secrets_named.c, which finds secrets by their names. */
	if (form == FOLLOWING && !*option)
		return !memchr(arg.from, '=', (size_t)(arg.to - arg.from)) && is_secret(text, arg.from, &arg);
	/* -p'secret' */
	if (form == ATTACHED && !attached)
		return is_quote(gb_named_at(text, arg.next)) && gb_argument_next(text, arg.next, &arg) &&
		       is_secret(text, arg.from, &arg);
	/* Invoke-Sqlcmd -Password x is left to secrets_named.c, too. */
	if (form == EITHER && attached && arg.to - arg.from >= 9 &&
	    strncasecmp((const char *)arg.from, "-password", 9) == 0)
		return false;
	if (form == ATTACHED || (form == EITHER && attached))
		return is_secret(text, arg.from + n, &arg);
	if (form == PAIR && attached && (n == 2 || arg.from[n] == '='))
		return part_after_is_secret(text, &arg, ':');
	if (form != FOLLOWING && form != THIRD && form != HTPASSWD && attached && arg.from[n] != '=')
		return false;
	for (unsigned i = 0; i <= skip; i++)
		do
			if (!gb_argument_next(text, arg.next, &arg) ||
			    (i < skip && form == SECOND && *arg.from == '-'))
				return false;
		while (form == HTPASSWD && arg.from < arg.to && *arg.from == '-');
	text->from = arg.from;
	if (form == PAIR || form == LIST || form == PERCENT)
		return part_after_is_secret(text, &arg, form == PAIR ? ':' : form == LIST ? ',' : '%');
	if (form == FOLLOWING && arg.to - arg.from > 5 && memcmp(arg.from, "pass:", 5) == 0)
		arg.from += 5;
	return is_secret(text, arg.from, &arg);
}

/* Whether the text [name, to) begins with the name of @command. */
static bool has_name(const struct command *command, const uint8_t *name, const uint8_t *to) {
	const char *c = command->name;
	for (; *c && name < to && tolower(*name) == *c; c++)
		name++;
	return !*c;
}

static bool has_option(const struct gb_argument *arg, const char *option) {
	size_t n = strlen(option);
	if ((size_t)(arg->to - arg->from) < n)
		return false;
	/* Short options are compared exactly (-P3306 is not -p); long ones without regard to case, as on Windows. */
	for (size_t i = 0; i < n; i++)
		if (arg->from[i] != (uint8_t)option[i] && (n == 2 || tolower(arg->from[i]) != option[i]))
			return false;
	/* The empty option stands for an argument that is not an option. */
	return *option || *arg->from != '-';
}

/* Programs that read a secret from standard input: echo secret | sudo -S. */
static const struct reader {
	const char *name;
	bool pair;    /* reads user:secret */
	bool encoder; /* reads either, and encodes it */
} readers[] = {{"sudo -S", false, false}, {"passwd", false, false}, {"sudo passwd", false, false},
    {"smbpasswd", false, false}, {"docker login", false, false}, {"podman login", false, false},
    {"helm registry login", false, false}, {"docker secret create", false, false}, {"chpasswd", true, false},
    {"sudo chpasswd", true, false}, {"su ", false, false}, {"kinit", false, false},
    {"cryptsetup", false, false}, {"sudo cryptsetup", false, false}, {"gpg", false, false},
    {"htpasswd", false, false}, {"vault login", false, false}, {"base64", true, true},
    {"openssl base64", true, true}, {"openssl enc", true, true}};

/* Whether @arg, which is piped into @reader, is or has a secret. A line break (\n) at its end is not part of it. */
static bool piped_is_secret(struct gb_named *text, const struct reader *reader, struct gb_argument arg) {
	const uint8_t *line = memmem(arg.from, (size_t)(arg.to - arg.from), "\\n", 2);
	arg.to = line && line > arg.from && line + 2 == arg.to ? line : arg.to;
	if (reader->pair && memchr(arg.from, ':', (size_t)(arg.to - arg.from)))
		return part_after_is_secret(text, &arg, ':');
	return (!reader->pair ||
		   (reader->encoder && (!is_plain_word(&arg) || arg.to - arg.from >= WORD_MIN) &&
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
		/* Skip options and formats: printf '%s\\n' "x" "x" | passwd */
	} while (options++ < 2 && strchr("-%", *arg.from) && arg.to - arg.from <= 8);
	text->from = arg.from;
	/* A program that sets a password reads it twice. */
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
			return piped_is_secret(text, &readers[i], arg);
	}
	return false;
}

/* Find the rows of the table for the command [name, to), at most ROWS_MAX. */
static unsigned find_rows(const uint8_t *name, const uint8_t *to, const struct command *rows[ROWS_MAX]) {
	unsigned n = 0;
	const char first = (char)tolower(*name);
	for (size_t i = 0; i < GB_COUNT(commands) && n < ROWS_MAX; i++)
		if (*commands[i].name == first && has_name(&commands[i], name, to))
			rows[n++] = &commands[i];
	return n;
}

/* Find a secret among the arguments from @p on; @first: the next argument is the command's first one. */
static bool find_in_arguments(struct gb_named *text, const uint8_t *name, const uint8_t *p, bool first) {
	const struct command *rows[ROWS_MAX];
	struct gb_argument arg = {0};
	unsigned n = find_rows(name, p, rows), args = 0;
	for (; args < ARGUMENTS && p - name < ARGUMENTS_MAX && gb_argument_next(text, p, &arg);
	     first = false, args++) {
		/* If the text is cut in this argument, hold back all of it: it can be half of a secret. */
		text->from = arg.from;
		for (unsigned i = 0; !text->cut && i < n; i++) {
			if (!has_option(&arg, rows[i]->option) || (rows[i]->only_first && !first))
				continue;
			if (rows[i]->form == NOT_A_WORD && tolower(*name) == 'u' &&
			    last_is_secret(text, name, arg))
				return true;
			if (option_has_secret(text, rows[i]->form, rows[i]->option, arg))
				return true;
		}
		/* Another command of the same name begins. It is found by itself. */
		if (text->cut || (n && has_name(rows[0], arg.from, arg.to) && gb_argument_is_name(&arg)))
			return false;
		/* An argument can be a script with options of its own: lftp -c 'open -u user,x' */
		bool script = arg.next > arg.to && memmem(arg.from, (size_t)(arg.to - arg.from), " -", 2);
		p = script ? arg.from : arg.next;
		text->from = text->end;
		arg.from = NULL;
	}
	/* The closing quote of an argument has not arrived yet: ["mysql", "-px */
	if (text->cut && arg.from)
		text->from = arg.from;
	return false;
}

static bool is_echo(const uint8_t *name, const uint8_t *to) {
	return (to - name == 5 && strncasecmp((const char *)name, "echo ", 5) == 0) ||
	       (to - name == 7 && strncasecmp((const char *)name, "printf ", 7) == 0);
}

bool gb_command_find(struct gb_named *text, const uint8_t *name, const uint8_t *to, const uint8_t *p) {
	bool first = p == to;
	text->listed = gb_command_is_listed(text, name, to);
	if (first && (*name == ' ' || *name == '\n' || is_quote(*name)) && strchr("-/", name[1]))
		return gb_user_find(text, p);
	if (first) {
		if (is_echo(name, to))
			return find_piped(text, p);
		/* The pattern can match the beginning of the first argument: go back to the hyphen of "zip -". Then skip the
		 * rest of a longer name: mysqldump, ldapsearch. */
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
	return find_in_arguments(text, name, p, first);
}
