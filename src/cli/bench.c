#include "cli/bench.h"

#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/settings.h"

static const struct bench_subject javascript = {
    .run = {.source = "export default 1+1"},
    .ready = 1u << GB_JAVASCRIPT,
    .spacing_us = 1000,
};

struct figures {
	struct bench_figures common;
	double ping_same, ping_cross, fork_floor;
	double call_50, call_99;  /* a bridge call, there and back */
	double out_gb_s, in_gb_s; /* a megabyte of typed array as an argument, as an answer */
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
	int here = cpu_number(0), there = cpu_number(figures->common.cpus > 1 ? 1 : 0);
	bool ok = bench_ping_pong(&samples, here, here);
	figures->ping_same = samples_quantile(&samples, 0.5);
	ok = ok && bench_ping_pong(&samples, here, there);
	figures->ping_cross = samples_quantile(&samples, 0.5);
	ok = ok && bench_fork(&samples, here, 1 << 20);
	figures->fork_floor = samples_quantile(&samples, 0.5);
	samples_finish(&samples);
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

static bool measure(struct figures *figures, const struct bench_asked *asked, struct gb_err *err) {
	size_t n = asked->quick ? 200 : 2000;
	struct bench_subject subject = javascript;
	subject.config = asked->config;
	figures->common.cpus = cpu_count();
	bench_progress("the floor");
	if (!measure_floor(figures, n))
		return gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured");
	bench_progress("single runs");
	pin_to(cpu_number(0));
	if (!bench_singles(&subject, n, &figures->common, err))
		return false;
	bench_progress("bridge calls");
	return measure_bridge(figures, n, err) &&
	       bench_busy(&subject, asked->quick ? 0.5 : 3, &figures->common, err) &&
	       bench_waiting(&subject, &figures->common, err);
}

static void print_table(const struct figures *figures) {
	const struct bench_figures *f = &figures->common;
	double fork_floor = figures->fork_floor, ping = figures->ping_same;
	printf("a fresh sandbox running 1+1                        p50 ms    p99 ms   ratio\n");
	bench_print_singles(f);
	printf("  beside the floor: on demand is %.1f x a fork, from the pool %.1f x ping-pong\n",
	    f->on_demand_50 / fork_floor, f->pooled_50 / ping);
	printf("the floor, same run\n");
	printf("  socket ping-pong, one CPU                     %9.4f\n", ping / 1e3);
	printf("  socket ping-pong, two CPUs                    %9.4f\n", figures->ping_cross / 1e3);
	printf("  fork + exit + wait of a 1 MB process          %9.4f\n", fork_floor / 1e3);
	printf("a call of a host function                       %9.4f %9.4f   %.1f x ping-pong\n",
	    figures->call_50 / 1e3, figures->call_99 / 1e3, figures->call_50 / ping);
	printf("  with 1 MB of typed array as argument, as answer %7.2f GB/s, %.2f GB/s\n", figures->out_gb_s,
	    figures->in_gb_s);
	printf("throughput, %u CPUs, an engine on each           %9.0f runs/s   %.2f x forks at the floor\n",
	    f->cpus, f->runs_per_s, f->runs_per_s / (f->cpus * 1e6 / fork_floor));
	bench_print_memory(f);
}

static void print_json(const struct figures *figures) {
	const struct bench_figures *f = &figures->common;
	bench_print_json(f);
	printf(",\"floorMs\":{\"pingPongOneCpu\":%.4f,\"pingPongTwoCpus\":%.4f,\"forkExitWait\":%.4f},"
	       "\"callMs\":{\"p50\":%.4f,\"p99\":%.4f},\"megabyteGBs\":{\"out\":%.2f,\"in\":%.2f},\"ratios\":"
	       "{\"callToPingPong\":%.2f,\"onDemandToFork\":%.2f,\"pooledToOnDemand\":%.3f,"
	       "\"pooledToPingPong\":%.2f}}\n",
	    figures->ping_same / 1e3, figures->ping_cross / 1e3, figures->fork_floor / 1e3,
	    figures->call_50 / 1e3, figures->call_99 / 1e3, figures->out_gb_s, figures->in_gb_s,
	    figures->call_50 / figures->ping_same, f->on_demand_50 / figures->fork_floor,
	    f->pooled_50 / f->on_demand_50, f->pooled_50 / figures->ping_same);
}

static bool bench_javascript(const struct bench_asked *asked, struct gb_err *err) {
	struct figures figures = {0};
	if (!measure(&figures, asked, err))
		return false;
	(asked->json ? print_json : print_table)(&figures);
	return true;
}

enum { FLAG_JSON, FLAG_QUICK, FLAG_PYTHON, FLAG_SHELL, FLAG_NODE, FLAG_CROWD, FLAG_SETTINGS };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object", 0, NULL},
    [FLAG_QUICK] = {"quick", 0, NULL, "fewer repetitions: a look, not a measurement", 0, NULL},
    [FLAG_PYTHON] = {"python", 0, NULL, "Python, beside python3 and bubblewrap", 0, NULL},
    [FLAG_SHELL] = {"shell", 0, NULL, "the shell, beside bash and bubblewrap", 0, NULL},
    [FLAG_NODE] = {"node", 0, NULL, "Node.js, beside node -e", 0, NULL},
    [FLAG_CROWD] = {"crowd", 0, NULL, "a short run while 50 endless loops of the same language are at it", 0,
	NULL},
    [FLAG_SETTINGS] = SETTINGS_FLAGS,
    {0},
};

struct request {
	struct bench_asked asked;
	struct settings_request settings;
	bool (*bench)(const struct bench_asked *asked, struct gb_err *err);
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (!flag)
		return complain(&command_bench, "takes no operand, but got '%s'", value);
	if (settings_flag(&request->settings, flag, value))
		return true;
	if (flag - flags == FLAG_JSON)
		return request->asked.json = true;
	if (flag - flags == FLAG_QUICK)
		return request->asked.quick = true;
	if (request->bench != bench_javascript)
		return complain(&command_bench, "--%s: one language at a time", flag->name);
	request->bench = flag - flags == FLAG_PYTHON  ? bench_python
			 : flag - flags == FLAG_SHELL ? bench_shell
			 : flag - flags == FLAG_NODE  ? bench_node
						      : bench_crowd;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {.bench = bench_javascript};
	struct gb_err err = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	request.asked.config = settings_load(self, &request.settings);
	if (!request.asked.config)
		return EXIT_BAD_USE;
	bool ok = request.bench(&request.asked, &err);
	if (!ok)
		complain(self, "%s", err.message);
	gb_config_unref(request.asked.config);
	return ok ? EXIT_OK : EXIT_REFUSED;
}

const struct command command_bench = {
    .name = "bench",
    .synopsis = "[--python | --shell | --node | --crowd] [--quick] [OPTIONS]",
    .summary = "how fast it is here, against what the machine can do at best",
    .details = "Latency of single runs, throughput on all CPUs, memory of a waiting sandbox, and in the same "
	       "call the\n"
	       "physical floor: a socket ping-pong and a bare fork. Machines are noisy: trust the ratios.",
    .flags = flags,
    .run = run,
};
