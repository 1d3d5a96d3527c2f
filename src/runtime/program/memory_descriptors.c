/*
 * Kernel memory behind mappings and descriptors. Inspecting a descriptor takes some microseconds and a cell
 * can have many: each call continues where the last one stopped, and the sum of a complete round is used
 * until the next round is complete.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/program/memory.h"
#include "runtime/program/memory_parts.h"

enum { ROUND_NS = 100000000, FDS_PER_LOOK = 1500 };

/* A mapping covers at least one page, so the mappings of a small address space are negligible. */
enum { MAPPING_BYTES = 256, PAGE = 4096, SMALL_SPACE = 32 << 20 };
/* ITEM: an epoll item or a file lock. WATCH: an inotify watch with its inode. */
enum { ITEM_BYTES = 256, WATCH_BYTES = 2048 };
/* A pipe buffer has 16 pages; once all pipes of a user have 64 MiB, new ones have 2. */
enum { PIPE_BYTES = 64 << 10, FREE_PIPES = 64, PIPES_SOFT_MAX = 1024, SMALL_PIPE_BYTES = 8 << 10 };
enum { TERMINAL_BYTES = 64 << 10, RULESET_BYTES = 16 << 20, PTMX_MAJOR = 5, PTMX_MINOR = 2 };
/* With half of the descriptors epoll sets and half of them files, and each file registered in each set under
 * every descriptor number, a process has n * n * n / 4 items. */
enum { UNSEEN_DIVISOR = 4, UNSEEN_SLOTS_MAX = 4096 };

enum { PIPES_KNOWN = 1024 };

static struct {
	bool only_locks;
	bool in_progress;
	pid_t last;         /* process inspected last in this round */
	uint64_t next_at;   /* start of the next round, ns */
	uint64_t sum, kept; /* of this round so far; of the last complete round */
	unsigned n_fds;     /* inspected in this call */
	uint64_t n_pipes;
	ino_t pipes[PIPES_KNOWN]; /* hash set of inodes; 0: free */
} scan;

void gb_descriptors_reset(void) {
	scan.in_progress = false;
	scan.next_at = gb_now_ns() + ROUND_NS;
	scan.kept = scan.sum = 0;
}

static void add_pipe(ino_t inode) {
	size_t at = (size_t)(inode * 0x9e3779b97f4a7c15ull >> 54);
	for (size_t i = 0; i < PIPES_KNOWN && scan.n_pipes < PIPES_KNOWN / 2;
	     i++, at = (at + 1) % PIPES_KNOWN)
		if (scan.pipes[at] == inode) {
			return;
		} else if (!scan.pipes[at]) {
			scan.pipes[at] = inode;
			break;
		}
	if (++scan.n_pipes > FREE_PIPES)
		scan.sum += scan.n_pipes <= PIPES_SOFT_MAX ? PIPE_BYTES : SMALL_PIPE_BYTES;
}

static void add_lines(
    const char *id, const char *fd, const char *const *labels, uint64_t each, uint64_t limit) {
	char path[GB_PROC_PATH_MAX];
	uint64_t n = 0;
	snprintf(path, sizeof path, "/proc/%s/fdinfo/%.16s", id, fd);
	if (gb_proc_count_lines(path, labels, limit / each + 1, &n) == GB_PROC_READ)
		scan.sum += n * each;
}

static void add_anonymous(int folder, const char *id, const char *fd, uint64_t limit) {
	static const char *const items[] = {"tfd:", NULL}, *const watches[] = {"inotify ", NULL};
	char name[40];
	ssize_t n = readlinkat(folder, fd, name, sizeof name - 1);
	name[n > 0 ? n : 0] = '\0';
	if (strstr(name, "[eventpoll]"))
		add_lines(id, fd, items, ITEM_BYTES, limit);
	else if (strstr(name, "inotify"))
		add_lines(id, fd, watches, WATCH_BYTES, limit);
	else if (strstr(name, "[landlock"))
		scan.sum += RULESET_BYTES;
}

static void add_descriptor(int folder, const char *id, const char *fd, uint64_t limit) {
	static const char *const locks[] = {"lock:", NULL};
	struct stat st;
	scan.n_fds++;
	if (fstatat(folder, fd, &st, 0) != 0)
		return;
	if (S_ISREG(st.st_mode))
		add_lines(id, fd, locks, ITEM_BYTES, limit);
	else if (scan.only_locks)
		return;
	else if (S_ISFIFO(st.st_mode))
		add_pipe(st.st_ino);
	else if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(PTMX_MAJOR, PTMX_MINOR))
		scan.sum += TERMINAL_BYTES;
	else if (!(st.st_mode & S_IFMT))
		add_anonymous(folder, id, fd, limit);
}

