/* The audit record of a request: its content, the decision, the result. */
#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "gate/agent_run.h"
#include "glovebox/errors.h"

static int64_t now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct gb_audit_hash hash_of(const void *bytes, size_t n) {
	struct gb_audit_hash ret = {.is_set = true};
	crypto_generichash(ret.hash.bytes, sizeof ret.hash.bytes, bytes, n, NULL, 0);
	return ret;
}

static struct gb_str masked_str(struct gb_agent_run *run, const char *text) {
	return text ? gb_masked_text(&run->masked, text, strlen(text)) : GB_STR("");
}

/* JSON list of the active sandbox layers. Empty for a runtime that was never ready. */
static struct gb_str active_layers(struct gb_agent_run *run) {
	const char *names[32];
	size_t n = gb_engine_layers(run->gate->engine, run->request.run.language, names, GB_COUNT(names));
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1024);
	for (size_t i = 0; i < n && i < GB_COUNT(names); i++)
		gb_buf_printf(&out, "%s\"%s\"", i ? "," : "[", names[i]);
	if (n)
		gb_buf_append_char(&out, ']');
	const char *kept = gb_buf_failed(&out) ? NULL : gb_arena_copy(&run->texts, gb_buf_str(&out));
	return gb_str_from(kept ? kept : "");
}

static void note_cut(struct gb_audit_record *record, const struct gb_str *text) {
	for (size_t i = 0; i < gb_audit_n_fields; i++)
		if (gb_audit_at(record, &gb_audit_fields[i]) == text)
			record->cut |= UINT64_C(1) << i;
}

/* Code that is refused for its length must not displace older records. */
static void cut_code(struct gb_audit_record *record, uint64_t max) {
	if (record->code.n <= max)
		return;
	record->code.n = max;
	note_cut(record, &record->code);
}

static struct gb_audit_record begin_record(struct gb_agent_run *run) {
	const struct gb_gate_request *request = &run->request;
	const struct gb_run_options *options = &request->run;
	uint64_t masked = gb_filter_total(run->rules->filter);
	struct gb_audit_record record = {
	    .kind = request->is_input ? GB_STR("code_input") : GB_STR("code_execution"),
	    .face = gb_str_from(gb_face_name(request->face)),
	    .intent = gb_str_from(gb_face_rules(request->face)->intent),
	    .session_id = gb_str_from(run->session),
	    .conversation_id = masked_str(run, request->conversation),
	    .runtime = gb_str_from(gb_language_name(options->language)),
	    .tier = gb_str_from(gb_tier_name(request->tier)),
	    .purpose = masked_str(run, request->purpose),
	    .expected_output = masked_str(run, request->expected),
	    .trace = request->is_input ? run->inputs : masked_str(run, request->trace),
	    .code = gb_masked_text(&run->masked, options->source, options->source_bytes),
	    .input_bytes = options->source_bytes + run->inputs.n,
	    .limits = run->limits,
	    .permissions = run->permissions,
	    .layers = active_layers(run),
	    .decision = gb_str_from(run->decision ? run->decision : "auto"),
	    .decided_by = gb_str_from(run->decider ? run->decider : ""),
	    .started_ms = run->started_ms,
	};
	record.masked_input = gb_filter_total(run->rules->filter) - masked;
	cut_code(&record, run->rules->config->agent.max_code_bytes);
	crypto_generichash_state state;
	record.input_hash.is_set = true;
	crypto_generichash_init(&state, NULL, 0, GB_HASH_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)options->source, options->source_bytes);
	crypto_generichash_update(&state, (const uint8_t *)run->inputs.p, run->inputs.n);
	crypto_generichash_final(&state, record.input_hash.hash.bytes, GB_HASH_BYTES);
	return record;
}

/* The attempts of the code to reach hosts, as many as fit into a record; the others are counted. */
static struct gb_str describe_network(struct gb_agent_run *run, const struct gb_value *connections) {
	enum { TAIL = 64 };
	if (!connections)
		return (struct gb_str){0};
	gb_auto_buf struct gb_buf out;
	const struct gb_value *list = gb_value_get(connections, "list");
	double dropped = gb_value_as_number(gb_value_get(connections, "dropped"));
	gb_buf_init(&out, GB_AUDIT_NETWORK_MAX);
	gb_buf_printf(&out, "{\"list\":[");
	for (size_t i = 0; i < gb_value_count(list); i++) {
		size_t n = 0;
		gb_auto_free char *json = gb_value_to_json(gb_value_at(list, i), 0, &n, NULL);
		if (!json || out.len + n + TAIL > GB_AUDIT_NETWORK_MAX)
			dropped++;
		else
			gb_buf_printf(&out, "%s%.*s", out.data[out.len - 1] == '[' ? "" : ",", (int)n, json);
	}
	gb_buf_printf(&out, "],\"dropped\":%.0f}", dropped);
	const char *kept = gb_buf_failed(&out) ? NULL : gb_arena_copy(&run->texts, gb_buf_str(&out));
	return gb_str_from(kept);
}

