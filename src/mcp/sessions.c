/* The tools list_sessions and kill_session. */
#include <stdio.h>

#include "base/cleanup.h"
#include "guard/secrets.h"
#include "mcp/conversation.h"
#include "value/text.h"

bool gb_mcp_find_session(struct gb_mcp *mcp, const char *id, struct gb_session_info *ret) {
	struct gb_manager *sessions = gb_service_agent_sessions(mcp->service);
	struct gb_err err;
	/* gb_manager_get accepts names too. Names can be guessed, so only the id is accepted here. */
	return sessions && gb_manager_get(sessions, id, ret, &err) && strcmp(ret->id, id) == 0 &&
	       strcmp(ret->conversation, mcp->conversation) == 0;
}

enum gb_tier gb_mcp_tier_of(const struct gb_session_info *session) {
	return *session->net ? GB_TIER_NETWORK : GB_TIER_ISOLATED;
}

/* Whether @session was opened with the hosts that the settings list now. If not, the gate opens a new session. */
static bool has_current_hosts(const struct gb_mcp *mcp, const struct gb_session_info *session) {
	const struct gb_config_list *hosts = &mcp->config->network.allowlist;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 128 << 10);
	for (size_t i = 0; i < hosts->n; i++)
		gb_buf_printf(&text, "%s%s", i ? "," : "", hosts->items[i]);
	return gb_str_eq(gb_buf_str(&text), gb_str_from(session->net));
}

bool gb_mcp_default_session(
    struct gb_mcp *mcp, enum gb_language language, enum gb_tier tier, struct gb_session_info *ret) {
	struct gb_manager *sessions = gb_service_agent_sessions(mcp->service);
	for (size_t i = 0; sessions && gb_manager_at(sessions, mcp->conversation, i, ret); i++)
		if (ret->language == language && ret->state != GB_SESSION_TERMINATED &&
		    gb_mcp_tier_of(ret) == tier && (tier == GB_TIER_ISOLATED || has_current_hosts(mcp, ret)))
			return true;
	return false;
}

/* Write @text, which was chosen by the code or by a client, with secrets masked. */
static void write_masked(struct gb_mcp *mcp, struct gb_buf *out, const char *key, const char *text) {
	gb_auto_buf struct gb_buf clean;
	struct gb_filter *filter = gb_service_agent_filter(mcp->service);
	gb_buf_init(&clean, 64 << 10);
	if (!filter)
		return;
	gb_mask_text(filter, gb_str_from(text), &clean);
	if (!gb_buf_failed(&clean))
		gb_mcp_text(out, key, gb_buf_str(&clean));
}

static void write_time(struct gb_buf *out, const char *key, double ms) {
	char text[GB_DATE_TEXT];
	size_t n = gb_date_format(text, ms);
	gb_mcp_text(out, key, (struct gb_str){text, n});
}

static void write_session(struct gb_mcp *mcp, struct gb_buf *out, const struct gb_session_info *info) {
	const struct gb_gate *gate = gb_service_gate(mcp->service);
	gb_buf_append_char(out, '{');
	gb_mcp_text(out, "id", gb_str_from(info->id));
	gb_mcp_text(out, "conversationId", gb_str_from(info->conversation));
	gb_mcp_text(out, "runtime", gb_str_from(gb_language_name(info->language)));
	gb_mcp_text(out, "tier", gb_str_from(gb_tier_name(gb_mcp_tier_of(info))));
	gb_mcp_text(out, "state", gb_str_from(gb_session_state_name(info->state)));
	write_time(out, "createdAt", info->created_at);
	write_time(out, "lastUsedAt", info->last_used_at);
	gb_mcp_key(out, "executionCount");
	gb_buf_printf(out, "%llu,\"trusted\":%s", (unsigned long long)info->executions,
	    info->trusted ? "true" : "false");
	if (info->state == GB_SESSION_AWAITING_INPUT && !gb_gate_holds_prompt(gate, info->id))
		write_masked(mcp, out, "prompt", info->prompt);
	if (info->state == GB_SESSION_TERMINATED)
		write_masked(mcp, out, "reason", info->reason);
	gb_buf_append_char(out, '}');
}

void gb_mcp_list_sessions(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	struct gb_mcp *mcp = request->mcp;
	struct gb_manager *sessions = gb_service_agent_sessions(mcp->service);
	bool is_own = !args->conversation || strcmp(args->conversation, mcp->conversation) == 0;
	struct gb_session_info info;
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, 16 << 20);
	gb_buf_printf(&json, "{\"sessions\":[");
	for (size_t i = 0; is_own && sessions && gb_manager_at(sessions, mcp->conversation, i, &info); i++) {
		if (i)
			gb_buf_append_char(&json, ',');
		write_session(mcp, &json, &info);
	}
	gb_buf_printf(&json, "]}");
	if (gb_buf_failed(&json))
		gb_mcp_refuse(request, "out of memory");
	else
		gb_mcp_reply(request, gb_buf_str(&json), (struct gb_str){"", 0}, false);
}

void gb_mcp_kill_session(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	struct gb_mcp *mcp = request->mcp;
	struct gb_session_info info;
	struct gb_err err = {0};
	bool found = gb_mcp_find_session(mcp, args->session, &info);
	bool was_live = found && info.state != GB_SESSION_TERMINATED;
	if (!found) {
		gb_mcp_refuse(request, "this conversation has no session %s", args->session);
		return;
	}
	if (was_live && !gb_manager_kill(gb_service_agent_sessions(mcp->service), args->session,
			    "ended by the tool kill_session", &err)) {
		gb_mcp_refuse(request, "%s", err.message);
		return;
	}
	struct gb_mcp_run *run = gb_mcp_run_in(mcp, args->session);
	if (run && !run->execution)
		gb_mcp_run_free(run);
	char json[120];
	int n = snprintf(json, sizeof json, "{\"killed\":%s,\"sessionId\":\"%s\"}",
	    was_live ? "true" : "false", args->session);
	gb_mcp_reply(request, (struct gb_str){json, (size_t)n}, (struct gb_str){"", 0}, false);
}
