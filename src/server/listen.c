#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/list.h"
#include "base/unix_socket.h"
#include "server/server.h"

enum { CLIENTS_MAX = 100, BACKLOG = 64, RETRY_NS = 10000000 };

struct gb_listener {
	struct gb_server *server;
	struct gb_source source, retry;
	struct gb_unix_socket own;
	int retry_fd; /* a timer, made before descriptors can be exhausted */
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
	gb_auto_fd int in = accept4(listener->own.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
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

static bool open_listener(struct gb_listener *listener, const char *path, struct gb_err *err) {
	listener->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (listener->retry_fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "timerfd_create");
	struct gb_loop *loop = loop_of(listener);
	return gb_unix_socket_listen(&listener->own, path, BACKLOG, err) &&
	       gb_loop_add(loop, &listener->source, listener->own.fd, GB_LOOP_IN, on_ready, err) &&
	       gb_loop_add(loop, &listener->retry, listener->retry_fd, GB_LOOP_IN, on_retry, err);
}

bool gb_listener_create(
    struct gb_server *server, const char *path, struct gb_listener **ret, struct gb_err *err) {
	struct gb_listener *listener = calloc(1, sizeof *listener);
	if (!listener)
		return gb_fail(err, GB_ENOMEM, 0, "a listener");
	listener->server = server;
	listener->source.fd = listener->retry.fd = listener->retry_fd = -1;
	gb_unix_socket_init(&listener->own);
	if (!open_listener(listener, path, err)) {
		gb_listener_destroy(listener);
		return false;
	}
	*ret = listener;
	return true;
}

void gb_listener_destroy(struct gb_listener *listener) {
	if (!listener)
		return;
	gb_loop_remove(loop_of(listener), &listener->source);
	gb_loop_remove(loop_of(listener), &listener->retry);
	gb_unix_socket_finish(&listener->own);
	gb_close_fd(&listener->retry_fd);
	free(listener);
}
