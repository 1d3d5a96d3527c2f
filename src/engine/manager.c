/*
 * Sessions by name. A record exists as long as its session, and for a while after its end.
 *
 * Changes of a session are recorded at once and handled when the engine's timer next fires, so that no
 * caller's callback is called from inside another caller's run.
 */
#include "glovebox/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/manager.h"
#include "glovebox/errors.h"

enum {
	MAX_SESSIONS = 64,
	MAX_PER_CONVERSATION = 5,
	MAX_QUEUE = 16,
	MAX_ENDED = 100,
	IDLE_MS = 30 * 60 * 1000,
	AGE_MS = 24 * 60 * 60 * 1000,
	ENDED_MS = 60 * 60 * 1000,
};
#define MS_NS 1000000ull

/* --- records --- */

static double wall_clock_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void gb_record_touch(struct gb_record *record) {
	record->last_used = gb_now_ns();
	record->last_used_at = wall_clock_ms();
}

void gb_record_describe(const struct gb_record *record, struct gb_session_info *ret) {
	unsigned queued = 0;
	for (const struct gb_list *at = record->queue.next; at && at != &record->queue; at = at->next)
		queued++;
	bool from_session = record->session && !record->ending; /* else from the record */
	*ret = (struct gb_session_info){
	    .name = record->name,
	    .conversation = record->conversation,
	    .profile = record->profile,
	    .net = record->net ? record->net : "",
	    .workdir = record->workdir ? record->workdir : "",
	    .language = record->language,
	    .state = from_session ? gb_session_state(record->session) : GB_SESSION_TERMINATED,
	    .reason = from_session ? gb_session_reason(record->session) : record->reason,
	    .prompt = from_session ? gb_session_prompt(record->session) : "",
	    .n_prompts = record->session ? record->session->terminal.n_waits : 0,
	    .created_at = record->created_at,
	    .last_used_at = record->last_used_at,
	    .executions = record->executions,
	    .tokens = record->tokens,
	    .queued = queued,
	    .trusted = record->trusted,
	    .attached = record->attachment.on_bytes,
	};
	ret->n_exposed = gb_record_exposed(record, ret->exposed, GB_EXPOSED_MAX);
	memcpy(ret->id, record->id, sizeof ret->id);
}

bool gb_record_is_alive(const struct gb_record *record) {
	return record->session && !record->ending &&
	       gb_session_state(record->session) != GB_SESSION_TERMINATED;
}

struct gb_record *gb_record_find_in(struct gb_list *list, const char *name, bool alive) {
	struct gb_record *found = NULL;
	gb_list_each(struct gb_record, record, list, link) {
		if ((strcmp(record->id, name) == 0 || strcmp(record->name, name) == 0) &&
		    gb_record_is_alive(record) == alive)
			found = record;
	}
	return found;
}

struct gb_record *gb_record_find(struct gb_manager *manager, const char *name, struct gb_err *err) {
	struct gb_record *found = name ? gb_record_find_in(&manager->records, name, true) : NULL;
	if (!found && name)
		found = gb_record_find_in(&manager->records, name, false);
	if (!found && name)
		found = gb_record_find_in(&manager->ended, name, false);
	if (!found)
		gb_fail_field(err, GB_ENOENT, "session", "there is no session '%s'", name ? name : "");
	return found;
}

struct gb_record *gb_record_find_alive(struct gb_manager *manager, const char *name, struct gb_err *err) {
	struct gb_record *record = gb_record_find(manager, name, err);
	if (!record || gb_record_is_alive(record))
		return record;
	struct gb_session_info info;
	gb_record_describe(record, &info);
	gb_fail_field(err, GB_EINVAL, "session", "'%s' has ended: %s", name, info.reason);
	return NULL;
}

/* --- time --- */

void gb_manager_wake(struct gb_manager *manager) {
	if (manager->engine)
		gb_alarm_set(manager->engine, &manager->alarm, gb_now_ns());
}

static void set_earlier(uint64_t *next, uint64_t at) {
	if (!*next || at < *next)
		*next = at;
}

/* --- ends --- */

static void free_record(struct gb_record *record) {
	gb_list_remove(&record->link);
	free(record->net);
	free(record->workdir);
	free(record);
}

static void free_oldest(struct gb_manager *manager) {
	struct gb_record *oldest = gb_list_first(struct gb_record, &manager->ended, link);
	if (!oldest)
		return;
	manager->n_ended--;
	free_record(oldest);
}

