/* Shared by the files of the session manager: manager.c supervises sessions, manager_use.c is the public
 * interface, manager_terminal.c handles terminals. */
#ifndef GB_ENGINE_MANAGER_H
#define GB_ENGINE_MANAGER_H

#include "engine/engine.h"
#include "glovebox/sessions.h"

enum { GB_SESSION_NAME_BYTES = 64, GB_SESSION_CONVERSATION_BYTES = 256, GB_SESSION_PROFILE_BYTES = 64 };

struct gb_manager {
	struct gb_alarm alarm;
	struct gb_engine *engine; /* NULL after the engine was destroyed */
	struct gb_manager_options options;
	struct gb_list records; /* of live sessions */
	struct gb_list ended;   /* of ended sessions, oldest first */
	unsigned n_ended;
};

struct gb_record {
	struct gb_list link;
	struct gb_manager *manager;
	struct gb_session *session; /* NULL once it has ended */
	struct gb_list queue;       /* of runs (struct gb_run.link) that wait for their turn */
	enum gb_language language;
	char id[33];
	char name[GB_SESSION_NAME_BYTES + 1];
	char conversation[GB_SESSION_CONVERSATION_BYTES + 1];
	char profile[GB_SESSION_PROFILE_BYTES + 1];
	struct gb_list exposed; /* ports of the host that lead to it */
	char *net;              /* its hosts, separated by commas; NULL: none */
	char *workdir;          /* its working directory, with ":rw" if it is writable; NULL: none */
	char reason[256];
	double created_at, last_used_at; /* ms since 1970 */
	uint64_t created, last_used;     /* monotonic, ns; last_used of an ended session is its end */
	uint64_t idle_ms, max_age_ms;    /* copied from the options when it was opened */
	uint64_t executions, tokens;
	bool trusted;
	struct gb_attachment attachment; /* .on_bytes is NULL: no client is attached */
	unsigned n_waits_checked;        /* terminal.n_waits when a new wait for input was last checked for */
	bool ending;                     /* the session is being killed; .reason is set */
};

/* --- manager_expose.c --- */

/* Close its ports. */
void gb_record_unexpose(struct gb_record *record);
/* Write up to @n of its ports, and return how many. */
size_t gb_record_exposed(const struct gb_record *record, struct gb_exposed_port *ret, size_t n);

/* --- manager.c --- */

/* Set the time of the last use to now. */
void gb_record_touch(struct gb_record *record);
void gb_record_describe(const struct gb_record *record, struct gb_session_info *ret);
bool gb_record_is_alive(const struct gb_record *record);
/* The last record of @list with the id or name @name that is alive, or that is not alive if @alive is false.
 * NULL if there is none. */
struct gb_record *gb_record_find_in(struct gb_list *list, const char *name, bool alive);
/* The live session with the id or name @name, else the one that ended last. Fails with GB_ENOENT. */
struct gb_record *gb_record_find(struct gb_manager *manager, const char *name, struct gb_err *err);
/* The same, but fails with GB_EINVAL if the session has ended. */
struct gb_record *gb_record_find_alive(struct gb_manager *manager, const char *name, struct gb_err *err);
/* Start the prepared @run in the session. */
bool gb_record_begin(struct gb_record *record, struct gb_run *run, struct gb_err *err);
/* The on_change callback of sessions. */
void gb_record_on_change(struct gb_session *session);
/* Kill the session; its executing and queued runs settle with @reason. */
void gb_record_kill(struct gb_record *record, const char *reason);
/* gb_manager_execute in steps, with gb_run_encode between them: create a run for a session, complete @options, and
 * copy the id of the session. */
bool gb_manager_create_run(struct gb_manager *manager, const char *session, struct gb_run_options *options,
    struct gb_run **ret, char ret_session[33], struct gb_err *err);
/* Start the encoded @run in its session, or queue it. On failure it stays with the caller. */
bool gb_manager_begin_run(
    struct gb_manager *manager, const char *session, struct gb_run *run, struct gb_err *err);
/* The hosts of a live session, as long as it lives; NULL if it has none, or has ended. */
const struct gb_value *gb_manager_hosts(struct gb_manager *manager, const char *session);
/* Check all records as soon as possible. */
void gb_manager_wake(struct gb_manager *manager);

#endif
