/* Each line of an MCP client is a message, or gives an error message, which is one line of JSON. */
#include "fuzz.h"

#include <string.h>

#include "mcp/conversation.h"
#include "value/json.h"

static void check_failure(const struct gb_jsonrpc_failure *failure) {
	struct gb_jsonrpc again;
	struct gb_jsonrpc_failure ignored;
	gb_auto_buf struct gb_buf line;
	ALWAYS(failure->code < 0 && *failure->message);
	gb_buf_init(&line, 1 << 16);
	gb_jsonrpc_write_failure(&line, failure);
	ALWAYS(!gb_buf_failed(&line) && !memchr(line.data, '\n', line.len));
	struct gb_values *pool = gb_values_create(0);
	ALWAYS(gb_value_from_plain_json(pool, line.data, line.len, NULL));
	/* An error about no request has the id null, and is itself no message of a client. */
	ALWAYS(gb_jsonrpc_read(pool, line.data, line.len, &again, &ignored) ==
	       (strcmp(failure->id, "null") != 0));
	gb_values_destroy(pool);
}

/* The id of a reply is that of the request. */
static void check_id(const struct gb_value *id) {
	char text[GB_JSONRPC_ID_TEXT], again[GB_JSONRPC_ID_TEXT];
	ALWAYS(gb_jsonrpc_id(id, text));
	struct gb_values *pool = gb_values_create(0);
	const struct gb_value *read = gb_value_from_plain_json(pool, text, strlen(text), NULL);
	ALWAYS(gb_jsonrpc_id(read, again) && strcmp(text, again) == 0);
	ALWAYS(gb_value_type(read) == gb_value_type(id));
	gb_values_destroy(pool);
}

static void check_message(const struct gb_jsonrpc *message, struct gb_jsonrpc_failure *failure) {
	enum gb_mcp_era era, with_header;
	if (message->kind != GB_JSONRPC_NOTIFICATION)
		check_id(message->id);
	if (message->kind == GB_JSONRPC_RESPONSE) {
		ALWAYS(!message->result != !message->error);
		return;
	}
	ALWAYS(message->method.p && message->method.n <= GB_JSONRPC_METHOD_MAX);
	ALWAYS(!message->params || gb_value_type(message->params) == GB_OBJECT);
	bool ok = gb_mcp_era(message, NULL, &era, failure);
	if (!ok)
		check_failure(failure);
	/* A header cannot make a message legacy, and cannot admit one that is refused without it. */
	if (gb_mcp_era(message, "2026-07-28", &with_header, failure))
		ALWAYS(ok && with_header == GB_MCP_MODERN && era == GB_MCP_MODERN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_values *pool = gb_values_create(gb_jsonrpc_memory(size));
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	if (gb_jsonrpc_read(pool, (const char *)data, size, &message, &failure))
		check_message(&message, &failure);
	else
		check_failure(&failure);
	gb_values_destroy(pool);
	return 0;
}
