/* One request on its way through the gate. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "gate/agent_run.h"
#include "value/codec.h"
#include "value/wtf8.h"

enum { TEXTS_MAX = 64 << 20, MESSAGE_MAX = 600 };

char *gb_pass_text(struct gb_pass *pass, const char *text) {
	return text ? gb_arena_copy(&pass->texts, gb_str_from(text)) : NULL;
}

/* --- refusals --- */

/* The energy that it was not run with. */
static void give_back(struct gb_pass *pass) {
	struct gb_err err;
	if (pass->spent.granted && pass->gate->energy)
		gb_energy_refund(pass->gate->energy, &pass->spent, &err);
	pass->spent.granted = false;
}

/* It may quote the request or a person: masked first, and then cut. */
__attribute__((format(printf, 2, 0))) static const char *refusal_text(
    struct gb_pass *pass, const char *format, va_list ap) {
	gb_auto_free char *whole = NULL;
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, TEXTS_MAX);
	int n = vasprintf(&whole, format, ap);
	if (n < 0) {
		whole = NULL;
		return NULL;
	}
	if (!pass->rules)
		gb_buf_append(&clean, whole, (size_t)n);
	else
		gb_mask_text(pass->rules->filter, (struct gb_str){whole, (size_t)n}, &clean);
	struct gb_str text = gb_buf_str(&clean);
	if (gb_buf_failed(&clean))
		return NULL;
	if (text.n > MESSAGE_MAX)
		for (text.n = MESSAGE_MAX; text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80;)
			text.n--;
	return gb_arena_copy(&pass->texts, text);
}

void gb_pass_refuse(struct gb_pass *pass, const char *code, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	const char *kept = refusal_text(pass, format, ap);
	va_end(ap);
	pass->result = (struct gb_result){
	    .status = GB_DENIED,
	    .error = {"Denied", kept ? kept : "out of memory", "", code, "", "", 0, 0, 0, 0, 0},
	    .stdout_text = "",
	    .stderr_text = "",
	    .exit_code = 1,
	};
	pass->state = GB_PASS_REFUSED;
	gb_pass_drop_held(pass);
	give_back(pass);
	gb_pass_leave_seat(pass);
}

void gb_pass_finish(struct gb_pass *pass) {
	pass->state = GB_PASS_DONE;
	/* The caller is not told the id of a session that was never opened. */
	if (!pass->seated)
		*pass->session = '\0';
	if (pass->abandoned)
		gb_pass_free(pass);
	else if (pass->request.on_done)
		pass->request.on_done(pass, &pass->result, pass->request.data);
}

/* --- the run --- */

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct gb_pass *pass = data;
	const struct gb_log *clean = gb_masked_log(&pass->masked, log);
	if (!clean)
		return;
	gb_summary_log(&pass->summary, clean);
	gb_pass_tell(pass, (struct gb_event){.kind = GB_EVENT_LOG, .at = pass->masked.n_logs - 1});
}

/* @out was kept as well, at the end of what the stream has said. */
static void tell(struct gb_pass *pass, int stream, const struct gb_buf *out) {
	size_t n = out->len, kept = pass->masked.outputs[stream - 1].len;
	if (n == 0 || pass->masked.failed || gb_buf_failed(&pass->masked.outputs[stream - 1]))
		return;
	gb_summary_output(&pass->summary, gb_buf_str(out));
	gb_pass_tell(
	    pass, (struct gb_event){.kind = GB_EVENT_OUTPUT, .stream = stream, .at = kept - n, .n = n});
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct gb_pass *pass = data;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, gb_masked_output_max(&pass->request.run));
	gb_masked_feed(&pass->masked, stream, bytes, n, &out);
	tell(pass, stream, &out);
}

static void on_display(struct gb_run *run, const struct gb_value *display, void *data) {
	struct gb_pass *pass = data;
	const struct gb_value *clean = gb_masked_value(&pass->masked, display);
	if (clean)
		gb_pass_tell(pass, (struct gb_event){.kind = GB_EVENT_DISPLAY, .what = clean});
}

