/*
 * What was typed before, for the line editor; kept in a file of the state directory, which only the user can read.
 *
 *	struct history history = {0};
 *	if (!history_open(&history, folder, "history-python", &err)) ...	// it works without a file, too
 *	history_add(&history, "x = 1");
 *	history_close(&history);
 */
#ifndef GB_CLI_HISTORY_H
#define GB_CLI_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "glovebox/err.h"

enum { HISTORY_ENTRIES = 1000, HISTORY_ENTRY_BYTES = 64 << 10 };

struct history {
	char **entries; /* oldest first */
	size_t n;
	int fd; /* 0 or less: there is no file */
};

/* Read the last entries of the file @name in @folder, which are created with the modes 0600 and 0700 if they are
 * missing. */
bool history_open(struct history *history, const char *folder, const char *name, struct gb_err *err);
/* Add an entry, unless it is empty, too long, or the same as the last one. */
void history_add(struct history *history, const char *text);
void history_close(struct history *history);

#endif
