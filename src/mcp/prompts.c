/* Prompts: the section on running code for the model's system prompt. */
#include "base/cleanup.h"
#include "mcp/conversation.h"

#define NAME        "running-code"
#define DESCRIPTION "What the model can run here, within which limits, and how to use it well."

enum { LIST_TTL_MS = 60000, TEXT_MAX = 64 << 10 };

static bool is_offered(const struct gb_mcp *mcp) {
	return mcp->config->agent.enabled && mcp->config->agent.allowed_runtimes;
}

void gb_mcp_list_prompts(struct gb_mcp_request *request) {
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_key(out, "prompts");
	gb_buf_append_char(out, '[');
	if (is_offered(request->mcp))
		gb_buf_printf(out,
		    "{\"name\":\"" NAME "\",\"title\":\"Running code\",\"description\":\"" DESCRIPTION "\"}");
	gb_mcp_extend(request->mcp, "prompts/list", out);
	gb_buf_append_char(out, ']');
	gb_mcp_cacheable(request, out, LIST_TTL_MS);
	gb_mcp_end(request);
}

void gb_mcp_get_prompt(struct gb_mcp_request *request, const struct gb_value *params) {
	struct gb_mcp *mcp = request->mcp;
	const char *name = gb_jsonrpc_text(gb_value_get(params, "name"));
	if (!name || strcmp(name, NAME) != 0 || !is_offered(mcp)) {
		gb_mcp_fail(request, GB_JSONRPC_INVALID_PARAMS, "there is no prompt '%.*s'",
		    (int)gb_text_fit(gb_str_from(name ? name : ""), 64), name ? name : "");
		return;
	}
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, TEXT_MAX);
	gb_config_prompt(mcp->config, true, &text);
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_text(out, "description", GB_STR(DESCRIPTION));
	gb_mcp_key(out, "messages");
	gb_buf_printf(out, "[{\"role\":\"user\",\"content\":{\"type\":\"text\"");
	gb_mcp_text(out, "text", gb_buf_str(&text));
	gb_buf_printf(out, "}}]");
	gb_mcp_end(request);
}
