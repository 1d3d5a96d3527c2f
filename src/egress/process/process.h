/*
 * Shared by the files of glovebox-egress: control.c talks to the host, cell.c answers the name queries of cells and
 * listens for their connections, flow.c checks connections, copy.c copies them, exchange.c reads their requests and
 * answers, tls.c intercepts, secrets.c keeps secrets, resolve.c looks names up, wall.c restricts the process.
 *
 * One thread, one loop, nothing blocks. Every message and record is bounded; what exceeds a bound is counted.
 */
#ifndef GB_EGRESS_PROCESS_PROCESS_H
#define GB_EGRESS_PROCESS_PROCESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"
#include "egress/http.h"
#include "egress/protocol.h"
#include "egress/record.h"
#include "egress/rewrite.h"
#include "egress/rules.h"

enum {
	CELLS_MAX = 4096,
	NAMES_MAX = GB_EGRESS_SOCKETS, /* of a cell */
	FLOWS_MAX = 256,               /* of a cell, at the same time */
	DENIALS_MAX = 128,             /* records of a run */
	RECORDS_MAX = 1000,
	QUEUE_MAX = 16 << 20, /* bytes of notices that the host has not read */
	PIECE = 64 << 10,     /* bytes that are copied at once */
	OUT_MAX = 256 << 10,  /* of a buffer for them; encrypted, they are more */
	TICK_MS = 250,
};

struct process {
	struct gb_loop loop;
	struct gb_source control;
	struct gb_buf queue; /* notices that did not fit into the socket, each with its length in front */
	uint32_t control_events;
	struct cell **cells; /* by slot */
	struct gb_list all_cells;
	unsigned n_flows;
	char proxy_host[GB_HOST_NAME_MAX + 3];
	struct gb_host proxy; /* its name is empty: connect directly */
	uint16_t proxy_port;
	int sockets_file; /* /proc/net/unix: see gb_claim_is_held */
	int reserve_fd;   /* to accept connections without another free descriptor, and to reset them */
	uint32_t uid;     /* of the host */
	char piece[PIECE];
	bool stop;
};
extern struct process gb_process;

/* --- secrets.c: secrets that this process puts into requests --- */

struct secret;
struct secrets {
	unsigned n;
	struct secret *list[GB_EGRESS_SECRETS_MAX];
	const struct gb_bound_secret *bound[GB_EGRESS_SECRETS_MAX]; /* of the same */
};

/* Take a secret from an order of the host. False if it is malformed, or cannot be locked in memory. */
bool secrets_add(struct secrets *secrets, const char *bytes, size_t n);
void secrets_finish(struct secrets *secrets);
/* Whether any cell has a secret now. */
bool secrets_exist(void);
/* Memory for a head with secrets, locked as they are; NULL if there is none. Filled and erased by one caller. */
char *secrets_scratch(size_t *ret_n);

/* --- a cell --- */

struct cell;

/* A socket inside the cell that waits for connections to a name at a port. */
struct listener {
	struct gb_source source;
	struct cell *cell;
	struct name *name;
	uint16_t port;
	int fd;
};

/* A name, or an address, that code has used. */
struct name {
	struct gb_host host;
	uint32_t address; /* where code finds it; of the loopback device for an address */
	struct listener *listeners[GB_EGRESS_SOCKETS];
	unsigned n_listeners;
};

struct cell {
	struct gb_list link;
	uint32_t id;
	struct gb_source passing; /* the socket on which it passes its own */
	int passing_fd;
	struct gb_source udp, tcp; /* its name server */
	int udp_fd, tcp_fd;
	int spare[GB_EGRESS_SOCKETS], spare6[GB_EGRESS_SOCKETS6];
	unsigned n_spare, n_spare6;
	struct name *names[NAMES_MAX];
	unsigned n_names;
	struct gb_list queries; /* connections to its name server */
	unsigned n_queries;
	struct gb_list flows;
	unsigned n_flows;
	struct channel *channel; /* of a cell without sockets; or NULL */

