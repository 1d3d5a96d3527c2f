#include "sandbox/linux/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/cause.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/spawn.h"

enum { KILL_TIMEOUT_MS = 20000 };

static bool write_proc(pid_t pid, const char *name, const char *text, const char *layer, struct gb_err *err) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	gb_auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return gb_fail(err, GB_EWALL, errno, "%s: write '%s' to %s", layer, text, path);
	return true;
}

static bool write_map(pid_t pid, const char *name, const char *text, struct gb_err *err) {
	return write_proc(pid, name, text, gb_layer_name(GB_LAYER_USER), err) ||
	       gb_cause_append(GB_LAYER_USER, err);
}

/* The beginning of a file of @process ("self", or a number) in /proc, as text. Empty if it cannot be read. */
static void read_proc(const char *process, const char *name, char *ret, size_t n) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%s/%s", process, name);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, ret, n - 1);
	ret[got < 0 ? 0 : got] = '\0';
}

/* The sandbox has an unprivileged id inside and outside. */
static bool map_ids(pid_t pid, const struct gb_plan *plan, struct gb_err *err) {
	char uid_map[48], gid_map[48];
	snprintf(uid_map, sizeof uid_map, "%u %u 1", plan->uid, plan->uid);
	snprintf(gid_map, sizeof gid_map, "%u %u 1", plan->gid, plan->host_gid);
	/* The kernel lets an unprivileged user map its group only after setgroups was disabled. */
	if (geteuid() != 0 && !write_map(pid, "setgroups", "deny", err))
		return false;
	return write_map(pid, "gid_map", gid_map, err) && write_map(pid, "uid_map", uid_map, err);
}

/* --- properties that only the host can verify --- */

/* Each namespace of the plan differs from the host's. */
static bool verify_namespaces(pid_t pid, unsigned layers, struct gb_err *err) {
	static const struct {
		enum gb_layer layer;
		const char *name;
	} namespaces[] = {
	    {GB_LAYER_USER, "user"},
	    {GB_LAYER_PID, "pid"},
	    {GB_LAYER_NET, "net"},
	    {GB_LAYER_IPC, "ipc"},
	    {GB_LAYER_UTS, "uts"},
	    {GB_LAYER_MOUNT, "mnt"},
	};
	for (size_t i = 0; i < GB_COUNT(namespaces); i++) {
		char path[2][64], link[2][64] = {"", ""};
		if (!(layers & namespaces[i].layer))
			continue;
		snprintf(path[0], sizeof path[0], "/proc/self/ns/%s", namespaces[i].name);
		snprintf(path[1], sizeof path[1], "/proc/%d/ns/%s", (int)pid, namespaces[i].name);
		for (int j = 0; j < 2; j++)
			if (readlink(path[j], link[j], sizeof link[j] - 1) <= 0 || !link[j][0])
				return gb_fail(err, GB_EWALL, errno, "%s: read %s",
				    gb_layer_name(namespaces[i].layer), path[j]);
		if (strcmp(link[0], link[1]) == 0)
			return gb_fail(err, GB_EWALL, 0, "%s: the zygote is still in the host's",
			    gb_layer_name(namespaces[i].layer));
	}
	return true;
}

static bool verify_cgroup(const char *pid, struct gb_err *err) {
	char ours[4096], theirs[4096];
	read_proc("self", "cgroup", ours, sizeof ours);
	read_proc(pid, "cgroup", theirs, sizeof theirs);
	return (ours[0] && theirs[0] && strcmp(ours, theirs) != 0) ||
	       gb_fail(
		   err, GB_EWALL, 0, "%s: the zygote is still in the host's", gb_layer_name(GB_LAYER_CGROUP));
}

/* When the machine runs out of memory, the kernel kills the process with the highest score. 1000 is the
 * highest adjustment: the kernel kills cells before all other programs of the machine, the cell that uses
 * most memory first. Children inherit the value, and an unprivileged process cannot lower it. */
static bool raise_oom_score(pid_t pid, const char *name, struct gb_err *err) {
	static const char score[] = "1000", what[] = "out-of-memory score";
	char seen[16];
	if (!write_proc(pid, "oom_score_adj", score, what, err))
		return false;
	read_proc(name, "oom_score_adj", seen, sizeof seen);
	return strcmp(seen, "1000\n") == 0 ||
	       gb_fail(err, GB_EWALL, 0, "%s: /proc/%s/oom_score_adj did not become %s", what, name, score);
}

/* A zygote can only lower its limits. If the limit is exactly 1, the kernel does not start a program that
 * collects core dumps; if it is 0, as the host's may be, it does. With CAP_SYS_RESOURCE the host can raise it
 * to 1; otherwise it stays. */
