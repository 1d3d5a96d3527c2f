/* The content of a request: checking and copying it, and the texts that are approved and recorded. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "engine/limits.h"
#include "engine/secrets.h"
#include "gate/agent_run.h"
#include "value/codec.h"
#include "value/json.h"
#include "value/wtf8.h"

enum { TRANSPORT_MAX = 32 };

/* Convert @value to JSON, which is kept in *ret, and back, so that the code gets exactly the values that the person who
 * decides is shown. */
static bool describe_value(struct gb_agent_run *run, const char *field, const struct gb_value **value,
    struct gb_str *ret, struct gb_err *err) {
	size_t n = 0;
	/* Functions are not allowed: the code cannot call the host. */
	gb_auto_buf struct gb_buf plain;
	gb_buf_init(&plain, GB_APPROVAL_BYTES_MAX);
	if (!gb_value_encode(&plain, *value, NULL, err))
		return gb_wrap_field(err, field);
	gb_auto_free char *json = gb_value_to_json(*value, 0, &n, err);
	if (!json)
		return gb_wrap_field(err, field);
	const char *kept = gb_arena_copy(&run->texts, (struct gb_str){json, n});
	if (!kept)
		return gb_fail_field(err, GB_ELIMIT, field,
		    "has %zu bytes as JSON; code, args and other texts may have %d bytes together", n,
		    GB_AGENT_RUN_TEXTS_MAX);
	*ret = (struct gb_str){kept, n};
	*value = gb_value_from_json(run->values, kept, n, err);
	return *value || gb_wrap_field(err, field);
}

/* The arguments alone, or an object with everything else that the request brings along. */
bool gb_agent_run_describe_inputs(struct gb_agent_run *run, struct gb_err *err) {
	struct gb_run_options *options = &run->request.run;
	struct gb_str args = GB_STR("[]"), files = GB_STR("{}"), take = GB_STR("[]"), globals = GB_STR("{}"),
		      modules;
	if ((options->args && !describe_value(run, "args", &options->args, &args, err)) ||
	    (options->files && !describe_value(run, "files", &options->files, &files, err)) ||
	    (options->take && !describe_value(run, "take", &options->take, &take, err)) ||
	    (options->globals && !describe_value(run, "globals", &options->globals, &globals, err)) ||
	    (run->asked_modules &&
		!describe_value(run, "allowed_modules", &run->asked_modules, &modules, err)))
		return false;
	run->inputs = args;
	if (!options->files && !options->take && !options->globals)
		return true;
	gb_auto_buf struct gb_buf all;
	gb_buf_init(&all, GB_APPROVAL_BYTES_MAX);
	gb_buf_printf(&all, "{\"args\":");
	gb_buf_append_str(&all, args);
	gb_buf_printf(&all, ",\"files\":");
	gb_buf_append_str(&all, files);
	gb_buf_printf(&all, ",\"take\":");
	gb_buf_append_str(&all, take);
	if (options->globals)
		gb_buf_printf(&all, ",\"globals\":");
	gb_buf_append(&all, globals.p, options->globals ? globals.n : 0);
	gb_buf_append_char(&all, '}');
	const char *kept = gb_buf_failed(&all) ? NULL : gb_arena_copy(&run->texts, gb_buf_str(&all));
	run->inputs = (struct gb_str){kept, all.len};
	return kept || gb_fail_field(err, GB_ELIMIT, "files", "are too large");
}

bool gb_agent_run_only_reads(const struct gb_agent_run *run) {
	const struct gb_run_options *options = &run->request.run;
	return !run->request.is_input && options->source_bytes == 0 && options->take && !options->files &&
	       !options->args;
}

/* The limits that agents can request, as JSON. NULL if there is no memory. */
static const char *describe_limits(struct gb_agent_run *run) {
	const struct gb_run_options *options = &run->request.run;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_APPROVAL_JSON_MAX);
	gb_buf_append_char(&text, '{');
	for (size_t i = 0; i < gb_limit_fields_count; i++)
		if (gb_limit_fields[i].for_agents)
			gb_buf_printf(&text, "\"%s\":%llu,", gb_limit_fields[i].json,
			    (unsigned long long)gb_limit_get(&gb_limit_fields[i], options));
	gb_buf_printf(&text, "\"restricted\":%s}", options->restricted ? "true" : "false");
	return gb_buf_failed(&text) ? NULL : gb_agent_run_text(run, gb_buf_c_str(&text));
}

