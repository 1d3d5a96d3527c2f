/* One request, from submission to its result. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "gate/agent_run.h"
#include "glovebox/errors.h"
#include "value/codec.h"
#include "value/wtf8.h"

enum { TEXTS_MAX = 64 << 20, MESSAGE_MAX = 600, TRANSPORT_MAX = 32 };

char *gb_agent_run_text(struct gb_agent_run *run, const char *text) {
	return text ? gb_arena_copy(&run->texts, gb_str_from(text)) : NULL;
}

/* --- refusals --- */

/* A run that did not start takes neither energy nor a call of its turn. */
static void refund(struct gb_agent_run *run) {
	struct gb_err err;
	if (run->spent.granted && run->gate->energy)
		gb_energy_refund(run->gate->energy, &run->spent, &err);
	run->spent.granted = false;
	gb_agent_run_uncount(run);
}

/* The text may quote the request or a person, so it is masked, and only then cut. */
__attribute__((format(printf, 2, 0))) static const char *refusal_text(
    struct gb_agent_run *run, const char *format, va_list ap) {
	gb_auto_free char *whole = NULL;
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, TEXTS_MAX);
	int n = vasprintf(&whole, format, ap);
	if (n < 0) {
		whole = NULL;
		return NULL;
	}
	if (!run->rules)
		gb_buf_append(&clean, whole, (size_t)n);
	else
		gb_mask_text(run->rules->filter, (struct gb_str){whole, (size_t)n}, &clean);
	struct gb_str text = gb_buf_str(&clean);
	if (gb_buf_failed(&clean))
		return NULL;
	if (text.n > MESSAGE_MAX)
		for (text.n = MESSAGE_MAX; text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80;)
			text.n--;
	return gb_arena_copy(&run->texts, text);
}

void gb_agent_run_refuse(struct gb_agent_run *run, const char *code, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	const char *kept = refusal_text(run, format, ap);
	va_end(ap);
	run->result = gb_result_instead(GB_DENIED, "Denied", code, kept ? kept : "out of memory", NULL);
	run->state = GB_AGENT_RUN_REFUSED;
	gb_agent_run_drop_held(run);
	refund(run);
	gb_agent_run_leave_session(run);
}

void gb_agent_run_finish(struct gb_agent_run *run) {
	run->state = GB_AGENT_RUN_DONE;
	/* Do not report the id of a session that was never opened. */
	if (!run->session_exists)
		*run->session = '\0';
	if (run->abandoned)
		gb_agent_run_free(run);
	else if (run->request.on_done)
		run->request.on_done(run, &run->result, run->request.data);
}

/* --- the run --- */

/* Deliver the events that may be shown by now, and add them to the summary. */
static void deliver_masked(struct gb_agent_run *run) {
	struct gb_masked *masked = &run->masked;
	struct gb_masked_event event;
	while (gb_masked_next(masked, &event)) {
		struct gb_event masked_event = {.stream = event.stream, .at = event.at, .n = event.n};
		switch (event.kind) {
		case GB_MASKED_OUTPUT:
			masked_event.kind = GB_EVENT_OUTPUT;
			gb_summary_output(&run->summary, gb_masked_output(masked, &event));
			break;
		case GB_MASKED_LOG:
			masked_event.kind = GB_EVENT_LOG;
			gb_summary_log(&run->summary, &masked->logs[event.at]);
			break;
		case GB_MASKED_DISPLAY:
			masked_event.kind = GB_EVENT_DISPLAY;
			masked_event.what = event.display;
			gb_summary_display(&run->summary, event.display);
			break;
		}
		gb_agent_run_deliver(run, masked_event);
	}
}

static void on_log(struct gb_run *engine_run, const struct gb_log *log, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_log(&run->masked, log);
	deliver_masked(run);
}

static void on_output(struct gb_run *engine_run, int stream, const char *bytes, size_t n, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_output(&run->masked, stream, bytes, n);
	deliver_masked(run);
}

static void on_display(struct gb_run *engine_run, const struct gb_value *display, void *data) {
	struct gb_agent_run *run = data;
	gb_masked_put_display(&run->masked, display);
	deliver_masked(run);
}

static void on_awaiting(struct gb_run *engine_run, const char *prompt, void *data) {
	struct gb_agent_run *run = data;
	gb_gate_drop_inputs(run->gate, run->session);
	if (!run->request.on_prompt)
		return;
	if (prompt)
		prompt = gb_masked_text(&run->masked, prompt, strlen(prompt)).p;
	gb_agent_run_deliver(run, (struct gb_event){.kind = GB_EVENT_PROMPT, .what = prompt});
}