static bool set_core_limit(pid_t pid, const struct gb_plan *plan, struct gb_err *err) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++) {
		const rlim_t limit = plan->rlimits[i].limit;
		struct rlimit seen = {1, 2};
		if (plan->rlimits[i].resource != RLIMIT_CORE)
			continue;
		if (prlimit(pid, RLIMIT_CORE, &(struct rlimit){limit, limit}, NULL) != 0)
			return errno == EPERM || gb_fail(err, GB_EWALL, errno, "%s: core dumps",
						     gb_layer_name(GB_LAYER_RLIMIT));
		if (prlimit(pid, RLIMIT_CORE, NULL, &seen) != 0 || seen.rlim_cur != limit ||
		    seen.rlim_max != limit)
			return gb_fail(err, GB_EWALL, 0, "%s: that of core dumps did not become %llu",
			    gb_layer_name(GB_LAYER_RLIMIT), (unsigned long long)limit);
	}
	return true;
}

/* If dumps go to a socket, the kernel ignores the limit; and if the limit is 0, it cannot always be raised to
 * the 1 that prevents dumps to a pipe. So the filter excludes all memory from dumps. Children inherit it,
 * also over exec, and /proc in a room is read-only. Kernels without core dumps have no such file. */
static bool empty_core_dumps(pid_t pid, const char *name, struct gb_err *err) {
	static const char what[] = "core dumps", file[] = "coredump_filter";
	char seen[16];
	read_proc("self", file, seen, sizeof seen);
	if (!seen[0])
		return true;
	if (!write_proc(pid, file, "0", what, err))
		return false;
	read_proc(name, file, seen, sizeof seen);
	return strcmp(seen, "00000000\n") == 0 ||
	       gb_fail(err, GB_EWALL, 0, "%s: /proc/%s/%s did not become 0", what, name, file);
}

/* CLONE_VFORK lets the host continue a moment before the child has memory of its own. Until then the files of
 * /proc that concern the child's memory are the host's: writing them would change the host's score and dumps. */
static bool await_own_memory(const char *name, struct gb_err *err) {
	enum { EXEC_TIMEOUT_S = 30 };
	char path[64];
	struct stat host, child;
	uint64_t deadline = gb_now_ns() + EXEC_TIMEOUT_S * 1000000000ull;
	snprintf(path, sizeof path, "/proc/%s/exe", name);
	if (stat("/proc/self/exe", &host) != 0)
		return gb_fail(err, GB_EWALL, errno, "wall: look at /proc/self/exe");
	while (stat(path, &child) == 0 && child.st_dev == host.st_dev && child.st_ino == host.st_ino) {
		if (gb_now_ns() > deadline)
			return gb_fail(err, GB_EWALL, 0, "wall: the zygote's program did not start");
		sched_yield();
	}
	return true;
}

static bool start(
    struct gb_zygote *zygote, const struct gb_plan *plan, struct gb_cgroup *cgroup, struct gb_err *err) {
	char pid[16];
	snprintf(pid, sizeof pid, "%d", (int)zygote->pid);
	if ((plan->layers & GB_LAYER_USER) && !map_ids(zygote->pid, plan, err))
		return false;
	if (!verify_namespaces(zygote->pid, plan->layers, err) || !await_own_memory(pid, err) ||
	    !raise_oom_score(zygote->pid, pid, err) || !empty_core_dumps(zygote->pid, pid, err))
		return false;
	if ((plan->layers & GB_LAYER_RLIMIT) && !set_core_limit(zygote->pid, plan, err))
		return false;
	if ((plan->layers & GB_LAYER_CGROUP) && cgroup &&
	    (!gb_cgroup_attach(cgroup, zygote->pid, err) || !verify_cgroup(pid, err)))
		return false;
	if (send(zygote->control, plan, sizeof *plan, MSG_NOSIGNAL) != sizeof *plan)
		return gb_fail(err, GB_EWALL, errno, "send the plan of the wall");
	return true;
}

/* If the zygote has died, every access to its /proc files fails. Report its death instead of that error. */
static void report_early_exit(struct gb_zygote *zygote, struct gb_err *err) {
	/* A process leaves its namespaces a moment before its pidfd reports its death. */
	enum { EXIT_TIMEOUT_MS = 100 };
	char how[128];
	struct pollfd dead = {.fd = zygote->pidfd, .events = POLLIN};
	if (poll(&dead, 1, EXIT_TIMEOUT_MS) != 1)
		return;
	gb_zygote_describe_exit(zygote, how, sizeof how);
	gb_fail(err, GB_EWALL, 0, "wall: the zygote %s before any layer was raised", how);
}

bool gb_zygote_spawn(struct gb_zygote *ret, const struct gb_plan *plan, const char *program,
    struct gb_cgroup *cgroup, struct gb_err *err) {
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socketpair");
	struct gb_zygote zygote = {.control = pair[0], .pidfd = -1};
	gb_auto_fd int theirs = pair[1];
	gb_auto_fd int host = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (host < 0) {
		gb_fail(err, GB_ESYSTEM, errno, "pidfd_open of ourselves");
		gb_close_fd(&zygote.control);
		return false;
	}
	const struct gb_spawn spawn = {program, plan->layers, theirs, host};
	bool spawned = gb_spawn(&spawn, &zygote.pid, &zygote.pidfd, err);
	if (!spawned || !start(&zygote, plan, cgroup, err)) {
		if (spawned)
			report_early_exit(&zygote, err);
		gb_zygote_finish(&zygote);
		return false;
	}
	fcntl(zygote.control, F_SETFL, O_NONBLOCK);
	*ret = zygote;
	return true;
}

