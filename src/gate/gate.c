#include "gate/gate.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "gate/agent_run.h"
#include "limits/limits.h"
#include "store/db.h"

enum { RETRY_MS = 1000, BUSY_MS = 10000 };

/* Sources of wait_fd. */
enum { SOURCE_STORES, SOURCE_APPROVALS };

/* --- stores --- */

/* Records could not be written. They are tried again every second. */
static void on_trouble(struct gb_store_op *op) {
	op->gate->is_failing = true;
	op->gate->trouble = op->err;
	gb_gate_begins_failed(op->gate);
}

static bool watch(struct gb_gate *gate, int fd, uint32_t source, uint32_t events, struct gb_err *err) {
	struct epoll_event event = {.events = events, .data.u32 = source};
	return epoll_ctl(gate->wait_fd, EPOLL_CTL_ADD, fd, &event) == 0 ||
	       gb_fail(err, GB_ESYSTEM, errno, "watch the stores");
}

/* The descriptor stays readable until the thread of the stores has read it: report it once. */
static const uint32_t once = EPOLLIN | EPOLLONESHOT;

static bool watch_approvals(struct gb_gate *gate, int fd, struct gb_err *err) {
	if (fd < 0 || gate->watches_approvals)
		return true;
	return gate->watches_approvals = watch(gate, fd, SOURCE_APPROVALS, once, err);
}

static bool start_stores(struct gb_gate *gate, struct gb_err *err) {
	return gate->stores ||
	       (gb_stores_create(gate, gate->busy_ms, on_trouble, &gate->stores, err) &&
		   watch(gate, gb_worker_fd(gb_stores_worker(gate->stores)), SOURCE_STORES, EPOLLIN, err));
}

/* Whether any request may be admitted. */
static bool is_serving(const struct gb_gate *gate, const struct gb_config *config) {
	return config->agent.enabled || gate->has_embedder;
}

static bool read_options(const struct gb_gate *gate, const struct gb_rules *rules,
    struct gb_stores_options *options, struct gb_err *err) {
	const struct gb_config *config = rules->config;
	*options = (struct gb_stores_options){
	    .enabled = is_serving(gate, config),
	    .has_energy = config->energy.enabled,
	    .approval_timeout_ms = config->approvals.timeout_ms,
	    .keep_ms = config->audit.max_age_ms,
	    .keep_bytes = config->audit.max_bytes,
	};
	gb_limits_energy(config, &options->energy);
	options->energy.busy_ms = GB_DB_NO_WAIT;
	memcpy(options->policy, rules->policy, sizeof options->policy);
	if (!options->enabled)
		return true;
	if (!gb_state_choose(config->state_dir, options->dir, err))
		return false;
	snprintf(options->audit, sizeof options->audit, "%s",
	    *config->audit.directory ? config->audit.directory : options->dir);
	return true;
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
		if (!gate->open.audit || gate->is_failing || !gb_agent_run_record_refusal(run, &err))
			gb_agent_run_finish(run);
	}
}

static bool is_admitting(const struct gb_gate *gate) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next)
		if (gb_container(struct gb_agent_run, link, link)->is_stepping)
			return true;
	return false;
}

/* Runs that are active end here and are recorded. */
static void close_all(struct gb_gate *gate) {
	gate->is_closing = true;
	gb_manager_destroy(gate->sessions);
	gate->sessions = NULL;
	gb_gate_record_ended(gate, true);
	report_refusals(gate);
	while (gate->stores && is_admitting(gate)) {
		gb_worker_wait(gb_stores_worker(gate->stores));
		report_refusals(gate);
	}
	gb_stores_destroy(gate->stores);
	gate->stores = NULL;
	gate->open = (struct gb_stores_open){0};
	report_refusals(gate);
}

struct opening {
	bool is_done, ok;
	struct gb_err err;
};

static void on_opened(bool ok, const struct gb_err *err, void *data) {
	struct opening *opening = data;
	opening->is_done = true;
	opening->ok = ok;
	if (!ok)
		opening->err = *err;
}

/* Blocks: nothing else can wait for this gate yet. */
static bool open_gate(struct gb_gate *gate, const struct gb_config *config, struct gb_err *err) {
	struct opening opening = {0};
	gate->wait_fd = epoll_create1(EPOLL_CLOEXEC);
	if (gate->wait_fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "epoll_create1");
	if (!gb_gate_configure(gate, config, on_opened, &opening, err))
		return false;
	while (!opening.is_done)
		gb_worker_wait(gb_stores_worker(gate->stores));
	if (!opening.ok && err)
		*err = opening.err;
	return opening.ok;
}