static void on_awaiting(struct gb_run *run, const char *prompt, void *data) {
	struct gb_pass *pass = data;
	gb_gate_drop_inputs(pass->gate, pass->session);
	if (!pass->request.on_prompt)
		return;
	if (prompt)
		prompt = gb_masked_text(&pass->masked, prompt, strlen(prompt)).p;
	gb_pass_tell(pass, (struct gb_event){.kind = GB_EVENT_PROMPT, .what = prompt});
}

static void end_streams(struct gb_pass *pass, const struct gb_result *result) {
	for (int stream = 1; stream <= 2; stream++) {
		gb_auto_buf struct gb_buf out;
		gb_buf_init(&out, gb_masked_output_max(&pass->request.run));
		gb_masked_end(&pass->masked, stream, result, &out);
		tell(pass, stream, &out);
	}
}

/* Of what is too large as JSON only is told that it has run. */
static void withhold(struct gb_pass *pass, const struct gb_result *result, const char *why) {
	const char *kept = gb_pass_text(pass, why);
	pass->result = (struct gb_result){
	    .status = GB_FAILURE,
	    .error = {"RangeError", kept ? kept : "", "", "result_size", "", "", 0, 0, 0, 0, 0},
	    .stdout_text = "",
	    .stderr_text = "",
	    .exit_code = 1,
	    .timed_out = result->timed_out,
	    .duration_ms = result->duration_ms,
	    .memory_used_bytes = result->memory_used_bytes,
	};
	memcpy(pass->result.run_id, result->run_id, sizeof pass->result.run_id);
}

static bool record(struct gb_pass *pass, const struct gb_result *result, struct gb_err *err) {
	gb_masked_tell(&pass->masked, result, &pass->result);
	if (gb_pass_record(pass, err))
		return true;
	withhold(pass, result, err->message);
	return gb_pass_record(pass, err);
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	struct gb_pass *pass = data;
	struct gb_err err = {0};
	bool telling = pass->telling; /* its callback has ended the run */
	if (*pass->session)
		gb_gate_drop_inputs(pass->gate, pass->session);
	pass->telling = true;
	end_streams(pass, result);
	pass->telling = telling;
	if (!gb_run_begun(run))
		give_back(pass);
	/* What has run is paid for. */
	pass->spent.granted = false;
	if (!record(pass, result, &err)) {
		gb_audit_cancel(pass->gate->audit, &pass->ticket);
		gb_pass_refuse(
		    pass, "audit", "the run cannot be recorded, so its result is not told: %s", err.message);
	}
	if (pass->was_destroyed && !telling)
		gb_pass_destroy(pass);
}

static bool start(struct gb_pass *pass, const struct gb_run_options *run, struct gb_err *err) {
	struct gb_manager *sessions = pass->gate->sessions;
	bool opened;
	if (!*pass->session)
		return gb_run_start(pass->gate->engine, run, &pass->run, err);
	if (!gb_pass_open_seat(pass, &opened, err))
		return false;
	if (gb_manager_execute(sessions, pass->session, run, &pass->run, err))
		return true;
	if (opened)
		gb_manager_kill(sessions, pass->session, "its first execution was refused", NULL);
	return false;
}

void gb_pass_begin(struct gb_pass *pass) {
	struct gb_engine *engine = pass->gate->engine;
	struct gb_run_options run = pass->request.run;
	struct gb_err err = {0};
	run.ends_on_input = !pass->request.waits_for_input;
	run.on_log = on_log;
	run.on_output = on_output;
	run.on_display = on_display;
	run.on_awaiting = on_awaiting;
	run.on_settled = on_settled;
	run.data = pass;
	if (!gb_pass_reserve(pass, &err)) {
		gb_pass_refuse(pass, "audit", "what cannot be recorded is not run: %s", err.message);
		return;
	}
	pass->state = GB_PASS_RUNNING;
	if (start(pass, &run, &err)) {
		/* The record will name it: it is found out while the code runs. */
		gb_engine_ask_version(engine, run.language);
		return;
	}
	gb_audit_cancel(pass->gate->audit, &pass->ticket);
	gb_pass_refuse(pass,
	    err.code == GB_ELIMIT || err.code == GB_EBUSY ? "too_many"
	    : pass->seated                                ? "unknown_session"
	    : err.code == GB_ENOENT                       ? "runtime_disabled"
							  : "refused",
	    "%s", err.message);
}

