/* Use more memory than there is for a run. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "attack.h"

enum { LIMIT = 64 << 20, STEP = 16 << 20, ENOUGH = 1 << 30, TOUCHED = 300 << 20 };

/* The worker sets its limit before it reads the code; the limit must stay. */
ATTACK(reserve_much_memory, .precaution = true) {
	if (!argument[0] && setrlimit(RLIMIT_AS, &(struct rlimit){LIMIT, LIMIT}) != 0)
		return fail_with(EPROTO);
	(void)setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
	long reserved = 0;
	for (; reserved < ENOUGH; reserved += STEP)
		if (mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0) == MAP_FAILED)
			return -1;
	return reserved;
}

/* Where there is a control group, it counts what all runs of an engine really use. */
ATTACK(use_much_memory, .layers = GB_LAYER_CGROUP, .signal = SIGKILL) {
	char *bytes = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return -1;
	for (long i = 0; i < TOUCHED; i += 4096)
		bytes[i] = 1;
	return TOUCHED;
}

ATTACK(hide_memory_in_a_memfd, .layers = GB_LAYER_RLIMIT | GB_LAYER_SECCOMP, .signal = SIGXFSZ) {
	long fd = syscall(SYS_memfd_create, "x", 0);
	return fd < 0 ? -1 : syscall(SYS_ftruncate, fd, (long)ENOUGH);
}

ATTACK(lock_memory, .layers = GB_LAYER_SECCOMP) {
	char page[64];
	return syscall(SYS_mlock, page, sizeof page);
}

/* The pages stay when the mapping shrinks, and no process has them then. These rooms are planned without
 * control groups for their cells, which would count them. */
ATTACK(keep_memory_that_is_not_mapped, .layers = GB_LAYER_SECCOMP) {
	enum { SIZE = 1 << 20, PAGE = 4096 };
	char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return -1;
	for (long i = 0; i < SIZE; i += PAGE)
		bytes[i] = 1;
	return mremap(bytes, SIZE, PAGE, 0) == MAP_FAILED ? -1 : 0;
}

/* A page far from all others needs page tables of its own, which no limit of a process counts. In a
 * room with programs the control group or the keeper does. */
ATTACK(spread_memory_over_the_address_space, .programs_allow = true, .layers = GB_LAYER_SECCOMP,
    .sanitizer_allows = true) {
	enum { PAGE = 4096 };
	char *far_away = (char *)(1ull << 44);
	struct tries tries = {0};
	void *page =
	    mmap(far_away, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	try(&tries, page == MAP_FAILED ? -1 : 0);
	page = mmap(far_away + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	try(&tries, page == MAP_FAILED ? -1 : 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page = page == MAP_FAILED
		   ? page
		   : mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, far_away + 2 * PAGE);
	try(&tries, page == MAP_FAILED ? -1 : 0);
	return tries_end(&tries);
}
