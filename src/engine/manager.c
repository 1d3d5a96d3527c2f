/*
 * Sessions by name. A record lives as long as its session and, without it, for a while after.
 *
 * What happens to a session is noted at once and acted on when the engine's timer goes off next: so that no
 * callback of a caller's is ever called from inside another's run.
 */
#include "glovebox/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "engine/engine.h"
#include "engine/limits.h"

enum {
	MAX_SESSIONS = 64,
	MAX_PER_CONVERSATION = 5,
	MAX_QUEUE = 16,
	MAX_ENDED = 100,
	NAME_BYTES = 64,
	CONVERSATION_BYTES = 256,
	PROFILE_BYTES = 64,
	IDLE_MS = 30 * 60 * 1000,
	AGE_MS = 24 * 60 * 60 * 1000,
	ENDED_MS = 60 * 60 * 1000,
};
#define MS_NS 1000000ull

struct gb_manager {
	struct gb_alarm alarm;
	struct gb_engine *engine; /* NULL once it is gone */
	struct gb_manager_options options;
	struct gb_list records; /* those that live */
	struct gb_list ended;   /* those that do not, the oldest first */
	unsigned n_records, n_ended;
};

struct record {
	struct gb_list link;
	struct gb_manager *manager;
	struct gb_session *session; /* NULL once it has ended */
	struct gb_list queue;       /* struct gb_run, by link */
	enum gb_language language;
	char id[33];
	char name[NAME_BYTES + 1];
	char conversation[CONVERSATION_BYTES + 1];
	char profile[PROFILE_BYTES + 1];
	char reason[256];
	double created_at, last_used_at; /* ms since 1970 */
	uint64_t created, last_used;     /* ns; last_used is when it ended, once it has */
	uint64_t executions, tokens;
	bool trusted;
	bool awaiting; /* input, and that was told */
	bool ending;   /* it is being killed, for its reason */
};

/* --- records --- */

static double wall_clock_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec * 1e3 + (double)(now.tv_nsec / 1000000);
}

static void touch(struct record *record) {
	record->last_used = gb_now_ns();
	record->last_used_at = wall_clock_ms();
}

