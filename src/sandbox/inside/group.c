#include "sandbox/inside/group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The kernel judges the write by who has opened the file, which is the host; 0 is whoever writes. */
static const char *join(int fd) {
	if (write(fd, "0", 1) != 1)
		return "join a control group";
	char listed[32], own[32];
	ssize_t n = pread(fd, listed, sizeof listed - 1, 0);
	int length = snprintf(own, sizeof own, "%d\n", (int)getpid());
	errno = 0;
	return n != length || memcmp(listed, own, (size_t)length) != 0 ? "be alone in a control group" : NULL;
}

const char *gb_group_join(const int *fds, size_t n) {
	const char *failed = NULL;
	for (size_t i = 0; i < n && !failed; i++)
		failed = join(fds[i]);
	return failed;
}
