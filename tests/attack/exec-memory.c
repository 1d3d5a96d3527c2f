/* Make executable memory: the next step of an attacker after compromising an interpreter. */
#include <sys/mman.h>

#include "attack.h"

enum { PAGE = 4096 };

static char page[2 * PAGE] __attribute__((aligned(PAGE)));

ATTACK(map_executable_memory, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1
													 : 0;
}

ATTACK(make_memory_executable, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_mprotect, page, PAGE, PROT_READ | PROT_EXEC));
	/* Bits that the kernel ignores do not hide the one that it does not. */
	try(&tries, syscall(SYS_mprotect, page, PAGE, PROT_READ | PROT_EXEC | (1UL << 40)));
	try(&tries, syscall(SYS_pkey_mprotect, page, PAGE, PROT_READ | PROT_EXEC, -1));
	return tries_end(&tries);
}

ATTACK(map_memory_twice, .layers = GB_LAYER_SECCOMP) {
	long fd = syscall(SYS_memfd_create, "x", 0);
	if (fd < 0 || ftruncate((int)fd, PAGE) != 0)
		return -1;
	void *writable = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	void *executable = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, (int)fd, 0);
	return writable == MAP_FAILED || executable == MAP_FAILED ? -1 : 0;
}

/* Reading would imply executing from then on. */
ATTACK(make_all_memory_executable, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_personality, 0x0400000 /* READ_IMPLIES_EXEC */);
}

ATTACK(map_secret_memory, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS}) {
	return syscall(SYS_memfd_secret, 0);
}

ATTACK(remap_the_file_behind_memory, .layers = GB_LAYER_SECCOMP, .kernel_says = {EINVAL, ENOSYS}) {
	return syscall(SYS_remap_file_pages, page, PAGE, 0, 0, 0);
}
