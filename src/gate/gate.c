#include "gate/gate.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "gate/agent_run.h"

enum { RETRY_MS = 1000 };

/* --- stores --- */

/* Opened again for each configuration: its rules are shared by all processes, and the last one wins. */
static bool open_energy(struct gb_gate *gate, const struct gb_config *config, struct gb_err *err) {
	const struct gb_energy_options options = {
	    .initial = config->energy.initial,
	    .maximum = config->energy.maximum,
	    .per_hour = config->energy.recharge_per_hour,
	    .cost = {config->energy.cost_isolated, config->energy.cost_network},
	    .at_least = {config->energy.gate, config->energy.gate_network},
	};
	struct gb_energy *energy = NULL;
	if (config->energy.enabled && !gb_energy_open(gate->dir, &options, &energy, err))
		return false;
	gb_energy_close(gate->energy);
	gate->energy = energy;
	return true;
}

static bool watch_approvals(struct gb_gate *gate, struct gb_err *err) {
	int fd = -1;
	struct epoll_event event = {.events = EPOLLIN};
	return gb_approvals_fd(gate->approvals, &fd, err) &&
	       (epoll_ctl(gate->wait_fd, EPOLL_CTL_ADD, fd, &event) == 0 ||
		   gb_fail(err, GB_ESYSTEM, errno, "watch the approvals"));
}

/* Once opened, the approvals stay open even if no person has to be asked any more: trust must be revoked when
 * the rules change, also by rules that disable agents. */
static bool open_approvals(struct gb_gate *gate, const struct gb_rules *rules, struct gb_err *err) {
	const struct gb_approvals_options options = {.timeout_ms = rules->config->approvals.timeout_ms};
	uint64_t revoked;
	bool asks = rules->config->agent.enabled && !rules->config->agent.auto_approve;
	if (!gate->approvals && !asks && (!*gate->dir || !gb_approvals_exist(gate->dir)))
		return true;
	if (!gate->approvals && !gb_approvals_open(gate->dir, &options, &gate->approvals, err))
		return false;
	if (!gate->watching && !(gate->watching = watch_approvals(gate, err)))
		return false;
	if (!gb_trust_revoke_policy(gate->approvals, gb_str_from(rules->policy), &revoked, err))
		return false;
	gb_approvals_set_timeout(gate->approvals, options.timeout_ms);
	return true;
}

static bool open_audit(struct gb_gate *gate, const struct gb_config *config, struct gb_err *err) {
	const struct gb_audit_options options = {
	    .keep_ms = config->audit.max_age_ms, .keep_bytes = config->audit.max_bytes};
	if (!gate->audit)
		return gb_audit_open(gate->audit_dir, &options, &gate->audit, err);
	gb_audit_keep(gate->audit, options.keep_ms, options.keep_bytes);
	return true;
}

/* The folders of open stores cannot change. */
static bool choose_folders(struct gb_gate *gate, const struct gb_config *config, struct gb_err *err) {
	char dir[GB_STATE_PATH], audit[GB_STATE_PATH];
	if (!gb_state_choose(config->state_dir, dir, err))
		return false;
	snprintf(audit, sizeof audit, "%s", *config->audit.directory ? config->audit.directory : dir);
	if (*gate->dir && strcmp(gate->dir, dir) != 0)
		return gb_fail(
		    err, GB_EINVAL, 0, "stateDir: cannot change while the process runs; restart it");
	if (*gate->dir && strcmp(gate->audit_dir, audit) != 0)
		return gb_fail(
		    err, GB_EINVAL, 0, "audit.directory: cannot change while the process runs; restart it");
	memcpy(gate->audit_dir, audit, sizeof audit);
	memcpy(gate->dir, dir, sizeof dir);
	return true;
}

/* The order matters: a failure must leave the earlier state unchanged. */
static bool open_all(struct gb_gate *gate, const struct gb_rules *rules, struct gb_err *err) {
	const struct gb_config *config = rules->config;
	if (!config->agent.enabled)
		return open_approvals(gate, rules, err);
	return choose_folders(gate, config, err) && gb_state_prepare(gate->dir, err) &&
	       (gate->turns || gb_turns_open(gate->dir, &gate->turns, err)) &&
	       (gate->sessions || gb_gate_open_sessions(gate, err)) && open_audit(gate, config, err) &&
	       open_energy(gate, config, err) && open_approvals(gate, rules, err);
}

