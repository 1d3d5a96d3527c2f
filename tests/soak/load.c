#include "soak/load.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

/* A run that ends by itself takes a second at most, on an idle machine. One that has not been answered after
 * this time never will be. */
#define WAIT_MAX_NS 60000000000ull

static const struct load_kind kinds[] = {
    {"short", GB_JAVASCRIPT, 3, false, 0, "export default 1+1"},
    {"busy", GB_JAVASCRIPT, 3, false, 200, "for (;;);"},
    {"session", GB_JAVASCRIPT, 2, true, 0, "let n = 0; for (let i = 0; i < 1e5; i++) n += i; n"},
    {"busy session", GB_JAVASCRIPT, 1, true, 100, "for (;;);"},
    {"short", GB_PYTHON, 3, false, 0, "1+1"},
    {"sleeping", GB_PYTHON, 4, false, 0, "import time\ntime.sleep(0.2)"},
    {"busy", GB_PYTHON, 2, false, 200, "while True: pass"},
    {"session", GB_PYTHON, 3, true, 0, "import time\ntime.sleep(0.05)"},
    {"busy session", GB_PYTHON, 1, true, 100, "while True: pass"},
    {"short", GB_SHELL, 3, false, 0, "echo x"},
    {"sleeping", GB_SHELL, 4, false, 0, "sleep 0.2"},
    {"busy", GB_SHELL, 2, false, 200, "while :; do :; done"},
    {"forking", GB_SHELL, 3, false, 0, "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1) & done; wait"},
    {"session", GB_SHELL, 3, true, 0, "sleep 0.05; (sleep 0.05) & wait"},
    {"busy session", GB_SHELL, 1, true, 100, "while :; do :; done"},
    {"short", GB_NODE, 1, false, 0, "1+1"},
    {"sleeping", GB_NODE, 2, false, 0, "await new Promise(done => setTimeout(done, 200))"},
    {"session", GB_NODE, 1, true, 0, "await new Promise(done => setTimeout(done, 50))"},
};

/* How a run may end when any process of its sandbox may be killed at any moment. */
static const struct {
	enum gb_status status;
	const char *code;
} explained[] = {
    {GB_SUCCESS, ""}, {GB_FAILURE, "sandbox_lost"}, /* its zygote was killed */
    {GB_FAILURE, "crashed"},                        /* its cell was killed */
    {GB_FAILURE, "signal"},                         /* its program was killed, and the keeper tells */
    {GB_FAILURE, "exit_code"},  /* a command of its script was killed, and the script ended with that */
    {GB_FAILURE, "no_answer"},  /* the program of a session was killed before it was given the run */
    {GB_DENIED, "wall"},        /* its zygote was killed five times in a row before it was ready */
    {GB_TERMINATED, "timeout"}, /* as its kind demands */
};

void load_init(struct load *load, struct gb_engine *engine, bool with_node) {
	*load = (struct load){.engine = engine};
	for (size_t i = 0; i < GB_COUNT(kinds); i++)
		for (unsigned n = 0; n < kinds[i].n && load->n_slots < LOAD_SLOTS_MAX; n++)
			if (with_node || kinds[i].language != GB_NODE)
				load->slots[load->n_slots++].kind = &kinds[i];
}

/* --- beginning --- */

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result;
	struct load_slot *slot = data;
	slot->n_settled++;
}

static bool open_session(struct load *load, struct load_slot *slot, struct gb_err *err) {
	if (slot->session && gb_session_state(slot->session) != GB_SESSION_TERMINATED)
		return true;
	gb_session_close(slot->session);
	slot->session = NULL;
	return gb_session_open(load->engine, slot->kind->language, NULL, &slot->session, err);
}

