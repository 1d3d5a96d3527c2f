#include "store/approvals.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "store/approval_parts.h"
#include "store/state.h"

static const char *const migrations[] = {
    "CREATE TABLE approval(seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " hash BLOB NOT NULL, state INTEGER NOT NULL, trusts INTEGER NOT NULL DEFAULT 0,"
    " created INTEGER NOT NULL, expires INTEGER NOT NULL, decided INTEGER NOT NULL DEFAULT 0,"
    " used INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " decider BLOB NOT NULL DEFAULT x'', reason BLOB NOT NULL DEFAULT x'', token BLOB NOT NULL,"
    " face BLOB NOT NULL, purpose BLOB NOT NULL, runtime BLOB NOT NULL, session BLOB NOT NULL,"
    " conversation BLOB NOT NULL, policy BLOB NOT NULL, code BLOB NOT NULL, inputs BLOB NOT NULL,"
    " permissions BLOB NOT NULL, limits BLOB NOT NULL);"
    "CREATE INDEX approval_by_state ON approval(state, expires);"
    "CREATE INDEX approval_by_hash ON approval(hash);"
    "CREATE INDEX approval_by_change ON approval(changed, seq);"
    /* The number of the last writing transaction; rows changed in it store this number. */
    "CREATE TABLE approval_turn(one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL);"
    "INSERT INTO approval_turn VALUES (1, 0);"
    "CREATE TABLE trust(seq INTEGER PRIMARY KEY AUTOINCREMENT, conversation BLOB NOT NULL,"
    " runtime BLOB NOT NULL, session BLOB NOT NULL, permissions BLOB NOT NULL, policy BLOB NOT NULL,"
    " given INTEGER NOT NULL, decider BLOB NOT NULL, approval TEXT NOT NULL,"
    " UNIQUE (conversation, runtime, session, permissions, policy))",
};

static const struct gb_approvals_options defaults = {
    .timeout_ms = 300000,
    .use_ms = 300000,
    .trust_ms = UINT64_C(12) * 3600000,
    .max_pending = 100,
    .max_pending_conversation = 10,
    .max_code = 1 << 20,
    .max_inputs = 1 << 20,
    .keep_ms = UINT64_C(30) * 86400000,
    .keep_bytes = 64 << 20,
    .keep_count = 1000,
};

static const char *const state_names[] = {"pending", "approved", "denied", "expired", "withdrawn"};

const char *gb_approval_state_name(enum gb_approval_state state) {
	return state_names[state];
}

static const char *const use_names[] = {
    "granted", "pending", "denied", "expired", "withdrawn", "changed", "used", "stale"};

const char *gb_use_name(enum gb_use use) {
	return use_names[use];
}

int64_t gb_approvals_now(const struct gb_approvals *approvals) {
	if (approvals->options.now_ms)
		return approvals->options.now_ms();
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- opening --- */

#define OR_DEFAULT(options, member)                                                                          \
	((options)->member = (options)->member ? (options)->member : defaults.member)

static void apply_defaults(struct gb_approvals_options *to, const struct gb_approvals_options *from) {
	*to = from ? *from : defaults;
	OR_DEFAULT(to, timeout_ms);
	OR_DEFAULT(to, use_ms);
	OR_DEFAULT(to, trust_ms);
	OR_DEFAULT(to, max_pending);
	OR_DEFAULT(to, max_pending_conversation);
	OR_DEFAULT(to, max_code);
	OR_DEFAULT(to, max_inputs);
	OR_DEFAULT(to, keep_ms);
	OR_DEFAULT(to, keep_bytes);
	OR_DEFAULT(to, keep_count);
}

bool gb_approvals_exist(const char *dir) {
	char path[GB_STATE_PATH + 32];
	snprintf(path, sizeof path, "%s/%s", dir, GB_APPROVALS_DB);
	return access(path, F_OK) == 0;
}

void gb_approvals_set_timeout(struct gb_approvals *approvals, uint64_t timeout_ms) {
	approvals->options.timeout_ms = timeout_ms;
}

void gb_approvals_close(struct gb_approvals *approvals) {
	if (!approvals)
		return;
	gb_db_close(approvals->db);
	gb_close_fd(&approvals->inotify);
	gb_close_fd(&approvals->dir);
	free(approvals);
}

static void close_approvals(struct gb_approvals **approvals) {
	gb_approvals_close(*approvals);
}

static bool read_last_change(struct gb_approvals *approvals, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(approvals->db, "SELECT n FROM approval_turn", &stmt, err) ||
	    !gb_db_step(approvals->db, stmt, &row, err))
		return false;
	approvals->seen_changed = row ? sqlite3_column_int64(stmt, 0) : 0;
	approvals->seen_seq = INT64_MAX;
	return true;
}

