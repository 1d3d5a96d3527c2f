#include "sandbox/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/inside/apply.h"
#include "sandbox/linux/inside/group.h"
#include "sandbox/linux/inside/network.h"
#include "sandbox/linux/inside/text.h"
#include "sandbox/linux/inside/verify.h"
#include "sandbox/linux/plan.h"
#include "sandbox/linux/protocol.h"

struct child {
	pid_t pid;
	uint32_t cell;
};

struct zygote {
	const struct gb_worker *worker;
	struct gb_plan plan;
	int signals;                 /* signalfd for SIGCHLD */
	int spare[GB_SPARE_SOCKETS]; /* sockets for later cells, or -1 */
	struct child *children;
	size_t n_children;
	size_t cap_children;
};

/* Wait until the control socket is ready. False if the host is dead. The socket alone does not show this:
 * another process may hold the host's end of it. */
static bool await_host(short events, const struct timespec *timeout) {
	struct pollfd fds[] = {
	    {.fd = GB_FD_CONTROL, .events = events},
	    {.fd = GB_FD_HOST, .events = POLLIN},
	};
	int n = ppoll(fds, GB_COUNT(fds), timeout, NULL);
	return n < 0 ? errno == EINTR : !fds[1].revents;
}

/* Send @notice, with @fd unless it is -1. Exits if the host is dead. */
static void notify(const struct gb_notice *notice, int fd) {
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)notice, sizeof *notice};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
	}
	while (sendmsg(GB_FD_CONTROL, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		const struct timespec soon = {.tv_nsec = 1000000};
		bool again = errno == EINTR;
		if (errno == EAGAIN)
			again = await_host(POLLOUT, NULL);
		/* Too many descriptors of this user are in flight. Retry: the host will receive them. */
		else if (errno == ETOOMANYREFS)
			again = await_host(0, &soon);
		if (!again)
			_exit(0);
	}
}

static void fail(enum gb_layer layer, int error, const char *step) {
	struct gb_notice notice = {.kind = GB_NOTICE_FAILED, .layer = layer, .error = error};
	snprintf(notice.text, sizeof notice.text, "%s", step);
	notify(&notice, -1);
	_exit(1);
}

/* The host may ignore signals that must kill the zygote and the guest. */
static void reset_signals(const struct gb_worker *worker) {
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigset_t held;
	sigemptyset(&held);
	/* Without SA_RESTART, so that the signal interrupts a blocking read. */
	const struct sigaction interrupt = {.sa_sigaction = worker->on_interrupt, .sa_flags = SA_SIGINFO};
	static const int interrupts[] = {SIGINT, GB_SIGNAL_AGAIN};
	for (size_t i = 0; i < GB_COUNT(interrupts); i++)
		if (worker->on_interrupt)
			sigaction(interrupts[i], &interrupt, NULL);
		else if (worker->holds_interrupts)
			sigaddset(&held, interrupts[i]);
	sigprocmask(SIG_SETMASK, &held, NULL);
}

static void receive_plan(struct gb_plan *plan) {
	ssize_t n;
	do
		n = await_host(POLLIN, NULL)
			? recv(GB_FD_CONTROL, plan, sizeof *plan, MSG_TRUNC | MSG_DONTWAIT)
			: 0;
	while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n == 0)
		_exit(0);
	if (n != sizeof *plan || plan->size != sizeof *plan)
		fail(GB_LAYER_ALL, 0, "host and worker are not of the same build");
}

/* Local time is UTC: the guest must not learn the host's time zone. The C library reads files when it first
 * needs the zone, so this happens before they become unreachable. */
static void set_time_zone(void) {
	setenv("TZ", "UTC0", 1);
	tzset();
	time_t now = time(NULL);
	struct tm tm;
	localtime_r(&now, &tm);
	clearenv();
}

/* Where the C library stores this thread's id. Queried once, before the filter is loaded. */
static int *thread_number(void) {
	static int *address;
	if (!address)
		prctl(PR_GET_TID_ADDRESS, &address, 0, 0, 0);
	return address;
}

static void load_filter(const struct gb_seccomp *filter) {
	struct gb_wall_failure failure;
	gb_verify_before_filter();
	if (!gb_seccomp_load(filter))
		fail(GB_LAYER_SECCOMP, errno, "load the filter");
	if (!gb_verify_filter(&failure))
		fail(failure.layer, failure.error, failure.step);
}

