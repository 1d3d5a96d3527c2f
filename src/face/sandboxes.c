/* The sandboxes of one client of code.sandbox: sessions of agents, each in a conversation of its own. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "face/actions.h"
#include "value/json.h"

struct gb_sandboxes {
	struct gb_service *service;
	struct gb_list list;
};

/* NULL before agents, or an embedding program, have enabled anything. */
static struct gb_manager *manager_of(const struct gb_sandboxes *sandboxes) {
	return gb_service_agent_sessions(sandboxes->service);
}

struct gb_sandboxes *gb_sandboxes_create(struct gb_service *service) {
	struct gb_sandboxes *sandboxes = calloc(1, sizeof *sandboxes);
	if (!sandboxes)
		return NULL;
	sandboxes->service = service;
	gb_list_init(&sandboxes->list);
	return sandboxes;
}

static void forget(struct gb_sandbox *sandbox) {
	gb_list_remove(&sandbox->link);
	free(sandbox);
}

void gb_sandbox_end(struct gb_sandboxes *sandboxes, struct gb_sandbox *sandbox) {
	struct gb_manager *manager = manager_of(sandboxes);
	if (manager)
		gb_manager_kill(manager, sandbox->id, "the sandbox was destroyed", NULL);
	forget(sandbox);
}

void gb_sandboxes_destroy(struct gb_sandboxes *sandboxes) {
	if (!sandboxes)
		return;
	gb_list_each(struct gb_sandbox, sandbox, &sandboxes->list, link) gb_sandbox_end(sandboxes, sandbox);
	free(sandboxes);
}

static bool is_alive(const struct gb_sandboxes *sandboxes, const char *id, struct gb_session_info *ret) {
	struct gb_manager *manager = manager_of(sandboxes);
	*ret = (struct gb_session_info){.reason = ""};
	return manager && gb_manager_get(manager, id, ret, NULL) && ret->state != GB_SESSION_TERMINATED;
}

static void forget_ended(struct gb_sandboxes *sandboxes) {
	struct gb_session_info info;
	gb_list_each(struct gb_sandbox, sandbox, &sandboxes->list, link) {
		if (!is_alive(sandboxes, sandbox->id, &info))
			forget(sandbox);
	}
}

/* The hosts of the setting, for a sandbox with network. NULL if there is no memory. */
static struct gb_value *hosts(struct gb_values *pool, const struct gb_config *config) {
	const struct gb_config_list *allowlist = &config->network.allowlist;
	struct gb_value *list = pool ? gb_value_array(pool) : NULL;
	for (size_t i = 0; list && i < allowlist->n; i++)
		if (!gb_value_push(
			list, gb_value_string(pool, allowlist->items[i], strlen(allowlist->items[i]))))
			list = NULL;
	return list;
}

static bool open_session(struct gb_sandboxes *sandboxes, struct gb_sandbox *sandbox,
    const struct gb_value *net, struct gb_err *err) {
	struct gb_session_info info;
	/* Not the name of a session of another kind, and different for each sandbox: sandboxes share nothing. */
	uint64_t number[2];
	randombytes_buf(number, sizeof number);
	snprintf(sandbox->conversation, sizeof sandbox->conversation, "sandbox:%016llx%016llx",
	    (unsigned long long)number[0], (unsigned long long)number[1]);
	const struct gb_session_asked asked = {
	    .conversation = sandbox->conversation, .language = sandbox->language, .net = net};
	if (!gb_manager_open(manager_of(sandboxes), &asked, &info, err))
		return false;
	memcpy(sandbox->id, info.id, sizeof sandbox->id);
	return true;
}

bool gb_sandbox_open(struct gb_sandboxes *sandboxes, const struct gb_sandbox *asked, struct gb_sandbox **ret,
    struct gb_err *err) {
	const struct gb_config *config = gb_service_config(sandboxes->service);
	if (!manager_of(sandboxes))
		return gb_fail(
		    err, GB_EBUSY, 0, "the server is not ready for sandboxes; wait for the reply to hello");
	if (!config->agent.persistent_sessions)
		return gb_fail(err, GB_EINVAL, 0,
		    "sessions of agents are disabled; see the setting agent.persistentSessions");
	if (asked->network && !config->network.allowlist.n)
		return gb_fail_field(err, GB_EINVAL, "allow_network",
		    "there are no hosts; the owner can allow some with the setting network.allowlist");
	forget_ended(sandboxes);
	struct gb_sandbox *sandbox = calloc(1, sizeof *sandbox);
	struct gb_values *pool = asked->network ? gb_values_create(1 << 20) : NULL;
	const struct gb_value *net = asked->network ? hosts(pool, config) : NULL;
	bool ok = sandbox && (net || !asked->network);
	if (!ok) {
		gb_fail(err, GB_ENOMEM, 0, "out of memory");
	} else {
		*sandbox = *asked;
		ok = open_session(sandboxes, sandbox, net, err);
	}
	gb_values_destroy(pool);
	if (!ok) {
		free(sandbox);
		return false;
	}
	gb_list_append(&sandboxes->list, &sandbox->link);
	*ret = sandbox;
	return true;
}

struct gb_sandbox *gb_sandbox_find(
    struct gb_sandboxes *sandboxes, const char *id, char *ret_reason, size_t n_reason) {
	struct gb_session_info info;
	*ret_reason = '\0';
	gb_list_each(struct gb_sandbox, sandbox, &sandboxes->list, link) {
		if (strcmp(sandbox->id, id) != 0)
			continue;
		if (is_alive(sandboxes, id, &info))
			return sandbox;
		snprintf(ret_reason, n_reason, "%s", info.reason);
		return NULL;
	}
	return NULL;
}

static void write_details(
    const struct gb_sandbox *sandbox, const struct gb_session_info *info, struct gb_buf *out) {
	gb_buf_printf(out,
	    "{\"sandbox_id\":\"%s\",\"language\":\"%s\",\"state\":\"%s\",\"created_at\":%.3f,\"last_used_"
	    "at\":%.3f,"
	    "\"executions\":%llu,\"allow_network\":%s,\"allow_filesystem\":%s}",
	    sandbox->id, gb_action_language_name(sandbox->language), gb_session_state_name(info->state),
	    info->created_at / 1000, info->last_used_at / 1000, (unsigned long long)info->executions,
	    sandbox->network ? "true" : "false", sandbox->writes ? "true" : "false");
}

void gb_sandboxes_write(struct gb_sandboxes *sandboxes, bool details, struct gb_buf *out) {
	struct gb_session_info info;
	bool first = true;
	forget_ended(sandboxes);
	gb_buf_append_char(out, '[');
	gb_list_each(struct gb_sandbox, sandbox, &sandboxes->list, link) {
		if (!is_alive(sandboxes, sandbox->id, &info))
			continue;
		gb_buf_append(out, ",", !first);
		first = false;
		if (details)
			write_details(sandbox, &info, out);
		else
			gb_buf_printf(out, "\"%s\"", sandbox->id);
	}
	gb_buf_append_char(out, ']');
}
