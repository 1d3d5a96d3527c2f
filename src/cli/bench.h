/* The parts of 'glovebox bench'. Every figure is taken in the same call, on the same machine, in the same
 * hour. */
#ifndef GB_CLI_BENCH_H
#define GB_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "glovebox/glovebox.h"

/* Times of many repetitions, in microseconds. */
struct samples {
	double *us;
	size_t n;
};

bool samples_init(struct samples *samples, size_t n);
void samples_finish(struct samples *samples);
/* @part of the samples are at most this; sorts them. */
double samples_quantile(struct samples *samples, double part);

/* Run on one CPU from now on, and on which. */
void pin_to(int cpu);
/* The n-th CPU that this process may use, and how many there are. */
int cpu_number(unsigned n);
unsigned cpu_count(void);

/* --- the floor: what the machine cannot go below (bench_floor.c) --- */

/* A byte to another process and back, over a socket pair; on one CPU or on two. */
bool bench_ping_pong(struct samples *samples, int cpu, int other_cpu);
/* fork, exit at once, wait, in a process that has dirtied @bytes. */
bool bench_fork(struct samples *samples, int cpu, size_t bytes);

/* A byte through a pipe to another process, and back through another. */
bool bench_pipes(struct samples *samples, int cpu);

/* A byte through a terminal to another process, and back. */
bool bench_terminal(struct samples *samples, int cpu);

/* --- other programs (bench_program.c) --- */

/* Samples @from to @to: start @argv, which must end well, and wait for that. Without it there are none. */
void bench_program(const char *const *argv, struct samples *samples, size_t from, size_t to);

/* --- runs (bench_runs.c) --- */

enum { BENCH_WARM = 32 };

struct bench_subject {
	struct gb_run_options run; /* must succeed */
	unsigned ready;            /* of the engine's options */
	unsigned spacing_us;       /* between requests: enough for the pool to be full again */
};

bool bench_run(
    struct gb_engine *engine, const struct gb_run_options *options, double *ret_us, struct gb_err *err);
/* The two kinds of run, in turns. */
bool bench_runs(const struct bench_subject *subject, struct samples *on_demand, struct samples *pooled,
    struct gb_err *err);
/* An engine per core, each in a process of its own, as a server would have one per thread. */
bool bench_throughput(
    const struct bench_subject *subject, unsigned cpus, double seconds, double *ret_runs_per_s);
/* Memory that is a waiting sandbox's own (0: not to be seen by this user), and how long it took until an
 * engine with BENCH_WARM of them was there. */
bool bench_memory(
    const struct bench_subject *subject, double *ret_kb, double *ret_start_ms, struct gb_err *err);

/* Asking a session for x, which @set_x has defined. */
bool bench_session(enum gb_language language, const char *set_x, struct samples *samples, struct gb_err *err);

/* Say what is being measured; NULL: nothing any more. */
void bench_progress(const char *what);

/* --- the whole of Python, and of Node.js (bench_python.c, bench_node.c) --- */

bool bench_python(bool quick, bool json, struct gb_err *err);
bool bench_node(bool quick, bool json, struct gb_err *err);

/* --- the whole of the shell (bench_shell.c) --- */

bool bench_shell(bool quick, bool json, struct gb_err *err);

enum bench_bridge { BENCH_CALL, BENCH_MEGABYTE_OUT, BENCH_MEGABYTE_IN };

/* Calls of a host function, one after the other. */
bool bench_bridge(enum bench_bridge what, struct samples *samples, struct gb_err *err);

#endif
