#include "sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { MAX_DIRS = 2, NAME_TRIES = 1000 };

/* Version 2 has one folder for all controllers, version 1 one for each. */
struct gb_cgroup {
	int version;
	unsigned n_dirs;
	char dirs[MAX_DIRS][PATH_MAX];
};

static bool read_file(const char *path, struct gb_buf *ret) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && gb_read_to_end(fd, path, ret, NULL) && gb_buf_c_str(ret);
}

static bool write_file(const char *dir, const char *name, const char *text) {
	char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	gb_auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

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
	if (!read_file("/proc/self/mountinfo", &text))
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

/* From /proc/self/cgroup: this process's folder in that hierarchy. */
static bool find_own(const char *controller, char *ret, size_t n) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	char mount[PATH_MAX];
	if (!find_mount(controller, mount, sizeof mount) || !read_file("/proc/self/cgroup", &text))
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

/* A host that was killed could not remove its group. rmdir refuses a group that still has processes, so at
 * worst this fails. */
static void sweep(const char *parent) {
	DIR *dir = opendir(parent);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));) {
		int pid;
		if (sscanf(entry->d_name, "glovebox.%d.", &pid) == 1 && kill(pid, 0) != 0 && errno == ESRCH)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

static bool make_dir(struct gb_cgroup *group, const char *parent) {
	sweep(parent);
	char *dir = group->dirs[group->n_dirs];
	for (int i = 0; i < NAME_TRIES; i++) {
		if (snprintf(dir, PATH_MAX, "%s/glovebox.%d.%d", parent, (int)getpid(), i) >= PATH_MAX)
			return false;
		if (mkdir(dir, 0755) == 0) {
			group->n_dirs++;
			return true;
		}
		if (errno != EEXIST)
			return false;
	}
	return false;
}

static void remove_dirs(struct gb_cgroup *group) {
	for (unsigned i = 0; i < group->n_dirs; i++)
		rmdir(group->dirs[i]);
	group->n_dirs = 0;
}

static bool limit_v2(const struct gb_cgroup *group, const char *memory, const char *processes) {
	const char *dir = group->dirs[0];
	write_file(dir, "memory.swap.max", "0");
	return write_file(dir, "memory.max", memory) && write_file(dir, "pids.max", processes);
}

/* Version 2 gives controllers only to children of a group without processes of its own, so the host's
 * sibling is the place if its child is not. */
static bool try_v2(struct gb_cgroup *group, const char *memory, const char *processes) {
	char parent[PATH_MAX];
	if (!find_own(NULL, parent, sizeof parent))
		return false;
	group->version = 2;
	for (int up = 0; up < 2; up++) {
		write_file(parent, "cgroup.subtree_control", "+memory +pids");
		if (make_dir(group, parent) && limit_v2(group, memory, processes))
			return true;
		remove_dirs(group);
		char *slash = strrchr(parent, '/');
		if (!slash || slash == parent)
			break;
		*slash = '\0';
	}
	return false;
}

static bool try_v1(struct gb_cgroup *group, const char *memory, const char *processes) {
	char parent[PATH_MAX];
	group->version = 1;
	bool made = find_own("memory", parent, sizeof parent) && make_dir(group, parent) &&
		    write_file(group->dirs[0], "memory.limit_in_bytes", memory) &&
		    find_own("pids", parent, sizeof parent) && make_dir(group, parent) &&
		    write_file(group->dirs[1], "pids.max", processes);
	if (made)
		write_file(group->dirs[0], "memory.memsw.limit_in_bytes", memory);
	else
		remove_dirs(group);
	return made;
}

bool gb_cgroup_create(const struct gb_cgroup_limits *limits, struct gb_cgroup **ret, struct gb_err *err) {
	char memory[32], processes[16];
	snprintf(memory, sizeof memory, "%llu", (unsigned long long)limits->memory_bytes);
	snprintf(processes, sizeof processes, "%u", limits->processes);
	gb_auto_free struct gb_cgroup *group = calloc(1, sizeof *group);
	if (!group)
		return gb_fail(err, GB_ENOMEM, 0, "cgroup");
	if (!try_v2(group, memory, processes) && !try_v1(group, memory, processes))
		return gb_fail(err, GB_EWALL, 0,
		    "cgroup: no group with memory and pids controllers that user %u may make; delegate one "
		    "(systemd: Delegate=yes, or systemd-run --user --scope)",
		    geteuid());
	*ret = gb_take_pointer(&group);
	return true;
}

void gb_cgroup_destroy(struct gb_cgroup *group) {
	if (!group)
		return;
	remove_dirs(group);
	free(group);
}

bool gb_cgroup_attach(struct gb_cgroup *group, pid_t pid, struct gb_err *err) {
	char text[16];
	snprintf(text, sizeof text, "%d", (int)pid);
	for (unsigned i = 0; i < group->n_dirs; i++)
		if (!write_file(group->dirs[i], "cgroup.procs", text))
			return gb_fail(err, GB_EWALL, errno, "cgroup: attach to %s", group->dirs[i]);
	return true;
}

uint64_t gb_cgroup_oom_kills(const struct gb_cgroup *group) {
	char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/%s", group->dirs[0],
	    group->version == 2 ? "memory.events" : "memory.oom_control");
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 64 << 10);
	if (!read_file(path, &text))
		return 0;
	const char *at = strstr(text.data, "oom_kill ");
	return at ? strtoull(at + strlen("oom_kill "), NULL, 10) : 0;
}
