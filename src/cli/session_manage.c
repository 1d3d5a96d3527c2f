#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/language.h"
#include "cli/paths.h"
#include "cli/run_flags.h"
#include "cli/session.h"
#include "cli/untrusted.h"

enum { LATELY_MS = 600000 };

/* --- one request, one reply --- */

/* Complete and send the line, and return the reply; on failure NULL, with *ret_status set. */
static const struct gb_value *ask(struct session_client *client, struct gb_buf *line, int *ret_status) {
	gb_buf_printf(line, ",\"request\":1");
	const struct gb_value *reply = session_send_line(client, line) ? session_receive(client) : NULL;
	*ret_status = EXIT_CODE_FAILED;
	if (reply && strcmp(session_text(reply, "type"), "error") == 0) {
		*ret_status = session_report_error(client->command, reply);
		return NULL;
	}
	return reply;
}

static int report_no_session(const struct command *command, const char *session) {
	report_error(command, "there is no session '%s'; 'glovebox session create' makes one", session);
	return EXIT_REFUSED;
}

/* --- create --- */

struct wanted {
	const char *language, *name, *conversation, *profile, *net, *workdir;
};

enum { FLAG_LANGUAGE, FLAG_NAME, FLAG_CONVERSATION, FLAG_PROFILE, FLAG_NET, FLAG_WORKDIR };

static const struct flag create_flags[] = {
    [FLAG_LANGUAGE] = {"language", 'l', LANGUAGE_ARGUMENT,
	"the language of its code (deno has no sessions); default: typescript", 0, NULL},
    [FLAG_NAME] = {"name", 0, "NAME", "its name; without a name, a session has only its id", 0, NULL},
    [FLAG_CONVERSATION] = {"conversation", 0, "TEXT",
	"the conversation that it belongs to; each has at most 5 sessions", 0, NULL},
    [FLAG_PROFILE] = {"profile", 0, "NAME", "Python: stdlib, or data (numpy, pandas, matplotlib loaded)", 0,
	NULL},
    [FLAG_NET] = {"net", 0, "HOST,...",
	"let it reach HOST, HOST:PORT or *.DOMAIN, if network.allowlist has it", 0, NULL},
    [FLAG_WORKDIR] = {"workdir", 0, "DIR[:rw]",
	"let it read the directory DIR, and with :rw write there; it is /box for the code", 0, NULL},
    {"timeout", 0, "TIME", SESSION_LIMIT_OF_RUN, FLAG_REFUSED, NULL},
    {"memory", 0, "SIZE", SESSION_LIMIT_OF_RUN, FLAG_REFUSED, NULL},
    {"config", 0, "FILE", SESSION_KEPT_SETTINGS, FLAG_REFUSED | FLAG_PATH, NULL},
    {"set", 0, "NAME=VALUE", SESSION_KEPT_SETTINGS, FLAG_REFUSED | FLAG_REPEATS, NULL},
    {0},
};

static bool on_create_flag(const struct flag *flag, const char *value, void *data) {
	struct wanted *wanted = data;
	if (!flag)
		return report_error(&command_session_create,
		    "takes no operand, but got '%s'; give a name with --name", value);
	const char **const slots[] = {&wanted->language, &wanted->name, &wanted->conversation,
	    &wanted->profile, &wanted->net, &wanted->workdir};
	*slots[flag - create_flags] = value;
	return true;
}

static int create(const struct command *self, int argc, char **argv) {
	struct wanted wanted = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_create_flag, &wanted);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	enum gb_language language;
	if (!language_choose(self, wanted.language, NULL, &language) ||
	    !run_flags_has_sessions(self, language))
		return EXIT_BAD_USE;
	char workdir[WORKDIR_TEXT];
	if (wanted.workdir && !find_workdir(self, wanted.workdir, workdir))
		return EXIT_BAD_USE;
	struct session_client client;
	if (session_reach(&client, self, &language) != REACHED)
		return EXIT_REFUSED;
	gb_auto_buf struct gb_buf line;
	session_line(&line, "session_open");
	session_line_text(&line, "workdir", wanted.workdir ? workdir : NULL);
	session_line_text(&line, "language", gb_language_name(language));
	session_line_text(&line, "name", wanted.name);
	session_line_text(&line, "conversation", wanted.conversation);
	session_line_text(&line, "profile", wanted.profile);
	session_line_list(&line, "net", wanted.net);
	int status;
	const struct gb_value *reply = ask(&client, &line, &status);
	if (reply) {
		puts(session_text(gb_value_get(reply, "session"), wanted.name ? "name" : "id"));
		status = EXIT_OK;
	}
	session_leave(&client);
	return status;
}

