/* The measurements and figures of bench-runs for every language. */
#include <stdio.h>

#include "base/err.h"
#include "runs/bench.h"

/* --- measuring --- */

static double median(struct samples *samples) {
	return samples->n ? samples_quantile(samples, 0.5) : 0;
}

bool bench_singles(
    const struct bench_subject *subject, size_t n, struct bench_figures *figures, struct gb_err *err) {
	struct samples on_demand, pooled;
	if (!samples_init(&on_demand, n) || !samples_init(&pooled, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = bench_runs(subject, &on_demand, &pooled, err);
	figures->on_demand_50 = samples_quantile(&on_demand, 0.5);
	figures->on_demand_99 = samples_quantile(&on_demand, 0.99);
	figures->pooled_50 = samples_quantile(&pooled, 0.5);
	figures->pooled_99 = samples_quantile(&pooled, 0.99);
	samples_finish(&on_demand);
	samples_finish(&pooled);
	return ok;
}

/* Half of the programs before the runs and half after, so that temporary load affects both. */
bool bench_beside(const struct bench_subject *subject, const struct bench_peers *peers, size_t n,
    struct bench_figures *figures, struct gb_err *err) {
	struct samples bare, boxed;
	size_t half = peers->half;
	if (!samples_init(&bare, 2 * half) || !samples_init(&boxed, 2 * half))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	if (!peers->plain)
		bare.n = 0;
	if (!peers->wrapped)
		boxed.n = 0;
	bench_program(peers->plain, &bare, 0, half);
	bench_program(peers->wrapped, &boxed, 0, half);
	bool ok = bench_singles(subject, n, figures, err);
	bench_program(peers->plain, &bare, half, 2 * half);
	bench_program(peers->wrapped, &boxed, half, 2 * half);
	figures->plain_50 = median(&bare);
	figures->wrapped_50 = median(&boxed);
	samples_finish(&bare);
	samples_finish(&boxed);
	return ok;
}

bool bench_live(const struct bench_subject *subject, const char *before, const char *ask, size_t n,
    struct bench_figures *figures, struct gb_err *err) {
	struct samples samples;
	if (!samples_init(&samples, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = bench_session(subject, before, ask, &samples, err);
	figures->live_50 = samples_quantile(&samples, 0.5);
	figures->live_99 = samples_quantile(&samples, 0.99);
	samples_finish(&samples);
	return ok;
}

bool bench_busy(
    const struct bench_subject *subject, double seconds, struct bench_figures *figures, struct gb_err *err) {
	bench_progress("throughput");
	return bench_throughput(subject, figures->cpus, seconds, &figures->runs_per_s) ||
	       gb_fail(err, GB_ESYSTEM, 0, "throughput could not be measured");
}

bool bench_waiting(const struct bench_subject *subject, struct bench_figures *figures, struct gb_err *err) {
	bench_progress("memory");
	bool ok = bench_memory(subject, &figures->waiting_kb, &figures->start_ms, err);
	bench_progress(NULL);
	return ok;
}

/* --- printing --- */

void bench_print_singles(const struct bench_figures *f) {
	printf("  on demand                                     %9.3f %9.3f\n", f->on_demand_50 / 1e3,
	    f->on_demand_99 / 1e3);
	printf("  from the warm pool, requests spaced           %9.3f %9.3f   1/%.1f of on demand\n",
	    f->pooled_50 / 1e3, f->pooled_99 / 1e3, f->on_demand_50 / f->pooled_50);
}

void bench_print_peer(const char *name, double us, const struct bench_figures *f) {
	if (us > 0)
		printf("  %-45s %9.3f             %.1f x warm\n", name, us / 1e3, us / f->pooled_50);
	else
		printf("  %-45s   is not available here\n", name);
}

void bench_print_memory(const struct bench_figures *f) {
	if (f->waiting_kb > 0)
		printf("memory of a waiting sandbox, its own            %9.0f kB\n", f->waiting_kb);
	else
		printf("memory of a waiting sandbox                     only root may read it\n");
	printf("engine start with %d warm sandboxes             %9.1f ms\n", BENCH_WARM, f->start_ms);
}

void bench_print_json(const struct bench_figures *f) {
	printf("{\"onDemandMs\":{\"p50\":%.4f,\"p99\":%.4f},\"pooledMs\":{\"p50\":%.4f,\"p99\":%.4f}",
	    f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->pooled_50 / 1e3, f->pooled_99 / 1e3);
	if (f->live_50 > 0)
		printf(",\"sessionMs\":{\"p50\":%.4f,\"p99\":%.4f}", f->live_50 / 1e3, f->live_99 / 1e3);
	if (f->cpus)
		printf(",\"cpus\":%u,\"runsPerSecond\":%.0f,\"waitingSandboxKb\":%.0f,\"engineStartMs\":%.2f",
		    f->cpus, f->runs_per_s, f->waiting_kb, f->start_ms);
}
