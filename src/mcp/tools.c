/* The tools, as one table: their schemas, and the check of their arguments. */
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/language.h"
#include "mcp/conversation.h"
#include "value/json.h"

enum { LIST_TTL_MS = 60000, NAME_MAX_BYTES = 4096, REFUSAL_MAX = 16 << 10 };

/* --- arguments --- */

enum kind { CODE, RUNTIME, SESSION, SESSION_OR_NEW, NAME, ENCODING, TIER };

struct argument {
	const char *name;
	enum kind kind;
	bool required;
	size_t offset; /* in struct gb_mcp_args */
	const char *doc;
};

enum { ARGUMENTS_MAX = 6 };

#define AT(member) offsetof(struct gb_mcp_args, member)
#define IN_SESSION                                                                                           \
	{ "sessionId", SESSION, true, AT(session), "The handle that execute_code has returned." }

struct tool {
	const char *name, *title;
	void (*describe)(const struct gb_mcp *mcp, struct gb_buf *out); /* NULL: .doc */
	const char *doc;
	const char *annotations, *output; /* JSON */
	void (*call)(struct gb_mcp_request *request, const struct gb_mcp_args *args);
	struct argument arguments[ARGUMENTS_MAX];
	bool needs_sessions; /* it is offered only if executions can keep their state */
	bool runs_code;      /* which reaches hosts, if the settings have some */
};

/* --- schemas of results --- */

// clang-format off
#define OBJECT(properties, required) \
	"{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define LIST(name, doc, item) "\"" name "\":{\"type\":\"array\"," doc "\"items\":" item "}"
#define OF_TYPE(name, type)   "\"" name "\":{\"type\":\"" type "\"}"
#define DESCRIBED(name, type, doc) \
	"\"" name "\":{\"type\":" type ",\"description\":\"" doc "\"}"
/* Two schemas and not one with two types, which some clients do not take. */
#define NULLABLE(name, type, doc)                                                                            \
	"\"" name "\":{\"anyOf\":[{\"type\":\"" type "\"},{\"type\":\"null\"}],\"description\":\"" doc "\"}"
#define TEXT(name)   OF_TYPE(name, "string")
#define WHOLE(name)  OF_TYPE(name, "integer")
#define TRUTH(name)  OF_TYPE(name, "boolean")
#define FILE_ENTRY   OBJECT(TEXT("path") "," WHOLE("bytes"), "\"path\",\"bytes\"")

#define EXECUTED OBJECT( \
	DESCRIBED("stdout", "\"string\"", "Standard output and console.log.") "," \
	DESCRIBED("stderr", "\"string\"", "Standard error and console.error.") "," \
	NULLABLE("exitCode", "integer", "0 on success; null if the code did not end by itself.") "," \
	TRUTH("timedOut") "," \
	DESCRIBED("truncated", "\"boolean\"", "Output was cut at its limit.") "," \
	DESCRIBED("duration", "\"number\"", "Milliseconds.") "," \
	DESCRIBED("sessionId", "\"string\"", "Pass it to later calls that need the same state.") "," \
	DESCRIBED("value", "\"string\"", "The value of the code, if it has one.") "," \
	"\"error\":" OBJECT(TEXT("name") "," TEXT("message") "," TEXT("code") "," TEXT("stack"), "\"name\",\"message\"") "," \
	"\"awaitingInput\":{\"description\":\"The code waits for input: answer with send_input.\",\"type\":\"object\"," \
	"\"properties\":{" TEXT("prompt") "},\"required\":[\"prompt\"]}," \
	LIST("files", "\"description\":\"Files that the code has created or changed.\",", FILE_ENTRY) "," \
	LIST("denials", "\"description\":\"What was refused to the code, and which setting allows it.\",", \
	    OBJECT(TEXT("kind") "," TEXT("host") "," WHOLE("port") "," TEXT("rule") "," TEXT("reason") "," TEXT("remedy"), \
	    "\"kind\"")), \
	"\"stdout\",\"stderr\",\"exitCode\",\"timedOut\",\"truncated\",\"duration\"")