/* Charge the maximum for a process that cannot be inspected. */
static void add_worst_case(const struct gb_task *task) {
	uint64_t slots = task->fd_slots < UNSEEN_SLOTS_MAX ? task->fd_slots : UNSEEN_SLOTS_MAX;
	scan.sum += slots * slots * slots / UNSEEN_DIVISOR * ITEM_BYTES;
	scan.sum += task->size / PAGE * MAPPING_BYTES;
}

/* Anonymous shared memory: the part before the mapping's offset counts too, mapped or not. */
static uint64_t shared_anonymous_bytes(const char *line) {
	unsigned long long start, end, offset;
	if (!strstr(line, "/dev/zero (deleted)") ||
	    sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) != 3)
		return 0;
	return end - start + offset;
}

static enum gb_proc_status add_mappings(const struct gb_task *task, uint64_t limit) {
	enum { LINE_BYTES = 512, AT_ONCE = 16 << 10 };
	static char buffer[AT_ONCE];
	char line[LINE_BYTES];
	if (task->size <= SMALL_SPACE)
		return GB_PROC_READ;
	snprintf(line, sizeof line, "/proc/%s/maps", task->id);
	FILE *maps = fopen(line, "re");
	if (!maps)
		return gb_proc_error();
	setvbuf(maps, buffer, _IOFBF, sizeof buffer);
	while (scan.sum <= limit && fgets(line, sizeof line, maps))
		scan.sum += MAPPING_BYTES + shared_anonymous_bytes(line);
	fclose(maps);
	return GB_PROC_READ;
}

static enum gb_proc_status add_descriptors(const struct gb_task *task, uint64_t limit) {
	char path[GB_PROC_PATH_MAX];
	snprintf(path, sizeof path, "/proc/%s/fd", task->id);
	DIR *fds = opendir(path);
	if (!fds)
		return gb_proc_error();
	for (struct dirent *entry; scan.sum <= limit && (entry = readdir(fds));)
		if (entry->d_name[0] != '.')
			add_descriptor(dirfd(fds), task->id, entry->d_name, limit);
	closedir(fds);
	return GB_PROC_READ;
}

/* False if the usage cannot be determined. */
static bool add_process(const char *pid, uint64_t limit) {
	struct gb_task task;
	enum gb_proc_status status = gb_task_read(pid, &task);
	if (status != GB_PROC_READ)
		return status == GB_PROC_GONE;
	status = scan.only_locks ? GB_PROC_READ : add_mappings(&task, limit);
	if (status == GB_PROC_READ)
		status = add_descriptors(&task, limit);
	if (status == GB_PROC_CLOSED && !scan.only_locks)
		add_worst_case(&task);
	return status != GB_PROC_FAILED;
}

static void begin_round(void) {
	memset(scan.pipes, 0, sizeof scan.pipes);
	scan.in_progress = true;
	scan.last = 0;
	scan.sum = scan.n_pipes = 0;
}

uint64_t gb_descriptors_used(uint64_t limit) {
	bool ok = true;
	if (!scan.in_progress && gb_now_ns() < scan.next_at)
		return scan.kept;
	if (!scan.in_progress)
		begin_round();
	DIR *proc = opendir("/proc");
	if (!proc)
		return GB_MEMORY_UNKNOWN;
	scan.n_fds = 0;
	const char *pid = "";
	/* /proc lists processes in order of their pids. */
	while (ok && scan.n_fds < FDS_PER_LOOK && scan.sum <= limit && (pid = gb_proc_next(proc))) {
		pid_t number = (pid_t)strtol(pid, NULL, 10);
		if (number <= scan.last)
			continue;
		scan.last = number;
		ok = add_process(pid, limit);
	}
	if (!pid || scan.sum > limit) {
		scan.in_progress = false;
		scan.next_at = gb_now_ns() + ROUND_NS;
		scan.kept = scan.sum;
	}
	closedir(proc);
	if (!ok)
		return GB_MEMORY_UNKNOWN;
	return scan.sum > scan.kept ? scan.sum : scan.kept;
}

uint64_t gb_locks_used(uint64_t limit) {
	scan.only_locks = true;
	uint64_t used = gb_descriptors_used(limit);
	return used == GB_MEMORY_UNKNOWN ? 0 : used;
}
