#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/settings.h"
#include "cli/untrusted.h"
#include "guard/secrets_load.h"
#include "guard/secrets_patterns.h"
#include "guard/secrets_store.h"
#include "store/state.h"

enum { OPERANDS = 2, CTRL_C = 3, PIECE = 64 << 10 };

struct request {
	const char *operands[OPERANDS]; /* the action, and the name of a secret */
	unsigned n;
	bool from_stdin, json;
	struct gb_secret_binding binding; /* .hosts and .header are NULL: none */
	struct settings_request settings;
	const struct gb_config *config;
	char dir[GB_STATE_PATH];
};

static const struct flag flags[] = {
    {"stdin", 0, NULL, "add: read the value from standard input, without a line break at its end", 0,
	" add "},
    {"host", 0, "HOST,...", "add: bind it to these hosts (name, name:port or *.domain); needs --header", 0,
	" add "},
    {"header", 0, "TEXT", "add: the header that gets it, with {} in its place: 'authorization: Bearer {}'", 0,
	" add "},
    {"env", 0, "NAME", "add: the variable with its placeholder; default: its name in capitals", 0, " add "},
    {"json", 0, NULL, "list, kinds: one JSON array", 0, " list kinds "},
    SETTINGS_FLAGS,
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (flag && settings_flag(&request->settings, flag, value))
		return true;
	const struct {
		const char *name, **to;
	} texts[] = {{"host", &request->binding.hosts}, {"header", &request->binding.header},
	    {"env", &request->binding.variable}};
	for (size_t i = 0; flag && i < GB_COUNT(texts); i++)
		if (strcmp(flag->name, texts[i].name) == 0) {
			*texts[i].to = value;
			return true;
		}
	if (flag) {
		*(strcmp(flag->name, "json") == 0 ? &request->json : &request->from_stdin) = true;
		return true;
	}
	if (request->n == OPERANDS)
		return report_error(&command_secrets, "got the unexpected operand '%s'", value);
	request->operands[request->n++] = value;
	return true;
}

static int refuse(const struct gb_err *err) {
	report_error(&command_secrets, "%s", err->message);
	return EXIT_REFUSED;
}

/* --- add --- */

static void wipe(struct gb_buf *buf) {
	if (buf->data)
		explicit_bzero(buf->data, buf->cap);
	gb_buf_finish(buf);
}
#define auto_wiped __attribute__((cleanup(wipe)))

static void drop_line_break(struct gb_buf *value) {
	if (value->len && value->data[value->len - 1] == '\n')
		value->len--;
	if (value->len && value->data[value->len - 1] == '\r')
		value->len--;
}

/* Read a line from the terminal without echo. The interrupt key only ends the line, so that the terminal is
 * always restored. */
static bool read_unseen(int tty, struct gb_buf *value) {
	struct termios before, unseen;
	if (tcgetattr(tty, &before) != 0)
		return false;
	unseen = before;
	unseen.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	unseen.c_cc[VEOL] = CTRL_C;
	if (tcsetattr(tty, TCSAFLUSH, &unseen) != 0)
		return false;
	ssize_t n = 0;
	while (value->len < value->cap &&
	       (n = read(tty, value->data + value->len, value->cap - value->len)) > 0) {
		value->len += (size_t)n;
		char last = value->data[value->len - 1];
		if (last == '\n' || last == CTRL_C)
			break;
	}
	tcsetattr(tty, TCSAFLUSH, &before);
	return n >= 0 && !memchr(value->data, CTRL_C, value->len);
}