/* Replace a result that is too large as JSON by an error. */
static void withhold(struct gb_agent_run *run, const struct gb_result *result, const char *why) {
	const char *kept = gb_agent_run_text(run, why);
	run->result =
	    gb_result_instead(GB_FAILURE, "RangeError", GB_CODE_RESULT_SIZE, kept ? kept : "", result);
}

static bool record(struct gb_agent_run *run, const struct gb_result *result, struct gb_err *err) {
	gb_masked_tell(&run->masked, result, &run->result);
	if (gb_agent_run_record(run, err))
		return true;
	withhold(run, result, err->message);
	return gb_agent_run_record(run, err);
}

static void on_settled(struct gb_run *engine_run, const struct gb_result *result, void *data) {
	struct gb_agent_run *run = data;
	struct gb_err err = {0};
	bool in_callback = run->in_callback; /* a callback of this run has ended it */
	if (*run->session)
		gb_gate_drop_inputs(run->gate, run->session);
	run->in_callback = true;
	gb_masked_put_end(&run->masked, result);
	deliver_masked(run);
	run->in_callback = in_callback;
	if (!gb_run_begun(engine_run))
		refund(run);
	/* A run that has started is not refunded later, and stays counted. */
	run->spent.granted = run->counted = false;
	if (!record(run, result, &err)) {
		gb_audit_cancel(run->gate->audit, &run->ticket);
		gb_agent_run_refuse(run, GB_CODE_AUDIT,
		    "the run cannot be recorded, so its result is withheld: %s", err.message);
	}
	if (run->was_destroyed && !in_callback)
		gb_agent_run_destroy(run);
}

static bool start(struct gb_agent_run *run, const struct gb_run_options *options, struct gb_err *err) {
	struct gb_manager *sessions = run->gate->sessions;
	bool opened;
	if (!*run->session)
		return gb_run_start(run->gate->engine, options, &run->engine_run, err);
	if (!gb_agent_run_open_session(run, &opened, err))
		return false;
	if (gb_manager_execute(sessions, run->session, options, &run->engine_run, err))
		return true;
	if (opened)
		gb_manager_kill(sessions, run->session, "its first execution was refused", NULL);
	return false;
}

void gb_agent_run_begin(struct gb_agent_run *run) {
	struct gb_engine *engine = run->gate->engine;
	struct gb_run_options options = run->request.run;
	struct gb_err err = {0};
	options.ends_on_input = !run->request.waits_for_input;
	options.on_log = on_log;
	options.on_output = on_output;
	options.on_display = on_display;
	options.on_awaiting = on_awaiting;
	options.on_settled = on_settled;
	options.data = run;
	if (!gb_agent_run_reserve(run, &err)) {
		gb_agent_run_refuse(
		    run, GB_CODE_AUDIT, "the run cannot be recorded, so it was not started: %s", err.message);
		return;
	}
	run->state = GB_AGENT_RUN_RUNNING;
	if (start(run, &options, &err)) {
		/* The record contains the version; it is determined while the code runs. */
		gb_engine_ask_version(engine, options.language);
		return;
	}
	gb_audit_cancel(run->gate->audit, &run->ticket);
	gb_agent_run_refuse(run,
	    err.code == GB_ELIMIT || err.code == GB_EBUSY ? GB_CODE_TOO_MANY
	    : run->session_exists                         ? GB_CODE_UNKNOWN_SESSION
	    : err.code == GB_ENOENT                       ? GB_CODE_RUNTIME_DISABLED
							  : GB_CODE_REFUSED,
	    "%s", err.message);
}

/* --- the request --- */

/* Convert the arguments to JSON and back, so that the code is called with exactly the values that the person
 * who decides is shown. */
static bool describe_inputs(struct gb_agent_run *run, struct gb_err *err) {
	struct gb_run_options *options = &run->request.run;
	size_t n = 0;
	if (!options->args) {
		run->inputs = GB_STR("[]");
		return true;
	}
	/* Functions are not allowed: the code cannot call the host. */
	gb_auto_buf struct gb_buf plain;
	gb_buf_init(&plain, GB_APPROVAL_BYTES_MAX);
	if (!gb_value_encode(&plain, options->args, NULL, err))
		return gb_wrap_field(err, "args");
	gb_auto_free char *json = gb_value_to_json(options->args, 0, &n, err);
	if (!json)
		return gb_wrap_field(err, "args");
	const char *kept = gb_arena_copy(&run->texts, (struct gb_str){json, n});
	if (!kept)
		return gb_fail_field(err, GB_ELIMIT, "args",
		    "%zu bytes of JSON are too many: with code and texts %d are taken", n, TEXTS_MAX);
	run->inputs = (struct gb_str){kept, n};
	options->args = gb_value_from_json(run->values, kept, n, err);
	return options->args || gb_wrap_field(err, "args");
}

