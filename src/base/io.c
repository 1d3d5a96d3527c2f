#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

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

/* --- files named by the user --- */

static bool is_null_device(const struct stat *st) {
	return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 && minor(st->st_rdev) == 3;
}

/* A pipe from the shell's <(command), or standard input. */
static bool is_own_pipe(const char *path, const struct stat *st) {
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/", "/dev/stdin"};
	for (size_t i = 0; i < GB_COUNT(prefixes); i++)
		if (S_ISFIFO(st->st_mode) && strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool check_file_type(const char *path, const struct stat *st, struct gb_err *err) {
	if (S_ISREG(st->st_mode) || is_null_device(st) || is_own_pipe(path, st))
		return true;
	if (S_ISDIR(st->st_mode))
		return gb_fail(err, GB_EINVAL, EISDIR, "read '%s'", path);
	return gb_fail(err, GB_EINVAL, 0, "%s: is not a regular file", path);
}

bool gb_open_named(const char *path, int *ret_fd, struct gb_err *err) {
	struct stat st;
	if (stat(path, &st) != 0)
		return gb_fail(err, GB_ENOENT, errno, "open '%s'", path);
	if (!check_file_type(path, &st, err))
		return false;
	/* If the file was replaced by a FIFO since stat(), opening it without O_NONBLOCK would block. */
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		return gb_fail(err, GB_ENOENT, errno, "open '%s'", path);
	if (!check_file_type(path, &st, err))
		return false;
	/* Reads must block again: a pipe's writer may not have written yet. */
	if (fcntl(fd, F_SETFL, 0) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "open '%s'", path);
	*ret_fd = gb_take_fd(&fd);
	return true;
}
