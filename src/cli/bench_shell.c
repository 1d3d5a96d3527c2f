/* The shell behind the wall, beside other ways to run a line of it. */
#include <stdio.h>

#include "base/err.h"
#include "cli/bench.h"

enum { SETTLING = 20 };

static const struct bench_subject subject = {
    .run = {.source = "echo $((1+1))", .language = GB_SHELL},
    .ready = 1u << GB_SHELL,
    .spacing_us = 10000,
};

static const char *const plain[] = {"/bin/bash", "--norc", "--noprofile", "-c", "echo $((1+1))", NULL};
static const char *const wrapped[] = {"/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--ro-bind",
    "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
    "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "/usr/bin/bash", "--norc", "--noprofile",
    "-c", "echo $((1+1))", NULL};

struct figures {
	unsigned cpus;
	double terminal;
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double live_50, live_99;
	double plain_50, wrapped_50; /* 0: not there */
	double runs_per_s;
	double waiting_kb, start_ms;
};

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

/* A command that the shell does by itself. */
static bool ask_session(struct gb_engine *engine, struct samples *samples, struct gb_err *err) {
	struct gb_session *session;
	if (!gb_session_open(engine, GB_SHELL, NULL, &session, err))
		return false;
	const struct gb_run_options nothing = {.session = session, .source = "true"};
	double ignored;
	bool ok = true;
	for (int i = 0; i < SETTLING && ok; i++)
		ok = bench_run(engine, &nothing, &ignored, err);
	for (size_t i = 0; i < samples->n && ok; i++)
		ok = bench_run(engine, &nothing, &samples->us[i], err);
	gb_session_close(session);
	return ok;
}

static bool measure_live(struct figures *figures, size_t n, struct gb_err *err) {
	struct gb_engine *engine;
	struct samples samples;
	if (!samples_init(&samples, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	const struct gb_engine_options options = {.ready = subject.ready, .shards = 1};
	bool ok = gb_engine_create(&options, &engine, err);
	if (ok) {
		ok = ask_session(engine, &samples, err);
		gb_engine_destroy(engine);
	}
	figures->live_50 = samples_quantile(&samples, 0.5);
	figures->live_99 = samples_quantile(&samples, 0.99);
	samples_finish(&samples);
	return ok;
}

static bool measure_terminal(struct figures *figures, size_t n) {
	struct samples samples;
	bool ok = samples_init(&samples, n) && bench_terminal(&samples, cpu_number(0));
	figures->terminal = ok ? samples_quantile(&samples, 0.5) : 0;
	samples_finish(&samples);
	return ok;
}

/* Half of the programs before our runs and half after them, so that a noisy minute hits both. */
static bool measure_beside(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples bare, boxed;
	size_t half = n / 10;
	if (!samples_init(&bare, 2 * half) || !samples_init(&boxed, 2 * half))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bench_program(plain, &bare, 0, half);
	bench_program(wrapped, &boxed, 0, half);
	bool ok = measure_single(figures, n, err);
	bench_program(plain, &bare, half, 2 * half);
	bench_program(wrapped, &boxed, half, 2 * half);
	figures->plain_50 = bare.n ? samples_quantile(&bare, 0.5) : 0;
	figures->wrapped_50 = boxed.n ? samples_quantile(&boxed, 0.5) : 0;
	samples_finish(&bare);
	samples_finish(&boxed);
	return ok;
}

static bool measure(struct figures *figures, bool quick, struct gb_err *err) {
	size_t n = quick ? 100 : 600;
	figures->cpus = cpu_count();
	pin_to(cpu_number(0));
	bench_progress("a terminal");
	if (!measure_terminal(figures, n))
		return gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured");
	bench_progress("a session");
	if (!measure_live(figures, n, err))
		return false;
	bench_progress("single runs, and other ways to run bash");
	if (!measure_beside(figures, n, err))
		return false;
	bench_progress("throughput");
	if (!bench_throughput(&subject, figures->cpus, quick ? 1 : 3, &figures->runs_per_s))
		return gb_fail(err, GB_ESYSTEM, 0, "throughput could not be measured");
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
	printf("a fresh sandbox running echo $((1+1)) in bash      p50 ms    p99 ms   ratio\n");
	printf("  forked on demand                              %9.3f %9.3f\n", f->on_demand_50 / 1e3,
	    f->on_demand_99 / 1e3);
	printf("  from the warm pool, requests spaced           %9.3f %9.3f   1/%.1f of on demand\n",
	    f->pooled_50 / 1e3, f->pooled_99 / 1e3, f->on_demand_50 / f->pooled_50);
	printf("other ways, same run\n");
	print_peer("bash -c", f->plain_50, f->pooled_50);
	print_peer("bubblewrap, bash -c", f->wrapped_50, f->pooled_50);
	printf("a live session, true                            %9.4f %9.4f   %.1f x a terminal's echo\n",
	    f->live_50 / 1e3, f->live_99 / 1e3, f->live_50 / f->terminal);
	printf("  a byte through a terminal, there and back     %9.4f\n", f->terminal / 1e3);
	printf("throughput, %u CPUs, an engine on each           %9.0f runs/s\n", f->cpus, f->runs_per_s);
	if (f->waiting_kb > 0)
		printf("memory of a waiting sandbox, its own            %9.0f kB\n", f->waiting_kb);
	else
		printf("memory of a waiting sandbox                     only root may look\n");
	printf("engine start                                    %9.1f ms\n", f->start_ms);
}

static void print_json(const struct figures *f) {
	printf("{\"cpus\":%u,\"onDemandMs\":{\"p50\":%.4f,\"p99\":%.4f},"
	       "\"pooledMs\":{\"p50\":%.4f,\"p99\":%.4f},\"sessionMs\":{\"p50\":%.4f,\"p99\":%.4f},"
	       "\"terminalMs\":%.4f,\"bashMs\":%.4f,\"bubblewrapMs\":%.4f,\"runsPerSecond\":%.0f,"
	       "\"waitingSandboxKb\":%.0f,\"engineStartMs\":%.2f,\"ratios\":{\"bashToPooled\":%.1f,"
	       "\"bubblewrapToPooled\":%.1f,\"sessionToTerminal\":%.2f}}\n",
	    f->cpus, f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->pooled_50 / 1e3, f->pooled_99 / 1e3,
	    f->live_50 / 1e3, f->live_99 / 1e3, f->terminal / 1e3, f->plain_50 / 1e3, f->wrapped_50 / 1e3,
	    f->runs_per_s, f->waiting_kb, f->start_ms, f->plain_50 / f->pooled_50,
	    f->wrapped_50 / f->pooled_50, f->live_50 / f->terminal);
}

bool bench_shell(bool quick, bool json, struct gb_err *err) {
	struct figures figures = {0};
	if (!measure(&figures, quick, err))
		return false;
	(json ? print_json : print_table)(&figures);
	return true;
}
