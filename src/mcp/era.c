/* The two eras of the protocol. */
#include "base/cleanup.h"
#include "mcp/conversation.h"
#include "value/json.h"

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

static const char modern_version[] = "2026-07-28";
/* Newest first. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

const char *gb_mcp_legacy_version(const char *asked) {
	for (size_t i = 0; asked && i < GB_COUNT(legacy_versions); i++)
		if (strcmp(asked, legacy_versions[i]) == 0)
			return legacy_versions[i];
	return legacy_versions[0];
}

bool gb_mcp_can_elicit(const struct gb_value *capabilities) {
	const struct gb_value *elicitation = gb_value_get(capabilities, "elicitation");
	return gb_value_type(elicitation) == GB_OBJECT &&
	       (gb_value_count(elicitation) == 0 || gb_value_get(elicitation, "form"));
}

static bool fail_version(const char *requested, struct gb_jsonrpc_failure *failure) {
	gb_auto_buf struct gb_buf data;
	gb_buf_init(&data, sizeof failure->data - 1);
	gb_buf_printf(&data, "{\"supported\":[\"%s\"],\"requested\":", modern_version);
	gb_json_append_string(&data, gb_str_from(requested));
	gb_buf_append_char(&data, '}');
	const char *text = gb_buf_c_str(&data);
	if (text)
		memcpy(failure->data, text, data.len + 1);
	return gb_jsonrpc_fail(
	    failure, GB_JSONRPC_UNSUPPORTED_VERSION, "this version of the protocol is not supported");
}

static bool check_modern(
    const struct gb_value *meta, const struct gb_value *claim, struct gb_jsonrpc_failure *failure) {
	const char *version = gb_jsonrpc_text(claim);
	if (!version)
		return gb_jsonrpc_fail(
		    failure, GB_JSONRPC_INVALID_PARAMS, "_meta." META_VERSION " must be a text");
	if (strcmp(version, modern_version) != 0)
		return fail_version(version, failure);
	return gb_value_type(gb_value_get(meta, META_CAPABILITIES)) == GB_OBJECT ||
	       gb_jsonrpc_fail(
		   failure, GB_JSONRPC_INVALID_PARAMS, "_meta." META_CAPABILITIES " must be an object");
}

bool gb_mcp_era(const struct gb_jsonrpc *message, const char *version, enum gb_mcp_era *ret,
    struct gb_jsonrpc_failure *failure) {
	const struct gb_value *meta = gb_value_get(message->params, "_meta");
	const struct gb_value *claim = gb_value_get(meta, META_VERSION);
	*ret = claim ? GB_MCP_MODERN : GB_MCP_LEGACY;
	if (meta && gb_value_type(meta) != GB_OBJECT)
		return gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_PARAMS, "_meta must be an object");
	if (claim)
		return check_modern(meta, claim, failure);
	if (version && strcmp(version, modern_version) >= 0)
		return gb_jsonrpc_fail(
		    failure, GB_JSONRPC_INVALID_PARAMS, "_meta." META_VERSION " is missing");
	/* Only the modern era has it, and it cannot be without its version. */
	if (gb_str_eq(message->method, GB_STR("server/discover")))
		return gb_jsonrpc_fail(
		    failure, GB_JSONRPC_INVALID_PARAMS, "_meta." META_VERSION " is missing");
	return true;
}
