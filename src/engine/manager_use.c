/* The public interface of the session manager. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "engine/manager.h"

/* --- opening --- */

static bool copy_text(char *to, size_t size, const char *field, const char *text, struct gb_err *err) {
	if (text && strlen(text) >= size)
		return gb_fail_field(err, GB_EINVAL, field, "has at most %zu bytes", size - 1);
	snprintf(to, size, "%s", text ? text : "");
	return true;
}

/* A name that can be typed, and is not mistaken for an option. */
static bool check_name(struct gb_manager *manager, const char *name, struct gb_err *err) {
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	if (!name)
		return true;
	if (!*name || name[0] == '-' || strspn(name, letters) != strlen(name))
		return gb_fail_field(err, GB_EINVAL, "name",
		    "'%.64s' is not a name: use letters, digits, '.', '_' and '-', and begin with another "
		    "character than '-'",
		    name);
	return !gb_record_find_in(&manager->records, name, true) ||
	       gb_fail_field(err, GB_EINVAL, "name", "there is a session '%s' already", name);
}

/* Live sessions only; records of dead ones may still be listed. */
static unsigned count_of(const struct gb_manager *manager, const char *conversation) {
	unsigned n = 0;
	gb_list_each(struct gb_record, record, &manager->records, link) n +=
	    gb_record_is_alive(record) && (!conversation || strcmp(record->conversation, conversation) == 0);
	return n;
}

unsigned gb_manager_count(const struct gb_manager *manager) {
	return count_of(manager, NULL);
}

static bool check_room(struct gb_manager *manager, const char *conversation, struct gb_err *err) {
	if (!manager->engine)
		return gb_fail(err, GB_EINVAL, 0, "the engine has ended");
	unsigned n = gb_manager_count(manager);
	if (n >= manager->options.max_sessions)
		return gb_fail(err, GB_ELIMIT, 0,
		    "sessions: %u are open, which is the limit; end one before opening another", n);
	n = *conversation ? count_of(manager, conversation) : 0;
	return n < manager->options.max_per_conversation ||
	       gb_fail(err, GB_ELIMIT, 0,
		   "sessions: conversation '%s' has %u, which is the limit; end one before opening another",
		   conversation, n);
}

static void make_id(char id[33]) {
	uint8_t bytes[16];
	while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		;
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* Ids are never reused: trust decisions and records refer to them. */
static bool check_id(struct gb_manager *manager, const char *id, struct gb_err *err) {
	struct gb_list *lists[] = {&manager->records, &manager->ended};
	if (!id)
		return true;
	if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32)
		return gb_fail_field(err, GB_EINVAL, "id", "'%.64s' is not 32 hexadecimal digits", id);
	for (size_t i = 0; i < GB_COUNT(lists); i++)
		gb_list_each(struct gb_record, record, lists[i], link) {
			if (strcmp(record->id, id) == 0)
				return gb_fail_field(
				    err, GB_EINVAL, "id", "there is or was a session '%s'", id);
		}
	return true;
}

static bool init_record(struct gb_record *record, const struct gb_session_asked *asked, struct gb_err *err) {
	if (asked->id)
		memcpy(record->id, asked->id, sizeof record->id);
	else
		make_id(record->id);
	record->language = asked->language;
	gb_record_touch(record);
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

enum { NET_MAX = 128 << 10 };

/* The hosts as one text. NULL without hosts, and without memory. */
static char *join_net(const struct gb_value *net) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, NET_MAX);
	for (size_t i = 0; i < gb_value_count(net); i++) {
		size_t n = 0;
		const char *host = gb_value_bytes(gb_value_at(net, i), &n);
		gb_buf_printf(&text, "%s%.*s", i ? "," : "", host ? (int)n : 0, host ? host : "");
	}
	return text.len && gb_buf_c_str(&text) ? strdup(text.data) : NULL;
}

static bool keep_net(struct gb_record *record, const struct gb_value *net, struct gb_err *err) {
	record->net = join_net(net);
	return record->net || !gb_value_count(net) || gb_fail_field(err, GB_ELIMIT, "net", "is too long");
}

