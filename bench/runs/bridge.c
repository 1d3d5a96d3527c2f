#include <stdlib.h>

#include "base/err.h"
#include "base/io.h"
#include "glovebox/glovebox.h"
#include "runs/bench.h"

enum { PING, GIVE, TAKE, WARM_UP = 50 };

/* The time between the arrivals of two calls: a full round trip, with the work of both sides. */
struct rounds {
	struct samples *samples;
	size_t n;
	uint64_t last;
	struct gb_values *pool;
	struct gb_value *megabyte;
};

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	(void)run;
	struct rounds *rounds = data;
	uint64_t now = gb_now_ns();
	if (rounds->n >= WARM_UP && rounds->n - WARM_UP < rounds->samples->n)
		rounds->samples->us[rounds->n - WARM_UP] = (double)(now - rounds->last) / 1e3;
	rounds->last = now;
	rounds->n++;
	uint32_t function = gb_call_function(call);
	gb_call_return(call, function == TAKE ? rounds->megabyte : NULL);
}

bool bench_bridge(enum bench_bridge what, struct samples *samples, struct gb_err *err) {
	static const char *const bodies[] = {
	    [BENCH_CALL] = "for (let i = 0; i < n; i++) ping(i);",
	    [BENCH_MEGABYTE_OUT] = "const a = new Uint8Array(1e6); for (let i = 0; i < n; i++) give(a);",
	    [BENCH_MEGABYTE_IN] = "for (let i = 0; i < n; i++) take();",
	};
	struct rounds rounds = {.samples = samples, .pool = gb_values_create(0)};
	struct gb_value *globals = gb_value_object(rounds.pool);
	struct gb_value *buffer = gb_value_buffer(rounds.pool, NULL, 1000000);
	rounds.megabyte = gb_value_view(rounds.pool, GB_UINT8, buffer, 0, 1000000);
	gb_value_put_key(globals, "ping", gb_value_function(rounds.pool, PING, "ping"));
	gb_value_put_key(globals, "give", gb_value_function(rounds.pool, GIVE, "give"));
	gb_value_put_key(globals, "take", gb_value_function(rounds.pool, TAKE, "take"));
	gb_value_put_key(globals, "n", gb_value_number(rounds.pool, (double)(samples->n + WARM_UP + 1)));

	struct gb_engine *engine = NULL;
	struct gb_run *run = NULL;
	const struct gb_run_options options = {.source = bodies[what],
	    .globals = globals,
	    .timeout_ms = GB_NO_TIMEOUT,
	    .max_calls = UINT32_MAX,
	    .on_call = on_call,
	    .data = &rounds};
	bool ok = gb_engine_create(&(struct gb_engine_options){.shards = 1}, &engine, err) &&
		  gb_run_start(engine, &options, &run, err);
	const struct gb_result *result = ok ? gb_run_wait(run) : NULL;
	if (ok && (!result || result->status != GB_SUCCESS))
		ok = gb_fail(err, GB_ESYSTEM, 0, "calls failed: %s", result ? result->error.message : "?");
	gb_run_destroy(run);
	gb_engine_destroy(engine);
	gb_values_destroy(rounds.pool);
	return ok;
}
