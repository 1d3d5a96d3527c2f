/* Shared by the tests of the gate: one engine, and a gate with its own folder and settings. */
#ifndef GB_TESTS_GATE_H
#define GB_TESTS_GATE_H

#include <stdarg.h>

#include "e2e/decide.h"
#include "e2e/engine.h"
#include "gate/agent_run.h"
#include "gate/gate.h"
#include "tap.h"

/* Settings under which every run is approved automatically, or needs a decision. */
#define OPEN_TO_ALL "agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n"
#define ASKING      "agent: {enabled: true}\nenergy: {enabled: false}\n"

static struct gb_engine *engine;

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){.shards = 1, .warm = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

/* --- settings --- */

static inline const struct gb_config *settings(const char *folder, const char *yaml, struct gb_err *err) {
	char text[2000];
	int n = snprintf(text, sizeof text, "stateDir: %s\n%s", folder, yaml);
	const struct gb_config_sources sources = {.file = "test.yaml", .text = text, .text_bytes = (size_t)n};
	const struct gb_config *config = NULL;
	gb_config_load(&sources, &config, err);
	return config;
}

struct site {
	char folder[FOLDER];
	struct gb_gate *gate;
};

static inline bool site_open(struct site *site, const char *yaml) {
	struct gb_err err = {0};
	const struct gb_config *config = settings(site->folder, yaml, &err);
	bool ok = config && gb_gate_open(&(struct gb_gate_options){.config = config, .engine = engine},
				&site->gate, &err);
	gb_config_unref(config);
	if (!ok)
		printf("# %s\n", err.message);
	return ok;
}

static inline struct site site_make(const char *yaml) {
	struct site site = {.gate = NULL};
	folder_create(site.folder);
	if (!site_open(&site, yaml))
		abort();
	return site;
}

/* The outcome of gb_gate_configure. */
struct configured {
	bool is_done, ok;
	struct gb_err err;
};

static inline void on_configured(bool ok, const struct gb_err *err, void *data) {
	struct configured *configured = data;
	configured->is_done = true;
	configured->ok = ok;
	if (!ok)
		configured->err = *err;
}

/* Wait until a step of the admission of requests, or a change of the rules, is done. */
static inline bool site_is_busy(const struct site *site) {
	bool busy = false;
	gb_list_each(const struct gb_agent_run, run, &site->gate->runs, link) busy |= run->is_stepping;
	return busy;
}

static inline void site_settle(struct site *site) {
	struct gb_err err = {0};
	while (site_is_busy(site) && gb_gate_turn(site->gate, 20000, &err))
		;
}

/* Returns when the rules are in force, and waiting requests are admitted by them. */
static inline bool site_configure_by(struct site *site, const struct gb_config *config, struct gb_err *err) {
	struct configured configured = {0};
	if (!gb_gate_configure(site->gate, config, on_configured, &configured, err))
		return false;
	while (!configured.is_done && CHECK(gb_gate_turn(site->gate, 20000, err)))
		;
	site_settle(site);
	if (!configured.ok)
		*err = configured.err;
	return configured.ok;
}

static inline bool site_configure(struct site *site, const char *yaml, struct gb_err *err) {
	const struct gb_config *config = settings(site->folder, yaml, err);
	bool ok = config && site_configure_by(site, config, err);
	gb_config_unref(config);
	return ok;
}

static inline void site_leave(struct site *site) {
	gb_gate_close(site->gate);
	folder_destroy(site->folder);
}
#define auto_site __attribute__((cleanup(site_leave)))

/* --- requests --- */

/* What the callbacks of one request received. */
struct heard {
	struct gb_agent_run *run;
	char output[4096];
	size_t n_output;
	char approval[GB_APPROVAL_ID];
	unsigned n_pending, n_displays, n_done;
	char display[400], prompt[400];
	char code[40], message[600], session[33];
	enum gb_status status;
	char value[200]; /* as JSON */
};

static inline void heard_pending(
    struct gb_agent_run *run, const char *approval, int64_t expires_ms, void *data) {
	struct heard *heard = data;
	snprintf(heard->approval, sizeof heard->approval, "%s", approval);
	heard->n_pending++;
}

static inline void heard_output(
    struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct heard *heard = data;
	for (size_t i = 0; i < n && heard->n_output + 1 < sizeof heard->output; i++)
		heard->output[heard->n_output++] = bytes[i];
}

static inline void heard_display(struct gb_agent_run *run, const struct gb_value *display, void *data) {
	struct heard *heard = data;
	gb_auto_free char *json = gb_value_to_json(display, 0, NULL, NULL);
	snprintf(heard->display, sizeof heard->display, "%s", json ? json : "");
	heard->n_displays++;
}

static inline void heard_prompt(struct gb_agent_run *run, const char *prompt, void *data) {
	struct heard *heard = data;
	if (prompt)
		snprintf(heard->prompt, sizeof heard->prompt, "%s", prompt);
}

static inline void heard_done(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	struct heard *heard = data;
	heard->n_done++;
	heard->status = result->status;
	snprintf(heard->code, sizeof heard->code, "%s", result->error.code);
	snprintf(heard->message, sizeof heard->message, "%s", result->error.message);
	snprintf(heard->session, sizeof heard->session, "%s", gb_agent_run_session(run));
	gb_auto_free char *json = result->value ? gb_value_to_json(result->value, 0, NULL, NULL) : NULL;
	snprintf(heard->value, sizeof heard->value, "%s", json ? json : "");
}

/* Returns when the request waits, runs or was refused. */
static inline bool submit(struct site *site, struct gb_gate_request request, struct heard *heard) {
	struct gb_err err = {0};
	*heard = (struct heard){.status = GB_TERMINATED};
	request.face = request.face ? request.face : GB_FACE_EXECUTE_CODE;
	request.transport = request.transport ? request.transport : "test";
	request.on_pending = heard_pending;
	request.on_output = heard_output;
	request.on_display = heard_display;
	request.on_prompt = heard_prompt;
	request.on_done = heard_done;
	request.data = heard;
	bool ok = gb_gate_submit(site->gate, &request, &heard->run, &err);
	if (!ok)
		snprintf(heard->message, sizeof heard->message, "%s", err.message);
	site_settle(site);
	return ok;
}

static inline void wait_for(struct site *site, struct heard *heard) {
	struct gb_err err = {0};
	while (heard->run && !gb_agent_run_done(heard->run) && CHECK(gb_gate_turn(site->gate, 20000, &err)))
		;
	gb_agent_run_destroy(heard->run);
	heard->run = NULL;
}

/* Submit, wait and destroy. */
static inline struct heard ask(struct site *site, struct gb_gate_request request) {
	struct heard heard;
	if (submit(site, request, &heard))
		wait_for(site, &heard);
	return heard;
}

static inline struct gb_gate_request python(const char *source) {
	return (struct gb_gate_request){
	    .face = GB_FACE_EXECUTE_CODE, .run = {.source = source, .language = GB_PYTHON}};
}

/* --- a person, in another process --- */

static inline void decide(struct site *site, const char *id, enum gb_approval_verdict verdict) {
	decide_in(site->folder, id, verdict);
}

/* --- the record --- */

struct seen {
	unsigned n;       /* final records and refusals */
	unsigned n_begun; /* "execution_begin" records */
	char limits[300], expected[100], trace[100];
	char kind[40], code[100];
	char session[40], version[100], layers[400], decision[40], decider[40], status[40], permissions[200];
	char output[1100], run[40];
	uint64_t masked_input, masked_output, output_bytes;
	bool was_begun, was_cut;
};

/* U+0000 is kept as a question mark. */
static inline void keep_str(char *to, size_t size, struct gb_str text) {
	size_t n = text.n < size - 1 ? text.n : size - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = text.p[i] ? text.p[i] : '?';
	to[n] = '\0';
}

static inline bool see(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct seen *seen = data;
	bool is_begin = gb_str_eq(record->kind, GB_STR("execution_begin"));
	*(is_begin ? &seen->n_begun : &seen->n) += 1;
	if (is_begin)
		return true;
	keep_str(seen->kind, sizeof seen->kind, record->kind);
	keep_str(seen->code, sizeof seen->code, record->code);
	keep_str(seen->session, sizeof seen->session, record->session_id);
	keep_str(seen->version, sizeof seen->version, record->runtime_version);
	keep_str(seen->layers, sizeof seen->layers, record->layers);
	keep_str(seen->decision, sizeof seen->decision, record->decision);
	keep_str(seen->decider, sizeof seen->decider, record->decided_by);
	keep_str(seen->status, sizeof seen->status, record->status);
	keep_str(seen->permissions, sizeof seen->permissions, record->permissions);
	keep_str(seen->limits, sizeof seen->limits, record->limits);
	keep_str(seen->expected, sizeof seen->expected, record->expected_output);
	keep_str(seen->trace, sizeof seen->trace, record->trace);
	keep_str(seen->output, sizeof seen->output, record->output_summary);
	keep_str(seen->run, sizeof seen->run, record->run_id);
	seen->was_begun = record->was_begun;
	seen->was_cut = record->cut != 0;
	seen->output_bytes = record->output_bytes;
	seen->masked_input = record->masked_input;
	seen->masked_output = record->masked_output;
	return true;
}

/* The number of records, and the content of the newest final one. */
static inline struct seen records(struct site *site) {
	struct seen seen = {0};
	struct gb_err err = {0};
	CHECK(gb_audit_each(site->folder, &(struct gb_audit_filter){0}, see, &seen, &err));
	return seen;
}

#endif