/* --- its life --- */

/* What the code is called with. It gets what whoever decides is shown: this text, read again. */
static bool describe_inputs(struct gb_pass *pass, struct gb_err *err) {
	struct gb_run_options *run = &pass->request.run;
	size_t n = 0;
	if (!run->args) {
		pass->inputs = GB_STR("[]");
		return true;
	}
	/* There is nobody whom the code could call. */
	gb_auto_buf struct gb_buf plain;
	gb_buf_init(&plain, GB_APPROVAL_BYTES_MAX);
	if (!gb_value_encode(&plain, run->args, NULL, err))
		return gb_wrap(err, "args");
	gb_auto_free char *json = gb_value_to_json(run->args, 0, &n, err);
	if (!json)
		return gb_wrap(err, "args");
	const char *kept = gb_arena_copy(&pass->texts, (struct gb_str){json, n});
	if (!kept)
		return gb_fail(err, GB_ELIMIT, 0,
		    "args: %zu bytes of JSON are too many: with code and texts %d are taken", n, TEXTS_MAX);
	pass->inputs = (struct gb_str){kept, n};
	run->args = gb_value_from_json(pass->values, kept, n, err);
	return run->args || gb_wrap(err, "args");
}

/* What is approved and recorded besides the code. */
static bool describe(struct gb_pass *pass) {
	const struct gb_run_options *run = &pass->request.run;
	char text[400];
	snprintf(text, sizeof text,
	    "{\"timeoutMs\":%llu,\"memoryBytes\":%llu,\"outputBytes\":%llu,\"resultBytes\":%llu,"
	    "\"restricted\":%s}",
	    (unsigned long long)run->timeout_ms, (unsigned long long)run->memory_bytes,
	    (unsigned long long)run->output_bytes, (unsigned long long)run->result_bytes,
	    run->restricted ? "true" : "false");
	const char *limits = gb_pass_text(pass, text);
	gb_auto_free char *modules =
	    run->allowed_modules ? gb_value_to_json(run->allowed_modules, 0, NULL, NULL) : strdup("[]");
	gb_auto_buf struct gb_buf permissions;
	gb_buf_init(&permissions, GB_APPROVAL_JSON_MAX);
	gb_buf_printf(&permissions, "{\"tier\":\"%s\",\"modules\":%s}", gb_tier_name(pass->request.tier),
	    modules ? modules : "");
	const char *kept = modules && !gb_buf_failed(&permissions)
			       ? gb_arena_copy(&pass->texts, gb_buf_str(&permissions))
			       : NULL;
	if (!limits || !kept)
		return false;
	pass->limits = gb_str_from(limits);
	pass->permissions = (struct gb_str){kept, permissions.len};
	return true;
}

static bool is_json(const char *text) {
	struct gb_values *pool = gb_values_create(TEXTS_MAX);
	bool ok = pool && gb_value_from_json(pool, text, strlen(text), NULL);
	gb_values_destroy(pool);
	return ok;
}

/* The same whether or not anybody is asked. */
static bool check_texts(const struct gb_gate_request *request, struct gb_err *err) {
	const struct {
		const char *field, *text;
		size_t max;
	} texts[] = {
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
			return gb_fail(err, GB_EINVAL, 0, "%s: has %zu bytes, and may have %zu",
			    texts[i].field, n, texts[i].max);
		if (n && gb_wtf8_scan(texts[i].text, n) != GB_WTF8_UTF8)
			return gb_fail(err, GB_EINVAL, 0, "%s: is no UTF-8", texts[i].field);
	}
	return !request->trace || is_json(request->trace) ||
	       gb_fail(err, GB_EINVAL, 0, "trace: must be JSON");
}

