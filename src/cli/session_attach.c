/* Connects the user's terminal to the terminal of a session. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/attach.h"
#include "cli/session.h"
#include "cli/untrusted.h"

enum { SIZE_MAX_CELLS = 1000, REDRAW_US = 50000, EXIT_TAKEN = 1 };

struct visit {
	struct session_client client;
	struct attach attach;
	const char *session;
	bool steal;
	bool size_sent;
	bool over;        /* the host has detached this client */
	bool ended;       /* because the session has ended */
	char reason[256]; /* from the host; empty if the host has died */
};

/* --- messages from the host --- */

static void take_message(struct visit *visit, const struct gb_value *message) {
	const char *type = session_text(message, "type");
	if (strcmp(type, "terminal") == 0) {
		size_t n = 0;
		const char *bytes = gb_value_bytes(gb_value_get(message, "bytes"), &n);
		if (bytes)
			attach_show(&visit->attach, bytes, n);
	} else if (strcmp(type, "detached") == 0) {
		visit->over = true;
		visit->ended = gb_value_is_true(gb_value_get(message, "ended"));
		snprintf(visit->reason, sizeof visit->reason, "%s", session_text(message, "reason"));
	}
}

/* Handle all messages that have arrived completely. */
static bool take_messages(struct visit *visit) {
	while (!visit->over && session_has_line(&visit->client)) {
		const struct gb_value *message = session_receive(&visit->client);
		if (!message)
			return false;
		take_message(visit, message);
	}
	return !visit->over;
}

static bool on_ready(void *data) {
	struct visit *visit = data;
	return session_read_available(&visit->client) && take_messages(visit);
}

/* --- messages to the host --- */

static bool send_keys(void *data, const char *bytes, size_t n) {
	struct visit *visit = data;
	return session_send_keys(&visit->client, visit->session, bytes, n);
}

static bool send_size(struct visit *visit, unsigned columns, unsigned rows) {
	gb_auto_buf struct gb_buf line;
	session_line(&line, "session_resize");
	session_line_text(&line, "session", visit->session);
	gb_buf_printf(&line, ",\"request\":2,\"columns\":%u,\"rows\":%u", columns, rows);
	return session_send_line(&visit->client, &line);
}

/* A full-screen program redraws when the size changes: change it at the beginning, so that it does. */
static bool resize(void *data, unsigned columns, unsigned rows) {
	struct visit *visit = data;
	columns = columns < SIZE_MAX_CELLS ? columns : SIZE_MAX_CELLS;
	rows = rows < SIZE_MAX_CELLS ? rows : SIZE_MAX_CELLS;
	if (!visit->size_sent) {
		visit->size_sent = true;
		if (!send_size(visit, columns, rows > 1 ? rows - 1 : 2))
			return false;
		usleep(REDRAW_US);
	}
	return send_size(visit, columns, rows);
}

/* --- attaching --- */

static bool ask(struct visit *visit, int *ret_status) {
	gb_auto_buf struct gb_buf line;
	*ret_status = EXIT_REFUSED;
	session_line(&line, "session_attach");
	session_line_text(&line, "session", visit->session);
	gb_buf_printf(&line, ",\"request\":1%s", visit->steal ? ",\"steal\":true" : "");
	const struct gb_value *reply =
	    session_send_line(&visit->client, &line) ? session_receive(&visit->client) : NULL;
	if (reply && strcmp(session_text(reply, "type"), "error") == 0) {
		*ret_status = session_report_error(visit->client.command, reply);
		return false;
	}
	return reply;
}

static int print_end(const struct visit *visit, enum attach_end end) {
	const char *name = visit->session;
	if (end == ATTACH_LEFT || end == ATTACH_SIGNAL) {
		fprintf(stderr, "left '%s', which continues; 'glovebox session attach %s' returns to it\n",
		    name, name);
		return end == ATTACH_LEFT ? EXIT_OK : EXIT_TAKEN;
	}
	if (!visit->over)
		fprintf(stderr, "the process that kept the sessions has died; all sessions are lost\n");
	else {
		fprintf(stderr, visit->ended ? "'%s' has ended: " : "left '%s': ", name);
		print_message(stderr, visit->reason, strlen(visit->reason));
		fputc('\n', stderr);
	}
	return visit->ended ? EXIT_OK : EXIT_TAKEN;
}

static int attach_to_session(struct visit *visit) {
	struct gb_err err = {0};
	int status;
	if (!ask(visit, &status))
		return status;
	visit->attach = (struct attach){.in = STDIN_FILENO,
	    .out = STDOUT_FILENO,
	    .fd = visit->client.fd,
	    .on_ready = on_ready,
	    .send = send_keys,
	    .resize = resize,
	    .data = visit};
	attach_begin(&visit->attach);
	fprintf(stderr, "attached to '%s'; Ctrl-] detaches\n", visit->session);
	enum attach_end end = take_messages(visit) ? attach_run(&visit->attach, &err) : ATTACH_OVER;
	attach_screen_leave(&visit->attach.screen, STDOUT_FILENO); /* if it did not run */
	if (end != ATTACH_FAILED)
		return print_end(visit, end);
	report_error(visit->client.command, "%s", err.message);
	return EXIT_REFUSED;
}

/* --- the command --- */

static const struct flag flags[] = {
    {"steal", 0, NULL, "take over the terminal from another client that is attached", 0, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct visit *visit = data;
	if (flag)
		visit->steal = true;
	else if (!visit->session)
		visit->session = value;
	else
		return report_error(&command_session_attach, "takes one session, but also got '%s'", value);
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct visit visit = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &visit);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!visit.session || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		report_error(self, visit.session ? "needs a terminal; 'glovebox session exec' does not"
						 : "give the NAME or ID of a session");
		return EXIT_BAD_USE;
	}
	enum reached reached = session_reach(&visit.client, self, NULL);
	if (reached == NO_HOST)
		report_error(self, "there is no session '%s'; 'glovebox session create -l shell' makes one",
		    visit.session);
	if (reached != REACHED)
		return EXIT_REFUSED;
	int status = attach_to_session(&visit);
	session_leave(&visit.client);
	return status;
}

const struct command command_session_attach = {
    .name = "session attach",
    .synopsis = "NAME|ID [--steal]",
    .summary = "use the terminal of a session",
    .details =
	"Only languages with a terminal (shell) can be attached to. You see the output of a running\n"
	"program and can type to it; otherwise there is a shell prompt. Ctrl-] detaches; the session and\n"
	"the programs in it continue.\n"
	"\n"
	"  glovebox session create -l shell --name work\n"
	"  glovebox session attach work\n"
	"\n"
	"Exit status: 0 detached, or the session has ended, 1 another client took over the terminal or\n"
	"the sessions were lost, 2 usage error, 3 refused or no such session.",
    .flags = flags,
    .run = run,
};