bool gb_approvals_open(const char *dir, const struct gb_approvals_options *options,
    struct gb_approvals **ret_approvals, struct gb_err *err) {
	char path[GB_STATE_PATH + 32];
	bool read_only = options && options->read_only;
	if (!gb_chain_init(err) || (!read_only && !gb_state_prepare(dir, err)))
		return false;
	__attribute__((cleanup(close_approvals))) struct gb_approvals *approvals =
	    calloc(1, sizeof *approvals);
	if (!approvals)
		return gb_fail(err, GB_ENOMEM, 0, "open the approvals");
	apply_defaults(&approvals->options, options);
	approvals->inotify = approvals->watch = -1;
	approvals->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (approvals->dir < 0)
		return gb_fail(
		    err, errno == ENOENT ? GB_ENOENT : GB_ESYSTEM, errno, "open the folder '%s'", dir);
	snprintf(path, sizeof path, "%s/%s", dir, GB_APPROVALS_DB);
	/* Durable: a used approval must not become usable again after power loss. */
	struct gb_db_options db = {.migrations = migrations,
	    .n_migrations = GB_COUNT(migrations),
	    .read_only = read_only,
	    .durable = true,
	    .busy_ms = approvals->options.busy_ms};
	if (!gb_db_open(path, &db, &approvals->db, err) || !gb_db_check_schema(approvals->db, err) ||
	    !read_last_change(approvals, err))
		return gb_wrap(err, "open the approvals");
	*ret_approvals = gb_take_pointer(&approvals);
	return true;
}

/* --- transactions --- */

static bool run_with_now(struct gb_approvals *approvals, const char *sql, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db, sql, &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, gb_approvals_now(approvals));
	return gb_db_run(approvals->db, stmt, err);
}

/* An approval from the future counts as expired: the clock was set back, so its age is unknown. */
static bool expire_due(struct gb_approvals *approvals, struct gb_err *err) {
	return run_with_now(approvals,
	    "UPDATE approval SET state = 3, decided = ?1, changed = (SELECT n + 1 FROM approval_turn) "
	    "WHERE state = 0 AND (expires <= ?1 OR created > ?1 + 60000)",
	    err);
}

static bool count_change(struct gb_approvals *approvals, int changes_before, struct gb_err *err) {
	return sqlite3_total_changes(gb_db_handle(approvals->db)) == changes_before ||
	       gb_db_exec(approvals->db, "UPDATE approval_turn SET n = n + 1", err);
}

bool gb_approvals_transaction(
    struct gb_approvals *approvals, gb_approvals_work work, void *data, struct gb_err *err) {
	if (approvals->options.read_only)
		return gb_fail(err, GB_EINVAL, 0, "the approvals were opened for reading only");
	if (!gb_db_begin(approvals->db, err))
		return false;
	int before = sqlite3_total_changes(gb_db_handle(approvals->db));
	if (!expire_due(approvals, err) || (work && !work(approvals, data, err)) ||
	    !count_change(approvals, before, err)) {
		gb_db_rollback(approvals->db);
		return false;
	}
	bool has_changed = sqlite3_total_changes(gb_db_handle(approvals->db)) != before;
	if (!gb_db_commit(approvals->db, err))
		return false;
	if (has_changed)
		gb_approvals_notify(approvals);
	return true;
}

/* --- submitting --- */

struct submission {
	const struct gb_approval_request *request;
	struct gb_approval_ticket ticket;
};

/* Count the pending approvals: all of them, or those of @conversation if it is not NULL. */
static bool count_pending(
    struct gb_approvals *approvals, const struct gb_str *conversation, uint64_t *ret_n, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(approvals->db,
		conversation ? "SELECT count(*) FROM approval WHERE state = 0 AND conversation = ?"
			     : "SELECT count(*) FROM approval WHERE state = 0",
		&stmt, err))
		return false;
	if (conversation)
		gb_bind_text(stmt, 1, *conversation);
	if (!gb_db_step(approvals->db, stmt, &row, err))
		return false;
	*ret_n = (uint64_t)sqlite3_column_int64(stmt, 0);
	return true;
}

