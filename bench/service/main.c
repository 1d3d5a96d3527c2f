/* bench-service: the latency of a client's short run while the server is busy with something else. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "service/bench.h"

enum { TARGET = 5, SAMPLES_MAX = 200000 };

#define SECOND_NS 1000000000ull

#define SETTINGS "agent: {enabled: true, autoApprove: true, callsPerTurn: 10000}\n"

struct asked {
	bool quick, json;
	const char *only;
};

/* --- samples --- */

struct samples {
	double us[SAMPLES_MAX];
	size_t n;
};

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double quantile(struct samples *samples, double part) {
	if (!samples->n)
		return 0;
	qsort(samples->us, samples->n, sizeof *samples->us, compare);
	size_t at = (size_t)((double)samples->n * part);
	return samples->us[at < samples->n ? at : samples->n - 1];
}

/* The same for requests that arrive every millisecond, and wait for the present run if it takes longer. */
static double arrival_quantile(const struct samples *samples, double part) {
	enum { EVERY_US = 1000 };
	size_t n = 0, at = 0;
	for (size_t i = 0; i < samples->n; i++)
		n += 1 + (size_t)(samples->us[i] / EVERY_US);
	gb_auto_free double *us = calloc(n ? n : 1, sizeof *us);
	for (size_t i = 0; us && i < samples->n; i++)
		for (double left = samples->us[i]; left >= 0 && at < n; left -= EVERY_US)
			us[at++] = left;
	if (!at)
		return 0;
	qsort(us, at, sizeof *us, compare);
	return us[(size_t)((double)at * part)];
}

static double run_once(struct client *client) {
	bool ok = false;
	uint64_t start = gb_now_ns();
	client_request(
	    client, "run", "\"source\":\"export default 1+1\",\"options\":{\"language\":\"javascript\"}");
	if (!client_reply(client, &ok) || !ok) {
		fprintf(stderr, "bench-service: a run of the measured client failed\n");
		exit(1);
	}
	return (double)(gb_now_ns() - start) / 1e3;
}

/* Add samples until there are @n and @ms have passed, or the disturbance (if any) has ended, or @max_ms have
 * passed. */
static void measure(struct client *client, struct samples *samples, size_t n, unsigned ms, unsigned max_ms,
    const struct disturbance *disturbance) {
	uint64_t start = gb_now_ns(), passed = 0;
	size_t first = samples->n;
	while (samples->n < SAMPLES_MAX && (samples->n - first < n || passed < ms * 1000000ull) &&
	       passed < max_ms * 1000000ull && !(disturbance && disturbance_has_ended(disturbance))) {
		samples->us[samples->n++] = run_once(client);
		passed = gb_now_ns() - start;
	}
}

/* --- cases --- */

/* In microseconds. */
struct figures {
	double p50, p99, max, arrival_p99;
	double alone_p99, alone_arrival_p99; /* without the disturbance */
	size_t n;
	unsigned done; /* what the disturbance has reported */
};

static struct samples before, during, after;

static void clear_samples(void) {
	before.n = during.n = after.n = 0;
}

static double larger(double a, double b) {
	return a > b ? a : b;
}

/* The larger p99 of the two undisturbed measurements counts. */
static struct figures figures_of(unsigned done) {
	return (struct figures){
	    .p50 = quantile(&during, 0.5),
	    .p99 = quantile(&during, 0.99),
	    .max = quantile(&during, 1),
	    .arrival_p99 = arrival_quantile(&during, 0.99),
	    .alone_p99 = larger(quantile(&before, 0.99), quantile(&after, 0.99)),
	    .alone_arrival_p99 = larger(arrival_quantile(&before, 0.99), arrival_quantile(&after, 0.99)),
	    .n = during.n,
	    .done = done,
	};
}

struct subject {
	const char *name, *settings;
	task_function *function;
	const char *what;
	const char *unit; /* of the number that the disturbance reports */
	/* A request that is sent before, so that its runtime is not cold. */
	const char *warm;
	bool (*is_possible)(void);
	struct figures (*bench)(const struct subject *subject, const struct asked *asked);
};

static size_t samples_wanted(const struct asked *asked) {
	return asked->quick ? 300 : 1500;
}

static void warm_up(struct client *client, const char *request) {
	bool ok = true;
	for (int i = 0; i < 20; i++)
		run_once(client);
	if (request)
		client_request(client, "run", request);
	if (request && (!client_reply(client, &ok) || !ok))
		fprintf(
		    stderr, "bench-service: a run failed: %s\n", client->got.data ? client->got.data : "");
}

