/* Requests, notifications and their replies. */
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "glovebox/glovebox.h"
#include "mcp/conversation.h"
#include "value/json.h"

enum { LIST_TTL_MS = 60000, DISCOVER_TTL_MS = 60000 };

/* --- replies --- */

void gb_mcp_key(struct gb_buf *out, const char *key) {
	char last = out->len ? out->data[out->len - 1] : '{';
	gb_buf_printf(out, "%s\"%s\":", last == '{' ? "" : ",", key);
}

void gb_mcp_text(struct gb_buf *out, const char *key, struct gb_str text) {
	gb_mcp_key(out, key);
	gb_json_append_bytes(out, text);
}

static void write_server_info(struct gb_buf *out) {
	gb_buf_printf(out, "{\"name\":\"glovebox\",\"title\":\"Glovebox\",\"version\":\"%s\"}", GB_VERSION);
}

struct gb_buf *gb_mcp_begin_as(struct gb_mcp_request *request, const char *type) {
	struct gb_buf *out = &request->mcp->out;
	gb_buf_clear(out);
	gb_buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{", request->id);
	if (request->era == GB_MCP_MODERN) {
		gb_buf_printf(
		    out, "\"resultType\":\"%s\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":", type);
		write_server_info(out);
		gb_buf_append_char(out, '}');
	}
	return out;
}

struct gb_buf *gb_mcp_begin(struct gb_mcp_request *request) {
	return gb_mcp_begin_as(request, "complete");
}

static void send(struct gb_mcp *mcp, void *context, bool is_last, int error) {
	const struct gb_mcp_output output = {gb_buf_str(&mcp->out), context, is_last, error};
	if (!gb_buf_failed(&mcp->out))
		mcp->options.send(&output, mcp->options.data);
	/* Do not keep the memory of a long message. */
	if (mcp->out.cap > 1 << 20)
		gb_buf_finish(&mcp->out);
}

void gb_mcp_send(struct gb_mcp *mcp, struct gb_mcp_request *request) {
	send(mcp, request ? request->context : NULL, false, 0);
}

void gb_mcp_request_free(struct gb_mcp_request *request) {
	gb_list_remove(&request->link);
	if (request->reading)
		request->reading->request = NULL;
	request->mcp->n_requests--;
	free(request->id);
	free(request->token);
	free(request);
}

void gb_mcp_end(struct gb_mcp_request *request) {
	struct gb_buf *out = &request->mcp->out;
	gb_buf_append(out, "}}", 2);
	if (gb_buf_failed(out)) {
		gb_mcp_fail(request, GB_JSONRPC_INTERNAL, "the result is too large");
		return;
	}
	send(request->mcp, request->context, true, 0);
	gb_mcp_request_free(request);
}

static void reply_failure(struct gb_mcp *mcp, void *context, const struct gb_jsonrpc_failure *failure) {
	gb_buf_clear(&mcp->out);
	gb_jsonrpc_write_failure(&mcp->out, failure);
	send(mcp, context, true, failure->code);
}

void gb_mcp_fail_with(struct gb_mcp_request *request, struct gb_jsonrpc_failure *failure) {
	gb_copy_text(failure->id, sizeof failure->id, gb_str_from(request->id));
	reply_failure(request->mcp, request->context, failure);
	gb_mcp_request_free(request);
}

void gb_mcp_fail(struct gb_mcp_request *request, int code, const char *format, ...) {
	struct gb_jsonrpc_failure failure = {.code = code};
	va_list ap;
	va_start(ap, format);
	vsnprintf(failure.message, sizeof failure.message, format, ap);
	va_end(ap);
	gb_mcp_fail_with(request, &failure);
}

void gb_mcp_cacheable(struct gb_mcp_request *request, struct gb_buf *out, unsigned ttl_ms) {
	if (request->era != GB_MCP_MODERN)
		return;
	gb_mcp_key(out, "ttlMs");
	gb_buf_printf(out, "%u,\"cacheScope\":\"private\"", ttl_ms);
}

void gb_mcp_extend(struct gb_mcp *mcp, const char *method, struct gb_buf *out) {
	if (mcp->options.extension && mcp->options.extension->append)
		mcp->options.extension->append(method, out, out->data[out->len - 1] == '[');
}

/* --- the handshake of each era --- */

static void write_capabilities(struct gb_buf *out) {
	gb_mcp_key(out, "capabilities");
	gb_buf_printf(out, "{\"tools\":{},\"resources\":{},\"prompts\":{}}");
}

static void write_instructions(const struct gb_mcp *mcp, struct gb_buf *out) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 64 << 10);
	gb_mcp_instructions(mcp, &text);
	gb_mcp_text(out, "instructions", gb_buf_str(&text));
}