static bool check_pending_limits(
    struct gb_approvals *approvals, const struct gb_approval_request *request, struct gb_err *err) {
	uint64_t all, here;
	if (!count_pending(approvals, NULL, &all, err) ||
	    !count_pending(approvals, &request->conversation, &here, err))
		return false;
	if (all >= approvals->options.max_pending)
		return gb_fail(err, GB_ELIMIT, 0,
		    "%llu approvals are pending, which is the maximum: decide some ('glovebox approvals "
		    "watch')",
		    (unsigned long long)all);
	if (here >= approvals->options.max_pending_conversation)
		return gb_fail(err, GB_ELIMIT, 0,
		    "%llu approvals are pending in this conversation, which is the maximum: wait for them",
		    (unsigned long long)here);
	return true;
}

/* Delete decided approvals that are too old, too many or too large in total. Usable ones stay. */
static bool prune(struct gb_approvals *approvals, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db,
		"DELETE FROM approval WHERE seq IN (SELECT seq FROM (SELECT seq, decided, count(*) OVER "
		"newer "
		"AS n, sum(bytes) OVER newer AS total FROM approval WHERE state != 0 AND NOT (state = 1 AND "
		"used "
		"= 0 AND decided > ?1) WINDOW newer AS (ORDER BY seq DESC)) WHERE decided < ?2 OR n > ?3 OR "
		"total > ?4)",
		&stmt, err))
		return false;
	int64_t now = gb_approvals_now(approvals);
	sqlite3_bind_int64(stmt, 1, now - (int64_t)approvals->options.use_ms);
	sqlite3_bind_int64(stmt, 2, now - (int64_t)approvals->options.keep_ms);
	sqlite3_bind_int64(stmt, 3, approvals->options.keep_count);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)approvals->options.keep_bytes);
	return gb_db_run(approvals->db, stmt, err);
}

static bool insert(struct gb_approvals *approvals, struct submission *submission, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	struct gb_approval_request request = *submission->request;
	struct gb_approval_ticket *ticket = &submission->ticket;
	uint8_t random[GB_APPROVAL_ID / 2];
	if (!gb_db_prepare(approvals->db,
		"INSERT INTO approval(state, changed, id, hash, created, expires, bytes, token, face, "
		"purpose, "
		"runtime, session, conversation, policy, code, inputs, permissions, limits) VALUES (0, "
		"(SELECT n "
		"+ 1 FROM approval_turn), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		&stmt, err))
		return false;
	int64_t now = gb_approvals_now(approvals);
	randombytes_buf(random, sizeof random);
	sodium_bin2hex(ticket->id, sizeof ticket->id, random, sizeof random);
	ticket->expires_ms = now + (int64_t)approvals->options.timeout_ms;
	size_t bytes = 0;
	for (size_t i = 0; i < gb_approval_n_fields; i++) {
		struct gb_str text = *gb_approval_text(&request, &gb_approval_fields[i]);
		gb_bind_text(stmt, 6 + (int)i, text);
		bytes += text.n;
	}
	sqlite3_bind_text(stmt, 1, ticket->id, -1, SQLITE_STATIC);
	sqlite3_bind_blob(stmt, 2, ticket->hash.bytes, sizeof ticket->hash.bytes, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 3, now);
	sqlite3_bind_int64(stmt, 4, ticket->expires_ms);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)bytes);
	return gb_db_run(approvals->db, stmt, err);
}

static bool is_stale(const struct gb_approvals *approvals, const struct gb_approval *approval) {
	int64_t age = gb_approvals_now(approvals) - approval->decided_ms;
	return age < -60000 || age >= (int64_t)approvals->options.use_ms;
}

static bool is_open(const struct gb_approvals *approvals, const struct gb_approval *approval) {
	return approval->state == GB_APPROVAL_PENDING ||
	       (approval->state == GB_APPROVAL_APPROVED && !approval->used_ms &&
		   !is_stale(approvals, approval));
}

static bool submit_in_transaction(struct gb_approvals *approvals, void *data, struct gb_err *err) {
	struct submission *submission = data;
	gb_auto_approval struct gb_approval *old = NULL;
	struct gb_err none = {0};
	if (!gb_approval_find(approvals, submission->request, &old, &none) && none.code != GB_ENOENT) {
		*err = none;
		return false;
	}
	if (old && is_open(approvals, old)) {
		memcpy(submission->ticket.id, old->id, sizeof old->id);
		submission->ticket.expires_ms = old->expires_ms;
		submission->ticket.existed = true;
		return true;
	}
	return check_pending_limits(approvals, submission->request, err) &&
	       insert(approvals, submission, err) && prune(approvals, err);
}