#define SESSIONS OBJECT( \
	LIST("sessions", "", OBJECT( \
	    TEXT("id") "," TEXT("conversationId") "," TEXT("runtime") "," \
	    "\"tier\":{\"type\":\"string\",\"enum\":[\"isolated\",\"network\"]}," \
	    "\"state\":{\"type\":\"string\",\"enum\":[\"idle\",\"executing\",\"awaiting_input\",\"terminated\"]}," \
	    TEXT("createdAt") "," TEXT("lastUsedAt") "," WHOLE("executionCount") "," TRUTH("trusted") "," \
	    TEXT("prompt") "," TEXT("reason"), \
	    "\"id\",\"conversationId\",\"runtime\",\"tier\",\"state\",\"createdAt\",\"lastUsedAt\",\"executionCount\",\"trusted\"")), \
	"\"sessions\"")

#define KILLED       OBJECT(TRUTH("killed") "," TEXT("sessionId"), "\"killed\",\"sessionId\"")
#define FILE_READ OBJECT( \
	TEXT("path") "," TEXT("content") "," \
	"\"encoding\":{\"type\":\"string\",\"enum\":[\"utf8\",\"base64\"]}," WHOLE("bytes"), \
	"\"path\",\"content\",\"encoding\",\"bytes\"")
#define FILE_WRITTEN FILE_ENTRY
#define FILES        OBJECT(LIST("files", "", FILE_ENTRY) "," TRUTH("truncated"), "\"files\",\"truncated\"")
// clang-format on

/* Code has no files of the user. Without a network nothing outside the sandbox can change, and what it destroys is the
 * state of its own session. */
#define CHANGES                                                                                              \
	"{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false,\"openWorldHint\":false}"
#define CHANGES_OUTSIDE                                                                                      \
	"{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false,\"openWorldHint\":true}"
#define READS                                                                                                \
	"{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}"
#define ENDS                                                                                                 \
	"{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":true,\"openWorldHint\":false}"

static const struct tool tools[] = {
    {.name = "execute_code",
	.title = "Run code in a sandbox",
	.describe = gb_mcp_describe_execute,
	.annotations = CHANGES,
	.output = EXECUTED,
	.call = gb_mcp_execute,
	.arguments = {{"runtime", RUNTIME, true, AT(runtime), "The language of the code."},
	    {"code", CODE, true, AT(code), "The code. Print what you need to see."},
	    {"sessionId", SESSION_OR_NEW, false, AT(session),
		"A handle that execute_code has returned, or \"new\" for another session. Default: this "
		"conversation's session of that runtime and tier."},
	    {"tier", TIER, false, AT(tier),
		"\"network\": the code reaches the hosts that the description names. Default: that of the "
		"session which sessionId names, else \"isolated\"."},
	    {"purpose", NAME, false, AT(purpose),
		"One line on what the code is for: shown to the person who approves it."}},
	.runs_code = true},
    {.name = "send_input",
	.title = "Answer a prompt",
	.doc = "Type text into a session whose code waits for input (awaitingInput). A newline is added if "
	       "the text "
	       "has none at its end. Returns what the code printed next.",
	.annotations = CHANGES,
	.output = EXECUTED,
	.call = gb_mcp_send_input,
	.arguments = {IN_SESSION, {"text", CODE, true, AT(text), "What to type."}},
	.needs_sessions = true,
	.runs_code = true},
    {.name = "list_sessions",
	.title = "List sessions",
	.describe = gb_mcp_describe_sessions,
	.annotations = READS,
	.output = SESSIONS,
	.call = gb_mcp_list_sessions,
	.arguments = {{"conversationId", NAME, false, AT(conversation),
	    "Only sessions of this conversation. Others than your own are never listed."}},
	.needs_sessions = true},
    {.name = "kill_session",
	.title = "End a session",
	.doc = "End a session and everything that runs in it. Its variables and files are lost.",
	.annotations = ENDS,
	.output = KILLED,
	.call = gb_mcp_kill_session,
	.arguments = {IN_SESSION},
	.needs_sessions = true},
    {.name = "read_file",
	.title = "Read a file of a session",
	.doc = "Read a file in the working directory (/box) of a session. Secrets in it are masked.",
	.annotations = READS,
	.output = FILE_READ,
	.call = gb_mcp_read_file,
	.arguments = {IN_SESSION, {"path", NAME, true, AT(path), "Relative to the working directory."}},
	.needs_sessions = true},
    {.name = "write_file",
	.title = "Write a file of a session",
	.doc = "Create or replace a file in the working directory (/box) of a session.",
	.annotations = CHANGES,
	.output = FILE_WRITTEN,
	.call = gb_mcp_write_file,
	.arguments = {IN_SESSION, {"path", NAME, true, AT(path), "Relative to the working directory."},
	    {"content", CODE, true, AT(content), "The whole content."},
	    {"encoding", ENCODING, false, AT(base64), "Of the content. Default: utf8."}},
	.needs_sessions = true},
    {.name = "list_files",
	.title = "List the files of a session",
	.doc = "List all files in the working directory (/box) of a session, with their sizes.",
	.annotations = READS,
	.output = FILES,
	.call = gb_mcp_list_files,
	.arguments = {IN_SESSION},
	.needs_sessions = true},
};

