/* The start of a run: it is made, encoded, and given a cell. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "engine/engine.h"
#include "engine/limits.h"

enum { TEXTS_MAX = 1 << 20 };

static void name_run(struct gb_run *run, const char *id) {
	if (id) {
		snprintf(run->result.run_id, sizeof run->result.run_id, "%s", id);
		return;
	}
	enum { BYTES = (sizeof run->result.run_id - 1) / 2 };
	struct gb_engine *engine = run->engine;
	if (engine->n_random < BYTES) {
		while (getrandom(engine->random, sizeof engine->random, 0) != sizeof engine->random)
			;
		engine->n_random = sizeof engine->random;
	}
	const uint8_t *bytes = engine->random + (engine->n_random -= BYTES);
	for (size_t i = 0; i < sizeof run->result.run_id - 1; i++)
		run->result.run_id[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
}

static struct gb_run *make_run(struct gb_engine *engine, const struct gb_run_options *options) {
	struct gb_run *run = calloc(1, sizeof *run);
	if (!run)
		return NULL;
	uint64_t output = gb_limit_output_bytes(options);
	uint64_t result = gb_limit_result_bytes(options);
	uint64_t report = options->report ? gb_limit_report_bytes(options) : 0;
	run->started = gb_now_ns();
	run->engine = engine;
	run->on_log = options->on_log;
	run->on_output = options->on_output;
	run->on_display = options->on_display;
	run->on_call = options->on_call;
	run->on_report = options->on_report;
	run->on_awaiting = options->on_awaiting;
	run->on_settled = options->on_settled;
	run->data = options->data;
	run->output_left = output;
	run->report_left = report;
	run->display_left = gb_language_traits(options->language)->has_box ? DISPLAY_BYTES : 0;
	run->files_left = run->display_left ? result : 0;
	run->takes_list = gb_request_takes_list(options->take);
	run->exit_code = -1;
	run->awaiting_left = GB_WIRE_AWAITING_MAX;
	run->ends_on_input = options->ends_on_input;
	for (size_t i = 0; i < GB_COUNT(run->streams); i++)
		gb_buf_init(&run->streams[i], output + 1);
	gb_list_init(&run->link);
	gb_buf_init(&run->outbox, JOB_MAX);
	gb_bridge_init(&run->bridge, options);
	uint64_t largest = output > result ? output : result;
	largest = largest > run->bridge.call_bytes ? largest : run->bridge.call_bytes;
	largest = largest > run->display_left ? largest : run->display_left;
	run->reader = &run->own_reader;
	gb_frame_reader_init(run->reader, largest + FRAME_SLACK);
	gb_arena_init(&run->texts, TEXTS_MAX);
	run->result = gb_result_instead(GB_SUCCESS, "", "", "", NULL);
	name_run(run, options->run_id);
	run->values = gb_values_create((output + result + report) * VALUES_FACTOR +
				       (run->display_left + run->files_left) * 2 + VALUES_SLACK);
	if (run->values)
		return run;
	gb_run_free(run);
	return NULL;
}

/* The code begins to run at @now. */
static void begin(struct gb_run *run, uint64_t now) {
	struct gb_engine *engine = run->engine;
	run->begun = true;
	run->started = now;
	if (run->paused)
		gb_run_listen(run);
	if (run->interrupted)
		run->deadline = now + GB_RUN_AGAIN_NS;
	else if (run->timeout_ms < UINT64_MAX / 2000000)
		run->deadline = now + run->timeout_ms * 1000000;
	gb_list_append(&engine->running, &run->link);
	run->yield_at = now + GB_RUN_SHORT_NS;
	gb_engine_wake_at(
	    engine, run->deadline && run->deadline < run->yield_at ? run->deadline : run->yield_at);
}

void gb_run_on_cell_begin(struct gb_cell *cell) {
	struct gb_run *run = gb_cell_owner(cell);
	/* A cell may be announced again after its zygote was replaced. */
	if (run->owner == GB_OWNER_SESSION || run->begun || run->settled)
		return;
	gb_list_remove(&run->link);
	begin(run, gb_now_ns());
}