const struct command command_session_create = {
    .name = "session create",
    .synopsis = "[-l LANG] [--name NAME] [--conversation TEXT] [--profile NAME] [--net HOST,...]\n"
		"                               [--workdir DIR[:rw]]",
    .summary = "open a session and print its name or id",
    .details =
	"A session ends when it is killed, after 30 minutes without use, or after a day.\n"
	"\n"
	"  glovebox session create -l python --name work\n"
	"  id=$(glovebox session create -l js)\n"
	"\n"
	"Exit status: 0 the session is open, 2 usage error, 3 refused: a limit was reached, or the sandbox\n"
	"could not be started.",
    .flags = create_flags,
    .run = create,
};

/* --- list --- */

struct listing {
	bool json, all;
	const char *conversation;
};

enum { LIST_JSON, LIST_ALL, LIST_CONVERSATION };

static const struct flag list_flags[] = {
    [LIST_JSON] = {"json", 0, NULL, "one JSON array", 0, NULL},
    [LIST_ALL] = {"all", 0, NULL, "also list sessions that ended more than 10 minutes ago", 0, NULL},
    [LIST_CONVERSATION] = {"conversation", 0, "TEXT", "only sessions of this conversation", 0, NULL},
    {0},
};

static bool on_list_flag(const struct flag *flag, const char *value, void *data) {
	struct listing *listing = data;
	if (!flag)
		return report_error(&command_session_list, "takes no operand, but got '%s'", value);
	if (flag - list_flags == LIST_CONVERSATION)
		listing->conversation = value;
	else
		*(flag - list_flags == LIST_ALL ? &listing->all : &listing->json) = true;
	return true;
}

static double number(const struct gb_value *session, const char *key) {
	return gb_value_as_number(gb_value_get(session, key));
}

static bool is_listed(const struct listing *listing, const struct gb_value *session) {
	return listing->all || strcmp(session_text(session, "state"), "terminated") != 0 ||
	       (double)time(NULL) * 1e3 - number(session, "lastUsedAt") < LATELY_MS;
}

static void print_row(const struct gb_value *session) {
	double idle = (double)time(NULL) - number(session, "lastUsedAt") / 1e3;
	const char *reason = session_text(session, "reason");
	print_name_padded(stdout, PLAIN, session_text(session, "name"), 16);
	printf(" %-10s %-14s %5.0f %7.0fs  ", session_text(session, "runtime"),
	    session_text(session, "state"), number(session, "executionCount"), idle > 0 ? idle : 0);
	const char *conversation = session_text(session, "conversationId");
	print_name(stdout, conversation, strlen(conversation));
	if (*reason && *conversation)
		fputs("  ", stdout);
	print_name(stdout, reason, strlen(reason));
	putchar('\n');
}

static void print_sessions(const struct listing *listing, const struct gb_value *sessions) {
	size_t n = 0;
	if (listing->json)
		putchar('[');
	for (size_t i = 0; i < gb_value_count(sessions); i++) {
		const struct gb_value *session = gb_value_at(sessions, i);
		if (!is_listed(listing, session))
			continue;
		if (listing->json) {
			gb_auto_free char *json = gb_value_to_json(session, 0, NULL, NULL);
			printf("%s%s", n ? "," : "", json ? json : "null");
		} else {
			if (n == 0)
				print_styled(stdout, BOLD, "%-16s %-10s %-14s %5s %8s  %s\n", "NAME",
				    "RUNTIME", "STATE", "RUNS", "IDLE", "CONVERSATION, REASON");
			print_row(session);
		}
		n++;
	}
	if (listing->json)
		puts("]");
}

