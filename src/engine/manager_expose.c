/* Ports and unix sockets of the host that lead to servers inside sessions. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/accept.h"
#include "base/claim.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/unix_socket.h"
#include "engine/manager.h"

enum { BACKLOG = 64, ACCEPTS_AT_ONCE = 16 };

struct gb_exposed {
	struct gb_source source;
	struct gb_list link; /* in record->exposed */
	struct gb_record *record;
	int fd, claim, reserve;    /* a port */
	struct gb_unix_socket own; /* or a unix socket */
	struct gb_exposed_port ports;
};

static void close_exposed(struct gb_exposed *exposed) {
	gb_loop_remove(&exposed->record->manager->engine->loop, &exposed->source);
	gb_list_remove(&exposed->link);
	gb_close_fd(&exposed->fd);
	gb_close_fd(&exposed->claim);
	gb_close_fd(&exposed->reserve);
	gb_unix_socket_finish(&exposed->own);
	free(exposed);
}

void gb_record_unexpose(struct gb_record *record) {
	for (struct gb_exposed *one; (one = gb_list_first(struct gb_exposed, &record->exposed, link));)
		close_exposed(one);
}

size_t gb_record_exposed(const struct gb_record *record, struct gb_exposed_port *ret, size_t n) {
	size_t count = 0;
	for (const struct gb_list *at = record->exposed.next; at != &record->exposed; at = at->next, count++)
		if (count < n)
			ret[count] = gb_container(struct gb_exposed, link, at)->ports;
	return count < n ? count : n;
}

static void on_connection(struct gb_source *source, uint32_t events) {
	struct gb_exposed *exposed = (struct gb_exposed *)source;
	struct gb_record *record = exposed->record;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		bool full;
		gb_auto_fd int fd = gb_accept(exposed->source.fd, &exposed->reserve, &full);
		if (fd < 0 && !full)
			return;
		/* On failure the connection is closed, as if nothing listened in the session. */
		if (fd >= 0 && gb_record_is_alive(record))
			(void)gb_session_connect(record->session, exposed->ports.port, fd, NULL);
	}
}

/* Listen on loopback. The port is claimed before, so that no code in a sandbox can reach it. */
static bool open_port(struct gb_exposed *exposed, uint16_t on, struct gb_err *err) {
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_port = htons(on), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof address;
	const int one = 1;
	exposed->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (exposed->fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socket");
	(void)setsockopt(exposed->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(exposed->fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    getsockname(exposed->fd, (struct sockaddr *)&address, &n) != 0)
		return gb_fail_field(
		    err, GB_EINVAL, "on", "port %u of this machine cannot be used: %s", on, strerror(errno));
	exposed->ports.on = ntohs(address.sin_port);
	return gb_claim_port(exposed->ports.on, &exposed->claim, err) &&
	       (listen(exposed->fd, BACKLOG) == 0 ||
		   gb_fail_field(err, GB_EINVAL, "on", "port %u of this machine cannot be used: %s", on,
		       strerror(errno)));
}

/* A session that can have one more. NULL on failure. */
static struct gb_exposed *create(
    struct gb_manager *manager, const char *session, uint16_t port, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	struct gb_exposed_port ports[GB_EXPOSED_MAX];
	if (!record)
		return NULL;
	if (!record->net) {
		gb_fail_field(err, GB_EINVAL, "session",
		    "'%s' has no network: create it with hosts (--net, net)", session);
		return NULL;
	}
	if (gb_record_exposed(record, ports, GB_EXPOSED_MAX) == GB_EXPOSED_MAX) {
		gb_fail_field(err, GB_ELIMIT, "session", "'%s' has %d exposed ports, which is the limit",
		    session, GB_EXPOSED_MAX);
		return NULL;
	}
	struct gb_exposed *exposed = calloc(1, sizeof *exposed);
	if (!exposed) {
		gb_fail(err, GB_ENOMEM, 0, "a port");
		return NULL;
	}
	*exposed = (struct gb_exposed){.record = record,
	    .fd = -1,
	    .claim = -1,
	    .reserve = gb_accept_reserve(),
	    .ports.port = port,
	    .source.fd = -1};
	gb_unix_socket_init(&exposed->own);
	gb_list_init(&exposed->link);
	return exposed;
}

/* Accept connections of @fd, if it was @opened. */
static bool begin(struct gb_exposed *exposed, bool opened, int fd, struct gb_err *err) {
	struct gb_record *record = exposed->record;
	struct gb_loop *loop = &record->manager->engine->loop;
	if (opened && exposed->reserve < 0)
		opened = gb_fail(err, GB_ESYSTEM, errno, "socket");
	if (!opened || !gb_loop_add(loop, &exposed->source, fd, GB_LOOP_IN, on_connection, err)) {
		close_exposed(exposed);
		return false;
	}
	gb_list_append(&record->exposed, &exposed->link);
	return true;
}

bool gb_manager_expose(struct gb_manager *manager, const char *session, uint16_t port, uint16_t on,
    uint16_t *ret_on, struct gb_err *err) {
	struct gb_exposed *exposed = create(manager, session, port, err);
	if (!exposed)
		return false;
	const bool opened = open_port(exposed, on, err);
	const uint16_t chosen = exposed->ports.on;
	if (!begin(exposed, opened, exposed->fd, err))
		return false;
	*ret_on = chosen;
	return true;
}

bool gb_manager_expose_at(
    struct gb_manager *manager, const char *session, uint16_t port, const char *path, struct gb_err *err) {
	if (*path != '/')
		return gb_fail_field(err, GB_EINVAL, "path", "'%.200s' is not an absolute path", path);
	struct gb_exposed *exposed = create(manager, session, port, err);
	if (!exposed)
		return false;
	exposed->ports.path = exposed->own.address.sun_path;
	const bool opened =
	    gb_unix_socket_listen(&exposed->own, path, BACKLOG, err) || gb_wrap_field(err, "path");
	return begin(exposed, opened, exposed->own.fd, err);
}
