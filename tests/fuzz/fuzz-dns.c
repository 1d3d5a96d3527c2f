/* The answer to any question that can be read repeats it, and is itself no question. */
#include "fuzz.h"

#include <string.h>

#include "egress/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_dns_question question, again;
	uint8_t reply[GB_DNS_REPLY_MAX];
	const enum gb_dns_status status = gb_dns_read(data, size, &question);
	if (status == GB_DNS_IGNORE)
		return 0;
	const bool ok = status == GB_DNS_OK;
	const size_t n = gb_dns_answer(
	    data, ok ? &question : NULL, ok ? GB_DNS_NO_ERROR : GB_DNS_FORMAT_ERROR, ok ? 7 : 0, reply);
	ALWAYS(n <= sizeof reply && n >= 12);
	ALWAYS(gb_dns_read(reply, n, &again) == GB_DNS_IGNORE);
	if (!ok)
		return 0;
	ALWAYS(question.end <= size && strlen(question.name) <= 253);
	ALWAYS(n == question.end + 16 && memcmp(reply + 12, data + 12, question.end - 12) == 0);
	return 0;
}