bool gb_agent_run_needed(struct gb_agent_run *run, size_t *ret_bytes, struct gb_err *err) {
	run->started_ms = now_ms();
	struct gb_audit_record record = begin_record(run);
	if (run->masked.failed)
		return gb_fail(err, GB_ENOMEM, 0, "the request cannot be masked");
	if (run->request.tier == GB_TIER_NETWORK)
		record.network = (struct gb_str){"", GB_AUDIT_NETWORK_MAX}; /* only its length is used */
	*ret_bytes = gb_audit_needed(&record);
	return true;
}

/* A refusal is reported even if it cannot be recorded. */
static void on_not_queued(struct gb_agent_run *run, const struct gb_store_op *op) {
	if (op->kind == GB_STORE_APPEND)
		gb_agent_run_finish(run);
	else
		gb_agent_run_refuse(run, GB_CODE_AUDIT,
		    run->request.is_input ? "the input was typed, but cannot be recorded: %s"
					  : "the run cannot be recorded, so its result is withheld: %s",
		    op->err.message);
}

static void on_recorded(struct gb_store_op *op) {
	struct gb_gate *gate = op->gate;
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	if (op->seq)
		gate->is_failing = false;
	if (!run)
		return;
	if (op->err.code) {
		on_not_queued(run, op);
		return;
	}
	if (op->seq)
		gb_agent_run_release(run);
	if (run->abandoned)
		gb_agent_run_free(run);
	else if (op->seq) /* 0: the log is being closed, and the record was not written */
		gb_agent_run_finish(run);
}

static bool submit_record(struct gb_agent_run *run, enum gb_store_kind kind,
    const struct gb_audit_record *record, void (*then)(struct gb_store_op *op), struct gb_err *err) {
	struct gb_store_op *op = gb_store_op_create(kind);
	if (!op || !gb_store_op_set_record(op, record)) {
		gb_store_op_destroy(op);
		return gb_fail(err, GB_ENOMEM, 0, "an audit record");
	}
	op->reservation = run->reservation;
	if (kind == GB_STORE_END)
		run->reservation = NULL;
	gb_agent_run_submit(run, op, then);
	return true;
}

void gb_agent_run_release_record(struct gb_agent_run *run) {
	struct gb_store_op *op = run->reservation ? gb_store_op_create(GB_STORE_CANCEL) : NULL;
	if (op)
		op->reservation = gb_take_pointer(&run->reservation);
	gb_gate_submit_op(run->gate, op, op);
}

bool gb_agent_run_record_begin(struct gb_agent_run *run, struct gb_err *err) {
	struct gb_audit_record record = begin_record(run);
	if (run->masked.failed)
		return gb_fail(err, GB_ENOMEM, 0, "the request cannot be masked");
	record.run_id = gb_str_from(gb_run_id(run->engine_run));
	record.runtime_version = gb_str_from(gb_engine_version(run->gate->engine, run->request.run.language));
	return submit_record(run, GB_STORE_BEGIN, &record, gb_agent_run_on_begun, err);
}

bool gb_agent_run_record_refusal(struct gb_agent_run *run, struct gb_err *err) {
	run->started_ms = now_ms();
	struct gb_audit_record record = begin_record(run);
	record.status = gb_str_from(gb_status_name(GB_DENIED));
	record.error_code = gb_str_from(run->result.error.code);
	record.decision = gb_str_from(run->decision ? run->decision : "denied");
	record.finished_ms = run->started_ms;
	run->state = GB_AGENT_RUN_RECORDING;
	return submit_record(run, GB_STORE_APPEND, &record, on_recorded, err);
}

void gb_written_write(struct gb_written *written, const struct gb_result *result) {
	written->json = gb_result_to_json(result, &written->n, &written->err);
	if (written->json)
		written->hash = hash_of(written->json, written->n);
}

bool gb_agent_run_record(struct gb_agent_run *run, struct gb_err *err) {
	const struct gb_result *result = &run->result;
	gb_auto_free char *json = gb_take_pointer(&run->written.json);
	size_t n = run->written.n;
	if (!json) {
		*err = run->written.err;
		return false;
	}
	struct gb_audit_record record = begin_record(run);
	record.run_id = gb_str_from(result->run_id);
	record.runtime_version = gb_str_from(gb_engine_version(run->gate->engine, run->request.run.language));
	record.masked_output = run->masked.n_masked;
	record.status = gb_str_from(gb_status_name(result->status));
	record.error_code = gb_str_from(result->error.code);
	record.exit_code = (struct gb_audit_number){true, result->exit_code};
	record.timed_out = result->timed_out;
	record.truncated = result->truncated;
	record.finished_ms = now_ms();
	record.duration_ns = (uint64_t)(result->duration_ms * 1e6);
	record.memory_bytes = result->memory_used_bytes;
	record.network = describe_network(run, result->connections);
	bool cut;
	record.output_summary = gb_summary_end(&run->summary, result, (struct gb_str){json, n}, &cut);
	if (cut)
		note_cut(&record, &record.output_summary);
	/* The hash covers the result as it is returned: with console logs, displays, files and the error. */
	record.output_bytes = n;
	record.output_hash = run->written.hash;
	run->state = GB_AGENT_RUN_RECORDING;
	return submit_record(run, GB_STORE_END, &record, on_recorded, err);
}
