/* Working directories of the caller's, and the sandboxes that have them. */
#include "engine/workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "engine/engine.h"

enum { NOBODY = 65534 };
/* The sandboxes of a directory that nothing uses are kept for so long. */
#define IDLE_NS 60000000000ull

/* --- the directory --- */

void gb_workdir_finish(struct gb_workdir *workdir) {
	gb_close_fd(&workdir->fd);
}

/* "DIR", "DIR:rw" */
static bool split(const char *text, char path[PATH_MAX], bool *ret_writable, struct gb_err *err) {
	static const char suffix[] = ":rw";
	size_t n = strlen(text);
	*ret_writable = n >= sizeof suffix - 1 && strcmp(text + n - (sizeof suffix - 1), suffix) == 0;
	n -= *ret_writable ? sizeof suffix - 1 : 0;
	if (!n)
		return gb_fail_field(err, GB_EINVAL, "workdir", "names no directory: it is DIR or DIR:rw");
	if (n >= PATH_MAX)
		return gb_fail_field(err, GB_EINVAL, "workdir", "has more than %d bytes", PATH_MAX - 1);
	memcpy(path, text, n);
	path[n] = '\0';
	return true;
}

static bool is_same(const struct gb_workdir *workdir, const char *path) {
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == workdir->device && st.st_ino == workdir->inode;
}

/* Files of these file systems are interfaces of the kernel. */
static bool is_for_files(int fd) {
	static const long others[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
	    DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC, DEVPTS_SUPER_MAGIC};
	struct statfs fs;
	if (fstatfs(fd, &fs) != 0)
		return false;
	for (size_t i = 0; i < GB_COUNT(others); i++)
		if ((long)fs.f_type == others[i])
			return false;
	return true;
}

/* Sandboxes of root run as the user 'nobody'. An access control list may permit more than the mode shows; then the
 * sandbox finds out. */
static bool may_nobody(const struct gb_workdir *workdir, const struct stat *st) {
	const mode_t wanted = S_IROTH | S_IXOTH | (workdir->writable ? S_IWOTH : 0);
	const mode_t mode = st->st_uid == NOBODY   ? st->st_mode >> 6
			    : st->st_gid == NOBODY ? st->st_mode >> 3
						   : st->st_mode;
	return (mode & wanted) == wanted || getxattr(workdir->path, "system.posix_acl_access", NULL, 0) > 0;
}

static bool check_rights(const struct gb_workdir *workdir, const struct stat *st, struct gb_err *err) {
	const char *verb = workdir->writable ? "read and write" : "read";
	char path[32];
	if (geteuid() == 0)
		return may_nobody(workdir, st) ||
		       gb_fail_field(err, GB_EINVAL, "workdir",
			   "'%s': sandboxes of root run as the user 'nobody' (user namespace), which may not "
			   "%s "
			   "this directory: give it to that user (chown nobody) or open it for others (chmod "
			   "o+%s)",
			   workdir->path, verb, workdir->writable ? "rwx" : "rx");
	snprintf(path, sizeof path, "/proc/self/fd/%d", workdir->fd);
	return faccessat(AT_FDCWD, path, R_OK | X_OK | (workdir->writable ? W_OK : 0), AT_EACCESS) == 0 ||
	       gb_fail_field(err, GB_EINVAL, "workdir",
		   "'%s': you may not %s this directory, so its sandbox may not either (%s): change its "
		   "mode, or "
		   "name another",
		   workdir->path, verb, strerror(errno));
}

static bool check(struct gb_workdir *workdir, struct gb_err *err) {
	struct stat st;
	char self[32];
	snprintf(self, sizeof self, "/proc/self/fd/%d", workdir->fd);
	const ssize_t n = readlink(self, workdir->path, sizeof workdir->path - 1);
	if (n <= 0 || fstat(workdir->fd, &st) != 0)
		return gb_fail_field(err, GB_ESYSTEM, "workdir", "cannot be read: %s", strerror(errno));
	workdir->path[n] = '\0';
	workdir->device = st.st_dev;
	workdir->inode = st.st_ino;
	if (is_same(workdir, "/"))
		return gb_fail_field(err, GB_EINVAL, "workdir",
		    "'/' cannot be one: code would have all files of the system (mount namespace); name the "
		    "directory that it needs");
	if (!is_for_files(workdir->fd))
		return gb_fail_field(err, GB_EINVAL, "workdir",
		    "'%s' is an interface of the kernel and has no files (mount namespace); name a directory "
		    "of files",
		    workdir->path);
	return check_rights(workdir, &st, err);
}

bool gb_workdir_open(const char *text, struct gb_workdir *ret, struct gb_err *err) {
	char path[PATH_MAX];
	*ret = (struct gb_workdir){.fd = -1};
	if (!split(text, path, &ret->writable, err))
		return false;
	ret->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->fd < 0)
		return gb_fail_field(err, GB_EINVAL, "workdir", "'%.400s': %s", path,
		    errno == ENOTDIR ? "is not a directory" : strerror(errno));
	if (check(ret, err))
		return true;
	gb_workdir_finish(ret);
	return false;
}

/* Whether @is_wanted knows @path or a folder above it. @path is absolute, without links; it is shortened. */
static bool has_above(char *path, bool (*is_wanted)(const char *path, const void *data), const void *data) {
	while (!is_wanted(path, data)) {
		char *slash = strrchr(path, '/');
		if (!slash || !path[1])
			return false;
		slash[slash == path] = '\0';
	}
	return true;
}

void gb_workdir_describe(const struct gb_workdir *workdir, struct gb_buf *out) {
	gb_buf_printf(out, "%s%s", workdir->path, workdir->writable ? ":rw" : "");
}

