#include "runtime/program/v8.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/job.h"

enum { OVERHEAD = 16, OLD_MIN = 8, SEMI_MAX = 16 };
#define THREADS_BYTES (64ull << 20) /* reserve for the stacks of threads not yet started */

struct gb_v8_heap gb_v8_heap(uint64_t memory) {
	unsigned mib = (unsigned)(memory >> 20), semi = mib / 32;
	semi = semi < 1 ? 1 : semi > SEMI_MAX ? SEMI_MAX : semi;
	unsigned taken = 3 * semi + OVERHEAD; /* the young generation takes up to three semi-spaces */
	return (struct gb_v8_heap){.old = mib > taken + OLD_MIN ? mib - taken : OLD_MIN, .semi = semi};
}

/* Private memory of @pid from /proc; 0 if that is unavailable. */
static uint64_t private_bytes(pid_t pid) {
	char path[40], text[200];
	unsigned long long pages = 0;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) == 1 ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
								     : 0;
}

void gb_v8_limit_data(const struct gb_keeper *keeper, uint64_t memory) {
	uint64_t now = private_bytes(keeper->pid), most = now + memory + THREADS_BYTES;
	if (now)
		(void)prlimit(keeper->pid, RLIMIT_DATA, &(struct rlimit){most, most}, NULL);
}

bool gb_v8_died_of_memory(const struct gb_keeper *keeper) {
	int sig = !keeper->pid && WIFSIGNALED(keeper->wait_status) ? WTERMSIG(keeper->wait_status) : 0;
	return !keeper->result.len && (sig == SIGABRT || sig == SIGTRAP);
}

void gb_v8_write_priming(struct gb_buf *out, const char *const *sources, size_t n) {
	for (size_t i = 0; i < n; i++) {
		size_t mark = gb_frame_begin(out, GB_V8_PRIME);
		gb_job_write_bare(out, sources[i], "<prime>");
		gb_frame_end(out, mark);
	}
}

void gb_v8_send(int fd, const struct gb_buf *bytes) {
	for (size_t at = 0; at < bytes->len;) {
		struct pollfd room = {fd, POLLOUT, 0};
		ssize_t sent = write(fd, bytes->data + at, bytes->len - at);
		if (sent > 0)
			at += (size_t)sent;
		else if (poll(&room, 1, -1) < 0 || (room.revents & (POLLHUP | POLLERR)))
			return;
	}
}