bool gb_approval_submit(struct gb_approvals *approvals, const struct gb_approval_request *request,
    struct gb_approval_ticket *ret_ticket, struct gb_err *err) {
	struct submission submission = {.request = request};
	struct gb_err ours = {0};
	gb_approval_hash(request, &submission.ticket.hash);
	if (!gb_approval_check(approvals, request, &ours) ||
	    !gb_approvals_transaction(approvals, submit_in_transaction, &submission, &ours)) {
		if (err)
			*err = ours;
		return gb_wrap(err, "ask for approval");
	}
	*ret_ticket = submission.ticket;
	return true;
}

bool gb_approval_matches(struct gb_approvals *approvals, const char *id,
    const struct gb_approval_request *request, bool *ret_matches, struct gb_err *err) {
	gb_auto_approval struct gb_approval *approval = NULL;
	struct gb_hash hash;
	if (!gb_approval_get(approvals, id, &approval, err))
		return false;
	gb_approval_hash(request, &hash);
	*ret_matches = gb_hash_eq(&hash, &approval->hash);
	return true;
}

/* --- deciding, using, withdrawing --- */

/* Run one statement about one approval: ?1 is its id, ?2 the time. */
static bool change(struct gb_approvals *approvals, const char *sql, const char *id, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db, sql, &stmt, err))
		return false;
	sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, gb_approvals_now(approvals));
	return gb_db_run(approvals->db, stmt, err);
}

struct use {
	const char *id;
	const struct gb_hash *hash;
	enum gb_use use;
};

static enum gb_use evaluate_use(
    const struct gb_approvals *approvals, const struct gb_approval *approval, const struct gb_hash *hash) {
	static const enum gb_use by_state[] = {[GB_APPROVAL_PENDING] = GB_USE_PENDING,
	    [GB_APPROVAL_DENIED] = GB_USE_DENIED,
	    [GB_APPROVAL_EXPIRED] = GB_USE_EXPIRED,
	    [GB_APPROVAL_WITHDRAWN] = GB_USE_WITHDRAWN};
	if (!gb_hash_eq(hash, &approval->hash))
		return GB_USE_CHANGED;
	if (approval->state != GB_APPROVAL_APPROVED)
		return by_state[approval->state];
	if (approval->used_ms)
		return GB_USE_USED;
	return is_stale(approvals, approval) ? GB_USE_STALE : GB_USE_GRANTED;
}

static bool use_in_transaction(struct gb_approvals *approvals, void *data, struct gb_err *err) {
	struct use *use = data;
	gb_auto_approval struct gb_approval *approval = NULL;
	if (!gb_approval_get(approvals, use->id, &approval, err))
		return false;
	use->use = evaluate_use(approvals, approval, use->hash);
	return use->use != GB_USE_GRANTED ||
	       change(approvals,
		   "UPDATE approval SET used = ?2, changed = (SELECT n + 1 FROM approval_turn) WHERE id = ?1",
		   approval->id, err);
}

bool gb_approval_use(struct gb_approvals *approvals, const char *id,
    const struct gb_approval_request *request, enum gb_use *ret_use, struct gb_err *err) {
	struct gb_hash hash;
	gb_approval_hash(request, &hash);
	return gb_approval_use_hash(approvals, id, &hash, ret_use, err);
}

bool gb_approval_use_hash(struct gb_approvals *approvals, const char *id, const struct gb_hash *hash,
    enum gb_use *ret_use, struct gb_err *err) {
	struct use use = {.id = id, .hash = hash};
	if (!gb_approvals_transaction(approvals, use_in_transaction, &use, err))
		return gb_wrap(err, "use an approval");
	*ret_use = use.use;
	return true;
}

struct withdrawal {
	const char *id;
	bool was_open;
};

static bool withdraw_in_transaction(struct gb_approvals *approvals, void *data, struct gb_err *err) {
	struct withdrawal *withdrawal = data;
	gb_auto_approval struct gb_approval *approval = NULL;
	if (!gb_approval_get(approvals, withdrawal->id, &approval, err))
		return false;
	withdrawal->was_open = is_open(approvals, approval);
	return !withdrawal->was_open ||
	       change(approvals,
		   "UPDATE approval SET state = 4, decided = ?2, changed = (SELECT n + 1 FROM approval_turn) "
		   "WHERE id = ?1",
		   approval->id, err);
}

