#include "cli/bench.h"

#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/cli.h"
#include "glovebox/glovebox.h"

static const struct bench_subject javascript = {
    .run = {.source = "export default 1+1"},
    .ready = 1u << GB_JAVASCRIPT,
    .spacing_us = 1000,
};

struct figures {
	double ping_same, ping_cross, fork_floor;
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double runs_per_s;
	double waiting_kb; /* 0: not to be seen by this user */
	double start_ms;
	double call_50, call_99;  /* a bridge call, there and back */
	double out_gb_s, in_gb_s; /* a megabyte of typed array as an argument, as an answer */
	unsigned cpus;
};

/* --- all of it --- */

void bench_progress(const char *what) {
	if (isatty(STDERR_FILENO))
		fprintf(stderr, what ? "\r\033[Kmeasuring %s …" : "\r\033[K", what);
}

static bool measure_floor(struct figures *figures, size_t n) {
	struct samples samples;
	if (!samples_init(&samples, n))
		return false;
	int here = cpu_number(0), there = cpu_number(figures->cpus > 1 ? 1 : 0);
	bool ok = bench_ping_pong(&samples, here, here);
	figures->ping_same = samples_quantile(&samples, 0.5);
	ok = ok && bench_ping_pong(&samples, here, there);
	figures->ping_cross = samples_quantile(&samples, 0.5);
	ok = ok && bench_fork(&samples, here, 1 << 20);
	figures->fork_floor = samples_quantile(&samples, 0.5);
	samples_finish(&samples);
	return ok;
}