/* Reject what an input would not use. */
static bool check_input(const struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_run_options *run = &request->run;
	const struct {
		const char *field;
		bool set;
	} unused[] = {{"args", run->args}, {"timeout_ms", run->timeout_ms},
	    {"memory_bytes", run->memory_bytes}, {"output_bytes", run->output_bytes},
	    {"result_bytes", run->result_bytes}, {"expected", request->expected}, {"trace", request->trace},
	    {"persistent", request->persistent}, {"on_input", request->waits_for_input}};
	for (size_t i = 0; i < GB_COUNT(unused); i++)
		if (unused[i].set)
			return gb_fail(err, GB_EINVAL, 0, "%s: is not for input", unused[i].field);
	if (!request->session)
		return gb_fail(err, GB_EINVAL, 0, "session: must be given, since input is a session's");
	return (run->source && *run->source) || gb_fail(err, GB_EINVAL, 0, "text: is empty");
}

/* What the gate does not know it lets nobody do. */
static bool check_request(const struct gb_gate_request *request, struct gb_err *err) {
	const struct gb_run_options *run = &request->run;
	const struct {
		const char *field;
		bool set;
	} unknown[] = {{"session", run->session}, {"modules", run->modules}, {"imports", run->imports},
	    {"globals", run->globals}, {"files", run->files}, {"input", run->input}, {"fn", run->fn},
	    {"net", run->net}, {"profile", run->profile}, {"allowed_modules", run->allowed_modules},
	    {"report", run->report}, {"reset", run->reset}};
	for (size_t i = 0; i < GB_COUNT(unknown); i++)
		if (unknown[i].set)
			return gb_fail(
			    err, GB_EINVAL, 0, "%s: is not for requests of agents", unknown[i].field);
	if (!check_texts(request, err) || (request->is_input && !check_input(request, err)))
		return false;
	if (request->waits_for_input && !request->persistent && !request->session)
		return gb_fail(err, GB_EINVAL, 0, "on_input: only a run in a session can wait for input");
	if ((request->persistent || request->session) && !(request->conversation && *request->conversation))
		return gb_fail(
		    err, GB_EINVAL, 0, "conversation: must be given, since a session is a conversation's");
	return (unsigned)run->language < GB_LANGUAGES ||
	       gb_fail(err, GB_EINVAL, 0, "language: there is no number %d", (int)run->language);
}

static bool copy_request(struct gb_pass *pass, const struct gb_gate_request *given) {
	struct gb_gate_request *request = &pass->request;
	const char *source = given->run.source ? given->run.source : "";
	struct gb_str text = {source, given->run.source_bytes ? given->run.source_bytes : strlen(source)};
	const char **const texts[] = {&request->face, &request->conversation, &request->turn,
	    &request->purpose, &request->expected, &request->trace, &request->session};
	*request = *given;
	/* Only what is checked, shown to whoever decides, and recorded. */
	request->run = (struct gb_run_options){
	    .language = given->run.language,
	    .args = given->run.args,
	    .source = gb_arena_copy(&pass->texts, text),
	    .source_bytes = text.n,
	};
	const uint64_t limits[] = {
	    given->run.timeout_ms, given->run.memory_bytes, given->run.output_bytes, given->run.result_bytes};
	memcpy(pass->asked_for, limits, sizeof limits);
	pass->asked_restricted = given->run.restricted;
	/* The only language that has a terminal. */
	if (given->is_input)
		request->run.language = GB_SHELL;
	bool ok = request->run.source;
	for (size_t i = 0; i < GB_COUNT(texts) && ok; i++)
		ok = !*texts[i] || (*texts[i] = gb_pass_text(pass, *texts[i]));
	return ok;
}

