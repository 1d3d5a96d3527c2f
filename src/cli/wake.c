#include "cli/wake.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event = -1;

/* Made before a handler is installed that needs it. */
int wake_fd(void) {
	if (event < 0)
		event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return event;
}

void wake_note(int signal_number) {
	const int error = errno;
	const uint64_t one = 1;
	(void)signal_number;
	if (event >= 0)
		(void)!write(event, &one, sizeof one);
	errno = error;
}

void wake_clear(void) {
	uint64_t count;
	if (event >= 0)
		(void)!read(event, &count, sizeof count);
}

bool wake_wait(int fd) {
	struct pollfd fds[] = {{fd, POLLIN, 0}, {wake_fd(), POLLIN, 0}};
	const int ready = poll(fds, 2, -1);
	if (ready < 0 ? errno != EINTR : !fds[1].revents)
		return true;
	wake_clear();
	return false;
}
