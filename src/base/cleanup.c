#include "base/cleanup.h"

#include <errno.h>

void gb_close_fd(int *fd) {
	if (*fd < 0)
		return;
	int saved_errno = errno;
	close(*fd);
	*fd = -1;
	errno = saved_errno;
}
