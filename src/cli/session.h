/*
 * 'glovebox session': sessions of this user, kept by a process that is started when it is needed and ends
 * with the last of them. Its messages: docs/PROTOCOL.md.
 *
 * session.c has the list of subcommands, session_manage.c most of them, session_exec.c running code,
 * session_answer.c answering it, session_attach.c a person at its terminal, session_client.c the way to the
 * host, session_place.c where it is found, session_host.c the host itself. A subcommand is a struct command
 * of its own, in the list of session.c.
 */
#ifndef GB_CLI_SESSION_H
#define GB_CLI_SESSION_H

#include "base/buf.h"
#include "cli/cli.h"
#include "glovebox/glovebox.h"

extern const struct command command_session_create, command_session_exec, command_session_attach,
    command_session_send, command_session_interrupt, command_session_list, command_session_kill,
    command_session_cleanup;

/* --- session_place.c --- */

/* A folder that is this user's alone, and what is in it. */
struct session_place {
	char folder[64 + 16];
	char socket[108];
	char lock[108];
};

/* Find it, and make it if it is not there. Fails if it is not this user's alone. */
bool session_place_open(struct session_place *ret, struct gb_err *err);
/* Whoever holds this may start a host. Waits; the descriptor is the caller's, -1 on failure. */
int session_place_lock(const struct session_place *place, struct gb_err *err);

/* --- session_client.c --- */

struct session_client {
	const struct command *command; /* that complains */
	int fd;
	struct gb_buf got;
	size_t used;
	struct gb_values *pool; /* of the last message */
	/* SIGINT came while we waited; NULL: it ends the program. */
	void (*on_interrupt)(struct session_client *client);
};

enum reached { REACHED, NO_HOST, UNREACHABLE };

/* Connect to the host. If there is none it is started, to begin with @language, or without that NO_HOST
 * is the answer. What went wrong has been said. */
enum reached session_reach(
    struct session_client *client, const struct command *command, const enum gb_language *language);
void session_leave(struct session_client *client);

/* Say a line, which is without its last brace. */
bool session_send_line(struct session_client *client, struct gb_buf *line);
/* The next message, valid until the one after it; NULL if the host is gone, which has been said. */
const struct gb_value *session_receive(struct session_client *client);
/* Has a whole message arrived that was not heard yet? */
bool session_has_line(const struct session_client *client);
/* Take what has arrived, waiting for nothing that has not; false if the host is gone. */
bool session_read_available(struct session_client *client);
/* Its text. */
struct gb_str session_last_line(const struct session_client *client);

/* Begin a message; append ',"key":"text"' if @text is not NULL. */
void session_line(struct gb_buf *line, const char *type);
void session_line_text(struct gb_buf *line, const char *key, const char *text);

/* Say that these bytes were typed in a session. */
bool session_send_keys(struct session_client *client, const char *session, const char *bytes, size_t n);

/* A text of a message, or "". */
const char *session_text(const struct gb_value *message, const char *key);
/* Say what an error message says; the exit status. */
int session_report_error(const struct command *command, const struct gb_value *error);

/* --- session_exec.c --- */

struct session_job {
	const struct command *command;
	const char *session;
	const struct gb_run_options *options;
	bool create;         /* the session, if it is not there */
	bool fixed_language; /* it must be of the options' language */
	bool json;
	const char *out; /* or NULL */
};

/* Run it in a session, show what comes, and return the exit status. */
int session_execute(const struct session_job *job);

/* --- session_answer.c --- */

/* What executes awaits input: from now on keys go there, if there is somebody to type them. */
bool session_answer_begin(const struct session_job *job);
/* Send what is typed, until the host has something to say; at once if nobody is to type. */
void session_answer_until_message(struct session_client *client, const char *session);
/* Show what the code writes: also what its terminal does with keys. */
void session_answer_show(int stream, const char *text, size_t n);
/* The terminal is as it was before. */
void session_answer_end(void);

#endif