bool gb_pass_adopt(struct gb_pass *pass) {
	struct gb_rules *before = pass->rules;
	pass->rules = gb_rules_ref(pass->gate->rules);
	gb_masked_finish(&pass->masked);
	gb_rules_unref(before);
	bool ok = gb_pass_limit(pass) && describe(pass);
	const struct gb_run_options *run = &pass->request.run;
	return gb_masked_init(
		   &pass->masked, pass->rules->filter, gb_masked_output_max(run), gb_masked_value_max(run)) &&
	       ok;
}

void gb_pass_enter(struct gb_pass *pass) {
	gb_pass_withdraw(pass);
	if (!gb_pass_adopt(pass))
		gb_pass_refuse(pass, "refused", "out of memory");
	else if (gb_pass_admit(pass) && gb_pass_seat(pass) &&
		 (!pass->request.is_input || gb_pass_bind_input(pass)) && gb_pass_count(pass))
		gb_pass_proceed(pass);
}

bool gb_gate_submit(
    struct gb_gate *gate, const struct gb_gate_request *request, struct gb_pass **ret, struct gb_err *err) {
	if (!check_request(request, err))
		return false;
	struct gb_pass *pass = calloc(1, sizeof *pass);
	if (!pass)
		return gb_fail(err, GB_ENOMEM, 0, "a request");
	pass->gate = gate;
	gb_arena_init(&pass->texts, TEXTS_MAX);
	gb_list_append(&gate->passes, &pass->link);
	pass->values = gb_values_create(TEXTS_MAX);
	if (!pass->values || !copy_request(pass, request))
		gb_fail(err, GB_ENOMEM, 0, "a request");
	else if (describe_inputs(pass, err)) {
		*ret = pass;
		gb_pass_enter(pass);
		return true;
	}
	gb_pass_free(pass);
	return false;
}

bool gb_pass_done(const struct gb_pass *pass) {
	return pass->state == GB_PASS_DONE;
}

const struct gb_result *gb_pass_result(const struct gb_pass *pass) {
	return gb_pass_done(pass) ? &pass->result : NULL;
}

const char *gb_pass_session(const struct gb_pass *pass) {
	return pass->session;
}

void gb_pass_free(struct gb_pass *pass) {
	gb_list_remove(&pass->link);
	gb_pass_drop_held(pass);
	gb_run_destroy(pass->run);
	gb_masked_finish(&pass->masked);
	gb_rules_unref(pass->rules);
	gb_values_destroy(pass->values);
	gb_arena_finish(&pass->texts);
	free(pass);
}

/* A run in a session is asked to stop, so that the session goes on without it. */
void gb_pass_stop(struct gb_pass *pass, const char *reason) {
	if (!*pass->session || !gb_run_begun(pass->run))
		gb_run_terminate(pass->run, reason);
	else
		gb_run_interrupt(pass->run);
}

void gb_pass_terminate(struct gb_pass *pass, const char *reason) {
	if (pass->state == GB_PASS_RUNNING)
		gb_pass_stop(pass, reason);
	if (pass->state != GB_PASS_WAITING)
		return;
	gb_pass_withdraw(pass);
	gb_pass_refuse(pass, "withdrawn", "%s", reason ? reason : "the request was withdrawn");
}

void gb_pass_destroy(struct gb_pass *pass) {
	if (!pass)
		return;
	pass->request.on_pending = NULL;
	pass->request.on_done = NULL;
	pass->request.on_log = NULL;
	pass->request.on_output = NULL;
	pass->request.on_display = NULL;
	pass->request.on_prompt = NULL;
	/* Whoever tells still needs it, and it is recorded first. */
	pass->was_destroyed = pass->telling;
	if (pass->telling)
		return;
	gb_pass_terminate(pass, "its request was withdrawn");
	/* It goes when its record is written, or given up. */
	if (pass->state == GB_PASS_DONE)
		gb_pass_free(pass);
	else
		pass->abandoned = true;
}
