/* The stores of a gate. Sections marked "on the thread" run on the thread of the worker. */
#include "gate/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/db.h"

/* One for each database, so that a lock on one does not delay the others. */
enum lane { LANE_SETTINGS, LANE_TURNS, LANE_ENERGY, LANE_APPROVALS, LANE_AUDIT, LANES };

enum { OPS_MAX = 1 << 14, PAUSE_MS = 20, RETRY_MS = 1000 };
#define MS_NS 1000000ull

struct gb_reservation {
	struct gb_audit_ticket ticket;
};

struct gb_stores {
	struct gb_worker *worker;
	struct gb_gate *gate;
	unsigned busy_ms;
	void (*on_trouble)(struct gb_store_op *op);
	/* The rest belongs to the thread. */
	/* The options that were adopted last; .dir and .audit are empty until agents were enabled. */
	struct gb_stores_options options;
	struct gb_turns *turns;
	struct gb_energy *energy;       /* NULL if disabled */
	struct gb_approvals *approvals; /* NULL if no person ever had to be asked */
	struct gb_audit *audit;
	uint64_t busy_since; /* ns: since when records wait for a lock of another process; 0: they do not */
	uint64_t next_write; /* ns: next attempt to write records, after one that failed; 0: none has */
	uint64_t next_prune; /* the same for pruning */
};

/* On the thread of the gate. */
static void on_done(struct gb_work *work) {
	struct gb_store_op *op = gb_container(struct gb_store_op, work, work);
	if (op->then)
		op->then(op);
	gb_store_op_destroy(op);
}

/* --- opening, on the thread --- */

/* Opened again for each configuration: all processes share the rules, and the last configuration wins. */
static bool open_energy(
    struct gb_stores *stores, const struct gb_stores_options *options, struct gb_err *err) {
	struct gb_energy *energy = NULL;
	if (options->has_energy && !gb_energy_open(options->dir, &options->energy, &energy, err))
		return false;
	gb_energy_close(stores->energy);
	stores->energy = energy;
	return true;
}

/* Once opened, the approvals stay open even if no person has to be asked any more: trust must be revoked when
 * the rules change, also by rules that disable agents. */
static bool open_approvals(
    struct gb_stores *stores, const struct gb_stores_options *options, struct gb_err *err) {
	const struct gb_approvals_options approvals = {
	    .timeout_ms = options->approval_timeout_ms, .busy_ms = GB_DB_NO_WAIT};
	const char *dir = options->enabled ? options->dir : stores->options.dir;
	uint64_t revoked;
	int fd;
	if (!stores->approvals && !options->enabled && !(*dir && gb_approvals_exist(dir)))
		return true;
	if ((!stores->approvals && !gb_approvals_open(dir, &approvals, &stores->approvals, err)) ||
	    !gb_approvals_fd(stores->approvals, &fd, err) ||
	    !gb_trust_revoke_policy(stores->approvals, gb_str_from(options->policy), &revoked, err))
		return false;
	gb_approvals_set_timeout(stores->approvals, options->approval_timeout_ms);
	return true;
}

static bool open_turns(
    struct gb_stores *stores, const struct gb_stores_options *options, struct gb_err *err) {
	if (stores->turns)
		return true;
	if (!gb_turns_open(options->dir, &stores->turns, err))
		return false;
	gb_turns_set_busy(stores->turns, GB_DB_NO_WAIT);
	return true;
}

static bool open_audit(
    struct gb_stores *stores, const struct gb_stores_options *options, struct gb_err *err) {
	const struct gb_audit_options audit = {.keep_ms = options->keep_ms,
	    .keep_bytes = options->keep_bytes,
	    .busy_ms = GB_DB_NO_WAIT,
	    .prunes_later = true};
	if (!stores->audit)
		return gb_audit_open(options->audit, &audit, &stores->audit, err);
	gb_audit_keep(stores->audit, options->keep_ms, options->keep_bytes);
	return true;
}

/* The folders of open stores cannot change. */
static bool check_folders(
    const struct gb_stores *stores, const struct gb_stores_options *options, struct gb_err *err) {
	if (!*stores->options.dir)
		return true;
	if (strcmp(stores->options.dir, options->dir) != 0)
		return gb_fail(
		    err, GB_EINVAL, 0, "stateDir: cannot change while the process runs; restart it");
	return strcmp(stores->options.audit, options->audit) == 0 ||
	       gb_fail(
		   err, GB_EINVAL, 0, "audit.directory: cannot change while the process runs; restart it");
}

/* The order matters: a failure must leave the earlier state unchanged. */
static bool open_all(struct gb_stores *stores, const struct gb_stores_options *options, struct gb_err *err) {
	if (!options->enabled)
		return open_approvals(stores, options, err);
	return check_folders(stores, options, err) && gb_state_prepare(options->dir, err) &&
	       open_turns(stores, options, err) && open_audit(stores, options, err) &&
	       open_energy(stores, options, err) && open_approvals(stores, options, err);
}

