/*
 * The table of shell commands that are refused, each with a reason and an alternative. Two checks use it: the
 * static guard, for code of agents, and restricted mode, inside the sandbox. commands.h finds the commands in
 * a script.
 */
#ifndef GB_RUNTIME_SHELL_REFUSED_H
#define GB_RUNTIME_SHELL_REFUSED_H

#include <stdbool.h>
#include <stddef.h>

enum gb_refused_mode {
	GB_REFUSED_GUARD = 1 << 0,
	GB_REFUSED_RESTRICTED = 1 << 1,
	GB_REFUSED_RESTRICTED_NETWORK = 1 << 2, /* restricted mode in the network tier */
};

enum gb_refused_kind {
	GB_REFUSED_COMMAND,
	/* Constructs. Each has one row and one name, which messages show. */
	GB_REFUSED_DEVICE,        /* output to a device */
	GB_REFUSED_SHARED_DEVICE, /* output to a device that scripts may need: /dev/shm, /dev/pts, random */
	GB_REFUSED_FORK_BOMB,
	GB_REFUSED_UNREADABLE, /* exceeds a bound of the reader */
};

struct gb_refused {
	enum gb_refused_kind kind;
	const char *const *names; /* ends with NULL; "mkfs*" is every name with that prefix */
	const char *reason;       /* "removes files" */
	const char *instead;      /* a sentence; names no command that is refused in any mode */
	unsigned modes;           /* gb_refused_mode, or-ed */
};

extern const struct gb_refused gb_refused[];
extern const size_t gb_refused_count;

/* True if @name is @pattern, or begins with it if it ends with '*'. */
bool gb_refused_matches(const char *pattern, const char *name);
/* The row that refuses @name in any of @modes, NULL if there is none; *ret_pattern is the name in the row. For kinds
 * other than GB_REFUSED_COMMAND, @name is ignored. */
const struct gb_refused *gb_refused_find(
    enum gb_refused_kind kind, const char *name, unsigned modes, const char **ret_pattern);

#endif
