#include "runtime/version.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int gb_print_version(const char *name, const char *version) {
	const struct iovec parts[] = {{(void *)name, strlen(name)}, {(void *)" ", 1},
	    {(void *)version, strcspn(version, " ")}, {(void *)"\n", 1}};
	return writev(STDOUT_FILENO, parts, sizeof parts / sizeof *parts) > 0 ? 0 : 1;
}