static void note_client(struct gb_mcp *mcp, const struct gb_value *info) {
	const char *name = gb_jsonrpc_text(gb_value_get(info, "name"));
	if (name && *name)
		gb_copy_text(mcp->client_name, sizeof mcp->client_name, gb_str_from(name));
}

static void initialize(struct gb_mcp_request *request, const struct gb_value *params) {
	struct gb_mcp *mcp = request->mcp;
	const char *asked = gb_jsonrpc_text(gb_value_get(params, "protocolVersion"));
	if (request->era == GB_MCP_MODERN) {
		gb_mcp_fail(request, GB_JSONRPC_NO_METHOD, "'initialize' is not part of this version");
		return;
	}
	if (!asked) {
		gb_mcp_fail(request, GB_JSONRPC_INVALID_PARAMS, "protocolVersion must be a text");
		return;
	}
	mcp->elicits = gb_mcp_can_elicit(gb_value_get(params, "capabilities"));
	note_client(mcp, gb_value_get(params, "clientInfo"));
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_text(out, "protocolVersion", gb_str_from(gb_mcp_legacy_version(asked)));
	write_capabilities(out);
	gb_mcp_key(out, "serverInfo");
	write_server_info(out);
	write_instructions(mcp, out);
	gb_mcp_end(request);
}

static void discover(struct gb_mcp_request *request, const struct gb_value *params) {
	struct gb_buf *out = gb_mcp_begin(request);
	(void)params;
	gb_mcp_key(out, "supportedVersions");
	gb_buf_printf(out, "[\"2026-07-28\"]");
	write_capabilities(out);
	write_instructions(request->mcp, out);
	gb_mcp_cacheable(request, out, DISCOVER_TTL_MS);
	gb_mcp_end(request);
}

static void ping(struct gb_mcp_request *request, const struct gb_value *params) {
	(void)params;
	gb_mcp_begin(request);
	gb_mcp_end(request);
}

/* --- methods --- */

/* Lists have one page, so there is no cursor that a client can have. */
static bool check_page(struct gb_mcp_request *request, const struct gb_value *params) {
	const bool first = !gb_value_get(params, "cursor");
	if (!first)
		gb_mcp_fail(
		    request, GB_JSONRPC_INVALID_PARAMS, "the cursor is unknown: the list has one page");
	return first;
}

#define LIST(name)                                                                                           \
	static void name(struct gb_mcp_request *request, const struct gb_value *params) {                    \
		if (check_page(request, params))                                                             \
			gb_mcp_##name(request);                                                              \
	}
LIST(list_tools)
LIST(list_resources)
LIST(list_templates)
LIST(list_prompts)

enum { LEGACY = 1 << GB_MCP_LEGACY, MODERN = 1 << GB_MCP_MODERN };

static const struct method {
	const char *name;
	unsigned eras;
	void (*handle)(struct gb_mcp_request *request, const struct gb_value *params);
} methods[] = {
    {"initialize", LEGACY | MODERN, initialize},
    {"ping", LEGACY, ping},
    {"server/discover", MODERN, discover},
    {"tools/list", LEGACY | MODERN, list_tools},
    {"tools/call", LEGACY | MODERN, gb_mcp_call_tool},
    {"resources/list", LEGACY | MODERN, list_resources},
    {"resources/templates/list", LEGACY | MODERN, list_templates},
    {"resources/read", LEGACY | MODERN, gb_mcp_read_resource},
    {"prompts/list", LEGACY | MODERN, list_prompts},
    {"prompts/get", LEGACY | MODERN, gb_mcp_get_prompt},
};

