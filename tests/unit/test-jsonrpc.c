#include "mcp/conversation.h"
#include "tap.h"

static struct gb_values *pool;

static bool read_text(const char *text, struct gb_jsonrpc *ret, struct gb_jsonrpc_failure *failure) {
	gb_values_destroy(pool);
	pool = gb_values_create(0);
	return gb_jsonrpc_read(pool, text, strlen(text), ret, failure);
}

static int code_of(const char *text) {
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	return read_text(text, &message, &failure) ? 0 : failure.code;
}

TEST(requests_notifications_and_responses_are_distinguished) {
	static const struct {
		const char *text;
		enum gb_jsonrpc_kind kind;
	} cases[] = {
	    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", GB_JSONRPC_REQUEST},
	    {"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{}}", GB_JSONRPC_NOTIFICATION},
	    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", GB_JSONRPC_RESPONSE},
	    {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{}}", GB_JSONRPC_RESPONSE},
	};
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK(read_text(cases[i].text, &message, &failure));
		CHECK_INT(message.kind, cases[i].kind);
	}
}

TEST(each_kind_of_invalid_message_has_its_error_code) {
	CHECK_INT(code_of("{"), GB_JSONRPC_PARSE);
	CHECK_INT(code_of("[]"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(code_of("{\"jsonrpc\":\"2.0\",\"id\":1}"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(code_of("{\"jsonrpc\":\"2.0\",\"result\":1}"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(code_of("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"a\"}"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(code_of("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"a\"}"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(code_of("{\"jsonrpc\":\"2.0\",\"id\":1e300,\"method\":\"a\"}"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(
	    code_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}"), GB_JSONRPC_INVALID_REQUEST);
	CHECK_INT(code_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[]}"),
	    GB_JSONRPC_INVALID_PARAMS);
}

TEST(a_key_that_occurs_twice_is_refused) {
	static const char start[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"";
	static const char *const rest[] = {",\"id\":1", ",\"method\":\"b\"", ",\"\":1,\"\":2",
	    ",\"params\":{\"name\":1,\"n\\u0061me\":1}",
	    ",\"params\":{\"arguments\":{\"code\":1,\"code\":2}}"};
	char text[200];
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		snprintf(text, sizeof text, "%s%s}", start, rest[i]);
		CHECK_INT(code_of(text), GB_JSONRPC_PARSE);
	}
	snprintf(text, sizeof text, "%s,\"params\":{\"a\":{\"x\":1},\"b\":{\"x\":1}}}", start);
	CHECK_INT(code_of(text), 0);
}

TEST(an_error_has_the_id_of_the_refused_request) {
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	CHECK(!read_text("{\"jsonrpc\":\"1\",\"id\":\"q\\\"\",\"method\":\"a\"}", &message, &failure));
	CHECK_STR(failure.id, "\"q\\\"\"");
	CHECK(!read_text("{\"jsonrpc\":\"1\",\"id\":[],\"method\":\"a\"}", &message, &failure));
	CHECK_STR(failure.id, "null");
}

TEST(the_era_is_determined_by_the_body) {
	static const char modern[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
	static const char legacy[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	enum gb_mcp_era era;
	CHECK(read_text(modern, &message, &failure) && gb_mcp_era(&message, NULL, &era, &failure));
	CHECK_INT(era, GB_MCP_MODERN);
	CHECK(gb_mcp_era(&message, "2025-11-25", &era, &failure));
	CHECK_INT(era, GB_MCP_MODERN);
	CHECK(read_text(legacy, &message, &failure) && gb_mcp_era(&message, NULL, &era, &failure));
	CHECK_INT(era, GB_MCP_LEGACY);
	CHECK(gb_mcp_era(&message, "2025-11-25", &era, &failure));
	CHECK_INT(era, GB_MCP_LEGACY);
	/* The header says modern, but the body names no version. */
	CHECK(!gb_mcp_era(&message, "2026-07-28", &era, &failure));
	CHECK_INT(failure.code, GB_JSONRPC_INVALID_PARAMS);
	gb_values_destroy(pool);
	pool = NULL;
}
