/* bench-runs: latency, throughput and memory of runs, and in the same call the physical floor. */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "runs/bench.h"

static const struct bench_subject javascript = {
    .run = {.source = "export default 1+1"},
    .ready = 1u << GB_JAVASCRIPT,
    .spacing_us = 1000,
};

struct figures {
	struct bench_figures common;
	double ping_same, ping_cross, fork_floor;
	double call_50, call_99;  /* round trip of a bridge call */
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

static const char usage[] =
    "usage: bench-runs [--python | --shell | --node | --crowd] [--quick] [--json]\n"
    "\n"
    "Latency of single runs, throughput on all CPUs, memory of a waiting sandbox, and in the same call the\n"
    "physical floor: a socket ping-pong and a bare fork. Machines are noisy: trust the ratios.\n"
    "\n"
    "  --python   Python, beside python3 and bubblewrap\n"
    "  --shell    the shell, beside bash and bubblewrap\n"
    "  --node     Node.js, beside node -e\n"
    "  --crowd    a short run while 50 endless loops of the same language are under way\n"
    "  --quick    fewer repetitions: a look, not a measurement\n"
    "  --json     one JSON object\n";

typedef bool bench_function(const struct bench_asked *asked, struct gb_err *err);

/* NULL if the arguments are invalid, or request help. */
static bench_function *read_arguments(int argc, char **argv, struct bench_asked *asked) {
	static const struct option options[] = {{"python", no_argument, NULL, 'p'},
	    {"shell", no_argument, NULL, 's'}, {"node", no_argument, NULL, 'n'},
	    {"crowd", no_argument, NULL, 'c'}, {"quick", no_argument, NULL, 'q'},
	    {"json", no_argument, NULL, 'j'}, {0}};
	bench_function *bench = bench_javascript;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'q':
			asked->quick = true;
			break;
		case 'j':
			asked->json = true;
			break;
		case 'p':
			bench = bench_python;
			break;
		case 's':
			bench = bench_shell;
			break;
		case 'n':
			bench = bench_node;
			break;
		case 'c':
			bench = bench_crowd;
			break;
		default:
			return NULL;
		}
	return optind == argc ? bench : NULL;
}

int main(int argc, char **argv) {
	struct bench_asked asked = {0};
	struct gb_err err = {0};
	const struct gb_config_sources sources = {.environment = environ};
	bench_function *bench = read_arguments(argc, argv, &asked);
	if (!bench) {
		fputs(usage, stderr);
		return 2;
	}
	bool ok = gb_config_load(&sources, &asked.config, &err) && bench(&asked, &err);
	if (!ok)
		fprintf(stderr, "bench-runs: %s\n", err.message);
	gb_config_unref(asked.config);
	return ok ? 0 : 1;
}
