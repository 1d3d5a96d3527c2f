/*
 * Session manager: named sessions with limits, each with a queue of runs.
 *
 *	struct gb_manager *manager;
 *	gb_manager_create(engine, NULL, &manager, &err);
 *	struct gb_session_asked asked = {.conversation = "chat-7", .language = GB_PYTHON};
 *	struct gb_session_info info;
 *	gb_manager_get_or_create(manager, &asked, &info, &err);
 *	gb_manager_execute(manager, info.id, &(struct gb_run_options){.source = "x = 1"}, &run, &err);
 *	... gb_run_wait(run), gb_run_destroy(run) ...
 *	gb_manager_destroy(manager);
 *
 * A session executes one run at a time; later ones are queued in order. A session that has ended (crashed,
 * was killed, was idle too long) stays listed for a while as "terminated", with the reason. Timeouts are
 * handled inside gb_engine_dispatch and gb_run_wait; there is no thread.
 *
 * A parameter @session is the id or the name of a session; functions fail if there is none. A manager must
 * not be destroyed from a callback of a run of its sessions.
 */
#ifndef GLOVEBOX_SESSIONS_H
#define GLOVEBOX_SESSIONS_H

#include "glovebox/glovebox.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct gb_manager;

enum { GB_EXPOSED_MAX = 16 }; /* ports of one session */

/* A port inside a session, and the port on 127.0.0.1 or the unix socket of the host that leads there. */
struct gb_exposed_port {
	uint16_t port, on;
	const char *path; /* of the unix socket; NULL: it is a port */
};

/* The state of a session. Texts are never NULL, and valid until the next call on the manager. */
struct gb_session_info {
	char id[33]; /* 128 random bits, in hexadecimal */
	const char *name, *conversation, *profile;
	const char *net; /* the hosts that its runs can reach, separated by commas; empty: none */
	const char *
	    workdir; /* the directory that its runs have as /box, with ":rw" if they can write; empty: none */
	enum gb_language language;
	enum gb_session_state state;
	const char *reason;              /* why it was terminated */
	const char *prompt;              /* the prompt, while it awaits input */
	unsigned n_prompts;              /* how many times it has started to await input */
	double created_at, last_used_at; /* milliseconds since 1970 */
	uint64_t executions;             /* runs that have started executing */
	uint64_t tokens;                 /* the sum of gb_manager_add_tokens */
	unsigned queued;                 /* runs in the queue */
	bool trusted;                    /* as set by gb_manager_trust */
	bool attached;                   /* a client is attached to its terminal */
	struct gb_exposed_port exposed[GB_EXPOSED_MAX];
	size_t n_exposed;
};

/* Zero means the default, in every field. */
struct gb_manager_options {
	unsigned max_sessions;         /* live sessions; default: 64 */
	unsigned max_per_conversation; /* live sessions of a conversation; default: 5 */
	unsigned max_queue;            /* queued runs of a session; default: 16; GB_NONE for none */
	unsigned max_ended;            /* ended sessions that are still listed; default: 100 */
	uint64_t idle_ms;              /* a session ends after this time without a run; default: 30 minutes */
	uint64_t max_age_ms;           /* a session ends at this age; default: 24 hours */
	uint64_t ended_ms;             /* an ended session is listed for this time; default: 1 hour */
	/* @run executes in a session and starts to await input: see info->prompt, gb_manager_send. */
	void (*on_awaiting)(
	    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data);
	/* A session has ended: see info->reason. The callback must not call the manager. */
	void (*on_ended)(struct gb_manager *manager, const struct gb_session_info *info, void *data);
	void *data;
};

/* The properties of a session to open or to find. */
struct gb_session_asked {
	const char *conversation; /* NULL or empty: none; max_per_conversation then does not apply */
	enum gb_language language;
	const char *profile;        /* or NULL */
	const struct gb_value *net; /* hosts that its runs can reach: gb_session_open_net; or NULL */
	const char *workdir;        /* as that of a run; or NULL */
	const char *name;           /* unique among live sessions; NULL: generated */
	const char *id;             /* of a new session: 32 lower case hexadecimal digits; NULL: random */
};

/* Create a manager of sessions in @engine. @options may be NULL. The caller owns *ret: gb_manager_destroy. */
bool gb_manager_create(struct gb_engine *engine, const struct gb_manager_options *options,
    struct gb_manager **ret, struct gb_err *err);
/* Replace the limits: they apply to sessions opened and runs requested from now on. The callbacks and their
 * data are not replaced. */
void gb_manager_configure(struct gb_manager *manager, const struct gb_manager_options *options);
/* End all sessions and free @manager. Runs in the sessions settle; their owners must still destroy them. May
 * be called after the engine was destroyed, which ends the sessions too. NULL is allowed. */
void gb_manager_destroy(struct gb_manager *manager);

