#include "egress/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

/* The special-purpose registries of IANA, and what is reserved. The first match counts. */
static const struct {
	uint32_t network;
	unsigned bits;
	const char *what;
} special4[] = {
    {0x00000000, 8, "unspecified"},
    {0x0a000000, 8, "private"},
    {0x64400000, 10, "shared"},
    {0x7f000000, 8, "loopback"},
    {0xa9fea9fe, 32, "metadata"},
    {0xa9fe0000, 16, "link-local"},
    {0xa83f8110, 32, "metadata"}, /* 168.63.129.16, of Azure */
    {0xac100000, 12, "private"},
    {0xc0000000, 24, "protocol assignments"},
    {0xc0000200, 24, "documentation"},
    {0xc0586300, 24, "6to4 relay"},
    {0xc0a80000, 16, "private"},
    {0xc6120000, 15, "benchmarking"},
    {0xc6336400, 24, "documentation"},
    {0xcb007100, 24, "documentation"},
    {0xe0000000, 4, "multicast"},
    {0xf0000000, 4, "reserved"},
};

static const char *check4(uint32_t address) {
	for (size_t i = 0; i < GB_COUNT(special4); i++) {
		uint32_t mask = ~0u << (32 - special4[i].bits);
		if ((address & mask) == special4[i].network)
			return special4[i].what;
	}
	return NULL;
}

/* Only 2000::/3 is assigned to hosts. Inside it these are special. */
static const struct {
	uint8_t prefix[8];
	unsigned bits;
	const char *what;
} special6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 32, "Teredo"},
    {{0x20, 0x01, 0x00, 0x02, 0, 0}, 48, "benchmarking"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
    {{0x20, 0x01, 0x00}, 23, "protocol assignments"},
    {{0x20, 0x02}, 16, "6to4"},
    {{0x3f, 0xff, 0x00}, 20, "documentation"},
};

static bool has_prefix(const uint8_t *address, const uint8_t *prefix, unsigned bits) {
	const unsigned whole = bits / 8, rest = bits % 8;
	if (memcmp(address, prefix, whole) != 0)
		return false;
	return !rest || (address[whole] & 0xff << (8 - rest) & 0xff) == prefix[whole];
}

static const char *check6(const uint8_t *address) {
	static const uint8_t loopback[16] = {[15] = 1}, none[16] = {0},
			     mapped[12] = {[10] = 0xff, [11] = 0xff};
	if (memcmp(address, loopback, 16) == 0)
		return "loopback";
	if (memcmp(address, none, 16) == 0)
		return "unspecified";
	if (memcmp(address, mapped, sizeof mapped) == 0)
		return "mapped";
	if (address[0] == 0xff)
		return "multicast";
	if (address[0] == 0xfe && (address[1] & 0xc0) == 0x80)
		return "link-local";
	if ((address[0] & 0xfe) == 0xfc)
		return "private";
	if ((address[0] & 0xe0) != 0x20)
		return "reserved"; /* also the prefix of NAT64, which leads to any IPv4 address */
	for (size_t i = 0; i < GB_COUNT(special6); i++)
		if (has_prefix(address, special6[i].prefix, special6[i].bits))
			return special6[i].what;
	return NULL;
}

const char *gb_address_special(const struct sockaddr *address) {
	if (address->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, address, sizeof in);
		return check4(ntohl(in.sin_addr.s_addr));
	}
	if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, address, sizeof in6);
		return check6(in6.sin6_addr.s6_addr);
	}
	return "unknown";
}
