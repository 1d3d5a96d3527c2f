/* The parts of 'glovebox bench'. Every figure is taken in the same call, on the same machine, in the same
 * hour. */
#ifndef GB_CLI_BENCH_H
#define GB_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "glovebox/err.h"

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

enum bench_bridge { BENCH_CALL, BENCH_MEGABYTE_OUT, BENCH_MEGABYTE_IN };

/* Calls of a host function, one after the other. */
bool bench_bridge(enum bench_bridge what, struct samples *samples, struct gb_err *err);

#endif
