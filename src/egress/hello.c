#include "egress/hello.h"

#include <string.h>

enum {
	RECORD_HEAD = 5,
	RECORD_MAX = 16384,
	MESSAGE_HEAD = 4,
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	SERVER_NAME = 0,
	ENCRYPTED_NAME = 0xffce,
	ENCRYPTED_HELLO = 0xfe0d,
};

/* Bytes of a vector. Reading past the end sets .bad. */
struct in {
	const uint8_t *p;
	size_t n;
	bool bad;
};

static struct in take(struct in *in, size_t n) {
	if (in->bad || n > in->n) {
		in->bad = true;
		return (struct in){NULL, 0, true};
	}
	struct in taken = {in->p, n, false};
	in->p += n;
	in->n -= n;
	return taken;
}

static size_t number(struct in *in, unsigned bytes) {
	struct in digits = take(in, bytes);
	size_t value = 0;
	for (size_t i = 0; i < digits.n; i++)
		value = value << 8 | digits.p[i];
	return value;
}

/* A vector with its length in front, of @bytes bytes. */
static struct in vector(struct in *in, unsigned bytes) {
	const size_t n = number(in, bytes);
	return take(in, n);
}

static bool bad(struct gb_hello *hello, const char *problem) {
	hello->problem = problem;
	return false;
}

static bool read_server_name(struct in extension, struct gb_hello *ret) {
	struct in list = vector(&extension, 2);
	const size_t type = number(&list, 1);
	struct in name = vector(&list, 2);
	if (list.bad || list.n || extension.n || type != 0)
		return bad(ret, "its server name is malformed");
	if (name.n == 0 || name.n >= sizeof ret->name || memchr(name.p, '\0', name.n))
		return bad(ret, "its server name is empty, too long or contains NUL");
	memcpy(ret->name, name.p, name.n);
	ret->name[name.n] = '\0';
	return true;
}

static bool read_extensions(struct in extensions, struct gb_hello *ret) {
	bool named = false;
	while (extensions.n) {
		const size_t type = number(&extensions, 2);
		struct in extension = vector(&extensions, 2);
		if (extensions.bad)
			return bad(ret, "its extensions are malformed");
		if (type == ENCRYPTED_HELLO || type == ENCRYPTED_NAME)
			ret->encrypted = true;
		if (type != SERVER_NAME)
			continue;
		if (named)
			return bad(ret, "it names the server twice");
		named = true;
		if (!read_server_name(extension, ret))
			return false;
	}
	return true;
}

static bool read_body(struct in body, struct gb_hello *ret) {
	(void)take(&body, 2 + 32); /* version, random */
	(void)vector(&body, 1);    /* session */
	(void)vector(&body, 2);    /* ciphers */
	(void)vector(&body, 1);    /* compressions */
	struct in extensions = {NULL, 0, false};
	if (!body.bad && body.n)
		extensions = vector(&body, 2);
	if (body.bad || body.n)
		return bad(ret, "its ClientHello is malformed");
	return read_extensions(extensions, ret);
}

/* Join the records of the message in @joined. Returns its bytes so far; -1 if this is no handshake. */
static long join_records(struct in in, uint8_t joined[GB_HELLO_MAX]) {
	size_t n = 0;
	while (in.n) {
		if (in.p[0] != HANDSHAKE || (in.n > 1 && in.p[1] != 3))
			return -1;
		if (in.n < RECORD_HEAD)
			break;
		size_t length = (size_t)(in.p[3] << 8 | in.p[4]);
		if (length == 0 || length > RECORD_MAX)
			return -1;
		(void)take(&in, RECORD_HEAD);
		struct in part = take(&in, length < in.n ? length : in.n);
		if (n + part.n > GB_HELLO_MAX)
			return -1;
		memcpy(joined + n, part.p, part.n);
		n += part.n;
		if (n >= MESSAGE_HEAD &&
		    n - MESSAGE_HEAD >= ((size_t)joined[1] << 16 | (size_t)joined[2] << 8 | joined[3]))
			break;
	}
	return (long)n;
}

enum gb_hello_status gb_hello_read(const uint8_t *bytes, size_t n, struct gb_hello *ret) {
	uint8_t joined[GB_HELLO_MAX];
	*ret = (struct gb_hello){0};
	const long got = join_records((struct in){bytes, n, false}, joined);
	if (got < 0 || (got > 0 && joined[0] != CLIENT_HELLO)) {
		ret->problem = "it does not begin with a TLS handshake";
		return GB_HELLO_BAD;
	}
	if (got < MESSAGE_HEAD)
		return GB_HELLO_MORE;
	const size_t length = (size_t)joined[1] << 16 | (size_t)joined[2] << 8 | joined[3];
	if (length > GB_HELLO_MAX - MESSAGE_HEAD - 64 * RECORD_HEAD) {
		ret->problem = "its ClientHello is too long";
		return GB_HELLO_BAD;
	}
	if ((size_t)got - MESSAGE_HEAD < length) {
		if (n < GB_HELLO_MAX)
			return GB_HELLO_MORE;
		ret->problem = "its ClientHello is cut into too many records";
		return GB_HELLO_BAD;
	}
	return read_body((struct in){joined + MESSAGE_HEAD, length, false}, ret) ? GB_HELLO_COMPLETE
										 : GB_HELLO_BAD;
}
