/*
 * A root directory that several cells share. Without GB_LAYER_MOUNT a cell stays in the file system of the
 * host, where the keeper of a shell does not find /box, /dev/shm and the program in GB_PROGRAM_DIR.
 * This creates a root with them, in namespaces of a forked process:
 *
 *	in_shared_root(check_something);
 *
 * The fork also has a pid namespace and a /proc of its own, because a keeper without a pid namespace of its
 * own counts the memory of every process in /proc, and signals all processes that it may signal.
 */
#ifndef GB_TESTS_E2E_SHARED_ROOT_H
#define GB_TESTS_E2E_SHARED_ROOT_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "e2e/engine.h"
#include "runtime/program/places.h"
#include "sandbox/linux/inside/room.h"
#include "tap.h"

enum { SHARED_ROOT_REFUSED = 77 };

static inline bool write_text(const char *path, const char *text) {
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* New namespaces; an ordinary user needs a user namespace for that, in which it keeps its ids. */
static inline bool enter_namespaces(void) {
	const unsigned uid = geteuid(), gid = getegid();
	char uid_map[48], gid_map[48];
	if (uid == 0)
		return unshare(CLONE_NEWNS | CLONE_NEWPID) == 0;
	snprintf(uid_map, sizeof uid_map, "%u %u 1", uid, uid);
	snprintf(gid_map, sizeof gid_map, "%u %u 1", gid, gid);
	return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0 &&
	       write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/gid_map", gid_map) &&
	       write_text("/proc/self/uid_map", uid_map);
}

/* Bind @name of the old root into the working directory. */
static inline bool bring_in(const char *name) {
	char path[300], link[300];
	struct stat st;
	snprintf(path, sizeof path, "/%s", name);
	if (lstat(path, &st) != 0)
		return false;
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, link, sizeof link - 1);
		link[n > 0 ? n : 0] = '\0';
		return symlink(link, name) == 0;
	}
	return !S_ISDIR(st.st_mode) ||
	       (mkdir(name, 0755) == 0 && mount(path, name, NULL, MS_BIND | MS_REC, NULL) == 0);
}

static inline bool is_replaced(const char *name) {
	static const char *const names[] = {".", "..", "tmp", "box", "opt", "proc", "workers"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static inline bool bring_in_all(void) {
	DIR *root = opendir("/");
	bool ok = root;
	for (struct dirent *entry; ok && (entry = readdir(root));)
		ok = is_replaced(entry->d_name) || bring_in(entry->d_name);
	if (root)
		closedir(root);
	return ok;
}

/* The mounts that each cell otherwise has for itself. */
static inline bool make_shared_places(int workers) {
	char from[64];
	snprintf(from, sizeof from, "/proc/self/fd/%d", workers);
	return mkdir("box", 0777) == 0 && mkdir("tmp", 0777) == 0 && mkdir("opt", 0755) == 0 &&
	       mkdir("." GB_PROGRAM_DIR, 0755) == 0 &&
	       symlink("/usr/bin/bash", "." GB_PROGRAM_DIR "/bash") == 0 &&
	       /* The file by which a cell checks Landlock. */
	       mknod("." GB_ROOM_CANARY, S_IFREG | 0444, 0) == 0 &&
	       mount("shm", "dev/shm", "tmpfs", 0, "mode=1777") == 0 && mkdir("proc", 0555) == 0 &&
	       mount("proc", "proc", "proc", 0, NULL) == 0 && mkdir("workers", 0755) == 0 &&
	       mount(from, "workers", NULL, MS_BIND | MS_REC, NULL) == 0;
}

/* As the first process of the new pid namespace. */
static inline bool enter_shared_root(void) {
	const char *dir = getenv("GB_WORKER_DIR");
	umask(0);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	/* The workers may be somewhere in /tmp, which is about to be covered. */
	int workers = open(dir ? dir : "", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool ok = workers >= 0 && mount("root", "/tmp", "tmpfs", 0, "mode=0755") == 0 && chdir("/tmp") == 0 &&
		  bring_in_all() && make_shared_places(workers) && syscall(SYS_pivot_root, ".", ".") == 0 &&
		  umount2(".", MNT_DETACH) == 0 && chdir("/") == 0;
	return ok && setenv("GB_WORKER_DIR", "/workers", 1) == 0;
}

/* Call @check in a process that is in a shared root, and report its failures. */
static inline void in_shared_root(void (*check)(void)) {
	int status = 0;
	fflush(stdout);
	pid_t outer = fork();
	if (outer == 0) {
		if (!enter_namespaces())
			_exit(SHARED_ROOT_REFUSED);
		pid_t inner = fork();
		if (inner == 0) {
			if (!enter_shared_root()) {
				printf("# enter a shared root: %s\n", strerror(errno));
				_exit(SHARED_ROOT_REFUSED);
			}
			tap.failures = 0;
			check();
			_exit(tap.failures > 0);
		}
		waitpid(inner, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	CHECK(outer > 0 && waitpid(outer, &status, 0) == outer);
	/* In many containers no process may mount /proc. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == SHARED_ROOT_REFUSED)
		tap.skipped = "this machine does not let a process mount a root of its own";
	else
		CHECK_INT(status, 0);
}

#endif
