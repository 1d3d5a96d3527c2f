#include "base/claim.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The name as /proc/net/unix shows it, with '@' in place of NUL. Other processes may hold the same claim, so a random
 * number follows. */
static int write_name(char *to, size_t n, uint32_t uid, uint16_t port) {
	return snprintf(to, n, "@glovebox/listens/%u/%u/", uid, port);
}

bool gb_claim_port(uint16_t port, int *ret_fd, struct gb_err *err) {
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	uint64_t number = 0;
	gb_auto_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || getrandom(&number, sizeof number, 0) != sizeof number)
		return gb_fail(err, GB_ESYSTEM, errno, "claim port %u", port);
	int n = write_name(name.sun_path, sizeof name.sun_path, getuid(), port);
	n +=
	    snprintf(name.sun_path + n, sizeof name.sun_path - (size_t)n, "%llx", (unsigned long long)number);
	name.sun_path[0] = '\0';
	if (bind(fd, (const struct sockaddr *)&name,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "claim port %u", port);
	*ret_fd = gb_take_fd(&fd);
	return true;
}

bool gb_claim_is_held(int sockets, uint32_t uid, uint16_t port) {
	char block[4096 + 64], name[64];
	size_t kept = 0;
	ssize_t got;
	const size_t n = (size_t)write_name(name, sizeof name, uid, port);
	if (lseek(sockets, 0, SEEK_SET) != 0)
		return true;
	while ((got = read(sockets, block + kept, 4096)) > 0) {
		const size_t all = kept + (size_t)got;
		if (memmem(block, all, name, n))
			return true;
		kept = all < n ? all : n;
		memmove(block, block + all - kept, kept);
	}
	return got < 0;
}