bool gb_gate_open(const struct gb_gate_options *options, struct gb_gate **ret, struct gb_err *err) {
	struct gb_gate *gate = calloc(1, sizeof *gate);
	if (!gate || sodium_init() < 0) {
		free(gate);
		return gb_fail(err, GB_ENOMEM, 0, "the gate");
	}
	gate->engine = options->engine;
	gate->environment = options->environment;
	gate->on_filter = options->on_filter;
	gate->data = options->data;
	gate->busy_ms = options->busy_ms ? options->busy_ms : BUSY_MS;
	gate->work = options->work;
	gate->work_data = options->work_data;
	gb_list_init(&gate->runs);
	if (!open_gate(gate, options->config, err)) {
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

/* A change of the rules that waits for the stores. */
struct change {
	struct gb_rules *rules;
	gb_gate_configured done;
	void *data;
};

/* A run that waits and was admitted under other rules. One with a step under way is admitted again after it. */
static struct gb_agent_run *find_outdated(const struct gb_gate *gate) {
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (run->state == GB_AGENT_RUN_WAITING && !run->is_stepping && run->rules != gate->rules)
			return run;
	}
	return NULL;
}

/* Takes @rules. */
static void apply(struct gb_gate *gate, struct gb_rules *rules) {
	bool same = gate->rules && strcmp(gate->rules->policy, rules->policy) == 0;
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
}

static bool complete_filter(struct gb_gate *gate, struct gb_rules *rules, struct gb_err *err) {
	return !gate->on_filter || gate->on_filter(rules->filter, gate->data, err);
}

static void on_adopted(struct gb_store_op *op) {
	struct gb_gate *gate = op->gate;
	struct change change = *(struct change *)op->data;
	free(op->data);
	if (gate->is_closing)
		gb_fail(&op->err, GB_EBUSY, 0, "the process is being stopped");
	bool ok = !gate->is_closing && op->ok && complete_filter(gate, change.rules, &op->err) &&
		  watch_approvals(gate, op->open.approvals_fd, &op->err) &&
		  (gate->sessions || !op->open.audit || gb_gate_open_sessions(gate, change.rules, &op->err));
	if (ok) {
		gate->open = op->open;
		apply(gate, change.rules);
	} else {
		gb_rules_unref(change.rules);
	}
	change.done(ok, &op->err, change.data);
}

static bool submit_change(struct gb_gate *gate, const struct change *change,
    const struct gb_stores_options *options, struct gb_err *err) {
	struct gb_store_op *op = gb_store_op_create(GB_STORE_ADOPT);
	struct change *kept = malloc(sizeof *kept);
	if (!op || !kept || !(op->options = malloc(sizeof *options))) {
		free(kept);
		gb_store_op_destroy(op);
		return gb_fail(err, GB_ENOMEM, 0, "the rules");
	}
	*op->options = *options;
	*kept = *change;
	op->data = kept;
	op->then = on_adopted;
	gb_stores_submit(gate->stores, op);
	return true;
}

bool gb_gate_configure(struct gb_gate *gate, const struct gb_config *config, gb_gate_configured done,
    void *data, struct gb_err *err) {
	struct change change = {.done = done, .data = data};
	struct gb_stores_options options;
	if (!gb_rules_create(gate, config, &change.rules, err))
		return false;
	/* Nothing is opened before agents are enabled. */
	if (!is_serving(gate, config) && !gate->stores) {
		if (!complete_filter(gate, change.rules, err)) {
			gb_rules_unref(change.rules);
			return false;
		}
		apply(gate, change.rules);
		done(true, NULL, data);
		return true;
	}
	if (read_options(gate, change.rules, &options, err) && start_stores(gate, err) &&
	    submit_change(gate, &change, &options, err))
		return true;
	gb_rules_unref(change.rules);
	return false;
}

bool gb_gate_serve_embedder(struct gb_gate *gate, const struct gb_config *config, gb_gate_configured done,
    void *data, struct gb_err *err) {
	gate->has_embedder = true;
	if (!gate->sessions)
		return gb_gate_configure(gate, config, done, data, err);
	done(true, NULL, data);
	return true;
}

/* --- event loop --- */

bool gb_gate_enabled(const struct gb_gate *gate) {
	return gate->rules->config->agent.enabled;
}

struct gb_filter *gb_gate_filter(struct gb_gate *gate) {
	return gate->rules->filter;
}

bool gb_gate_add_secret(
    struct gb_gate *gate, const char *name, const char *value, size_t n, struct gb_err *err) {
	struct gb_filter *known[GB_FILTERS_MAX] = {gate->rules->filter};
	bool ok = gb_secrets_add(gate->rules->filter, name, value, n, err);
	gb_list_each(struct gb_agent_run, run, &gate->runs, link) {
		if (ok && run->rules && gb_filters_note(known, run->rules->filter))
			ok = gb_secrets_add(run->rules->filter, name, value, n, err);
	}
	return ok;
}

int gb_gate_fd(const struct gb_gate *gate) {
	return gate->wait_fd;
}

static int until_ms(uint64_t at) {
	uint64_t now = gb_now_ns();
	return at > now ? (int)((at - now) / 1000000) + 1 : 0;
}

static int64_t wall_clock_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until the next waiting request expires, or decisions must be read; -1: never. */
static int until_look_ms(const struct gb_gate *gate) {
	int64_t first = INT64_MAX;
	if (gate->is_looking)
		return -1;
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		const struct gb_agent_run *run = gb_container(struct gb_agent_run, link, link);
		if (run->state == GB_AGENT_RUN_WAITING && !run->is_stepping && run->expires_ms < first)
			first = run->expires_ms;
		if (gb_agent_run_ask_expires(run) < first)
			first = gb_agent_run_ask_expires(run);
	}
	if (first == INT64_MAX && !gate->must_look)
		return -1;
	if (gate->next_look)
		return until_ms(gate->next_look);
	int64_t left = gate->must_look ? 0 : first - wall_clock_ms();
	return left <= 0 ? 0 : left < INT32_MAX ? (int)left : INT32_MAX;
}