static int list(const struct command *self, int argc, char **argv) {
	struct listing listing = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_list_flag, &listing);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	struct session_client client;
	enum reached reached = session_reach(&client, self, NULL);
	if (reached == UNREACHABLE)
		return EXIT_REFUSED;
	if (reached == NO_HOST) {
		print_sessions(&listing, NULL);
		return EXIT_OK;
	}
	gb_auto_buf struct gb_buf line;
	session_line(&line, "session_list");
	session_line_text(&line, "conversation", listing.conversation);
	int status;
	const struct gb_value *reply = ask(&client, &line, &status);
	if (reply) {
		print_sessions(&listing, gb_value_get(reply, "sessions"));
		status = EXIT_OK;
	}
	session_leave(&client);
	return status;
}

const struct command command_session_list = {
    .name = "session list",
    .synopsis = "[--json] [--all] [--conversation TEXT]",
    .summary = "list sessions, and the reasons why sessions ended",
    .details = "Exit status: 0, also if there are no sessions.",
    .flags = list_flags,
    .run = list,
};

/* --- kill, interrupt, send, cleanup --- */

struct about {
	const struct command *command;
	const char *session, *text, *reason, *conversation;
	bool no_newline;
};

static bool on_about_flag(const struct flag *flag, const char *value, void *data) {
	struct about *about = data;
	bool sends = about->command == &command_session_send;
	if (flag && strcmp(flag->name, "reason") == 0)
		about->reason = value;
	else if (flag && strcmp(flag->name, "no-newline") == 0)
		about->no_newline = true;
	else if (flag)
		about->conversation = value;
	else if (!about->session && about->command != &command_session_cleanup)
		about->session = value;
	else if (sends && !about->text)
		about->text = value;
	else
		return report_error(about->command, "got the unexpected operand '%s'", value);
	return true;
}

/* Send a request of @type about the session of the command line. */
static int send_request(struct about *about, const char *type, bool complete, const char *missing) {
	if (!complete) {
		report_error(about->command, "%s", missing);
		return EXIT_BAD_USE;
	}
	struct session_client client;
	enum reached reached = session_reach(&client, about->command, NULL);
	if (reached == NO_HOST)
		return about->session ? report_no_session(about->command, about->session) : EXIT_OK;
	if (reached != REACHED)
		return EXIT_REFUSED;
	gb_auto_buf struct gb_buf line;
	session_line(&line, type);
	session_line_text(&line, "session", about->session);
	session_line_text(&line, "text", about->text);
	session_line_text(&line, "conversation", about->conversation);
	session_line_text(&line, "reason", about->reason);
	int status;
	if (ask(&client, &line, &status))
		status = EXIT_OK;
	session_leave(&client);
	return status;
}

int session_end(const struct command *command, const char *session) {
	struct about about = {
	    .command = command, .session = session, .reason = "the command that used it has ended"};
	return send_request(&about, "session_kill", true, "");
}

static int parse_about(
    const struct command *self, int argc, char **argv, struct about *ret, bool *ret_go_on) {
	*ret = (struct about){.command = self};
	enum parsed parsed = parse_flags(self, argc, argv, on_about_flag, ret);
	*ret_go_on = parsed == PARSED;
	return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
}

static const struct flag reason_flags[] = {
    {"reason", 0, "TEXT", "the reason, which clients of the session and 'session list' show", FLAG_EMPTY,
	NULL},
    {0},
};

static int kill_session(const struct command *self, int argc, char **argv) {
	struct about about;
	bool go_on;
	int status = parse_about(self, argc, argv, &about, &go_on);
	return go_on ? send_request(&about, "session_kill", about.session, "give the NAME or ID of a session")
		     : status;
}

