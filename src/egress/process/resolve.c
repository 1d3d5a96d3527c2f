/* Looks names up with c-ares, in the loop. Only by DNS: the files of the host are out of reach. */
#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/address.h"
#include "egress/process/process.h"

enum { SOCKETS_MAX = 64, LOOKUP_MS = 2000, LOOKUP_TRIES = 3 };

static ares_channel channel;
static unsigned n_busy;
static struct ares_source {
	struct gb_source source;
	int fd;
} sockets[SOCKETS_MAX];

static void on_socket(struct gb_source *source, uint32_t events) {
	struct ares_source *socket = (struct ares_source *)source;
	const ares_socket_t in = events & ~(uint32_t)GB_LOOP_OUT ? socket->fd : ARES_SOCKET_BAD;
	const ares_socket_t out = events & GB_LOOP_OUT ? socket->fd : ARES_SOCKET_BAD;
	ares_process_fd(channel, in, out);
}

/* c-ares has opened a socket, waits for other events, or is about to close it. */
static void on_state(void *data, ares_socket_t fd, int readable, int writable) {
	const uint32_t events = (readable ? GB_LOOP_IN : 0) | (writable ? GB_LOOP_OUT : 0);
	struct ares_source *slot = NULL;
	for (size_t i = 0; i < SOCKETS_MAX && !slot; i++)
		if (sockets[i].source.fd == fd)
			slot = &sockets[i];
	if (slot && !events) {
		gb_loop_remove(&gb_process.loop, &slot->source);
	} else if (slot) {
		gb_loop_change(&gb_process.loop, &slot->source, events);
	} else if (events) {
		for (size_t i = 0; i < SOCKETS_MAX && !slot; i++)
			if (sockets[i].source.fd < 0)
				slot = &sockets[i];
		/* Without a place for it, its query fails at its time limit. */
		if (slot && gb_loop_add(&gb_process.loop, &slot->source, fd, events, on_socket, NULL))
			slot->fd = fd;
	}
}

bool resolve_init(const char **ret_problem) {
	static char lookups[] = "b";
	struct ares_options options = {.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
	    .timeout = LOOKUP_MS,
	    .tries = LOOKUP_TRIES,
	    .lookups = lookups,
	    .sock_state_cb = on_state};
	for (size_t i = 0; i < SOCKETS_MAX; i++)
		sockets[i].source.fd = -1;
	*ret_problem = "read the configuration of name servers";
	return ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS &&
	       ares_init_options(&channel, &options,
		   ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
		       ARES_OPT_SOCK_STATE_CB) == ARES_SUCCESS;
}

/* IPv4 first: a host without a route for IPv6 must not wait for it. */
static void take_addresses(struct resolution *resolution, const struct ares_addrinfo *info, int family) {
	for (const struct ares_addrinfo_node *node = info->nodes; node; node = node->ai_next) {
		if (node->ai_family != family || node->ai_addrlen > sizeof(struct sockaddr_storage))
			continue;
		/* None may be left out, since each of them is checked. */
		if (resolution->n == ADDRESSES_MAX) {
			resolution->problem = "the name has too many addresses";
			return;
		}
		memcpy(&resolution->addresses[resolution->n++], node->ai_addr, node->ai_addrlen);
	}
}

static void on_answer(void *data, int status, int timeouts, struct ares_addrinfo *info) {
	struct resolution *resolution = data;
	n_busy--;
	if (info) {
		take_addresses(resolution, info, AF_INET);
		take_addresses(resolution, info, AF_INET6);
		ares_freeaddrinfo(info);
	}
	if (!resolution->problem && resolution->n == 0)
		resolution->problem =
		    status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_SUCCESS
			? "the name does not exist"
		    : status == ARES_ETIMEOUT ? "the name servers did not answer"
					      : "the name could not be looked up";
	if (resolution->owner)
		resolution->done(resolution);
	free(resolution);
}

void resolve(struct resolution *resolution, const char *name) {
	const struct ares_addrinfo_hints hints = {
	    .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = ARES_AI_NOSORT};
	n_busy++;
	ares_getaddrinfo(channel, name, NULL, &hints, on_answer, resolution);
}

void resolve_tick(void) {
	if (n_busy)
		ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

bool resolve_is_busy(void) {
	return n_busy > 0;
}

/* --- addresses --- */

socklen_t address_length(const struct sockaddr_storage *address) {
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void address_set_port(struct sockaddr_storage *address, uint16_t port) {
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

/* Only to an address of this machine a socket can be bound. */
bool address_is_here(const struct sockaddr_storage *address) {
	struct sockaddr_storage probe = *address;
	gb_auto_fd int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	address_set_port(&probe, 0);
	return fd < 0 || bind(fd, (const struct sockaddr *)&probe, address_length(&probe)) == 0 ||
	       errno != EADDRNOTAVAIL;
}

void address_set(struct sockaddr_storage *address, const struct gb_host *host, uint16_t port) {
	address->ss_family = host->kind == GB_HOST_IPV6 ? AF_INET6 : AF_INET;
	if (host->kind == GB_HOST_IPV6)
		memcpy(&((struct sockaddr_in6 *)address)->sin6_addr, host->address, 16);
	else
		memcpy(&((struct sockaddr_in *)address)->sin_addr, host->address, 4);
	address_set_port(address, port);
}

void address_write(const struct sockaddr_storage *address, char *ret, size_t n) {
	const void *bytes = address->ss_family == AF_INET6
				? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
				: (const void *)&((const struct sockaddr_in *)address)->sin_addr;
	if (!inet_ntop(address->ss_family, bytes, ret, (socklen_t)n))
		*ret = '\0';
}

/* No address of a name may be special, not even one that would not be used. */
const char *resolution_special(const struct resolution *resolution) {
	for (unsigned i = 0; i < resolution->n; i++) {
		const char *what = gb_address_special((const struct sockaddr *)&resolution->addresses[i]);
		if (what)
			return what;
	}
	return NULL;
}
