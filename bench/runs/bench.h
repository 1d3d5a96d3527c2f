/* The parts of bench-runs. Every figure is taken in the same call, on the same machine, in the same
 * hour. */
#ifndef GB_CLI_BENCH_H
#define GB_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
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

/* --- the floor: what the machine cannot go below (floor.c) --- */

/* A byte to another process and back, over a socket pair; on one CPU or on two. */
bool bench_ping_pong(struct samples *samples, int cpu, int other_cpu);
/* fork, exit at once, wait, in a process that has dirtied @bytes. */
bool bench_fork(struct samples *samples, int cpu, size_t bytes);

/* A byte through a pipe to another process, and back through another. */
bool bench_pipes(struct samples *samples, int cpu);

/* A byte through a terminal to another process, and back. */
bool bench_terminal(struct samples *samples, int cpu);

/* --- other programs (program.c) --- */

/* Samples @from to @to: start @argv, which must end well, and wait for that. Without it there are none. */
void bench_program(const char *const *argv, struct samples *samples, size_t from, size_t to);

/* --- runs (runs.c) --- */

enum { BENCH_WARM = 32 };

struct bench_subject {
	struct gb_run_options run;      /* must succeed */
	unsigned ready;                 /* of the engine's options */
	unsigned spacing_us;            /* between requests: enough for the pool to be full again */
	const struct gb_config *config; /* whose programs are used */
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

/* Asking a session for @ask, once @before has run there. */
bool bench_session(const struct bench_subject *subject, const char *before, const char *ask,
    struct samples *samples, struct gb_err *err);

/* Say what is being measured; NULL: nothing any more. */
void bench_progress(const char *what);

/* --- what is told of every language (figures.c) --- */

/* In microseconds, unless a name says otherwise; 0: not to be had here. */
struct bench_figures {
	unsigned cpus;
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double live_50, live_99;     /* in a session */
	double plain_50, wrapped_50; /* other ways */
	double runs_per_s;
	double waiting_kb, start_ms;
};

/* @n of each kind of run. */
bool bench_singles(
    const struct bench_subject *subject, size_t n, struct bench_figures *figures, struct gb_err *err);
/* The same, and 2 * @half times each of two other ways; NULL: there is none. */
struct bench_peers {
	const char *const *plain, *const *wrapped;
	size_t half;
};
bool bench_beside(const struct bench_subject *subject, const struct bench_peers *peers, size_t n,
    struct bench_figures *figures, struct gb_err *err);
bool bench_live(const struct bench_subject *subject, const char *before, const char *ask, size_t n,
    struct bench_figures *figures, struct gb_err *err);
/* On all CPUs for some seconds; and what waiting costs. */
bool bench_busy(
    const struct bench_subject *subject, double seconds, struct bench_figures *figures, struct gb_err *err);
bool bench_waiting(const struct bench_subject *subject, struct bench_figures *figures, struct gb_err *err);

void bench_print_singles(const struct bench_figures *figures);
void bench_print_peer(const char *name, double us, const struct bench_figures *figures);
void bench_print_memory(const struct bench_figures *figures);
/* The beginning of an object, with what was measured of these. */
void bench_print_json(const struct bench_figures *figures);

/* --- the whole of a language (python.c, shell.c, node.c) --- */

struct bench_asked {
	const struct gb_config *config;
	bool quick, json;
};

bool bench_python(const struct bench_asked *asked, struct gb_err *err);
bool bench_shell(const struct bench_asked *asked, struct gb_err *err);
bool bench_node(const struct bench_asked *asked, struct gb_err *err);
bool bench_crowd(const struct bench_asked *asked, struct gb_err *err);

enum bench_bridge { BENCH_CALL, BENCH_MEGABYTE_OUT, BENCH_MEGABYTE_IN };

/* Calls of a host function, one after the other. */
bool bench_bridge(enum bench_bridge what, struct samples *samples, struct gb_err *err);

#endif