/* The kernel places new mappings next to existing ones, including shared libraries. */
static void place_filter(struct gb_seccomp *filter) {
	void *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		fail(GB_LAYER_SECCOMP, errno, "find where memory is");
	gb_seccomp_place(filter, page);
	munmap(page, 1);
}

static void raise_wall(struct zygote *zygote) {
	struct gb_wall_failure failure;
	if (!gb_plan_apply(&zygote->plan, &failure) || !gb_verify_zygote(&zygote->plan, &failure))
		fail(failure.layer, failure.error, failure.step);

	sigset_t chld;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	zygote->signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (zygote->signals < 0)
		fail(GB_LAYER_ALL, errno, "signalfd");
	place_filter(&zygote->plan.filter);
	thread_number();
	if (zygote->plan.layers & GB_LAYER_SECCOMP)
		load_filter(&zygote->plan.filter);
	/* The filter contains the cookie. Erased here and not in each cell, which would have to copy four
	 * pages first. */
	explicit_bzero(&zygote->plan.filter, sizeof zygote->plan.filter);
}

static bool record_child(struct zygote *zygote, pid_t pid, uint32_t cell) {
	if (zygote->n_children == zygote->cap_children) {
		size_t cap = zygote->cap_children ? zygote->cap_children * 2 : 64;
		struct child *children = realloc(zygote->children, cap * sizeof *children);
		if (!children)
			return false;
		zygote->children = children;
		zygote->cap_children = cap;
	}
	zygote->children[zygote->n_children++] = (struct child){pid, cell};
	return true;
}

/* The exit status tells the host which layer is missing. */
__attribute__((noreturn)) static void refuse(const struct gb_wall_failure *failure) {
	int layer = failure->layer == GB_LAYER_ALL ? GB_LAYER_COUNT : __builtin_ctz(failure->layer);
	_exit((failure->raised ? GB_CELL_EXIT_NOT_OBSERVED : GB_CELL_EXIT_NOT_RAISED) + layer);
}

/* Move the descriptors of a cell to their fixed numbers: its socket, and those that report the usage of its
 * control group. They are first duplicated to high numbers, since the fixed numbers may be in use by one
 * another. */
static bool place_descriptors(const int *fds, size_t n_fds) {
	enum { ASIDE = 64, PLACED = 1 + GB_GROUP_KEPT };
	int aside[PLACED];
	for (size_t i = 0; i < PLACED; i++) {
		int fd = i == 0 ? fds[0] : fds[n_fds - PLACED + i];
		if ((aside[i] = fcntl(fd, F_DUPFD_CLOEXEC, ASIDE)) < 0)
			return false;
	}
	for (int i = 0; i < PLACED; i++)
		if (dup3(aside[i], GB_FD_CELL + i, i ? O_CLOEXEC : 0) != GB_FD_CELL + i)
			return false;
	return true;
}

/* Join the control group whose descriptors came with the order. */
static bool enter_group(const int *fds, size_t n_fds, struct gb_wall_failure *ret_failure) {
	*ret_failure = (struct gb_wall_failure){GB_LAYER_CGROUP, 0, "have a control group", false};
	return n_fds > 1 + GB_GROUP_KEPT && gb_group_join(fds + 1, n_fds - 1 - GB_GROUP_KEPT, ret_failure);
}

