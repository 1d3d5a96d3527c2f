/*
 * A descriptor that a signal handler makes readable. A wait that includes it is not missed by a signal that arrives
 * between the last look at the handler's flag and the wait.
 */
#ifndef GB_CLI_WAKE_H
#define GB_CLI_WAKE_H

#include <stdbool.h>

/* For signal handlers. */
void wake_note(int signal_number);
/* Wait until @fd is readable. False: a signal has arrived first. */
bool wake_wait(int fd);
/* For a poll() of more: the descriptor, and what to call when it is readable or the poll was interrupted. -1: there is
 * none, and signals only interrupt. */
int wake_fd(void);
void wake_clear(void);

#endif