/* The directory of its session, as it was found: "DIR", "DIR:rw". */
static bool keep_workdir(struct gb_record *record, struct gb_err *err) {
	const struct gb_session *session = record->session;
	const struct gb_workdir *workdir = gb_workplace_dir(session->engine, session->place);
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, PATH_MAX + 8);
	if (workdir)
		gb_workdir_describe(workdir, &text);
	record->workdir = workdir && gb_buf_c_str(&text) ? strdup(text.data) : NULL;
	return !workdir || record->workdir || gb_fail(err, GB_ENOMEM, 0, "a session");
}

static bool has_workdir(const struct gb_record *record, const char *asked) {
	struct gb_workdir workdir;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, PATH_MAX + 8);
	if (!asked || !record->workdir)
		return !asked && !record->workdir;
	if (!gb_workdir_open(asked, &workdir, &(struct gb_err){0}))
		return false;
	gb_workdir_describe(&workdir, &text);
	gb_workdir_finish(&workdir);
	const char *wanted = gb_buf_c_str(&text);
	return wanted && strcmp(wanted, record->workdir) == 0;
}

static bool has_net(const struct gb_record *record, const struct gb_value *net) {
	gb_auto_free char *wanted = join_net(net);
	return strcmp(record->net ? record->net : "", wanted ? wanted : "") == 0;
}

bool gb_manager_open(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err) {
	const char *conversation = asked->conversation ? asked->conversation : "";
	if (!check_name(manager, asked->name, err) || !check_id(manager, asked->id, err) ||
	    !check_room(manager, conversation, err))
		return false;
	struct gb_record *record = calloc(1, sizeof *record);
	if (!record)
		return gb_fail(err, GB_ENOMEM, 0, "a session");
	record->manager = manager;
	record->idle_ms = manager->options.idle_ms;
	record->max_age_ms = manager->options.max_age_ms;
	gb_list_init(&record->queue);
	gb_list_init(&record->exposed);
	if (!init_record(record, asked, err) || !keep_net(record, asked->net, err) ||
	    !gb_session_open_in(manager->engine, asked->language, asked->profile, asked->net, asked->workdir,
		&record->session, err) ||
	    !keep_workdir(record, err)) {
		gb_session_close(record->session);
		free(record->net);
		free(record);
		return false;
	}
	record->session->on_change = gb_record_on_change;
	record->session->data = record;
	gb_list_append(&manager->records, &record->link);
	gb_manager_wake(manager);
	gb_record_describe(record, ret);
	return true;
}

const struct gb_value *gb_manager_hosts(struct gb_manager *manager, const char *session) {
	const struct gb_record *record = gb_record_find_alive(manager, session, NULL);
	return record && record->session ? record->session->net : NULL;
}

static bool matches(const struct gb_record *record, const struct gb_session_asked *asked) {
	return gb_record_is_alive(record) && record->language == asked->language &&
	       strcmp(record->conversation, asked->conversation ? asked->conversation : "") == 0 &&
	       strcmp(record->profile, asked->profile ? asked->profile : "") == 0 &&
	       has_net(record, asked->net) && has_workdir(record, asked->workdir);
}

/* *ret_found is NULL if no session matches. */
static bool find_matching(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_record **ret_found, struct gb_err *err) {
	struct gb_record *found =
	    asked->name ? gb_record_find_in(&manager->records, asked->name, true) : NULL;
	if (found && !matches(found, asked))
		return gb_fail_field(err, GB_EINVAL, "name",
		    "'%s' is a session of another language, profile or conversation, or of other hosts or "
		    "another working "
		    "directory",
		    asked->name);
	gb_list_each(struct gb_record, record, &manager->records, link) {
		if (!found && !asked->name && matches(record, asked))
			found = record;
	}
	*ret_found = found;
	return true;
}

bool gb_manager_get_or_create(struct gb_manager *manager, const struct gb_session_asked *asked,
    struct gb_session_info *ret, struct gb_err *err) {
	struct gb_record *found = NULL;
	if (!find_matching(manager, asked, &found, err))
		return false;
	if (!found)
		return gb_manager_open(manager, asked, ret, err);
	gb_record_describe(found, ret);
	return true;
}

bool gb_manager_find(struct gb_manager *manager, const struct gb_session_asked *asked, bool *ret_found,
    struct gb_session_info *ret, struct gb_err *err) {
	struct gb_record *found = NULL;
	if (!find_matching(manager, asked, &found, err))
		return false;
	if (!found && !(check_name(manager, asked->name, err) && check_id(manager, asked->id, err) &&
			  check_room(manager, asked->conversation ? asked->conversation : "", err) &&
			  gb_session_check_language(asked->language, err)))
		return false;
	*ret_found = found;
	if (found)
		gb_record_describe(found, ret);
	return true;
}

