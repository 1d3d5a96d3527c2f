/* The name server of a cell: each allowed name has an address of its own, on which this process listens. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/accept.h"
#include "base/cleanup.h"
#include "egress/dns.h"
#include "egress/process/process.h"

enum { QUERIES_AT_ONCE = 16, QUERY_MAX = 1500, TCP_QUERIES_MAX = 16, BACKLOG = 128 };

/* --- listening --- */

/* Bind @fd to @host or to the address of its name, and listen. */
static bool open_listener(const struct name *name, uint16_t port, int fd) {
	struct sockaddr_in to = {
	    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(name->address)}};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	const bool six = name->host.kind == GB_HOST_IPV6;
	if (name->host.kind == GB_HOST_IPV4)
		memcpy(&to.sin_addr, name->host.address, 4);
	memcpy(&to6.sin6_addr, name->host.address, 16);
	const struct sockaddr *address = six ? (const struct sockaddr *)&to6 : (const struct sockaddr *)&to;
	return bind(fd, address, six ? sizeof to6 : sizeof to) == 0 && listen(fd, BACKLOG) == 0;
}

static void on_connection(struct gb_source *source, uint32_t events) {
	struct listener *listener = (struct listener *)source;
	for (int i = 0; i < QUERIES_AT_ONCE; i++) {
		bool full;
		const int fd = gb_accept(listener->fd, &gb_process.reserve_fd, &full);
		if (fd >= 0)
			flow_create(listener, fd);
		else if (full)
			control_deny(listener->cell, listener->name->host.name, listener->port,
			    "glovebox-egress has no descriptor left: there are too many connections");
		else
			return;
	}
}

static int take_spare(struct cell *cell, bool six) {
	if (six)
		return cell->n_spare6 ? cell->spare6[--cell->n_spare6] : -1;
	return cell->n_spare ? cell->spare[--cell->n_spare] : -1;
}

static bool add_listener(struct cell *cell, struct name *name, uint16_t port) {
	for (unsigned i = 0; i < name->n_listeners; i++)
		if (name->listeners[i]->port == port)
			return true;
	if (name->n_listeners == GB_COUNT(name->listeners))
		return false;
	gb_auto_fd int fd = take_spare(cell, name->host.kind == GB_HOST_IPV6);
	gb_auto_free struct listener *listener = calloc(1, sizeof *listener);
	if (fd < 0 || !listener || !open_listener(name, port, fd))
		return false;
	*listener = (struct listener){.cell = cell, .name = name, .port = port, .fd = fd};
	if (!gb_loop_add(&gb_process.loop, &listener->source, fd, GB_LOOP_IN, on_connection, NULL))
		return false;
	(void)gb_take_fd(&fd);
	name->listeners[name->n_listeners++] = gb_take_pointer(&listener);
	return true;
}

static struct name *find_name(struct cell *cell, const struct gb_host *host) {
	for (unsigned i = 0; i < cell->n_names; i++)
		if (cell->names[i]->host.kind == host->kind &&
		    strcmp(cell->names[i]->host.name, host->name) == 0)
			return cell->names[i];
	return NULL;
}

struct name *names_add(struct cell *cell, const struct gb_host *host) {
	struct name *name = find_name(cell, host);
	if (!name) {
		if (cell->n_names == NAMES_MAX || !(name = calloc(1, sizeof *name)))
			return NULL;
		name->host = *host;
		name->address = GB_EGRESS_NAME_ADDRESS + cell->n_names;
		cell->names[cell->n_names++] = name;
	}
	bool all = true;
	for (unsigned i = 0; i < cell->n_rules; i++) {
		uint16_t ports[2];
		const struct gb_host_rule *rule = &cell->rules[i];
		const size_t n = gb_host_rule_is_about(rule, host) ? gb_host_rule_ports(rule, ports) : 0;
		for (size_t k = 0; k < n; k++)
			all = add_listener(cell, name, ports[k]) && all;
	}
	return all ? name : NULL;
}

/* --- queries --- */

static bool is_admitted(const struct cell *cell, const struct gb_host *host) {
	for (unsigned i = 0; i < cell->n_rules; i++)
		if (gb_host_rule_is_about(&cell->rules[i], host))
			return true;
	return false;
}

/* Programs ask for the names of addresses by themselves, to show them. */
static bool is_reverse(const char *name) {
	struct gb_str text = gb_str_from(name);
	return gb_str_ends_with(text, GB_STR(".in-addr.arpa")) || gb_str_ends_with(text, GB_STR(".ip6.arpa"));
}

static enum gb_dns_code refuse(struct cell *cell, const struct gb_dns_question *question) {
	if (!is_reverse(question->name))
		control_deny(cell, question->name, 0,
		    cell->running ? "no rule allows this host"
				  : "the run has ended, or its network was lost");
	return GB_DNS_NO_NAME;
}

/* Decide about a question. *ret_address is set if it has one for an answer. */
static enum gb_dns_code decide(
    struct cell *cell, const struct gb_dns_question *question, uint32_t *ret_address) {
	struct gb_host host;
	const char *problem;
	*ret_address = 0;
	if (!question->plain || !gb_host_parse(gb_str_from(question->name), &host, &problem) ||
	    host.kind != GB_HOST_NAME || !is_admitted(cell, &host))
		return refuse(cell, question);
	/* An allowed name has an address, and nothing else. */
	if (question->type != GB_DNS_A || question->class != 1)
		return GB_DNS_NO_ERROR;
	const struct name *name = names_add(cell, &host);
	if (!name) {
		control_deny(
		    cell, question->name, 0, "the code has used too many hosts: open a new run or session");
		return GB_DNS_SERVER_FAILURE;
	}
	*ret_address = name->address;
	return GB_DNS_NO_ERROR;
}

