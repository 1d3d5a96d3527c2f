/* The fetch channel of a cell: shared by channel.c, which exchanges messages, fetch.c, which decides about requests,
 * and transfer.c, which makes them with libcurl. */
#ifndef GB_EGRESS_PROCESS_CHANNEL_H
#define GB_EGRESS_PROCESS_CHANNEL_H

#include <curl/curl.h>

#include "egress/echo.h"
#include "egress/fetch.h"
#include "egress/process/process.h"

struct channel {
	struct gb_list link; /* in the list of all channels */
	struct cell *cell;
	struct gb_source source;
	int fd;
	uint32_t events;
	struct gb_buf queue;  /* messages that did not fit into the socket, each with its length in front */
	CURLM *multi;         /* connections are not shared with other cells; NULL before the first request */
	uint64_t deadline_ms; /* of libcurl; 0: none */
	struct gb_list fetches;
	unsigned n_fetches;
	bool over; /* the cell has closed it, or has broken the protocol */
};

/* What is searched for in a response, and what was found to be sent to the cell. */
struct fetch_search {
	struct gb_str forms[GB_SECRET_FORMS_MAX * GB_EGRESS_SECRETS_MAX];
	struct gb_echo echo;
	struct gb_buf down; /* of the body, not sent yet */
	bool is_encoded;
	bool complete; /* .down is all that is left */
};

/* One request, to one host: a redirect is another request. */
struct fetch {
	struct gb_list link;
	struct channel *channel;
	uint32_t id;
	CURL *easy;
	struct curl_slist *headers, *addresses_list;
	struct gb_host host;
	uint16_t port;
	bool tls;
	char rule[GB_HOST_RULE_MAX + 1];
	char *method, *target;
	enum gb_fetch_body body;
	uint64_t length;
	struct resolution *resolution;
	struct sockaddr_storage addresses[ADDRESSES_MAX]; /* that were checked */
	unsigned n_addresses;
	struct gb_buf up; /* of the body, not sent yet */
	bool up_ended, up_paused;
	struct gb_buf head; /* of the response */
	unsigned n_head;    /* headers in it */
	int status;
	char length_said[20]; /* Content-Length; "": there was none */
	char reason[128];
	size_t mark; /* in .head: where the value of the last header ends */
	bool head_sent, down_paused;
	uint64_t credit; /* of the cell for the body */
	/* The response of a host that gets secrets is searched for them; otherwise .search is NULL. */
	struct fetch_search *search;
	struct gb_egress_bodies *bodies; /* NULL: they are not recorded */
	struct gb_placeholder_tail tail; /* of the body of the request */
	const char *refused;             /* why a connection was refused; NULL: it was not */
	char problem[CURL_ERROR_SIZE];
	uint64_t started_ms, wall_ms, active_ms, sent, received, uploaded;
};

/* --- channel.c --- */

/* False if it must wait: nothing was sent. Messages other than GB_FETCH_DATA never wait. */
bool channel_send(struct channel *channel, enum gb_fetch_kind kind, uint32_t id, const void *bytes, size_t n);
bool channel_is_blocked(const struct channel *channel);

/* --- fetch.c --- */

void fetch_open(struct channel *channel, uint32_t id, const void *bytes, size_t n);
struct fetch *fetch_find(struct channel *channel, uint32_t id);
/* The response is complete, or has failed: @problem says why; record it and free it. */
void fetch_finish(struct fetch *fetch, enum gb_egress_verdict verdict, const char *problem);
/* The cell wants nothing more of it. */
void fetch_cancel(struct fetch *fetch, const char *reason);
/* Count bytes. False if the run may not transfer so many. */
bool fetch_charge(struct fetch *fetch, size_t sent, size_t received);

/* --- transfer.c --- */

/* Everything was checked: connect and send. False, with .problem, if that is not possible. */
bool transfer_start(struct fetch *fetch);
void transfer_stop(struct fetch *fetch);
/* More may be sent to the cell or to the server. */
void transfer_resume(struct fetch *fetch);
/* Give libcurl the time. */
void transfer_tick(struct channel *channel, uint64_t now_ms);
void transfer_close(struct channel *channel);

#endif
