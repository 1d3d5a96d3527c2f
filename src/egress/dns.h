/*
 * DNS messages of guests: reads a question, writes its answer.
 *
 *	struct gb_dns_question question;
 *	if (gb_dns_read(bytes, n, &question) != GB_DNS_OK) ...
 *	size_t length = gb_dns_answer(bytes, n, &question, GB_DNS_NO_NAME, 0, reply);
 *
 * Only what stub resolvers send is understood: one question, whose name is not compressed.
 */
#ifndef GB_EGRESS_DNS_H
#define GB_EGRESS_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GB_DNS_REPLY_MAX = 12 + 256 + 4 + 16, /* head, question, one address */
	GB_DNS_A = 1,
	GB_DNS_AAAA = 28,
};

struct gb_dns_question {
	char name[256]; /* in lower case; bytes that no name has are '?', and then it is not .plain */
	bool plain;
	uint16_t type, class;
	size_t end; /* of the question in the message */
};

enum gb_dns_status {
	GB_DNS_OK,
	GB_DNS_MALFORMED,       /* answer GB_DNS_FORMAT_ERROR */
	GB_DNS_NOT_IMPLEMENTED, /* another operation than a query */
	GB_DNS_IGNORE,          /* too short to be answered, or itself an answer */
};

enum gb_dns_code {
	GB_DNS_NO_ERROR,
	GB_DNS_FORMAT_ERROR,
	GB_DNS_SERVER_FAILURE,
	GB_DNS_NO_NAME,
	GB_DNS_NO_OPERATION
};

enum gb_dns_status gb_dns_read(const uint8_t *message, size_t n, struct gb_dns_question *ret);
/* Write the answer to the message that was read; with @address, in the byte order of the host, unless that is 0.
 * @question is NULL if it could not be read. Returns its length. */
size_t gb_dns_answer(const uint8_t *message, const struct gb_dns_question *question, enum gb_dns_code code,
    uint32_t address, uint8_t ret[GB_DNS_REPLY_MAX]);

#endif
