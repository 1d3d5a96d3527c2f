/* The shell in the sandbox, compared to other ways to run a line of shell. */
#include <stdio.h>

#include "base/err.h"
#include "runs/bench.h"

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
	struct bench_figures common;
	double terminal;
};

static bool measure_terminal(struct figures *figures, size_t n) {
	struct samples samples;
	bool ok = samples_init(&samples, n) && bench_terminal(&samples, cpu_number(0));
	figures->terminal = ok ? samples_quantile(&samples, 0.5) : 0;
	samples_finish(&samples);
	return ok;
}

static bool measure(
    struct figures *figures, const struct bench_subject *shell, bool quick, struct gb_err *err) {
	size_t n = quick ? 100 : 600;
	const struct bench_peers peers = {plain, wrapped, n / 10};
	figures->common.cpus = cpu_count();
	pin_to(cpu_number(0));
	bench_progress("a terminal");
	if (!measure_terminal(figures, n))
		return gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured");
	bench_progress("a session");
	/* A builtin of the shell. */
	if (!bench_live(shell, "true", "true", n, &figures->common, err))
		return false;
	bench_progress("single runs, and other ways to run bash");
	return bench_beside(shell, &peers, n, &figures->common, err) &&
	       bench_busy(shell, quick ? 1 : 3, &figures->common, err) &&
	       bench_waiting(shell, &figures->common, err);
}

static void print_table(const struct figures *figures) {
	const struct bench_figures *f = &figures->common;
	printf("a fresh sandbox running echo $((1+1)) in bash      p50 ms    p99 ms   ratio\n");
	bench_print_singles(f);
	printf("other ways, same run\n");
	bench_print_peer("bash -c", f->plain_50, f);
	bench_print_peer("bubblewrap, bash -c", f->wrapped_50, f);
	printf("a live session, true                            %9.4f %9.4f   %.1f x a terminal's echo\n",
	    f->live_50 / 1e3, f->live_99 / 1e3, f->live_50 / figures->terminal);
	printf("  a byte through a terminal, there and back     %9.4f\n", figures->terminal / 1e3);
	printf("throughput, %u CPUs, an engine on each           %9.0f runs/s\n", f->cpus, f->runs_per_s);
	bench_print_memory(f);
}

static void print_json(const struct figures *figures) {
	const struct bench_figures *f = &figures->common;
	bench_print_json(f);
	printf(",\"terminalMs\":%.4f,\"bashMs\":%.4f,\"bubblewrapMs\":%.4f,\"ratios\":{\"bashToPooled\":%.1f,"
	       "\"bubblewrapToPooled\":%.1f,\"sessionToTerminal\":%.2f}}\n",
	    figures->terminal / 1e3, f->plain_50 / 1e3, f->wrapped_50 / 1e3, f->plain_50 / f->pooled_50,
	    f->wrapped_50 / f->pooled_50, f->live_50 / figures->terminal);
}

bool bench_shell(const struct bench_asked *asked, struct gb_err *err) {
	struct figures figures = {0};
	struct bench_subject shell = subject;
	shell.config = asked->config;
	if (!measure(&figures, &shell, asked->quick, err))
		return false;
	(asked->json ? print_json : print_table)(&figures);
	return true;
}
