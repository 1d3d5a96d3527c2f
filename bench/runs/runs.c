/* Measuring runs of any language. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "limits/limits.h"
#include "runs/bench.h"

/* --- single runs --- */

bool bench_run(
    struct gb_engine *engine, const struct gb_run_options *options, double *ret_us, struct gb_err *err) {
	struct gb_run *run;
	uint64_t before = gb_now_ns();
	if (!gb_run_start(engine, options, &run, err))
		return false;
	const struct gb_result *result = gb_run_wait(run);
	*ret_us = (double)(gb_now_ns() - before) / 1e3;
	bool ok = result && result->status == GB_SUCCESS;
	if (!ok)
		gb_fail(err, GB_ESYSTEM, 0, "a run failed: %s", result ? result->error.message : "no result");
	gb_run_destroy(run);
	return ok;
}

/* Let the zygote refill the pool and the CPU go idle, as between two requests. */
static void rest(const struct bench_subject *subject, struct gb_engine *engine) {
	usleep(subject->spacing_us);
	gb_engine_dispatch(engine, 0, NULL);
}

/* Runs of one kind, after a few unmeasured ones: the caches are still filled by the other kind. */
static bool measure_some(
    const struct bench_subject *subject, struct gb_engine *engine, double *us, size_t n, struct gb_err *err) {
	enum { SETTLING = 5 };
	double ignored;
	for (size_t i = 0; i < SETTLING + n; i++, rest(subject, engine))
		if (!bench_run(engine, &subject->run, i < SETTLING ? &ignored : &us[i - SETTLING], err))
			return false;
	return true;
}

/* Alternate between a few of each kind, so that temporary load affects both. */
static bool measure_in_turns(const struct bench_subject *subject, struct gb_engine *cold,
    struct gb_engine *warm, struct samples *on_demand, struct samples *pooled, struct gb_err *err) {
	enum { BLOCK = 25 };
	for (size_t i = 0; i < on_demand->n; i += BLOCK) {
		size_t n = on_demand->n - i < BLOCK ? on_demand->n - i : BLOCK;
		if (!measure_some(subject, cold, on_demand->us + i, n, err) ||
		    !measure_some(subject, warm, pooled->us + i, n, err))
			return false;
	}
	return true;
}

bool bench_runs(const struct bench_subject *subject, struct samples *on_demand, struct samples *pooled,
    struct gb_err *err) {
	struct gb_engine *cold = NULL, *warm = NULL;
	const struct gb_engine_options none = {.ready = subject->ready, .shards = 1, .warm = GB_NONE},
				       some = {.ready = subject->ready, .shards = 1};
	bool ok = gb_limits_engine_create(subject->config, &none, &cold, err) &&
		  gb_limits_engine_create(subject->config, &some, &warm, err) &&
		  measure_in_turns(subject, cold, warm, on_demand, pooled, err);
	gb_engine_destroy(cold);
	gb_engine_destroy(warm);
	return ok;
}

/* --- sessions --- */

static bool ask_session(struct gb_engine *engine, const struct bench_subject *subject, const char *before,
    const char *ask, struct samples *samples, struct gb_err *err) {
	enum { SETTLING = 20 };
	struct gb_session *session;
	if (!gb_session_open(engine, subject->run.language, NULL, &session, err))
		return false;
	const struct gb_run_options first = {.session = session, .source = before},
				    then = {.session = session, .source = ask};
	double ignored;
	bool ok = bench_run(engine, &first, &ignored, err);
	for (int i = 0; i < SETTLING && ok; i++)
		ok = bench_run(engine, &then, &ignored, err);
	for (size_t i = 0; i < samples->n && ok; i++)
		ok = bench_run(engine, &then, &samples->us[i], err);
	gb_session_close(session);
	return ok;
}

bool bench_session(const struct bench_subject *subject, const char *before, const char *ask,
    struct samples *samples, struct gb_err *err) {
	struct gb_engine *engine;
	const struct gb_engine_options options = {.ready = subject->ready, .shards = 1};
	if (!gb_limits_engine_create(subject->config, &options, &engine, err))
		return false;
	bool ok = ask_session(engine, subject, before, ask, samples, err);
	gb_engine_destroy(engine);
	return ok;
}

/* --- throughput --- */

/* The work of one core: sequential runs until the time is over, as for the peers. Returns their
 * number. */
static long saturate(const struct bench_subject *subject, int cpu, double seconds) {
	struct gb_engine *engine;
	pin_to(cpu);
	const struct gb_engine_options options = {.ready = subject->ready, .shards = 1, .warm = GB_NONE};
	if (!gb_limits_engine_create(subject->config, &options, &engine, NULL))
		return -1;
	long done = 0;
	double ignored;
	for (uint64_t end = gb_now_ns() + (uint64_t)(seconds * 1e9); gb_now_ns() < end && done >= 0;)
		done = bench_run(engine, &subject->run, &ignored, NULL) ? done + 1 : -1;
	gb_engine_destroy(engine);
	return done;
}

/* An engine per core, each in a process of its own, as a server would have one per thread. */
bool bench_throughput(
    const struct bench_subject *subject, unsigned cpus, double seconds, double *ret_runs_per_s) {
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return false;
	gb_auto_fd int from = pipes[0], to = pipes[1];
	for (unsigned i = 0; i < cpus; i++) {
		if (fork() != 0)
			continue;
		long done = saturate(subject, cpu_number(i), seconds);
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

/* The private memory of a process in kB; 0 if it may not be read. */
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

/* The children of this process are zygotes; their children are cells. */
static double mean_of_cells(unsigned *ret_n) {
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
	*ret_n = n;
	return n ? total / n : 0;
}

bool bench_memory(
    const struct bench_subject *subject, double *ret_kb, double *ret_start_ms, struct gb_err *err) {
	struct gb_engine *engine;
	const struct gb_engine_options options = {.ready = subject->ready, .shards = 1, .warm = BENCH_WARM};
	uint64_t before = gb_now_ns();
	if (!gb_limits_engine_create(subject->config, &options, &engine, err))
		return false;
	*ret_start_ms = (double)(gb_now_ns() - before) / 1e6;
	/* Until all of them exist and have finished their preparation. */
	unsigned n = 0;
	for (int i = 0; i < 5000 && n < BENCH_WARM; i++, rest(subject, engine))
		*ret_kb = mean_of_cells(&n);
	for (int i = 0; i < 300; i++)
		rest(subject, engine);
	*ret_kb = mean_of_cells(&n);
	gb_engine_destroy(engine);
	return true;
}
