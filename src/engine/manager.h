/* What the files of the session manager share: manager.c looks after sessions, manager_use.c is what callers
 * ask for, manager_terminal.c is about terminals.
 */
#ifndef GB_ENGINE_MANAGER_H
#define GB_ENGINE_MANAGER_H

#include "engine/engine.h"
#include "glovebox/sessions.h"

enum { GB_SESSION_NAME_BYTES = 64, GB_SESSION_CONVERSATION_BYTES = 256, GB_SESSION_PROFILE_BYTES = 64 };

struct gb_manager {
	struct gb_alarm alarm;
	struct gb_engine *engine; /* NULL once it is gone */
	struct gb_manager_options options;
	struct gb_list records; /* those that live */
	struct gb_list ended;   /* those that do not, the oldest first */
	unsigned n_ended;
};

struct gb_record {
	struct gb_list link;
	struct gb_manager *manager;
	struct gb_session *session; /* NULL once it has ended */
	struct gb_list queue;       /* struct gb_run, by link */
	enum gb_language language;
	char id[33];
	char name[GB_SESSION_NAME_BYTES + 1];
	char conversation[GB_SESSION_CONVERSATION_BYTES + 1];
	char profile[GB_SESSION_PROFILE_BYTES + 1];
	char reason[256];
	double created_at, last_used_at; /* ms since 1970 */
	uint64_t created, last_used;     /* ns; last_used is when it ended, once it has */
	uint64_t idle_ms, max_age_ms;    /* as they were set when it was opened */
	uint64_t executions, tokens;
	bool trusted;
	struct gb_attachment attachment; /* without on_bytes: nobody */
	unsigned n_told;                 /* of the times that it began to await input */
	bool ending;                     /* it is being killed, for its reason */
};

/* Note that it was used just now. */
void gb_record_touch(struct gb_record *record);
void gb_record_describe(const struct gb_record *record, struct gb_session_info *ret);
bool gb_record_is_alive(const struct gb_record *record);
/* By id or name; the last one that is, or is not, alive. */
struct gb_record *gb_record_find_in(struct gb_list *list, const char *name, bool alive);
/* One that lives, else the last one of that name that did. */
struct gb_record *gb_record_find(struct gb_manager *manager, const char *name, struct gb_err *err);
struct gb_record *gb_record_find_alive(struct gb_manager *manager, const char *name, struct gb_err *err);
/* Launch @run, which was prepared, in it. */
bool gb_record_begin(struct gb_record *record, struct gb_run *run, struct gb_err *err);
/* What a session calls when something has happened to it. */
void gb_record_on_change(struct gb_session *session);
/* End it; who executes or waits there is told. */
void gb_record_kill(struct gb_record *record, const char *reason);
/* Look at everything again, at once. */
void gb_manager_wake(struct gb_manager *manager);

#endif
