#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/list.h"
#include "server/server.h"

enum { CLIENTS_MAX = 100, BACKLOG = 64, RETRY_NS = 10000000 };

struct gb_listener {
	struct gb_server *server;
	struct gb_source source, retry;
	int fd, retry_fd; /* the socket; a timer, made before descriptors can be exhausted */
	bool bound;
	struct stat when_bound; /* to recognise the socket later: it may have been replaced by another */
	struct sockaddr_un address;
};

/* Send the reason as a line of the protocol, if it fits into the socket buffer. */
static void reject_client(int fd) {
	static const char line[] =
	    "{\"type\":\"error\",\"code\":\"refused\",\"message\":\"too many clients\"}\n";
	(void)!send(fd, line, sizeof line - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The mode of the socket already restricts this; this check does not depend on the permissions of its
 * folder. */
static bool is_own(int fd) {
	struct ucred peer;
	socklen_t n = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static struct gb_loop *loop_of(const struct gb_listener *listener) {
	return gb_service_loop(gb_server_service(listener->server));
}

static void on_retry(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_listener *listener = gb_container(struct gb_listener, retry, source);
	uint64_t times;
	if (read(listener->retry_fd, &times, sizeof times) > 0)
		gb_loop_change(loop_of(listener), &listener->source, GB_LOOP_IN);
}

/* No descriptor is left: the event would repeat at once. */
static void accept_later(struct gb_listener *listener) {
	const struct itimerspec soon = {.it_value = {.tv_nsec = RETRY_NS}};
	gb_loop_change(loop_of(listener), &listener->source, 0);
	timerfd_settime(listener->retry_fd, 0, &soon, NULL);
}

static void on_ready(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_listener *listener = gb_container(struct gb_listener, source, source);
	gb_auto_fd int in = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (in < 0) {
		if (errno == EMFILE || errno == ENFILE)
			accept_later(listener);
		return;
	}
	if (!is_own(in))
		return;
	gb_auto_fd int out = dup(in);
	if (out < 0 || gb_server_clients(listener->server) >= CLIENTS_MAX)
		reject_client(in);
	else
		gb_server_add(listener->server, gb_take_fd(&in), gb_take_fd(&out), NULL);
}

/* Remove the file at the path if it is a stale socket, which no process listens at. */
static bool remove_stale(int fd, const struct sockaddr_un *address, struct gb_err *err) {
	struct stat found;
	const char *path = address->sun_path;
	if (lstat(path, &found) != 0)
		return errno == ENOENT || gb_fail(err, GB_ESYSTEM, errno, "look at '%s'", path);
	if (!S_ISSOCK(found.st_mode))
		return gb_fail(
		    err, GB_EINVAL, 0, "'%s' exists and is not a socket; it was not replaced", path);
	if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
		return gb_fail(err, GB_EINVAL, 0, "another process already listens at '%s'", path);
	if (errno != ECONNREFUSED)
		return gb_fail(err, GB_ESYSTEM, errno, "connect to '%s'", path);
	return unlink(path) == 0 || gb_fail(err, GB_ESYSTEM, errno, "remove the stale socket '%s'", path);
}

static bool bind_socket(struct gb_listener *listener, struct gb_err *err) {
	const char *path = listener->address.sun_path;
	/* Only this user may access the socket from its creation on. */
	mode_t before = umask(0177);
	bool ok =
	    bind(listener->fd, (const struct sockaddr *)&listener->address, sizeof listener->address) == 0;
	int why = errno;
	umask(before);
	if (!ok)
		return gb_fail(err, GB_ESYSTEM, why, "make the socket '%s'", path);
	listener->bound = lstat(path, &listener->when_bound) == 0;
	return listen(listener->fd, BACKLOG) == 0 || gb_fail(err, GB_ESYSTEM, errno, "listen at '%s'", path);
}

static int make_socket(struct gb_err *err) {
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		gb_fail(err, GB_ESYSTEM, errno, "socket");
	return fd;
}

static bool open_listener(struct gb_listener *listener, struct gb_err *err) {
	gb_auto_fd int probe = make_socket(err);
	listener->fd = make_socket(err);
	listener->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (listener->retry_fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "timerfd_create");
	struct gb_loop *loop = loop_of(listener);
	return probe >= 0 && listener->fd >= 0 && remove_stale(probe, &listener->address, err) &&
	       bind_socket(listener, err) &&
	       gb_loop_add(loop, &listener->source, listener->fd, GB_LOOP_IN, on_ready, err) &&
	       gb_loop_add(loop, &listener->retry, listener->retry_fd, GB_LOOP_IN, on_retry, err);
}

bool gb_listener_create(
    struct gb_server *server, const char *path, struct gb_listener **ret, struct gb_err *err) {
	struct gb_listener *listener = calloc(1, sizeof *listener);
	if (!listener)
		return gb_fail(err, GB_ENOMEM, 0, "a listener");
	listener->server = server;
	listener->source.fd = listener->retry.fd = listener->fd = listener->retry_fd = -1;
	listener->address.sun_family = AF_UNIX;
	size_t n = strlen(path);
	bool fits = n > 0 && n < sizeof listener->address.sun_path;
	if (fits)
		memcpy(listener->address.sun_path, path, n + 1);
	else
		gb_fail(err, GB_EINVAL, 0, "the path of a socket has 1 to %zu bytes, not %zu",
		    sizeof listener->address.sun_path - 1, n);
	if (!fits || !open_listener(listener, err)) {
		gb_listener_destroy(listener);
		return false;
	}
	*ret = listener;
	return true;
}

void gb_listener_destroy(struct gb_listener *listener) {
	if (!listener)
		return;
	struct stat now;
	gb_loop_remove(loop_of(listener), &listener->source);
	gb_loop_remove(loop_of(listener), &listener->retry);
	if (listener->bound && lstat(listener->address.sun_path, &now) == 0 &&
	    now.st_ino == listener->when_bound.st_ino && now.st_dev == listener->when_bound.st_dev)
		unlink(listener->address.sun_path);
	gb_close_fd(&listener->fd);
	gb_close_fd(&listener->retry_fd);
	free(listener);
}
