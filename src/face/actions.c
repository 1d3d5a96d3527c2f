/* What the actions are asked for: arguments in, a request out; and the actions on sandboxes that run no code. */
#include "face/actions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fields.h"
#include "value/codec.h"
#include "value/json.h"

enum { SECONDS_MAX = 1000000, MEGABYTES_MAX = 65536, TEXT_MAX = 200 };

static const struct {
	const char *name;
	enum gb_language language;
} languages[] = {{"python", GB_PYTHON}, {"javascript", GB_JAVASCRIPT}, {"bash", GB_SHELL}};

const char *gb_action_language_name(enum gb_language language) {
	for (size_t i = 0; i < GB_COUNT(languages); i++)
		if (languages[i].language == language)
			return languages[i].name;
	return "";
}

/* What a call asks for, with the settings where it says nothing. */
struct asked {
	const char *action, *id, *language, *approval;
	struct gb_str code;
	bool has_code;
	double seconds, megabytes, bytes; /* 0: the default */
	const char *mode;
	/* -1: not given */
	int network, writes;
	const struct gb_value *modules, *state;
	const char *purpose, *conversation, *turn;
};

/* --- arguments --- */

static bool read_text(const struct gb_value *value, const char *name, const char **ret, struct gb_err *err) {
	size_t n = 0;
	if (gb_value_type(value) != GB_STRING)
		return gb_fail_field(err, GB_EINVAL, name, "must be text");
	const char *text = gb_value_bytes(value, &n);
	if (memchr(text, '\0', n))
		return gb_fail_field(err, GB_EINVAL, name, "must not hold the character U+0000");
	*ret = text;
	return true;
}

static bool read_code(const struct gb_value *value, struct asked *asked, struct gb_err *err) {
	if (gb_value_type(value) != GB_STRING)
		return gb_fail_field(err, GB_EINVAL, "code", "must be text");
	asked->code.p = gb_value_bytes(value, &asked->code.n);
	asked->has_code = true;
	return true;
}

/* A number, or a text with one: templates make texts. */
static bool read_number(
    const struct gb_value *value, const char *name, double max, double *ret, struct gb_err *err) {
	double number = gb_value_type(value) == GB_NUMBER ? gb_value_as_number(value) : NAN;
	if (gb_value_type(value) == GB_STRING) {
		const char *text = gb_value_bytes(value, NULL);
		char *end;
		number = strtod(text, &end);
		if (end == text || end[strspn(end, " ")])
			number = NAN;
	}
	if (!isfinite(number) || number < 0)
		return gb_fail_field(err, GB_EINVAL, name, "must be a number that is not negative");
	*ret = number > max ? max : number;
	return true;
}

static bool read_flag(const struct gb_value *value, const char *name, int *ret, struct gb_err *err) {
	if (gb_value_type(value) != GB_BOOLEAN)
		return gb_fail_field(err, GB_EINVAL, name, "must be true or false");
	*ret = gb_value_is_true(value);
	return true;
}

static bool read_modules(const struct gb_value *value, struct asked *asked, struct gb_err *err) {
	bool ok = gb_value_type(value) == GB_ARRAY;
	for (size_t i = 0; ok && i < gb_value_count(value); i++)
		ok = gb_value_type(gb_value_at(value, i)) == GB_STRING;
	asked->modules = value;
	return ok || gb_fail_field(err, GB_EINVAL, "allowed_modules", "must be a list of names of modules");
}

static bool read_argument(
    const char *name, const struct gb_value *value, struct asked *asked, struct gb_err *err) {
	const struct {
		const char *name, **text;
	} texts[] = {{"action", &asked->action}, {"sandbox_id", &asked->id}, {"language", &asked->language},
	    {"sandbox_mode", &asked->mode}, {"approval", &asked->approval}, {"purpose", &asked->purpose},
	    {"conversation", &asked->conversation}, {"turn", &asked->turn}};
	const struct {
		const char *name;
		double max, *number;
	} numbers[] = {{"timeout", SECONDS_MAX, &asked->seconds},
	    {"max_memory_mb", MEGABYTES_MAX, &asked->megabytes}, {"max_output_bytes", 1e9, &asked->bytes}};
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			return read_text(value, name, texts[i].text, err);
	for (size_t i = 0; i < GB_COUNT(numbers); i++)
		if (strcmp(name, numbers[i].name) == 0)
			return read_number(value, name, numbers[i].max, numbers[i].number, err);
	if (strcmp(name, "code") == 0)
		return read_code(value, asked, err);
	if (strcmp(name, "allowed_modules") == 0)
		return read_modules(value, asked, err);
	if (strcmp(name, "allow_network") == 0)
		return read_flag(value, name, &asked->network, err);
	if (strcmp(name, "allow_filesystem") == 0)
		return read_flag(value, name, &asked->writes, err);
	if (strcmp(name, "state") == 0) {
		asked->state = value;
		return true;
	}
	return gb_fail_field(err, GB_EINVAL, name, "is not an argument of this action");
}

