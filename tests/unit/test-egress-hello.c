#include "../tap.h"
#include "egress/hello.h"

struct hello {
	uint8_t bytes[1024];
	size_t n;
};

static void put(struct hello *hello, const void *bytes, size_t n) {
	memcpy(hello->bytes + hello->n, bytes, n);
	hello->n += n;
}

static void put16(struct hello *hello, size_t value) {
	const uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
	put(hello, bytes, 2);
}

/* An extension with a server name. */
static void put_name(struct hello *to, const char *name, size_t n) {
	put16(to, 0);
	put16(to, n + 5);
	put16(to, n + 3);
	put(to, "", 1);
	put16(to, n);
	put(to, name, n);
}

/* A ClientHello with @extensions, in records of at most @record bytes. */
static struct hello make(const struct hello *extensions, size_t record) {
	struct hello body = {.n = 0}, message = {.n = 0}, all = {.n = 0};
	put(&body, "\3\3", 2);
	for (int i = 0; i < 32; i++)
		put(&body, "r", 1);
	put(&body, "\0\0\2\x13\1\1\0", 7);
	put16(&body, extensions->n);
	put(&body, extensions->bytes, extensions->n);
	put(&message, "\1\0", 2);
	put16(&message, body.n);
	put(&message, body.bytes, body.n);
	for (size_t at = 0; at < message.n; at += record) {
		size_t n = message.n - at < record ? message.n - at : record;
		put(&all, "\26\3\1", 3);
		put16(&all, n);
		put(&all, message.bytes + at, n);
	}
	return all;
}

TEST(the_name_of_the_server_is_read_from_whole_and_split_messages) {
	struct hello extensions = {.n = 0};
	struct gb_hello read;
	put(&extensions, "\0\53\0\3\2\3\4", 7);
	put_name(&extensions, "api.Example.com", 15);
	for (size_t record = 1; record < 200; record += 13) {
		struct hello all = make(&extensions, record);
		for (size_t cut = 0; cut < all.n; cut++)
			if (!CHECK_INT(gb_hello_read(all.bytes, cut, &read), GB_HELLO_MORE))
				return;
		CHECK_INT(gb_hello_read(all.bytes, all.n, &read), GB_HELLO_COMPLETE);
		CHECK_STR(read.name, "api.Example.com");
		CHECK(!read.encrypted);
	}
}

TEST(an_encrypted_name_is_seen) {
	struct hello extensions = {.n = 0};
	struct gb_hello read;
	put_name(&extensions, "public.example", 14);
	put(&extensions, "\xfe\x0d\0\1x", 5);
	struct hello all = make(&extensions, 16384);
	CHECK_INT(gb_hello_read(all.bytes, all.n, &read), GB_HELLO_COMPLETE);
	CHECK(read.encrypted);
}

TEST(a_message_without_a_name_is_complete) {
	struct hello extensions = {.n = 0};
	struct gb_hello read;
	struct hello all = make(&extensions, 16384);
	CHECK_INT(gb_hello_read(all.bytes, all.n, &read), GB_HELLO_COMPLETE);
	CHECK_STR(read.name, "");
}

static void check_bad(const struct hello *extensions, const char *problem) {
	struct gb_hello read;
	struct hello all = make(extensions, 16384);
	CHECK_INT(gb_hello_read(all.bytes, all.n, &read), GB_HELLO_BAD);
	CHECK_STR(read.problem, problem);
}

TEST(malformed_messages_are_bad) {
	struct hello two = {.n = 0}, nul = {.n = 0}, empty = {.n = 0}, cut = {.n = 0};
	struct gb_hello read;
	put_name(&two, "a.b", 3);
	put_name(&two, "c.d", 3);
	check_bad(&two, "it names the server twice");
	put_name(&nul, "a.b\0.c", 6);
	check_bad(&nul, "its server name is empty, too long or contains NUL");
	put_name(&empty, "", 0);
	check_bad(&empty, "its server name is empty, too long or contains NUL");
	put_name(&cut, "a.b", 3);
	cut.n--;
	check_bad(&cut, "its extensions are malformed");
	CHECK_INT(gb_hello_read((const uint8_t *)"GET / HTTP/1.1", 14, &read), GB_HELLO_BAD);
	CHECK_INT(gb_hello_read((const uint8_t *)"G", 1, &read), GB_HELLO_BAD);
	CHECK_INT(gb_hello_read((const uint8_t *)"\26\3\1\0\4\2\0\0\0", 9, &read), GB_HELLO_BAD);
	CHECK_INT(gb_hello_read((const uint8_t *)"\26\3\1\0\4\1\xff\0\0", 9, &read), GB_HELLO_BAD);
	CHECK_INT(gb_hello_read((const uint8_t *)"\26\3\1\0\0", 5, &read), GB_HELLO_BAD);
}
