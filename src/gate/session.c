/* Sessions of agents: they keep state between executions of the same conversation. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "gate/agent_run.h"
#include "glovebox/errors.h"
#include "limits/limits.h"

static void revoke_trust(struct gb_gate *gate, const char *session) {
	struct gb_store_op *op = gate->open.approvals ? gb_store_op_create(GB_STORE_REVOKE) : NULL;
	if (op)
		snprintf(op->session, sizeof op->session, "%s", session);
	gb_gate_submit_op(gate, op, op);
}

/* Trust in a session ends with the session. Ids are never reused. */
static void on_ended(struct gb_manager *manager, const struct gb_session_info *info, void *data) {
	revoke_trust(data, info->id);
}

bool gb_gate_open_sessions(struct gb_gate *gate, const struct gb_rules *rules, struct gb_err *err) {
	struct gb_manager_options options = {.on_ended = on_ended, .data = gate};
	gb_limits_sessions(rules->config, &options);
	return gb_manager_create(gate->engine, &options, &gate->sessions, err);
}

void gb_gate_limit_sessions(struct gb_gate *gate) {
	struct gb_manager_options options = {0};
	gb_limits_sessions(gate->rules->config, &options);
	gb_manager_configure(gate->sessions, &options);
}

void gb_gate_distrust_sessions(struct gb_gate *gate) {
	struct gb_session_info info;
	struct gb_err err;
	for (size_t i = 0; gb_manager_at(gate->sessions, NULL, i, &info); i++)
		if (info.trusted)
			gb_manager_trust(gate->sessions, info.id, false, &err);
}

static struct gb_session_asked session_request(const struct gb_agent_run *run) {
	return (struct gb_session_asked){.conversation = run->request.conversation,
	    .language = run->request.run.language,
	    .net = run->request.run.net};
}

/* The session that the request names. */
static bool find_named(const struct gb_agent_run *run, struct gb_session_info *ret, struct gb_err *err) {
	const struct gb_gate_request *request = &run->request;
	if (!gb_manager_get(run->gate->sessions, request->session, ret, err) ||
	    strcmp(ret->conversation, request->conversation) != 0)
		return gb_fail_field(
		    err, GB_ENOENT, "session", "this conversation has no session '%.64s'", request->session);
	if (ret->state == GB_SESSION_TERMINATED)
		return gb_fail_field(
		    err, GB_ENOENT, "session", "'%.64s' has ended: %s", request->session, ret->reason);
	/* Trust in a session without network does not cover a request with network. */
	if (!request->is_input && !*ret->net != (request->tier == GB_TIER_ISOLATED))
		return gb_fail_field(err, GB_EINVAL, "session", "'%.64s' is not of the %s tier",
		    request->session, gb_tier_name(request->tier));
	return ret->language == request->run.language ||
	       gb_fail_field(err, GB_EINVAL, "session", "'%.64s' runs %s", request->session,
		   gb_language_name(ret->language));
}

/* Requests of one conversation that wait at the same time share one session; the first that runs opens it. */
static const struct gb_agent_run *find_sharer(const struct gb_agent_run *run) {
	const struct gb_gate *gate = run->gate;
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		const struct gb_agent_run *other = gb_container(struct gb_agent_run, link, link);
		if (other != run && !other->request.fresh &&
		    (other->state == GB_AGENT_RUN_ADMITTING || other->state == GB_AGENT_RUN_WAITING) &&
		    *other->session && !other->session_exists &&
		    other->request.run.language == run->request.run.language &&
		    other->request.tier == run->request.tier &&
		    strcmp(other->request.conversation, run->request.conversation) == 0)
			return other;
	}
	return NULL;
}

static void choose_id(struct gb_agent_run *run) {
	const struct gb_agent_run *sharer = run->request.fresh ? NULL : find_sharer(run);
	uint8_t bytes[16];
	if (sharer) {
		memcpy(run->session, sharer->session, sizeof run->session);
	} else if (!*run->session || run->session_exists) {
		randombytes_buf(bytes, sizeof bytes);
		sodium_bin2hex(run->session, sizeof run->session, bytes, sizeof bytes);
	}
	run->session_exists = false;
}

static bool resolve_session(struct gb_agent_run *run, struct gb_err *err) {
	const struct gb_session_asked asked = session_request(run);
	struct gb_session_info info;
	bool found = true;
	if (run->request.fresh)
		found = false;
	else if (run->request.session ? !find_named(run, &info, err)
				      : !gb_manager_find(run->gate->sessions, &asked, &found, &info, err))
		return false;
	if (found) {
		memcpy(run->session, info.id, sizeof run->session);
		run->session_exists = true;
	} else {
		choose_id(run);
	}
	return true;
}

bool gb_agent_run_resolve_session(struct gb_agent_run *run) {
	struct gb_err err = {0};
	if (!run->request.persistent && !run->request.session)
		return true;
	if (!run->rules->config->agent.persistent_sessions) {
		gb_agent_run_refuse(run, GB_CODE_SESSIONS_DISABLED,
		    "sessions of agents are disabled; see the setting agent.persistentSessions");
		return false;
	}
	if (resolve_session(run, &err))
		return true;
	gb_agent_run_refuse(run,
	    err.code == GB_ELIMIT                           ? GB_CODE_TOO_MANY
	    : run->request.session || err.code == GB_EINVAL ? GB_CODE_UNKNOWN_SESSION
							    : GB_CODE_REFUSED,
	    "%s", err.message);
	return false;
}

bool gb_agent_run_open_session(struct gb_agent_run *run, bool *ret_opened, struct gb_err *err) {
	struct gb_gate *gate = run->gate;
	struct gb_session_asked asked = session_request(run);
	struct gb_session_info info;
	asked.id = run->session;
	*ret_opened = *run->session && !run->session_exists;
	if (*ret_opened && !gb_manager_open(gate->sessions, &asked, &info, err))
		return false;
	gb_list_each(struct gb_agent_run, other, &gate->runs, link) {
		if (*ret_opened && strcmp(other->session, run->session) == 0)
			other->session_exists = true;
	}
	/* Show in the list of sessions that it is trusted. */
	if (run->trusts && *run->session)
		gb_manager_trust(gate->sessions, run->session, true, NULL);
	return true;
}

void gb_agent_run_leave_session(struct gb_agent_run *run) {
	if (run->trusts && *run->session && !run->session_exists && !find_sharer(run))
		revoke_trust(run->gate, run->session);
	run->trusts = false;
}