static bool check_words(const struct asked *asked, struct gb_err *err) {
	const char *mode = asked->mode ? asked->mode : "restricted";
	if (strcmp(mode, "e2b") == 0)
		return gb_fail_field(err, GB_EINVAL, "sandbox_mode",
		    "e2b is a mode of the Python package (glovebox.actions); here, use restricted or "
		    "permissive");
	if (strcmp(mode, "restricted") != 0 && strcmp(mode, "permissive") != 0)
		return gb_fail_field(err, GB_EINVAL, "sandbox_mode", "must be restricted, permissive or e2b");
	return !asked->approval || strcmp(asked->approval, "ask") == 0 || !*asked->approval ||
	       gb_fail_field(err, GB_EINVAL, "approval", "must be \"ask\", or left out");
}

static bool read_arguments(const struct gb_value *arguments, struct asked *ret, struct gb_err *err) {
	*ret = (struct asked){.network = -1, .writes = -1};
	if (gb_value_type(arguments) != GB_OBJECT)
		return gb_fail_field(err, GB_EINVAL, "arguments", "must be an object");
	for (size_t i = 0; i < gb_value_count(arguments); i++) {
		const char *name = gb_value_bytes(gb_value_key_at(arguments, i), NULL);
		const struct gb_value *value = gb_value_at(arguments, i);
		/* An argument that is null counts as missing. */
		if (gb_value_type(value) != GB_NULL && !read_argument(name, value, ret, err))
			return false;
	}
	return check_words(ret, err);
}

static bool find_language(const char *name, enum gb_language *ret, struct gb_err *err) {
	for (size_t i = 0; i < GB_COUNT(languages); i++) {
		if (strcmp(name, languages[i].name) == 0) {
			*ret = languages[i].language;
			return true;
		}
	}
	return gb_fail_field(err, GB_EINVAL, "language",
	    "'%.100s' is not supported; supported are python, javascript and bash", name);
}

/* --- the request --- */

static uint64_t limit(double asked, double unit, uint64_t usual) {
	uint64_t value = (uint64_t)(asked * unit);
	return asked == 0 ? usual : value ? value : 1;
}

/* The variable 'state' of the code. */
static bool add_state(const struct asked *asked, struct gb_tool_call *call, struct gb_gate_request *request,
    struct gb_err *err) {
	if (!asked->state || request->run.language == GB_SHELL)
		return true;
	call->values = gb_values_create(4096);
	struct gb_value *globals = call->values ? gb_value_object(call->values) : NULL;
	/* The request borrows it: nothing changes it. */
	if (!globals || !gb_value_put_key(globals, "state", (struct gb_value *)asked->state))
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	request->run.globals = globals;
	return true;
}

static bool make_request(const struct asked *asked, enum gb_language language, struct gb_tool_call *call,
    struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_config *config = call->config;
	const char *mode = asked->mode;
	bool is_permissive =
	    mode ? strcmp(mode, "permissive") == 0 : config->actions.mode == GB_CONFIG_PERMISSIVE;
	bool has_restricted = language == GB_PYTHON || language == GB_SHELL;
	bool network = asked->network < 0 ? config->actions.allow_network : asked->network;
	bool writes = asked->writes < 0 ? config->actions.allow_filesystem : asked->writes;
	if (!mode && config->actions.mode == GB_CONFIG_E2B)
		return gb_fail_field(err, GB_EINVAL, "sandbox_mode",
		    "the setting actions.mode is e2b, which is a mode of the Python package "
		    "(glovebox.actions)");
	call->language = language;
	call->asks_person = asked->approval && *asked->approval;
	request->face = GB_FACE_ACTIONS;
	request->purpose = asked->purpose;
	request->conversation = asked->conversation;
	request->turn = asked->turn;
	request->tier = network ? GB_TIER_NETWORK : GB_TIER_ISOLATED;
	request->run.language = language;
	request->run.source = asked->code.n ? asked->code.p : "";
	request->run.source_bytes = asked->code.n;
	request->run.timeout_ms = limit(asked->seconds, 1000, config->actions.timeout_ms);
	request->run.memory_bytes = limit(asked->megabytes, 1 << 20, config->actions.memory_bytes);
	request->run.output_bytes = limit(asked->bytes, 1, config->actions.output_bytes);
	request->run.restricted = has_restricted && !is_permissive;
	request->run.read_only = has_restricted && !writes;
	request->run.allowed_modules = language == GB_PYTHON && !is_permissive ? asked->modules : NULL;
	call->output_bytes = request->run.output_bytes;
	if (request->run.memory_bytes < GB_MEMORY_MIN)
		request->run.memory_bytes = GB_MEMORY_MIN;
	return add_state(asked, call, request, err);
}

