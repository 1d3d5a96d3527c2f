/*
 * The bridge and a compromised worker: forbidden calls, answers without questions. The run ends with a clear error or
 * nothing happens; the host stays within its memory, and the next run works. hostile-bridge.c is the worker.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "glovebox/glovebox.h"
#include "processes.h"
#include "tap.h"

enum { TIMEOUT_MS = 20000, MEMORY_BOUND_MB = 16, GRANTED = 1, GRANTED_PROMISE = 3 };

/* What the host does with a call: answers it, keeps it, or calls back what it was given. */
enum manner { ECHO, KEEP, CALL_BACK };

struct expectation {
	const char *title;
	const char *behaviour; /* with a star before it: with every number until the worker has no more */
	enum manner manner;
	enum gb_status status;
	const char *code;
	struct gb_run_options limits;
	int calls;          /* that reach the host; -1: any */
	unsigned memory_mb; /* that the host may use meanwhile; 0: a little */
};

struct host {
	enum manner manner;
	int calls, answers, told_nothing;
	struct gb_call *kept[64];
	size_t n_kept;
};

static void on_answer(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)run, (void)thrown;
	struct host *host = data;
	host->answers++;
	host->told_nothing += !value;
}

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	struct host *host = data;
	uint32_t function = 0;
	host->calls++;
	const struct gb_value *first = gb_value_at(gb_call_args(call), 0);
	if (host->manner == CALL_BACK && gb_value_as_callable(first, NULL, &function))
		CHECK(gb_run_call(run, function, NULL, on_answer, host, NULL));
	if (host->manner == KEEP && host->n_kept < GB_COUNT(host->kept)) {
		gb_call_promise(call);
		host->kept[host->n_kept++] = call;
	} else {
		gb_call_return(call, first);
	}
}

static const struct gb_result *run_behaviour(struct gb_engine *engine, const char *behaviour,
    const struct expectation *e, struct host *host, struct gb_run **ret_run) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *globals = gb_value_object(pool);
	struct gb_err err = {0};
	gb_value_put_key(globals, "f", gb_value_function(pool, GRANTED, NULL));
	gb_value_put_key(globals, "p", gb_value_promise(pool, GRANTED_PROMISE));
	gb_value_put_key(globals, "q", gb_value_promise(pool, GRANTED_PROMISE));
	struct gb_run_options options = e->limits;
	options.source = behaviour;
	options.timeout_ms = TIMEOUT_MS;
	options.globals = globals;
	options.on_call = on_call;
	options.data = host;
	if (!CHECK(gb_run_start(engine, &options, ret_run, &err)))
		printf("# %s\n", err.message);
	gb_values_destroy(pool);
	return *ret_run ? gb_run_wait(*ret_run) : NULL;
}

static void judge(const char *behaviour, const struct gb_result *result, const struct expectation *e,
    const struct host *host) {
	if (!CHECK(result))
		return;
	bool ok = CHECK_STR(gb_status_name(result->status), gb_status_name(e->status));
	ok &= CHECK_STR(result->error.code, e->code);
	if (e->calls >= 0)
		ok &= CHECK_INT(host->calls, e->calls);
	if (!ok)
		printf("#   %s: %s\n", behaviour, result->error.message);
}

/* True if the worker knows this behaviour with this number. */
static bool try_behaviour(struct gb_engine *engine, const struct expectation *e, const char *behaviour) {
	struct host host = {.manner = e->manner};
	struct gb_run *run = NULL;
	size_t mark = memory_mark();
	(void)mark;
	const struct gb_result *result = run_behaviour(engine, behaviour, e, &host, &run);
	bool no_more = result && strstr(result->error.message, "exit status 3");
	if (!no_more && e->code)
		judge(behaviour, result, e, &host);
	/* Each call was answered once, if only with nothing. */
	CHECK(e->manner != CALL_BACK || !e->code || host.answers == host.calls || no_more);
	gb_run_destroy(run);
	while (host.n_kept)
		gb_call_return(host.kept[--host.n_kept], NULL);
#ifndef __SANITIZE_ADDRESS__
	size_t bound = e->memory_mb ? e->memory_mb : MEMORY_BOUND_MB;
	if (!CHECK(memory_peak_above(mark) <= bound << 20))
		printf("#   %zu MiB for %s\n", memory_peak_above(mark) >> 20, behaviour);
#endif
	return !no_more;
}

static void run_expectation(void) {
	const struct expectation *e = tap.data;
	size_t fds = count_open_fds();
	struct gb_engine *engine = hostile_engine(1);
	if (!CHECK(engine))
		return;
	char behaviour[64];
	bool more = true;
	int n = 0;
	for (; e->behaviour[0] == '*' && more && !tap.failures; n++) {
		snprintf(behaviour, sizeof behaviour, "%s %d", e->behaviour + 1, n);
		more = try_behaviour(engine, e, behaviour);
	}
	if (e->behaviour[0] == '*')
		CHECK(n > 3);
	else
		try_behaviour(engine, e, e->behaviour);
	CHECK(engine_works(engine));
	gb_engine_destroy(engine);
	CHECK_INT(count_open_fds(), fds);
	CHECK_INT(count_own_cgroups(), 0);
}

#define SMALL                                                                                                \
	{ .call_bytes = 1000, .max_calls = 10, .max_in_flight = 5 }
#define REPORTING                                                                                            \
	{ .report = true, .report_bytes = 1000 }
#define DEFAULTS                                                                                             \
	{ .fn = NULL }