/* The names of the secrets that code can use at these hosts. */
static void write_secrets(struct gb_agent_run *run, const struct gb_value *net, struct gb_buf *out) {
	gb_auto_buf struct gb_buf names;
	gb_buf_init(&names, GB_APPROVAL_JSON_MAX);
	if (net && gb_edge_write_names(run->gate->engine, net, &names))
		gb_buf_printf(out, ",\"secrets\":%.*s", (int)names.len, names.data);
}

bool gb_agent_run_describe(struct gb_agent_run *run) {
	const struct gb_run_options *options = &run->request.run;
	const char *limits = describe_limits(run);
	gb_auto_free char *modules = options->allowed_modules
					 ? gb_value_to_json(options->allowed_modules, 0, NULL, NULL)
					 : strdup("[]");
	gb_auto_buf struct gb_buf permissions;
	gb_buf_init(&permissions, GB_APPROVAL_JSON_MAX);
	gb_auto_free char *hosts = options->net ? gb_value_to_json(options->net, 0, NULL, NULL) : NULL;
	gb_buf_printf(&permissions, "{\"tier\":\"%s\",\"modules\":%s", gb_tier_name(run->request.tier),
	    modules ? modules : "");
	/* An approval is for these hosts. */
	if (options->net)
		gb_buf_printf(&permissions, ",\"hosts\":%s", hosts ? hosts : "null");
	write_secrets(run, options->net, &permissions);
	/* And for this directory. */
	if (options->workdir) {
		gb_buf_printf(&permissions, ",\"workdir\":");
		gb_json_append_bytes(&permissions, gb_str_from(options->workdir));
	}
	if (gb_face_rules(run->request.face)->is_action)
		gb_buf_printf(&permissions, ",\"readOnly\":%s", options->read_only ? "true" : "false");
	if (gb_face_rules(run->request.face)->with_tools)
		gb_buf_printf(&permissions, ",\"tools\":\"%s\"", run->around_hash);
	gb_buf_append_char(&permissions, '}');
	const char *kept = modules && !gb_buf_failed(&permissions)
			       ? gb_arena_copy(&run->texts, gb_buf_str(&permissions))
			       : NULL;
	if (!limits || !kept)
		return false;
	run->limits = gb_str_from(limits);
	run->permissions = (struct gb_str){kept, permissions.len};
	return true;
}

static bool is_json(const char *text) {
	struct gb_values *pool = gb_values_create(GB_AGENT_RUN_TEXTS_MAX);
	bool ok = pool && gb_value_from_json(pool, text, strlen(text), NULL);
	gb_values_destroy(pool);
	return ok;
}

/* These limits apply whether or not a person is asked. */
static bool check_texts(const struct gb_gate_request *request, struct gb_err *err) {
	const struct {
		const char *field, *text;
		size_t max;
	} texts[] = {{"transport", request->transport, TRANSPORT_MAX},
#define CHECKED_ID(member_, max_)      {#member_, request->member_, max_},
#define CHECKED_TEXT(member_, max_)    {#member_, request->member_, max_},
#define CHECKED_JSON(member_, max_)    {#member_, request->member_, max_},
#define CHECKED_SESSION(member_, max_) {#member_, request->member_, max_},
#define CHECKED_CHOICE(member_, max_)
#define CHECKED(kind_, member_, json_, max_, ...) CHECKED_##kind_(member_, max_)
	    GB_AGENT_FIELDS(CHECKED)};
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		size_t n = texts[i].text ? strlen(texts[i].text) : 0;
		if (n > texts[i].max)
			return gb_fail_field(err, GB_EINVAL, texts[i].field,
			    "has %zu bytes; the maximum is %zu", n, texts[i].max);
		if (n && gb_wtf8_scan(texts[i].text, n) != GB_WTF8_UTF8)
			return gb_fail_field(err, GB_EINVAL, texts[i].field, "is not UTF-8");
	}
	return !request->trace || is_json(request->trace) ||
	       gb_fail_field(err, GB_EINVAL, "trace", "must be JSON");
}

