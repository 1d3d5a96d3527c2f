/* The latency of a short run while long ones execute: bench-runs --crowd. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "limits/limits.h"
#include "runs/bench.h"

enum { CROWD = 50, SETTLING_NS = 1000000000 };

static const struct subject {
	const char *name;
	enum gb_language language;
	const char *brief, *busy;
	useconds_t spacing_us;
} subjects[] = {
    {"JavaScript", GB_JAVASCRIPT, "export default 1+1", "while (true) {}", 1000},
    {"Python", GB_PYTHON, "1+1", "while True: pass", 5000},
    {"bash", GB_SHELL, "echo $((1+1))", "while :; do :; done", 10000},
};

struct crowd_figures {
	double idle_50, crowded_50, crowded_99;
};

static bool measure(
    const struct subject *subject, struct gb_engine *engine, struct samples *samples, struct gb_err *err) {
	const struct gb_run_options brief = {.source = subject->brief, .language = subject->language};
	for (size_t i = 0; i < samples->n; i++) {
		if (!bench_run(engine, &brief, &samples->us[i], err))
			return false;
		usleep(subject->spacing_us);
		gb_engine_dispatch(engine, 0, NULL);
	}
	return true;
}

/* Wait until all of them have executed for a while. */
static bool gather(
    const struct subject *subject, struct gb_engine *engine, struct gb_run *runs[CROWD], struct gb_err *err) {
	const struct gb_run_options busy = {
	    .source = subject->busy, .language = subject->language, .timeout_ms = 3600000};
	for (int i = 0; i < CROWD; i++)
		if (!gb_run_start(engine, &busy, &runs[i], err))
			return false;
	for (uint64_t end = gb_now_ns() + SETTLING_NS; gb_now_ns() < end;)
		if (!gb_engine_dispatch(engine, 10, err))
			return false;
	return true;
}

static bool bench_subject(const struct subject *subject, const struct bench_asked *asked, size_t n,
    struct crowd_figures *ret, struct gb_err *err) {
	struct gb_engine *engine = NULL;
	struct gb_run *runs[CROWD] = {0};
	struct samples samples;
	const struct gb_engine_options options = {.ready = 1u << subject->language};
	if (!samples_init(&samples, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = gb_limits_engine_create(asked->config, &options, &engine, err) &&
		  measure(subject, engine, &samples, err) && measure(subject, engine, &samples, err);
	ret->idle_50 = samples_quantile(&samples, 0.5);
	ok = ok && gather(subject, engine, runs, err) && measure(subject, engine, &samples, err);
	ret->crowded_50 = samples_quantile(&samples, 0.5);
	ret->crowded_99 = samples_quantile(&samples, 0.99);
	for (int i = 0; i < CROWD; i++)
		gb_run_destroy(runs[i]);
	gb_engine_destroy(engine);
	samples_finish(&samples);
	return ok;
}

static void print_figures(
    const struct subject *subject, const struct crowd_figures *f, bool json, bool first) {
	if (json)
		printf("%s\"%s\":{\"idleMs\":%.4f,\"crowdedMs\":%.4f,\"crowdedP99Ms\":%.4f,\"ratio\":%.2f}",
		    first ? "{" : ",", subject->name, f->idle_50 / 1e3, f->crowded_50 / 1e3,
		    f->crowded_99 / 1e3, f->crowded_50 / f->idle_50);
	else
		printf("  %-45s %9.3f %9.3f %9.3f   %.1f x idle\n", subject->name, f->idle_50 / 1e3,
		    f->crowded_50 / 1e3, f->crowded_99 / 1e3, f->crowded_50 / f->idle_50);
	fflush(stdout);
}

bool bench_crowd(const struct bench_asked *asked, struct gb_err *err) {
	if (!asked->json)
		printf(
		    "a short run, %d endless loops beside it      idle p50 ms   p50 ms    p99 ms\n", CROWD);
	for (size_t i = 0; i < GB_COUNT(subjects); i++) {
		struct crowd_figures figures = {0};
		bench_progress(subjects[i].name);
		if (!bench_subject(&subjects[i], asked, asked->quick ? 50 : 300, &figures, err))
			return false;
		bench_progress(NULL);
		print_figures(&subjects[i], &figures, asked->json, i == 0);
	}
	if (asked->json)
		printf("}\n");
	return true;
}
