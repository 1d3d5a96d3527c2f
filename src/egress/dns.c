#include "egress/dns.h"

#include <string.h>

enum { HEAD = 12, LABEL_MAX = 63, NAME_MAX_BYTES = 255, OPCODE = 0x78, RESPONSE = 0x80 };

static uint16_t read16(const uint8_t *at) {
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void write16(uint8_t *at, unsigned value) {
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static char plain_character(uint8_t c, bool *plain) {
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
		return (char)c;
	*plain = false;
	return '?';
}

/* The name at @at, as text. Returns where it ends, or 0. */
static size_t read_name(const uint8_t *message, size_t n, size_t at, struct gb_dns_question *ret) {
	size_t length = 0;
	const size_t first = at;
	ret->plain = true;
	while (at < n && message[at]) {
		const uint8_t label = message[at++];
		if (label > LABEL_MAX || at + label >= n || at + label + 1 - first > NAME_MAX_BYTES)
			return 0;
		if (length)
			ret->name[length++] = '.';
		for (uint8_t i = 0; i < label; i++)
			ret->name[length++] = plain_character(message[at++], &ret->plain);
	}
	ret->name[length] = '\0';
	return at < n ? at + 1 : 0;
}

enum gb_dns_status gb_dns_read(const uint8_t *message, size_t n, struct gb_dns_question *ret) {
	if (n < HEAD || (message[2] & RESPONSE))
		return GB_DNS_IGNORE;
	if (message[2] & OPCODE)
		return GB_DNS_NOT_IMPLEMENTED;
	/* One question, no answers; additional records are those of EDNS, which is not used. */
	if (read16(message + 4) != 1 || read16(message + 6) || read16(message + 8))
		return GB_DNS_MALFORMED;
	struct gb_dns_question question = {0};
	const size_t end = read_name(message, n, HEAD, &question);
	if (!end || end + 4 > n)
		return GB_DNS_MALFORMED;
	question.type = read16(message + end);
	question.class = read16(message + end + 2);
	question.end = end + 4;
	*ret = question;
	return GB_DNS_OK;
}

size_t gb_dns_answer(const uint8_t *message, const struct gb_dns_question *question, enum gb_dns_code code,
    uint32_t address, uint8_t ret[GB_DNS_REPLY_MAX]) {
	static const uint8_t record[] = {0xc0, HEAD, 0, GB_DNS_A, 0, 1, 0, 0, 0, 0, 0, 4};
	size_t n = question ? question->end : HEAD;
	memset(ret, 0, HEAD);
	memcpy(ret, message, question ? n : 2);
	ret[2] = (uint8_t)(RESPONSE | (message[2] & (OPCODE | 0x01 /* recursion desired */)) |
			   0x04 /* authority */);
	ret[3] = (uint8_t)(0x80 /* recursion available */ | code);
	write16(ret + 4, question ? 1 : 0);
	write16(ret + 6, address ? 1 : 0);
	memset(ret + 8, 0, 4);
	if (!address)
		return n;
	memcpy(ret + n, record, sizeof record);
	n += sizeof record;
	write16(ret + n, address >> 16);
	write16(ret + n + 2, address & 0xffff);
	return n + 4;
}
