/* Python in the sandbox, compared to other ways to run a line of Python. */
#include <stdio.h>
#include <sys/resource.h>

#include "base/err.h"
#include "runs/bench.h"

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
	struct bench_figures common;
	double pipe;
	double cpu_ms; /* per run during the throughput measurement; includes the start of the engines */
};

/* Half of the pipe samples before the session and half after, so that temporary load affects both. */
static bool measure_live(
    struct figures *figures, const struct bench_subject *python, size_t n, struct gb_err *err) {
	struct samples pipes;
	if (!samples_init(&pipes, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	struct samples before = {pipes.us, n / 2}, after = {pipes.us + n / 2, n - n / 2};
	bool ok = (bench_pipes(&before, cpu_number(0)) ||
		      gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured")) &&
		  bench_live(python, "x = 5", "x", n, &figures->common, err) &&
		  (bench_pipes(&after, cpu_number(0)) ||
		      gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured"));
	figures->pipe = samples_quantile(&pipes, 0.5);
	samples_finish(&pipes);
	return ok;
}

/* CPU time of reaped children and their descendants, in seconds. */
static double cpu_of_children(void) {
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static bool measure(
    struct figures *figures, const struct bench_subject *python, bool quick, struct gb_err *err) {
	size_t n = quick ? 100 : 600;
	double seconds = quick ? 1 : 3;
	const struct bench_peers peers = {plain, wrapped, n / 20};
	figures->common.cpus = cpu_count();
	pin_to(cpu_number(0));
	bench_progress("a pipe, and a session");
	if (!measure_live(figures, python, n, err))
		return false;
	bench_progress("single runs, and other ways to run Python");
	if (!bench_beside(python, &peers, n, &figures->common, err))
		return false;
	double before = cpu_of_children();
	if (!bench_busy(python, seconds, &figures->common, err))
		return false;
	figures->cpu_ms = (cpu_of_children() - before) / (figures->common.runs_per_s * seconds) * 1e3;
	return bench_waiting(python, &figures->common, err);
}

static void print_table(const struct figures *figures) {
	const struct bench_figures *f = &figures->common;
	printf("a fresh sandbox running 1+1 in Python              p50 ms    p99 ms   ratio\n");
	bench_print_singles(f);
	printf("other ways, same run\n");
	bench_print_peer("python3 -I -c 1+1", f->plain_50, f);
	bench_print_peer("bubblewrap, python3 -I -c 1+1", f->wrapped_50, f);
	printf("a live session, x                               %9.4f %9.4f   %.1f x a pipe there and back\n",
	    f->live_50 / 1e3, f->live_99 / 1e3, f->live_50 / figures->pipe);
	printf("  a byte through pipes, there and back          %9.4f\n", figures->pipe / 1e3);
	printf("throughput, %u CPUs, an engine on each           %9.0f runs/s, %.2f ms of CPU each\n",
	    f->cpus, f->runs_per_s, figures->cpu_ms);
	bench_print_memory(f);
}

static void print_json(const struct figures *figures) {
	const struct bench_figures *f = &figures->common;
	bench_print_json(f);
	printf(",\"pipeMs\":%.4f,\"python3Ms\":%.4f,\"bubblewrapMs\":%.4f,\"cpuMsPerRun\":%.3f,\"ratios\":"
	       "{\"python3ToPooled\":%.1f,\"bubblewrapToPooled\":%.1f,\"sessionToPipe\":%.2f}}\n",
	    figures->pipe / 1e3, f->plain_50 / 1e3, f->wrapped_50 / 1e3, figures->cpu_ms,
	    f->plain_50 / f->pooled_50, f->wrapped_50 / f->pooled_50, f->live_50 / figures->pipe);
}

bool bench_python(const struct bench_asked *asked, struct gb_err *err) {
	struct figures figures = {0};
	struct bench_subject python = subject;
	python.config = asked->config;
	if (!measure(&figures, &python, asked->quick, err))
		return false;
	(asked->json ? print_json : print_table)(&figures);
	return true;
}