static void make_id(char id[33]) {
	uint8_t bytes[16];
	while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		;
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

static void describe(const struct record *record, struct gb_session_info *ret) {
	unsigned queued = 0;
	for (const struct gb_list *at = record->queue.next; at != &record->queue; at = at->next)
		queued++;
	bool told = record->session && !record->ending; /* by the session itself */
	*ret = (struct gb_session_info){
	    .name = record->name,
	    .conversation = record->conversation,
	    .profile = record->profile,
	    .language = record->language,
	    .state = told ? gb_session_state(record->session) : GB_SESSION_TERMINATED,
	    .reason = told ? gb_session_reason(record->session) : record->reason,
	    .prompt = told ? gb_session_prompt(record->session) : "",
	    .created_at = record->created_at,
	    .last_used_at = record->last_used_at,
	    .executions = record->executions,
	    .tokens = record->tokens,
	    .queued = queued,
	    .trusted = record->trusted,
	};
	memcpy(ret->id, record->id, sizeof ret->id);
}

static bool is_alive(const struct record *record) {
	return record->session && !record->ending &&
	       gb_session_state(record->session) != GB_SESSION_TERMINATED;
}

static struct record *find_in(struct gb_list *list, const char *name, bool alive) {
	struct record *found = NULL;
	gb_list_each(struct record, record, list, link) {
		if ((strcmp(record->id, name) == 0 || strcmp(record->name, name) == 0) &&
		    is_alive(record) == alive)
			found = record;
	}
	return found;
}

/* One that lives, else the last one of that name that did. */
static struct record *find(struct gb_manager *manager, const char *name, struct gb_err *err) {
	struct record *found = name ? find_in(&manager->records, name, true) : NULL;
	if (!found && name)
		found = find_in(&manager->records, name, false);
	if (!found && name)
		found = find_in(&manager->ended, name, false);
	if (!found)
		gb_fail(err, GB_ENOENT, 0, "session: there is no '%s'", name ? name : "");
	return found;
}

static struct record *find_alive(struct gb_manager *manager, const char *name, struct gb_err *err) {
	struct record *record = find(manager, name, err);
	if (!record || is_alive(record))
		return record;
	struct gb_session_info info;
	describe(record, &info);
	gb_fail(err, GB_EINVAL, 0, "session: '%s' has ended: %s", name, info.reason);
	return NULL;
}

/* --- time --- */

/* Look at everything again, at once. */
static void wake(struct gb_manager *manager) {
	if (manager->engine)
		gb_alarm_set(manager->engine, &manager->alarm, gb_now_ns());
}

static void sooner(uint64_t *next, uint64_t at) {
	if (!*next || at < *next)
		*next = at;
}

/* --- ends --- */

static void forget(struct record *record) {
	gb_list_remove(&record->link);
	free(record);
}

static void forget_oldest(struct gb_manager *manager) {
	struct record *oldest = gb_list_first(struct record, &manager->ended, link);
	if (!oldest)
		return;
	manager->n_ended--;
	forget(oldest);
}

/* It stays listed, without a process. Those that wait are told; they may ask for anything but this session.
 */
static void bury(struct record *record) {
	struct gb_manager *manager = record->manager;
	if (!record->ending)
		snprintf(record->reason, sizeof record->reason, "%s", gb_session_reason(record->session));
	record->session->on_change = NULL;
	gb_session_close(record->session);
	record->session = NULL;
	touch(record);
	gb_list_remove(&record->link);
	gb_list_append(&manager->ended, &record->link);
	manager->n_records--;
	if (++manager->n_ended > manager->options.max_ended)
		forget_oldest(manager);
}

static void settle_queue(struct gb_list *queue, const char *reason) {
	for (struct gb_run *run; (run = gb_list_first(struct gb_run, queue, link));) {
		run->session = NULL;
		gb_run_fail(run, GB_TERMINATED, "TerminatedError", "terminated", reason);
	}
}

/* Bury it, and tell those that waited. */
static void end(struct record *record) {
	struct gb_list queue;
	struct gb_session_info info;
	char reason[sizeof record->reason];
	gb_list_init(&queue);
	for (struct gb_run *run; (run = gb_list_first(struct gb_run, &record->queue, link));) {
		gb_list_remove(&run->link);
		gb_list_append(&queue, &run->link);
	}
	describe(record, &info);
	snprintf(reason, sizeof reason, "%s", info.reason);
	bury(record);
	settle_queue(&queue, reason);
}

static void condemn(struct record *record, const char *reason) {
	record->ending = true;
	snprintf(record->reason, sizeof record->reason, "%s", reason);
	record->session->on_change = NULL;
}

static void kill_record(struct record *record, const char *reason) {
	struct gb_run *run = record->session->run;
	/* Nothing may begin in the place of what is ended here. */
	condemn(record, reason);
	if (run && !run->settled)
		gb_run_terminate(run, reason);
	gb_session_terminate(record->session, reason);
	end(record);
}

/* --- the queue --- */

static void on_change(struct gb_session *session) {
	struct record *record = session->data;
	touch(record);
	wake(record->manager);
}

static bool begin(struct record *record, struct gb_run *run, struct gb_err *err) {
	gb_list_remove(&run->link);
	if (!gb_run_launch(run, err))
		return false;
	record->executions++;
	touch(record);
	return true;
}

static void start_next(struct record *record) {
	struct gb_run *run;
	while (gb_session_state(record->session) == GB_SESSION_IDLE &&
	       (run = gb_list_first(struct gb_run, &record->queue, link))) {
		struct gb_err err = {0};
		if (!begin(record, run, &err))
			gb_run_fail(run, GB_DENIED, "Error", "refused", err.message);
	}
}

/* --- looking after them --- */

/* Why it is to end now; NULL if it is not. */
static const char *reason_to_end(const struct record *record, uint64_t now, char text[64], uint64_t *next) {
	const struct gb_manager_options *options = &record->manager->options;
	uint64_t too_old = record->created + options->max_age_ms * MS_NS;
	uint64_t too_idle = record->last_used + options->idle_ms * MS_NS;
	bool idle = gb_session_state(record->session) == GB_SESSION_IDLE && gb_list_empty(&record->queue);
	const char *reason = too_old <= now ? "it was %llu s old, which is as old as a session gets"
			     : idle && too_idle <= now ? "it was idle for %llu s"
						       : NULL;
	if (reason) {
		uint64_t ms = too_old <= now ? options->max_age_ms : options->idle_ms;
		snprintf(text, 64, reason, (unsigned long long)((ms + 999) / 1000));
		return text;
	}
	sooner(next, too_old);
	if (idle)
		sooner(next, too_idle);
	return NULL;
}

/* True if it was told just now that the session awaits input. */
static bool tell_awaiting(struct record *record) {
	const struct gb_manager_options *options = &record->manager->options;
	bool awaiting = gb_session_state(record->session) == GB_SESSION_AWAITING_INPUT;
	bool is_new = awaiting && !record->awaiting;
	record->awaiting = awaiting;
	if (!is_new || !options->on_awaiting)
		return false;
	struct gb_session_info info;
	describe(record, &info);
	options->on_awaiting(record->manager, &info, record->session->run, options->data);
	return true;
}

/* True if somebody was told something, who may have changed everything. */
static bool tend(struct record *record, uint64_t now, uint64_t *next) {
	char text[64];
	if (!is_alive(record)) {
		end(record);
		return true;
	}
	const char *reason = reason_to_end(record, now, text, next);
	if (reason) {
		kill_record(record, reason);
		return true;
	}
	if (tell_awaiting(record))
		return true;
	bool waits = !gb_list_empty(&record->queue);
	start_next(record);
	return waits && gb_session_state(record->session) != GB_SESSION_EXECUTING &&
	       gb_session_state(record->session) != GB_SESSION_AWAITING_INPUT;
}

static void forget_ended(struct gb_manager *manager, uint64_t now, uint64_t *next) {
	for (struct record *oldest; (oldest = gb_list_first(struct record, &manager->ended, link));) {
		uint64_t until = oldest->last_used + manager->options.ended_ms * MS_NS;
		if (until > now) {
			sooner(next, until);
			return;
		}
		forget_oldest(manager);
	}
}

static void on_alarm(struct gb_alarm *alarm) {
	struct gb_manager *manager = gb_container(struct gb_manager, alarm, alarm);
	uint64_t now = gb_now_ns(), next = 0;
	for (bool again = true; again;) {
		again = false;
		next = 0;
		gb_list_each(struct record, record, &manager->records, link) {
			again = tend(record, now, &next);
			if (again)
				break;
		}
	}
	forget_ended(manager, now, &next);
	if (next && manager->engine)
		gb_alarm_set(manager->engine, alarm, next);
}

static void end_all(struct gb_manager *manager, const char *reason) {
	for (struct record *record; (record = gb_list_first(struct record, &manager->records, link));)
		kill_record(record, reason);
}

/* As an engine ends all runs: without calling anybody. */
static void drop(struct record *record) {
	struct gb_run *run;
	condemn(record, "the engine has ended");
	while ((run = gb_list_first(struct gb_run, &record->queue, link)))
		gb_run_destroy(run);
	run = record->session->run;
	if (run && !run->settled)
		gb_run_destroy(run);
	bury(record);
}

static void on_engine_end(struct gb_alarm *alarm) {
	struct gb_manager *manager = gb_container(struct gb_manager, alarm, alarm);
	for (struct record *record; (record = gb_list_first(struct record, &manager->records, link));)
		drop(record);
	manager->engine = NULL;
}

/* --- the manager --- */

bool gb_manager_create(struct gb_engine *engine, const struct gb_manager_options *options,
    struct gb_manager **ret, struct gb_err *err) {
	struct gb_manager *manager = calloc(1, sizeof *manager);
	if (!manager)
		return gb_fail(err, GB_ENOMEM, 0, "the session manager");
	if (options)
		manager->options = *options;
	struct gb_manager_options *own = &manager->options;
	own->max_sessions = GB_OR(own->max_sessions, MAX_SESSIONS);
	own->max_per_conversation = GB_OR(own->max_per_conversation, MAX_PER_CONVERSATION);
	own->max_queue = GB_OR(own->max_queue, MAX_QUEUE);
	own->max_ended = GB_OR(own->max_ended, MAX_ENDED);
	own->idle_ms = GB_OR(own->idle_ms, IDLE_MS);
	own->max_age_ms = GB_OR(own->max_age_ms, AGE_MS);
	own->ended_ms = GB_OR(own->ended_ms, ENDED_MS);
	manager->engine = engine;
	manager->alarm.on_alarm = on_alarm;
	manager->alarm.on_engine_end = on_engine_end;
	gb_list_init(&manager->records);
	gb_list_init(&manager->ended);
	gb_list_append(&engine->alarms, &manager->alarm.link);
	*ret = manager;
	return true;
}

void gb_manager_destroy(struct gb_manager *manager) {
	if (!manager)
		return;
	end_all(manager, "the session manager has ended");
	while (manager->n_ended)
		forget_oldest(manager);
	gb_list_remove(&manager->alarm.link);
	free(manager);
}

unsigned gb_manager_count(const struct gb_manager *manager) {
	return manager->n_records;
}

/* --- opening --- */

static bool copy_text(char *to, size_t size, const char *field, const char *text, struct gb_err *err) {
	if (text && strlen(text) >= size)
		return gb_fail(err, GB_EINVAL, 0, "%s: has at most %zu bytes", field, size - 1);
	snprintf(to, size, "%s", text ? text : "");
	return true;
}

/* What can be typed, and cannot be taken for an option. */
static bool check_name(struct gb_manager *manager, const char *name, struct gb_err *err) {
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	if (!name)
		return true;
	if (!*name || name[0] == '-' || strspn(name, letters) != strlen(name))
		return gb_fail(err, GB_EINVAL, 0,
		    "name: '%.64s' is not one: letters, digits, '.', '_' and '-', not '-' first", name);
	return !find_in(&manager->records, name, true) ||
	       gb_fail(err, GB_EINVAL, 0, "name: there is a session '%s' already", name);
}

static unsigned count_of(struct gb_manager *manager, const char *conversation) {
	unsigned n = 0;
	gb_list_each(struct record, record, &manager->records, link) n +=
	    is_alive(record) && strcmp(record->conversation, conversation) == 0;
	return n;
}

static bool check_room(struct gb_manager *manager, const char *conversation, struct gb_err *err) {
	if (!manager->engine)
		return gb_fail(err, GB_EINVAL, 0, "the engine has ended");
	if (manager->n_records >= manager->options.max_sessions)
		return gb_fail(err, GB_ELIMIT, 0,
		    "sessions: %u are open, which is the limit; end one before opening another",
		    manager->n_records);
	unsigned n = *conversation ? count_of(manager, conversation) : 0;
	return n < manager->options.max_per_conversation ||
	       gb_fail(err, GB_ELIMIT, 0,
		   "sessions: conversation '%s' has %u, which is the limit; end one before opening another",
		   conversation, n);
}

static bool fill(struct record *record, const struct gb_session_asked *asked, struct gb_err *err) {
	make_id(record->id);
	record->language = asked->language;
	touch(record);
	record->created = record->last_used;
	record->created_at = record->last_used_at;
	if (!copy_text(record->name, sizeof record->name, "name", asked->name, err) ||
	    !copy_text(record->profile, sizeof record->profile, "profile", asked->profile, err))
		return false;
	if (!*record->name)
		snprintf(record->name, sizeof record->name, "%.8s", record->id);
	return copy_text(
	    record->conversation, sizeof record->conversation, "conversation", asked->conversation, err);
}

bool gb_manager_open(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err) {
	const char *conversation = asked->conversation ? asked->conversation : "";
	if (!check_name(manager, asked->name, err) || !check_room(manager, conversation, err))
		return false;
	struct record *record = calloc(1, sizeof *record);
	if (!record)
		return gb_fail(err, GB_ENOMEM, 0, "a session");
	record->manager = manager;
	gb_list_init(&record->queue);
	if (!fill(record, asked, err) ||
	    !gb_session_open(manager->engine, asked->language, asked->profile, &record->session, err)) {
		free(record);
		return false;
	}
	record->session->on_change = on_change;
	record->session->data = record;
	gb_list_append(&manager->records, &record->link);
	manager->n_records++;
	wake(manager);
	describe(record, ret);
	return true;
}

static bool fits(const struct record *record, const struct gb_session_asked *asked) {
	return is_alive(record) && record->language == asked->language &&
	       strcmp(record->conversation, asked->conversation ? asked->conversation : "") == 0 &&
	       strcmp(record->profile, asked->profile ? asked->profile : "") == 0;
}

bool gb_manager_get_or_create(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err) {
	struct record *found = asked->name ? find_in(&manager->records, asked->name, true) : NULL;
	if (found && !fits(found, asked))
		return gb_fail(err, GB_EINVAL, 0,
		    "name: '%s' is a session of another language, profile or conversation", asked->name);
	gb_list_each(struct record, record, &manager->records, link) {
		if (!found && !asked->name && fits(record, asked))
			found = record;
	}
	if (!found)
		return gb_manager_open(manager, asked, ret, err);
	describe(found, ret);
	return true;
}

/* --- using --- */

bool gb_manager_execute(struct gb_manager *manager, const char *session, const struct gb_run_options *options,
    struct gb_run **ret, struct gb_err *err) {
	struct record *record = find_alive(manager, session, err);
	if (!record)
		return false;
	struct gb_session_info info;
	describe(record, &info);
	bool waits = info.queued || info.state != GB_SESSION_IDLE;
	if (waits && info.queued >= manager->options.max_queue)
		return gb_fail(err, GB_ELIMIT, 0,
		    "session: %u runs wait for '%s' already, which is the limit; try again when some have "
		    "ended",
		    info.queued, session);
	struct gb_run_options asked = *options;
	struct gb_run *run;
	asked.session = record->session;
	asked.profile = *record->profile ? record->profile : NULL;
	if (!gb_run_prepare(manager->engine, &asked, &run, err))
		return false;
	if (waits) {
		gb_list_append(&record->queue, &run->link);
	} else if (!begin(record, run, err)) {
		gb_run_destroy(run);
		return false;
	}
	*ret = run;
	return true;
}

bool gb_manager_interrupt(struct gb_manager *manager, const char *session, struct gb_err *err) {
	struct record *record = find_alive(manager, session, err);
	if (!record)
		return false;
	return (record->session->run && gb_run_interrupt(record->session->run)) ||
	       gb_fail(err, GB_EINVAL, 0, "session: nothing executes in '%s', or it was interrupted already",
		   session);
}

bool gb_manager_send(
    struct gb_manager *manager, const char *session, const char *bytes, size_t n, struct gb_err *err) {
	struct record *record = find_alive(manager, session, err);
	return record && gb_session_send(record->session, bytes, n, err);
}

bool gb_manager_get(
    struct gb_manager *manager, const char *session, struct gb_session_info *ret, struct gb_err *err) {
	struct record *record = find(manager, session, err);
	if (!record)
		return false;
	describe(record, ret);
	return true;
}

static bool find_at(struct gb_list *list, const char *conversation, size_t *i, struct gb_session_info *ret) {
	gb_list_each(struct record, record, list, link) {
		if (conversation && strcmp(record->conversation, conversation) != 0)
			continue;
		if ((*i)-- > 0)
			continue;
		describe(record, ret);
		return true;
	}
	return false;
}

bool gb_manager_at(
    struct gb_manager *manager, const char *conversation, size_t i, struct gb_session_info *ret) {
	return find_at(&manager->records, conversation, &i, ret) ||
	       find_at(&manager->ended, conversation, &i, ret);
}

bool gb_manager_kill(
    struct gb_manager *manager, const char *session, const char *reason, struct gb_err *err) {
	struct record *record = find(manager, session, err);
	if (!record)
		return false;
	if (is_alive(record))
		kill_record(record, reason ? reason : "killed by the caller");
	return true;
}

unsigned gb_manager_cleanup(struct gb_manager *manager, const char *conversation, const char *reason) {
	unsigned n = 0;
	for (bool again = true; again;) {
		again = false;
		gb_list_each(struct record, record, &manager->records, link) {
			if (!is_alive(record) || strcmp(record->conversation, conversation) != 0)
				continue;
			kill_record(record, reason ? reason : "its conversation has ended");
			n++;
			again = true;
			break;
		}
	}
	return n;
}

bool gb_manager_trust(struct gb_manager *manager, const char *session, bool trusted, struct gb_err *err) {
	struct record *record = find_alive(manager, session, err);
	if (record)
		record->trusted = trusted;
	return record;
}

bool gb_manager_add_tokens(
    struct gb_manager *manager, const char *session, uint64_t tokens, struct gb_err *err) {
	struct record *record = find_alive(manager, session, err);
	if (record && __builtin_add_overflow(record->tokens, tokens, &record->tokens))
		record->tokens = UINT64_MAX;
	return record;
}
