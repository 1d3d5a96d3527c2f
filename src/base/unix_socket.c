#include "base/unix_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

void gb_unix_socket_init(struct gb_unix_socket *own) {
	*own = (struct gb_unix_socket){.fd = -1, .address.sun_family = AF_UNIX};
}

static int make_socket(struct gb_err *err) {
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		gb_fail(err, GB_ESYSTEM, errno, "socket");
	return fd;
}

static bool set_path(struct gb_unix_socket *own, const char *path, struct gb_err *err) {
	size_t n = strlen(path);
	if (n == 0 || n >= sizeof own->address.sun_path)
		return gb_fail(err, GB_EINVAL, 0, "the path of a socket has 1 to %zu bytes, not %zu",
		    sizeof own->address.sun_path - 1, n);
	memcpy(own->address.sun_path, path, n + 1);
	return true;
}

/* Remove the file at the path if it is a stale socket, which no process listens at. */
static bool remove_stale(const struct sockaddr_un *address, struct gb_err *err) {
	gb_auto_fd int probe = make_socket(err);
	struct stat found;
	const char *path = address->sun_path;
	if (probe < 0)
		return false;
	if (lstat(path, &found) != 0)
		return errno == ENOENT || gb_fail(err, GB_ESYSTEM, errno, "look at '%s'", path);
	if (!S_ISSOCK(found.st_mode))
		return gb_fail(
		    err, GB_EINVAL, 0, "'%s' exists and is not a socket; it was not replaced", path);
	if (connect(probe, (const struct sockaddr *)address, sizeof *address) == 0)
		return gb_fail(err, GB_EINVAL, 0, "another process already listens at '%s'", path);
	if (errno != ECONNREFUSED)
		return gb_fail(err, GB_ESYSTEM, errno, "connect to '%s'", path);
	return unlink(path) == 0 || gb_fail(err, GB_ESYSTEM, errno, "remove the stale socket '%s'", path);
}

bool gb_unix_socket_listen(struct gb_unix_socket *own, const char *path, int backlog, struct gb_err *err) {
	if (!set_path(own, path, err) || (own->fd = make_socket(err)) < 0 ||
	    !remove_stale(&own->address, err))
		return false;
	/* Only this user may access the socket from its creation on. */
	mode_t before = umask(0177);
	bool ok = bind(own->fd, (const struct sockaddr *)&own->address, sizeof own->address) == 0;
	int why = errno;
	umask(before);
	if (!ok)
		return gb_fail(err, GB_ESYSTEM, why, "make the socket '%s'", path);
	own->bound = lstat(path, &own->when_bound) == 0;
	return listen(own->fd, backlog) == 0 || gb_fail(err, GB_ESYSTEM, errno, "listen at '%s'", path);
}

void gb_unix_socket_finish(struct gb_unix_socket *own) {
	struct stat now;
	if (own->bound && lstat(own->address.sun_path, &now) == 0 && now.st_ino == own->when_bound.st_ino &&
	    now.st_dev == own->when_bound.st_dev)
		unlink(own->address.sun_path);
	own->bound = false;
	gb_close_fd(&own->fd);
}