/* --- code.execute --- */

static bool read_execute(const struct gb_value *arguments, struct gb_tool_call *call,
    struct gb_gate_request *request, struct gb_err *err) {
	struct asked asked;
	enum gb_language language = GB_PYTHON;
	if (!read_arguments(arguments, &asked, err))
		return false;
	if (asked.action || asked.id)
		return gb_fail_field(
		    err, GB_EINVAL, asked.action ? "action" : "sandbox_id", "is an argument of code.sandbox");
	if (!asked.has_code)
		return gb_fail(err, GB_EINVAL, 0, "code is required");
	return (!asked.language || find_language(asked.language, &language, err)) &&
	       make_request(&asked, language, call, request, err);
}

/* --- code.sandbox --- */

static void write_failure(const char *keys, const char *message, struct gb_buf *out) {
	gb_buf_printf(out, "{\"success\":false%s,\"error\":", keys);
	gb_json_append_bytes(out, gb_str_from(message));
	gb_buf_append_char(out, '}');
}

static void create(const struct asked *asked, struct gb_tool_call *call, struct gb_buf *out) {
	const struct gb_config *config = call->config;
	struct gb_sandbox wanted = {.language = GB_PYTHON}, *sandbox;
	struct gb_err err = {0};
	bool ok = !asked->language || find_language(asked->language, &wanted.language, &err);
	wanted.network = asked->network < 0 ? config->actions.allow_network : asked->network;
	wanted.writes = asked->writes < 0 ? config->actions.allow_filesystem : asked->writes;
	if (ok && gb_sandbox_open(call->sandboxes, &wanted, &sandbox, &err))
		gb_buf_printf(out,
		    "{\"success\":true,\"created\":true,\"sandbox_id\":\"%s\",\"language\":\"%s\"}",
		    sandbox->id, gb_action_language_name(sandbox->language));
	else
		write_failure(",\"created\":false", err.message, out);
}

static void not_found(const char *id, const char *reason, char *text, size_t n) {
	snprintf(text, n, "Sandbox not found: %.64s%s%.200s", id, *reason ? "; it has ended: " : "", reason);
}

static void destroy(const struct asked *asked, struct gb_tool_call *call, struct gb_buf *out) {
	char reason[256], text[400];
	if (!asked->id || !*asked->id) {
		write_failure(",\"destroyed\":false", "sandbox_id is required", out);
		return;
	}
	struct gb_sandbox *sandbox = gb_sandbox_find(call->sandboxes, asked->id, reason, sizeof reason);
	if (sandbox)
		gb_sandbox_end(call->sandboxes, sandbox);
	not_found(asked->id, reason, text, sizeof text);
	gb_buf_printf(out, "{\"success\":true,\"destroyed\":%s,\"sandbox_id\":", sandbox ? "true" : "false");
	gb_json_append_bytes(out, gb_str_from(asked->id));
	if (!sandbox) {
		gb_buf_printf(out, ",\"error\":");
		gb_json_append_bytes(out, gb_str_from(text));
	}
	gb_buf_append_char(out, '}');
}

static void list(struct gb_tool_call *call, struct gb_buf *out) {
	gb_buf_printf(out, "{\"success\":true,\"sandboxes\":");
	gb_sandboxes_write(call->sandboxes, false, out);
	gb_buf_printf(out, ",\"details\":");
	gb_sandboxes_write(call->sandboxes, true, out);
	gb_buf_append_char(out, '}');
}

static const char disabled[] =
    "Code execution is disabled. The embedding program enables it with the message hello, "
    "the owner with the setting agent.enabled";

/* False if the action is to execute code. */
static bool act(const struct gb_value *arguments, struct gb_tool_call *call, struct gb_buf *out) {
	struct asked asked;
	struct gb_err err = {0};
	bool ok = read_arguments(arguments, &asked, &err);
	if (ok && asked.action && strcmp(asked.action, "execute") == 0)
		return false;
	if (!ok)
		write_failure("", err.message, out);
	else if (!call->config->actions.enabled)
		write_failure("", "Code execution is disabled: see the setting actions.enabled", out);
	else if (!call->is_enabled)
		write_failure("", disabled, out);
	else if (!call->sandboxes)
		write_failure(
		    "", "code.sandbox keeps state between calls: use it over 'glovebox stdio'", out);
	else if (asked.action && strcmp(asked.action, "create") == 0)
		create(&asked, call, out);
	else if (asked.action && strcmp(asked.action, "destroy") == 0)
		destroy(&asked, call, out);
	else if (asked.action && strcmp(asked.action, "list") == 0)
		list(call, out);
	else
		write_failure("",
		    asked.action ? "Unknown action; use create, execute, destroy or list"
				 : "action is required: create, execute, destroy or list",
		    out);
	return true;
}

