/* One request on its way through the gate. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "gate/pass.h"

enum { TEXTS_MAX = 64 << 20, VALUE_FACTOR = 16, MESSAGE_MAX = 600 };

char *gb_pass_text(struct gb_pass *pass, const char *text) {
	return text ? gb_arena_copy(&pass->texts, gb_str_from(text)) : NULL;
}

/* --- refusals --- */

void gb_pass_refuse(struct gb_pass *pass, const char *code, const char *format, ...) {
	char message[MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	const char *kept = gb_pass_text(pass, message);
	pass->result = (struct gb_result){
	    .status = GB_DENIED,
	    .error = {"Denied", kept ? kept : "out of memory", "", code, "", "", 0, 0},
	    .stdout_text = "",
	    .stderr_text = "",
	    .exit_code = 1,
	};
	pass->state = GB_PASS_REFUSED;
	struct gb_err err;
	if (pass->spent.granted)
		gb_energy_refund(pass->gate->energy, &pass->spent, &err);
}

void gb_pass_finish(struct gb_pass *pass) {
	pass->state = GB_PASS_DONE;
	if (pass->request.on_done)
		pass->request.on_done(pass, &pass->result, pass->request.data);
}

/* --- the run --- */

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct gb_pass *pass = data;
	const struct gb_log *clean = gb_masked_log(&pass->masked, log);
	if (clean && pass->request.on_log)
		pass->request.on_log(pass, clean, pass->request.data);
}

static void tell(struct gb_pass *pass, int stream, struct gb_buf *out) {
	if (out->len && !gb_buf_failed(out) && pass->request.on_output)
		pass->request.on_output(pass, stream, out->data, out->len, pass->request.data);
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct gb_pass *pass = data;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, pass->request.run.output_bytes + (4u << 20));
	gb_masked_feed(&pass->masked, stream, bytes, n, &out);
	tell(pass, stream, &out);
}

static void end_streams(struct gb_pass *pass) {
	for (int stream = 1; stream <= 2; stream++) {
		gb_auto_buf struct gb_buf out;
		gb_buf_init(&out, pass->request.run.output_bytes + (4u << 20));
		gb_masked_end(&pass->masked, stream, &out);
		tell(pass, stream, &out);
	}
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	struct gb_pass *pass = data;
	struct gb_err err = {0};
	pass->telling = true;
	end_streams(pass);
	pass->telling = false;
	if (!gb_masked_result(&pass->masked, result, &pass->result)) {
		static const struct gb_run_error nothing = {"GateError",
		    "there was no memory to look for secrets in the result, so it is not told", "", "masking",
		    "", "", 0, 0};
		pass->result = (struct gb_result){.status = GB_FAILURE,
		    .error = nothing,
		    .stdout_text = "",
		    .stderr_text = "",
		    .exit_code = 1};
		memcpy(pass->result.run_id, result->run_id, sizeof pass->result.run_id);
	}
	/* It has run: that is paid for. */
	pass->spent.granted = false;
	bool recorded = gb_pass_record(pass, &err);
	if (pass->was_destroyed) {
		gb_pass_destroy(pass);
		return;
	}
	if (recorded)
		return;
	gb_audit_cancel(pass->gate->audit, &pass->ticket);
	gb_pass_refuse(
	    pass, "audit", "the run cannot be recorded, so its result is not told: %s", err.message);
}

static void begin(struct gb_pass *pass) {
	struct gb_run_options run = pass->request.run;
	struct gb_err err = {0};
	run.on_log = on_log;
	run.on_output = on_output;
	run.on_display = NULL;
	run.on_settled = on_settled;
	run.data = pass;
	if (!gb_pass_reserve(pass, &err)) {
		gb_pass_refuse(pass, "audit", "what cannot be recorded is not run: %s", err.message);
		return;
	}
	pass->state = GB_PASS_RUNNING;
	if (gb_run_start(pass->gate->engine, &run, &pass->run, &err))
		return;
	gb_audit_cancel(pass->gate->audit, &pass->ticket);
	gb_pass_refuse(pass, err.code == GB_ENOENT ? "runtime_disabled" : "refused", "%s", err.message);
}

/* --- energy --- */