static size_t answer(struct cell *cell, const uint8_t *query, size_t n, uint8_t reply[GB_DNS_REPLY_MAX]) {
	struct gb_dns_question question;
	uint32_t address;
	switch (gb_dns_read(query, n, &question)) {
	case GB_DNS_OK: {
		enum gb_dns_code code = decide(cell, &question, &address);
		return gb_dns_answer(query, &question, code, address, reply);
	}
	case GB_DNS_MALFORMED:
		return gb_dns_answer(query, NULL, GB_DNS_FORMAT_ERROR, 0, reply);
	case GB_DNS_NOT_IMPLEMENTED:
		return gb_dns_answer(query, NULL, GB_DNS_NO_OPERATION, 0, reply);
	default:
		return 0;
	}
}

static void on_udp(struct gb_source *source, uint32_t events) {
	struct cell *cell = gb_container(struct cell, udp, source);
	for (int i = 0; i < QUERIES_AT_ONCE; i++) {
		uint8_t query[QUERY_MAX], reply[GB_DNS_REPLY_MAX];
		struct sockaddr_in from;
		socklen_t length = sizeof from;
		ssize_t n = recvfrom(
		    cell->udp_fd, query, sizeof query, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
		if (n < 0)
			return;
		const size_t bytes = answer(cell, query, (size_t)n, reply);
		if (bytes)
			(void)sendto(cell->udp_fd, reply, bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
			    (const struct sockaddr *)&from, length);
	}
}

/* --- queries over TCP --- */

struct tcp_query {
	struct gb_source source;
	struct gb_list link;
	struct cell *cell;
	int fd;
	size_t n;
	uint8_t bytes[2 + QUERY_MAX];
};

static void close_query(struct tcp_query *query) {
	gb_loop_remove(&gb_process.loop, &query->source);
	close(query->fd);
	gb_list_remove(&query->link);
	query->cell->n_queries--;
	free(query);
}

/* Answer the complete queries that have arrived. False if the connection cannot go on. */
static bool answer_all(struct tcp_query *query) {
	uint8_t reply[2 + GB_DNS_REPLY_MAX];
	while (query->n >= 2) {
		const size_t length = (size_t)(query->bytes[0] << 8 | query->bytes[1]);
		if (length > QUERY_MAX)
			return false;
		if (query->n < 2 + length)
			return true;
		const size_t bytes = answer(query->cell, query->bytes + 2, length, reply + 2);
		reply[0] = (uint8_t)(bytes >> 8);
		reply[1] = (uint8_t)bytes;
		if (!bytes || send(query->fd, reply, 2 + bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return false;
		query->n -= 2 + length;
		memmove(query->bytes, query->bytes + 2 + length, query->n);
	}
	return true;
}

static void on_tcp_query(struct gb_source *source, uint32_t events) {
	struct tcp_query *query = (struct tcp_query *)source;
	const ssize_t n =
	    recv(query->fd, query->bytes + query->n, sizeof query->bytes - query->n, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	query->n += n > 0 ? (size_t)n : 0;
	if (n <= 0 || !answer_all(query))
		close_query(query);
}

static void on_tcp(struct gb_source *source, uint32_t events) {
	struct cell *cell = gb_container(struct cell, tcp, source);
	bool full;
	gb_auto_fd int fd = gb_accept(cell->tcp_fd, &gb_process.reserve_fd, &full);
	struct tcp_query *query = fd < 0 ? NULL : calloc(1, sizeof *query);
	if (!query)
		return;
	/* The oldest one gives way. */
	struct tcp_query *oldest = gb_list_first(struct tcp_query, &cell->queries, link);
	if (cell->n_queries >= TCP_QUERIES_MAX && oldest)
		close_query(oldest);
	query->cell = cell;
	query->fd = gb_take_fd(&fd);
	gb_list_init(&query->link);
	gb_list_append(&cell->queries, &query->link);
	cell->n_queries++;
	if (!gb_loop_add(&gb_process.loop, &query->source, query->fd, GB_LOOP_IN, on_tcp_query, NULL))
		close_query(query);
}

bool names_open(struct cell *cell) {
	const struct sockaddr_in here = {
	    .sin_family = AF_INET, .sin_port = htons(53), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	cell->tcp_fd = take_spare(cell, false);
	return bind(cell->udp_fd, (const struct sockaddr *)&here, sizeof here) == 0 &&
	       bind(cell->tcp_fd, (const struct sockaddr *)&here, sizeof here) == 0 &&
	       listen(cell->tcp_fd, BACKLOG) == 0 &&
	       gb_loop_add(&gb_process.loop, &cell->udp, cell->udp_fd, GB_LOOP_IN, on_udp, NULL) &&
	       gb_loop_add(&gb_process.loop, &cell->tcp, cell->tcp_fd, GB_LOOP_IN, on_tcp, NULL);
}

static void free_name(struct name *name) {
	for (unsigned i = 0; i < name->n_listeners; i++) {
		gb_loop_remove(&gb_process.loop, &name->listeners[i]->source);
		close(name->listeners[i]->fd);
		free(name->listeners[i]);
	}
	free(name);
}

void names_close(struct cell *cell) {
	for (struct tcp_query *query; (query = gb_list_first(struct tcp_query, &cell->queries, link));)
		close_query(query);
	for (unsigned i = 0; i < cell->n_names; i++)
		free_name(cell->names[i]);
	cell->n_names = 0;
	gb_loop_remove(&gb_process.loop, &cell->udp);
	gb_loop_remove(&gb_process.loop, &cell->tcp);
	gb_close_fd(&cell->udp_fd);
	gb_close_fd(&cell->tcp_fd);
}