static void close_all(struct gb_stores *stores) {
	struct gb_err err = {0};
	if (stores->audit) {
		gb_audit_set_busy(stores->audit, stores->busy_ms);
		gb_audit_close(stores->audit, &err);
	}
	gb_turns_close(stores->turns);
	gb_approvals_close(stores->approvals);
	gb_energy_close(stores->energy);
	stores->audit = NULL;
	stores->turns = NULL;
	stores->approvals = NULL;
	stores->energy = NULL;
}

static void revert(struct gb_stores *stores) {
	struct gb_err ignored;
	if (*stores->options.dir)
		open_all(stores, &stores->options, &ignored);
	else
		close_all(stores);
}

static bool adopt(struct gb_stores *stores, struct gb_store_op *op) {
	const struct gb_stores_options *options = op->options;
	if (!open_all(stores, options, &op->err)) {
		if (op->err.code != GB_EBUSY || op->work.is_last)
			revert(stores);
		return false;
	}
	char dir[GB_STATE_PATH], audit[GB_STATE_PATH];
	memcpy(dir, stores->options.dir, sizeof dir);
	memcpy(audit, stores->options.audit, sizeof audit);
	stores->options = *options;
	if (!options->enabled) {
		memcpy(stores->options.dir, dir, sizeof dir);
		memcpy(stores->options.audit, audit, sizeof audit);
	}
	op->open = (struct gb_stores_open){
	    stores->approvals, stores->energy, stores->turns, stores->audit, .approvals_fd = -1};
	return !stores->approvals || gb_approvals_fd(stores->approvals, &op->open.approvals_fd, &op->err);
}

/* --- approvals, on the thread --- */

static bool ask(struct gb_stores *stores, struct gb_store_op *op) {
	struct gb_trust trust = {0};
	struct gb_approval_ticket ticket;
	op->has_looked_up = gb_trust_find(stores->approvals, &op->request, &op->granted, &trust, &op->err);
	if (!op->has_looked_up)
		return false;
	if (op->granted) {
		memcpy(op->decider, trust.decider, sizeof op->decider);
		return true;
	}
	if (!gb_approval_submit(stores->approvals, &op->request, &ticket, &op->err))
		return false;
	memcpy(op->id, ticket.id, sizeof op->id);
	op->expires_ms = ticket.expires_ms;
	return true;
}

/* Who decided, and why. */
static void read_decision(struct gb_stores *stores, struct gb_store_op *op) {
	gb_auto_approval struct gb_approval *approval = NULL;
	struct gb_err err;
	if (!gb_approval_get(stores->approvals, op->id, &approval, &err))
		return;
	snprintf(op->decider, sizeof op->decider, "%.*s", GB_STR_ARG(approval->decider));
	snprintf(op->reason, sizeof op->reason, "%.*s", GB_STR_ARG(approval->reason));
	op->trusts = approval->trusts;
}

static bool use(struct gb_stores *stores, struct gb_store_op *op) {
	if (!gb_approval_use_hash(stores->approvals, op->id, &op->hash, &op->use, &op->err))
		return false;
	if (op->use == GB_USE_GRANTED || op->use == GB_USE_DENIED)
		read_decision(stores, op);
	return true;
}

static bool decide(struct gb_stores *stores, struct gb_store_op *op) {
	struct gb_standing standing;
	const struct gb_decision decision = {.verdict = op->verdict,
	    .hash = op->hash,
	    .decider = gb_str_from(op->decider),
	    .reason = gb_str_from(op->reason)};
	return gb_approval_decide(stores->approvals, op->id, &decision, &standing, &op->err);
}

static bool ignore(void *data, struct gb_approval *approval) {
	return true;
}

/* --- audit records, on the thread --- */

static void on_written(void *data, uint64_t seq) {
	struct gb_store_op *op = data;
	op->ok = seq != 0;
	op->seq = seq;
	gb_worker_finish(op->stores->worker, &op->work);
}

static void release(struct gb_stores *stores, struct gb_store_op *op) {
	if (op->reservation)
		gb_audit_cancel(stores->audit, &op->reservation->ticket);
	free(op->reservation);
	op->reservation = NULL;
}

static bool reserve(struct gb_stores *stores, struct gb_store_op *op) {
	struct gb_reservation *reservation = calloc(1, sizeof *reservation);
	if (!reservation)
		return gb_fail(&op->err, GB_ENOMEM, 0, "an audit record");
	if (!gb_audit_reserve(stores->audit, op->bytes, &reservation->ticket, &op->err)) {
		free(reservation);
		return false;
	}
	op->reservation = reservation;
	return true;
}

