/* A compromised worker: see test-protocol.c. */
#ifndef GB_TESTS_HOSTILE_H
#define GB_TESTS_HOSTILE_H

#include <stddef.h>

#include "base/buf.h"

/* A job begins in @head, @n bytes of which were read from @fd; its source names the behaviour. */
void hostile_serve(int fd, const char *head, size_t n);

/* --- for the behaviours --- */

struct hostile_behaviour {
	const char *name;
	void (*behave)(long n);
};

/* hostile-bridge.c; the last has no name. */
extern const struct hostile_behaviour hostile_bridge_behaviours[];

/* Output of the behaviours; hostile_flush sends it. */
extern struct gb_buf hostile_out;
void hostile_flush(void);
/* Never answer, never end. */
__attribute__((noreturn)) void hostile_stay(void);
/* Append the result that says 42. */
void hostile_result(void);
/* Send the output, with the right length but truncated after @n bytes of payload; or with bit @n flipped. Ends
 * with status 3 if there is no such byte or bit. */
__attribute__((noreturn)) void hostile_send_cut(long n);
__attribute__((noreturn)) void hostile_send_bent(long n);

#endif
