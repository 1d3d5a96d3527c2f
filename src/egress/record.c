#include "egress/record.h"

#include <string.h>

const char *gb_egress_verdict_name(enum gb_egress_verdict verdict) {
	static const char *const names[] = {"allowed", "denied", "failed"};
	return (unsigned)verdict < GB_EGRESS_VERDICTS ? names[verdict] : "?";
}

void gb_egress_bodies_add(struct gb_egress_bodies *bodies, bool sent, const void *bytes, size_t n) {
	if (!bodies || !n)
		return;
	uint32_t *used = sent ? &bodies->n_sent : &bodies->n_received;
	char *to = sent ? bodies->sent : bodies->received;
	const size_t room = GB_RECORD_BODY_MAX - *used;
	n = n < room ? n : room;
	memcpy(to + *used, bytes, n);
	*used += (uint32_t)n;
}
