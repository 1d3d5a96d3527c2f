#include "base/accept.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

int gb_accept_reserve(void) {
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

void gb_reset(int fd) {
	static const struct linger at_once = {1, 0};
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
}

int gb_accept(int listener, int *reserve, bool *ret_full) {
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	*ret_full = false;
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
		return fd;
	gb_close_fd(reserve);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	*ret_full = fd >= 0;
	if (fd >= 0)
		gb_reset(fd);
	*reserve = gb_accept_reserve();
	return -1;
}