static bool is_offered(const struct gb_mcp *mcp, const struct tool *tool) {
	bool any = false;
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		any |= gb_mcp_offers(mcp, (enum gb_language)i);
	return any && (!tool->needs_sessions || mcp->config->agent.persistent_sessions);
}

/* --- the list --- */

static void write_runtimes(const struct gb_mcp *mcp, struct gb_buf *out) {
	const char *comma = "";
	gb_buf_printf(out, "\"enum\":[");
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		if (gb_mcp_offers(mcp, (enum gb_language)i)) {
			gb_buf_printf(out, "%s\"%s\"", comma, gb_language_name((enum gb_language)i));
			comma = ",";
		}
	gb_buf_printf(out, "],");
}

static bool takes(const struct gb_mcp *mcp, const struct argument *argument) {
	return (argument->kind != SESSION_OR_NEW || mcp->config->agent.persistent_sessions) &&
	       (argument->kind != TIER || gb_mcp_offers_network(mcp));
}

static void write_input(const struct gb_mcp *mcp, const struct tool *tool, struct gb_buf *out) {
	const char *comma = "";
	gb_buf_printf(out, "{\"type\":\"object\",\"properties\":{");
	for (const struct argument *argument = tool->arguments; argument->name; argument++) {
		if (!takes(mcp, argument))
			continue;
		gb_buf_printf(out, "%s\"%s\":{\"type\":\"string\",", comma, argument->name);
		if (argument->kind == RUNTIME)
			write_runtimes(mcp, out);
		else if (argument->kind == ENCODING)
			gb_buf_printf(out, "\"enum\":[\"utf8\",\"base64\"],");
		else if (argument->kind == TIER)
			gb_buf_printf(out, "\"enum\":[\"isolated\",\"network\"],");
		gb_buf_printf(out, "\"description\":");
		gb_json_append_string(out, gb_str_from(argument->doc));
		gb_buf_append_char(out, '}');
		comma = ",";
	}
	gb_buf_printf(out, "},\"required\":[");
	comma = "";
	for (const struct argument *argument = tool->arguments; argument->name; argument++)
		if (argument->required) {
			gb_buf_printf(out, "%s\"%s\"", comma, argument->name);
			comma = ",";
		}
	gb_buf_printf(out, "],\"additionalProperties\":false}");
}

static void write_tool(const struct gb_mcp *mcp, const struct tool *tool, struct gb_buf *out) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 64 << 10);
	if (tool->describe)
		tool->describe(mcp, &text);
	else
		gb_buf_append_str(&text, gb_str_from(tool->doc));
	gb_buf_printf(out, "{\"name\":\"%s\",\"title\":\"%s\"", tool->name, tool->title);
	gb_mcp_text(out, "description", gb_buf_str(&text));
	gb_mcp_key(out, "inputSchema");
	write_input(mcp, tool, out);
	gb_buf_printf(out, ",\"outputSchema\":%s,\"annotations\":%s}", tool->output,
	    tool->runs_code && gb_mcp_offers_network(mcp) ? CHANGES_OUTSIDE : tool->annotations);
}

