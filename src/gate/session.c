/* Sessions of agents: what one execution defines is there for the next, in the same conversation only. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "gate/agent_run.h"
#include "limits/limits.h"

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

static struct gb_session_asked asked_by(const struct gb_pass *pass) {
	return (struct gb_session_asked){
	    .conversation = pass->request.conversation, .language = pass->request.run.language};
}

/* The session that the request names. */
static bool find_named(const struct gb_pass *pass, struct gb_session_info *ret, struct gb_err *err) {
	const struct gb_gate_request *request = &pass->request;
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

/* Requests of one conversation that wait at the same time share the session that the first to run opens. */
static const struct gb_pass *find_sharer(const struct gb_pass *pass) {
	const struct gb_gate *gate = pass->gate;
	for (const struct gb_list *link = gate->passes.next; link != &gate->passes; link = link->next) {
		const struct gb_pass *other = gb_container(struct gb_pass, link, link);
		if (other != pass && other->state == GB_PASS_WAITING && *other->session && !other->seated &&
		    other->request.run.language == pass->request.run.language &&
		    strcmp(other->request.conversation, pass->request.conversation) == 0)
			return other;
	}
	return NULL;
}

static void choose_id(struct gb_pass *pass) {
	const struct gb_pass *sharer = find_sharer(pass);
	uint8_t bytes[16];
	if (sharer) {
		memcpy(pass->session, sharer->session, sizeof pass->session);
	} else if (!*pass->session || pass->seated) {
		randombytes_buf(bytes, sizeof bytes);
		sodium_bin2hex(pass->session, sizeof pass->session, bytes, sizeof bytes);
	}
	pass->seated = false;
}

static bool seat(struct gb_pass *pass, struct gb_err *err) {
	const struct gb_session_asked asked = asked_by(pass);
	struct gb_session_info info;
	bool found = true;
	if (pass->request.session ? !find_named(pass, &info, err)
				  : !gb_manager_find(pass->gate->sessions, &asked, &found, &info, err))
		return false;
	if (found) {
		memcpy(pass->session, info.id, sizeof pass->session);
		pass->seated = true;
	} else {
		choose_id(pass);
	}
	return true;
}

bool gb_pass_seat(struct gb_pass *pass) {
	struct gb_err err = {0};
	if (!pass->request.persistent && !pass->request.session)
		return true;
	if (!pass->rules->config->agent.persistent_sessions) {
		gb_pass_refuse(pass, "sessions_disabled",
		    "sessions of agents are switched off; see the setting agent.persistentSessions");
		return false;
	}
	if (seat(pass, &err))
		return true;
	gb_pass_refuse(pass,
	    err.code == GB_ELIMIT                            ? "too_many"
	    : pass->request.session || err.code == GB_EINVAL ? "unknown_session"
							     : "refused",
	    "%s", err.message);
	return false;
}

bool gb_pass_open_seat(struct gb_pass *pass, bool *ret_opened, struct gb_err *err) {
	struct gb_gate *gate = pass->gate;
	struct gb_session_asked asked = asked_by(pass);
	struct gb_session_info info;
	asked.id = pass->session;
	*ret_opened = *pass->session && !pass->seated;
	if (*ret_opened && !gb_manager_open(gate->sessions, &asked, &info, err))
		return false;
	gb_list_each(struct gb_pass, other, &gate->passes, link) {
		if (*ret_opened && strcmp(other->session, pass->session) == 0)
			other->seated = true;
	}
	/* Whoever trusts the session is to be seen beside it. */
	if (pass->trusts && *pass->session)
		gb_manager_trust(gate->sessions, pass->session, true, NULL);
	return true;
}

void gb_pass_leave_seat(struct gb_pass *pass) {
	uint64_t revoked;
	struct gb_err err;
	if (pass->trusts && *pass->session && !pass->seated && !find_sharer(pass))
		gb_trust_revoke(pass->gate->approvals, pass->session, NULL, &revoked, &err);
	pass->trusts = false;
}