static bool queue_record(struct gb_stores *stores, struct gb_store_op *op) {
	struct gb_audit_ticket none = {0}, *ticket = op->reservation ? &op->reservation->ticket : &none;
	switch (op->kind) {
	case GB_STORE_BEGIN:
		return gb_audit_ahead(stores->audit, ticket, op->record, on_written, op, &op->err);
	case GB_STORE_END: {
		bool ok = gb_audit_finish(stores->audit, ticket, op->record, on_written, op, &op->err);
		release(stores, op);
		return ok;
	}
	default:
		return gb_audit_append(stores->audit, op->record, on_written, op, &op->err);
	}
}

static void report_trouble(struct gb_stores *stores, const struct gb_err *err) {
	struct gb_store_op *op = gb_store_op_create(GB_STORE_TROUBLE);
	if (!op)
		return;
	op->err = *err;
	op->stores = stores;
	op->gate = stores->gate;
	op->then = stores->on_trouble;
	op->work.done = on_done;
	gb_worker_finish(stores->worker, &op->work);
}

/* Write the queued records in one transaction. Returns when to try again. */
static uint64_t write_records(struct gb_stores *stores) {
	struct gb_err err = {0};
	uint64_t now = gb_now_ns();
	if (gb_audit_pending(stores->audit) && now < stores->next_write)
		return stores->next_write;
	if (gb_audit_commit(stores->audit, &err)) {
		stores->busy_since = stores->next_write = 0;
		return 0;
	}
	if (err.code == GB_EBUSY && !stores->busy_since)
		stores->busy_since = now;
	if (err.code == GB_EBUSY && now - stores->busy_since < stores->busy_ms * MS_NS) {
		stores->next_write = now + PAUSE_MS * MS_NS;
	} else {
		stores->busy_since = 0;
		stores->next_write = gb_now_ns() + RETRY_MS * MS_NS;
		report_trouble(stores, &err);
	}
	return stores->next_write;
}

/* A short step, so that operations do not wait long; the next one follows after them. A failure to prune is
 * not reported: it is tried again. Returns when to continue. */
static uint64_t prune(struct gb_stores *stores) {
	struct gb_err ignored;
	uint64_t now = gb_now_ns();
	bool more = false;
	if (!gb_audit_is_prune_due(stores->audit))
		return 0;
	if (now < stores->next_prune)
		return stores->next_prune;
	bool ok = gb_audit_prune_some(stores->audit, &more, &ignored);
	stores->next_prune = ok ? 0 : now + RETRY_MS * MS_NS;
	return more ? now : stores->next_prune;
}

/* --- operations, on the thread --- */

static bool fail_not_open(struct gb_store_op *op) {
	return gb_fail(&op->err, GB_EINVAL, 0, "the database is not open");
}

static bool run_on_turns(struct gb_stores *stores, struct gb_store_op *op) {
	if (!stores->turns)
		return fail_not_open(op);
	return op->kind == GB_STORE_TAKE_CALL
		   ? gb_turns_take(stores->turns, &op->turn, op->max_calls, &op->granted, &op->err)
		   : gb_turns_give_back(stores->turns, &op->turn, &op->err);
}

static bool run_on_energy(struct gb_stores *stores, struct gb_store_op *op) {
	/* Disabled since the operation was submitted. */
	if (!stores->energy)
		return op->energy.granted = true;
	return op->kind == GB_STORE_SPEND ? gb_energy_spend(stores->energy, op->tier, &op->energy, &op->err)
					  : gb_energy_refund(stores->energy, &op->energy, &op->err);
}

static bool run_on_approvals(struct gb_stores *stores, struct gb_store_op *op) {
	struct gb_approvals *approvals = stores->approvals;
	bool was_open;
	uint64_t revoked;
	if (!approvals)
		return fail_not_open(op);
	switch (op->kind) {
	case GB_STORE_ASK:
		return ask(stores, op);
	case GB_STORE_LOOK:
		return gb_approvals_poll(approvals, ignore, NULL, &op->err);
	case GB_STORE_USE:
		return use(stores, op);
	case GB_STORE_DECIDE:
		return decide(stores, op);
	case GB_STORE_WITHDRAW:
		return gb_approval_withdraw(approvals, op->id, &was_open, &op->err);
	default:
		return gb_trust_revoke(approvals, op->session, NULL, &revoked, &op->err);
	}
}

static bool run_on_settings(struct gb_stores *stores, struct gb_store_op *op) {
	return adopt(stores, op);
}

