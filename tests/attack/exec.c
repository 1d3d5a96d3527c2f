/* Become another program. */
#include <fcntl.h>
#include <string.h>

#include "attack.h"

#define STOPPED_BY GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP

static char *const arguments[] = {"sh", "-c", "echo done exec >&3", NULL};

ATTACK(run_a_program, .layers = STOPPED_BY) {
	return syscall(SYS_execve, "/bin/sh", arguments, NULL);
}

ATTACK(run_a_program_by_execveat, .layers = STOPPED_BY) {
	return syscall(SYS_execveat, AT_FDCWD, "/bin/sh", arguments, NULL, 0);
}

ATTACK(run_a_program_from_memory, .layers = STOPPED_BY, .signal = 25) {
	static const char script[] = "#!/bin/sh\necho done exec >&3\n";
	long fd = syscall(SYS_memfd_create, "x", 0);
	if (fd < 0 || write((int)fd, script, strlen(script)) < 0)
		return -1;
	return syscall(SYS_execveat, fd, "", arguments, NULL, AT_EMPTY_PATH);
}
