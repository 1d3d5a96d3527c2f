#include "sandbox/linux/cgroup_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

enum { NAME_TRIES = 1000 };

#define NAME_PREFIX "glovebox."

/* --- files --- */

static bool read_file(int dir, const char *name, struct gb_buf *ret) {
	gb_auto_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && gb_read_to_end(fd, name, ret, NULL) && gb_buf_c_str(ret);
}

bool gb_cgroup_write(int dir, const char *name, const char *text) {
	gb_auto_fd int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

bool gb_cgroup_write_number(int dir, const char *name, uint64_t number) {
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	return gb_cgroup_write(dir, name, text);
}

bool gb_cgroup_read_number(int dir, const char *name, const char *key, uint64_t *ret) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 64 << 10);
	if (!read_file(dir, name, &text))
		return false;
	const char *at = text.data;
	if (key) {
		size_t n = strlen(key);
		/* At the beginning of a line: "oom_kill" is also the end of another key. */
		while (at && !(strncmp(at, key, n) == 0 && at[n] == ' '))
			at = (at = strchr(at, '\n')) ? at + 1 : NULL;
		if (!at)
			return false;
		at += n + 1;
	}
	char *end;
	*ret = strncmp(at, "max", 3) == 0 ? UINT64_MAX : strtoull(at, &end, 10);
	return *ret == UINT64_MAX || end != at;
}

/* --- this process's own group --- */

static bool has_word(const char *words, const char *word) {
	size_t n = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += n)
		if ((at == words || strchr(" ,\n", at[-1])) && strchr(" ,\n", at[n]))
			return true;
	return false;
}

/* From /proc/self/mountinfo: where the hierarchy with @controller (NULL: version 2) is mounted. */
static bool find_mount(const char *controller, char *ret, size_t n) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	if (!read_file(AT_FDCWD, "/proc/self/mountinfo", &text))
		return false;
	char *save = NULL;
	for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char point[PATH_MAX], type[32], options[256];
		const char *tail = strstr(line, " - ");
		if (!tail || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 ||
		    sscanf(tail, " - %31s %*s %255s", type, options) != 2)
			continue;
		bool match = controller ? strcmp(type, "cgroup") == 0 && has_word(options, controller)
					: strcmp(type, "cgroup2") == 0;
		if (match)
			return (size_t)snprintf(ret, n, "%s", point) < n;
	}
	return false;
}

bool gb_cgroup_find_own(const char *controller, char *ret, size_t n) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	char mount[PATH_MAX];
	if (!find_mount(controller, mount, sizeof mount) || !read_file(AT_FDCWD, "/proc/self/cgroup", &text))
		return false;
	char *save = NULL;
	for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		names++;
		char listed[256];
		snprintf(listed, sizeof listed, ",%s,", names);
		if (controller ? has_word(listed, controller) : *names == '\0')
			return (size_t)snprintf(ret, n, "%s%s", mount, strcmp(path, "/") == 0 ? "" : path) <
			       n;
	}
	return false;
}

/* --- folders --- */

/* Remove the folders in @dir. rmdir refuses to remove one that still has processes. */
static void remove_folders_in(int dir) {
	gb_auto_fd int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	if (!list)
		return;
	gb_take_fd(&copy);
	for (struct dirent *entry; (entry = readdir(list));)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
	closedir(list);
}

static int open_and_lock(int parent, const char *name) {
	gb_auto_fd int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? gb_take_fd(&fd) : -1;
}

/* The folder that was opened may have been removed before it was locked, and another one made by that name. */
static bool is_still_named(int fd, int parent, const char *name) {
	struct stat locked, named;
	return fstat(fd, &locked) == 0 && fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

static void remove_abandoned_folders(const char *parent) {
	DIR *list = opendir(parent);
	if (!list)
		return;
	for (struct dirent *entry; (entry = readdir(list));) {
		if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
			continue;
		gb_auto_fd int fd = open_and_lock(dirfd(list), entry->d_name);
		if (fd < 0 || !is_still_named(fd, dirfd(list), entry->d_name))
			continue;
		remove_folders_in(fd);
		unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
	}
	closedir(list);
}

/* A folder above the root of a hierarchy belongs to another file system. */
static bool is_group(const char *path) {
	char file[PATH_MAX + 16];
	snprintf(file, sizeof file, "%s/cgroup.procs", path);
	return access(file, F_OK) == 0;
}

bool gb_cgroup_make_dir(const char *parent, struct gb_cgroup_dir *ret) {
	if (!is_group(parent))
		return false;
	remove_abandoned_folders(parent);
	for (int i = 0; i < NAME_TRIES; i++) {
		if (snprintf(ret->path, sizeof ret->path, "%s/" NAME_PREFIX "%d.%d", parent, (int)getpid(),
			i) >= (int)sizeof ret->path)
			return false;
		if (mkdir(ret->path, 0755) != 0) {
			/* A process in another pid namespace may have the same pid. */
			if (errno != EEXIST)
				return false;
			continue;
		}
		/* Until it is locked, another process may consider it abandoned and remove it. */
		ret->fd = open_and_lock(AT_FDCWD, ret->path);
		if (ret->fd >= 0 && faccessat(ret->fd, "cgroup.procs", F_OK, 0) == 0)
			return true;
		gb_close_fd(&ret->fd);
	}
	return false;
}

void gb_cgroup_remove_dir(struct gb_cgroup_dir *dir) {
	if (dir->fd < 0)
		return;
	remove_folders_in(dir->fd);
	rmdir(dir->path);
	gb_close_fd(&dir->fd);
}
