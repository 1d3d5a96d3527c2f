#include "runtime/shell/waiting.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { TEXT_MAX = 4096, POLLED_MAX = 1024, THREADS_MAX = 64, PATH_BYTES = 64 };

/* A process to inspect, and the terminal in question. */
struct candidate {
	char pid[16];
	dev_t terminal;
};

static bool read_text(const char *path, char text[TEXT_MAX]) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, TEXT_MAX - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool is_terminal(const struct candidate *candidate, uint64_t fd) {
	const dev_t own_terminal = makedev(5, 0); /* /dev/tty */
	char path[PATH_BYTES];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%s/fd/%u", candidate->pid, (unsigned)fd);
	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) &&
	       (st.st_rdev == candidate->terminal || st.st_rdev == own_terminal);
}

static bool read_memory(const struct candidate *candidate, uint64_t address, void *into, size_t n) {
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/proc/%s/mem", candidate->pid);
	gb_auto_fd int fd = address ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return fd >= 0 && pread(fd, into, n, (off_t)address) == (ssize_t)n;
}

static bool poll_waits(const struct candidate *candidate, const uint64_t args[6]) {
	struct pollfd fds[POLLED_MAX];
	size_t n = args[1] < POLLED_MAX ? args[1] : POLLED_MAX;
	if (!read_memory(candidate, args[0], fds, n * sizeof *fds))
		return false;
	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0 && (fds[i].events & POLLIN) && is_terminal(candidate, (uint64_t)fds[i].fd))
			return true;
	return false;
}

static bool select_waits(const struct candidate *candidate, const uint64_t args[6]) {
	uint8_t set[POLLED_MAX / 8];
	size_t n = args[0] < POLLED_MAX ? args[0] : POLLED_MAX;
	if (!read_memory(candidate, args[1], set, (n + 7) / 8))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((set[i / 8] >> i % 8 & 1) && is_terminal(candidate, i))
			return true;
	return false;
}

/* fdinfo of an epoll descriptor has a line per watched descriptor: "tfd:        0 events:       19 data:
 * …". */
static bool epoll_waits(const struct candidate *candidate, const uint64_t args[6]) {
	char path[PATH_BYTES], text[TEXT_MAX];
	unsigned fd, events;
	snprintf(path, sizeof path, "/proc/%s/fdinfo/%u", candidate->pid, (unsigned)args[0]);
	if (!read_text(path, text))
		return false;
	for (const char *line = text; (line = strstr(line, "tfd:")); line++)
		if (sscanf(line, "tfd: %u events: %x", &fd, &events) == 2 && (events & EPOLLIN) &&
		    is_terminal(candidate, fd))
			return true;
	return false;
}

static bool read_waits(const struct candidate *candidate, const uint64_t args[6]) {
	return is_terminal(candidate, args[0]);
}

static const struct {
	long number;
	bool (*waits)(const struct candidate *candidate, const uint64_t args[6]);
} calls[] = {
    {SYS_read, read_waits},
    {SYS_readv, read_waits},
    {SYS_ppoll, poll_waits},
    {SYS_pselect6, select_waits},
    {SYS_epoll_pwait, epoll_waits},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, epoll_waits},
#endif
#ifdef __x86_64__
    {SYS_poll, poll_waits},
    {SYS_select, select_waits},
    {SYS_epoll_wait, epoll_waits},
#endif
};

/* "0 0x3 0x7f…": the number and arguments of the system call in which the thread sleeps; or "running". */
static bool thread_waits(const struct candidate *candidate, const char *thread) {
	char path[PATH_BYTES], text[TEXT_MAX], *at = text;
	snprintf(path, sizeof path, "/proc/%s/task/%.15s/syscall", candidate->pid, thread);
	if (!read_text(path, text) || text[0] < '0' || text[0] > '9')
		return false;
	long number = strtol(at, &at, 10);
	uint64_t args[6];
	for (size_t i = 0; i < GB_COUNT(args); i++)
		args[i] = strtoull(at, &at, 16);
	for (size_t i = 0; i < GB_COUNT(calls); i++)
		if (calls[i].number == number)
			return calls[i].waits(candidate, args);
	return false;
}

static bool process_waits(const struct candidate *candidate) {
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/proc/%s/task", candidate->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return false;
	bool waits = false;
	int n = 0;
	for (struct dirent *entry; !waits && n < THREADS_MAX && (entry = readdir(tasks));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && ++n)
			waits = thread_waits(candidate, entry->d_name);
	closedir(tasks);
	return waits;
}

/* The command name is in parentheses and may contain anything; after it: state, parent, process group. */
static bool is_in_group(const struct candidate *candidate, pid_t group) {
	char path[PATH_BYTES], text[TEXT_MAX];
	int parent, of = -1;
	snprintf(path, sizeof path, "/proc/%s/stat", candidate->pid);
	const char *rest = read_text(path, text) ? strrchr(text, ')') : NULL;
	return rest && sscanf(rest, ") %*c %d %d", &parent, &of) == 2 && of == group;
}

enum gb_waiting gb_waiting_for(int terminal, dev_t device) {
	pid_t group = tcgetpgrp(terminal);
	DIR *proc = opendir("/proc");
	enum gb_waiting answer = GB_WAITING_UNKNOWN;
	if (!proc)
		return answer;
	for (struct dirent *entry; answer != GB_WAITING_YES && (entry = readdir(proc));) {
		struct candidate candidate = {.terminal = device};
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		answer = GB_WAITING_NO;
		snprintf(candidate.pid, sizeof candidate.pid, "%.15s", entry->d_name);
		if (group > 0 && is_in_group(&candidate, group) && process_waits(&candidate))
			answer = GB_WAITING_YES;
	}
	closedir(proc);
	return answer;
}
