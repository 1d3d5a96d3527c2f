/*
 * The file system of control groups: find this process's own folder, create folders, read and write files.
 *
 *	char parent[PATH_MAX];
 *	if (gb_cgroup_find_own("memory", parent, sizeof parent))	// version 1; NULL: version 2
 *		gb_cgroup_make_dir(parent, &dir);
 *	gb_cgroup_write(dir.fd, "memory.max", "1048576");
 *	gb_cgroup_remove_dir(&dir);
 *
 * The process that created a folder holds a lock on it. The kernel releases the lock when that process ends,
 * and locks work across pid namespaces, so a folder without a lock was left by a process that has ended.
 */
#ifndef GB_SANDBOX_LINUX_CGROUP_TREE_H
#define GB_SANDBOX_LINUX_CGROUP_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_cgroup_dir {
	int fd; /* locked */
	char path[PATH_MAX];
};

/* This process's own folder in the hierarchy with @controller of version 1; NULL: in version 2. */
bool gb_cgroup_find_own(const char *controller, char *ret, size_t n);

/* Create a folder for this process below @parent, and remove those that ended processes left there. */
bool gb_cgroup_make_dir(const char *parent, struct gb_cgroup_dir *ret);
/* Remove it with the folders in it, except those that still have processes. */
void gb_cgroup_remove_dir(struct gb_cgroup_dir *dir);

/* Write to, or read the number in, a file below the folder @dir. */
bool gb_cgroup_write(int dir, const char *name, const char *text);
bool gb_cgroup_write_number(int dir, const char *name, uint64_t number);
/* The number that follows @key in the file, or that the file begins with if @key is NULL. "max" is
 * UINT64_MAX. */
bool gb_cgroup_read_number(int dir, const char *name, const char *key, uint64_t *ret);

#endif
