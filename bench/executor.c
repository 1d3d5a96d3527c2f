/*
 * The cost of a call of a tool by code of the executor, compared to a call of a host function by a caller's code: both
 * in this process, by turns, and both answered at once. The ratio is between medians.
 *
 *	build/bench-executor [CALLS]
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "config/config.h"
#include "face/executor.h"
#include "service/service.h"
#include "value/codec.h"

enum { ROUNDS = 9, CALLS = 10000 };

static struct gb_loop loop;
static struct gb_service *service;
static struct gb_service_client client;
static bool done;

static void die(const char *what, const char *why) {
	fprintf(stderr, "bench-executor: %s: %s\n", what, why);
	exit(1);
}

static void wait_until_done(void) {
	struct gb_err err = {0};
	for (done = false; !done;)
		if (!gb_service_turn(service, -1, &err))
			die("turn", err.message);
}

/* --- a host function --- */

static void on_call(struct gb_execution *execution, struct gb_call *call, void *data) {
	const struct gb_value *i = gb_value_get(gb_value_at(gb_call_args(call), 0), "i");
	struct gb_value *answer = gb_value_object(gb_call_values(call));
	gb_value_put_key(answer, "i", gb_value_number(gb_call_values(call), gb_value_as_number(i)));
	gb_call_return(call, answer);
}

static void on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	if (event->kind == GB_EVENT_FINISHED && event->result->status != GB_SUCCESS)
		die("bridge", event->result->error.message);
	done |= event->kind == GB_EVENT_FINISHED;
}

static uint64_t measure_bridge(const char *source) {
	gb_auto_values struct gb_values *values = gb_values_create(0);
	struct gb_value *globals = gb_value_object(values);
	gb_value_put_key(globals, "call", gb_value_function(values, 1, "call"));
	const struct gb_submission submission = {
	    .request = {.face = GB_FACE_RUN_CODE, .run = {.source = source, .globals = globals}},
	    .on_event = on_event,
	    .on_call = on_call};
	struct gb_execution *execution;
	struct gb_err err = {0};
	uint64_t from = gb_now_ns();
	if (!gb_service_submit(&client, &submission, &execution, &err))
		die("bridge", err.message);
	wait_until_done();
	gb_execution_release(execution);
	return gb_now_ns() - from;
}

/* --- a tool --- */

static void on_tool(
    struct gb_executor *executor, uint64_t call, struct gb_str name, struct gb_str params, void *data) {
	gb_executor_return(executor, call, params);
}

static void on_done(struct gb_executor *executor, const struct gb_executor_result *result, void *data) {
	if (!result->success)
		die("executor", result->error.p);
	done = true;
}

static uint64_t measure_executor(const char *source) {
	const struct gb_executor_request request = {.code = gb_str_from(source),
	    .tools = GB_STR(
		"[{\"name\":\"call\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"i\":{\"type\":"
		"\"integer\"}},\"required\":[\"i\"]}}]"),
	    .on_call = on_tool,
	    .on_done = on_done};
	struct gb_executor *executor;
	struct gb_err err = {0};
	uint64_t from = gb_now_ns();
	if (!gb_executor_start(&client, &request, &executor, &err))
		die("executor", err.message);
	wait_until_done();
	gb_executor_release(executor);
	return gb_now_ns() - from;
}

/* --- both --- */

static int by_size(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static double median_us(uint64_t *times, size_t n) {
	qsort(times, n, sizeof *times, by_size);
	return (double)times[n / 2] / 1e3;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
	return remove(path);
}

static void open_service(const char *folder) {
	char state[100];
	snprintf(state, sizeof state, "stateDir=%s", folder);
	const char *const set[] = {"agent.enabled=true", "agent.autoApprove=true", "energy.enabled=false",
	    "executor.maxToolCalls=100000", state};
	const struct gb_config_sources sources = {
	    .set = set, .n_set = GB_COUNT(set), .text = "", .file = "(none)"};
	const struct gb_config *config = NULL;
	struct gb_err err = {0};
	if (!gb_config_load(&sources, &config, &err))
		die("settings", err.message);
	const struct gb_service_options options = {.loop = &loop, .config = config};
	if (!gb_loop_init(&loop, &err) || !gb_service_create(&options, &service, &err) ||
	    !gb_service_accept_agents(service, NULL, &err))
		die("service", err.message);
	gb_config_unref(config);
	gb_service_client_init(service, &client);
}

int main(int argc, char **argv) {
	unsigned calls = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : CALLS;
	char folder[] = "/tmp/bench-executor-XXXXXX", bridge[200], executor[200];
	uint64_t bridge_ns[ROUNDS], executor_ns[ROUNDS];
	snprintf(bridge, sizeof bridge, "for (let i = 0; i < %u; i++) await call({i});", calls);
	snprintf(executor, sizeof executor, "for (let i = 0; i < %u; i++) await call({i});", calls);
	if (!mkdtemp(folder))
		die("folder", folder);
	open_service(folder);
	for (int i = 0; i < ROUNDS; i++) {
		bridge_ns[i] = measure_bridge(bridge);
		executor_ns[i] = measure_executor(executor);
	}
	double a = median_us(bridge_ns, ROUNDS) / calls, b = median_us(executor_ns, ROUNDS) / calls;
	printf("%u calls in one run, median of %d\n", calls, ROUNDS);
	printf("host function   %8.1f us per call\n", a);
	printf("tool            %8.1f us per call, %.2f times as much\n", b, b / a);
	gb_service_client_finish(&client);
	gb_service_destroy(service);
	gb_loop_finish(&loop);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
