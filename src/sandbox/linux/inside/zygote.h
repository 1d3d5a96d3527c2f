/*
 * The program inside: a zygote that walls itself in, prepares an interpreter once, and forks a cell for
 * each run. A worker program is this and three functions:
 *
 *	int main(void) {
 *		static const struct gb_worker worker = {.init = init, .prime = prime, .serve = serve};
 *		return gb_zygote_main(&worker);
 *	}
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_ZYGOTE_H
#define GB_SANDBOX_LINUX_INSIDE_ZYGOTE_H

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

#endif
