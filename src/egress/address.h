/* Which addresses are special: not those of a public host. A name never leads to one of them. */
#ifndef GB_EGRESS_ADDRESS_H
#define GB_EGRESS_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

/* Why the address is not one of a public host: "private", "loopback", "link-local" and so on; NULL if it is one. For
 * AF_INET and AF_INET6; any other family is special. */
const char *gb_address_special(const struct sockaddr *address);

#endif