	/* Of the present run. */
	struct gb_host_rule *rules;
	unsigned n_rules;
	struct gb_egress_limits limits;
	bool running;
	uint32_t n_connections;
	uint64_t sent, received;
	unsigned n_denials, n_records;
	uint64_t n_dropped;
	struct secrets secrets, next_secrets; /* of the run, and of the one that begins */
	bool lacks_secret;                    /* one of next_secrets could not be taken */
};

struct cell *cell_find(uint32_t id);
/* It passes its sockets over @fd; or, if it @fetches, messages of a fetch channel. */
void cell_create(uint32_t id, int fd, bool fetches);
void cell_destroy(struct cell *cell);
void cell_begin(struct cell *cell, const struct gb_egress_order *order, const char *rules, size_t n);
void cell_end(struct cell *cell);
/* Connect @fd, which is given away, to @port inside the cell. */
void cell_connect(struct cell *cell, uint16_t port, int fd);

/* --- names.c: the name server of a cell --- */

/* Serve queries on the sockets of the cell. False if they could not be bound. */
bool names_open(struct cell *cell);
void names_close(struct cell *cell);
/* The name, with listeners for all its ports; NULL if there are no sockets left. */
struct name *names_add(struct cell *cell, const struct gb_host *host);

/* --- flow.c --- */

/* A connection was accepted. */
void flow_create(struct listener *listener, int fd);
/* A connection into the cell; both descriptors are given away. */
void flow_join(struct cell *cell, int from, int to);
/* Also those into the cell if @all. */
void flow_close_all(struct cell *cell, bool all);
/* Connections that the rules of the cell no longer admit. */
void flow_close_refused(struct cell *cell);
void flow_tick(struct cell *cell, uint64_t now_ms);

/* --- channel.c: requests of a cell without sockets --- */

struct channel *channel_create(struct cell *cell, int fd);
/* NULL is fine. */
void channel_destroy(struct channel *channel);
/* Cancel all requests, and close their connections. */
void channel_end(struct channel *channel, const char *reason);
void channel_close_idle(struct channel *channel, uint64_t now_ms);
/* When channels_tick has work: a time of now_ms, or UINT64_MAX. */
uint64_t channels_deadline(void);
void channels_tick(uint64_t now_ms);
bool transfer_init(const char **ret_problem);

/* --- resolve.c --- */

enum { ADDRESSES_MAX = 16 };
struct resolution {
	void (*done)(struct resolution *resolution);
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	unsigned n;
	const char *problem; /* NULL: there are addresses */
	void *owner;         /* NULL: not wanted any more; it is freed when it is done */
};
/* Read the configuration of the system. Before the wall. */
bool resolve_init(const char **ret_problem);
/* Why one of the addresses is special: no name may lead there. NULL if none is. */
const char *resolution_special(const struct resolution *resolution);
socklen_t address_length(const struct sockaddr_storage *address);
/* Whether the address is one of this machine. */
bool address_is_here(const struct sockaddr_storage *address);
void address_set(struct sockaddr_storage *address, const struct gb_host *host, uint16_t port);
void address_set_port(struct sockaddr_storage *address, uint16_t port);
void address_write(const struct sockaddr_storage *address, char *ret, size_t n);
/* Look @name up; @resolution, which was allocated, is freed after .done was called, later. */
void resolve(struct resolution *resolution, const char *name);
void resolve_tick(void);
bool resolve_is_busy(void);

/* --- control.c --- */

bool control_init(const char **ret_problem);
void control_send(const struct gb_egress_notice *notice, const void *more, size_t n);
/* Report an attempt, within the bounds of the run. @bodies may be NULL. */
void control_record(
    struct cell *cell, const struct gb_egress_record *record, const struct gb_egress_bodies *bodies);
/* A denial of @host at @port. */
void control_deny(struct cell *cell, const char *host, uint16_t port, const char *reason);
uint64_t now_ms(void); /* monotonic */
uint64_t wall_clock_ms(void);

/* --- wall.c --- */

/* Give up everything that is not needed. NULL, or what has failed. */
const char *wall_raise(void);

#endif
