/* Ports of the host that lead to servers inside sessions. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/claim.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "engine/manager.h"

enum { BACKLOG = 64, ACCEPTS_AT_ONCE = 16 };

struct gb_exposed {
	struct gb_source source;
	struct gb_list link; /* in record->exposed */
	struct gb_record *record;
	int fd, claim;
	struct gb_exposed_port ports;
};

static void close_exposed(struct gb_exposed *exposed) {
	gb_loop_remove(&exposed->record->manager->engine->loop, &exposed->source);
	gb_list_remove(&exposed->link);
	gb_close_fd(&exposed->fd);
	gb_close_fd(&exposed->claim);
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
		gb_auto_fd int fd = accept4(exposed->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		/* On failure the connection is closed, as if nothing listened in the session. */
		if (gb_record_is_alive(record))
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

bool gb_manager_expose(struct gb_manager *manager, const char *session, uint16_t port, uint16_t on,
    uint16_t *ret_on, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	struct gb_exposed_port ports[GB_EXPOSED_MAX];
	if (!record)
		return false;
	if (!record->net)
		return gb_fail_field(err, GB_EINVAL, "session",
		    "'%s' has no network: create it with hosts (--net, net)", session);
	if (gb_record_exposed(record, ports, GB_EXPOSED_MAX) == GB_EXPOSED_MAX)
		return gb_fail_field(err, GB_ELIMIT, "session",
		    "'%s' has %d exposed ports, which is the limit", session, GB_EXPOSED_MAX);
	struct gb_exposed *exposed = calloc(1, sizeof *exposed);
	if (!exposed)
		return gb_fail(err, GB_ENOMEM, 0, "a port");
	*exposed =
	    (struct gb_exposed){.record = record, .fd = -1, .claim = -1, .ports.port = port, .source.fd = -1};
	gb_list_init(&exposed->link);
	if (!open_port(exposed, on, err) || !gb_loop_add(&manager->engine->loop, &exposed->source,
						exposed->fd, GB_LOOP_IN, on_connection, err)) {
		close_exposed(exposed);
		return false;
	}
	gb_list_append(&record->exposed, &exposed->link);
	*ret_on = exposed->ports.on;
	return true;
}