/* --- opening and closing --- */

/* A run in @state; NULL if there is none. */
static struct gb_agent_run *find(const struct gb_gate *gate, enum gb_agent_run_state state) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (run->state == state)
			return run;
	}
	return NULL;
}

/* Record the refusals and report them. A refusal is reported even if it cannot be recorded. */
static void report_refusals(struct gb_gate *gate) {
	for (struct gb_agent_run *run; (run = find(gate, GB_AGENT_RUN_REFUSED));) {
		struct gb_err err = {0};
		if (!gate->audit || gate->next_try || !gb_agent_run_record_refusal(run, &err))
			gb_agent_run_finish(run);
	}
}

/* Runs that are active end here and are recorded. */
static void close_all(struct gb_gate *gate) {
	struct gb_err err = {0};
	gb_manager_destroy(gate->sessions);
	gate->sessions = NULL;
	report_refusals(gate);
	if (gate->audit)
		gb_audit_close(gate->audit, &err);
	gate->audit = NULL;
	gb_turns_close(gate->turns);
	gate->turns = NULL;
	gb_approvals_close(gate->approvals);
	gate->approvals = NULL;
	gate->watching = false;
	gb_energy_close(gate->energy);
	gate->energy = NULL;
	*gate->dir = '\0';
}

bool gb_gate_open(const struct gb_gate_options *options, struct gb_gate **ret, struct gb_err *err) {
	struct gb_gate *gate = calloc(1, sizeof *gate);
	if (!gate || sodium_init() < 0) {
		free(gate);
		return gb_fail(err, GB_ENOMEM, 0, "the gate");
	}
	gate->engine = options->engine;
	gate->environment = options->environment;
	gb_list_init(&gate->runs);
	gate->wait_fd = epoll_create1(EPOLL_CLOEXEC);
	if (gate->wait_fd < 0)
		gb_fail(err, GB_ESYSTEM, errno, "epoll_create1");
	if (gate->wait_fd < 0 || !gb_rules_create(gate, options->config, &gate->rules, err) ||
	    !open_all(gate, gate->rules, err)) {
		gb_gate_close(gate);
		return false;
	}
	*ret = gate;
	return true;
}

void gb_gate_close(struct gb_gate *gate) {
	if (!gate)
		return;
	close_all(gate);
	gb_rules_unref(gate->rules);
	gb_close_fd(&gate->wait_fd);
	free(gate);
}

struct gb_manager *gb_gate_sessions(struct gb_gate *gate) {
	return gate->sessions;
}

/* --- changing the rules --- */

/* A run that waits and was admitted under other rules. */
static struct gb_agent_run *find_outdated(const struct gb_gate *gate) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (run->state == GB_AGENT_RUN_WAITING && run->rules != gate->rules)
			return run;
	}
	return NULL;
}

bool gb_gate_configure(struct gb_gate *gate, const struct gb_config *config, struct gb_err *err) {
	struct gb_rules *rules;
	bool was_open = *gate->dir;
	if (!gb_rules_create(gate, config, &rules, err))
		return false;
	if (!open_all(gate, rules, err)) {
		struct gb_err ignored;
		gb_rules_unref(rules);
		if (was_open)
			open_all(gate, gate->rules, &ignored);
		else
			close_all(gate);
		return false;
	}
	bool same = strcmp(gate->rules->policy, rules->policy) == 0;
	gb_rules_unref(gate->rules);
	gate->rules = rules;
	if (gate->sessions)
		gb_gate_limit_sessions(gate);
	if (gate->sessions && !same)
		gb_gate_distrust_sessions(gate);
	/* A request that stays valid still gets the new filter, since it will run under the new rules. */
	for (struct gb_agent_run *run; (run = find_outdated(gate));)
		if (strcmp(run->rules->policy, gate->rules->policy) != 0 || !gb_agent_run_adopt(run))
			gb_agent_run_enter(run);
	return true;
}

/* --- event loop --- */

bool gb_gate_enabled(const struct gb_gate *gate) {
	return gate->rules->config->agent.enabled;
}

struct gb_filter *gb_gate_filter(struct gb_gate *gate) {
	return gate->rules->filter;
}

int gb_gate_fd(const struct gb_gate *gate) {
	return gate->wait_fd;
}

/* After a failed write (a full disk) wait before the next attempt. */
static uint64_t retry_time(void) {
	return gb_now_ns() + RETRY_MS * 1000000ull;
}

