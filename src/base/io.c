#include "base/io.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

bool gb_write_all(int fd, const void *bytes, size_t n) {
	const char *at = bytes;
	while (n > 0) {
		ssize_t done = send(fd, at, n, MSG_NOSIGNAL);
		if (done < 0 && errno == ENOTSOCK)
			done = write(fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

bool gb_read_all(int fd, void *bytes, size_t n) {
	char *at = bytes;
	while (n > 0) {
		ssize_t done = read(fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

bool gb_read_to_end(int fd, const char *name, struct gb_buf *buf, struct gb_err *err) {
	enum { STEP = 64 << 10 };
	for (;;) {
		size_t room = buf->max - buf->len < STEP ? buf->max - buf->len + 1 : STEP;
		char block[STEP];
		ssize_t done = read(fd, block, room);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return gb_fail(err, GB_ESYSTEM, errno, "read '%s'", name);
		if (done == 0)
			return true;
		gb_buf_append(buf, block, (size_t)done);
		if (gb_buf_failed(buf))
			return gb_fail(err, GB_ELIMIT, 0, "'%s' is larger than %zu bytes", name, buf->max);
	}
}

uint64_t gb_now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
