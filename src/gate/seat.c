/* Sessions of agents: what one execution defines is there for the next, in the same conversation only. */
#include <stdio.h>
#include <string.h>

#include "gate/pass.h"
#include "terms/terms.h"

/* Trust was given to a session, and ends with it. Another never has its name. */
static void on_ended(struct gb_manager *manager, const struct gb_session_info *info, void *data) {
	struct gb_gate *gate = data;
	uint64_t revoked;
	struct gb_err err;
	if (gate->approvals)
		gb_trust_revoke(gate->approvals, info->id, NULL, &revoked, &err);
}

bool gb_gate_open_sessions(struct gb_gate *gate, struct gb_err *err) {
	struct gb_manager_options options = {.on_ended = on_ended, .data = gate};
	gb_terms_sessions(gate->rules->config, &options);
	return gb_manager_create(gate->engine, &options, &gate->sessions, err);
}

void gb_gate_limit_sessions(struct gb_gate *gate) {
	struct gb_manager_options options = {0};
	gb_terms_sessions(gate->rules->config, &options);
	gb_manager_configure(gate->sessions, &options);
}

void gb_gate_distrust_sessions(struct gb_gate *gate) {
	struct gb_session_info info;
	struct gb_err err;
	for (size_t i = 0; gb_manager_at(gate->sessions, NULL, i, &info); i++)
		if (info.trusted)
			gb_manager_trust(gate->sessions, info.id, false, &err);
}

static bool find(const struct gb_pass *pass, struct gb_session_info *ret, struct gb_err *err) {
	const struct gb_gate_request *request = &pass->request;
	if (!request->session) {
		const struct gb_session_asked asked = {
		    .conversation = request->conversation, .language = request->run.language};
		return gb_manager_get_or_create(pass->gate->sessions, &asked, ret, err);
	}
	if (!gb_manager_get(pass->gate->sessions, request->session, ret, err) ||
	    strcmp(ret->conversation, request->conversation) != 0)
		return gb_fail(
		    err, GB_ENOENT, 0, "session: this conversation has no '%.64s'", request->session);
	if (ret->state == GB_SESSION_TERMINATED)
		return gb_fail(
		    err, GB_ENOENT, 0, "session: '%.64s' has ended: %s", request->session, ret->reason);
	return ret->language == request->run.language ||
	       gb_fail(err, GB_EINVAL, 0, "session: '%.64s' runs %s", request->session,
		   gb_language_name(ret->language));
}

bool gb_pass_seat(struct gb_pass *pass) {
	struct gb_session_info info;
	struct gb_err err = {0};
	if (!pass->request.persistent && !pass->request.session)
		return true;
	if (!pass->rules->config->agent.persistent_sessions) {
		gb_pass_refuse(pass, "sessions_disabled",
		    "sessions of agents are switched off; see the setting agent.persistentSessions");
		return false;
	}
	if (!find(pass, &info, &err)) {
		gb_pass_refuse(pass,
		    err.code == GB_ELIMIT                            ? "too_many"
		    : pass->request.session || err.code == GB_EINVAL ? "unknown_session"
								     : "refused",
		    "%s", err.message);
		return false;
	}
	memcpy(pass->session, info.id, sizeof pass->session);
	return true;
}
