#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

void manual_name(const struct command *command, char ret[MANUAL_NAME]) {
	snprintf(ret, MANUAL_NAME, "glovebox%s%s", command ? "-" : "", command ? command->name : "");
	for (char *c = ret; *c; c++)
		*c = *c == ' ' ? '-' : *c;
}

void manual_refer(const struct command *command, FILE *to) {
	char self[PATH_MAX], path[PATH_MAX + 128], name[MANUAL_NAME];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return;
	manual_name(command, name);
	snprintf(path, sizeof path, "%.*s/../share/man/man1/%s.1", (int)(slash - self), self, name);
	if (access(path, R_OK) == 0)
		fprintf(to, "\nManual page: man %s\n", name);
}
