#include "gate/gate.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gate/pass.h"
#include "guard/secrets_load.h"
#include "store/state.h"

/* --- opening --- */

static void hash_bytes(crypto_generichash_state *state, const void *bytes, size_t n) {
	uint64_t length = n;
	crypto_generichash_update(state, (const uint8_t *)&length, sizeof length);
	crypto_generichash_update(state, bytes, n);
}

/* Which rules a request was asked under: another configuration is another policy. */
static void name_policy(struct gb_gate *gate) {
	const struct gb_config *config = gate->config;
	const struct gb_config_list *lists[] = {&config->guard.javascript, &config->guard.shell,
	    &config->network.allowlist, &config->python.allowed_modules};
	const uint64_t numbers[] = {config->agent.allowed_runtimes, config->agent.max_execution_ms,
	    config->agent.max_output_bytes, config->agent.max_code_bytes, config->guard.enabled,
	    config->python.restricted, config->shell.restricted};
	crypto_generichash_state state;
	struct gb_hash hash;
	crypto_generichash_init(&state, NULL, 0, sizeof hash.bytes);
	hash_bytes(&state, numbers, sizeof numbers);
	hash_bytes(&state, config->limits, sizeof config->limits);
	for (size_t i = 0; i < GB_COUNT(lists); i++) {
		hash_bytes(&state, &lists[i]->n, sizeof lists[i]->n);
		for (size_t k = 0; k < lists[i]->n; k++)
			hash_bytes(&state, lists[i]->items[k], strlen(lists[i]->items[k]));
	}
	crypto_generichash_final(&state, hash.bytes, sizeof hash.bytes);
	gb_hash_format(gate->policy, &hash);
}

static bool open_energy(struct gb_gate *gate, const char *dir, struct gb_err *err) {
	const struct gb_config *config = gate->config;
	const struct gb_energy_options options = {
	    .initial = config->energy.initial,
	    .maximum = config->energy.maximum,
	    .per_hour = config->energy.recharge_per_hour,
	    .cost = {config->energy.cost_isolated, config->energy.cost_network},
	    .at_least = {config->energy.gate, config->energy.gate_network},
	};
	return !config->energy.enabled || gb_energy_open(dir, &options, &gate->energy, err);
}

static bool open_approvals(struct gb_gate *gate, const char *dir, struct gb_err *err) {
	const struct gb_config *config = gate->config;
	const struct gb_approvals_options options = {.timeout_ms = config->approvals.timeout_ms};
	if (config->agent.auto_approve)
		return true;
	uint64_t revoked;
	return gb_approvals_open(dir, &options, &gate->approvals, err) &&
	       gb_trust_revoke_policy(gate->approvals, gb_str_from(gate->policy), &revoked, err) &&
	       gb_approvals_fd(gate->approvals, &gate->approvals_fd, err);
}

static bool open_all(struct gb_gate *gate, char **environment, struct gb_err *err) {
	const struct gb_config *config = gate->config;
	char dir[GB_STATE_PATH];
	if (!gb_state_choose(config->state_dir, dir, err))
		return false;
	const struct gb_audit_options audit = {
	    .keep_ms = config->audit.max_age_ms, .keep_bytes = config->audit.max_bytes};
	name_policy(gate);
	return gb_state_prepare(dir, err) && gb_filter_load(config, environment, &gate->filter, err) &&
	       gb_audit_open(
		   *config->audit.directory ? config->audit.directory : dir, &audit, &gate->audit, err) &&
	       open_energy(gate, dir, err) && open_approvals(gate, dir, err);
}

bool gb_gate_open(const struct gb_gate_options *options, struct gb_gate **ret, struct gb_err *err) {
	struct gb_gate *gate = calloc(1, sizeof *gate);
	if (!gate || sodium_init() < 0) {
		free(gate);
		return gb_fail(err, GB_ENOMEM, 0, "the gate");
	}
	gate->config = gb_config_ref(options->config);
	gate->engine = options->engine;
	gate->approvals_fd = -1;
	gb_list_init(&gate->passes);
	bool ok = options->config->agent.enabled ? open_all(gate, options->environment, err)
						 : (gate->filter = gb_filter_create()) != NULL;
	if (!ok) {
		gb_gate_close(gate);
		return false;
	}
	*ret = gate;
	return true;
}

void gb_gate_close(struct gb_gate *gate) {
	struct gb_err err = {0};
	if (!gate)
		return;
	if (gate->audit)
		gb_audit_close(gate->audit, &err);
	gb_approvals_close(gate->approvals);
	gb_energy_close(gate->energy);
	gb_filter_destroy(gate->filter);
	gb_config_unref(gate->config);
	free(gate);
}

/* --- turns --- */

/* One that is in @state; NULL if none is. */
static struct gb_pass *find(const struct gb_gate *gate, enum gb_pass_state state) {
	for (const struct gb_list *link = gate->passes.next; link != &gate->passes; link = link->next) {
		struct gb_pass *pass = gb_container(struct gb_pass, link, link);
		if (pass->state == state)
			return pass;
	}
	return NULL;
}

/* Until something is due that no descriptor tells of. */
static int until_due(struct gb_gate *gate, int timeout_ms, struct gb_err *err) {
	int64_t left = -1;
	if (find(gate, GB_PASS_REFUSED) || (gate->audit && gb_audit_pending(gate->audit)))
		return 0;
	if (find(gate, GB_PASS_WAITING) && gb_approvals_next_deadline(gate->approvals, &left, err) &&
	    left >= 0 && (timeout_ms < 0 || left < timeout_ms))
		return left < INT32_MAX ? (int)left + 1 : INT32_MAX;
	return timeout_ms;
}

static bool ignore(void *data, struct gb_approval *approval) {
	return true;
}

static void look_at_decisions(struct gb_gate *gate, struct gb_err *err) {
	if (!find(gate, GB_PASS_WAITING) || !gb_approvals_poll(gate->approvals, ignore, NULL, err))
		return;
	gb_list_each(struct gb_pass, pass, &gate->passes, link) {
		if (pass->state == GB_PASS_WAITING)
			gb_pass_look(pass);
	}
}

/* Refusals are told from here, as everything is. One that cannot be recorded is still a refusal. */
static void tell_refused(struct gb_gate *gate) {
	for (struct gb_pass *pass; (pass = find(gate, GB_PASS_REFUSED));) {
		struct gb_err err = {0};
		if (!gate->audit || !gb_pass_record_refusal(pass, &err))
			gb_pass_finish(pass);
	}
}

bool gb_gate_turn(struct gb_gate *gate, int timeout_ms, struct gb_err *err) {
	struct pollfd fds[] = {
	    {.fd = gb_engine_fd(gate->engine), .events = POLLIN},
	    {.fd = gate->approvals_fd, .events = POLLIN},
	};
	int timeout = until_due(gate, timeout_ms, err);
	if (poll(fds, GB_COUNT(fds), timeout) < 0 && errno != EINTR)
		return gb_fail(err, GB_ESYSTEM, errno, "poll");
	look_at_decisions(gate, err);
	if (!gb_engine_dispatch(gate->engine, 0, err))
		return false;
	tell_refused(gate);
	return !gate->audit || !gb_audit_pending(gate->audit) || gb_audit_commit(gate->audit, err);
}
