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

/* A process that is looked at, and the terminal that is asked about. */
struct suspect {
	char pid[16];
	dev_t terminal;
};

static bool read_text(const char *path, char text[TEXT_MAX]) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, TEXT_MAX - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool is_terminal(const struct suspect *suspect, uint64_t fd) {
	const dev_t own_terminal = makedev(5, 0); /* /dev/tty */
	char path[PATH_BYTES];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%s/fd/%u", suspect->pid, (unsigned)fd);
	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) &&
	       (st.st_rdev == suspect->terminal || st.st_rdev == own_terminal);
}

static bool read_memory(const struct suspect *suspect, uint64_t address, void *into, size_t n) {
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/proc/%s/mem", suspect->pid);
	gb_auto_fd int fd = address ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return fd >= 0 && pread(fd, into, n, (off_t)address) == (ssize_t)n;
}

static bool polls(const struct suspect *suspect, const uint64_t args[6]) {
	struct pollfd fds[POLLED_MAX];
	size_t n = args[1] < POLLED_MAX ? args[1] : POLLED_MAX;
	if (!read_memory(suspect, args[0], fds, n * sizeof *fds))
		return false;
	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0 && (fds[i].events & POLLIN) && is_terminal(suspect, (uint64_t)fds[i].fd))
			return true;
	return false;
}

static bool selects(const struct suspect *suspect, const uint64_t args[6]) {
	uint8_t set[POLLED_MAX / 8];
	size_t n = args[0] < POLLED_MAX ? args[0] : POLLED_MAX;
	if (!read_memory(suspect, args[1], set, (n + 7) / 8))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((set[i / 8] >> i % 8 & 1) && is_terminal(suspect, i))
			return true;
	return false;
}

/* What an epoll descriptor listens to is a list of lines: "tfd:        0 events:       19 data: …". */
static bool listens(const struct suspect *suspect, const uint64_t args[6]) {
	char path[PATH_BYTES], text[TEXT_MAX];
	unsigned fd, events;
	snprintf(path, sizeof path, "/proc/%s/fdinfo/%u", suspect->pid, (unsigned)args[0]);
	if (!read_text(path, text))
		return false;
	for (const char *line = text; (line = strstr(line, "tfd:")); line++)
		if (sscanf(line, "tfd: %u events: %x", &fd, &events) == 2 && (events & EPOLLIN) &&
		    is_terminal(suspect, fd))
			return true;
	return false;
}

static bool reads(const struct suspect *suspect, const uint64_t args[6]) {
	return is_terminal(suspect, args[0]);
}

static const struct {
	long number;
	bool (*waits)(const struct suspect *suspect, const uint64_t args[6]);
} calls[] = {
    {SYS_read, reads},
    {SYS_readv, reads},
    {SYS_ppoll, polls},
    {SYS_pselect6, selects},
    {SYS_epoll_pwait, listens},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, listens},
#endif
#ifdef __x86_64__
    {SYS_poll, polls},
    {SYS_select, selects},
    {SYS_epoll_wait, listens},
#endif
};

/* "0 0x3 0x7f…": the call that it sleeps in, and its arguments; or "running". */
static bool thread_waits(const struct suspect *suspect, const char *thread) {
	char path[PATH_BYTES], text[TEXT_MAX], *at = text;
	snprintf(path, sizeof path, "/proc/%s/task/%.15s/syscall", suspect->pid, thread);
	if (!read_text(path, text) || text[0] < '0' || text[0] > '9')
		return false;
	long number = strtol(at, &at, 10);
	uint64_t args[6];
	for (size_t i = 0; i < GB_COUNT(args); i++)
		args[i] = strtoull(at, &at, 16);
	for (size_t i = 0; i < GB_COUNT(calls); i++)
		if (calls[i].number == number)
			return calls[i].waits(suspect, args);
	return false;
}

static bool process_waits(const struct suspect *suspect) {
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/proc/%s/task", suspect->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return false;
	bool waits = false;
	int n = 0;
	for (struct dirent *entry; !waits && n < THREADS_MAX && (entry = readdir(tasks));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && ++n)
			waits = thread_waits(suspect, entry->d_name);
	closedir(tasks);
	return waits;
}

/* The name stands in brackets and may hold anything; after it: state, parent, group. */
static bool is_in_group(const struct suspect *suspect, pid_t group) {
	char path[PATH_BYTES], text[TEXT_MAX];
	int parent, of = -1;
	snprintf(path, sizeof path, "/proc/%s/stat", suspect->pid);
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
		struct suspect suspect = {.terminal = device};
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		answer = GB_WAITING_NO;
		snprintf(suspect.pid, sizeof suspect.pid, "%.15s", entry->d_name);
		if (group > 0 && is_in_group(&suspect, group) && process_waits(&suspect))
			answer = GB_WAITING_YES;
	}
	closedir(proc);
	return answer;
}
