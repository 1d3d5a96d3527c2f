/* Become another program. */
#include <fcntl.h>
#include <signal.h>

#include "attack.h"

#define STOPPED_BY GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP

static char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)"echo done exec >&3", NULL};

ATTACK(run_a_program, .programs_allow = true, .layers = STOPPED_BY) {
	return syscall(SYS_execve, "/bin/sh", arguments, NULL);
}

ATTACK(run_a_program_by_execveat, .layers = STOPPED_BY) {
	return syscall(SYS_execveat, AT_FDCWD, "/bin/sh", arguments, NULL, 0);
}

ATTACK(run_a_program_from_memory, .layers = STOPPED_BY, .signal = SIGXFSZ) {
	long memory = syscall(SYS_memfd_create, "x", 0);
	long file = memory < 0 ? -1 : syscall(SYS_openat, AT_FDCWD, "/bin/sh", O_RDONLY);
	if (file < 0 || syscall(SYS_sendfile, memory, file, NULL, 64 << 20) <= 0)
		return -1;
	return syscall(SYS_execveat, memory, "", arguments, NULL, AT_EMPTY_PATH);
}