/* Move the cell's descriptors to their fixed numbers and close all others. @network is kept unless it is -1. */
static bool close_other_descriptors(const struct zygote *zygote, const int *fds, size_t n_fds, int network,
    struct gb_wall_failure *ret_failure) {
	const bool fetches = network >= 0;
	const int last = zygote->plan.grouped ? GB_FD_GROUP_EVENTS : fetches ? GB_FD_FETCH : GB_FD_CELL;
	const int own[] = {GB_FD_CONTROL, GB_FD_HOST, zygote->signals, fds[0], fds[n_fds - 1]};
	int closed[GB_COUNT(own) + GB_SPARE_SOCKETS];
	static_assert(GB_COUNT(closed) <= GB_VERIFY_FDS_MAX, "all can be verified at once");
	size_t n = 0;
	for (size_t i = 0; i < GB_COUNT(closed); i++) {
		int one = i < GB_COUNT(own) ? own[i] : zygote->spare[i - GB_COUNT(own)];
		if (one > last)
			closed[n++] = one;
	}
	*ret_failure = (struct gb_wall_failure){GB_LAYER_ALL, 0, "keep the cell's descriptors only", false};
	bool placed = zygote->plan.grouped
			  ? place_descriptors(fds, n_fds)
			  : (!fetches || dup3(network, GB_FD_FETCH, O_CLOEXEC) == GB_FD_FETCH) &&
				(fds[0] == GB_FD_CELL || dup3(fds[0], GB_FD_CELL, 0) == GB_FD_CELL);
	return placed && syscall(SYS_close_range, last + 1, ~0u, 0) == 0 &&
	       gb_verify_closed(closed, n, ret_failure);
}

/* In the new process: of the zygote only its memory remains, and limits disable the calls that the filter
 * admits for the zygote only. */
__attribute__((noreturn)) static void become_cell(
    struct zygote *zygote, const int *fds, size_t n_fds, uint32_t flags) {
	struct gb_wall_failure failure;
	/* First of all, so that the group counts all memory of the cell. */
	const bool has_network = (flags & GB_FORK_NETWORK) && n_fds > 1;
	const int network = has_network ? fds[1] : -1;
	const bool passes = GB_PLAN_PASSES_SOCKETS(&zygote->plan);
	int rest[GB_ORDER_FDS_MAX];
	if (has_network) {
		rest[0] = fds[0];
		memcpy(rest + 1, fds + 2, (n_fds - 2) * sizeof *fds);
		fds = rest;
		n_fds--;
	}
	if (zygote->plan.grouped && !enter_group(fds, n_fds, &failure))
		refuse(&failure);
	if (passes && !gb_network_pass(&zygote->plan, network, &failure))
		refuse(&failure);
	if (!close_other_descriptors(zygote, fds, n_fds, passes ? -1 : network, &failure) ||
	    !gb_plan_apply_cell(&zygote->plan, &failure))
		refuse(&failure);
	/* An empty room has no cookie. */
	if (zygote->plan.room != GB_ROOM_NONE)
		explicit_bzero(&zygote->plan.contents.cookie, sizeof zygote->plan.contents.cookie);
	if ((flags & GB_FORK_PRIME) && zygote->worker->prime)
		zygote->worker->prime();
	zygote->worker->serve(GB_FD_CELL);
	_exit(0);
}

/* Create a process; in a room that is not empty with new mount and pid namespaces. Not with fork(), which has
 * no flags for that, and which writes to memory of the C library that parent and child then have to copy. As
 * with fork(), the kernel writes the new thread's id where the C library stores it. */
static pid_t make_process(const struct gb_plan *plan) {
	unsigned long flags = GB_FORK_FLAGS;
	if (plan->room != GB_ROOM_NONE && (plan->layers & GB_LAYER_MOUNT)) {
		bool net = (plan->room == GB_ROOM_PROGRAMS || GB_PLAN_PASSES_SOCKETS(plan)) &&
			   (plan->layers & GB_LAYER_NET);
		flags = net ? GB_CELL_CLONE_FLAGS_NET : GB_CELL_CLONE_FLAGS;
	}
	return (pid_t)syscall(SYS_clone, flags, NULL, NULL, thread_number(), 0);
}

static void fork_cell(struct zygote *zygote, const struct gb_order *order, const int *fds, size_t n_fds) {
	struct gb_notice notice = {.kind = GB_NOTICE_FORKED, .cell = order->cell};
	pid_t pid = make_process(&zygote->plan);
	if (pid == 0)
		become_cell(zygote, fds, n_fds, order->flags);
	gb_auto_fd int pidfd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		notice.error = errno;
	/* The exit of a child that is not recorded would never be reported, and a child without a pidfd could
	 * not be killed. */
	if (pid > 0 && (pidfd < 0 || !record_child(zygote, pid, order->cell)))
		_exit(1);
	notify(&notice, pidfd);
}

