/* The first message of a TLS client, ClientHello: which server it names. */
#ifndef GB_EGRESS_HELLO_H
#define GB_EGRESS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GB_HELLO_MAX = 32 << 10 }; /* bytes of a ClientHello with the heads of its records */

struct gb_hello {
	char name[256];      /* of the server, as the client wrote it; empty if it names none */
	bool encrypted;      /* the real name is encrypted (ECH, ESNI) */
	const char *problem; /* GB_HELLO_BAD: what is wrong */
};

enum gb_hello_status { GB_HELLO_MORE, GB_HELLO_COMPLETE, GB_HELLO_BAD };

/* Read the beginning of a connection, @n bytes so far. */
enum gb_hello_status gb_hello_read(const uint8_t *bytes, size_t n, struct gb_hello *ret);

#endif
