/* The record of one attempt of code to reach a host. */
#ifndef GB_EGRESS_RECORD_H
#define GB_EGRESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "egress/http.h"
#include "egress/rules.h"

enum { GB_RECORD_PATH_MAX = 512, GB_RECORD_BODY_MAX = 4096 };

enum gb_egress_verdict {
	GB_EGRESS_ALLOWED,
	GB_EGRESS_DENIED,    /* by a rule */
	GB_EGRESS_UNREACHED, /* allowed, but there was no connection, or it broke */
	GB_EGRESS_VERDICTS,
};

struct gb_egress_record {
	uint64_t time_ms; /* since 1970 */
	uint64_t duration_ms;
	uint64_t sent, received; /* bytes, as code sees it */
	uint32_t verdict;
	uint16_t port; /* 0: unknown, since only the name was looked up */
	char host[GB_HOST_NAME_MAX + 3];
	char rule[GB_HOST_RULE_MAX + 1]; /* that allowed it; or empty */
	char reason[160];                /* of a verdict other than GB_EGRESS_ALLOWED */
	/* Of a request that was read; otherwise empty. */
	char method[GB_HTTP_METHOD_MAX];
	char path[GB_RECORD_PATH_MAX]; /* without its query; a longer one is cut */
	uint16_t status;               /* of the answer; 0: none has come */
};

/* The first bytes of the bodies of a request that was read and of its answer, masked as code gets it. */
struct gb_egress_bodies {
	uint32_t n_sent, n_received;
	char sent[GB_RECORD_BODY_MAX], received[GB_RECORD_BODY_MAX];
};

/* Append bytes to one of them. @bodies may be NULL. */
void gb_egress_bodies_add(struct gb_egress_bodies *bodies, bool sent, const void *bytes, size_t n);

/* "allowed", "denied", "failed". */
const char *gb_egress_verdict_name(enum gb_egress_verdict verdict);

#endif