const struct command command_session_kill = {
    .name = "session kill",
    .synopsis = "NAME|ID [--reason TEXT]",
    .summary = "end a session and everything that runs in it",
    .details = "The active run and all waiting runs of the session end with the status terminated.\n"
	       "\n"
	       "Exit status: 0 the session has ended, 2 usage error, 3 no such session.",
    .flags = reason_flags,
    .run = kill_session,
};

static int interrupt_session(const struct command *self, int argc, char **argv) {
	struct about about;
	bool go_on;
	int status = parse_about(self, argc, argv, &about, &go_on);
	return go_on ? send_request(
			   &about, "session_interrupt", about.session, "give the NAME or ID of a session")
		     : status;
}

const struct command command_session_interrupt = {
    .name = "session interrupt",
    .synopsis = "NAME|ID",
    .summary = "interrupt the code that runs in a session; the session stays",
    .details = "If the code does not stop within five seconds, it is killed together with its session.\n"
	       "\n"
	       "Exit status: 0 the interrupt was sent, 2 no run is active, 3 no such session.",
    .run = interrupt_session,
};

static const struct flag expose_flags[] = {
    {"on", 0, "PORT", "the port on 127.0.0.1 of this machine; default: a free one", 0, NULL},
    {"socket", 0, "PATH", "make a unix socket instead, which only you can connect to", 0, NULL},
    {0},
};

struct exposing {
	const char *session, *port, *on, *socket;
};

static bool on_expose_flag(const struct flag *flag, const char *value, void *data) {
	struct exposing *exposing = data;
	const char **slot = flag == expose_flags ? &exposing->on
			    : flag               ? &exposing->socket
			    : !exposing->session ? &exposing->session
			    : !exposing->port    ? &exposing->port
						 : NULL;
	if (!slot)
		return report_error(&command_session_expose, "got the unexpected operand '%s'", value);
	*slot = value;
	return true;
}

static bool read_port(const char *text, unsigned *ret) {
	char *end;
	const unsigned long port = strtoul(text, &end, 10);
	*ret = (unsigned)port;
	return (end != text && !*end && *text != '-' && port >= 1 && port <= 65535) ||
	       report_error(&command_session_expose, "'%s' is not a port from 1 to 65535", text);
}

/* The newest of the ports in the reply. */
static int print_port(const struct gb_value *reply) {
	const struct gb_value *ports = gb_value_get(gb_value_get(reply, "session"), "exposed");
	const size_t n = gb_value_count(ports);
	if (!n)
		return EXIT_CODE_FAILED;
	const struct gb_value *newest = gb_value_at(ports, n - 1), *path = gb_value_get(newest, "path");
	if (path)
		printf("%s\n", gb_value_bytes(path, NULL));
	else
		printf("127.0.0.1:%.0f\n", number(newest, "on"));
	return EXIT_OK;
}

/* The process of the sessions has another working directory. */
static bool make_absolute(const char *path, char ret[PATH_MAX]) {
	char folder[PATH_MAX] = "";
	if (*path != '/' && !getcwd(folder, sizeof folder))
		return report_error(&command_session_expose, "the working directory: %s", strerror(errno));
	return snprintf(ret, PATH_MAX, "%s%s%s", folder, *path == '/' ? "" : "/", path) < PATH_MAX ||
	       report_error(&command_session_expose, "the path is too long");
}

/* Add what the session is exposed at. */
static bool add_place(struct gb_buf *line, const struct exposing *exposing) {
	char path[PATH_MAX];
	unsigned port, on = 0;
	if (exposing->on && exposing->socket)
		return report_error(&command_session_expose, "give --on or --socket, not both");
	if (!read_port(exposing->port, &port) || (exposing->on && !read_port(exposing->on, &on)) ||
	    (exposing->socket && !make_absolute(exposing->socket, path)))
		return false;
	gb_buf_printf(line, ",\"port\":%u", port);
	if (exposing->on)
		gb_buf_printf(line, ",\"on\":%u", on);
	if (exposing->socket)
		session_line_text(line, "path", path);
	return true;
}

