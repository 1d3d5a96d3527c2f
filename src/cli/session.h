/*
 * 'glovebox session': sessions of this user. A background process, the host, keeps them; it is started when
 * it is needed and exits after the last session has ended. Its messages: docs/PROTOCOL.md.
 *
 * session.c lists the subcommands, and session_manage.c implements most of them. session_exec.c runs code,
 * session_answer.c forwards typed input to it, session_attach.c connects the user's terminal to a session.
 * session_client.c connects to the host, session_place.c finds its socket, session_host.c is the host. Each
 * subcommand is a struct command in the list of session.c.
 */
#ifndef GB_CLI_SESSION_H
#define GB_CLI_SESSION_H

#include "base/buf.h"
#include "cli/cli.h"
#include "glovebox/glovebox.h"

extern const struct command command_session_create, command_session_exec, command_session_attach,
    command_session_send, command_session_interrupt, command_session_expose, command_session_list,
    command_session_kill, command_session_cleanup;

/* Why these commands refuse options that 'run' takes: for flags with FLAG_REFUSED. */
#define SESSION_KEPT_SETTINGS                                                                                \
	"has no effect on a session: the process that keeps the sessions reads the settings when it "        \
	"starts, and on SIGHUP"
#define SESSION_LIMIT_OF_RUN "has no effect here: it limits a run, so give it to 'session exec'"

/* --- session_place.c --- */

/* A folder that only this user can access, and the files in it. */
struct session_place {
	char folder[64 + 16];
	char socket[108];
	char lock[108];
};

/* Find the folder, or create it. Fails if other users can access it. */
bool session_place_open(struct session_place *ret, struct gb_err *err);
/* Lock the right to start a host. Blocks. The descriptor is owned by the caller; -1 on failure. */
int session_place_lock(const struct session_place *place, struct gb_err *err);

/* --- session_client.c --- */

struct session_client {
	const struct command *command; /* named in errors */
	int fd;
	struct gb_buf got;
	size_t used;
	struct gb_values *pool; /* holds the last message */
	/* Called when SIGINT interrupts waiting; NULL: SIGINT ends the program. */
	void (*on_interrupt)(struct session_client *client);
};

enum reached { REACHED, NO_HOST, UNREACHABLE };

/* Connect to the host. If there is none, it is started and prepares @language; if @language is NULL, returns
 * NO_HOST instead. Reports errors. */
enum reached session_reach(
    struct session_client *client, const struct command *command, const enum gb_language *language);
void session_leave(struct session_client *client);

/* Send a line, which has no closing brace yet. */
bool session_send_line(struct session_client *client, struct gb_buf *line);
/* Wait for the next message, which is valid until the one after it; NULL if the host has died, which is
 * reported. */
const struct gb_value *session_receive(struct session_client *client);
/* Whether a complete message has arrived that was not returned yet. */
bool session_has_line(const struct session_client *client);
/* Read the bytes that have arrived, without blocking; false if the host has died. */
bool session_read_available(struct session_client *client);
/* The text of the last message. */
struct gb_str session_last_line(const struct session_client *client);

/* Begin a message; append ',"key":"text"' if @text is not NULL. */
void session_line(struct gb_buf *line, const char *type);
void session_line_text(struct gb_buf *line, const char *key, const char *text);
/* A field that is an array of the texts in @items, which are separated by commas. Nothing if it is NULL. */
void session_line_list(struct gb_buf *line, const char *key, const char *items);

/* Send bytes that were typed to a session. */
bool session_send_keys(struct session_client *client, const char *session, const char *bytes, size_t n);

/* A string member of a message, or "". */
const char *session_text(const struct gb_value *message, const char *key);
/* Report an error message of the host. Returns the exit status. */
int session_report_error(const struct command *command, const struct gb_value *error);

/* --- session_exec.c --- */

struct session_job {
	const struct command *command;
	const char *session;
	const struct gb_run_options *options;
	bool create;         /* create the session if it does not exist */
	bool fixed_language; /* the session must have the language of the options */
	bool json;
	bool interactive; /* SIGINT never ends this program, and a session that is made again is reported */
	const char *out;  /* or NULL */
};

/* Run code in a session and show its output and result. Returns the exit status. */
int session_execute(const struct session_job *job);
/* Open the session as session_execute does, without running code. *ret_language is its language. */
bool session_prepare(const struct session_job *job, enum gb_language *ret_language, int *ret_status);
/* For handlers of signals: the active run, if there is one, is to be interrupted. */
void session_note_interrupt(int signal_number);

/* --- session_query.c --- */

/* Run @source in a session, silently and at most for a short time. Appends its result, if that is a text, else what it
 * printed. False if it did not succeed. */
bool session_query(
    const struct command *command, const char *session, struct gb_str source, struct gb_buf *ret);

/* --- session_manage.c --- */

/* End a session. Returns the exit status. */
int session_end(const struct command *command, const char *session);

/* --- session_answer.c --- */

/* The code awaits input: from now on forward keys to it. False if there is no terminal to type at. */
bool session_answer_begin(const struct session_job *job);
/* Forward keys until a message of the host arrives. Returns at once if keys are not forwarded. */
void session_answer_until_message(struct session_client *client, const char *session);
/* Show the output of the code, including its terminal's echo of keys. */
void session_answer_show(int stream, const char *text, size_t n);
/* Stop forwarding keys and restore the terminal. */
void session_answer_end(void);

#endif
