/*
 * Sessions by name: many, kept within limits, each with a queue.
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
 * A session executes one run at a time; later ones wait in order. A session that ends (it crashed, was
 * killed, was idle too long) stays listed for a while as "terminated", with the reason. Time-outs are the
 * engine's own: nothing runs but what gb_engine_dispatch or gb_run_wait does.
 *
 * Wherever a session is named, its id or its name will do. A manager must not be destroyed from a callback of
 * a run of its sessions.
 */
#ifndef GLOVEBOX_SESSIONS_H
#define GLOVEBOX_SESSIONS_H

#include "glovebox/glovebox.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct gb_manager;

/* A session as it is now. Texts are never NULL, and live until the manager is used again. */
struct gb_session_info {
	char id[33]; /* 128 random bits, in hexadecimal */
	const char *name, *conversation, *profile;
	enum gb_language language;
	enum gb_session_state state;
	const char *reason;              /* why it is terminated */
	const char *prompt;              /* what it asks for while it awaits input */
	unsigned n_prompts;              /* times that it began to await input */
	double created_at, last_used_at; /* milliseconds since 1970 */
	uint64_t executions;             /* that have begun */
	uint64_t tokens;                 /* what the caller has added */
	unsigned queued;                 /* runs that wait */
	bool trusted;                    /* as the caller has said */
	bool attached;                   /* somebody is at its terminal */
};

/* Zero means the default, in every field. */
struct gb_manager_options {
	unsigned max_sessions;         /* at once: 64 */
	unsigned max_per_conversation; /* at once: 5 */
	unsigned max_queue;            /* runs that wait for a session: 16; GB_NONE for none */
	unsigned max_ended;            /* sessions that have ended and are still listed: 100 */
	uint64_t idle_ms;              /* without a run: 30 minutes */
	uint64_t max_age_ms;           /* whatever it does: 24 hours */
	uint64_t ended_ms;             /* for how long one that has ended is listed: 1 hour */
	/* @run executes in a session and begins to await input: info->prompt, gb_manager_send. */
	void (*on_awaiting)(
	    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data);
	/* A session has ended: info->reason. Only to take note: the manager must not be used from here. */
	void (*on_ended)(struct gb_manager *manager, const struct gb_session_info *info, void *data);
	void *data;
};

/* What a session is asked for by. */
struct gb_session_asked {
	const char *conversation; /* NULL or empty: none, which has no limit of its own */
	enum gb_language language;
	const char *profile; /* or NULL */
	const char *name;    /* unique among those that live; NULL: one is made up */
	const char *id;      /* of a new one: 32 lower case hexadecimal digits; NULL: random ones */
};

/* @options may be NULL. */
bool gb_manager_create(struct gb_engine *engine, const struct gb_manager_options *options,
    struct gb_manager **ret, struct gb_err *err);
/* From now on these hold: for sessions that are opened later, for runs that are asked for later. Whoever is
 * told of what happens stays the same. */
void gb_manager_configure(struct gb_manager *manager, const struct gb_manager_options *options);
/* Ends all sessions; runs in them settle, and stay their owners' to destroy. If the engine was destroyed
 * before, that has happened already. NULL is fine. */
void gb_manager_destroy(struct gb_manager *manager);

/* Fails with GB_ELIMIT if there are too many, GB_EINVAL if the name is taken or no name, or the id is. */
bool gb_manager_open(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err);
/* The one that lives and was asked for in the same way, without a name any that fits; else a new one. */
bool gb_manager_get_or_create(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err);

/* The same without opening one: *ret_found tells whether there is one, which @ret then describes. Fails if
 * there is none and none may be opened now. */
bool gb_manager_find(struct gb_manager *manager, const struct gb_session_asked *asked, bool *ret_found,
    struct gb_session_info *ret, struct gb_err *err);

/* Start a run in it, or let it wait for those before it. As gb_run_start, whose options these are; language
 * and profile are the session's. A run that waits may be withdrawn by gb_run_terminate or gb_run_destroy, and
 * has its time from when it begins. Fails with GB_ELIMIT if too many wait. */
bool gb_manager_execute(struct gb_manager *manager, const char *session, const struct gb_run_options *options,
    struct gb_run **ret, struct gb_err *err);
/* Ask what executes to stop; false if nothing does. */
bool gb_manager_interrupt(struct gb_manager *manager, const char *session, struct gb_err *err);
/* See gb_session_send. */
bool gb_manager_send(
    struct gb_manager *manager, const char *session, const char *bytes, size_t n, struct gb_err *err);

/* Somebody at the terminal of a session. */
struct gb_attachment {
	/* What it shows from now on. No session may be ended from here. */
	void (*on_bytes)(struct gb_manager *manager, const char *bytes, size_t n, void *data);
	/* It is over, and not by gb_manager_detach: the session has @ended, or the terminal was taken over.
	 */
	void (*on_end)(struct gb_manager *manager, const char *reason, bool ended, void *data);
	void *data;
};

/* See gb_session_attach. One at a time: fails with GB_EBUSY if somebody is, unless @steal. The session is not
 * idle meanwhile. */
bool gb_manager_attach(struct gb_manager *manager, const char *session,
    const struct gb_attachment *attachment, bool steal, struct gb_err *err);
/* Without on_end. Does nothing if nobody is attached. */
bool gb_manager_detach(struct gb_manager *manager, const char *session, struct gb_err *err);
/* See gb_session_hold. */
bool gb_manager_hold(struct gb_manager *manager, const char *session, bool held, struct gb_err *err);
/* See gb_session_resize. */
bool gb_manager_resize(
    struct gb_manager *manager, const char *session, unsigned columns, unsigned rows, struct gb_err *err);

/* Also one that has ended, while it is listed. */
bool gb_manager_get(
    struct gb_manager *manager, const char *session, struct gb_session_info *ret, struct gb_err *err);
/* The @i-th, the oldest first and those that have ended last; false if there are not so many. @conversation
 * may be NULL: all. */
bool gb_manager_at(
    struct gb_manager *manager, const char *conversation, size_t i, struct gb_session_info *ret);
/* How many live. */
unsigned gb_manager_count(const struct gb_manager *manager);

/* End it; what executes and what waits settles as "terminated", with @reason (may be NULL). Does nothing to
 * one that has ended. */
bool gb_manager_kill(struct gb_manager *manager, const char *session, const char *reason, struct gb_err *err);
/* End all of a conversation, and return how many there were. */
unsigned gb_manager_cleanup(struct gb_manager *manager, const char *conversation, const char *reason);

bool gb_manager_trust(struct gb_manager *manager, const char *session, bool trusted, struct gb_err *err);
bool gb_manager_add_tokens(
    struct gb_manager *manager, const char *session, uint64_t tokens, struct gb_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