/* Reject fields that an input does not use. */
static bool check_input(const struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_run_options *options = &request->run;
	const struct {
		const char *field;
		bool set;
	} unused[] = {{"expected", request->expected}, {"trace", request->trace},
	    {"persistent", request->persistent}, {"on_input", request->waits_for_input}};
	for (size_t i = 0; i < gb_request_fields_count; i++)
		if (gb_request_has(&gb_request_fields[i], options))
			return gb_fail_field(
			    err, GB_EINVAL, gb_request_fields[i].member, "is not allowed for input");
	for (size_t i = 0; i < gb_limit_fields_count; i++)
		if (gb_limit_get(&gb_limit_fields[i], options))
			return gb_fail_field(
			    err, GB_EINVAL, gb_limit_fields[i].member, "is not allowed for input");
	for (size_t i = 0; i < GB_COUNT(unused); i++)
		if (unused[i].set)
			return gb_fail_field(err, GB_EINVAL, unused[i].field, "is not allowed for input");
	if (!request->session)
		return gb_fail_field(err, GB_EINVAL, "session", "must be given: input goes to a session");
	return (options->source && *options->source) || gb_fail_field(err, GB_EINVAL, "text", "is empty");
}

static bool check_face(const struct gb_gate_request *request, struct gb_err *err) {
	const char *name = gb_face_name(request->face);
	if ((unsigned)request->face >= GB_FACE_COUNT || !gb_face_rules(request->face)->gated)
		return gb_fail_field(err, GB_EINVAL, "face", "'%s' does not go through the gate", name);
	if (request->embedder_enables && !gb_face_embedder_may_enable(request->face))
		return gb_fail_field(err, GB_EINVAL, "embedder_enables",
		    "the embedding program cannot enable the face '%s'", name);
	if (request->embedder_decides && !gb_face_embedder_may_decide(request->face))
		return gb_fail_field(err, GB_EINVAL, "embedder_decides",
		    "the embedding program cannot decide on requests of face '%s'", name);
	if (gb_face_rules(request->face)->is_body && request->run.language != GB_JAVASCRIPT)
		return gb_fail_field(err, GB_EINVAL, "language", "face '%s' runs JavaScript only", name);
	const struct gb_surroundings *around = &request->around;
	if (!gb_face_rules(request->face)->with_tools &&
	    (around->head || around->tail || around->functions || request->on_call))
		return gb_fail_field(
		    err, GB_EINVAL, "around", "face '%s' puts nothing around the code", name);
	if (request->hosts && (!gb_face_rules(request->face)->with_tools || request->tier != GB_TIER_NETWORK))
		return gb_fail_field(err, GB_EINVAL, "net", "face '%s' names no hosts in the %s tier", name,
		    gb_tier_name(request->tier));
	if (request->workdir &&
	    (!gb_face_rules(request->face)->with_tools || request->persistent || request->session))
		return gb_fail_field(err, GB_EINVAL, "workdir",
		    "face '%s' has no directory, and sessions of agents have none", name);
	return request->tier == GB_TIER_ISOLATED || request->is_input ||
	       gb_language_has(request->run.language, GB_NEED_NET) ||
	       gb_fail_field(err, GB_EINVAL, "tier", "the network tier is not for %s",
		   gb_language_name(request->run.language));
}

static bool is_of_action(const struct gb_gate_request *request, const struct gb_request_field *field) {
	return (unsigned)request->face < GB_FACE_COUNT && gb_face_rules(request->face)->is_action &&
	       (strcmp(field->member, "globals") == 0 || strcmp(field->member, "allowed_modules") == 0);
}

bool gb_gate_check_request(const struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_run_options *options = &request->run;
	for (size_t i = 0; i < gb_request_fields_count; i++)
		if (!gb_request_fields[i].for_agents && gb_request_has(&gb_request_fields[i], options) &&
		    !is_of_action(request, &gb_request_fields[i]))
			return gb_fail_field(err, GB_EINVAL, gb_request_fields[i].member,
			    "is not allowed for requests of agents");
	if (options->session)
		return gb_fail_field(err, GB_EINVAL, "session", "is not allowed for requests of agents");
	if (!check_face(request, err) || !check_texts(request, err) ||
	    (request->is_input && !check_input(request, err)))
		return false;
	if (request->waits_for_input && !request->persistent && !request->session)
		return gb_fail_field(
		    err, GB_EINVAL, "on_input", "only a run in a session can wait for input");
	if ((request->persistent || request->session) && !(request->conversation && *request->conversation))
		return gb_fail_field(
		    err, GB_EINVAL, "conversation", "must be given: a session belongs to a conversation");
	return (unsigned)options->language < GB_LANGUAGES ||
	       gb_fail_field(err, GB_EINVAL, "language", "%d is not a language", (int)options->language);
}