static const struct expectation expectations[] = {
    {"a call that may be made", "call 1", ECHO, GB_SUCCESS, "", DEFAULTS, 1, 0},
    {"a call of a function that was never given", "call 2", ECHO, GB_FAILURE, "protocol", DEFAULTS, 0, 0},
    {"a call of the function that was never given and comes first", "call 0", ECHO, GB_FAILURE, "protocol",
	DEFAULTS, 0, 0},
    {"a report where there is none", "call 4294967295", ECHO, GB_FAILURE, "protocol", DEFAULTS, 0, 0},
    {"a report without a value", "call 4294967295", ECHO, GB_FAILURE, "protocol", REPORTING, 0, 0},
    {"a report that may be made", "report-bytes 900", ECHO, GB_SUCCESS, "", REPORTING, 0, 0},
    {"a report that is too large", "report-bytes 2000", ECHO, GB_FAILURE, "protocol", REPORTING, 0, 0},
    {"a report with a function in it", "forge-report", ECHO, GB_FAILURE, "protocol", REPORTING, 0, 0},
    {"a promise is called as often as it was sent", "call-promise-often 2", ECHO, GB_SUCCESS, "", DEFAULTS, 2,
	0},
    {"a promise that is called once more", "call-promise-often 3", ECHO, GB_FAILURE, "protocol", DEFAULTS, 2,
	0},
    {"a promise that is given arguments", "call-promise-with", ECHO, GB_FAILURE, "protocol", DEFAULTS, 0, 0},
    {"the maximum number of calls", "call-often 10", ECHO, GB_SUCCESS, "", SMALL, 10, 0},
    {"one call more", "call-often 11", ECHO, GB_FAILURE, "protocol", SMALL, 10, 0},
    {"the maximum number of calls in flight", "call-often 5", KEEP, GB_SUCCESS, "", SMALL, 5, 0},
    {"one call in flight more", "call-often 6", KEEP, GB_FAILURE, "protocol", SMALL, 5, 0},
    {"a call of maximum size", "call-with-bytes 990", ECHO, GB_SUCCESS, "", SMALL, 1, 0},
    {"a call above the maximum size", "call-with-bytes 1100", ECHO, GB_FAILURE, "protocol", SMALL, 0, 0},
    {"a call that is larger than any message", "call-with-bytes 40000000", ECHO, GB_FAILURE, "protocol",
	SMALL, 0, 0},
    {"more bytes in flight than allowed", "call-heavily 5", KEEP, GB_FAILURE, "protocol", SMALL, 4, 0},
    {"a call of many small values", "call-with-items 100000", ECHO, GB_SUCCESS, "", DEFAULTS, 1, 16},
    {"a call of more values than allowed", "call-with-items 8000000", ECHO, GB_SUCCESS, "", DEFAULTS, 0, 300},
    {"a call that is nested too deep", "call-nested 1000000", ECHO, GB_SUCCESS, "", DEFAULTS, 0, 0},
    {"calls after the result", "call-after-result 100", ECHO, GB_SUCCESS, "", DEFAULTS, 0, 0},
    {"endless calls whose answers are not read", "flood-calls 900", ECHO, GB_TERMINATED, "bridge",
	{.call_bytes = 1000, .max_in_flight = 1000}, -1, 0},
    {"endless large calls whose answers are not read", "flood-calls 1000000", ECHO, GB_TERMINATED, "bridge",
	{.call_bytes = 1 << 20, .max_in_flight = 8}, -1, 48},
    {"endless calls with few answers", "flood-calls 1", ECHO, GB_FAILURE, "protocol",
	{.call_bytes = 1000, .max_calls = 20000}, 20000, 0},
    {"an answer to a question", "answer 0", CALL_BACK, GB_SUCCESS, "", DEFAULTS, 1, 0},
    {"an answer that was thrown", "answer 1", CALL_BACK, GB_SUCCESS, "", DEFAULTS, 1, 0},
    {"an answer that is a promise", "answer 2", CALL_BACK, GB_FAILURE, "protocol", DEFAULTS, 1, 0},
    {"an answer of an unknown kind", "answer 3", CALL_BACK, GB_FAILURE, "protocol", DEFAULTS, 1, 0},
    {"an answer to an unknown question", "answer-nobody 1", CALL_BACK, GB_FAILURE, "protocol", DEFAULTS, 1,
	0},
    {"an answer without a question", "answer 0", ECHO, GB_FAILURE, "protocol", DEFAULTS, 1, 0},
    {"an answer that is given twice", "answer-again", CALL_BACK, GB_FAILURE, "protocol", DEFAULTS, 1, 0},
    {"an answer that is too large", "answer-largely 1100", CALL_BACK, GB_FAILURE, "protocol", SMALL, 1, 0},
    {"a call cut short anywhere", "*cut-call", CALL_BACK, GB_FAILURE, "protocol", DEFAULTS, 0, 0},
    {"an answer cut short anywhere", "*cut-answer", CALL_BACK, GB_FAILURE, "protocol", DEFAULTS, 1, 0},
    {"calls and answers with wrong items", "*wrong-calls", ECHO, GB_FAILURE, "protocol", DEFAULTS, 0, 0},
    {"functions and promises that were never given", "*forge", ECHO, GB_FAILURE, "protocol", DEFAULTS, 0, 0},
    /* Any outcome is valid, but there must be one, and the host must survive. */
    {"a call with any bit wrong", "*bend-call", CALL_BACK, GB_SUCCESS, NULL, DEFAULTS, -1, 0},
    {"an answer with any bit wrong", "*bend-answer", CALL_BACK, GB_SUCCESS, NULL, DEFAULTS, -1, 0},
};

__attribute__((constructor)) static void add_expectations(void) {
	for (size_t i = 0; i < GB_COUNT(expectations); i++)
		tap_add(expectations[i].title, run_expectation, &expectations[i]);
}
