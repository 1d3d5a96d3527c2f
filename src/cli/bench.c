#include "cli/bench.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/cli.h"
#include "glovebox/glovebox.h"

enum { WARM_FOR_MEMORY = 32, SPACING_US = 1000 };

static const struct gb_run_options one_plus_one = {.source = "export default 1+1"};

struct figures {
	double ping_same, ping_cross, fork_floor;
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double runs_per_s;
	double waiting_kb; /* 0: not to be seen by this user */
	double start_ms;
	double call_50, call_99;  /* a bridge call, there and back */
	double out_gb_s, in_gb_s; /* a megabyte of typed array as an argument, as an answer */
	unsigned cpus;
};

/* --- single runs --- */

static bool run_once(struct gb_engine *engine, double *ret_us, struct gb_err *err) {
	struct gb_run *run;
	uint64_t before = gb_now_ns();
	if (!gb_run_start(engine, &one_plus_one, &run, err))
		return false;
	const struct gb_result *result = gb_run_wait(run);
	*ret_us = (double)(gb_now_ns() - before) / 1e3;
	bool ok = result && result->status == GB_SUCCESS && gb_value_as_number(result->value) == 2;
	if (!ok)
		gb_fail(err, GB_ESYSTEM, 0, "a run failed: %s", result ? result->error.message : "no result");
	gb_run_destroy(run);
	return ok;
}

/* Let the zygote refill, and the machine fall asleep a little, as between two requests. */
static void rest(struct gb_engine *engine) {
	usleep(SPACING_US);
	gb_engine_dispatch(engine, 0, NULL);
}

/* The two kinds of run in turns, so that a noisy minute hits both. */
static bool measure_in_turns(struct gb_engine *cold, struct gb_engine *warm, struct samples *on_demand,
    struct samples *pooled, struct gb_err *err) {
	double ignored;
	for (int i = 0; i < 20; i++, rest(cold), rest(warm))
		if (!run_once(cold, &ignored, err) || !run_once(warm, &ignored, err))
			return false;
	for (size_t i = 0; i < on_demand->n; i++) {
		if (!run_once(cold, &on_demand->us[i], err))
			return false;
		rest(cold);
		if (!run_once(warm, &pooled->us[i], err))
			return false;
		rest(warm);
	}
	return true;
}

static bool measure_runs(struct samples *on_demand, struct samples *pooled, struct gb_err *err) {
	struct gb_engine *cold = NULL, *warm = NULL;
	bool ok = gb_engine_create(&(struct gb_engine_options){.shards = 1, .warm = GB_NONE}, &cold, err) &&
		  gb_engine_create(&(struct gb_engine_options){.shards = 1}, &warm, err) &&
		  measure_in_turns(cold, warm, on_demand, pooled, err);
	gb_engine_destroy(cold);
	gb_engine_destroy(warm);
	return ok;
}

/* --- throughput --- */

/* One core's share: one run after the other until time is up, as the peers are measured too. Returns how
 * many. */
static long saturate(int cpu, double seconds) {
	struct gb_engine *engine;
	pin_to(cpu);
	const struct gb_engine_options options = {.shards = 1, .warm = GB_NONE};
	if (!gb_engine_create(&options, &engine, NULL))
		return -1;
	long done = 0;
	double ignored;
	for (uint64_t end = gb_now_ns() + (uint64_t)(seconds * 1e9); gb_now_ns() < end && done >= 0;)
		done = run_once(engine, &ignored, NULL) ? done + 1 : -1;
	gb_engine_destroy(engine);
	return done;
}

/* An engine per core, each in a process of its own, as a server would have one per thread. */
static bool measure_throughput(unsigned cpus, double seconds, double *ret_runs_per_s) {
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return false;
	gb_auto_fd int from = pipes[0], to = pipes[1];
	for (unsigned i = 0; i < cpus; i++) {
		if (fork() != 0)
			continue;
		long done = saturate(cpu_number(i), seconds);
		_exit(write(to, &done, sizeof done) != sizeof done);
	}
	gb_close_fd(&to);
	double total = 0;
	bool ok = true;
	for (unsigned i = 0; i < cpus; i++) {
		long done = -1;
		ok = ok && gb_read_all(from, &done, sizeof done) && done >= 0;
		total += (double)done;
	}
	while (wait(NULL) > 0)
		;
	*ret_runs_per_s = total / seconds;
	return ok;
}

/* --- memory --- */

static long parent_of(const char *pid) {
	char path[300], text[512];
	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	const char *after_name = strrchr(text, ')');
	long parent = -1;
	return after_name && sscanf(after_name + 1, " %*c %ld", &parent) == 1 ? parent : -1;
}