/* A new cell, or the session's. */
static bool take_cell(struct gb_run *run, struct gb_err *err) {
	struct gb_engine *engine = run->engine;
	if (run->session)
		return gb_session_enter(run, err);
	if (!gb_runtime_start(engine, run->runtime, err))
		return false;
	struct gb_pool *pool = engine->pools[run->runtime];
	run->cell = gb_pool_take(pool, run, err);
	if (!run->cell && !gb_list_empty(&engine->settled)) {
		gb_engine_release_settled(engine);
		run->cell = gb_pool_take(pool, run, err);
	}
	return run->cell;
}

bool gb_run_launch(struct gb_run *run, struct gb_err *err) {
	run->started = gb_now_ns();
	if (!take_cell(run, err) || !gb_run_send_job(run, err))
		return false;
	run->outbox.max = gb_bridge_outbox_max(&run->bridge);
	if (gb_cell_is_waiting(run->cell))
		gb_list_append(&run->engine->starting, &run->link);
	else
		begin(run, run->started);
	return true;
}

static bool enter_workdir(struct gb_run *run, const struct gb_run_options *options, struct gb_err *err) {
	if (options->session)
		return gb_fail_field(
		    err, GB_EINVAL, "workdir", "is that of the session: open one that has it");
	if (!gb_workplace_enter(run->engine, options->workdir, &run->runtime, err))
		return false;
	run->place = run->runtime;
	return true;
}

struct gb_run *gb_run_create(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_err *err) {
	struct gb_run *run = make_run(engine, options);
	if (!run) {
		gb_fail(err, GB_ENOMEM, 0, "a run");
		return NULL;
	}
	run->timeout_ms = gb_limit_timeout_ms(options);
	run->session = options->session;
	run->memory = GB_OR(options->memory_bytes, gb_language_memory(options->language));
	if (gb_runtime_find(engine, options->language, options->profile, &run->runtime, err) &&
	    gb_reach_create(engine, options, &run->reach, err)) {
		run->runtime += run->reach ? GB_RUNTIME_NETWORK : 0;
		if (!options->workdir || enter_workdir(run, options, err))
			return run;
	}
	gb_run_free(run);
	return NULL;
}

static bool encode(
    struct gb_run *run, const struct gb_run_options *options, bool asks_version, struct gb_err *err) {
	const struct gb_grants grants = gb_bridge_grants(&run->bridge);
	return gb_request_encode(
	    options, asks_version, gb_reach_secrets(run->reach), &grants, &run->outbox, err);
}

bool gb_run_encode(struct gb_run *run, const struct gb_run_options *options, struct gb_err *err) {
	return encode(run, options, false, err);
}

static struct gb_run *prepare(
    struct gb_engine *engine, const struct gb_run_options *options, bool asks_version, struct gb_err *err) {
	struct gb_run_options asked = *options;
	if (options->session)
		asked.language = options->session->language;
	struct gb_run *run = gb_run_create(engine, &asked, err);
	if (!run || encode(run, &asked, asks_version, err))
		return run;
	gb_run_free(run);
	return NULL;
}

struct gb_run *gb_run_prepare(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_err *err) {
	return prepare(engine, options, false, err);
}

static bool launch_or_free(struct gb_run *run, struct gb_run **ret, struct gb_err *err) {
	if (!run)
		return false;
	if (!gb_run_launch(run, err)) {
		gb_run_free(run);
		return false;
	}
	*ret = run;
	return true;
}

bool gb_run_query_version(struct gb_engine *engine, const struct gb_run_options *options,
    enum gb_runtime runtime, struct gb_run **ret, struct gb_err *err) {
	struct gb_run *run = prepare(engine, options, true, err);
	if (run)
		run->runtime = runtime;
	return launch_or_free(run, ret, err);
}

bool gb_run_start(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_run **ret, struct gb_err *err) {
	return launch_or_free(gb_run_prepare(engine, options, err), ret, err);
}