/* One after the other, so that two texts cannot be exchanged for two others. */
static void hash_around(const struct gb_surroundings *around, char ret_hex[2 * GB_HASH_BYTES + 1]) {
	const char *const texts[] = {around->head, around->tail};
	unsigned char hash[GB_HASH_BYTES];
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, sizeof hash);
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		const char *text = texts[i] ? texts[i] : "";
		uint64_t n = strlen(text);
		crypto_generichash_update(&state, (const unsigned char *)&n, sizeof n);
		crypto_generichash_update(&state, (const unsigned char *)text, n);
	}
	crypto_generichash_final(&state, hash, sizeof hash);
	sodium_bin2hex(ret_hex, 2 * GB_HASH_BYTES + 1, hash, sizeof hash);
}

static bool copy_around(struct gb_agent_run *run) {
	struct gb_surroundings *around = &run->request.around;
	const char **const texts[] = {&around->head, &around->tail};
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		if (*texts[i] && !(*texts[i] = gb_agent_run_text(run, *texts[i])))
			return false;
	hash_around(around, run->around_hash);
	return true;
}

bool gb_agent_run_copy_request(struct gb_agent_run *run, const struct gb_gate_request *given) {
	struct gb_gate_request *request = &run->request;
	const char *source = given->run.source ? given->run.source : "";
	struct gb_str text = {source, given->run.source_bytes ? given->run.source_bytes : strlen(source)};
#define KEPT_ID(member_)      &request->member_,
#define KEPT_TEXT(member_)    &request->member_,
#define KEPT_JSON(member_)    &request->member_,
#define KEPT_SESSION(member_) &request->member_,
#define KEPT_CHOICE(member_)
#define KEPT(kind_, member_, ...) KEPT_##kind_(member_)
	const char **const texts[] = {GB_AGENT_FIELDS(KEPT) & request->transport};
	*request = *given;
	/* Only options that are checked, shown to the person who decides, and recorded. */
	request->run = (struct gb_run_options){
	    .language = given->run.language,
	    .args = given->run.args,
	    .files = given->run.files,
	    .take = given->run.take,
	    .globals = given->run.globals,
	    .read_only = given->run.read_only,
	    .source = gb_arena_copy(&run->texts, text),
	    .source_bytes = text.n,
	    .run_id = given->run.run_id ? gb_agent_run_text(run, given->run.run_id) : NULL,
	};
	const uint64_t limits[] = {
	    given->run.timeout_ms, given->run.memory_bytes, given->run.output_bytes, given->run.result_bytes};
	memcpy(run->asked_for, limits, sizeof limits);
	run->asked_restricted = given->run.restricted;
	run->asked_modules = given->run.allowed_modules;
	/* Input is typed into a terminal, and only shell sessions have one. */
	if (given->is_input)
		request->run.language = GB_SHELL;
	bool ok = request->run.source && copy_around(run) &&
		  (!given->hosts || (request->hosts = gb_agent_run_text(run, given->hosts))) &&
		  (!given->workdir || (request->workdir = gb_agent_run_text(run, given->workdir)));
	request->run.workdir = request->workdir;
	for (size_t i = 0; i < GB_COUNT(texts) && ok; i++)
		ok = !*texts[i] || (*texts[i] = gb_agent_run_text(run, *texts[i]));
	char through[GB_APPROVAL_NAME_MAX];
	snprintf(through, sizeof through, "%s%s%s%s", gb_face_name(request->face),
	    request->transport ? " (" : "", request->transport ? request->transport : "",
	    request->transport ? ")" : "");
	run->through = gb_agent_run_text(run, through);
	return ok && run->through;
}