int gb_gate_timeout(struct gb_gate *gate) {
	if (gate->trouble.code || find(gate, GB_AGENT_RUN_REFUSED))
		return 0;
	int look = until_look_ms(gate), begin = gate->next_begin ? until_ms(gate->next_begin) : -1;
	return begin >= 0 && (look < 0 || begin < look) ? begin : look;
}

static void on_looked(struct gb_store_op *op) {
	struct gb_gate *gate = op->gate;
	struct epoll_event event = {.events = once, .data.u32 = SOURCE_APPROVALS};
	gate->is_looking = false;
	epoll_ctl(gate->wait_fd, EPOLL_CTL_MOD, gate->open.approvals_fd, &event);
	gate->next_look = op->ok ? 0 : gb_now_ns() + RETRY_MS * 1000000ull;
	if (!op->ok)
		return;
	gb_list_each(struct gb_agent_run, run, &gate->runs, link) {
		if (run->state == GB_AGENT_RUN_WAITING)
			gb_agent_run_check_decision(run);
		else if (run->state == GB_AGENT_RUN_RUNNING)
			gb_agent_run_check_ask(run);
	}
}

/* The approvals have changed, or one has expired: expire what is due, then read the decisions. */
static void check_decisions(struct gb_gate *gate) {
	if (!gate->open.approvals || gate->is_looking || until_look_ms(gate) != 0)
		return;
	struct gb_store_op *op = gb_store_op_create(GB_STORE_LOOK);
	if (!op) {
		gate->next_look = gb_now_ns() + RETRY_MS * 1000000ull;
		return;
	}
	op->then = on_looked;
	gate->is_looking = true;
	gate->must_look = false;
	gb_stores_submit(gate->stores, op);
}

static void read_sources(struct gb_gate *gate) {
	struct epoll_event events[2];
	int n = epoll_wait(gate->wait_fd, events, GB_COUNT(events), 0);
	for (int i = 0; i < n; i++)
		gate->must_look |= events[i].data.u32 == SOURCE_APPROVALS;
}

bool gb_gate_work(struct gb_gate *gate, struct gb_err *err) {
	read_sources(gate);
	if (gate->stores)
		gb_worker_dispatch(gb_stores_worker(gate->stores));
	check_decisions(gate);
	gb_gate_record_ended(gate, false);
	report_refusals(gate);
	gb_gate_queue_begins(gate);
	if (!gate->trouble.code)
		return true;
	if (err)
		*err = gate->trouble;
	gate->trouble.code = 0;
	return false;
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