static bool is_workdir(const char *path, const void *data) {
	return is_same(data, path);
}

bool gb_workdir_has(const struct gb_workdir *workdir, const char *path) {
	char copy[PATH_MAX], real[PATH_MAX];
	if (strlen(path) >= sizeof copy)
		return false;
	memcpy(copy, path, strlen(path) + 1);
	/* Of a path that does not exist yet, the folder that it would be made in. */
	for (char *slash; !realpath(copy, real); *slash = '\0')
		if (!(slash = strrchr(copy, '/')) || slash == copy)
			return false;
	return has_above(real, is_workdir, workdir);
}

static bool is_stat(const char *path, const void *data) {
	const struct stat *wanted = data;
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == wanted->st_dev && st.st_ino == wanted->st_ino;
}

bool gb_workdir_is_in(const struct gb_workdir *workdir, const char *path) {
	struct stat st;
	char copy[PATH_MAX];
	memcpy(copy, workdir->path, sizeof copy);
	return stat(path, &st) == 0 && has_above(copy, is_stat, &st);
}

/* --- sandboxes with a directory --- */

static bool is_used(const struct gb_workplace *place) {
	return place->workdir.fd >= 0;
}

enum gb_runtime gb_workplace_of(const struct gb_engine *engine, enum gb_runtime which) {
	return which < GB_RUNTIME_WORKPLACES ? which : engine->workplaces[which - GB_RUNTIME_WORKPLACES].of;
}

struct gb_workdir *gb_workplace_dir(struct gb_engine *engine, enum gb_runtime which) {
	return which < GB_RUNTIME_WORKPLACES ? NULL
					     : &engine->workplaces[which - GB_RUNTIME_WORKPLACES].workdir;
}

void gb_workplaces_init(struct gb_engine *engine) {
	for (size_t i = 0; i < GB_WORKPLACES; i++)
		engine->workplaces[i].workdir.fd = -1;
}

static void drop(struct gb_engine *engine, size_t i) {
	gb_pool_destroy(engine->pools[GB_RUNTIME_WORKPLACES + i]);
	engine->pools[GB_RUNTIME_WORKPLACES + i] = NULL;
	gb_workdir_finish(&engine->workplaces[i].workdir);
}

void gb_workplaces_clean_up(struct gb_engine *engine) {
	for (size_t i = 0; i < GB_WORKPLACES; i++) {
		struct gb_workplace *place = &engine->workplaces[i];
		if (is_used(place) && !place->n_users && gb_now_ns() - place->left_at > IDLE_NS)
			drop(engine, i);
	}
}

/* One that is not used, or that of the idle directory that was left first. GB_WORKPLACES: there is none. */
static size_t choose(struct gb_engine *engine) {
	size_t chosen = GB_WORKPLACES;
	if (!engine->in_callback)
		gb_engine_release_settled(engine);
	for (size_t i = 0; i < GB_WORKPLACES; i++) {
		const struct gb_workplace *place = &engine->workplaces[i];
		if (!is_used(place))
			return i;
		/* Inside a callback, functions of a pool may be on the stack. */
		if (!engine->in_callback && !place->n_users &&
		    (chosen == GB_WORKPLACES || place->left_at < engine->workplaces[chosen].left_at))
			chosen = i;
	}
	if (chosen < GB_WORKPLACES)
		drop(engine, chosen);
	return chosen;
}

/* A program of Glovebox that code could replace would run outside of the sandbox of the next run. */
static bool check_programs(
    struct gb_engine *engine, const struct gb_workdir *workdir, enum gb_runtime which, struct gb_err *err) {
	char program[PATH_MAX];
	return !workdir->writable || !gb_runtime_worker(engine, which, program, sizeof program, err) ||
	       !gb_workdir_has(workdir, program) ||
	       gb_fail_field(err, GB_EINVAL, "workdir",
		   "'%s' has programs of Glovebox itself, which code could replace (mount namespace): give "
		   "it "
		   "without :rw, or name another directory",
		   workdir->path);
}

bool gb_workplace_enter(
    struct gb_engine *engine, const char *text, enum gb_runtime *runtime, struct gb_err *err) {
	struct gb_workdir workdir;
	if (!gb_workdir_open(text, &workdir, err))
		return false;
	size_t i = 0;
	for (; i < GB_WORKPLACES; i++) {
		const struct gb_workplace *place = &engine->workplaces[i];
		if (is_used(place) && place->of == *runtime && place->workdir.writable == workdir.writable &&
		    place->workdir.device == workdir.device && place->workdir.inode == workdir.inode)
			break;
	}
	const bool found = i < GB_WORKPLACES;
	bool ok = found || check_programs(engine, &workdir, *runtime, err);
	if (ok && !found && (i = choose(engine)) == GB_WORKPLACES)
		ok = gb_fail_field(err, GB_ELIMIT, "workdir",
		    "%d working directories are in use, which is the maximum; try again when a run has ended",
		    (int)GB_WORKPLACES);
	if (found || !ok)
		gb_workdir_finish(&workdir);
	if (!ok)
		return false;
	if (!found)
		engine->workplaces[i] = (struct gb_workplace){.workdir = workdir, .of = *runtime};
	engine->workplaces[i].n_users++;
	*runtime = (enum gb_runtime)(GB_RUNTIME_WORKPLACES + i);
	return true;
}

void gb_workplace_leave(struct gb_engine *engine, enum gb_runtime *which) {
	if (*which < GB_RUNTIME_WORKPLACES)
		return;
	struct gb_workplace *place = &engine->workplaces[*which - GB_RUNTIME_WORKPLACES];
	*which = 0;
	place->n_users--;
	place->left_at = gb_now_ns();
}
