#include "runtime/program/v8.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/job.h"

enum { OVERHEAD = 16, OLD_MIN = 8, SEMI_MAX = 16 };
/* Of frames: a job that nobody is to hear of. Between keeper and program only. */
enum { PRIME = 127 };

struct gb_v8_heap gb_v8_heap(uint64_t memory) {
	unsigned mib = (unsigned)(memory >> 20), semi = mib / 32;
	semi = semi < 1 ? 1 : semi > SEMI_MAX ? SEMI_MAX : semi;
	unsigned taken = 3 * semi + OVERHEAD; /* young objects may take three times their space */
	return (struct gb_v8_heap){.old = mib > taken + OLD_MIN ? mib - taken : OLD_MIN, .semi = semi};
}

bool gb_v8_died_of_memory(const struct gb_keeper *keeper) {
	int sig = !keeper->pid && WIFSIGNALED(keeper->wait_status) ? WTERMSIG(keeper->wait_status) : 0;
	return !keeper->result.len && (sig == SIGABRT || sig == SIGTRAP);
}

void gb_v8_write_priming(struct gb_buf *out, const char *const *sources, size_t n) {
	for (size_t i = 0; i < n; i++) {
		size_t mark = gb_frame_begin(out, PRIME);
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
