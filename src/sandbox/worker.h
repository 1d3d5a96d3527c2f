/*
 * The sandbox as a worker program sees it, from inside. A worker is this and three functions; main() becomes
 * a zygote: a process that walls itself in, prepares an interpreter once, and forks a cell for each run.
 *
 *	int main(void) {
 *		static const struct gb_worker worker = {.init = init, .prime = prime, .serve = serve};
 *		return gb_zygote_main(&worker);
 *	}
 *
 * It is the only header of src/sandbox that src/runtime uses. Workers link the child's side of the port, and
 * not port.h.
 */
#ifndef GB_SANDBOX_WORKER_H
#define GB_SANDBOX_WORKER_H

#include <signal.h>
#include <stdbool.h>

struct gb_worker {
	/* Once, in the zygote, behind the wall: make ready what every cell shall inherit. @profile is the
	 * plan's. */
	bool (*init)(const char *profile);
	/* In a cell that has time before its job comes: touch what a run will touch. May be NULL. */
	void (*prime)(void);
	/* In a cell: read one job from @fd, do it, answer. The process ends when this returns. */
	void (*serve)(int fd);
	/* What SIGINT and GB_SIGNAL_AGAIN do, set before the filter, which may forbid that; @info has the
	 * number of the job that is meant. May be NULL. */
	void (*on_interrupt)(int signal_number, siginfo_t *info, void *context);
	/* Or they are held until a cell asks for them. */
	bool holds_interrupts;
};

/* Does not return before the host is gone or has let go of the zygote. */
int gb_zygote_main(const struct gb_worker *worker);

/* An interrupt that was sent before, to wake a worker that missed it. Programs do not know it. */
#define GB_SIGNAL_AGAIN SIGURG

/* A cell that ends without an answer says why by its exit status. */
enum {
	/* The program of a warm cell has died before it read its job: no code has run, and another cell can
	 * have the job. */
	GB_CELL_EXIT_UNUSED = 97,
	/* The program of a session has ended between two runs. */
	GB_CELL_EXIT_PROGRAM = 98,
	/* The processes of a session needed more memory than it may have, between two runs. */
	GB_CELL_EXIT_MEMORY = 99,
	/* The worker cannot count the memory of its processes, which is part of a layer. */
	GB_CELL_EXIT_NOT_COUNTED = 110,
};

/* Where the system counts the memory of each cell, a cell finds these descriptors, to be read from their
 * beginning: what all its processes use (memory.current, memory.usage_in_bytes), of what kind that is
 * (memory.stat), and how often the kernel has ended one for want of memory (memory.events,
 * memory.oom_control). In other cells they are closed. */
enum { GB_FD_GROUP_USAGE = 4, GB_FD_GROUP_STAT = 5, GB_FD_GROUP_EVENTS = 6 };

#endif
