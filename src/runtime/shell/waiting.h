/*
 * Detects whether the foreground process group of a terminal waits for input: a process sleeps in a system
 * call that reads from the terminal, or that polls it. Uses /proc, for processes that the caller may inspect.
 */
#ifndef GB_RUNTIME_SHELL_WAITING_H
#define GB_RUNTIME_SHELL_WAITING_H

#include <sys/types.h>

enum gb_waiting { GB_WAITING_NO, GB_WAITING_YES, GB_WAITING_UNKNOWN };

/* @terminal is either end; @device is its device number. GB_WAITING_UNKNOWN without /proc. */
enum gb_waiting gb_waiting_for(int terminal, dev_t device);

#endif
