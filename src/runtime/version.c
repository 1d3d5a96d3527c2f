#include "runtime/version.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void gb_version_write(const char *name, const char *version, char *ret, size_t n) {
	snprintf(ret, n, "%s %.*s", name, (int)strcspn(version, " "), version);
}

int gb_version_print(void (*version)(char *ret, size_t n)) {
	char line[64];
	version(line, sizeof line - 1);
	size_t n = strlen(line);
	line[n++] = '\n';
	return write(STDOUT_FILENO, line, n) == (ssize_t)n ? 0 : 1;
}
