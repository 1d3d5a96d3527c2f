#include "engine/workers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef GB_LIBEXECDIR
#define GB_LIBEXECDIR "/usr/local/libexec/glovebox"
#endif

static bool is_in(const char *dir, const char *name, char *ret, size_t n) {
	return (size_t)snprintf(ret, n, "%s/%s", dir, name) < n && access(ret, X_OK) == 0;
}

bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err) {
	if (dir)
		return is_in(dir, name, ret, n) ||
		       gb_fail(err, GB_ENOENT, errno, "worker program '%s' in worker_dir '%s'", name, dir);
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash = NULL;
	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
	}
	if (slash) {
		*slash = '\0';
		if (is_in(self, name, ret, n))
			return true;
	}
	return is_in(GB_LIBEXECDIR, name, ret, n) ||
	       gb_fail(err, GB_ENOENT, 0, "worker program '%s' is neither beside '%s' nor in " GB_LIBEXECDIR,
		   name, slash ? self : "this program");
}
