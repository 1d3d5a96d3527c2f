/* A cell: its sockets, and the policy of its run. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/process/process.h"
#include "egress/process/tls.h"

struct cell *cell_find(uint32_t id) {
	struct cell *cell = gb_process.cells[id % CELLS_MAX];
	return cell && cell->id == id ? cell : NULL;
}

/* --- sockets from the cell --- */

static int option(int fd, int name) {
	int value = -1;
	socklen_t n = sizeof value;
	return getsockopt(fd, SOL_SOCKET, name, &value, &n) == 0 ? value : -1;
}

/* Keep a socket that the cell has passed, if it is one that is expected. */
static void keep_socket(struct cell *cell, int fd) {
	const int domain = option(fd, SO_DOMAIN), type = option(fd, SO_TYPE),
		  protocol = option(fd, SO_PROTOCOL);
	bool is_usable = fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
	if (is_usable && domain == AF_INET && type == SOCK_DGRAM && protocol == IPPROTO_UDP &&
	    cell->udp_fd < 0) {
		cell->udp_fd = fd;
	} else if (is_usable && domain == AF_INET && type == SOCK_STREAM && protocol == IPPROTO_TCP &&
		   cell->n_spare < GB_COUNT(cell->spare)) {
		cell->spare[cell->n_spare++] = fd;
	} else if (is_usable && domain == AF_INET6 && type == SOCK_STREAM && protocol == IPPROTO_TCP &&
		   cell->n_spare6 < GB_COUNT(cell->spare6)) {
		cell->spare6[cell->n_spare6++] = fd;
	} else {
		close(fd);
	}
}

static bool receive_sockets(struct cell *cell) {
	enum { MOST = GB_EGRESS_SOCKETS + GB_EGRESS_SOCKETS6 + 1 };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int[MOST]))];
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof control.bytes};
	if (recvmsg(cell->passing_fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
		return false;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS || (message.msg_flags & MSG_CTRUNC))
		return false;
	const size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < n; i++) {
		int fd;
		memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
		keep_socket(cell, fd);
	}
	return cell->udp_fd >= 0 && cell->n_spare > 1;
}

/* Code uses an address without asking for a name. */
static void add_addresses(struct cell *cell) {
	for (unsigned i = 0; i < cell->n_rules && !cell->channel; i++) {
		const struct gb_host *host = &cell->rules[i].host;
		/* The policy may come before the sockets: then this is repeated. */
		if (host->kind != GB_HOST_NAME && cell->udp_fd >= 0 && !names_add(cell, host) &&
		    cell->running)
			control_deny(cell, host->name, cell->rules[i].port,
			    "the sandbox has no socket left to listen for this address");
	}
}

/* The cell waits for the answer: it starts nothing before its name server exists. */
static void on_passing(struct gb_source *source, uint32_t events) {
	struct cell *cell = gb_container(struct cell, passing, source);
	if (receive_sockets(cell) && names_open(cell)) {
		/* The policy may have come first. */
		add_addresses(cell);
		const struct gb_str authority = tls_authority();
		(void)send(cell->passing_fd, authority.p, authority.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	gb_loop_remove(&gb_process.loop, &cell->passing);
	gb_close_fd(&cell->passing_fd);
}

void cell_create(uint32_t id, int fd, bool fetches) {
	struct cell *cell = calloc(1, sizeof *cell);
	struct cell **slot = &gb_process.cells[id % CELLS_MAX];
	if (!cell || *slot) {
		close(fd);
		free(cell);
		return;
	}
	*cell = (struct cell){.id = id,
	    .passing_fd = fetches ? -1 : fd,
	    .udp_fd = -1,
	    .tcp_fd = -1,
	    .passing.fd = -1,
	    .udp.fd = -1,
	    .tcp.fd = -1};
	gb_list_init(&cell->flows);
	gb_list_init(&cell->queries);
	gb_list_append(&gb_process.all_cells, &cell->link);
	*slot = cell;
	if (fetches)
		cell->channel = channel_create(cell, fd);
	else if (!gb_loop_add(&gb_process.loop, &cell->passing, fd, GB_LOOP_IN, on_passing, NULL))
		gb_close_fd(&cell->passing_fd);
}

void cell_destroy(struct cell *cell) {
	flow_close_all(cell, true);
	channel_destroy(cell->channel);
	names_close(cell);
	gb_loop_remove(&gb_process.loop, &cell->passing);
	gb_close_fd(&cell->passing_fd);
	for (unsigned i = 0; i < cell->n_spare; i++)
		close(cell->spare[i]);
	for (unsigned i = 0; i < cell->n_spare6; i++)
		close(cell->spare6[i]);
	secrets_finish(&cell->secrets);
	secrets_finish(&cell->next_secrets);
	gb_list_remove(&cell->link);
	gb_process.cells[cell->id % CELLS_MAX] = NULL;
	free(cell->rules);
	free(cell);
}

/* --- runs --- */

static void read_rules(struct cell *cell, const char *text, size_t n) {
	free(cell->rules);
	cell->rules = calloc(GB_HOST_RULES_MAX, sizeof *cell->rules);
	cell->n_rules = 0;
	while (n && cell->rules && cell->n_rules < GB_HOST_RULES_MAX) {
		const char *problem;
		const size_t length = strnlen(text, n);
		/* The host has checked them. What cannot be read admits nothing. */
		cell->n_rules +=
		    gb_host_rule_parse((struct gb_str){text, length}, &cell->rules[cell->n_rules], &problem);
		n -= length < n ? length + 1 : length;
		text += length + 1;
	}
}

void cell_begin(struct cell *cell, const struct gb_egress_order *order, const char *rules, size_t n) {
	read_rules(cell, rules, n);
	secrets_finish(&cell->secrets);
	cell->secrets = cell->next_secrets;
	cell->next_secrets.n = 0;
	cell->lacks_secret = false;
	cell->limits = order->limits;
	cell->running = true;
	cell->n_connections = cell->n_denials = cell->n_records = 0;
	cell->sent = cell->received = cell->n_dropped = 0;
	flow_close_refused(cell);
	add_addresses(cell);
}

void cell_end(struct cell *cell) {
	flow_close_all(cell, false);
	if (cell->channel)
		channel_end(cell->channel, "open at the end of the run");
	cell->running = false;
	cell->n_rules = 0;
	secrets_finish(&cell->secrets);
}

/* --- into the cell --- */

void cell_connect(struct cell *cell, uint16_t port, int fd) {
	const struct sockaddr_in to = {
	    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	if (cell->n_spare == 0 || cell->n_flows >= FLOWS_MAX) {
		close(fd);
		return;
	}
	int inside = cell->spare[--cell->n_spare];
	if (connect(inside, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
		cell->spare[cell->n_spare++] = inside;
		close(fd);
		return;
	}
	flow_join(cell, fd, inside);
}
