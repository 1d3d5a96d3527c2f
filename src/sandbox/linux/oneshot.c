#include "sandbox/linux/oneshot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/zygote.h"

struct oneshot {
	struct gb_zygote zygote;
	int socket; /* the host's end of the cell's socket; -1 after the cell has closed its end */
	int pidfd;  /* of the cell; -1 until it is forked */
	bool ended; /* the cell or the zygote has exited */
	struct gb_oneshot_answer *answer;
	struct gb_err *err;
};

/* Handle the next notice of the zygote. False if the wall could not be raised or the cell not forked. */
static bool handle_notice(struct oneshot *o) {
	struct gb_notice notice;
	int pidfd;
	switch (gb_zygote_next(&o->zygote, &notice, &pidfd)) {
	case GB_ZYGOTE_QUIET:
		return true;
	case GB_ZYGOTE_GONE:
		o->ended = true;
		return true;
	case GB_ZYGOTE_NOTICE:
		break;
	}
	if (notice.kind == GB_NOTICE_FAILED)
		return gb_notice_fail(&notice, o->err);
	if (notice.kind == GB_NOTICE_FORKED && notice.error)
		return gb_fail(o->err, GB_EWALL, notice.error, "fork a cell");
	if (notice.kind == GB_NOTICE_FORKED)
		o->pidfd = pidfd;
	if (notice.kind == GB_NOTICE_EXITED) {
		o->answer->wait_status = notice.wait_status;
		o->ended = true;
	}
	return true;
}

static void receive_bytes(struct oneshot *o) {
	char block[4096];
	ssize_t n = recv(o->socket, block, sizeof block, MSG_DONTWAIT);
	if (n > 0)
		gb_buf_append(&o->answer->bytes, block, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		gb_close_fd(&o->socket);
}

static bool collect_answer(struct oneshot *o, int timeout_ms) {
	uint64_t deadline = gb_now_ns() + (uint64_t)timeout_ms * 1000000;
	while (!o->ended) {
		uint64_t now = gb_now_ns();
		struct pollfd fds[] = {
		    {.fd = o->zygote.control, .events = POLLIN}, {.fd = o->socket, .events = POLLIN}};
		int left = now < deadline ? (int)((deadline - now) / 1000000) + 1 : 0;
		int n = left ? poll(fds, GB_COUNT(fds), left) : 0;
		if (n < 0 && errno != EINTR)
			return gb_fail(o->err, GB_ESYSTEM, errno, "poll");
		if (n == 0 && !o->answer->timed_out) {
			o->answer->timed_out = true;
			deadline = gb_now_ns() + 1000000000; /* time for the zygote to reap the cell */
			if (o->pidfd >= 0)
				syscall(SYS_pidfd_send_signal, o->pidfd, SIGKILL, NULL, 0);
		} else if (n == 0) {
			break;
		}
		if (fds[1].revents)
			receive_bytes(o);
		if (fds[0].revents && !handle_notice(o))
			return false;
	}
	/* The cell may have sent bytes just before it exited. */
	while (o->socket >= 0 && recv(o->socket, (char[1]){0}, 1, MSG_DONTWAIT | MSG_PEEK) > 0)
		receive_bytes(o);
	return true;
}

bool gb_oneshot(const struct gb_plan *plan, const char *program, const char *question, int timeout_ms,
    struct gb_oneshot_answer *ret, struct gb_err *err) {
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socketpair");
	gb_auto_fd int cell_end = pair[1];
	struct oneshot o = {.socket = pair[0], .pidfd = -1, .answer = ret, .err = err};
	ret->wait_status = -1;
	ret->timed_out = false;
	struct gb_cgroup *cgroup = NULL;
	if (plan->layers & GB_LAYER_CGROUP)
		(void)gb_cgroup_create(
		    &(struct gb_cgroup_limits){.memory_bytes = 256 << 20, .processes = 64}, &cgroup, NULL);
	bool ok = gb_zygote_spawn(&o.zygote, plan, program, cgroup, err);
	if (ok) {
		ok = gb_zygote_fork(&o.zygote, 1, &cell_end, 1, 0, err);
		/* The zygote may have exited already and sent the reason as a notice. */
		if (!ok)
			(void)handle_notice(&o);
		gb_close_fd(&cell_end);
		ok = ok && gb_write_all(o.socket, question, strlen(question)) &&
		     shutdown(o.socket, SHUT_WR) == 0 && collect_answer(&o, timeout_ms);
		gb_zygote_finish(&o.zygote);
	}
	gb_cgroup_destroy(cgroup);
	gb_close_fd(&o.socket);
	gb_close_fd(&o.pidfd);
	return ok;
}
