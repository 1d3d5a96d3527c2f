/* The parts of bench-runs. All figures are measured in one call, on one machine. */
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
/* The quantile @part of the samples; sorts them. */
double samples_quantile(struct samples *samples, double part);

/* Pin this process to one CPU. */
void pin_to(int cpu);
/* The n-th CPU that this process may use, and their number. */
int cpu_number(unsigned n);
unsigned cpu_count(void);

/* --- the floor: lower bounds of the machine (floor.c) --- */

/* A byte to another process and back, over a socket pair; on one CPU or on two. */
bool bench_ping_pong(struct samples *samples, int cpu, int other_cpu);
/* fork, exit at once, wait, in a process that has dirtied @bytes. */
bool bench_fork(struct samples *samples, int cpu, size_t bytes);

/* A byte through a pipe to another process, and back through another. */
bool bench_pipes(struct samples *samples, int cpu);

/* A byte through a terminal to another process, and back. */
bool bench_terminal(struct samples *samples, int cpu);

/* --- other programs (program.c) --- */

/* Samples @from to @to: start @argv, which must succeed, and wait for its end. No samples if it is
 * missing. */
void bench_program(const char *const *argv, struct samples *samples, size_t from, size_t to);

/* --- runs (runs.c) --- */

enum { BENCH_WARM = 32 };

struct bench_subject {
	struct gb_run_options run;      /* must succeed */
	unsigned ready;                 /* of the engine's options */
	unsigned spacing_us;            /* between requests: enough to refill the pool */
	const struct gb_config *config; /* whose programs are used */
};

bool bench_run(
    struct gb_engine *engine, const struct gb_run_options *options, double *ret_us, struct gb_err *err);
/* The two kinds of run, alternating. */
bool bench_runs(const struct bench_subject *subject, struct samples *on_demand, struct samples *pooled,
    struct gb_err *err);
/* An engine per core, each in a process of its own, as a server would have one per thread. */
bool bench_throughput(
    const struct bench_subject *subject, unsigned cpus, double seconds, double *ret_runs_per_s);
/* The private memory of a waiting sandbox (0: this user may not read it), and the time until an
 * engine with BENCH_WARM of them was ready. */
bool bench_memory(
    const struct bench_subject *subject, double *ret_kb, double *ret_start_ms, struct gb_err *err);

/* Run @ask in a session repeatedly, after @before has run there. */
bool bench_session(const struct bench_subject *subject, const char *before, const char *ask,
    struct samples *samples, struct gb_err *err);

/* Show progress: what is being measured; NULL: clear it. */
void bench_progress(const char *what);

/* --- the figures of every language (figures.c) --- */

/* In microseconds, unless the name has another unit; 0: not available here. */
struct bench_figures {
	unsigned cpus;
	double on_demand_50, on_demand_99;
	double pooled_50, pooled_99;
	double live_50, live_99;     /* in a session */
	double plain_50, wrapped_50; /* other ways */
	double runs_per_s;
	double waiting_kb, start_ms;
};

/* Measure @n of each kind of run. */
bool bench_singles(
    const struct bench_subject *subject, size_t n, struct bench_figures *figures, struct gb_err *err);
/* The same, and 2 * @half times each of two other programs; NULL: none. */
struct bench_peers {
	const char *const *plain, *const *wrapped;
	size_t half;
};
bool bench_beside(const struct bench_subject *subject, const struct bench_peers *peers, size_t n,
    struct bench_figures *figures, struct gb_err *err);
bool bench_live(const struct bench_subject *subject, const char *before, const char *ask, size_t n,
    struct bench_figures *figures, struct gb_err *err);
/* Measure throughput on all CPUs for some seconds, and the memory of waiting sandboxes. */
bool bench_busy(
    const struct bench_subject *subject, double seconds, struct bench_figures *figures, struct gb_err *err);
bool bench_waiting(const struct bench_subject *subject, struct bench_figures *figures, struct gb_err *err);

void bench_print_singles(const struct bench_figures *figures);
void bench_print_peer(const char *name, double us, const struct bench_figures *figures);
void bench_print_memory(const struct bench_figures *figures);
/* Print the beginning of a JSON object with these figures. */
void bench_print_json(const struct bench_figures *figures);

/* --- all figures of a language (python.c, shell.c, node.c) --- */

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
