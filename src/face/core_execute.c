#include "face/core_execute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fields.h"
#include "glovebox/errors.h"
#include "value/codec.h"
#include "value/json.h"

/* --- arguments --- */

enum { TIMEOUT_MAX = 1000000000 }; /* ms; the settings lower it */

static const char *const tier_names[] = {GB_AGENT_tier_CHOICES, NULL};

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

/* Values outside the range are clamped by the gate, not rejected; 0 would be the default. */
static bool read_timeout(const struct gb_value *value, uint64_t *ret, struct gb_err *err) {
	if (gb_value_type(value) != GB_NUMBER)
		return gb_fail_field(err, GB_EINVAL, "timeout", "must be a number of milliseconds");
	double ms = gb_value_as_number(value);
	*ret = isnan(ms) || ms < 1 ? 1 : ms > TIMEOUT_MAX ? TIMEOUT_MAX : (uint64_t)ms;
	return true;
}

static bool read_tier(const struct gb_value *value, enum gb_tier *ret, struct gb_err *err) {
	const char *name = "";
	if (!read_text(value, "tier", &name, err))
		return false;
	for (unsigned i = 0; tier_names[i]; i++) {
		if (strcmp(tier_names[i], name) == 0) {
			*ret = (enum gb_tier)i;
			return true;
		}
	}
	return gb_fail_field(err, GB_EINVAL, "tier", "must be \"isolated\" or \"network\"");
}

static bool read_argument(const char *name, const struct gb_value *value, struct gb_tool_call *call,
    struct gb_gate_request *request, struct gb_err *err) {
	const struct {
		const char *name, **text;
	} texts[] = {{"purpose", &request->purpose}, {"expectedOutput", &request->expected},
	    {"conversation", &request->conversation}, {"turn", &request->turn}};
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			return read_text(value, name, texts[i].text, err);
	if (strcmp(name, "timeout") == 0)
		return read_timeout(value, &request->run.timeout_ms, err);
	if (strcmp(name, "tier") == 0)
		return read_tier(value, &request->tier, err);
	if (strcmp(name, "trace") == 0) {
		call->trace = gb_value_to_json(value, 0, NULL, err);
		request->trace = call->trace;
		return call->trace || gb_wrap_field(err, "trace");
	}
	if (strcmp(name, "code") != 0)
		return gb_fail_field(err, GB_EINVAL, name, "is not an argument of core.execute");
	if (gb_value_type(value) != GB_STRING)
		return gb_fail_field(err, GB_EINVAL, "code", "must be text");
	request->run.source = gb_value_bytes(value, &request->run.source_bytes);
	return true;
}

static bool read_arguments(const struct gb_value *arguments, struct gb_tool_call *call,
    struct gb_gate_request *request, struct gb_err *err) {
	request->face = GB_FACE_CORE_EXECUTE;
	request->run.language = GB_JAVASCRIPT;
	if (gb_value_type(arguments) != GB_OBJECT)
		return gb_fail_field(err, GB_EINVAL, "arguments", "must be an object");
	for (size_t i = 0; i < gb_value_count(arguments); i++) {
		const char *name = gb_value_bytes(gb_value_key_at(arguments, i), NULL);
		const struct gb_value *value = gb_value_at(arguments, i);
		/* Models write null for an argument that they leave out. */
		if (gb_value_type(value) != GB_NULL && !read_argument(name, value, call, request, err))
			return false;
	}
	if (!request->purpose)
		return gb_fail_field(err, GB_EINVAL, "purpose", "is missing");
	return request->run.source || gb_fail_field(err, GB_EINVAL, "code", "is missing");
}

/* --- the answer --- */

static void refuse(const struct gb_err *err, struct gb_buf *out) {
	bool is_wrong =
	    (err->code == GB_EINVAL || err->code == GB_EFORMAT) && strcmp(err->field, "tier") != 0;
	gb_buf_printf(out, "EXECUTION_%s: %s", is_wrong ? "ERROR" : "DENIED", err->message);
}

static void deny(const struct gb_run_error *error, struct gb_buf *out) {
	if (strcmp(error->code, GB_CODE_GUARD) == 0 && *error->specifier)
		gb_buf_printf(
		    out, "EXECUTION_BLOCKED: Code contains disallowed pattern: %s", error->specifier);
	else if (strcmp(error->code, GB_CODE_ENERGY) == 0)
		gb_buf_printf(out, "EXECUTION_DENIED: Insufficient energy for code execution.");
	else
		gb_buf_printf(out, "EXECUTION_DENIED: %s", error->message);
}

