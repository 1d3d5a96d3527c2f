/* What the model is told, from the settings. */
#include "base/cleanup.h"
#include "config/settings.h"
#include "config/values.h"
#include "engine/engine.h"
#include "gate/faces.h"
#include "mcp/conversation.h"

bool gb_mcp_offers(const struct gb_mcp *mcp, enum gb_language language) {
	const struct gb_config *config = mcp->config;
	return config->agent.enabled && mcp->languages & 1u << language &&
	       config->agent.allowed_runtimes & 1u << gb_config_runtime_of(language);
}

bool gb_mcp_offers_network_to(const struct gb_mcp *mcp, enum gb_language language) {
	return mcp->config->network.allowlist.n && gb_mcp_offers(mcp, language) &&
	       gb_language_has(language, GB_NEED_NET);
}

bool gb_mcp_offers_network(const struct gb_mcp *mcp) {
	bool any = false;
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		any |= gb_mcp_offers_network_to(mcp, (enum gb_language)i);
	return any;
}

static void write_network(const struct gb_mcp *mcp, struct gb_buf *out) {
	const struct gb_config_list *hosts = &mcp->config->network.allowlist;
	const char *comma = "";
	if (!gb_mcp_offers_network(mcp)) {
		gb_buf_printf(out, "It has no network. ");
		return;
	}
	gb_buf_printf(out, "It has no network, except with tier \"network\" (");
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		if (gb_mcp_offers_network_to(mcp, (enum gb_language)i)) {
			gb_buf_printf(out, "%s%s", comma, gb_language_infos[i].name);
			comma = ", ";
		}
	gb_buf_printf(out, "): then it reaches these hosts by name, and no others: ");
	for (size_t i = 0; i < hosts->n; i++)
		gb_buf_printf(out, "%s%s", i ? ", " : "", hosts->items[i]);
	gb_buf_printf(out, ". ");
}

static void write_runtimes(const struct gb_mcp *mcp, struct gb_buf *out) {
	const struct gb_config *config = mcp->config;
	const char *comma = "";
	for (unsigned i = 0; i < GB_LANGUAGES; i++) {
		enum gb_config_runtime runtime = gb_config_runtime_of((enum gb_language)i);
		if (!gb_mcp_offers(mcp, (enum gb_language)i))
			continue;
		gb_buf_printf(out, "%s%s (%s; ", comma, gb_language_infos[i].name, gb_language_infos[i].doc);
		gb_config_write_duration(out, gb_config_agent_timeout(config, runtime));
		gb_buf_printf(out, ", ");
		gb_config_write_size(out, config->limits[runtime].memory_bytes);
		gb_buf_printf(out, " memory)");
		comma = ", ";
	}
}

static void write_lifetime(const struct gb_config *config, struct gb_buf *out) {
	gb_buf_printf(out, "at most %u sessions; one ends when it is not used for ",
	    config->agent.max_concurrent_sessions);
	gb_config_write_duration(out, config->sessions.idle_ms);
	gb_buf_printf(out, ", and after ");
	gb_config_write_duration(out, config->sessions.max_age_ms);
}

void gb_mcp_describe_execute(const struct gb_mcp *mcp, struct gb_buf *out) {
	const struct gb_config *config = mcp->config;
	gb_buf_printf(out, "Run code in an isolated sandbox, without the user's files. Runtimes: ");
	write_runtimes(mcp, out);
	gb_buf_printf(out, ". ");
	write_network(mcp, out);
	if (config->agent.persistent_sessions) {
		gb_buf_printf(out, "Variables, imports and files stay in the session for later calls (");
		write_lifetime(config, out);
		gb_buf_printf(out, "). ");
	} else {
		gb_buf_printf(out, "Each call starts with an empty state. ");
	}
	gb_buf_printf(out, "Print only what you need: output is cut at ");
	gb_config_write_size(out, config->agent.max_output_bytes);
	gb_buf_printf(out, ", code at ");
	gb_config_write_size(out, config->agent.max_code_bytes);
	gb_buf_printf(out, ". Ask the user before long work.");
	if (!gb_config_is_waived(config, GB_FACE_EXECUTE_CODE)) {
		gb_buf_printf(out, " A person approves each call, within ");
		gb_config_write_duration(out, config->approvals.timeout_ms);
		gb_buf_printf(out, "; a refusal is final.");
	}
}

void gb_mcp_describe_sessions(const struct gb_mcp *mcp, struct gb_buf *out) {
	gb_buf_printf(out, "List the sessions of this conversation, with their state (");
	write_lifetime(mcp->config, out);
	gb_buf_printf(out, ").");
}

void gb_mcp_instructions(const struct gb_mcp *mcp, struct gb_buf *out) {
	const struct gb_config *config = mcp->config;
	if (!config->agent.enabled)
		gb_buf_printf(out,
		    "Running code is disabled, so there are no tools. The owner of this machine enables it "
		    "with "
		    "the setting agent.enabled (a line in ~/.config/glovebox/glovebox.yaml: agent: {enabled: "
		    "true}), and starts this server again.");
	else if (!config->agent.allowed_runtimes)
		gb_buf_printf(
		    out, "No runtime is allowed (setting agent.allowedRuntimes), so there are no tools.");
	else
		gb_buf_printf(out,
		    "execute_code runs code in a sandbox and keeps its state in a session. Use it for "
		    "computing, "
		    "converting data and working on files. The prompt 'running-code' has the rules.");
}