static bool ask(const char *name, struct gb_buf *value) {
	gb_auto_fd int tty = isatty(STDIN_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
	if (tty < 0)
		return report_error(
		    &command_secrets, "there is no terminal to ask for the value; give it with --stdin");
	dprintf(tty, "Value of %s (not shown): ", name);
	bool ok = read_unseen(tty, value);
	dprintf(tty, "\n");
	return ok || report_error(&command_secrets, "nothing was added");
}

/* Refuse a field by the name of its option, or the value. */
static int refuse_use(const struct gb_err *err) {
	return report_flag_error(&command_secrets, err) ? EXIT_BAD_USE : EXIT_REFUSED;
}

/* The binding that was asked for, or NULL. False if it is incomplete or wrong. */
static bool choose_binding(struct request *request, char variable[GB_SECRET_VARIABLE_MAX + 1],
    const struct gb_secret_binding **ret) {
	struct gb_secret_binding *binding = &request->binding;
	struct gb_err err = {0};
	*ret = NULL;
	if (!binding->hosts && !binding->header && !binding->variable)
		return true;
	if (!binding->hosts || !binding->header)
		return report_error(&command_secrets,
		    "a secret is bound to hosts with --host and --header together, such as --host "
		    "api.example.com --header 'authorization: Bearer {}'");
	gb_secret_binding_variable(request->operands[1], variable);
	binding->variable = binding->variable ? binding->variable : variable;
	*ret = binding;
	if (gb_secret_binding_check(request->operands[1], NULL, 0, binding, &err))
		return true;
	refuse_use(&err);
	return false;
}

static void tell_binding(const struct gb_secret_binding *binding) {
	if (binding)
		fprintf(stderr,
		    "Code whose network has one of these hosts finds a placeholder in %s; the value is put "
		    "into "
		    "requests to %s.\n",
		    binding->variable, binding->hosts);
}

static int add(struct request *request) {
	auto_wiped struct gb_buf value;
	struct gb_err err = {0};
	const char *name = request->operands[1];
	char variable[GB_SECRET_VARIABLE_MAX + 1];
	const struct gb_secret_binding *binding;
	/* Reserve the maximum size and a line break, so that the value is never copied to another place. */
	gb_buf_init(&value, GB_SECRET_MAX + 8192);
	if (!gb_buf_reserve(&value, GB_SECRET_MAX + 8192))
		return EXIT_REFUSED;
	if (!gb_secret_check(name, GB_SECRET_MIN, &err)) {
		report_error(&command_secrets, "%s", err.message);
		return EXIT_BAD_USE;
	}
	if (!choose_binding(request, variable, &binding))
		return EXIT_BAD_USE;
	if (request->from_stdin ? !gb_read_to_end(STDIN_FILENO, "standard input", &value, &err)
				: !ask(name, &value)) {
		if (request->from_stdin)
			report_error(
			    &command_secrets, "%s; a value has at most %d bytes", err.message, GB_SECRET_MAX);
		return EXIT_BAD_USE;
	}
	drop_line_break(&value);
	if (!gb_secret_store_put(request->dir, name, value.data, value.len, binding, &err))
		return refuse_use(&err);
	fprintf(stderr,
	    "glovebox secrets: '%s' is stored in %s\n"
	    "Processes that already run ('glovebox stdio', the process that keeps sessions) mask it after "
	    "SIGHUP.\n",
	    name, request->dir);
	tell_binding(binding);
	return EXIT_OK;
}

/* --- list, rm, kinds --- */

struct listing {
	bool json, any;
};

static void print_field(const char *name, const char *text) {
	printf(",\"%s\":", name);
	print_json_string(stdout, text);
}

static bool print_secret(void *data, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err) {
	struct listing *listing = data;
	if (listing->json) {
		fputs(listing->any ? ",{\"name\":" : "{\"name\":", stdout);
		print_json_string(stdout, name);
		if (binding) {
			print_field("host", binding->hosts);
			print_field("header", binding->header);
			print_field("env", binding->variable);
		}
		putchar('}');
	} else {
		print_name(stdout, name, strlen(name));
		if (binding)
			printf("  %s  %s  %s", binding->hosts, binding->header, binding->variable);
		putchar('\n');
	}
	listing->any = true;
	return true;
}

static int list(struct request *request) {
	struct listing listing = {.json = request->json};
	struct gb_err err = {0};
	if (listing.json)
		putchar('[');
	bool ok = gb_secret_store_each(request->dir, print_secret, &listing, &err);
	if (listing.json)
		puts("]");
	return ok ? EXIT_OK : refuse(&err);
}

static int rm(struct request *request) {
	struct gb_err err = {0};
	return gb_secret_store_remove(request->dir, request->operands[1], &err) ? EXIT_OK : refuse(&err);
}

static int kinds(struct request *request) {
	for (size_t i = 0; i < gb_n_secret_patterns; i++) {
		const struct gb_secret_pattern *kind = &gb_secret_patterns[i];
		if (!request->json) {
			printf("%-26s %s\n", kind->name, kind->note);
			continue;
		}
		fputs(i ? ",{\"name\":" : "[{\"name\":", stdout);
		print_json_string(stdout, kind->name);
		fputs(",\"pattern\":", stdout);
		print_json_string(stdout, kind->pattern);
		fputs(",\"note\":", stdout);
		print_json_string(stdout, kind->note);
		putchar('}');
	}
	if (request->json)
		puts("]");
	return EXIT_OK;
}

/* --- mask --- */

/* Output to a terminal. */
static struct untrusted shown;

static bool write_out(struct gb_buf *out) {
	bool ok = !gb_buf_failed(out);
	if (ok && isatty(STDOUT_FILENO)) {
		untrusted_feed(&shown, stdout, out->data, out->len);
		ok = fflush(stdout) == 0;
	} else if (ok) {
		ok = gb_write_all(STDOUT_FILENO, out->data, out->len);
	}
	gb_buf_clear(out);
	return ok;
}

static bool mask_all(struct gb_mask *stream) {
	static char piece[PIECE];
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 16 << 20);
	ssize_t n;
	while ((n = read(STDIN_FILENO, piece, sizeof piece)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		gb_mask_feed(stream, piece, (size_t)n, &out);
		if (!write_out(&out))
			return false;
	}
	gb_mask_end(stream, &out);
	bool ok = write_out(&out);
	untrusted_end(&shown, stdout);
	return ok;
}

/* Masks as runs of agents are masked. */
static int mask(struct request *request) {
	struct gb_err err = {0};
	struct gb_filter *filter;
	if (!gb_filter_choose(request->config, GB_CONFIG_MASK_ALL, environ, &filter, &err))
		return refuse(&err);
	struct gb_mask *stream = gb_mask_create(filter);
	int status = EXIT_REFUSED;
	if (!stream)
		report_error(&command_secrets, "out of memory");
	else if (mask_all(stream))
		status = EXIT_OK;
	else
		report_error(&command_secrets, "reading or writing failed: %s", strerror(errno));
	gb_mask_destroy(stream);
	gb_filter_destroy(filter);
	return status;
}

/* --- the command --- */

static const struct {
	const char *name;
	bool named; /* takes the name of a secret */
	int (*run)(struct request *request);
} verbs[] = {{"add", true, add}, {"list", false, list}, {"rm", true, rm}, {"kinds", false, kinds},
    {"mask", false, mask}};

static int run_verb(struct request *request, int (*verb)(struct request *)) {
	struct gb_err err = {0};
	request->config = settings_load(&command_secrets, &request->settings);
	if (!request->config)
		return EXIT_BAD_USE;
	int status =
	    gb_state_choose(request->config->state_dir, request->dir, &err) ? verb(request) : refuse(&err);
	gb_config_unref(request->config);
	return status;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	const char *what = request.n ? request.operands[0] : "";
	for (size_t i = 0; i < GB_COUNT(verbs); i++) {
		if (strcmp(what, verbs[i].name) != 0)
			continue;
		if (request.n != 1U + verbs[i].named) {
			report_error(self,
			    verbs[i].named ? "%s: give the NAME of a secret" : "%s takes no name", what);
			return EXIT_BAD_USE;
		}
		if (!check_action_flags(self, what))
			return EXIT_BAD_USE;
		return run_verb(&request, verbs[i].run);
	}
	print_help(self, stderr);
	return EXIT_BAD_USE;
}

static const struct action actions[] = {
    {"add", "NAME",
	"Store a value, which is asked for without being shown, or read from standard input with --stdin. A\n"
	"value has at least 6 bytes.\n"
	"\n"
	"  pass show db | glovebox secrets add DATABASE --stdin\n"
	"\n"
	"With --host and --header, the secret is bound to hosts: code whose network has one of them finds a\n"
	"placeholder in a variable, and the value is put into this header of its requests to these hosts, "
	"outside\n"
	"of the sandbox. The value then has at most 1024 bytes. If a secret that is bound gets another "
	"value, it\n"
	"stays bound.\n"
	"\n"
	"  glovebox secrets add openai --host api.openai.com --header 'authorization: Bearer {}' --env "
	"OPENAI_API_KEY"},
    {"list", "",
	"List the names, and for each that is bound to hosts: the hosts, the header and the variable. Values "
	"are\n"
	"never printed."},
    {"rm", "NAME", "Remove a value."},
    {"kinds", "", "List the kinds of credentials that are recognised by their form."},
    {"mask", "",
	"Print standard input with its secrets masked.\n"
	"\n"
	"  glovebox secrets mask < build.log"},
    {0},
};

const struct command command_secrets = {
    .name = "secrets",
    .synopsis =
	"add NAME [--stdin] [--host HOST,... --header TEXT [--env NAME]] | list | rm NAME | kinds | mask",
    .summary = "manage values that are masked in all output",
    .details =
	"Store secret values, so that they are masked in the output of sandboxes, also if they are\n"
	"encoded as base64, hex, URL or JSON text. Each occurrence is replaced by ***. Values are never\n"
	"printed.\n"
	"\n"
	"  glovebox secrets add DATABASE             asks for the value, without showing it\n"
	"  pass show db | glovebox secrets add DATABASE --stdin\n"
	"  glovebox secrets add openai --host api.openai.com --header 'authorization: Bearer {}'\n"
	"  glovebox secrets list                     the names, and what they are bound to\n"
	"  glovebox secrets rm DATABASE\n"
	"  glovebox secrets kinds                    kinds of credentials that are recognised by their form\n"
	"  glovebox secrets mask < build.log         print a text with its secrets masked\n"
	"\n"
	"Secrets are stored encrypted in the folder of the setting stateDir ($GLOVEBOX_STATE_DIR), else\n"
	"$XDG_STATE_HOME/glovebox, else ~/.local/state/glovebox. The key is stored in the same folder,\n"
	"which only its owner can access. The environment variable GLOVEBOX_SECRET_<NAME>=value has the\n"
	"same effect for a single process. A value has at least 6 bytes.",
    .flags = flags,
    .actions = actions,
    .run = run,
};
