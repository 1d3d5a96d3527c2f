/*
 * Whether what is in the foreground of a terminal waits for somebody to type. The kernel knows: a process
 * sleeps in a call that reads from the terminal, or that waits for several descriptors of which it is one.
 * /proc tells, of processes that the asker may look into.
 */
#ifndef GB_RUNTIME_SHELL_WAITING_H
#define GB_RUNTIME_SHELL_WAITING_H

#include <sys/types.h>

enum gb_waiting { GB_WAITING_NO, GB_WAITING_YES, GB_WAITING_UNKNOWN };

/* @terminal is any end of it; @device its number. Unknown if there is no /proc. */
enum gb_waiting gb_waiting_for(int terminal, dev_t device);

#endif