static int until_ms(uint64_t at) {
	uint64_t now = gb_now_ns();
	return at > now ? (int)((at - now) / 1000000) + 1 : 0;
}

/* Until the next waiting request expires. */
static int until_deadline_ms(struct gb_gate *gate) {
	int64_t left = -1;
	struct gb_err err;
	if (!find(gate, GB_AGENT_RUN_WAITING))
		return -1;
	if (gate->next_look)
		return until_ms(gate->next_look);
	if (!gb_approvals_next_deadline(gate->approvals, &left, &err))
		return RETRY_MS;
	if (left < 0)
		return -1;
	return left < INT32_MAX ? (int)left + 1 : INT32_MAX;
}

int gb_gate_timeout(struct gb_gate *gate) {
	if (find(gate, GB_AGENT_RUN_REFUSED))
		return 0;
	if (gate->audit && gb_audit_pending(gate->audit))
		return until_ms(gate->next_try);
	int deadline = until_deadline_ms(gate), begin = gate->next_begin ? until_ms(gate->next_begin) : -1;
	return begin >= 0 && (deadline < 0 || begin < deadline) ? begin : deadline;
}

static bool ignore(void *data, struct gb_approval *approval) {
	return true;
}

/* The approvals have changed, or one has expired. */
static bool may_be_decided(struct gb_gate *gate) {
	struct pollfd ready = {.fd = gate->wait_fd, .events = POLLIN};
	int64_t left = -1;
	struct gb_err err;
	if (!gate->approvals)
		return false;
	if (poll(&ready, 1, 0) > 0)
		return true;
	if (gate->next_look)
		return until_ms(gate->next_look) == 0;
	return find(gate, GB_AGENT_RUN_WAITING) && gb_approvals_next_deadline(gate->approvals, &left, &err) &&
	       left == 0;
}

static void check_decisions(struct gb_gate *gate) {
	struct gb_err err;
	if (!may_be_decided(gate))
		return;
	bool ok = gb_approvals_poll(gate->approvals, ignore, NULL, &err);
	gate->next_look = ok ? 0 : retry_time();
	if (!ok)
		return;
	gb_list_each(struct gb_agent_run, run, &gate->runs, link) {
		if (run->state == GB_AGENT_RUN_WAITING)
			gb_agent_run_check_decision(run);
	}
}

void gb_gate_retry_later(struct gb_gate *gate) {
	gate->next_try = retry_time();
}

/* Callbacks run from here and may submit further requests. */
static bool write_records(struct gb_gate *gate, struct gb_err *err) {
	if (!gate->audit || until_ms(gate->next_try) > 0)
		return true;
	gb_gate_queue_begins(gate, false);
	if (!gb_audit_pending(gate->audit))
		return true;
	gate->next_try = 0;
	bool ok = gb_audit_commit(gate->audit, err);
	if (!ok)
		gb_gate_retry_later(gate);
	gb_gate_begins_done(gate, ok);
	return ok;
}

bool gb_gate_record_begins(struct gb_gate *gate, struct gb_err *err) {
	if (!gate->audit || !gate->next_begin)
		return true;
	if (gate->next_try)
		return gb_fail(err, GB_EBUSY, 0, "earlier audit records could not be written yet");
	gb_gate_queue_begins(gate, true);
	bool ok = gb_audit_write(gate->audit, err);
	if (!ok)
		gb_gate_retry_later(gate);
	gb_gate_begins_done(gate, ok);
	return ok;
}

bool gb_gate_work(struct gb_gate *gate, struct gb_err *err) {
	check_decisions(gate);
	report_refusals(gate);
	return write_records(gate, err);
}

bool gb_gate_turn(struct gb_gate *gate, int timeout_ms, struct gb_err *err) {
	struct pollfd fds[] = {
	    {.fd = gb_engine_fd(gate->engine), .events = POLLIN},
	    {.fd = gate->wait_fd, .events = POLLIN},
	};
	int due = gb_gate_timeout(gate);
	if (due >= 0 && (timeout_ms < 0 || due < timeout_ms))
		timeout_ms = due;
	if (poll(fds, GB_COUNT(fds), timeout_ms) < 0 && errno != EINTR)
		return gb_fail(err, GB_ESYSTEM, errno, "poll");
	return gb_engine_dispatch(gate->engine, 0, err) && gb_gate_work(gate, err);
}
