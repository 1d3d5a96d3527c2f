#include "../tap.h"
#include "egress/dns.h"

/* A question about @name, as labels of the wire format. */
static size_t ask(uint8_t *to, const char *labels, size_t n, unsigned type) {
	static const uint8_t head[12] = {0x12, 0x34, 0x01, 0, 0, 1};
	memcpy(to, head, sizeof head);
	memcpy(to + 12, labels, n);
	const uint8_t tail[4] = {(uint8_t)(type >> 8), (uint8_t)type, 0, 1};
	memcpy(to + 12 + n, tail, sizeof tail);
	return 12 + n + 4;
}

TEST(a_question_is_read_in_lower_case) {
	uint8_t message[64];
	struct gb_dns_question question;
	size_t n = ask(message, "\3API\7Example\3com", 17, GB_DNS_AAAA);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_OK);
	CHECK_STR(question.name, "api.example.com");
	CHECK(question.plain && question.type == GB_DNS_AAAA && question.class == 1 && question.end == n);
}

TEST(bytes_that_no_name_has_are_not_plain) {
	uint8_t message[64];
	struct gb_dns_question question;
	size_t n = ask(message, "\3a.b\3c\0d", 9, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_OK);
	CHECK_STR(question.name, "a?b.c?d");
	CHECK(!question.plain);
	n = ask(message, "", 1, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_OK);
	CHECK_STR(question.name, "");
}

TEST(malformed_messages_are_told_apart) {
	uint8_t message[600] = {0};
	struct gb_dns_question question;
	size_t n = ask(message, "\1a\1b", 5, GB_DNS_A);
	for (size_t cut = 0; cut < n; cut++)
		CHECK_INT(gb_dns_read(message, cut, &question), cut < 12 ? GB_DNS_IGNORE : GB_DNS_MALFORMED);
	message[2] |= 0x80;
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_IGNORE);
	message[2] = 0x28;
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_NOT_IMPLEMENTED);
	n = ask(message, "\1a\300\14", 5, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_MALFORMED);
	n = ask(message, "\1a", 3, GB_DNS_A);
	message[5] = 2;
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_MALFORMED);
	n = ask(message, "\100aaaa", 6, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_MALFORMED);
}

TEST(the_longest_name_fits_and_a_longer_one_is_malformed) {
	char labels[300];
	uint8_t message[400], reply[GB_DNS_REPLY_MAX];
	struct gb_dns_question question;
	for (int i = 0; i < 4; i++) {
		labels[i * 64] = 63;
		memset(labels + i * 64 + 1, 'x', 63);
	}
	labels[192] = 61;
	labels[254] = 0;
	size_t n = ask(message, labels, 255, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_OK);
	CHECK_INT(strlen(question.name), 253);
	CHECK_INT(gb_dns_answer(message, &question, GB_DNS_NO_ERROR, 1, reply), n + 16);
	labels[192] = 62;
	labels[255] = 0;
	n = ask(message, labels, 256, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_MALFORMED);
}

TEST(answers_repeat_the_question) {
	uint8_t message[64], reply[GB_DNS_REPLY_MAX];
	struct gb_dns_question question;
	size_t n = ask(message, "\1A\1b", 5, GB_DNS_A);
	CHECK_INT(gb_dns_read(message, n, &question), GB_DNS_OK);
	CHECK_INT(gb_dns_answer(message, &question, GB_DNS_NO_ERROR, 0xc6120005, reply), n + 16);
	CHECK(memcmp(reply, "\x12\x34\x85\x80\0\1\0\1\0\0\0\0", 12) == 0);
	CHECK(memcmp(reply + 12, message + 12, n - 12) == 0);
	CHECK(memcmp(reply + n, "\xc0\x0c\0\1\0\1\0\0\0\0\0\4\xc6\x12\0\5", 16) == 0);
	CHECK_INT(gb_dns_answer(message, &question, GB_DNS_NO_NAME, 0, reply), n);
	CHECK_INT(reply[3], 0x83);
	CHECK_INT(gb_dns_answer(message, NULL, GB_DNS_FORMAT_ERROR, 0, reply), 12);
	CHECK(memcmp(reply, "\x12\x34\x85\x81\0\0\0\0\0\0\0\0", 12) == 0);
}