/* Open a session and describe it in @ret. Fails with GB_ELIMIT if there are too many sessions, GB_EINVAL if
 * the name or the id is invalid or in use. */
bool gb_manager_open(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err);
/* Describe in @ret a live session with the same conversation, language and profile, and the same name if
 * @asked has one; if there is none, open one. Fails like gb_manager_open. */
bool gb_manager_get_or_create(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err);

/* The same without opening a session: *ret_found is whether there is one, and @ret describes it. Fails if
 * there is none and gb_manager_open would fail. */
bool gb_manager_find(struct gb_manager *manager, const struct gb_session_asked *asked, bool *ret_found,
    struct gb_session_info *ret, struct gb_err *err);

/* Start a run in the session, or queue it behind earlier runs. Options, ownership and failures are those of
 * gb_run_start; language and profile are those of the session. gb_run_terminate and gb_run_destroy remove a
 * queued run; its time limit counts from its start. Fails with GB_ELIMIT if the queue is full. */
bool gb_manager_execute(struct gb_manager *manager, const char *session, const struct gb_run_options *options,
    struct gb_run **ret, struct gb_err *err);
/* Listen on 127.0.0.1:@on of the host (0: a free port, which *ret_on is set to), and connect each connection to a
 * server that listens on 127.0.0.1:@port inside the session, until the session ends. Every user of the host can connect
 * there, and no code in a sandbox. The session must be in the network tier. */
bool gb_manager_expose(struct gb_manager *manager, const char *session, uint16_t port, uint16_t on,
    uint16_t *ret_on, struct gb_err *err);
/* The same at a unix socket, which is made at the absolute @path: only this user can connect there. It is removed with
 * the session. A socket at @path that no process listens at is replaced; any other file is an error. */
bool gb_manager_expose_at(
    struct gb_manager *manager, const char *session, uint16_t port, const char *path, struct gb_err *err);
/* Interrupt the run that executes. Fails if none does, or if it was interrupted already. */
bool gb_manager_interrupt(struct gb_manager *manager, const char *session, struct gb_err *err);
/* See gb_session_send. */
bool gb_manager_send(
    struct gb_manager *manager, const char *session, const char *bytes, size_t n, struct gb_err *err);

/* A client attached to the terminal of a session. */
struct gb_attachment {
	/* Output of the terminal. The callback must not end a session. */
	void (*on_bytes)(struct gb_manager *manager, const char *bytes, size_t n, void *data);
	/* The attachment ended: the session has @ended, or another client took over the terminal. Not called
	 * by gb_manager_detach. */
	void (*on_end)(struct gb_manager *manager, const char *reason, bool ended, void *data);
	void *data;
};

/* Attach a client: see gb_session_attach. Copies *@attachment. If a client is attached already, @steal ends
 * its attachment; otherwise this fails with GB_EBUSY. An attached session does not count as idle. */
bool gb_manager_attach(struct gb_manager *manager, const char *session,
    const struct gb_attachment *attachment, bool steal, struct gb_err *err);
/* Detach the client, without calling on_end. Does nothing if none is attached. */
bool gb_manager_detach(struct gb_manager *manager, const char *session, struct gb_err *err);
/* See gb_session_hold. */
bool gb_manager_hold(struct gb_manager *manager, const char *session, bool held, struct gb_err *err);
/* See gb_session_resize. */
bool gb_manager_resize(
    struct gb_manager *manager, const char *session, unsigned columns, unsigned rows, struct gb_err *err);

/* Describe a session, live or ended and still listed, in @ret. */
bool gb_manager_get(
    struct gb_manager *manager, const char *session, struct gb_session_info *ret, struct gb_err *err);
/* Describe the @i-th session of @conversation (NULL: of all) in @ret: live ones first, oldest first, then
 * ended ones. False if there are not that many. */
bool gb_manager_at(
    struct gb_manager *manager, const char *conversation, size_t i, struct gb_session_info *ret);
/* The number of live sessions. */
unsigned gb_manager_count(const struct gb_manager *manager);

/* End the session; its running and queued runs settle as "terminated", with @reason (may be NULL). Does
 * nothing if the session has ended. */
bool gb_manager_kill(struct gb_manager *manager, const char *session, const char *reason, struct gb_err *err);
/* End all sessions of a conversation, and return their number. */
unsigned gb_manager_cleanup(struct gb_manager *manager, const char *conversation, const char *reason);

/* Set info->trusted. The manager only stores it. */
bool gb_manager_trust(struct gb_manager *manager, const char *session, bool trusted, struct gb_err *err);
/* Add @tokens to info->tokens, which stops at UINT64_MAX. The manager only stores them. */
bool gb_manager_add_tokens(
    struct gb_manager *manager, const char *session, uint64_t tokens, struct gb_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
