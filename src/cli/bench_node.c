/* Node.js behind the wall, beside node -e. */
#include <limits.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/bench.h"
#include "engine/workers.h"

static const struct bench_subject subject = {
    .run = {.source = "1+1", .language = GB_NODE},
    .ready = 1u << GB_NODE,
    .spacing_us = 150000, /* a Node.js takes its time to get warm */
};

struct figures {
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double live_50, live_99;
	double plain_50;
};

static bool measure_live(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples samples;
	if (!samples_init(&samples, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = bench_session(GB_NODE, "let x = 5", &samples, err);
	figures->live_50 = samples_quantile(&samples, 0.5);
	figures->live_99 = samples_quantile(&samples, 0.99);
	samples_finish(&samples);
	return ok;
}

/* Half of the other's before our runs and half after them, so that a noisy minute hits both. */
static bool measure_runs(struct figures *figures, const char *node, size_t n, struct gb_err *err) {
	const char *const plain[] = {node, "-e", "1+1", NULL};
	struct samples on_demand, pooled, bare;
	if (!samples_init(&on_demand, n) || !samples_init(&pooled, n) || !samples_init(&bare, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bench_program(plain, &bare, 0, n / 2);
	bool ok = bench_runs(&subject, &on_demand, &pooled, err);
	bench_program(plain, &bare, n / 2, n);
	if (ok && !bare.n)
		ok = gb_fail(err, GB_ESYSTEM, 0, "'%s -e 1+1' does not work here", node);
	figures->on_demand_50 = samples_quantile(&on_demand, 0.5);
	figures->on_demand_99 = samples_quantile(&on_demand, 0.99);
	figures->pooled_50 = samples_quantile(&pooled, 0.5);
	figures->pooled_99 = samples_quantile(&pooled, 0.99);
	figures->plain_50 = bare.n ? samples_quantile(&bare, 0.5) : 0;
	samples_finish(&on_demand);
	samples_finish(&pooled);
	samples_finish(&bare);
	return ok;
}

static void print_table(const struct figures *f) {
	printf("a fresh sandbox running 1+1 in Node.js              p50 ms    p99 ms   ratio\n");
	printf("  started on demand                              %9.3f %9.3f\n", f->on_demand_50 / 1e3,
	    f->on_demand_99 / 1e3);
	printf("  from the warm pool, requests spaced            %9.3f %9.3f   1/%.1f of node -e\n",
	    f->pooled_50 / 1e3, f->pooled_99 / 1e3, f->plain_50 / f->pooled_50);
	printf("node -e 1+1, without a sandbox                   %9.3f             %.1f x warm\n",
	    f->plain_50 / 1e3, f->plain_50 / f->pooled_50);
	printf("a live session, x                                %9.3f %9.3f\n", f->live_50 / 1e3,
	    f->live_99 / 1e3);
}

static void print_json(const struct figures *f) {
	printf(
	    "{\"onDemandMs\":{\"p50\":%.4f,\"p99\":%.4f},\"pooledMs\":{\"p50\":%.4f,\"p99\":%.4f},"
	    "\"sessionMs\":{\"p50\":%.4f,\"p99\":%.4f},\"nodeMs\":%.4f,\"ratios\":{\"nodeToPooled\":%.1f}}\n",
	    f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->pooled_50 / 1e3, f->pooled_99 / 1e3,
	    f->live_50 / 1e3, f->live_99 / 1e3, f->plain_50 / 1e3, f->plain_50 / f->pooled_50);
}

bool bench_node(bool quick, bool json, struct gb_err *err) {
	struct figures figures = {0};
	char node[PATH_MAX];
	if (!gb_program_find(NULL, "node", node, sizeof node, err))
		return false;
	pin_to(cpu_number(0));
	bench_progress("a session");
	bool ok = measure_live(&figures, quick ? 200 : 1000, err);
	bench_progress("single runs, and node -e");
	ok = ok && measure_runs(&figures, node, quick ? 20 : 100, err);
	bench_progress(NULL);
	if (ok)
		(json ? print_json : print_table)(&figures);
	return ok;
}