static void describe_time(int64_t at_ms, char *text, size_t n) {
	time_t at = (time_t)(at_ms / 1000);
	struct tm tm;
	gmtime_r(&at, &tm);
	strftime(text, n, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static bool spend(struct gb_pass *pass) {
	struct gb_err err = {0};
	if (!pass->gate->energy)
		return true;
	if (!gb_energy_spend(pass->gate->energy, pass->request.tier, &pass->spent, &err)) {
		gb_pass_refuse(pass, "energy", "how much energy there is cannot be told: %s", err.message);
		return false;
	}
	if (pass->spent.granted)
		return true;
	char when[40] = "never, as things are set";
	if (pass->spent.enough_at_ms)
		describe_time(pass->spent.enough_at_ms, when, sizeof when);
	gb_pass_refuse(pass, "energy", "%.3f of energy is there and %.3f is needed; it will suffice: %s",
	    pass->spent.level, pass->spent.needed, when);
	return false;
}

static void spend_and_begin(struct gb_pass *pass, const char *decision, const char *decider) {
	pass->decision = decision;
	pass->decider = gb_pass_text(pass, decider);
	if (spend(pass))
		begin(pass);
}

/* --- a person --- */

static struct gb_approval_request asked_of(const struct gb_pass *pass) {
	const struct gb_gate_request *request = &pass->request;
	return (struct gb_approval_request){
	    .face = gb_str_from(request->face ? request->face : ""),
	    .purpose = gb_str_from(request->purpose ? request->purpose : ""),
	    .runtime = gb_str_from(gb_language_name(request->run.language)),
	    .conversation = gb_str_from(request->conversation ? request->conversation : ""),
	    .policy = gb_str_from(pass->gate->policy),
	    .code = {request->run.source, request->run.source_bytes},
	    .inputs = pass->inputs,
	    .permissions = pass->permissions,
	    .limits = pass->limits,
	};
}

static void ask(struct gb_pass *pass) {
	const struct gb_approval_request asked = asked_of(pass);
	struct gb_approval_ticket ticket;
	struct gb_err err = {0};
	if (!gb_approval_submit(pass->gate->approvals, &asked, &ticket, &err)) {
		gb_pass_refuse(pass, "not_approved", "nobody can be asked: %s", err.message);
		return;
	}
	memcpy(pass->approval, ticket.id, sizeof pass->approval);
	pass->state = GB_PASS_WAITING;
	if (pass->request.on_pending)
		pass->request.on_pending(pass, ticket.id, ticket.expires_ms, pass->request.data);
}

void gb_pass_proceed(struct gb_pass *pass) {
	const struct gb_approval_request asked = asked_of(pass);
	bool trusted = false;
	struct gb_trust trust;
	struct gb_err err = {0};
	if (!pass->gate->approvals)
		spend_and_begin(pass, "auto", "");
	else if (!gb_trust_find(pass->gate->approvals, &asked, &trusted, &trust, &err))
		gb_pass_refuse(
		    pass, "not_approved", "whether the session is trusted cannot be told: %s", err.message);
	else if (trusted)
		spend_and_begin(pass, "trusted_session", trust.decider);
	else
		ask(pass);
}

static void refuse_as_decided(struct gb_pass *pass, enum gb_use use) {
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	if (use == GB_USE_DENIED && gb_approval_get(pass->gate->approvals, pass->approval, &approval, &err))
		gb_pass_refuse(pass, "not_approved", "denied by %.*s%s%.*s", (int)approval->decider.n,
		    approval->decider.p, approval->reason.n ? ": " : "", (int)approval->reason.n,
		    approval->reason.p);
	else if (use == GB_USE_EXPIRED)
		gb_pass_refuse(pass, "not_approved", "nobody has decided in time, which is a denial");
	else
		gb_pass_refuse(pass, "not_approved", "the approval is %s", gb_use_name(use));
	gb_approval_destroy(approval);
}

void gb_pass_look(struct gb_pass *pass) {
	const struct gb_approval_request asked = asked_of(pass);
	struct gb_approval *approval = NULL;
	enum gb_use use;
	struct gb_err err = {0};
	if (!gb_approval_use(pass->gate->approvals, pass->approval, &asked, &use, &err)) {
		gb_pass_refuse(pass, "not_approved", "the decision cannot be read: %s", err.message);
	} else if (use == GB_USE_GRANTED) {
		char decider[GB_APPROVAL_DECIDER_MAX + 1] = "";
		if (gb_approval_get(pass->gate->approvals, pass->approval, &approval, &err))
			snprintf(
			    decider, sizeof decider, "%.*s", (int)approval->decider.n, approval->decider.p);
		gb_approval_destroy(approval);
		spend_and_begin(pass, "user", decider);
	} else if (use != GB_USE_PENDING) {
		refuse_as_decided(pass, use);
	}
}

/* --- its life --- */

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
	pass->limits = gb_str_from(gb_pass_text(pass, text));
	snprintf(text, sizeof text, "{\"tier\":\"%s\"}", gb_tier_name(pass->request.tier));
	pass->permissions = gb_str_from(gb_pass_text(pass, text));
	gb_auto_free char *inputs = run->args ? gb_value_to_json(run->args, 0, NULL, NULL) : strdup("[]");
	const char *kept = gb_pass_text(pass, inputs);
	pass->inputs = gb_str_from(kept ? kept : "");
	return pass->limits.p && pass->permissions.p && kept;
}

/* What the gate does not know it lets nobody do. */
static bool check_options(const struct gb_run_options *run, struct gb_err *err) {
	const struct {
		const char *field;
		bool set;
	} unknown[] = {{"session", run->session}, {"modules", run->modules}, {"imports", run->imports},
	    {"globals", run->globals}, {"files", run->files}, {"input", run->input}, {"fn", run->fn},
	    {"net", run->net}, {"profile", run->profile}, {"allowed_modules", run->allowed_modules},
	    {"report", run->report}};
	for (size_t i = 0; i < GB_COUNT(unknown); i++)
		if (unknown[i].set)
			return gb_fail(
			    err, GB_EINVAL, 0, "%s: is not for requests of agents", unknown[i].field);
	return true;
}

static bool copy_request(struct gb_pass *pass, const struct gb_gate_request *given) {
	struct gb_gate_request *request = &pass->request;
	const char *source = given->run.source ? given->run.source : "";
	struct gb_str text = {source, given->run.source_bytes ? given->run.source_bytes : strlen(source)};
	/* Only what is checked, shown to whoever decides, and recorded. */
	*request = *given;
	request->run = (struct gb_run_options){
	    .language = given->run.language,
	    .args = given->run.args,
	    .memory_bytes = given->run.memory_bytes,
	    .timeout_ms = given->run.timeout_ms,
	    .output_bytes = given->run.output_bytes,
	    .result_bytes = given->run.result_bytes,
	    .restricted = given->run.restricted,
	};
	request->face = gb_pass_text(pass, given->face);
	request->conversation = gb_pass_text(pass, given->conversation);
	request->purpose = gb_pass_text(pass, given->purpose);
	request->run.source = gb_arena_copy(&pass->texts, text);
	request->run.source_bytes = text.n;
	return request->run.source;
}

bool gb_gate_submit(
    struct gb_gate *gate, const struct gb_gate_request *request, struct gb_pass **ret, struct gb_err *err) {
	if (!check_options(&request->run, err))
		return false;
	struct gb_pass *pass = calloc(1, sizeof *pass);
	if (!pass)
		return gb_fail(err, GB_ENOMEM, 0, "a request");
	pass->gate = gate;
	gb_arena_init(&pass->texts, TEXTS_MAX);
	gb_list_append(&gate->passes, &pass->link);
	bool ok = copy_request(pass, request);
	if (ok)
		gb_pass_limit(pass);
	const struct gb_run_options *run = &pass->request.run;
	ok = ok && describe(pass) &&
	     gb_masked_init(&pass->masked, gate->filter, run->output_bytes + (4u << 20),
		 (run->result_bytes + run->output_bytes) * VALUE_FACTOR);
	if (!ok) {
		gb_pass_destroy(pass);
		return gb_fail(err, GB_ENOMEM, 0, "a request");
	}
	*ret = pass;
	if (gb_pass_admit(pass))
		gb_pass_proceed(pass);
	return true;
}

bool gb_pass_done(const struct gb_pass *pass) {
	return pass->state == GB_PASS_DONE;
}

const struct gb_result *gb_pass_result(const struct gb_pass *pass) {
	return gb_pass_done(pass) ? &pass->result : NULL;
}

void gb_pass_free(struct gb_pass *pass) {
	gb_masked_finish(&pass->masked);
	gb_arena_finish(&pass->texts);
	free(pass);
}

void gb_pass_destroy(struct gb_pass *pass) {
	struct gb_err err = {0};
	if (!pass)
		return;
	pass->request.on_done = NULL;
	pass->request.on_log = NULL;
	pass->request.on_output = NULL;
	/* Whoever tells still needs it, and it is recorded first. */
	pass->was_destroyed = pass->telling;
	if (pass->telling)
		return;
	if (pass->state == GB_PASS_WAITING)
		gb_approval_withdraw(pass->gate->approvals, pass->approval, &(bool){false}, &err);
	if (pass->state == GB_PASS_RUNNING)
		gb_run_terminate(pass->run, "its request was withdrawn");
	if (pass->state == GB_PASS_RECORDING)
		gb_audit_commit(pass->gate->audit, &err);
	gb_run_destroy(pass->run);
	pass->run = NULL;
	gb_list_remove(&pass->link);
	gb_list_init(&pass->link);
	/* The log still speaks to it: it goes when its record is written, or given up. */
	if (pass->state == GB_PASS_RECORDING)
		pass->abandoned = true;
	else
		gb_pass_free(pass);
}
