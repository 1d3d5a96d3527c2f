/*
 * The server of 'glovebox mcp' with the tools, resources and prompts that the conformance suite of MCP expects.
 * Only for tests: the program has none of this.
 *
 * Usage: mcp-fixtures STATE-FOLDER, with the folder of the workers in GB_WORKER_DIR.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "mcp/conversation.h"
#include "mcp/stdio.h"

#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
/* One red pixel, and the header of a sound without samples. */
#define IMAGE                                                                                                \
	"{\"type\":\"image\",\"mimeType\":\"image/"                                                          \
	"png\",\"data\":\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1Pe"                                      \
	"AAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC\"}"
#define AUDIO                                                                                                \
	"{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":"                                           \
	"\"UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=\"}"
#define RESOURCE(uri, text)                                                                                  \
	"{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri                                                \
	"\",\"mimeType\":\"text/plain\",\"text\":\"" text "\"}}"

struct fixture {
	const char *name, *result; /* members of the result */
};

#define CONTENT(...) "\"content\":[" __VA_ARGS__ "]"

static const struct fixture tools[] = {
    {"test_simple_text", CONTENT(TEXT("This is a simple text response for testing."))},
    {"test_image_content", CONTENT(IMAGE)},
    {"test_audio_content", CONTENT(AUDIO)},
    {"test_embedded_resource",
	CONTENT(RESOURCE("test://embedded-resource", "This is an embedded resource content."))},
    {"test_multiple_content_types", CONTENT(TEXT("Multiple content types test:") "," IMAGE "," RESOURCE(
					"test://mixed-content-resource", "{}"))},
    {"test_tool_with_progress", CONTENT(TEXT("done"))},
    {"test_error_handling",
	CONTENT(TEXT("This tool intentionally returns an error for testing")) ",\"isError\":true"},
    {0},
};

#define SAID(content) "{\"role\":\"user\",\"content\":" content "}"

static const struct fixture prompts[] = {
    {"test_simple_prompt", "\"messages\":[" SAID(TEXT("This is a simple prompt for testing.")) "]"},
    {"test_prompt_with_image",
	"\"messages\":[" SAID(IMAGE) "," SAID(TEXT("Please analyze the image above.")) "]"},
    {0},
};

#define READ(uri, type, member, content)                                                                     \
	"\"contents\":[{\"uri\":\"" uri "\",\"mimeType\":\"" type "\",\"" member "\":\"" content "\"}]"

static const struct fixture resources[] = {
    {"test://static-text",
	READ("test://static-text", "text/plain", "text", "This is the content of the static text resource.")},
    {"test://static-binary", READ("test://static-binary", "image/png", "blob", "iVBORw0KGgo=")},
    {"test://template/123/data",
	READ("test://template/123/data", "application/json", "text", "{\\\"id\\\":\\\"123\\\"}")},
    {0},
};

/* --- lists --- */

#define TOOL(name)                                                                                           \
	"{\"name\":\"" name "\",\"description\":\"A fixture.\",\"inputSchema\":{\"type\":\"object\"}}"
#define DIALOG   "test_input_required_result_elicitation"
#define TAMPERED "test_input_required_result_tampered_state"
#define DIALOGS  TOOL(DIALOG) "," TOOL(TAMPERED)
#define SCHEMA                                                                                               \
	"{\"name\":\"json_schema_2020_12_tool\",\"description\":\"A fixture.\",\"inputSchema\":{"            \
	"\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","                  \
	"\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\"}},"                          \
	"\"properties\":{\"address\":{\"$ref\":\"#/$defs/address\"},\"phone\":{\"type\":\"string\"}},"       \
	"\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"address\"]}]}],"                 \
	"\"if\":{\"required\":[\"phone\"]},\"then\":{},\"else\":{\"required\":[\"address\"]},"               \
	"\"additionalProperties\":false}}"

static const struct list {
	const char *method, *elements;
} lists[] = {
    {"tools/list",
	/* clang-format off */
	TOOL("test_simple_text") "," TOOL("test_image_content") "," TOOL("test_audio_content") ","
	TOOL("test_embedded_resource") "," TOOL("test_multiple_content_types") "," TOOL("test_tool_with_progress") ","
	TOOL("test_error_handling") "," DIALOGS "," SCHEMA},
    /* clang-format on */
    {"prompts/list",
	"{\"name\":\"test_simple_prompt\",\"description\":\"A "
	"fixture.\"},{\"name\":\"test_prompt_with_image\","
	"\"description\":\"A fixture.\"},{\"name\":\"test_prompt_with_arguments\",\"description\":\"A "
	"fixture.\","
	"\"arguments\":[{\"name\":\"arg1\",\"description\":\"One.\",\"required\":true},{\"name\":\"arg2\","
	"\"description\":\"Two.\",\"required\":true}]},{\"name\":\"test_prompt_with_embedded_resource\","
	"\"description\":\"A fixture.\",\"arguments\":[{\"name\":\"resourceUri\",\"description\":\"Its "
	"URI.\","
	"\"required\":true}]}"},
    {"resources/list",
	"{\"uri\":\"test://static-text\",\"name\":\"static-text\",\"description\":\"A "
	"fixture.\",\"mimeType\":"
	"\"text/plain\"},{\"uri\":\"test://static-binary\",\"name\":\"static-binary\",\"description\":\"A "
	"fixture.\",\"mimeType\":\"image/png\"}"},
    {"resources/templates/list",
	"{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"template\",\"description\":\"A fixture.\","
	"\"mimeType\":\"application/json\"}"},
};

