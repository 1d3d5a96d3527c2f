/*
 * An attack: something that code inside a sandbox must not be able to do, as a probe that tries it.
 *
 *	#include "attack.h"
 *
 *	ATTACK(change_the_root, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = GB_LAYER_USER) {
 *		return chroot("/");
 *	}
 *
 * That is a whole file. It is compiled twice: into attack-worker, which runs the probe inside sandboxes, and into
 * test-attacks, which selects their layers and evaluates the result:
 *
 *	the full wall			the attack must fail, in every kind of room
 *	each of .layers, alone		it must fail: each layer stops it without the others
 *	.control			it must succeed: the probe itself works
 *
 * A probe returns what system calls return: not negative when the attack worked, else -1 and errno.
 */
#ifndef GB_TESTS_ATTACK_H
#define GB_TESTS_ATTACK_H

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "sandbox/linux/plan.h"

enum { ATTACK_MAX_KERNEL_SAYS = 6, ATTACK_MAX_STAGE_FDS = 4 };

/* Targets that the host prepares for one attack. */
struct stage {
	char argument[120]; /* for the probe */
	char dir[40];       /* a folder with mode 0777; removed with its content */
	pid_t victim;       /* a process of the sandbox's user; killed afterwards */
	int fds[ATTACK_MAX_STAGE_FDS];
	unsigned n_fds;
	int ipc_id;
};

struct attack {
	const char *name;
	long (*probe)(const char *argument);
	unsigned layers;  /* each of these stops it alone */
	unsigned control; /* the smallest set of layers with which it succeeds; usually none */
	/* For attacks that fail for ordinary users everywhere, or that must never take effect: the errnos with
	 * which the kernel itself answers in the control. */
	int kernel_says[ATTACK_MAX_KERNEL_SAYS];
	int signal;       /* a sandbox may also answer with this signal */
	int landlock_abi; /* Landlock stops it since this version */
	/* It is stopped by a precaution of the worker and not by a layer. The probe takes it itself, unless its
	 * argument is "careless", as it is in the control. */
	bool precaution;
	/* In a room with files it is no attack: there are files, threads and timers, of the cell's own. */
	bool files_allow;
	/* Nor in a room with programs, where programs are started and have a network to themselves. */
	bool programs_allow;
	/* The filter of a sanitizer's build lets it through. */
	bool sanitizer_allows;
	/* On the host, before and after. False: cannot be done here. */
	bool (*set)(struct stage *stage);
	void (*strike)(struct stage *stage);
};

#define ATTACK(id, ...)                                                                                      \
	static long probe_##id(const char *argument);                                                        \
	static const struct attack attack_##id = {.name = #id, .probe = probe_##id, __VA_ARGS__};            \
	__attribute__((section("attacks"), used)) static const struct attack *const entry_##id =             \
	    &attack_##id;                                                                                    \
	static long probe_##id(__attribute__((unused)) const char *argument)

/* All attacks, collected by the linker. */
extern const struct attack *const __start_attacks[];
extern const struct attack *const __stop_attacks[];

/* --- in probes --- */

/* Several ways to do one thing: it worked if one of them did.
 *
 *	struct tries tries = {0};
 *	try(&tries, syscall(SYS_fork));
 *	try(&tries, syscall(SYS_vfork));
 *	return tries_end(&tries);
 *
 * When all failed, errno is the one that all had; if they differ, one that differs from the first. */
struct tries {
	bool worked;
	int error;
	bool differs;
};

static inline void try(struct tries *tries, long returned) {
	int error = errno;
	if (returned >= 0) {
		tries->worked = true;
	} else if (!tries->error) {
		tries->error = error;
	} else if (error != tries->error && !tries->differs) {
		tries->error = error;
		tries->differs = true;
	}
}

static inline long tries_end(const struct tries *tries) {
	errno = tries->error;
	return tries->worked ? 0 : -1;
}

/* The attack failed, although no call did. */
static inline long fail_with(int error) {
	errno = error;
	return -1;
}

/* --- for stages: stage.c --- */

/* A folder with mode 0777; its path is the argument. */
bool stage_dir(struct stage *stage);
/* A process that waits, with the user and group that a sandbox has; its pid is the argument. */
bool stage_victim(struct stage *stage);

#endif