/* The worker has cut the text already; the host does not rely on that. */
static void append_cut(struct gb_buf *out, const char *text, size_t n, uint64_t max) {
	while (n > max || (n && ((unsigned char)text[n] & 0xc0) == 0x80))
		n = n > max ? max : n - 1;
	gb_buf_append(out, text, n);
}

static void answer(const struct gb_tool_call *call, const struct gb_result *result, uint64_t timeout_ms,
    const struct gb_config *config, struct gb_buf *out) {
	size_t n = 0;
	(void)call;
	const char *text = result->value ? gb_value_bytes(result->value, &n) : NULL;
	if (result->status == GB_SUCCESS && text)
		append_cut(out, text, n, config->core.max_result_bytes);
	else if (result->status == GB_DENIED)
		deny(&result->error, out);
	else if (result->timed_out)
		gb_buf_printf(
		    out, "EXECUTION_TIMEOUT: Code exceeded %llums limit.", (unsigned long long)timeout_ms);
	else
		gb_buf_printf(out, "EXECUTION_ERROR: %s",
		    *result->error.message ? result->error.message : result->error.name);
}

/* --- the definition --- */

static void append_property(struct gb_buf *out, const char *name, const char *type, const char *description) {
	gb_buf_printf(out, "\"%s\":{\"type\":\"%s\",\"description\":", name, type);
	gb_json_append_string(out, gb_str_from(description));
	gb_buf_append_char(out, '}');
}

static bool has_network(const struct gb_config *config) {
	return config->network.allowlist.n > 0;
}

static void append_tier(struct gb_buf *out, const struct gb_config *config) {
	gb_buf_printf(out, ",\"tier\":{\"type\":\"string\",\"enum\":[\"isolated\",\"network\"],"
			   "\"description\":\"network: fetch() "
			   "reaches");
	for (size_t i = 0; i < config->network.allowlist.n; i++)
		gb_buf_printf(out, "%s %s", i ? "," : "", config->network.allowlist.items[i]);
	gb_buf_printf(out, "; costs more energy. Default: isolated, without network\"}");
}

static void define(const struct gb_config *config, struct gb_buf *out) {
	const struct gb_config_list *hosts = &config->network.allowlist;
	char timeout[160], code[200];
	snprintf(timeout, sizeof timeout, "Maximum execution time in milliseconds, from 100 to %llu%s",
	    (unsigned long long)config->core.max_timeout_ms, hosts->n ? "; more in the network tier" : "");
	snprintf(code, sizeof code,
	    "JavaScript: the body of an async function. It must return a value, which is given back as JSON "
	    "text of "
	    "at most %llu bytes",
	    (unsigned long long)config->core.max_result_bytes);
	gb_buf_printf(out, "{\"name\":\"core.execute\",\"description\":");
	gb_json_append_string(
	    out, has_network(config)
		     ? GB_STR("Execute short JavaScript in a sandbox, for computation, parsing or "
			      "transformation of data, "
			      "where no other tool does it. No files; no network except in the tier network.")
		     : GB_STR("Execute short JavaScript in a sandbox, for computation, parsing or "
			      "transformation of data, "
			      "where no other tool does it. No files, no network."));
	gb_buf_printf(out, ",\"parameters\":{\"type\":\"object\",\"properties\":{");
	append_property(out, "purpose", "string", "Why this code is run");
	gb_buf_append_char(out, ',');
	append_property(out, "code", "string", code);
	gb_buf_append_char(out, ',');
	append_property(out, "timeout", "number", timeout);
	gb_buf_append_char(out, ',');
	append_property(out, "expectedOutput", "string", "What the value should look like");
	if (has_network(config))
		append_tier(out, config);
	gb_buf_printf(out,
	    "},\"required\":[\"purpose\",\"code\"],\"additionalProperties\":false},\"maxCallsPerTurn\":%u}",
	    config->core.calls_per_turn);
}

const struct gb_tool gb_tool_core_execute = {
    .name = "core.execute",
    .define = define,
    .read = read_arguments,
    .refuse = refuse,
    .answer = answer,
};