/* The record stays listed, without a session. The callback may use the manager, but not this session. */
static void move_to_ended(struct gb_record *record) {
	struct gb_manager *manager = record->manager;
	struct gb_session *session = record->session;
	gb_record_unexpose(record);
	if (session) {
		if (!record->ending)
			snprintf(record->reason, sizeof record->reason, "%s", gb_session_reason(session));
		session->on_change = NULL;
		gb_session_close(session);
	}
	record->session = NULL;
	gb_record_touch(record);
	gb_list_remove(&record->link);
	gb_list_append(&manager->ended, &record->link);
	if (manager->options.on_ended) {
		struct gb_session_info info;
		gb_record_describe(record, &info);
		GB_CALL_BACK(
		    manager->engine, manager->options.on_ended(manager, &info, manager->options.data));
	}
	if (++manager->n_ended > manager->options.max_ended)
		free_oldest(manager);
}

static void settle_queue(struct gb_list *queue, const char *reason) {
	for (struct gb_run *run; (run = gb_list_first(struct gb_run, queue, link));) {
		gb_run_fail(run, GB_TERMINATED, "TerminatedError", GB_CODE_TERMINATED, reason);
	}
}

/* End the record, and notify queued runs and the attached client. */
static void end_record(struct gb_record *record) {
	struct gb_list queue;
	struct gb_manager *manager = record->manager;
	struct gb_attachment attachment = record->attachment;
	char reason[sizeof record->reason];
	gb_list_init(&queue);
	for (struct gb_run *run; (run = gb_list_first(struct gb_run, &record->queue, link));) {
		gb_list_remove(&run->link);
		gb_list_append(&queue, &run->link);
		run->session = NULL; /* a callback may terminate it when the session is closed already */
	}
	record->attachment = (struct gb_attachment){0};
	move_to_ended(record);
	memcpy(reason, record->reason, sizeof reason);
	if (attachment.on_bytes)
		GB_CALL_BACK(manager->engine, attachment.on_end(manager, reason, true, attachment.data));
	settle_queue(&queue, reason);
}

static void mark_ending(struct gb_record *record, const char *reason) {
	record->ending = true;
	gb_reason_keep(record->reason, sizeof record->reason, reason);
	record->session->on_change = NULL;
}

void gb_record_kill(struct gb_record *record, const char *reason) {
	if (!record->session)
		return;
	struct gb_run *run = record->session->run;
	/* Mark it first: callbacks must not start another run in it. */
	mark_ending(record, reason);
	if (run && !run->settled)
		gb_run_terminate(run, reason);
	gb_session_terminate(record->session, reason);
	end_record(record);
}

/* --- the queue --- */

void gb_record_on_change(struct gb_session *session) {
	struct gb_record *record = session->data;
	gb_record_touch(record);
	gb_manager_wake(record->manager);
}

bool gb_record_begin(struct gb_record *record, struct gb_run *run, struct gb_err *err) {
	gb_list_remove(&run->link);
	if (!gb_run_launch(run, err))
		return false;
	record->executions++;
	gb_record_touch(record);
	return true;
}

static void start_next(struct gb_record *record) {
	struct gb_run *run;
	while (gb_session_state(record->session) == GB_SESSION_IDLE &&
	       (run = gb_list_first(struct gb_run, &record->queue, link))) {
		struct gb_err err = {0};
		if (!gb_record_begin(record, run, &err))
			gb_run_fail(run, GB_DENIED, "Error", GB_CODE_REFUSED, err.message);
	}
}

/* --- supervision --- */

/* The reason why the session must end now; NULL if it must not. */
static const char *expiry_reason(
    const struct gb_record *record, uint64_t now, char text[64], uint64_t *next) {
	uint64_t too_old = record->created + record->max_age_ms * MS_NS;
	uint64_t too_idle = record->last_used + record->idle_ms * MS_NS;
	bool idle = gb_session_state(record->session) == GB_SESSION_IDLE && gb_list_empty(&record->queue) &&
		    !record->attachment.on_bytes;
	const char *reason = too_old <= now ? "it was %llu s old, which is as old as a session gets"
			     : idle && too_idle <= now ? "it was idle for %llu s"
						       : NULL;
	if (reason) {
		uint64_t ms = too_old <= now ? record->max_age_ms : record->idle_ms;
		snprintf(text, 64, reason, (unsigned long long)((ms + 999) / 1000));
		return text;
	}
	set_earlier(next, too_old);
	if (idle)
		set_earlier(next, too_idle);
	return NULL;
}

/* True if on_awaiting was called for a new wait. */
static bool notify_awaiting(struct gb_record *record) {
	const struct gb_manager_options *options = &record->manager->options;
	/* Compare counts: one wait may end and the next begin between two checks. */
	unsigned n_waits = record->session->terminal.n_waits;
	bool is_new = n_waits != record->n_waits_checked &&
		      gb_session_state(record->session) == GB_SESSION_AWAITING_INPUT;
	record->n_waits_checked = n_waits;
	if (!is_new || !options->on_awaiting)
		return false;
	struct gb_session_info info;
	gb_record_describe(record, &info);
	GB_CALL_BACK(record->manager->engine,
	    options->on_awaiting(record->manager, &info, record->session->run, options->data));
	return true;
}

