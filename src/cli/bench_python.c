/* Python behind the wall, beside other ways to run a line of it. */
#include <stdio.h>
#include <sys/resource.h>

#include "base/err.h"
#include "cli/bench.h"

static const struct bench_subject subject = {
    .run = {.source = "1+1", .language = GB_PYTHON},
    .ready = 1u << GB_PYTHON,
    .spacing_us = 5000,
};

static const char *const plain[] = {"/usr/bin/python3", "-I", "-c", "1+1", NULL};
static const char *const wrapped[] = {"/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--ro-bind",
    "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc",
    "--dev", "/dev", "--tmpfs", "/tmp", "/usr/bin/python3", "-I", "-c", "1+1", NULL};

struct figures {
	unsigned cpus;
	double pipe;
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double live_50, live_99;
	double plain_50, wrapped_50; /* 0: not there */
	double runs_per_s;
	double cpu_ms; /* of a run, where the CPUs are kept busy; the start of an engine is in it */
	double waiting_kb, start_ms;
};

static double median(struct samples *samples) {
	return samples->n ? samples_quantile(samples, 0.5) : 0;
}

static bool measure_single(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples on_demand, pooled;
	if (!samples_init(&on_demand, n) || !samples_init(&pooled, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = bench_runs(&subject, &on_demand, &pooled, err);
	figures->on_demand_50 = samples_quantile(&on_demand, 0.5);
	figures->on_demand_99 = samples_quantile(&on_demand, 0.99);
	figures->pooled_50 = samples_quantile(&pooled, 0.5);
	figures->pooled_99 = samples_quantile(&pooled, 0.99);
	samples_finish(&on_demand);
	samples_finish(&pooled);
	return ok;
}

/* Half of the pipe before the session and half after it, so that a noisy moment hits both. */
static bool measure_live(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples live, pipes;
	if (!samples_init(&live, n) || !samples_init(&pipes, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	struct samples before = {pipes.us, n / 2}, after = {pipes.us + n / 2, n - n / 2};
	bool ok = (bench_pipes(&before, cpu_number(0)) ||
		      gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured")) &&
		  bench_session(GB_PYTHON, "x = 5", &live, err) &&
		  (bench_pipes(&after, cpu_number(0)) ||
		      gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured"));
	figures->pipe = samples_quantile(&pipes, 0.5);
	figures->live_50 = samples_quantile(&live, 0.5);
	figures->live_99 = samples_quantile(&live, 0.99);
	samples_finish(&live);
	samples_finish(&pipes);
	return ok;
}

/* Half of the programs before our runs and half after them, so that a noisy minute hits both. */
static bool measure_beside(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples bare, boxed;
	size_t half = n / 20;
	if (!samples_init(&bare, 2 * half) || !samples_init(&boxed, 2 * half))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bench_program(plain, &bare, 0, half);
	bench_program(wrapped, &boxed, 0, half);
	bool ok = measure_single(figures, n, err);
	bench_program(plain, &bare, half, 2 * half);
	bench_program(wrapped, &boxed, half, 2 * half);
	figures->plain_50 = median(&bare);
	figures->wrapped_50 = median(&boxed);
	samples_finish(&bare);
	samples_finish(&boxed);
	return ok;
}

/* Of those that were waited for, and theirs; in seconds. */
static double cpu_of_children(void) {
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static bool measure(struct figures *figures, bool quick, struct gb_err *err) {
	size_t n = quick ? 100 : 600;
	double seconds = quick ? 1 : 3;
	figures->cpus = cpu_count();
	pin_to(cpu_number(0));
	bench_progress("a pipe, and a session");
	if (!measure_live(figures, n, err))
		return false;
	bench_progress("single runs, and other ways to run Python");
	if (!measure_beside(figures, n, err))
		return false;
	bench_progress("throughput");
	double before = cpu_of_children();
	if (!bench_throughput(&subject, figures->cpus, seconds, &figures->runs_per_s))
		return gb_fail(err, GB_ESYSTEM, 0, "throughput could not be measured");
	figures->cpu_ms = (cpu_of_children() - before) / (figures->runs_per_s * seconds) * 1e3;
	bench_progress("memory");
	bool ok = bench_memory(&subject, &figures->waiting_kb, &figures->start_ms, err);
	bench_progress(NULL);
	return ok;
}

static void print_peer(const char *name, double us, double pooled) {
	if (us > 0)
		printf("  %-45s %9.3f             %.1f x warm\n", name, us / 1e3, us / pooled);
	else
		printf("  %-45s   is not to be had here\n", name);
}

static void print_table(const struct figures *f) {
	printf("a fresh sandbox running 1+1 in Python              p50 ms    p99 ms   ratio\n");
	printf("  forked on demand                              %9.3f %9.3f\n", f->on_demand_50 / 1e3,
	    f->on_demand_99 / 1e3);
	printf("  from the warm pool, requests spaced           %9.3f %9.3f   1/%.1f of on demand\n",
	    f->pooled_50 / 1e3, f->pooled_99 / 1e3, f->on_demand_50 / f->pooled_50);
	printf("other ways, same run\n");
	print_peer("python3 -I -c 1+1", f->plain_50, f->pooled_50);
	print_peer("bubblewrap, python3 -I -c 1+1", f->wrapped_50, f->pooled_50);
	printf("a live session, x                               %9.4f %9.4f   %.1f x a pipe there and back\n",
	    f->live_50 / 1e3, f->live_99 / 1e3, f->live_50 / f->pipe);
	printf("  a byte through pipes, there and back          %9.4f\n", f->pipe / 1e3);
	printf("throughput, %u CPUs, an engine on each           %9.0f runs/s, %.2f ms of CPU each\n",
	    f->cpus, f->runs_per_s, f->cpu_ms);
	if (f->waiting_kb > 0)
		printf("memory of a waiting sandbox, its own            %9.0f kB\n", f->waiting_kb);
	else
		printf("memory of a waiting sandbox                     only root may look\n");
	printf("engine start                                    %9.1f ms\n", f->start_ms);
}

static void print_json(const struct figures *f) {
	printf("{\"cpus\":%u,\"onDemandMs\":{\"p50\":%.4f,\"p99\":%.4f},\"pooledMs\":{\"p50\":%.4f,\"p99\":%."
	       "4f},"
	       "\"sessionMs\":{\"p50\":%.4f,\"p99\":%.4f},\"pipeMs\":%.4f,\"python3Ms\":%.4f,"
	       "\"bubblewrapMs\":%.4f,"
	       "\"runsPerSecond\":%.0f,\"cpuMsPerRun\":%.3f,\"waitingSandboxKb\":%.0f,\"engineStartMs\":%.2f,"
	       "\"ratios\":"
	       "{\"python3ToPooled\":%.1f,\"bubblewrapToPooled\":%.1f,\"sessionToPipe\":%.2f}}\n",
	    f->cpus, f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->pooled_50 / 1e3, f->pooled_99 / 1e3,
	    f->live_50 / 1e3, f->live_99 / 1e3, f->pipe / 1e3, f->plain_50 / 1e3, f->wrapped_50 / 1e3,
	    f->runs_per_s, f->cpu_ms, f->waiting_kb, f->start_ms, f->plain_50 / f->pooled_50,
	    f->wrapped_50 / f->pooled_50, f->live_50 / f->pipe);
}

bool bench_python(bool quick, bool json, struct gb_err *err) {
	struct figures figures = {0};
	if (!measure(&figures, quick, err))
		return false;
	(json ? print_json : print_table)(&figures);
	return true;
}
