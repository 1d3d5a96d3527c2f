/* A person at the terminal of a session. */
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
	bool size_sent;   /* its size was told */
	bool over;        /* by the other side's word */
	bool ended;       /* and that was the end of the session */
	char reason[256]; /* as it was told; empty if the host is gone */
};

/* --- what comes --- */

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

/* What has arrived as a whole. */
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

/* --- what goes --- */

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

/* A program that has the whole screen draws it anew when the size changes: so, to begin with, it does. */
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

/* --- the visit --- */

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
		fprintf(stderr, "left '%s', which goes on; 'glovebox session attach %s' comes back\n", name,
		    name);
		return end == ATTACH_LEFT ? EXIT_OK : EXIT_TAKEN;
	}
	if (!visit->over)
		fprintf(stderr, "the process that keeps the sessions has gone, and they with it\n");
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
	fprintf(stderr, "attached to '%s'; Ctrl-] leaves\n", visit->session);
	visit->attach = (struct attach){.in = STDIN_FILENO,
	    .out = STDOUT_FILENO,
	    .fd = visit->client.fd,
	    .on_ready = on_ready,
	    .send = send_keys,
	    .resize = resize,
	    .data = visit};
	enum attach_end end = take_messages(visit) ? attach_run(&visit->attach, &err) : ATTACH_OVER;
	if (end != ATTACH_FAILED)
		return print_end(visit, end);
	report_error(visit->client.command, "%s", err.message);
	return EXIT_REFUSED;
}

/* --- the command --- */

static const struct flag flags[] = {
    {"steal", 0, NULL, "take the terminal over from whoever is attached", 0, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct visit *visit = data;
	if (flag)
		visit->steal = true;
	else if (!visit->session)
		visit->session = value;
	else
		return report_error(
		    &command_session_attach, "one session at a time, but got '%s' too", value);
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct visit visit = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &visit);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!visit.session || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		report_error(self,
		    visit.session ? "takes a terminal; 'glovebox session exec' does not" : "which session?");
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
    .summary = "sit down at the terminal of a session",
    .details =
	"Of a language that has one: shell. What executes there is seen and can be typed to; when nothing\n"
	"does there is a prompt. Ctrl-] leaves; the session goes on, with what was started there.\n"
	"\n"
	"  glovebox session create -l shell --name work\n"
	"  glovebox session attach work\n"
	"\n"
	"Exit status: 0 left, or the session has ended, 1 the terminal was taken over or the sessions are\n"
	"gone, 2 bad use, 3 refused or no such session.",
    .flags = flags,
    .run = run,
};
