#include "engine/workers.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the folder of a program, and from that of the library, to the folder of the workers in an installed tree. */
#ifndef GB_LIBEXEC_FROM_BIN
#define GB_LIBEXEC_FROM_BIN "../libexec/glovebox"
#endif
#ifndef GB_LIBEXEC_FROM_LIB
#define GB_LIBEXEC_FROM_LIB "../libexec/glovebox"
#endif

/* --- where this code is --- */

/* A file that contains this code, or the program that uses it. */
struct home {
	char folder[PATH_MAX];
	uid_t owner;
	const char *libexec; /* relative to the folder */
};

/* @path is absolute and has no symbolic links; @file is the same file, also after an update has replaced it. */
static bool open_home(const char *path, const char *file, const char *libexec, struct home *ret) {
	struct stat st;
	const char *slash = strrchr(path, '/');
	if (!slash || stat(file, &st) != 0)
		return false;
	snprintf(ret->folder, sizeof ret->folder, "%.*s", (int)(slash - path), path);
	ret->owner = st.st_uid;
	ret->libexec = libexec;
	return true;
}

static bool find_program_home(struct home *ret) {
	static const char link[] = "/proc/self/exe";
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	return open_home(path, link, GB_LIBEXEC_FROM_BIN, ret);
}

/* If this code is in a shared library. The program itself has no name here, and a name that is not absolute depends on
 * the working directory at the time when the library was loaded. */
static bool find_library_home(struct home *ret) {
	static const char here;
	Dl_info info;
	struct link_map *map = NULL;
	char path[PATH_MAX];
	return dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0] == '/' &&
	       realpath(map->l_name, path) && open_home(path, path, GB_LIBEXEC_FROM_LIB, ret);
}

/* --- workers --- */

static bool is_in(const char *dir, const char *name, char *ret, size_t n) {
	return (size_t)snprintf(ret, n, "%s/%s", dir, name) < n && access(ret, X_OK) == 0;
}

static bool is_in_home(const struct home *home, const char *name, char *ret, size_t n) {
	char libexec[PATH_MAX + 64];
	return is_in(home->folder, name, ret, n) || ((size_t)snprintf(libexec, sizeof libexec, "%s/%s",
							 home->folder, home->libexec) < sizeof libexec &&
							is_in(libexec, name, ret, n));
}

static bool check_place(const char *path, uid_t owner, struct gb_err *err) {
	struct stat st;
	if (stat(path, &st) != 0)
		return gb_fail(err, GB_ENOENT, errno, "worker program '%s'", path);
	/* In a sticky folder other users cannot replace the file. */
	if ((st.st_mode & S_IWOTH) && !(S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX)))
		return gb_fail(err, GB_EWALL, 0,
		    "every user can write to '%s', so it may not set up the sandbox; chmod o-w '%s'", path,
		    path);
	if (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != owner)
		return gb_fail(err, GB_EWALL, 0,
		    "'%s' belongs to user %u, so it may not set up the sandbox: it must belong to root, to "
		    "the "
		    "owner of Glovebox, or to the user that runs it; install it again",
		    path, (unsigned)st.st_uid);
	return true;
}

static bool check_worker(const char *path, uid_t owner, struct gb_err *err) {
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	return check_place(folder, owner, err) && check_place(path, owner, err);
}

static bool find_at_home(
    const struct home *homes, size_t n_homes, const char *name, char *ret, size_t n, struct gb_err *err) {
	for (size_t i = 0; i < n_homes; i++)
		if (is_in_home(&homes[i], name, ret, n))
			return check_worker(ret, homes[i].owner, err);
	if (n_homes == 0)
		return gb_fail(err, GB_ENOENT, 0, "worker program '%s': /proc/self/exe cannot be read", name);
	return gb_fail(err, GB_ENOENT, 0,
	    "worker program '%s' is neither in '%s' nor in '%s' beside it; install Glovebox again, or set "
	    "worker_dir",
	    name, homes[0].folder, homes[0].libexec);
}

bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err) {
	struct home homes[2];
	size_t n_homes = 0;
	n_homes += find_library_home(&homes[n_homes]);
	n_homes += find_program_home(&homes[n_homes]);
	if (!dir)
		return find_at_home(homes, n_homes, name, ret, n, err);
	if (!is_in(dir, name, ret, n))
		return gb_fail(err, GB_ENOENT, errno, "worker program '%s' in worker_dir '%s'", name, dir);
	return check_worker(ret, n_homes ? homes[0].owner : 0, err);
}