static const struct {
	enum lane lane;
	bool (*run)(struct gb_stores *stores, struct gb_store_op *op);
} kinds[GB_STORE_KINDS] = {
    [GB_STORE_ADOPT] = {LANE_SETTINGS, run_on_settings},
    [GB_STORE_TAKE_CALL] = {LANE_TURNS, run_on_turns},
    [GB_STORE_GIVE_BACK_CALL] = {LANE_TURNS, run_on_turns},
    [GB_STORE_SPEND] = {LANE_ENERGY, run_on_energy},
    [GB_STORE_REFUND] = {LANE_ENERGY, run_on_energy},
    [GB_STORE_ASK] = {LANE_APPROVALS, run_on_approvals},
    [GB_STORE_LOOK] = {LANE_APPROVALS, run_on_approvals},
    [GB_STORE_USE] = {LANE_APPROVALS, run_on_approvals},
    [GB_STORE_DECIDE] = {LANE_APPROVALS, run_on_approvals},
    [GB_STORE_WITHDRAW] = {LANE_APPROVALS, run_on_approvals},
    [GB_STORE_REVOKE] = {LANE_APPROVALS, run_on_approvals},
    [GB_STORE_RESERVE] = {LANE_AUDIT, NULL},
    [GB_STORE_CANCEL] = {LANE_AUDIT, NULL},
    [GB_STORE_BEGIN] = {LANE_AUDIT, NULL},
    [GB_STORE_END] = {LANE_AUDIT, NULL},
    [GB_STORE_APPEND] = {LANE_AUDIT, NULL},
    [GB_STORE_TROUBLE] = {LANE_AUDIT, NULL},
};

static enum gb_work_end run_op(struct gb_work *work, void *data) {
	struct gb_store_op *op = gb_container(struct gb_store_op, work, work);
	op->err = (struct gb_err){0};
	op->ok = kinds[op->kind].run(data, op);
	return !op->ok && op->err.code == GB_EBUSY ? GB_WORK_BUSY : GB_WORK_DONE;
}

static enum gb_work_end run_audit_op(struct gb_work *work, void *data) {
	struct gb_stores *stores = data;
	struct gb_store_op *op = gb_container(struct gb_store_op, work, work);
	op->err = (struct gb_err){0};
	if (!stores->audit) {
		op->ok = fail_not_open(op);
		return GB_WORK_DONE;
	}
	switch (op->kind) {
	case GB_STORE_RESERVE:
		op->ok = reserve(stores, op);
		/* Wait too if earlier records wait for a lock of another process. */
		return !op->ok && stores->busy_since && op->err.code == GB_EBUSY ? GB_WORK_BUSY
										 : GB_WORK_DONE;
	case GB_STORE_CANCEL:
		release(stores, op);
		op->ok = true;
		return GB_WORK_DONE;
	default:
		return queue_record(stores, op) ? GB_WORK_KEPT : GB_WORK_DONE;
	}
}

static uint64_t on_round(void *data) {
	struct gb_stores *stores = data;
	if (!stores->audit)
		return 0;
	uint64_t write = write_records(stores), more = prune(stores);
	return write && (!more || write < more) ? write : more;
}

static void on_end(void *data) {
	close_all(data);
}

/* --- the gate's side --- */

static void prepare(struct gb_stores *stores, struct gb_store_op *op) {
	op->stores = stores;
	op->gate = stores->gate;
	op->work.lane = kinds[op->kind].lane;
	op->work.run = kinds[op->kind].run ? run_op : run_audit_op;
	op->work.done = on_done;
}

bool gb_stores_create(struct gb_gate *gate, unsigned busy_ms, void (*on_trouble)(struct gb_store_op *op),
    struct gb_stores **ret, struct gb_err *err) {
	struct gb_stores *stores = calloc(1, sizeof *stores);
	if (!stores)
		return gb_fail(err, GB_ENOMEM, 0, "the stores");
	stores->gate = gate;
	stores->busy_ms = busy_ms;
	stores->on_trouble = on_trouble;
	const struct gb_worker_options options = {.lanes = LANES,
	    .max = OPS_MAX,
	    .busy_ms = busy_ms,
	    .on_round = on_round,
	    .on_end = on_end,
	    .data = stores};
	if (!gb_worker_create(&options, &stores->worker, err)) {
		free(stores);
		return false;
	}
	*ret = stores;
	return true;
}

void gb_stores_destroy(struct gb_stores *stores) {
	if (!stores)
		return;
	gb_worker_destroy(stores->worker);
	free(stores);
}

struct gb_worker *gb_stores_worker(struct gb_stores *stores) {
	return stores->worker;
}

void gb_stores_submit(struct gb_stores *stores, struct gb_store_op *op) {
	prepare(stores, op);
	gb_worker_submit(stores->worker, &op->work);
}

bool gb_stores_try(struct gb_stores *stores, struct gb_store_op *op) {
	prepare(stores, op);
	if (gb_worker_try(stores->worker, &op->work))
		return true;
	gb_store_op_destroy(op);
	return false;
}