void gb_zygote_finish(struct gb_zygote *zygote) {
	if (zygote->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, zygote->pidfd, SIGKILL, NULL, 0);
		/* It is dead when all processes of its pid namespace are. The timeout only matters if the
		 * kernel hangs. */
		struct pollfd dead = {.fd = zygote->pidfd, .events = POLLIN};
		while (poll(&dead, 1, KILL_TIMEOUT_MS) < 0 && errno == EINTR)
			;
		waitid(P_PIDFD, (id_t)zygote->pidfd, &(siginfo_t){0}, WEXITED | WNOHANG | __WALL);
	}
	gb_close_fd(&zygote->pidfd);
	gb_close_fd(&zygote->control);
	while (zygote->n_spare)
		close(zygote->spare[--zygote->n_spare]);
}

static bool send_order(struct gb_zygote *zygote, const struct gb_order *order, const int *fds, size_t n) {
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int[GB_SPARE_SOCKETS]))];
	} control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec iov = {(void *)order, sizeof *order};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	if (n) {
		control.head.cmsg_len = CMSG_LEN(n * sizeof *fds);
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof *fds);
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(n * sizeof *fds);
	}
	return sendmsg(zygote->control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

bool gb_zygote_fork(struct gb_zygote *zygote, uint32_t cell, const int *fds, size_t n_fds, uint32_t flags,
    struct gb_err *err) {
	const struct gb_order order = {GB_ORDER_FORK, cell, flags, GB_NO_SPARE};
	return send_order(zygote, &order, fds, n_fds) || gb_fail(err, GB_ESYSTEM, errno, "order a cell");
}

bool gb_zygote_fork_spare(
    struct gb_zygote *zygote, uint32_t cell, uint32_t spare, uint32_t flags, struct gb_err *err) {
	const struct gb_order order = {GB_ORDER_FORK, cell, flags, spare};
	return send_order(zygote, &order, NULL, 0) || gb_fail(err, GB_ESYSTEM, errno, "order a cell");
}

void gb_zygote_send_spares(struct gb_zygote *zygote) {
	int theirs[GB_SPARE_SOCKETS], pair[2];
	const unsigned first = zygote->n_spare;
	unsigned n = first;
	for (; n < GB_SPARE_SOCKETS && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0; n++) {
		zygote->spare[n] = pair[0];
		theirs[n - first] = pair[1];
	}
	const struct gb_order order = {.kind = GB_ORDER_SOCKETS, .spare = first};
	bool given = n > first && send_order(zygote, &order, theirs, n - first);
	for (unsigned i = first; i < n; i++) {
		close(theirs[i - first]);
		if (!given)
			close(zygote->spare[i]);
	}
	zygote->n_spare = given ? n : first;
}

bool gb_zygote_take_spare(struct gb_zygote *zygote, int *ret_fd, uint32_t *ret_spare) {
	if (!zygote->n_spare)
		gb_zygote_send_spares(zygote);
	if (!zygote->n_spare)
		return false;
	*ret_spare = --zygote->n_spare;
	*ret_fd = zygote->spare[*ret_spare];
	return true;
}

enum gb_zygote_status gb_zygote_next(struct gb_zygote *zygote, struct gb_notice *ret_notice, int *ret_pidfd) {
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {ret_notice, sizeof *ret_notice};
	struct msghdr message = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof control.bytes};
	ssize_t n;
	/* A zygote that exits with unread orders resets the connection. Its last notice can still be
	 * received. */
	do
		n = recvmsg(zygote->control, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == ECONNRESET);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return GB_ZYGOTE_QUIET;
	if (n != sizeof *ret_notice)
		return GB_ZYGOTE_GONE;
	*ret_pidfd = -1;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_pidfd, CMSG_DATA(head), sizeof *ret_pidfd);
	return GB_ZYGOTE_NOTICE;
}

bool gb_notice_fail(const struct gb_notice *notice, struct gb_err *err) {
	char step[sizeof notice->text];
	snprintf(step, sizeof step, "%s", notice->text);
	gb_fail(err, GB_EWALL, notice->error, "%s: %s; see 'glovebox doctor'", gb_layer_name(notice->layer),
	    step);
	return gb_cause_append(notice->layer, err);
}

enum { LOADER_FAILED = 127 }; /* how the dynamic loader ends; no worker does */

void gb_zygote_describe_exit(struct gb_zygote *zygote, char *text, size_t n) {
	siginfo_t info = {0};
	if (zygote->pidfd < 0 ||
	    waitid(P_PIDFD, (id_t)zygote->pidfd, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
	    info.si_pid == 0)
		snprintf(text, n, "closed its control socket");
	else if (info.si_code == CLD_EXITED && info.si_status == LOADER_FAILED)
		snprintf(text, n,
		    "could not be loaded: a library is missing here, such as the libpython that it was built "
		    "for");
	else if (info.si_code == CLD_EXITED)
		snprintf(text, n, "exited with status %d", info.si_status);
	else
		snprintf(
		    text, n, "was killed by signal %d (SIG%s)", info.si_status, sigabbrev_np(info.si_status));
}