/* --- using --- */

/* *ret_waits: it has to wait for earlier runs. */
static bool check_queue(
    const struct gb_record *record, const char *session, bool *ret_waits, struct gb_err *err) {
	struct gb_session_info info;
	gb_record_describe(record, &info);
	*ret_waits = info.queued || info.state != GB_SESSION_IDLE;
	if (*ret_waits && info.queued >= record->manager->options.max_queue)
		return gb_fail_field(err, GB_ELIMIT, "session",
		    "%u runs wait for '%s' already, which is the limit; try again when some have "
		    "ended",
		    info.queued, session);
	return true;
}

bool gb_manager_create_run(struct gb_manager *manager, const char *session, struct gb_run_options *options,
    struct gb_run **ret, char ret_session[33], struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	bool waits;
	if (!record || !check_queue(record, session, &waits, err))
		return false;
	struct gb_run_options asked = *options;
	asked.session = record->session;
	asked.language = record->session->language;
	asked.profile = *record->profile ? record->profile : NULL;
	struct gb_run *run = gb_run_create(manager->engine, &asked, err);
	if (!run)
		return false;
	/* It may be used after the record was freed, and nothing of the profile is part of the job. */
	asked.profile = NULL;
	*options = asked;
	memcpy(ret_session, record->id, sizeof record->id);
	*ret = run;
	return true;
}

bool gb_manager_begin_run(
    struct gb_manager *manager, const char *session, struct gb_run *run, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	bool waits;
	if (!record || !check_queue(record, session, &waits, err))
		return false;
	if (!waits)
		return gb_record_begin(record, run, err);
	gb_list_append(&record->queue, &run->link);
	return true;
}

bool gb_manager_execute(struct gb_manager *manager, const char *session, const struct gb_run_options *options,
    struct gb_run **ret, struct gb_err *err) {
	struct gb_run_options asked = *options;
	struct gb_run *run;
	char id[33];
	if (!gb_manager_create_run(manager, session, &asked, &run, id, err))
		return false;
	if (!gb_run_encode(run, &asked, err) || !gb_manager_begin_run(manager, id, run, err)) {
		gb_run_destroy(run);
		return false;
	}
	*ret = run;
	return true;
}

bool gb_manager_interrupt(struct gb_manager *manager, const char *session, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	if (!record)
		return false;
	return (record->session->run && gb_run_interrupt(record->session->run)) ||
	       gb_fail_field(err, GB_EINVAL, "session",
		   "nothing executes in '%s', or it was interrupted already", session);
}

bool gb_manager_get(
    struct gb_manager *manager, const char *session, struct gb_session_info *ret, struct gb_err *err) {
	struct gb_record *record = gb_record_find(manager, session, err);
	if (!record)
		return false;
	gb_record_describe(record, ret);
	return true;
}

static bool find_at(struct gb_list *list, const char *conversation, size_t *i, struct gb_session_info *ret) {
	gb_list_each(struct gb_record, record, list, link) {
		if (conversation && strcmp(record->conversation, conversation) != 0)
			continue;
		if ((*i)-- > 0)
			continue;
		gb_record_describe(record, ret);
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
	struct gb_record *record = gb_record_find(manager, session, err);
	if (!record)
		return false;
	if (gb_record_is_alive(record))
		gb_record_kill(record, reason ? reason : "killed by the caller");
	return true;
}

unsigned gb_manager_cleanup(struct gb_manager *manager, const char *conversation, const char *reason) {
	unsigned n = 0;
	for (bool again = true; again;) {
		again = false;
		gb_list_each(struct gb_record, record, &manager->records, link) {
			if (!gb_record_is_alive(record) || strcmp(record->conversation, conversation) != 0)
				continue;
			gb_record_kill(record, reason ? reason : "its conversation has ended");
			n++;
			again = true;
			break;
		}
	}
	return n;
}

bool gb_manager_trust(struct gb_manager *manager, const char *session, bool trusted, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	if (record)
		record->trusted = trusted;
	return record;
}

bool gb_manager_add_tokens(
    struct gb_manager *manager, const char *session, uint64_t tokens, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	if (record && __builtin_add_overflow(record->tokens, tokens, &record->tokens))
		record->tokens = UINT64_MAX;
	return record;
}