static const struct method *find_method(struct gb_str name, enum gb_mcp_era era) {
	for (size_t i = 0; i < GB_COUNT(methods); i++)
		if (gb_str_eq(name, gb_str_from(methods[i].name)) && methods[i].eras & 1u << era)
			return &methods[i];
	return NULL;
}

struct gb_mcp_request *gb_mcp_find_request(struct gb_mcp *mcp, const char *id) {
	gb_list_each(struct gb_mcp_request, request, &mcp->requests, link) {
		if (strcmp(request->id, id) == 0)
			return request;
	}
	return NULL;
}

static struct gb_mcp_request *create_request(
    struct gb_mcp *mcp, const struct gb_jsonrpc *message, enum gb_mcp_era era, const char *id) {
	const struct gb_value *meta = gb_value_get(message->params, "_meta");
	char token[GB_JSONRPC_ID_TEXT];
	struct gb_mcp_request *request = calloc(1, sizeof *request);
	if (!request)
		return NULL;
	request->mcp = mcp;
	request->era = era;
	request->id = strdup(id);
	if (gb_jsonrpc_id(gb_value_get(meta, "progressToken"), token))
		request->token = strdup(token);
	request->elicits =
	    era == GB_MCP_MODERN
		? gb_mcp_can_elicit(gb_value_get(meta, "io.modelcontextprotocol/clientCapabilities"))
		: mcp->elicits;
	if (era == GB_MCP_MODERN)
		note_client(mcp, gb_value_get(meta, "io.modelcontextprotocol/clientInfo"));
	request->beat_at = gb_now_ns() + mcp->config->mcp.heartbeat_ms * 1000000;
	gb_list_append(&mcp->requests, &request->link);
	mcp->n_requests++;
	if (request->id)
		return request;
	gb_mcp_request_free(request);
	return NULL;
}

static void dispatch(struct gb_mcp_request *request, const struct gb_jsonrpc *message) {
	const struct gb_mcp_extension *extension = request->mcp->options.extension;
	const struct method *method = find_method(message->method, request->era);
	if (extension && extension->handle && extension->handle(request, message))
		return;
	if (method)
		method->handle(request, message->params);
	else
		gb_mcp_fail(
		    request, GB_JSONRPC_NO_METHOD, "there is no method '%.*s'", GB_STR_ARG(message->method));
}

static bool admit(struct gb_mcp *mcp, const struct gb_jsonrpc *message, enum gb_mcp_era *ret_era,
    const struct gb_mcp_input *input, struct gb_jsonrpc_failure *failure) {
	if (gb_mcp_find_request(mcp, failure->id)) {
		/* An error with this id would end the other request. */
		memcpy(failure->id, "null", sizeof "null");
		return gb_jsonrpc_fail(
		    failure, GB_JSONRPC_INVALID_REQUEST, "another request with this id has no response yet");
	}
	if (mcp->n_requests >= GB_MCP_REQUESTS_MAX)
		return gb_jsonrpc_fail(failure, GB_JSONRPC_BUSY,
		    "%u requests have no response yet, which is the limit", mcp->n_requests);
	return gb_mcp_era(message, input ? input->version : NULL, ret_era, failure);
}

static void handle_request(struct gb_mcp *mcp, const struct gb_jsonrpc *message,
    const struct gb_mcp_input *input, struct gb_jsonrpc_failure *failure) {
	enum gb_mcp_era era = GB_MCP_LEGACY;
	void *context = input ? input->context : NULL;
	gb_jsonrpc_id(message->id, failure->id);
	struct gb_mcp_request *request = NULL;
	if (admit(mcp, message, &era, input, failure) &&
	    !(request = create_request(mcp, message, era, failure->id)))
		gb_jsonrpc_fail(failure, GB_JSONRPC_INTERNAL, "out of memory");
	if (!request) {
		reply_failure(mcp, context, failure);
		return;
	}
	request->context = context;
	dispatch(request, message);
}

