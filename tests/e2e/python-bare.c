/*
 * For development of the Python worker: run a file in a cell without a sandbox and show the results, or
 * measure.
 *
 *	python-bare [-p PROFILE] [-s SETTINGS-JSON] FILE...	in one session, if the settings have one
 *	python-bare [-p PROFILE] -b N				N runs on demand, N warm, N in a session
 */
#include "e2e/python.h"

#include <sched.h>
#include <time.h>

static const struct gb_value *settings;

static char *read_file(const char *path) {
	FILE *file = fopen(path, "r");
	struct gb_buf text;
	gb_buf_init(&text, SIZE_MAX);
	if (!file)
		exit(2);
	for (int c; (c = getc(file)) != EOF;)
		gb_buf_append_char(&text, (char)c);
	fclose(file);
	gb_buf_append_char(&text, '\0');
	return text.data;
}

static void show(const struct outcome *outcome) {
	printf("%.*s", (int)outcome->both.len, outcome->both.data ? outcome->both.data : "");
	printf("%.*s", (int)outcome->displays.len, outcome->displays.data ? outcome->displays.data : "");
	printf("\n-- status %d, exit %d, peak %llu%s, %u frames of output\n", outcome->status,
	    outcome->exit_code, (unsigned long long)outcome->peak, outcome->truncated ? ", truncated" : "",
	    outcome->n_output_frames);
	if (outcome->value) {
		char *json = gb_value_to_json(outcome->value, 0, NULL, NULL);
		printf("-- %s\n", json);
		free(json);
	}
	for (unsigned i = 0; i < GB_WIRE_ERROR_TEXTS; i++)
		if (outcome->error[i])
			printf("-- error[%u] %s\n", i, outcome->error[i]);
	if (outcome->line)
		printf("-- at %u:%u\n", outcome->line, outcome->column);
}

/* --- measuring --- */

static const char snippet[] = "import sys\n"
			      "xs = [i * i for i in range(10)]\n"
			      "print('sum', sum(xs)); print('warning', file=sys.stderr)\n"
			      "{'sum': sum(xs), 'n': len(xs)}\n";

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void tell(const char *what, double *us, unsigned n) {
	qsort(us, n, sizeof *us, compare);
	printf("%-28s min %7.1f  p50 %7.1f  p99 %7.1f us\n", what, us[0], us[n / 2], us[n * 99 / 100]);
}

/* Page faults of a cell so far. */
static long faults_of(pid_t pid) {
	char path[64];
	long faults = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %ld", &faults) != 1)
		faults = -1;
	if (file)
		fclose(file);
	return faults;
}

/* The private memory of a waiting cell, in kB. */
static long private_of(pid_t pid) {
	char path[64], line[256];
	long all = 0, one;
	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Private_Dirty: %ld", &one) == 1)
			all += one;
	if (file)
		fclose(file);
	return all;
}

static double run_once(struct cell *cell, const char *source) {
	struct outcome outcome;
	uint64_t begin = gb_now_ns();
	cell_send(cell, &(struct job){.source = source, .settings = settings});
	bool ok = cell_receive(cell, &outcome);
	double us = (double)(gb_now_ns() - begin) / 1e3;
	if (!ok || outcome.status != GB_WIRE_SUCCESS)
		show(&outcome);
	outcome_finish(&outcome);
	return us;
}

static void measure(unsigned n) {
	double *us = calloc(n, sizeof *us);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	long faults = 0, waiting = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t begin = gb_now_ns();
		struct cell cell = cell_start(false);
		double forked = (double)(gb_now_ns() - begin) / 1e3;
		us[i] = forked + run_once(&cell, snippet);
		faults += faults_of(cell.pid);
		cell_end(&cell);
	}
	tell("4 lines, on demand", us, n);
	printf("%28s %ld page faults\n", "", faults / n);
	faults = 0;
	for (unsigned i = 0; i < n; i++) {
		struct cell cell = cell_start(true);
		usleep(10000);
		waiting = private_of(cell.pid);
		faults -= faults_of(cell.pid);
		us[i] = run_once(&cell, snippet);
		faults += faults_of(cell.pid);
		cell_end(&cell);
	}
	tell("4 lines, warm", us, n);
	printf("%28s %ld page faults, %ld kB of its own while it waited\n", "", faults / n, waiting);
	struct gb_values *pool = gb_values_create(0);
	settings = gb_value_from_json(pool, "{\"session\":true}", 16, NULL);
	struct cell cell = cell_start(true);
	run_once(&cell, "x = 5");
	for (unsigned i = 0; i < n; i++)
		us[i] = run_once(&cell, "x");
	tell("session, x", us, n);
	for (unsigned i = 0; i < n; i++)
		us[i] = run_once(&cell, snippet);
	tell("session, 4 lines", us, n);
	cell_end(&cell);
}

int main(int argc, char **argv) {
	const char *profile = "stdlib", *json = NULL;
	unsigned n = 0;
	for (int c; (c = getopt(argc, argv, "p:s:b:")) != -1;) {
		if (c == 'p')
			profile = optarg;
		else if (c == 's')
			json = optarg;
		else if (c == 'b')
			n = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	if (json && !(settings = gb_value_from_json(pool, json, strlen(json), &err))) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	uint64_t begin = gb_now_ns();
	python_init(profile);
	printf("interpreter ready after %.0f ms\n", (double)(gb_now_ns() - begin) / 1e6);
	if (n) {
		measure(n);
		return 0;
	}
	struct cell cell = cell_start(false);
	for (int i = optind; i < argc; i++) {
		struct outcome outcome;
		cell_send(&cell, &(struct job){.source = read_file(argv[i]), .settings = settings});
		if (!cell_receive(&cell, &outcome))
			printf("-- ended: %d\n", cell_end(&cell));
		show(&outcome);
		outcome_finish(&outcome);
	}
	return 0;
}