static int expose(const struct command *self, int argc, char **argv) {
	struct exposing exposing = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_expose_flag, &exposing);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!exposing.port) {
		report_error(self, "give the NAME or ID of a session, and the PORT of a server inside it");
		return EXIT_BAD_USE;
	}
	gb_auto_buf struct gb_buf line;
	session_line(&line, "session_expose");
	session_line_text(&line, "session", exposing.session);
	if (!add_place(&line, &exposing))
		return EXIT_BAD_USE;
	struct session_client client;
	enum reached reached = session_reach(&client, self, NULL);
	if (reached == NO_HOST)
		return report_no_session(self, exposing.session);
	if (reached != REACHED)
		return EXIT_REFUSED;
	int status;
	const struct gb_value *reply = ask(&client, &line, &status);
	if (reply)
		status = print_port(reply);
	session_leave(&client);
	return status;
}

const struct command command_session_expose = {
    .name = "session expose",
    .synopsis = "NAME|ID PORT [--on PORT | --socket PATH]",
    .summary = "connect a port or socket of this machine to a server inside a session",
    .details =
	"Connections to the printed address reach the server that listens on 127.0.0.1:PORT inside the\n"
	"session, until the session ends. The session must have been created with --net. Every user of\n"
	"this machine can connect to a port, and only you to a unix socket; code in sandboxes cannot.\n"
	"\n"
	"  glovebox session create -l shell --name web --net api.example.com\n"
	"  glovebox session exec web -e 'python3 -m http.server 8000 > log 2>&1 &'\n"
	"  glovebox session expose web 8000\n"
	"  glovebox session expose web 8000 --socket web.sock; curl --unix-socket web.sock http://web/\n"
	"\n"
	"Exit status: 0 the address is open, 2 usage error, or the address is in use, 3 no such session.",
    .flags = expose_flags,
    .run = expose,
};

static const struct flag send_flags[] = {
    {"no-newline", 'n', NULL, "send TEXT without a line end, for programs that wait for a key", 0, NULL},
    {0},
};

static int send_session(const struct command *self, int argc, char **argv) {
	struct about about;
	bool go_on;
	int status = parse_about(self, argc, argv, &about, &go_on);
	if (!go_on)
		return status;
	/* A line of input ends with a line feed. */
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	bool complete = about.session && about.text;
	if (complete)
		gb_buf_printf(&text, "%s%s", about.text, about.no_newline ? "" : "\n");
	about.text = complete ? gb_buf_c_str(&text) : NULL;
	return send_request(
	    &about, "session_send", about.text, "give the NAME or ID of a session, and a TEXT");
}

const struct command command_session_send = {
    .name = "session send",
    .synopsis = "NAME|ID TEXT [-n]",
    .summary = "send input to the code that runs in a session",
    .details =
	"TEXT is sent as a line of input. Only languages with a terminal (shell) accept input while they\n"
	"run. 'glovebox session list' shows which sessions wait for input; with --json it also shows the\n"
	"prompt.\n"
	"\n"
	"  glovebox session send work y\n"
	"  glovebox session send work -n q\n"
	"\n"
	"Exit status: 0 the text was sent, 2 usage error, 3 refused or no such session.",
    .flags = send_flags,
    .run = send_session,
};

static const struct flag cleanup_flags[] = {
    {"conversation", 0, "TEXT", "the conversation whose sessions to end", 0, NULL},
    {"reason", 0, "TEXT", "the reason, which clients of the sessions and 'session list' show", FLAG_EMPTY,
	NULL},
    {0},
};

static int cleanup(const struct command *self, int argc, char **argv) {
	struct about about;
	bool go_on;
	int status = parse_about(self, argc, argv, &about, &go_on);
	return go_on
		   ? send_request(&about, "session_cleanup", about.conversation, "--conversation is missing")
		   : status;
}

const struct command command_session_cleanup = {
    .name = "session cleanup",
    .synopsis = "--conversation TEXT [--reason TEXT]",
    .summary = "end all sessions of a conversation",
    .details = "Exit status: 0, also if there were no sessions.",
    .flags = cleanup_flags,
    .run = cleanup,
};
