/* The version of a worker's interpreter: reported to the host by its zygote, and printed by "--version" of a
 * worker that is started directly. */
#ifndef GB_RUNTIME_VERSION_H
#define GB_RUNTIME_VERSION_H

#include <stddef.h>

/* Write "@name @version", where @version ends at the first blank, to @ret, of @n bytes. */
void gb_version_write(const char *name, const char *version, char *ret, size_t n);
/* Print what @version writes. Returns the exit status. */
int gb_version_print(void (*version)(char *ret, size_t n));

#endif