void gb_mcp_list_tools(struct gb_mcp_request *request) {
	struct gb_mcp *mcp = request->mcp;
	struct gb_buf *out = gb_mcp_begin(request);
	bool first = true;
	gb_mcp_key(out, "tools");
	gb_buf_append_char(out, '[');
	for (size_t i = 0; i < GB_COUNT(tools); i++) {
		if (!is_offered(mcp, &tools[i]))
			continue;
		if (!first)
			gb_buf_append_char(out, ',');
		write_tool(mcp, &tools[i], out);
		first = false;
	}
	gb_mcp_extend(mcp, "tools/list", out);
	gb_buf_append_char(out, ']');
	gb_mcp_cacheable(request, out, LIST_TTL_MS);
	gb_mcp_end(request);
}

/* --- checking arguments --- */

struct reading {
	const struct gb_mcp *mcp;
	const struct argument *argument;
	char why[400];
};

__attribute__((format(printf, 2, 3))) static bool reject(struct reading *reading, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(reading->why, sizeof reading->why, format, ap);
	va_end(ap);
	return false;
}

static bool is_session_id(const char *text) {
	return strlen(text) == GB_MCP_SESSION_ID - 1 &&
	       strspn(text, "0123456789abcdef") == GB_MCP_SESSION_ID - 1;
}

static bool read_runtime(struct reading *reading, struct gb_str name, enum gb_language *ret) {
	if (gb_language_find_str(name, ret) && gb_mcp_offers(reading->mcp, *ret))
		return true;
	gb_auto_buf struct gb_buf names;
	gb_buf_init(&names, 200);
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		if (gb_mcp_offers(reading->mcp, (enum gb_language)i))
			gb_buf_printf(
			    &names, "%s%s", names.len ? ", " : "", gb_language_name((enum gb_language)i));
	const char *text = gb_buf_c_str(&names);
	return reject(reading, "runtime must be one of: %s", text ? text : "?");
}

static bool read_session(struct reading *reading, const char *text, struct gb_mcp_args *args) {
	bool may_be_new = reading->argument->kind == SESSION_OR_NEW;
	args->fresh = may_be_new && strcmp(text, "new") == 0;
	if (args->fresh)
		return true;
	args->session = text;
	return is_session_id(text) ||
	       reject(reading, "sessionId must be a handle that execute_code has returned%s",
		   may_be_new ? ", or \"new\"" : "");
}

static bool read_tier(struct reading *reading, struct gb_str name, struct gb_mcp_args *args) {
	static const enum gb_tier tiers[] = {GB_TIER_ISOLATED, GB_TIER_NETWORK};
	for (size_t i = 0; i < GB_COUNT(tiers); i++)
		if (gb_str_eq(name, gb_str_from(gb_tier_name(tiers[i])))) {
			args->tier = &tiers[i];
			return true;
		}
	return reject(reading, "tier must be isolated or network");
}

static bool read_argument(struct reading *reading, const struct gb_value *value, struct gb_mcp_args *args) {
	const struct argument *argument = reading->argument;
	void *to = (char *)args + argument->offset;
	struct gb_str text = {0};
	if (gb_value_type(value) == GB_STRING)
		text.p = gb_value_bytes(value, &text.n);
	if (!text.p)
		return reject(reading, "%s must be a string", argument->name);
	if (argument->kind == CODE) {
		*(struct gb_str *)to = text;
		return true;
	}
	if (memchr(text.p, '\0', text.n) || text.n > NAME_MAX_BYTES)
		return reject(
		    reading, "%s must have at most %d bytes, and no U+0000", argument->name, NAME_MAX_BYTES);
	switch (argument->kind) {
	case RUNTIME:
		return read_runtime(reading, text, to);
	case SESSION:
	case SESSION_OR_NEW:
		return read_session(reading, text.p, args);
	case TIER:
		return read_tier(reading, text, args);
	case ENCODING:
		*(bool *)to = gb_str_eq(text, GB_STR("base64"));
		return *(bool *)to || gb_str_eq(text, GB_STR("utf8")) ||
		       reject(reading, "encoding must be utf8 or base64");
	default:
		*(const char **)to = text.p;
		return true;
	}
}

