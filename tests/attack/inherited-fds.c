/* Find inherited descriptors. */
#include "attack.h"
#include "sandbox/linux/protocol.h"

enum { FDS = 1024 };

static bool set_open_fds(struct stage *stage) {
	/* Without close-on-exec, as a careless host would open them. */
	for (int fd = 100; fd < 100 + ATTACK_MAX_STAGE_FDS; fd++) {
		if (dup2(STDERR_FILENO, fd) < 0)
			return false;
		stage->fds[stage->n_fds++] = fd;
	}
	return true;
}

/* close is the one allowed call that succeeds on every open descriptor, and on no other. */
ATTACK(find_an_open_descriptor, .precaution = true, .set = set_open_fds) {
	if (argument[0])
		syscall(SYS_dup2, 0, FDS - 1);
	for (int fd = GB_FD_CELL + 1; fd < FDS; fd++)
		if (close(fd) == 0)
			return fd;
	return -1;
}

/* stdin, stdout and stderr are /dev/null, the only file that accepts a write from an invalid address. */
ATTACK(find_a_terminal_behind_stdio, .precaution = true, .sanitizer_allows = true) {
	const char *nowhere = (const char *)16;
	if (argument[0])
		syscall(SYS_dup2, GB_FD_CELL, STDOUT_FILENO);
	for (int fd = 0; fd <= 2; fd++)
		if (syscall(SYS_write, fd, nowhere, 1) != 1)
			return fd;
	return fail_with(ENXIO);
}