static bool read_sandbox(const struct gb_value *arguments, struct gb_tool_call *call,
    struct gb_gate_request *request, struct gb_err *err) {
	struct asked asked;
	char reason[256], text[400];
	enum gb_language language = GB_PYTHON;
	if (!read_arguments(arguments, &asked, err))
		return false;
	if (!asked.id || !*asked.id)
		return gb_fail(err, GB_EINVAL, 0, "sandbox_id is required");
	if (!asked.has_code)
		return gb_fail(err, GB_EINVAL, 0, "code is required");
	if (!call->sandboxes)
		return gb_fail(err, GB_EINVAL, 0,
		    "code.sandbox keeps state between calls: use it over 'glovebox stdio'");
	const struct gb_sandbox *sandbox = gb_sandbox_find(call->sandboxes, asked.id, reason, sizeof reason);
	if (!sandbox) {
		not_found(asked.id, reason, text, sizeof text);
		return gb_fail(err, GB_ENOENT, 0, "%s", text);
	}
	if (asked.language && !find_language(asked.language, &language, err))
		return false;
	if (asked.language && language != sandbox->language)
		return gb_fail_field(err, GB_EINVAL, "language", "this sandbox runs %s",
		    gb_action_language_name(sandbox->language));
	/* What it may reach was decided when it was created. */
	asked.network = sandbox->network;
	asked.writes = sandbox->writes;
	asked.conversation = NULL;
	if (!make_request(&asked, sandbox->language, call, request, err))
		return false;
	request->session = sandbox->id;
	request->conversation = sandbox->conversation;
	return true;
}

/* --- both --- */

static void refuse(const struct gb_err *err, struct gb_buf *out) {
	gb_action_write_error(err->message, out);
}

static void define_execute(const struct gb_config *config, struct gb_buf *out) {
	gb_buf_printf(out,
	    "{\"name\":\"code.execute\",\"description\":\"Run code in a fresh sandbox, without network and "
	    "files of the "
	    "machine. Returns success, stdout, stderr, return_value (the variable result, or the last "
	    "expression), error "
	    "and execution_time_ms.\",\"parameters\":{\"type\":\"object\",\"properties\":{"
	    "\"code\":{\"type\":\"string\",\"description\":\"The code\"},"
	    "\"language\":{\"type\":\"string\",\"enum\":[\"python\",\"javascript\",\"bash\"],\"description\":"
	    "\"Default: "
	    "python\"},"
	    "\"timeout\":{\"type\":\"number\",\"description\":\"Seconds; default: %g\"}},"
	    "\"required\":[\"code\"],\"additionalProperties\":false},\"maxCallsPerTurn\":%u}",
	    (double)config->actions.timeout_ms / 1000, config->agent.calls_per_turn);
}

static void define_sandbox(const struct gb_config *config, struct gb_buf *out) {
	gb_buf_printf(out,
	    "{\"name\":\"code.sandbox\",\"description\":\"Sandboxes that keep variables between calls: "
	    "create one, execute "
	    "code in it, list them, destroy it.\",\"parameters\":{\"type\":\"object\",\"properties\":{"
	    "\"action\":{\"type\":\"string\",\"enum\":[\"create\",\"execute\",\"destroy\",\"list\"]},"
	    "\"sandbox_id\":{\"type\":\"string\",\"description\":\"What create has returned\"},"
	    "\"code\":{\"type\":\"string\",\"description\":\"The code to execute\"},"
	    "\"language\":{\"type\":\"string\",\"enum\":[\"python\",\"javascript\",\"bash\"],\"description\":"
	    "\"Of create; "
	    "default: python\"},"
	    "\"timeout\":{\"type\":\"number\",\"description\":\"Seconds; default: %g\"}},"
	    "\"required\":[\"action\"],\"additionalProperties\":false},\"maxCallsPerTurn\":%u}",
	    (double)config->actions.timeout_ms / 1000, config->agent.calls_per_turn);
}

static void answer(const struct gb_tool_call *call, const struct gb_result *result, uint64_t timeout_ms,
    const struct gb_config *config, struct gb_buf *out) {
	(void)config;
	gb_action_write(call, result, timeout_ms, out);
}

const struct gb_tool gb_tool_code_execute = {.name = "code.execute",
    .define = define_execute,
    .read = read_execute,
    .refuse = refuse,
    .answer = answer};

const struct gb_tool gb_tool_code_sandbox = {.name = "code.sandbox",
    .define = define_sandbox,
    .act = act,
    .read = read_sandbox,
    .refuse = refuse,
    .answer = answer};