static bool measure_latency(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples on_demand, pooled;
	if (!samples_init(&on_demand, n) || !samples_init(&pooled, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	pin_to(cpu_number(0));
	bool ok = bench_runs(&javascript, &on_demand, &pooled, err);
	figures->on_demand_50 = samples_quantile(&on_demand, 0.5);
	figures->on_demand_99 = samples_quantile(&on_demand, 0.99);
	figures->pooled_50 = samples_quantile(&pooled, 0.5);
	figures->pooled_99 = samples_quantile(&pooled, 0.99);
	samples_finish(&on_demand);
	samples_finish(&pooled);
	return ok;
}

static bool measure_bridge(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples samples;
	if (!samples_init(&samples, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = bench_bridge(BENCH_CALL, &samples, err);
	figures->call_50 = samples_quantile(&samples, 0.5);
	figures->call_99 = samples_quantile(&samples, 0.99);
	samples.n = n / 4;
	ok = ok && bench_bridge(BENCH_MEGABYTE_OUT, &samples, err);
	figures->out_gb_s = 1e3 / samples_quantile(&samples, 0.5);
	ok = ok && bench_bridge(BENCH_MEGABYTE_IN, &samples, err);
	figures->in_gb_s = 1e3 / samples_quantile(&samples, 0.5);
	samples_finish(&samples);
	return ok;
}

static bool measure(struct figures *figures, bool quick, struct gb_err *err) {
	size_t n = quick ? 200 : 2000;
	figures->cpus = cpu_count();
	bench_progress("the floor");
	if (!measure_floor(figures, n))
		return gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured");
	bench_progress("single runs");
	if (!measure_latency(figures, n, err))
		return false;
	bench_progress("bridge calls");
	if (!measure_bridge(figures, n, err))
		return false;
	bench_progress("throughput");
	if (!bench_throughput(&javascript, figures->cpus, quick ? 0.5 : 3, &figures->runs_per_s))
		return gb_fail(err, GB_ESYSTEM, 0, "throughput could not be measured");
	bench_progress("memory");
	bool ok = bench_memory(&javascript, &figures->waiting_kb, &figures->start_ms, err);
	bench_progress(NULL);
	return ok;
}

static void print_table(const struct figures *f) {
	printf("a fresh sandbox running 1+1                        p50 ms    p99 ms   ratio\n");
	printf("  forked on demand                                %7.3f   %7.3f   %.1f x the fork floor\n",
	    f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->on_demand_50 / f->fork_floor);
	printf("  from the warm pool, requests spaced             %7.3f   %7.3f   1/%.1f of on demand, %.1f "
	       "x ping-pong\n",
	    f->pooled_50 / 1e3, f->pooled_99 / 1e3, f->on_demand_50 / f->pooled_50,
	    f->pooled_50 / f->ping_same);
	printf("the floor, same run\n");
	printf("  socket ping-pong, one CPU                       %7.4f\n", f->ping_same / 1e3);
	printf("  socket ping-pong, two CPUs                      %7.4f\n", f->ping_cross / 1e3);
	printf("  fork + exit + wait of a 1 MB process            %7.4f\n", f->fork_floor / 1e3);
	printf("a call of a host function                       %7.4f   %7.4f   %.1f x ping-pong\n",
	    f->call_50 / 1e3, f->call_99 / 1e3, f->call_50 / f->ping_same);
	printf("  with 1 MB of typed array as argument, as answer %7.2f GB/s, %.2f GB/s\n", f->out_gb_s,
	    f->in_gb_s);
	printf("throughput, %u CPUs, an engine on each           %8.0f runs/s   %.2f x forks at the floor\n",
	    f->cpus, f->runs_per_s, f->runs_per_s / (f->cpus * 1e6 / f->fork_floor));
	if (f->waiting_kb > 0)
		printf("memory of a waiting sandbox, its own            %8.0f kB\n", f->waiting_kb);
	else
		printf("memory of a waiting sandbox                     only root may look\n");
	printf("engine start with %d warm sandboxes             %8.1f ms\n", BENCH_WARM, f->start_ms);
}

static void print_json(const struct figures *f) {
	printf("{\"cpus\":%u,\"onDemandMs\":{\"p50\":%.4f,\"p99\":%.4f},\"pooledMs\":{\"p50\":%.4f,\"p99\":%."
	       "4f},"
	       "\"floorMs\":{\"pingPongOneCpu\":%.4f,\"pingPongTwoCpus\":%.4f,\"forkExitWait\":%.4f},"
	       "\"runsPerSecond\":%.0f,\"waitingSandboxKb\":%.0f,\"engineStartMs\":%.2f,"
	       "\"callMs\":{\"p50\":%.4f,\"p99\":%.4f},\"megabyteGBs\":{\"out\":%.2f,\"in\":%.2f},\"ratios\":"
	       "{\"callToPingPong\":%.2f,\"onDemandToFork\":%.2f,\"pooledToOnDemand\":%.3f,"
	       "\"pooledToPingPong\":%.2f}}\n",
	    f->cpus, f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->pooled_50 / 1e3, f->pooled_99 / 1e3,
	    f->ping_same / 1e3, f->ping_cross / 1e3, f->fork_floor / 1e3, f->runs_per_s, f->waiting_kb,
	    f->start_ms, f->call_50 / 1e3, f->call_99 / 1e3, f->out_gb_s, f->in_gb_s,
	    f->call_50 / f->ping_same, f->on_demand_50 / f->fork_floor, f->pooled_50 / f->on_demand_50,
	    f->pooled_50 / f->ping_same);
}

enum { FLAG_JSON, FLAG_QUICK, FLAG_PYTHON, FLAG_SHELL, FLAG_NODE };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object"},
    [FLAG_QUICK] = {"quick", 0, NULL, "fewer repetitions: a look, not a measurement"},
    [FLAG_PYTHON] = {"python", 0, NULL, "Python, beside python3 and bubblewrap"},
    [FLAG_SHELL] = {"shell", 0, NULL, "the shell, beside bash and bubblewrap"},
    [FLAG_NODE] = {"node", 0, NULL, "Node.js, beside node -e"},
    {0},
};

struct choice {
	bool json, quick, python, shell, node;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct choice *choice = data;
	if (!flag)
		return complain(&command_bench, "takes no operand, but got '%s'", value);
	bool *const chosen[] = {[FLAG_JSON] = &choice->json,
	    [FLAG_QUICK] = &choice->quick,
	    [FLAG_PYTHON] = &choice->python,
	    [FLAG_SHELL] = &choice->shell,
	    [FLAG_NODE] = &choice->node};
	*chosen[flag - flags] = true;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct choice choice = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &choice);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	struct figures figures = {0};
	struct gb_err err = {0};
	if (choice.python || choice.shell || choice.node) {
		bool (*bench)(bool, bool, struct gb_err *) = choice.python  ? bench_python
							     : choice.shell ? bench_shell
									    : bench_node;
		bool ok = bench(choice.quick, choice.json, &err);
		if (!ok)
			complain(self, "%s", err.message);
		return ok ? EXIT_OK : EXIT_REFUSED;
	}
	if (!measure(&figures, choice.quick, &err)) {
		complain(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	if (choice.json)
		print_json(&figures);
	else
		print_table(&figures);
	return EXIT_OK;
}

const struct command command_bench = {
    .name = "bench",
    .synopsis = "[--python | --shell | --node] [--quick] [--json]",
    .summary = "how fast it is here, against what the machine can do at best",
    .details = "Latency of single runs, throughput on all CPUs, memory of a waiting sandbox, and in the same "
	       "call the\n"
	       "physical floor: a socket ping-pong and a bare fork. Machines are noisy: trust the ratios.",
    .flags = flags,
    .run = run,
};