static const struct argument *find_argument(const struct tool *tool, struct gb_str name) {
	for (const struct argument *argument = tool->arguments; argument->name; argument++)
		if (gb_str_eq(name, gb_str_from(argument->name)))
			return argument;
	return NULL;
}

static bool read_arguments(struct reading *reading, const struct tool *tool, const struct gb_value *given,
    struct gb_mcp_args *args) {
	if (given && gb_value_type(given) != GB_OBJECT)
		return reject(reading, "arguments must be an object");
	for (size_t i = 0; i < gb_value_count(given); i++) {
		struct gb_str name;
		name.p = gb_value_bytes(gb_value_key_at(given, i), &name.n);
		reading->argument = find_argument(tool, name);
		if (!reading->argument || !takes(reading->mcp, reading->argument))
			return reject(
			    reading, "there is no argument '%.*s'", (int)gb_text_fit(name, 64), name.p);
		if (!read_argument(reading, gb_value_at(given, i), args))
			return false;
	}
	for (const struct argument *argument = tool->arguments; argument->name; argument++)
		if (argument->required && !gb_value_get(given, argument->name))
			return reject(reading, "%s is missing", argument->name);
	return true;
}

/* --- calls --- */

static const struct tool *find_tool(const struct gb_mcp *mcp, const char *name) {
	for (size_t i = 0; name && i < GB_COUNT(tools); i++)
		if (strcmp(name, tools[i].name) == 0 && is_offered(mcp, &tools[i]))
			return &tools[i];
	return NULL;
}

/* The retry of a call must repeat it exactly. */
static void bind(struct gb_mcp_request *request, const struct gb_value *params) {
	crypto_generichash_state hash;
	static const char *const parts[] = {"name", "arguments"};
	crypto_generichash_init(&hash, NULL, 0, sizeof request->digest);
	for (size_t i = 0; i < GB_COUNT(parts); i++) {
		size_t n = 0;
		const struct gb_value *part = gb_value_get(params, parts[i]);
		gb_auto_free char *json = part ? gb_value_to_json(part, 0, &n, NULL) : NULL;
		crypto_generichash_update(&hash, (const unsigned char *)&n, sizeof n);
		crypto_generichash_update(&hash, (const unsigned char *)(json ? json : ""), json ? n : 0);
	}
	crypto_generichash_final(&hash, request->digest, sizeof request->digest);
}

void gb_mcp_call_tool(struct gb_mcp_request *request, const struct gb_value *params) {
	const struct gb_value *given = gb_value_get(params, "arguments");
	const char *name = gb_jsonrpc_text(gb_value_get(params, "name"));
	const struct tool *tool = find_tool(request->mcp, name);
	struct gb_mcp_args args = {0};
	struct reading reading = {.mcp = request->mcp};
	bind(request, params);
	if (!tool)
		gb_mcp_fail(request, GB_JSONRPC_INVALID_PARAMS, "there is no tool '%.*s'",
		    (int)gb_text_fit(gb_str_from(name ? name : ""), 64), name ? name : "");
	else if (!read_arguments(&reading, tool, given, &args))
		gb_mcp_refuse(request, "%s", reading.why);
	else if (!gb_mcp_continue(request, params))
		tool->call(request, &args);
}

void gb_mcp_refuse(struct gb_mcp_request *request, const char *format, ...) {
	gb_auto_free char *text = NULL;
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_key(out, "content");
	gb_buf_printf(out, "[{\"type\":\"text\",\"text\":");
	gb_json_append_bytes(out, gb_str_from(text ? text : "out of memory"));
	gb_buf_printf(out, "}],\"isError\":true");
	gb_mcp_end(request);
}

void gb_mcp_reply(struct gb_mcp_request *request, struct gb_str json, struct gb_str more, bool failed) {
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_key(out, "content");
	gb_buf_printf(out, "[{\"type\":\"text\",\"text\":");
	gb_json_append_string(out, json);
	gb_buf_append_char(out, '}');
	gb_buf_append_str(out, more);
	gb_buf_printf(out, "],\"structuredContent\":");
	gb_buf_append_str(out, json);
	gb_buf_printf(out, ",\"isError\":%s", failed ? "true" : "false");
	gb_mcp_end(request);
}