/* The limits and permissions that are approved and recorded besides the code. */
static bool describe(struct gb_agent_run *run) {
	const struct gb_run_options *options = &run->request.run;
	char text[400];
	snprintf(text, sizeof text,
	    "{\"timeoutMs\":%llu,\"memoryBytes\":%llu,\"outputBytes\":%llu,\"resultBytes\":%llu,"
	    "\"restricted\":%s}",
	    (unsigned long long)options->timeout_ms, (unsigned long long)options->memory_bytes,
	    (unsigned long long)options->output_bytes, (unsigned long long)options->result_bytes,
	    options->restricted ? "true" : "false");
	const char *limits = gb_agent_run_text(run, text);
	gb_auto_free char *modules = options->allowed_modules
					 ? gb_value_to_json(options->allowed_modules, 0, NULL, NULL)
					 : strdup("[]");
	gb_auto_buf struct gb_buf permissions;
	gb_buf_init(&permissions, GB_APPROVAL_JSON_MAX);
	gb_buf_printf(&permissions, "{\"tier\":\"%s\",\"modules\":%s}", gb_tier_name(run->request.tier),
	    modules ? modules : "");
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
	struct gb_values *pool = gb_values_create(TEXTS_MAX);
	bool ok = pool && gb_value_from_json(pool, text, strlen(text), NULL);
	gb_values_destroy(pool);
	return ok;
}

/* The same limits whether or not a person is asked. */
static bool check_texts(const struct gb_gate_request *request, struct gb_err *err) {
	const struct {
		const char *field, *text;
		size_t max;
	} texts[] = {
	    {"transport", request->transport, TRANSPORT_MAX},
	    {"conversation", request->conversation, GB_APPROVAL_NAME_MAX},
	    {"turn", request->turn, GB_APPROVAL_NAME_MAX},
	    {"session", request->session, GB_APPROVAL_NAME_MAX},
	    {"purpose", request->purpose, GB_APPROVAL_PURPOSE_MAX},
	    {"expected", request->expected, GB_APPROVAL_PURPOSE_MAX},
	    {"trace", request->trace, GB_AUDIT_TEXT_MAX},
	};
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
	} unused[] = {{"args", options->args}, {"timeout_ms", options->timeout_ms},
	    {"memory_bytes", options->memory_bytes}, {"output_bytes", options->output_bytes},
	    {"result_bytes", options->result_bytes}, {"expected", request->expected},
	    {"trace", request->trace}, {"persistent", request->persistent},
	    {"on_input", request->waits_for_input}};
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
	if (request->embedder_decides && !gb_face_embedder_may_decide(request->face))
		return gb_fail_field(err, GB_EINVAL, "embedder_decides",
		    "the embedding program cannot decide on requests of face '%s'", name);
	return request->tier == GB_TIER_ISOLATED ||
	       gb_fail_field(
		   err, GB_EINVAL, "tier", "'%s' is not yet available", gb_tier_name(request->tier));
}

/* Reject options that the gate does not check, show and record. */
static bool check_request(const struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_run_options *options = &request->run;
	const struct {
		const char *field;
		bool set;
	} unknown[] = {{"session", options->session}, {"modules", options->modules},
	    {"imports", options->imports}, {"globals", options->globals}, {"files", options->files},
	    {"input", options->input}, {"fn", options->fn}, {"net", options->net},
	    {"profile", options->profile}, {"allowed_modules", options->allowed_modules},
	    {"report", options->report}, {"reset", options->reset}};
	for (size_t i = 0; i < GB_COUNT(unknown); i++)
		if (unknown[i].set)
			return gb_fail_field(
			    err, GB_EINVAL, unknown[i].field, "is not allowed for requests of agents");
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
	       gb_fail_field(err, GB_EINVAL, "language", "there is no number %d", (int)options->language);
}

static bool copy_request(struct gb_agent_run *run, const struct gb_gate_request *given) {
	struct gb_gate_request *request = &run->request;
	const char *source = given->run.source ? given->run.source : "";
	struct gb_str text = {source, given->run.source_bytes ? given->run.source_bytes : strlen(source)};
	const char **const texts[] = {&request->transport, &request->conversation, &request->turn,
	    &request->purpose, &request->expected, &request->trace, &request->session};
	*request = *given;
	/* Only options that are checked, shown to the person who decides, and recorded. */
	request->run = (struct gb_run_options){
	    .language = given->run.language,
	    .args = given->run.args,
	    .source = gb_arena_copy(&run->texts, text),
	    .source_bytes = text.n,
	};
	const uint64_t limits[] = {
	    given->run.timeout_ms, given->run.memory_bytes, given->run.output_bytes, given->run.result_bytes};
	memcpy(run->asked_for, limits, sizeof limits);
	run->asked_restricted = given->run.restricted;
	/* The only language with a terminal. */
	if (given->is_input)
		request->run.language = GB_SHELL;
	bool ok = request->run.source;
	for (size_t i = 0; i < GB_COUNT(texts) && ok; i++)
		ok = !*texts[i] || (*texts[i] = gb_agent_run_text(run, *texts[i]));
	char through[GB_APPROVAL_NAME_MAX];
	snprintf(through, sizeof through, "%s%s%s%s", gb_face_name(request->face),
	    request->transport ? " (" : "", request->transport ? request->transport : "",
	    request->transport ? ")" : "");
	run->through = gb_agent_run_text(run, through);
	return ok && run->through;
}

