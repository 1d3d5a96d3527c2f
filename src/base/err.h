/*
 * Failing is one statement, and context is added on the way up:
 *
 *	if (fd < 0)
 *		return gb_fail(err, GB_ENOENT, errno, "open '%s'", path);
 *	...
 *	if (!gb_file_open(path, &fd, err))
 *		return gb_wrap(err, "load policy");
 *
 * gives "load policy: open '/x': No such file or directory".
 * @err may be NULL everywhere, for callers that do not need the details.
 */
#ifndef GB_BASE_ERR_H
#define GB_BASE_ERR_H

#include <stdbool.h>

#include "glovebox/err.h"

/* Fill @err and return false. If @sys_errno is not 0, its description is appended. */
bool gb_fail(struct gb_err *err, enum gb_err_code code, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Fill @err with "field: detail", remember the field, and return false. */
bool gb_fail_field(struct gb_err *err, enum gb_err_code code, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Put "context: " before the message of @err and return false. Its field stays. */
bool gb_wrap(struct gb_err *err, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Put "field: " before the message of @err, of which all is about @field, and return false. */
bool gb_wrap_field(struct gb_err *err, const char *field) __attribute__((cold));

#endif