/* Memory that only this process has, in kB; 0 if we may not look. */
static double private_kb(const char *pid) {
	char path[300], line[256];
	snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
	FILE *file = fopen(path, "re");
	double total = 0, kb;
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Private_Dirty: %lf", &kb) == 1 ||
		    sscanf(line, "Private_Clean: %lf", &kb) == 1)
			total += kb;
	if (file)
		fclose(file);
	return total;
}

/* Grandchildren of ours are cells, since our children are zygotes. */
static double mean_of_cells(void) {
	DIR *proc = opendir("/proc");
	double total = 0;
	unsigned n = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		char parent[16];
		snprintf(parent, sizeof parent, "%ld", parent_of(entry->d_name));
		if (parent_of(parent) != getpid())
			continue;
		total += private_kb(entry->d_name);
		n++;
	}
	if (proc)
		closedir(proc);
	return n ? total / n : 0;
}

static bool measure_memory(double *ret_kb, double *ret_start_ms, struct gb_err *err) {
	struct gb_engine *engine;
	const struct gb_engine_options options = {.shards = 1, .warm = WARM_FOR_MEMORY};
	uint64_t before = gb_now_ns();
	if (!gb_engine_create(&options, &engine, err))
		return false;
	*ret_start_ms = (double)(gb_now_ns() - before) / 1e6;
	for (int i = 0; i < 100; i++)
		rest(engine);
	*ret_kb = mean_of_cells();
	gb_engine_destroy(engine);
	return true;
}

/* --- all of it --- */

static void progress(const char *what) {
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kmeasuring %s …", what);
}

static bool measure_floor(struct figures *figures, size_t n) {
	struct samples samples;
	if (!samples_init(&samples, n))
		return false;
	int here = cpu_number(0), there = cpu_number(figures->cpus > 1 ? 1 : 0);
	bool ok = bench_ping_pong(&samples, here, here);
	figures->ping_same = samples_quantile(&samples, 0.5);
	ok = ok && bench_ping_pong(&samples, here, there);
	figures->ping_cross = samples_quantile(&samples, 0.5);
	ok = ok && bench_fork(&samples, here, 1 << 20);
	figures->fork_floor = samples_quantile(&samples, 0.5);
	samples_finish(&samples);
	return ok;
}

