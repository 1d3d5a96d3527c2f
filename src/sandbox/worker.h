/*
 * The sandbox as a worker program sees it, from inside. A worker program defines a struct gb_worker and calls
 * gb_zygote_main(), which makes the process a zygote: a process that enters the sandbox, prepares an
 * interpreter once, and forks a cell for each run.
 *
 *	int main(void) {
 *		static const struct gb_worker worker = {.init = init, .prime = prime, .serve = serve};
 *		return gb_zygote_main(&worker);
 *	}
 *
 * This is the only header of src/sandbox that src/runtime uses. Workers link the child's side of the port and
 * do not use port.h.
 */
#ifndef GB_SANDBOX_WORKER_H
#define GB_SANDBOX_WORKER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct gb_worker {
	/* Runs once, in the zygote, after all layers are raised: prepare what every cell inherits. @profile
	 * is the plan's. */
	bool (*init)(const char *profile);
	/* Runs in a warm cell, before its job arrives: touch the memory that a run will use. May be NULL. */
	void (*prime)(void);
	/* Runs in a cell: read one job from @fd, run it, send the answer. The process exits when this
	 * returns. */
	void (*serve)(int fd);
	/* Handler of SIGINT and GB_SIGNAL_AGAIN. It is installed before the seccomp filter, which may forbid
	 * sigaction. @info has the number of the job to interrupt. May be NULL. */
	void (*on_interrupt)(int signal_number, siginfo_t *info, void *context);
	/* Block both signals instead, until a cell unblocks them. */
	bool holds_interrupts;
	/* Write the version of its interpreter to @ret, of @n bytes. Runs once, in the zygote. May be
	 * NULL. */
	void (*version)(char *ret, size_t n);
};

/* Whether its cells are of the network tier: their network reaches hosts. From .init on. */
bool gb_worker_has_network(void);

/* Whether /box is a folder of the host's (gb_plan_work_in), and not one of the cell's own. From .init on. */
bool gb_worker_has_workdir(void);

/* The fetch channel of a cell in an empty room, if it is of the network tier: see egress/fetch.h. */
enum { GB_FD_FETCH = 4 };

/* Does not return: exits after the host has died or has closed the control socket. */
int gb_zygote_main(const struct gb_worker *worker);

/* Repeats an interrupt that was sent before, to wake a worker that missed it. Guest programs do not use this
 * signal. */
#define GB_SIGNAL_AGAIN SIGURG

/* Exit statuses of a cell that ends without an answer. */
enum {
	/* The program of a warm cell died before it read its job: no code has run, and the job can be given
	 * to another cell. */
	GB_CELL_EXIT_UNUSED = 97,
	/* The program of a session has ended between two runs. */
	GB_CELL_EXIT_PROGRAM = 98,
	/* The processes of a session needed more memory than it may have, between two runs. */
	GB_CELL_EXIT_MEMORY = 99,
	/* The worker cannot measure the memory of its processes. This measurement is part of the cgroup
	 * layer. */
	GB_CELL_EXIT_NOT_COUNTED = 110,
};

/* A cell with a control group of its own has these descriptors, each to be read from offset 0: the memory
 * that all its processes use (memory.current, memory.usage_in_bytes), its breakdown by kind (memory.stat),
 * and the number of out-of-memory kills (memory.events, memory.oom_control). In other cells they are
 * closed. */
enum { GB_FD_GROUP_USAGE = 4, GB_FD_GROUP_STAT = 5, GB_FD_GROUP_EVENTS = 6 };

#endif