bool gb_approval_withdraw(
    struct gb_approvals *approvals, const char *id, bool *ret_was_open, struct gb_err *err) {
	struct withdrawal withdrawal = {.id = id};
	if (!gb_approvals_transaction(approvals, withdraw_in_transaction, &withdrawal, err))
		return gb_wrap(err, "withdraw an approval");
	*ret_was_open = withdrawal.was_open;
	return true;
}

struct deciding {
	const char *id;
	const struct gb_decision *decision;
	struct gb_standing standing;
};

static bool write_decision(struct gb_approvals *approvals, const struct gb_approval *approval,
    const struct gb_decision *decision, int64_t now, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db,
		"UPDATE approval SET state = ?2, trusts = ?3, decided = ?4, decider = ?5, reason = ?6, "
		"changed = (SELECT n + 1 FROM approval_turn) WHERE id = ?1 AND state = 0",
		&stmt, err))
		return false;
	sqlite3_bind_text(stmt, 1, approval->id, -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 2, decision->verdict == GB_DENY ? GB_APPROVAL_DENIED : GB_APPROVAL_APPROVED);
	sqlite3_bind_int(stmt, 3, decision->verdict == GB_TRUST);
	sqlite3_bind_int64(stmt, 4, now);
	gb_bind_text(stmt, 5, decision->decider);
	gb_bind_text(stmt, 6, decision->reason);
	return gb_db_run(approvals->db, stmt, err) &&
	       (decision->verdict != GB_TRUST || gb_trust_add(approvals, approval, decision->decider, err));
}

static void fill_standing(struct gb_standing *standing, const struct gb_approval *approval) {
	*standing = (struct gb_standing){
	    .state = approval->state, .trusts = approval->trusts, .decided_ms = approval->decided_ms};
	snprintf(standing->decider, sizeof standing->decider, "%.*s", GB_STR_ARG(approval->decider));
	snprintf(standing->reason, sizeof standing->reason, "%.*s", GB_STR_ARG(approval->reason));
}

static bool decide_in_transaction(struct gb_approvals *approvals, void *data, struct gb_err *err) {
	struct deciding *deciding = data;
	const struct gb_decision *decision = deciding->decision;
	gb_auto_approval struct gb_approval *approval = NULL;
	if (!gb_approval_get(approvals, deciding->id, &approval, err))
		return false;
	if (!gb_hash_eq(&approval->hash, &decision->hash))
		return gb_fail(err, GB_EINVAL, 0, "hash: does not match approval %s; show the request again",
		    approval->id);
	if (decision->verdict == GB_TRUST && approval->request.conversation.n == 0)
		return gb_fail(err, GB_EINVAL, 0,
		    "approval %s belongs to no conversation, so there is nothing to trust; approve it alone",
		    approval->id);
	if (approval->state != GB_APPROVAL_PENDING) {
		fill_standing(&deciding->standing, approval);
		return true;
	}
	int64_t now = gb_approvals_now(approvals);
	if (!write_decision(approvals, approval, decision, now, err))
		return false;
	approval->state = decision->verdict == GB_DENY ? GB_APPROVAL_DENIED : GB_APPROVAL_APPROVED;
	approval->trusts = decision->verdict == GB_TRUST;
	approval->decided_ms = now;
	approval->decider = decision->decider;
	approval->reason = decision->reason;
	fill_standing(&deciding->standing, approval);
	deciding->standing.is_mine = true;
	return true;
}

bool gb_approval_decide(struct gb_approvals *approvals, const char *id, const struct gb_decision *decision,
    struct gb_standing *ret_standing, struct gb_err *err) {
	struct deciding deciding = {.id = id, .decision = decision};
	if (decision->decider.n == 0)
		return gb_fail(err, GB_EINVAL, 0, "decider: is missing; a decision must name its decider");
	if (!gb_approval_check_text("decider", decision->decider, GB_APPROVAL_DECIDER_MAX, err) ||
	    !gb_approval_check_text("reason", decision->reason, GB_APPROVAL_REASON_MAX, err) ||
	    !gb_approvals_transaction(approvals, decide_in_transaction, &deciding, err))
		return gb_wrap(err, "decide");
	*ret_standing = deciding.standing;
	return true;
}
