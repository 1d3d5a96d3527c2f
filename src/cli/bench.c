/* A short check of how fast runs are on this machine. The benchmarks themselves are in bench/. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/settings.h"
#include "cli/untrusted.h"
#include "limits/limits.h"

enum { RUNS = 40 };

static const struct subject {
	enum gb_language language;
	const char *source;
	unsigned spacing_us; /* between runs: the pool is full again after that */
} subjects[] = {
    {GB_JAVASCRIPT, "export default 1+1", 1000},
    {GB_PYTHON, "1+1", 5000},
    {GB_SHELL, "echo $((1+1))", 10000},
    {GB_NODE, "1+1", 60000},
    {GB_DENO, "export default 1+1", 60000},
};

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static bool time_run(
    struct gb_engine *engine, const struct subject *subject, double *ret_ms, struct gb_err *err) {
	const struct gb_run_options options = {.source = subject->source, .language = subject->language};
	struct gb_run *run;
	uint64_t before = gb_now_ns();
	if (!gb_run_start(engine, &options, &run, err))
		return false;
	const struct gb_result *result = gb_run_wait(run);
	*ret_ms = (double)(gb_now_ns() - before) / 1e6;
	bool ok = result && result->status == GB_SUCCESS;
	if (!ok)
		gb_fail(err, GB_ESYSTEM, 0, "a run failed: %s", result ? result->error.message : "no result");
	gb_run_destroy(run);
	return ok;
}

/* The median of runs in an engine with @warm waiting sandboxes (GB_NONE for none). */
static bool median(const struct gb_config *config, const struct subject *subject, unsigned warm,
    double *ret_ms, struct gb_err *err) {
	const struct gb_engine_options options = {
	    .ready = 1u << subject->language, .shards = 1, .warm = warm};
	struct gb_engine *engine = NULL;
	double ms[RUNS];
	bool ok = gb_limits_engine_create(config, &options, &engine, err);
	for (size_t i = 0; ok && i < RUNS; i++) {
		usleep(subject->spacing_us);
		gb_engine_dispatch(engine, 0, NULL);
		ok = time_run(engine, subject, &ms[i], err);
	}
	gb_engine_destroy(engine);
	if (!ok)
		return false;
	qsort(ms, RUNS, sizeof *ms, compare);
	*ret_ms = ms[RUNS / 2];
	return true;
}

static void print_row(const struct subject *subject, bool ok, const double ms[2], const struct gb_err *err) {
	printf("%-12s", gb_language_name(subject->language));
	if (ok) {
		printf("%12.3f %12.3f\n", ms[0], ms[1]);
		return;
	}
	printf("  not measured: ");
	print_name(stdout, err->message, strlen(err->message));
	putchar('\n');
}

static void print_member(const struct subject *subject, bool ok, const double ms[2], bool first) {
	printf("%s\"%s\":", first ? "{" : ",", gb_language_name(subject->language));
	if (ok)
		printf("{\"onDemandMs\":%.4f,\"pooledMs\":%.4f}", ms[0], ms[1]);
	else
		printf("null");
}

/* False if nothing could be measured. */
static bool measure(const struct gb_config *config, bool json) {
	bool any = false;
	if (!json)
		printf("median of %d runs, ms   on demand    from pool\n", RUNS);
	for (size_t i = 0; i < GB_COUNT(subjects); i++) {
		double ms[2] = {0};
		struct gb_err err = {0};
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r\033[Kmeasuring %s …", gb_language_name(subjects[i].language));
		bool ok = median(config, &subjects[i], GB_NONE, &ms[0], &err) &&
			  median(config, &subjects[i], 0, &ms[1], &err);
		if (isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
		if (json)
			print_member(&subjects[i], ok, ms, i == 0);
		else
			print_row(&subjects[i], ok, ms, &err);
		fflush(stdout);
		any |= ok;
	}
	if (json)
		puts("}");
	return any;
}

enum { FLAG_JSON, FLAG_SETTINGS };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object; a runtime that was not measured is null", 0, NULL},
    [FLAG_SETTINGS] = SETTINGS_FLAGS,
    {0},
};

struct request {
	bool json;
	struct settings_request settings;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (!flag)
		return report_error(&command_bench, "takes no operand, but got '%s'", value);
	if (settings_flag(&request->settings, flag, value))
		return true;
	return request->json = true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	const struct gb_config *config = settings_load(self, &request.settings);
	if (!config)
		return EXIT_BAD_USE;
	bool ok = measure(config, request.json);
	gb_config_unref(config);
	return ok ? EXIT_OK : EXIT_REFUSED;
}

const struct command command_bench = {
    .name = "bench",
    .synopsis = "[--json] [OPTIONS]",
    .summary = "measure how fast runs are on this machine",
    .details =
	"Measures 1+1 in a new sandbox of each installed runtime: in one that is created on demand, and\n"
	"in one from the pool of prepared sandboxes. This takes a few seconds. 'glovebox doctor' shows\n"
	"why a runtime cannot be used.",
    .flags = flags,
    .run = run,
};
