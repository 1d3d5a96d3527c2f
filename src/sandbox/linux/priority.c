#include "sandbox/linux/priority.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"

/* More than the limit on processes of a cell. If a tree is larger, the next call handles the rest. */
enum { PROCESSES_MAX = 512, TEXT_MAX = 16 << 10, LOW = 19 };

struct tree {
	int pids[PROCESSES_MAX];
	unsigned n;
};

static size_t read_text(const char *path, char text[TEXT_MAX]) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Its pid in this process's pid namespace; 0 if it has ended. */
static int pid_of(int pidfd) {
	char path[64], text[TEXT_MAX];
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	read_text(path, text);
	const char *line = strstr(text, "\nPid:");
	int pid = line ? (int)strtol(line + strlen("\nPid:"), NULL, 10) : 0;
	return pid > 0 ? pid : 0;
}

static void add_children(struct tree *tree, int pid, const char *thread) {
	char path[64], text[TEXT_MAX];
	snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", pid, thread);
	read_text(path, text);
	char *end;
	for (const char *at = text; tree->n < PROCESSES_MAX; at = end) {
		int child = (int)strtol(at, &end, 10);
		if (end == at)
			return;
		tree->pids[tree->n++] = child;
	}
}

static void set_process(struct tree *tree, int pid, int nice) {
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *threads = opendir(path);
	for (struct dirent *entry; threads && (entry = readdir(threads));) {
		if (entry->d_name[0] == '.')
			continue;
		(void)setpriority(PRIO_PROCESS, (id_t)strtoul(entry->d_name, NULL, 10), nice);
		add_children(tree, pid, entry->d_name);
	}
	if (threads)
		closedir(threads);
}

void gb_priority_set(int pidfd, bool low) {
	struct tree tree = {.n = 1};
	tree.pids[0] = pid_of(pidfd);
	for (unsigned i = 0; i < tree.n && tree.pids[0]; i++)
		set_process(&tree, tree.pids[i], low ? LOW : 0);
}