/* The disturbance lasts until it is ended. Locks are shorter than the ten seconds for which requests wait. */
static struct figures bench_lasting(const struct subject *subject, const struct asked *asked) {
	struct server server;
	struct client client;
	struct disturbance disturbance;
	size_t n = samples_wanted(asked);
	unsigned ms = asked->quick ? 1000 : 5000;
	clear_samples();
	server_prepare(&server, subject->settings);
	server_start(&server);
	client_open(&client, &server);
	warm_up(&client, subject->warm);
	measure(&client, &before, n, 0, 8000, NULL);
	disturbance_start(&disturbance, &server, subject->function, subject->what);
	measure(&client, &during, n, ms, 9000, NULL);
	unsigned done = disturbance_end(&disturbance);
	for (uint64_t end = gb_now_ns() + SECOND_NS; gb_now_ns() < end;)
		run_once(&client);
	measure(&client, &after, n, 0, 8000, NULL);
	client_close(&client);
	server_end(&server);
	return figures_of(done);
}

/* The disturbance ends by itself after a short time: repeat it with other servers. */
static struct figures bench_short(const struct subject *subject, const struct asked *asked) {
	enum { ROUNDS_MAX = 60, EACH = 100, MAX_MS = 30000 };
	unsigned rounds = 0;
	clear_samples();
	for (; during.n < samples_wanted(asked) && rounds < (asked->quick ? 5 : ROUNDS_MAX); rounds++) {
		struct server server;
		struct client client;
		struct disturbance disturbance;
		server_prepare(&server, subject->settings);
		server_start(&server);
		client_open(&client, &server);
		warm_up(&client, subject->warm);
		measure(&client, &before, EACH, 0, MAX_MS, NULL);
		disturbance_start(&disturbance, &server, subject->function, subject->what);
		measure(&client, &during, SAMPLES_MAX, 0, MAX_MS, &disturbance);
		disturbance_end(&disturbance);
		/* The pool of the other runtime is being filled. */
		usleep(500000);
		measure(&client, &after, EACH, 0, MAX_MS, NULL);
		client_close(&client);
		server_end(&server);
	}
	return figures_of(rounds);
}

static void measure_alone(const struct subject *subject, const struct asked *asked, struct samples *samples) {
	struct server server;
	struct client client;
	server_prepare(&server, subject->settings);
	server_start(&server);
	client_open(&client, &server);
	warm_up(&client, NULL);
	measure(&client, samples, samples_wanted(asked), 0, 8000, NULL);
	client_close(&client);
	server_end(&server);
}

/* Pruning begins with the server: undisturbed is another one before, and this one when it has ended. */
static struct figures bench_pruning(const struct subject *subject, const struct asked *asked) {
	enum { PRUNING_MAX_MS = 300000 };
	struct server server;
	struct client client;
	struct disturbance disturbance;
	clear_samples();
	measure_alone(subject, asked, &before);
	server_prepare(&server, subject->settings);
	write_old_records(&server, asked->quick ? 100000 : 1000000);
	server_start(&server);
	client_open(&client, &server);
	disturbance_start(&disturbance, &server, subject->function, NULL);
	measure(&client, &during, SAMPLES_MAX, 0, PRUNING_MAX_MS, &disturbance);
	unsigned done = disturbance_end(&disturbance);
	measure(&client, &after, samples_wanted(asked), 0, 8000, NULL);
	client_close(&client);
	server_end(&server);
	return figures_of(done);
}

static struct figures bench_nothing(const struct subject *subject, const struct asked *asked) {
	clear_samples();
	measure_alone(subject, asked, &before);
	measure_alone(subject, asked, &during);
	measure_alone(subject, asked, &after);
	return figures_of(0);
}

static bool has_numpy(void) {
	return system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0;
}

#define ENDLESS_LIMITS "\"limits\":{\"outputBytes\":268435456,\"timeoutMs\":60000}"
#define PYTHON         "\"options\":{\"language\":\"python\"}"

static const struct subject subjects[] = {
    {"nothing else", SETTINGS, .bench = bench_nothing},
    {"turns.db is locked, agents wait", SETTINGS, lock_database, "turns.db", "replies",
	.bench = bench_lasting},
    {"energy.db is locked, agents wait",
	SETTINGS "energy: {faces: [execute_code], maximum: 1000, initial: 1000}\n", lock_database,
	"energy.db", "replies", .bench = bench_lasting},
    {"approvals.db is locked, agents wait", "agent: {enabled: true}\n", lock_database, "approvals.db",
	"replies", .bench = bench_lasting},
    {"audit.db is locked, agents wait", SETTINGS, lock_database, "audit.db", "replies",
	.bench = bench_lasting},
    {"Python starts", SETTINGS, send_once, "\"source\":\"1\"," PYTHON, "starts", .bench = bench_short},
    {"Python starts, profile data", SETTINGS, send_once,
	"\"source\":\"1\",\"options\":{\"language\":\"python\",\"profile\":\"data\"}", "starts",
	.is_possible = has_numpy, .bench = bench_short},
    {"a client reads nothing, console without end", SETTINGS, never_read,
	"\"source\":\"for (;;) console.log('x'.repeat(1000))\"," ENDLESS_LIMITS, "clients",
	.bench = bench_lasting},
    {"a client reads nothing, output without end", SETTINGS, never_read,
	"\"source\":\"while True: print('x' * 1000)\"," PYTHON "," ENDLESS_LIMITS, "clients",
	.warm = "\"source\":\"1\"," PYTHON, .bench = bench_lasting},
    {"messages of 38 MB", SETTINGS, send_large, NULL, "messages", .bench = bench_lasting},
    {"the audit log is pruned", SETTINGS, watch_pruning, NULL, "requests", .bench = bench_pruning},
};