/* True if a callback ran: restart the iteration, since it may have changed any record. */
static bool update(struct gb_record *record, uint64_t now, uint64_t *next) {
	char text[64];
	if (!gb_record_is_alive(record)) {
		end_record(record);
		return true;
	}
	const char *reason = expiry_reason(record, now, text, next);
	if (reason) {
		gb_record_kill(record, reason);
		return true;
	}
	if (notify_awaiting(record))
		return true;
	bool waits = !gb_list_empty(&record->queue);
	start_next(record);
	return waits && gb_session_state(record->session) != GB_SESSION_EXECUTING &&
	       gb_session_state(record->session) != GB_SESSION_AWAITING_INPUT;
}

static void expire_ended(struct gb_manager *manager, uint64_t now, uint64_t *next) {
	for (struct gb_record *oldest; (oldest = gb_list_first(struct gb_record, &manager->ended, link));) {
		uint64_t until = oldest->last_used + manager->options.ended_ms * MS_NS;
		if (until > now) {
			set_earlier(next, until);
			return;
		}
		free_oldest(manager);
	}
}

static void on_alarm(struct gb_alarm *alarm) {
	struct gb_manager *manager = gb_container(struct gb_manager, alarm, alarm);
	uint64_t now = gb_now_ns(), next = 0;
	for (bool again = true; again;) {
		again = false;
		next = 0;
		gb_list_each(struct gb_record, record, &manager->records, link) {
			again = update(record, now, &next);
			if (again)
				break;
		}
	}
	expire_ended(manager, now, &next);
	if (next && manager->engine)
		gb_alarm_set(manager->engine, alarm, next);
}

static void end_all(struct gb_manager *manager, const char *reason) {
	for (struct gb_record *record; (record = gb_list_first(struct gb_record, &manager->records, link));)
		gb_record_kill(record, reason);
}

/* The engine is being destroyed: end the session without callbacks. */
static void end_silently(struct gb_record *record) {
	struct gb_run *run;
	mark_ending(record, "the engine has ended");
	record->attachment = (struct gb_attachment){0};
	while ((run = gb_list_first(struct gb_run, &record->queue, link)))
		gb_run_destroy(run);
	run = record->session->run;
	if (run && !run->settled)
		gb_run_destroy(run);
	move_to_ended(record);
}

static void on_engine_end(struct gb_alarm *alarm) {
	struct gb_manager *manager = gb_container(struct gb_manager, alarm, alarm);
	for (struct gb_record *record; (record = gb_list_first(struct gb_record, &manager->records, link));)
		end_silently(record);
	manager->engine = NULL;
}

/* --- the manager --- */

/* Replaces zeros by defaults. */
static struct gb_manager_options with_defaults(const struct gb_manager_options *options) {
	struct gb_manager_options own = *options;
	own.max_sessions = GB_OR(own.max_sessions, MAX_SESSIONS);
	own.max_per_conversation = GB_OR(own.max_per_conversation, MAX_PER_CONVERSATION);
	own.max_queue = own.max_queue == GB_NONE ? 0 : GB_OR(own.max_queue, MAX_QUEUE);
	own.max_ended = GB_OR(own.max_ended, MAX_ENDED);
	own.idle_ms = GB_OR(own.idle_ms, IDLE_MS);
	own.max_age_ms = GB_OR(own.max_age_ms, AGE_MS);
	own.ended_ms = GB_OR(own.ended_ms, ENDED_MS);
	return own;
}

bool gb_manager_create(struct gb_engine *engine, const struct gb_manager_options *options,
    struct gb_manager **ret, struct gb_err *err) {
	struct gb_manager *manager = calloc(1, sizeof *manager);
	if (!manager)
		return gb_fail(err, GB_ENOMEM, 0, "the session manager");
	manager->options = with_defaults(options ? options : &(struct gb_manager_options){0});
	manager->engine = engine;
	manager->alarm.on_alarm = on_alarm;
	manager->alarm.on_engine_end = on_engine_end;
	gb_list_init(&manager->records);
	gb_list_init(&manager->ended);
	gb_list_append(&engine->alarms, &manager->alarm.link);
	*ret = manager;
	return true;
}

void gb_manager_configure(struct gb_manager *manager, const struct gb_manager_options *options) {
	struct gb_manager_options own = with_defaults(options);
	own.on_awaiting = manager->options.on_awaiting;
	own.on_ended = manager->options.on_ended;
	own.data = manager->options.data;
	manager->options = own;
}

void gb_manager_destroy(struct gb_manager *manager) {
	if (!manager)
		return;
	end_all(manager, "the session manager has ended");
	while (manager->n_ended)
		free_oldest(manager);
	gb_list_remove(&manager->alarm.link);
	free(manager);
}