static bool measure_latency(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples on_demand, pooled;
	if (!samples_init(&on_demand, n) || !samples_init(&pooled, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	pin_to(cpu_number(0));
	bool ok = measure_runs(&on_demand, &pooled, err);
	figures->on_demand_50 = samples_quantile(&on_demand, 0.5);
	figures->on_demand_99 = samples_quantile(&on_demand, 0.99);
	figures->pooled_50 = samples_quantile(&pooled, 0.5);
	figures->pooled_99 = samples_quantile(&pooled, 0.99);
	samples_finish(&on_demand);
	samples_finish(&pooled);
	return ok;
}

static bool measure_bridge(struct figures *figures, size_t n, struct gb_err *err) {
	struct samples samples;
	if (!samples_init(&samples, n))
		return gb_fail(err, GB_ENOMEM, 0, "samples");
	bool ok = bench_bridge(BENCH_CALL, &samples, err);
	figures->call_50 = samples_quantile(&samples, 0.5);
	figures->call_99 = samples_quantile(&samples, 0.99);
	samples.n = n / 4;
	ok = ok && bench_bridge(BENCH_MEGABYTE_OUT, &samples, err);
	figures->out_gb_s = 1e3 / samples_quantile(&samples, 0.5);
	ok = ok && bench_bridge(BENCH_MEGABYTE_IN, &samples, err);
	figures->in_gb_s = 1e3 / samples_quantile(&samples, 0.5);
	samples_finish(&samples);
	return ok;
}

static bool measure(struct figures *figures, bool quick, struct gb_err *err) {
	size_t n = quick ? 200 : 2000;
	figures->cpus = cpu_count();
	progress("the floor");
	if (!measure_floor(figures, n))
		return gb_fail(err, GB_ESYSTEM, 0, "the floor could not be measured");
	progress("single runs");
	if (!measure_latency(figures, n, err))
		return false;
	progress("bridge calls");
	if (!measure_bridge(figures, n, err))
		return false;
	progress("throughput");
	if (!measure_throughput(figures->cpus, quick ? 0.5 : 3, &figures->runs_per_s))
		return gb_fail(err, GB_ESYSTEM, 0, "throughput could not be measured");
	progress("memory");
	bool ok = measure_memory(&figures->waiting_kb, &figures->start_ms, err);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	return ok;
}

static void print_table(const struct figures *f) {
	printf("a fresh sandbox running 1+1                        p50 ms    p99 ms   ratio\n");
	printf("  forked on demand                                %7.3f   %7.3f   %.1f x the fork floor\n",
	    f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->on_demand_50 / f->fork_floor);
	printf("  from the warm pool, requests spaced             %7.3f   %7.3f   1/%.1f of on demand, %.1f "
	       "x ping-pong\n",
	    f->pooled_50 / 1e3, f->pooled_99 / 1e3, f->on_demand_50 / f->pooled_50,
	    f->pooled_50 / f->ping_same);
	printf("the floor, same run\n");
	printf("  socket ping-pong, one CPU                       %7.4f\n", f->ping_same / 1e3);
	printf("  socket ping-pong, two CPUs                      %7.4f\n", f->ping_cross / 1e3);
	printf("  fork + exit + wait of a 1 MB process            %7.4f\n", f->fork_floor / 1e3);
	printf("a call of a host function                       %7.4f   %7.4f   %.1f x ping-pong\n",
	    f->call_50 / 1e3, f->call_99 / 1e3, f->call_50 / f->ping_same);
	printf("  with 1 MB of typed array as argument, as answer %7.2f GB/s, %.2f GB/s\n", f->out_gb_s,
	    f->in_gb_s);
	printf("throughput, %u CPUs, an engine on each           %8.0f runs/s   %.2f x forks at the floor\n",
	    f->cpus, f->runs_per_s, f->runs_per_s / (f->cpus * 1e6 / f->fork_floor));
	if (f->waiting_kb > 0)
		printf("memory of a waiting sandbox, its own            %8.0f kB\n", f->waiting_kb);
	else
		printf("memory of a waiting sandbox                     only root may look\n");
	printf("engine start with %d warm sandboxes             %8.1f ms\n", WARM_FOR_MEMORY, f->start_ms);
}

static void print_json(const struct figures *f) {
	printf("{\"cpus\":%u,\"onDemandMs\":{\"p50\":%.4f,\"p99\":%.4f},\"pooledMs\":{\"p50\":%.4f,\"p99\":%."
	       "4f},"
	       "\"floorMs\":{\"pingPongOneCpu\":%.4f,\"pingPongTwoCpus\":%.4f,\"forkExitWait\":%.4f},"
	       "\"runsPerSecond\":%.0f,\"waitingSandboxKb\":%.0f,\"engineStartMs\":%.2f,"
	       "\"callMs\":{\"p50\":%.4f,\"p99\":%.4f},\"megabyteGBs\":{\"out\":%.2f,\"in\":%.2f},\"ratios\":"
	       "{\"callToPingPong\":%.2f,\"onDemandToFork\":%.2f,\"pooledToOnDemand\":%.3f,"
	       "\"pooledToPingPong\":%.2f}}\n",
	    f->cpus, f->on_demand_50 / 1e3, f->on_demand_99 / 1e3, f->pooled_50 / 1e3, f->pooled_99 / 1e3,
	    f->ping_same / 1e3, f->ping_cross / 1e3, f->fork_floor / 1e3, f->runs_per_s, f->waiting_kb,
	    f->start_ms, f->call_50 / 1e3, f->call_99 / 1e3, f->out_gb_s, f->in_gb_s,
	    f->call_50 / f->ping_same, f->on_demand_50 / f->fork_floor, f->pooled_50 / f->on_demand_50,
	    f->pooled_50 / f->ping_same);
}

enum { FLAG_JSON, FLAG_QUICK };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object"},
    [FLAG_QUICK] = {"quick", 0, NULL, "fewer repetitions: a look, not a measurement"},
    {0},
};

struct choice {
	bool json, quick;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct choice *choice = data;
	if (!flag)
		return complain(&command_bench, "takes no operand, but got '%s'", value);
	*(flag - flags == FLAG_JSON ? &choice->json : &choice->quick) = true;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct choice choice = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &choice);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	struct figures figures = {0};
	struct gb_err err = {0};
	if (!measure(&figures, choice.quick, &err)) {
		complain(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	if (choice.json)
		print_json(&figures);
	else
		print_table(&figures);
	return EXIT_OK;
}

const struct command command_bench = {
    .name = "bench",
    .synopsis = "[--quick] [--json]",
    .summary = "how fast it is here, against what the machine can do at best",
    .details = "Latency of single runs, throughput on all CPUs, memory of a waiting sandbox, and in the same "
	       "call the\n"
	       "physical floor: a socket ping-pong and a bare fork. Machines are noisy: trust the ratios.",
    .flags = flags,
    .run = run,
};