/* --- printing --- */

static void print_json(const struct subject *subject, const struct figures *f, bool first) {
	printf("%s{\"name\":\"%s\",\"p50Ms\":%.4f,\"p99Ms\":%.4f,\"maxMs\":%.4f,", first ? "" : ",",
	    subject->name, f->p50 / 1e3, f->p99 / 1e3, f->max / 1e3);
	printf("\"undisturbedP99Ms\":%.4f,\"ratio\":%.2f,", f->alone_p99 / 1e3, f->p99 / f->alone_p99);
	printf("\"arrivals\":{\"p99Ms\":%.4f,\"undisturbedP99Ms\":%.4f,\"ratio\":%.2f},\"samples\":%zu",
	    f->arrival_p99 / 1e3, f->alone_arrival_p99 / 1e3, f->arrival_p99 / f->alone_arrival_p99, f->n);
	if (subject->unit)
		printf(",\"%s\":%u", subject->unit, f->done);
	printf("}");
}

static void print_row(const struct subject *subject, const struct figures *f) {
	double ratio = f->p99 / f->alone_p99, arrival_ratio = f->arrival_p99 / f->alone_arrival_p99;
	printf("  %-43s %8.3f %8.3f %8.3f %6.1f x %10.3f %6.1f x %8.1f  %s %zu samples", subject->name,
	    f->p50 / 1e3, f->p99 / 1e3, f->alone_p99 / 1e3, ratio, f->arrival_p99 / 1e3, arrival_ratio,
	    f->max / 1e3, ratio > TARGET || arrival_ratio > TARGET ? "OVER" : "    ", f->n);
	if (subject->unit)
		printf(", %u %s", f->done, subject->unit);
	printf("\n");
}

static void progress(const char *what) {
	if (isatty(STDERR_FILENO))
		fprintf(stderr, what ? "\r\033[Kmeasuring: %s …" : "\r\033[K", what);
}

static void bench_all(const struct asked *asked) {
	bool first = true;
	if (asked->json)
		printf("{\"target\":%d,\"cases\":[", TARGET);
	else
		printf("1+1 of a client, while                          p50 ms   p99 ms    alone    ratio    "
		       "arrivals "
		       "   ratio   max ms  (OVER: a ratio above %d)\n",
		    TARGET);
	for (size_t i = 0; i < GB_COUNT(subjects); i++) {
		const struct subject *subject = &subjects[i];
		if ((asked->only && !strstr(subject->name, asked->only)) ||
		    (subject->is_possible && !subject->is_possible()))
			continue;
		progress(subject->name);
		struct figures figures = subject->bench(subject, asked);
		progress(NULL);
		if (asked->json)
			print_json(subject, &figures, first);
		else
			print_row(subject, &figures);
		fflush(stdout);
		first = false;
	}
	if (asked->json)
		printf("]}\n");
}

static const char usage[] =
    "usage: bench-service [--quick] [--json] [--only TEXT]\n"
    "\n"
    "Starts 'glovebox stdio --socket' and measures a client that runs 1+1, one after the other: alone,\n"
    "and while another process keeps a database locked, a runtime starts, a client does not read, and so\n"
    "on. The ratio compares the p99 to that of the client alone, before and after, of which the larger\n"
    "counts. 'arrivals' is the p99 of requests that arrive every millisecond: a long stall delays many.\n"
    "\n"
    "  --quick      fewer repetitions: a look, not a measurement\n"
    "  --json       one JSON object\n"
    "  --only TEXT  only cases with this text in their name\n";

int main(int argc, char **argv) {
	static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
	    {"json", no_argument, NULL, 'j'}, {"only", required_argument, NULL, 'o'}, {0}};
	struct asked asked = {0};
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'q':
			asked.quick = true;
			break;
		case 'j':
			asked.json = true;
			break;
		case 'o':
			asked.only = optarg;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	bench_all(&asked);
	return 0;
}
