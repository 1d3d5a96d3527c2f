/* The worker turned against its host: see test-protocol.c. */
#ifndef GB_TESTS_HOSTILE_H
#define GB_TESTS_HOSTILE_H

#include <stddef.h>

/* A job begins in @head, @n bytes of which were read from @fd; its source names the behaviour. */
void hostile_serve(int fd, const char *head, size_t n);

#endif
