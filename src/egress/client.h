/*
 * The host's side of glovebox-egress: starts it, watches it, and speaks to it. Everything happens in the caller's loop.
 *
 *	gb_egress_create(&options, &egress, &err);	// starts nothing
 *	int fd = gb_egress_open(egress, &link, false, &err);	// starts the process, if needed; @fd is for the cell
 *	gb_egress_begin(&link, &policy, &err);		// .on_begun follows: then code can run
 *	gb_egress_end(&link);				// .on_done follows: all records have come before
 *	gb_egress_close(&link);
 *
 * If the process dies or hangs, its connections are reset, .on_lost is called for every link, and the next
 * gb_egress_open starts another process. A link that was lost stays without a network.
 */
#ifndef GB_EGRESS_CLIENT_H
#define GB_EGRESS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/loop.h"
#include "egress/protocol.h"
#include "egress/record.h"
#include "egress/secret.h"

struct gb_egress;

struct gb_egress_options {
	struct gb_loop *loop; /* outlives the client */
	const char *program;  /* path of glovebox-egress */
	const char *proxy;    /* "host:port" of an HTTP proxy for all connections; NULL or empty: none */
	/* Path of a file of certificates: servers of these authorities are trusted as well; NULL or empty: none */
	const char *authorities;
	/* The process has died; links of cells that nothing uses yet are useless. After .on_lost of all links. */
	void (*on_lost)(void *data);
	void *data;
};

bool gb_egress_create(const struct gb_egress_options *options, struct gb_egress **ret, struct gb_err *err);
/* Kills the process. All links were closed. NULL is fine. */
void gb_egress_destroy(struct gb_egress *egress);
/* Why the process could not start; "" if it did. */
const char *gb_egress_problem(const struct gb_egress *egress);
/* Its process, or 0: for tests. */
int gb_egress_pid(const struct gb_egress *egress);

/* The connection of one cell. Embedded in an object of the owner. */
struct gb_egress_link {
	struct gb_list link;
	struct gb_egress *egress; /* NULL: not open */
	uint32_t id;
	bool lost;
	void *owner;
	/* @problem: the code must not run, for this reason; or empty. */
	void (*on_begun)(struct gb_egress_link *link, const char *problem);
	void (*on_record)(struct gb_egress_link *link, const struct gb_egress_record *record);
	/* Of the record that comes next. */
	void (*on_bodies)(struct gb_egress_link *link, const struct gb_egress_bodies *bodies);
	void (*on_done)(struct gb_egress_link *link, uint64_t dropped);
	void (*on_lost)(struct gb_egress_link *link);
};

struct gb_egress_policy {
	const char *const *rules; /* as gb_host_rule_parse reads them */
	size_t n_rules;
	const struct gb_secret_texts *secrets; /* at most GB_EGRESS_SECRETS_MAX */
	size_t n_secrets;
	struct gb_egress_limits limits;
};

/* Returns a descriptor, owned by the caller, over which the cell passes its sockets, or sends the messages of fetch.h
 * if it @fetches; -1 on failure. The callbacks of @link were set, or are set later. */
int gb_egress_open(struct gb_egress *egress, struct gb_egress_link *link, bool fetches, struct gb_err *err);
bool gb_egress_begin(struct gb_egress_link *link, const struct gb_egress_policy *policy, struct gb_err *err);
void gb_egress_end(struct gb_egress_link *link);
/* Handle the notices that have arrived already. Callbacks are called. */
void gb_egress_catch_up(struct gb_egress *egress);
/* Connect @fd, which stays the caller's, to @port inside the cell. */
bool gb_egress_connect(struct gb_egress_link *link, uint16_t port, int fd, struct gb_err *err);
/* Forget the link: the sockets of its cell are closed. Fine for one that is not open. */
void gb_egress_close(struct gb_egress_link *link);

#endif