/* Unknown notifications are ignored, as JSON-RPC says. */
static void handle_notification(struct gb_mcp *mcp, const struct gb_jsonrpc *message) {
	char id[GB_JSONRPC_ID_TEXT];
	if (!gb_str_eq(message->method, GB_STR("notifications/cancelled")) ||
	    !gb_jsonrpc_id(gb_value_get(message->params, "requestId"), id))
		return;
	struct gb_mcp_request *request = gb_mcp_find_request(mcp, id);
	if (request)
		gb_mcp_cancel(request);
}

void gb_mcp_handle(struct gb_mcp *mcp, const struct gb_jsonrpc *message, struct gb_jsonrpc_failure *failure,
    const struct gb_mcp_input *input) {
	if (!message)
		reply_failure(mcp, input ? input->context : NULL, failure);
	else if (message->kind == GB_JSONRPC_REQUEST)
		handle_request(mcp, message, input, failure);
	else if (message->kind == GB_JSONRPC_NOTIFICATION)
		handle_notification(mcp, message);
	else
		gb_mcp_on_answer(mcp, message);
}

void gb_mcp_receive(struct gb_mcp *mcp, struct gb_str text, const struct gb_mcp_input *input) {
	struct gb_values *pool = gb_values_create(gb_jsonrpc_memory(text.n));
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	bool ok = gb_jsonrpc_read(pool, text.p, text.n, &message, &failure);
	gb_mcp_handle(mcp, ok ? &message : NULL, &failure, input);
	gb_values_destroy(pool);
}

/* --- the conversation --- */

static void find_languages(struct gb_mcp *mcp) {
	mcp->languages = 0;
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		if (gb_service_has_language(mcp->service, (enum gb_language)i))
			mcp->languages |= 1u << i;
}

bool gb_mcp_create(const struct gb_mcp_options *options, struct gb_mcp **ret, struct gb_err *err) {
	struct gb_mcp *mcp = calloc(1, sizeof *mcp);
	uint8_t bytes[16];
	if (!mcp)
		return gb_fail(err, GB_ENOMEM, 0, "a client");
	mcp->options = *options;
	mcp->service = options->service;
	mcp->config = gb_config_ref(options->config);
	gb_list_init(&mcp->requests);
	gb_list_init(&mcp->runs);
	gb_list_init(&mcp->kept);
	gb_list_init(&mcp->records);
	gb_buf_init(&mcp->out, GB_MCP_MESSAGE_MAX);
	gb_service_client_init(mcp->service, &mcp->client);
	randombytes_buf(bytes, sizeof bytes);
	static const char prefix[] = "mcp-";
	memcpy(mcp->conversation, prefix, sizeof prefix);
	sodium_bin2hex(mcp->conversation + sizeof prefix - 1, sizeof mcp->conversation - sizeof prefix + 1,
	    bytes, sizeof bytes);
	memcpy(mcp->client_name, "unnamed", sizeof "unnamed");
	find_languages(mcp);
	*ret = mcp;
	return true;
}

void gb_mcp_end_requests(struct gb_mcp *mcp) {
	gb_list_each(struct gb_mcp_run, run, &mcp->runs, link) gb_mcp_run_free(run);
	gb_list_each(struct gb_mcp_request, request, &mcp->requests, link) gb_mcp_request_free(request);
}

void gb_mcp_destroy(struct gb_mcp *mcp) {
	if (!mcp)
		return;
	gb_mcp_end_requests(mcp);
	gb_list_each(struct gb_mcp_kept, kept, &mcp->kept, link) gb_mcp_kept_free(mcp, kept);
	gb_list_each(struct gb_mcp_record, record, &mcp->records, link) gb_mcp_record_free(mcp, record);
	gb_service_client_finish(&mcp->client);
	gb_config_unref(mcp->config);
	gb_buf_finish(&mcp->out);
	free(mcp);
}

void gb_mcp_configure(struct gb_mcp *mcp, const struct gb_config *config) {
	gb_config_unref(mcp->config);
	mcp->config = gb_config_ref(config);
}