static void append(const char *method, struct gb_buf *out, bool first) {
	for (size_t i = 0; i < GB_COUNT(lists); i++)
		if (strcmp(method, lists[i].method) == 0)
			gb_buf_printf(out, "%s%s", first ? "" : ",", lists[i].elements);
}

/* --- requests --- */

static void reply(struct gb_mcp_request *request, const char *members, bool is_read) {
	struct gb_buf *out = gb_mcp_begin(request);
	gb_buf_printf(out, "%s%s", out->data[out->len - 1] == '{' ? "" : ",", members);
	if (is_read)
		gb_mcp_cacheable(request, out, 0);
	gb_mcp_end(request);
}

static bool reply_fixture(
    struct gb_mcp_request *request, const struct fixture *fixtures, const char *name, bool is_read) {
	for (; fixtures->name; fixtures++)
		if (name && strcmp(name, fixtures->name) == 0) {
			reply(request, fixtures->result, is_read);
			return true;
		}
	return false;
}

static const char *argument(const struct gb_value *params, const char *name) {
	const char *text = gb_jsonrpc_text(gb_value_get(gb_value_get(params, "arguments"), name));
	return text && !strpbrk(text, "\"\\") ? text : "";
}

static bool handle_prompt(struct gb_mcp_request *request, const struct gb_value *params, const char *name) {
	char members[2000];
	if (name && strcmp(name, "test_prompt_with_arguments") == 0)
		snprintf(members, sizeof members,
		    "\"messages\":[" SAID(TEXT("Prompt with arguments: arg1='%.200s', arg2='%.200s'")) "]",
		    argument(params, "arg1"), argument(params, "arg2"));
	else if (name && strcmp(name, "test_prompt_with_embedded_resource") == 0)
		snprintf(members, sizeof members,
		    "\"messages\":[" SAID(RESOURCE("%.200s",
			"Embedded resource content for testing.")) "," SAID(TEXT("Please process the "
										 "embedded resource "
										 "above.")) "]",
		    argument(params, "resourceUri"));
	else
		return reply_fixture(request, prompts, name, false);
	reply(request, members, false);
	return true;
}

/* The dialog is the server's own, of code that waits for approval. */
static void open_dialog(struct gb_mcp_request *request, const struct gb_value *params) {
	const struct gb_mcp_args args = {.runtime = GB_PYTHON, .code = GB_STR("1")};
	if (!gb_mcp_continue(request, params))
		gb_mcp_execute(request, &args);
}

static bool handle(struct gb_mcp_request *request, const struct gb_jsonrpc *message) {
	const char *name = gb_jsonrpc_text(gb_value_get(message->params, "name"));
	if (gb_str_eq(message->method, GB_STR("prompts/get")))
		return handle_prompt(request, message->params, name);
	if (gb_str_eq(message->method, GB_STR("resources/read")))
		return reply_fixture(
		    request, resources, gb_jsonrpc_text(gb_value_get(message->params, "uri")), true);
	if (!gb_str_eq(message->method, GB_STR("tools/call")))
		return false;
	if (name && (strcmp(name, DIALOG) == 0 || strcmp(name, TAMPERED) == 0)) {
		open_dialog(request, message->params);
		return true;
	}
	for (int i = 0; name && strcmp(name, "test_tool_with_progress") == 0 && i < 3; i++)
		gb_mcp_report(request, GB_STR("working"));
	return reply_fixture(request, tools, name, false);
}

/* --- the server --- */

static int fail(const struct gb_err *err) {
	fprintf(stderr, "mcp-fixtures: %s\n", err->message);
	return 1;
}

int main(int argc, char **argv) {
	static const struct gb_mcp_extension extension = {append, handle};
	char state[4200];
	struct gb_err err = {0};
	struct gb_loop loop = {.epoll = -1};
	struct gb_service *service = NULL;
	struct gb_mcp_stdio *stdio = NULL;
	const struct gb_config *config = NULL;
	signal(SIGPIPE, SIG_IGN);
	snprintf(state, sizeof state, "stateDir=%s", argc > 1 ? argv[1] : "");
	const char *const set[] = {state, "agent.enabled=true", "mcp.trustClientApproval=true"};
	const struct gb_config_sources sources = {.text = "", .set = set, .n_set = GB_COUNT(set)};
	if (!gb_loop_init(&loop, &err) || !gb_config_load(&sources, &config, &err))
		return fail(&err);
	const struct gb_service_options options = {
	    .loop = &loop, .config = config, .engine.worker_dir = getenv("GB_WORKER_DIR")};
	if (!gb_service_create(&options, &service, &err) || !gb_service_accept_agents(service, NULL, &err))
		return fail(&err);
	const struct gb_mcp_stdio_options streams = {
	    .service = service, .config = config, .in = dup(0), .out = dup(1), .extension = &extension};
	if (!gb_mcp_stdio_open(&streams, &stdio, &err))
		return fail(&err);
	while (!gb_mcp_stdio_ended(stdio) && gb_mcp_stdio_turn(stdio, &err))
		;
	gb_mcp_stdio_close(stdio);
	gb_service_destroy(service);
	gb_loop_finish(&loop);
	gb_config_unref(config);
	return 0;
}