static bool begin(struct load *load, struct load_slot *slot) {
	const struct load_kind *kind = slot->kind;
	struct gb_err err = {0};
	if (kind->session && !open_session(load, slot, &err)) {
		snprintf(load->why, sizeof load->why, "open a session of %s: %s",
		    gb_language_name(kind->language), err.message);
		return false;
	}
	slot->n_settled = 0;
	slot->began = gb_now_ns();
	const struct gb_run_options options = {.source = kind->source,
	    .language = kind->language,
	    .session = slot->session,
	    .timeout_ms = kind->timeout_ms ? kind->timeout_ms : GB_NO_TIMEOUT,
	    .on_settled = on_settled,
	    .data = slot};
	if (!gb_run_start(load->engine, &options, &slot->run, &err)) {
		snprintf(load->why, sizeof load->why, "start a %s run of %s: %s", kind->what,
		    gb_language_name(kind->language), err.message);
		return false;
	}
	load->n_started++;
	return true;
}

/* --- ending --- */

static void count_outcome(struct load *load, const struct gb_result *result) {
	struct load_outcome *outcome = load->outcomes;
	struct load_outcome *end = outcome + load->n_outcomes;
	while (outcome < end &&
	       (outcome->status != result->status || strcmp(outcome->code, result->error.code) != 0))
		outcome++;
	if (outcome == end && load->n_outcomes < LOAD_OUTCOMES_MAX) {
		load->n_outcomes++;
		outcome->status = result->status;
		snprintf(outcome->code, sizeof outcome->code, "%s", result->error.code);
	}
	if (outcome < load->outcomes + LOAD_OUTCOMES_MAX)
		outcome->n++;
}

/* A layer that could not be raised has the same code, and is never explained by a kill. */
static bool was_killed(const struct gb_result *result) {
	return strstr(result->error.message, "the zygote died") && strstr(result->error.message, "signal 9");
}

static bool is_explained(const struct load_kind *kind, const struct gb_result *result) {
	for (size_t i = 0; i < GB_COUNT(explained); i++)
		if (explained[i].status == result->status &&
		    strcmp(explained[i].code, result->error.code) == 0)
			return (result->status != GB_TERMINATED || kind->timeout_ms) &&
			       (result->status != GB_DENIED || was_killed(result));
	return false;
}

static bool judge(struct load *load, struct load_slot *slot) {
	const struct load_kind *kind = slot->kind;
	const struct gb_result *result = gb_run_result(slot->run);
	bool ok = slot->n_settled == 1 && result && is_explained(kind, result);
	if (!ok)
		snprintf(load->why, sizeof load->why, "a %s run of %s settled %u times: %s %s: %s",
		    kind->what, gb_language_name(kind->language), slot->n_settled,
		    result ? gb_status_name(result->status) : "", result ? result->error.code : "",
		    result ? result->error.message : "");
	if (result)
		count_outcome(load, result);
	if (result && result->status == GB_SUCCESS && load->successes)
		load->successes[kind->language]++;
	load->n_answered++;
	gb_run_destroy(slot->run);
	slot->run = NULL;
	return ok;
}

static bool look_at(struct load *load, struct load_slot *slot) {
	if (!slot->run)
		return true;
	if (gb_run_settled(slot->run) || slot->n_settled)
		return judge(load, slot);
	if (gb_now_ns() - slot->began < WAIT_MAX_NS)
		return true;
	snprintf(load->why, sizeof load->why, "a %s run of %s is not answered", slot->kind->what,
	    gb_language_name(slot->kind->language));
	return false;
}

bool load_turn(struct load *load, bool replace) {
	struct gb_err err = {0};
	for (unsigned i = 0; i < load->n_slots; i++)
		if (replace && !load->slots[i].run && !begin(load, &load->slots[i]))
			return false;
	if (!gb_engine_dispatch(load->engine, 100, &err)) {
		snprintf(load->why, sizeof load->why, "%s", err.message);
		return false;
	}
	for (unsigned i = 0; i < load->n_slots; i++)
		if (!look_at(load, &load->slots[i]))
			return false;
	return true;
}

bool load_drain(struct load *load) {
	for (;;) {
		unsigned n = 0;
		for (unsigned i = 0; i < load->n_slots; i++)
			n += load->slots[i].run != NULL;
		if (!n)
			return true;
		if (!load_turn(load, false))
			return false;
	}
}

void load_close(struct load *load) {
	for (unsigned i = 0; i < load->n_slots; i++) {
		gb_session_close(load->slots[i].session);
		load->slots[i].session = NULL;
	}
}