/* Execute an order that came with @n descriptors. Orders that violate the protocol are ignored. */
static void handle_order(struct zygote *zygote, const struct gb_order *order, const int *fds, size_t n) {
	for (size_t i = 0; i < n && order->kind == GB_ORDER_SOCKETS; i++) {
		int fd = fds[i], *spare = &zygote->spare[(order->spare + i) % GB_SPARE_SOCKETS];
		gb_close_fd(spare);
		*spare = fd;
	}
	if (order->kind != GB_ORDER_FORK)
		return;
	if (n == 0 && order->spare < GB_SPARE_SOCKETS) {
		gb_auto_fd int fd = gb_take_fd(&zygote->spare[order->spare]);
		if (fd >= 0)
			fork_cell(zygote, order, &fd, 1);
	} else if (n > 0) {
		fork_cell(zygote, order, fds, n);
	}
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

static bool receive_order(struct zygote *zygote) {
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int[GB_SPARE_SOCKETS]))];
	} control;
	struct gb_order order;
	struct iovec iov = {&order, sizeof order};
	struct msghdr message = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof control.bytes};
	ssize_t n = recvmsg(GB_FD_CONTROL, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n != sizeof order)
		return false;

	int fds[GB_SPARE_SOCKETS];
	size_t n_fds = 0;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS) {
		n_fds = (head->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
		memcpy(fds, CMSG_DATA(head), n_fds * sizeof *fds);
	}
	handle_order(zygote, &order, fds, n_fds);
	return true;
}

static void report_exit(struct zygote *zygote, pid_t pid, int status) {
	for (size_t i = 0; i < zygote->n_children; i++) {
		if (zygote->children[i].pid != pid)
			continue;
		struct gb_notice notice = {
		    .kind = GB_NOTICE_EXITED,
		    .cell = zygote->children[i].cell,
		    .wait_status = status,
		};
		zygote->children[i] = zygote->children[--zygote->n_children];
		notify(&notice, -1);
		return;
	}
}

static void reap(struct zygote *zygote) {
	struct signalfd_siginfo info;
	while (read(zygote->signals, &info, sizeof info) > 0)
		;
	int status;
	pid_t pid;
	/* As init of its pid namespace, the zygote also inherits orphaned processes of cells. */
	while ((pid = wait4(-1, &status, WNOHANG, NULL)) > 0)
		report_exit(zygote, pid, status);
}

static void serve_host(struct zygote *zygote) {
	struct pollfd fds[] = {
	    {.fd = GB_FD_CONTROL, .events = POLLIN},
	    {.fd = GB_FD_HOST, .events = POLLIN}, /* a pidfd: readable once the host is dead */
	    {.fd = zygote->signals, .events = POLLIN},
	};
	for (;;) {
		if (ppoll(fds, GB_COUNT(fds), NULL, NULL) < 0 && errno != EINTR)
			return;
		/* Orders first, reaping later: reaping is off the latency path. */
		if (fds[0].revents && !receive_order(zygote))
			return;
		if (fds[1].revents)
			return;
		if (fds[2].revents)
			reap(zygote);
	}
}

static bool has_network, has_workdir;

bool gb_worker_has_network(void) {
	return has_network;
}

bool gb_worker_has_workdir(void) {
	return has_workdir;
}

int gb_zygote_main(const struct gb_worker *worker) {
	static struct zygote zygote;
	zygote.worker = worker;
	for (size_t i = 0; i < GB_SPARE_SOCKETS; i++)
		zygote.spare[i] = -1;
	reset_signals(worker);
	receive_plan(&zygote.plan);
	has_network = zygote.plan.network;
	has_workdir = GB_PLAN_HAS_WORKDIR(&zygote.plan);
	struct gb_wall_failure failure;
	if (!gb_verify_inherited(&failure))
		fail(failure.layer, failure.error, failure.step);
	set_time_zone();
	gb_text_make_inheritable();
	raise_wall(&zygote);
	if (!worker->init(zygote.plan.profile))
		fail(GB_LAYER_ALL, 0, "prepare the interpreter");
	struct gb_notice ready = {.kind = GB_NOTICE_READY};
	if (worker->version)
		worker->version(ready.text, sizeof ready.text);
	notify(&ready, -1);
	serve_host(&zygote);
	/* It is init of its pid namespace, so the kernel kills every cell when it exits. */
	_exit(0);
}
