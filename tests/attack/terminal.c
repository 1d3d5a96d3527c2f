/* Type commands into the terminal of the user that started the host. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "attack.h"

static bool set_terminal(struct stage *stage) {
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	stage->fds[stage->n_fds++] = fd;
	char name[sizeof stage->argument];
	if (grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, name, sizeof name) != 0)
		return false;
	snprintf(stage->argument, sizeof stage->argument, "%s", name);
	return chmod(name, 0666) == 0;
}

/* Newer kernels require CAP_SYS_ADMIN. */
ATTACK(type_into_a_terminal, .layers = GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .set = set_terminal, .kernel_says = {EIO}, .sanitizer_allows = true) {
	struct tries tries = {0};
	long session = syscall(SYS_setsid);
	if (session < 0)
		try(&tries, session);
	long fd = syscall(SYS_openat, AT_FDCWD, argument, O_RDWR);
	if (fd < 0)
		try(&tries, fd);
	else
		try(&tries, syscall(SYS_ioctl, fd, TIOCSTI, "x"));
	return tries_end(&tries);
}

ATTACK(leave_the_session, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	return syscall(SYS_setsid);
}

/* They are counted for the whole machine as well, by kernel.pty.max. */
ATTACK(use_up_terminals, .layers = GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .sanitizer_allows = true) {
	enum { MORE_THAN_A_CELL_MAY_HAVE = 65 };
	for (int i = 0; i < MORE_THAN_A_CELL_MAY_HAVE; i++)
		if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
			return -1;
	return 0;
}