bool gb_agent_run_adopt(struct gb_agent_run *run) {
	struct gb_rules *before = run->rules;
	run->rules = gb_rules_ref(run->gate->rules);
	gb_masked_finish(&run->masked);
	gb_rules_unref(before);
	bool ok = gb_agent_run_limit(run) && describe(run);
	const struct gb_run_options *options = &run->request.run;
	return gb_masked_init(&run->masked, run->rules->filter, gb_masked_output_max(options),
		   gb_masked_value_max(options)) &&
	       ok;
}

void gb_agent_run_enter(struct gb_agent_run *run) {
	gb_agent_run_withdraw(run);
	if (!gb_agent_run_adopt(run))
		gb_agent_run_refuse(run, GB_CODE_REFUSED, "out of memory");
	else if (gb_agent_run_admit(run) && gb_agent_run_resolve_session(run) &&
		 (!run->request.is_input || gb_agent_run_bind_input(run)) && gb_agent_run_count(run))
		gb_agent_run_proceed(run);
}

bool gb_gate_submit(struct gb_gate *gate, const struct gb_gate_request *request, struct gb_agent_run **ret,
    struct gb_err *err) {
	if (!check_request(request, err))
		return false;
	struct gb_agent_run *run = calloc(1, sizeof *run);
	if (!run)
		return gb_fail(err, GB_ENOMEM, 0, "a request");
	run->gate = gate;
	gb_arena_init(&run->texts, TEXTS_MAX);
	gb_list_append(&gate->runs, &run->link);
	run->values = gb_values_create(TEXTS_MAX);
	if (!run->values || !copy_request(run, request))
		gb_fail(err, GB_ENOMEM, 0, "a request");
	else if (describe_inputs(run, err)) {
		*ret = run;
		gb_agent_run_enter(run);
		return true;
	}
	gb_agent_run_free(run);
	return false;
}

bool gb_agent_run_done(const struct gb_agent_run *run) {
	return run->state == GB_AGENT_RUN_DONE;
}

const struct gb_result *gb_agent_run_result(const struct gb_agent_run *run) {
	return gb_agent_run_done(run) ? &run->result : NULL;
}

const char *gb_agent_run_session(const struct gb_agent_run *run) {
	return run->session;
}

void gb_agent_run_free(struct gb_agent_run *run) {
	gb_list_remove(&run->link);
	gb_agent_run_drop_held(run);
	gb_run_destroy(run->engine_run);
	gb_masked_finish(&run->masked);
	gb_rules_unref(run->rules);
	gb_values_destroy(run->values);
	gb_arena_finish(&run->texts);
	free(run);
}

/* A run in a session is interrupted, so that the session continues. */
void gb_agent_run_stop(struct gb_agent_run *run, const char *reason) {
	if (!*run->session || !gb_run_begun(run->engine_run))
		gb_run_terminate(run->engine_run, reason);
	else
		gb_run_interrupt(run->engine_run);
}

void gb_agent_run_terminate(struct gb_agent_run *run, const char *reason) {
	if (run->state == GB_AGENT_RUN_RUNNING)
		gb_agent_run_stop(run, reason);
	if (run->state != GB_AGENT_RUN_WAITING)
		return;
	gb_agent_run_withdraw(run);
	gb_agent_run_refuse(run, GB_CODE_WITHDRAWN, "%s", reason ? reason : "the request was withdrawn");
}

void gb_agent_run_destroy(struct gb_agent_run *run) {
	if (!run)
		return;
	run->request.on_pending = NULL;
	run->request.on_done = NULL;
	run->request.on_log = NULL;
	run->request.on_output = NULL;
	run->request.on_display = NULL;
	run->request.on_prompt = NULL;
	/* The code that runs the callback still uses it, and it must be recorded. */
	run->was_destroyed = run->in_callback;
	if (run->in_callback)
		return;
	gb_agent_run_terminate(run, "its request was withdrawn");
	/* Otherwise it is freed when its record is written or abandoned. */
	if (run->state == GB_AGENT_RUN_DONE)
		gb_agent_run_free(run);
	else
		run->abandoned = true;
}
