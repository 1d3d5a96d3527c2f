/*
 * The system call allowlist, compiled to BPF on the host by libseccomp and loaded raw by the child.
 *
 * There is one filter. The zygote loads it once, its cells inherit it: loading costs a tenth of a millisecond
 * and the kernel's time to compile and free, and kernels have been seen to lock up when thousands of filters
 * a second come and go. So the filter admits what the zygote needs, and each of those calls is either bound
 * to a descriptor that a cell does not have, or stopped in a cell by a limit that it cannot raise, or takes a
 * capability that it gives up, or a number, drawn for the zygote, that it forgets.
 */
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/plan.h"
#include "sandbox/protocol.h"

/* What an argument must look like: (arg & mask) == value. A mask of 0 asks nothing. */
struct condition {
	unsigned arg;
	uint64_t mask;
	uint64_t value;
	bool differs; /* instead: arg != value */
};

struct rule {
	int nr;
	struct condition conditions[2];
};

#define PLAIN(name)                                                                                          \
	{ .nr = SCMP_SYS(name) }
#define WHEN(name, ...)                                                                                      \
	{                                                                                                    \
		.nr = SCMP_SYS(name), .conditions = { __VA_ARGS__ }                                          \
	}
#define IS(arg, value)                                                                                       \
	{ arg, UINT64_MAX, value }
#define IS_NOT(arg, value)                                                                                   \
	{ arg, UINT64_MAX, value, true }
#define WITHOUT(arg, bits)                                                                                   \
	{ arg, bits, 0 }
#define ONLY(arg, bits)                                                                                      \
	{ arg, UINT32_MAX & ~(uint64_t)(bits), 0 }

/* glibc's threads. */
#define THREAD_FLAGS                                                                                         \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |   \
	    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

static const struct rule common_rules[] = {
    /* Talk on the socket that is already open. */
    PLAIN(read),
    PLAIN(write),
    /* Plain bytes: no out-of-band data, no addresses to speak of on a connected socket. */
    WHEN(sendto, ONLY(3, MSG_NOSIGNAL)),
    PLAIN(close),
    /* Memory, never executable, and not from the host's pool of huge pages. */
    WHEN(mmap, WITHOUT(2, PROT_EXEC), WITHOUT(3, MAP_HUGETLB)),
    WHEN(mprotect, WITHOUT(2, PROT_EXEC)),
    PLAIN(munmap),
    PLAIN(mremap),
    PLAIN(madvise),
    PLAIN(brk),
    /* Time and randomness. */
    PLAIN(clock_gettime),
    PLAIN(gettimeofday),
    PLAIN(time),
    PLAIN(getrandom),
    /* What the C library does on its own. */
    WHEN(futex, ONLY(1, FUTEX_WAKE | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)), /* FUTEX_WAIT is 0 */
    PLAIN(rt_sigreturn),
    PLAIN(restart_syscall),
    PLAIN(rt_sigprocmask),
    PLAIN(set_robust_list),
    PLAIN(getpid),
    PLAIN(gettid),
    /* A run's own limits: only downwards, since nobody here may raise a hard limit. */
    WHEN(prlimit64, IS(0, 0)),
    PLAIN(exit),
    PLAIN(exit_group),

    /* For the zygote. A cell has no control socket, and no way to put another one in its place; */
    WHEN(recvmsg, IS(0, GB_FD_CONTROL)),
    WHEN(sendmsg, IS(0, GB_FD_CONTROL)),
    WHEN(dup3, IS(1, GB_FD_CELL)),
    PLAIN(close_range),
    PLAIN(ppoll),
    PLAIN(pidfd_open),
    PLAIN(wait4),
#ifdef __SANITIZE_ADDRESS__
    /* A sanitizer's runtime is part of the process: test builds only. */
    PLAIN(sigaltstack),
    PLAIN(rt_sigaction),
    PLAIN(sched_yield),
    PLAIN(prctl),
    PLAIN(openat),
    PLAIN(readlink),
    PLAIN(getrlimit),
    PLAIN(sched_getaffinity),
    PLAIN(sysinfo),
    PLAIN(getuid),
#endif
};

/* An empty room: nothing to open and nobody to call. */
static const struct rule empty_rules[] = {
    /* For the zygote: a cell may start no process (RLIMIT_NPROC is 0 there), and open no descriptor by
     * pidfd_open (RLIMIT_NOFILE too). */
    WHEN(clone, IS(0, GB_FORK_FLAGS)),
};

/* A furnished room: files, threads, and what a large interpreter does without being asked. */
static const struct rule furnished_rules[] = {
    /* For the zygote: new namespaces and mounts take a capability that a cell does not have. */
    WHEN(clone, IS(0, GB_CELL_CLONE_FLAGS)),
    PLAIN(mount),
    PLAIN(capset),
    /* For a cell's start, and harmless ever after: they only take away. */
    PLAIN(landlock_create_ruleset),
    PLAIN(landlock_add_rule),
    PLAIN(landlock_restrict_self),
    /* Threads; never a process. */
    WHEN(clone, IS(0, THREAD_FLAGS)),
    PLAIN(futex),
    PLAIN(rseq),
    PLAIN(set_tid_address),
    PLAIN(sched_yield),
    PLAIN(sched_getaffinity),
    PLAIN(get_robust_list),
    PLAIN(membarrier),
    /* Code of shared libraries: from a file, never writable. /box and /tmp are mounted noexec. */
    WHEN(mmap, IS(2, PROT_READ | PROT_EXEC), WITHOUT(3, MAP_ANONYMOUS | MAP_HUGETLB)),
    PLAIN(msync),
    PLAIN(mincore),
    /* Files, as far as there are any. */
    PLAIN(open),
    PLAIN(openat),
    PLAIN(creat),
    PLAIN(stat),
    PLAIN(lstat),
    PLAIN(fstat),
    PLAIN(newfstatat),
    PLAIN(statx),
    PLAIN(statfs),
    PLAIN(fstatfs),
    PLAIN(access),
    PLAIN(faccessat),
    PLAIN(faccessat2),
    PLAIN(readlink),
    PLAIN(readlinkat),
    PLAIN(getdents64),
    PLAIN(lseek),
    PLAIN(pread64),
    PLAIN(pwrite64),
    PLAIN(readv),
    PLAIN(writev),
    PLAIN(preadv),
    PLAIN(pwritev),
    PLAIN(copy_file_range),
    PLAIN(ftruncate),
    PLAIN(truncate),
    PLAIN(fallocate),
    PLAIN(fadvise64),
    PLAIN(fsync),
    PLAIN(fdatasync),
    PLAIN(flock),
    PLAIN(mkdir),
    PLAIN(mkdirat),
    PLAIN(rmdir),
    PLAIN(unlink),
    PLAIN(unlinkat),
    PLAIN(rename),
    PLAIN(renameat),
    PLAIN(renameat2),
    PLAIN(link),
    PLAIN(linkat),
    PLAIN(symlink),
    PLAIN(symlinkat),
    PLAIN(chmod),
    PLAIN(fchmod),
    PLAIN(fchmodat),
    PLAIN(utimensat),
    PLAIN(umask),
    PLAIN(getcwd),
    PLAIN(chdir),
    PLAIN(fchdir),
    /* Descriptors. */
    PLAIN(dup),
    PLAIN(dup2),
    PLAIN(dup3),
    PLAIN(pipe),
    PLAIN(pipe2),
    PLAIN(eventfd2),
    PLAIN(poll),
    PLAIN(select),
    PLAIN(pselect6),
    PLAIN(epoll_create1),
    PLAIN(epoll_ctl),
    PLAIN(epoll_wait),
    PLAIN(epoll_pwait),
    PLAIN(timerfd_create),
    PLAIN(timerfd_settime),
    PLAIN(timer_create),
    PLAIN(timer_settime),
    PLAIN(timer_delete),
    WHEN(ioctl, IS(1, TCGETS)),
    WHEN(ioctl, IS(1, FIONREAD)),
    WHEN(ioctl, IS(1, FIONBIO)),
    WHEN(ioctl, IS(1, FIOCLEX)),
    WHEN(fcntl, IS(1, F_DUPFD)),
    WHEN(fcntl, IS(1, F_DUPFD_CLOEXEC)),
    WHEN(fcntl, IS(1, F_GETFD)),
    WHEN(fcntl, IS(1, F_SETFD)),
    WHEN(fcntl, IS(1, F_GETFL)),
    WHEN(fcntl, IS(1, F_SETFL)),
    WHEN(fcntl, IS(1, F_GETLK)),
    WHEN(fcntl, IS(1, F_SETLK)),
    WHEN(fcntl, IS(1, F_SETLKW)),
    /* A pair that leads nowhere: event loops wake themselves up through one. */
    WHEN(socketpair, IS(0, AF_UNIX)),
    PLAIN(recvfrom),
    WHEN(shutdown, IS(1, SHUT_RDWR)),
    WHEN(getsockopt, IS(2, SO_TYPE)),
    WHEN(getsockopt, IS(2, SO_ERROR)),
    WHEN(getsockopt, IS(2, SO_DOMAIN)),
    WHEN(getsockopt, IS(2, SO_PROTOCOL)),
    /* Time, signals of its own, who it is. */
    PLAIN(clock_getres),
    PLAIN(clock_nanosleep),
    PLAIN(nanosleep),
    PLAIN(setitimer),
    PLAIN(getitimer),
    PLAIN(alarm),
    PLAIN(times),
    PLAIN(getrusage),
    PLAIN(sysinfo),
    PLAIN(uname),
    PLAIN(rt_sigaction),
    PLAIN(rt_sigpending),
    PLAIN(rt_sigtimedwait),
    PLAIN(sigaltstack),
    PLAIN(pause),
    PLAIN(getppid),
    PLAIN(getuid),
    PLAIN(geteuid),
    PLAIN(getgid),
    PLAIN(getegid),
    PLAIN(getgroups),
    PLAIN(getresuid),
    PLAIN(getresgid),
    PLAIN(getrlimit),
    WHEN(prctl, IS(0, PR_SET_NAME)),
    WHEN(prctl, IS(0, PR_GET_NAME)),
};

/* All of clone's ways into a new namespace; CLONE_NEWTIME shares its bit with the signal that a child ends
 * with, and only clone3 knows it. */
#define NEW_NAMESPACES                                                                                       \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	    CLONE_NEWNET)

/* An inhabited room: what programs of all kinds do to their own files, processes, terminals and sockets. What
 * they cannot do there is reach anything else: that is the work of the namespaces. */
static const struct rule inhabited_rules[] = {
    /* For the zygote, as above. */
    WHEN(clone, IS(0, GB_CELL_CLONE_FLAGS_NET)),
    /* Programs and processes. */
    PLAIN(execve),
    WHEN(clone, WITHOUT(0, NEW_NAMESPACES)),
    PLAIN(fork),
    PLAIN(vfork),
    PLAIN(waitid),
    PLAIN(kill),
    PLAIN(tkill),
    PLAIN(tgkill),
    PLAIN(rt_sigqueueinfo),
    PLAIN(rt_tgsigqueueinfo),
    PLAIN(rt_sigsuspend),
    PLAIN(signalfd4),
    PLAIN(setsid),
    PLAIN(getsid),
    PLAIN(setpgid),
    PLAIN(getpgid),
    PLAIN(getpgrp),
    PLAIN(arch_prctl),
    /* Of everybody but the keeper, who is the first process. */
    WHEN(prlimit64, IS_NOT(0, 1)),
    PLAIN(setrlimit),
    PLAIN(getpriority),
    WHEN(setpriority, IS(0, PRIO_PROCESS), IS(1, 0)),
    WHEN(sched_setaffinity, IS(0, 0)),
    PLAIN(sched_getparam),
    PLAIN(sched_getscheduler),
    PLAIN(sched_get_priority_max),
    PLAIN(sched_get_priority_min),
    PLAIN(capget),
    PLAIN(getcpu),
    WHEN(prctl, IS(0, PR_SET_PDEATHSIG)),
    WHEN(prctl, IS(0, PR_GET_PDEATHSIG)),
    WHEN(prctl, IS(0, PR_GET_DUMPABLE)),
    WHEN(prctl, IS(0, PR_SET_DUMPABLE)),
    WHEN(prctl, IS(0, PR_CAPBSET_READ)),
    WHEN(prctl, IS(0, PR_GET_NO_NEW_PRIVS)),
    WHEN(prctl, IS(0, PR_SET_VMA)),
    /* Code that is made as it runs. */
    WHEN(mmap, WITHOUT(3, MAP_HUGETLB)),
    PLAIN(mprotect),
    PLAIN(mlock),
    PLAIN(munlock),
    /* Files. */
    PLAIN(chown),
    PLAIN(lchown),
    PLAIN(fchown),
    PLAIN(fchownat),
    WHEN(mknodat, {2, S_IFMT, S_IFIFO}),
    WHEN(mknod, {1, S_IFMT, S_IFIFO}),
    PLAIN(getxattr),
    PLAIN(lgetxattr),
    PLAIN(fgetxattr),
    PLAIN(listxattr),
    PLAIN(llistxattr),
    PLAIN(flistxattr),
    PLAIN(getdents),
    PLAIN(utime),
    PLAIN(utimes),
    PLAIN(futimesat),
    PLAIN(sync),
    PLAIN(syncfs),
    PLAIN(sync_file_range),
    PLAIN(readahead),
    PLAIN(preadv2),
    PLAIN(pwritev2),
    PLAIN(sendfile),
    PLAIN(splice),
    PLAIN(tee),
    PLAIN(inotify_init),
    PLAIN(inotify_init1),
    PLAIN(inotify_add_watch),
    PLAIN(inotify_rm_watch),
    PLAIN(fcntl),
    PLAIN(eventfd),
    PLAIN(epoll_create),
    PLAIN(epoll_pwait2),
    PLAIN(timerfd_gettime),
    PLAIN(timer_gettime),
    PLAIN(timer_getoverrun),
    /* Terminals; but nobody types into one through TIOCSTI, nor takes the console. */
    WHEN(ioctl, IS(1, TCSETS)),
    WHEN(ioctl, IS(1, TCSETSW)),
    WHEN(ioctl, IS(1, TCSETSF)),
    WHEN(ioctl, IS(1, TCGETS2)),
    WHEN(ioctl, IS(1, TCSETS2)),
    WHEN(ioctl, IS(1, TCSETSW2)),
    WHEN(ioctl, IS(1, TCSETSF2)),
    WHEN(ioctl, IS(1, TCSBRK)),
    WHEN(ioctl, IS(1, TCSBRKP)),
    WHEN(ioctl, IS(1, TCXONC)),
    WHEN(ioctl, IS(1, TCFLSH)),
    WHEN(ioctl, IS(1, TIOCEXCL)),
    WHEN(ioctl, IS(1, TIOCNXCL)),
    WHEN(ioctl, IS(1, TIOCSCTTY)),
    WHEN(ioctl, IS(1, TIOCNOTTY)),
    WHEN(ioctl, IS(1, TIOCGPGRP)),
    WHEN(ioctl, IS(1, TIOCSPGRP)),
    WHEN(ioctl, IS(1, TIOCGSID)),
    WHEN(ioctl, IS(1, TIOCOUTQ)),
    WHEN(ioctl, IS(1, TIOCGWINSZ)),
    WHEN(ioctl, IS(1, TIOCSWINSZ)),
    WHEN(ioctl, IS(1, TIOCPKT)),
    WHEN(ioctl, IS(1, TIOCGPTN)),
    WHEN(ioctl, IS(1, TIOCSPTLCK)),
    WHEN(ioctl, IS(1, TIOCGPTPEER)),
    WHEN(ioctl, IS(1, FIONCLEX)),
    WHEN(ioctl, IS(1, FIOASYNC)),
    /* Sockets: paths of its own, and a network that it has for itself. The flag is the zygote's to set. */
    WHEN(socket, IS(0, AF_UNIX)),
    WHEN(socket, IS(0, AF_INET)),
    WHEN(socket, IS(0, AF_INET6)),
    WHEN(ioctl, IS(1, SIOCSIFFLAGS)),
    PLAIN(bind),
    PLAIN(listen),
    PLAIN(accept),
    PLAIN(accept4),
    PLAIN(connect),
    PLAIN(getsockname),
    PLAIN(getpeername),
    PLAIN(setsockopt),
    PLAIN(getsockopt),
    PLAIN(shutdown),
    PLAIN(sendto),
    PLAIN(sendmsg),
    PLAIN(recvmsg),
    PLAIN(sendmmsg),
    PLAIN(recvmmsg),
};

static int add_rule(scmp_filter_ctx filter, const struct rule *rule) {
	struct scmp_arg_cmp comparisons[GB_COUNT(rule->conditions)];
	unsigned n = 0;
	for (size_t i = 0; i < GB_COUNT(rule->conditions); i++) {
		const struct condition *c = &rule->conditions[i];
		if (c->mask)
			comparisons[n++] = c->differs
					       ? SCMP_CMP(c->arg, SCMP_CMP_NE, c->value)
					       : SCMP_CMP(c->arg, SCMP_CMP_MASKED_EQ, c->mask, c->value);
	}
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->nr, n, comparisons);
}

static bool export_filter(scmp_filter_ctx filter, struct gb_seccomp *ret, struct gb_err *err) {
	gb_auto_fd int fd = memfd_create("glovebox-bpf", MFD_CLOEXEC);
	if (fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "seccomp: memfd");
	int failed = seccomp_export_bpf(filter, fd);
	if (failed)
		return gb_fail(err, GB_EWALL, -failed, "seccomp: compile the filter");
	off_t size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || (size_t)size > sizeof ret->code || (size_t)size % sizeof *ret->code)
		return gb_fail(err, GB_EWALL, 0, "seccomp: the filter has %ld bytes, room is for %zu",
		    (long)size, sizeof ret->code);
	lseek(fd, 0, SEEK_SET);
	if (!gb_read_all(fd, ret->code, (size_t)size))
		return gb_fail(err, GB_ESYSTEM, errno, "seccomp: read the filter");
	ret->n = (uint16_t)((size_t)size / sizeof *ret->code);
	return true;
}

static void release_filter(scmp_filter_ctx *filter) {
	seccomp_release(*filter);
}

static bool add_rules(scmp_filter_ctx filter, const struct rule *rules, size_t n, struct gb_err *err) {
	for (size_t i = 0; i < n; i++) {
		int failed = add_rule(filter, &rules[i]);
		if (failed)
			return gb_fail(err, GB_EWALL, -failed, "seccomp: rule %zu", i);
	}
	return true;
}

/* Rooms are each as the one before, and more. */
static bool add_room(scmp_filter_ctx filter, enum gb_room room, uint64_t cookie, struct gb_err *err) {
	/* The largest first: libseccomp forgets to free what a wider rule replaces. */
	if ((room == GB_ROOM_INHABITED &&
		!add_rules(filter, inhabited_rules, GB_COUNT(inhabited_rules), err)) ||
	    (room != GB_ROOM_EMPTY && !add_rules(filter, furnished_rules, GB_COUNT(furnished_rules), err)) ||
	    !add_rules(filter, common_rules, GB_COUNT(common_rules), err))
		return false;
	if (room == GB_ROOM_EMPTY)
		return add_rules(filter, empty_rules, GB_COUNT(empty_rules), err);
	/* A cell becomes a user of its own. Programs that it starts do not know the number with which to ask.
	 */
	const struct rule own_user = WHEN(unshare, ONLY(0, CLONE_NEWUSER | CLONE_NEWCGROUP), IS(1, cookie));
	/* Programs that try the newer call first take this for an old kernel, and use the other one. */
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) != 0)
		return gb_fail(err, GB_EWALL, 0, "seccomp: clone3");
	return add_rules(filter, &own_user, 1, err);
}

bool gb_seccomp_filter(
    struct gb_seccomp *ret, enum gb_room room, uint64_t cookie, int denied_errno, struct gb_err *err) {
	__attribute__((cleanup(release_filter))) scmp_filter_ctx filter =
	    seccomp_init(SCMP_ACT_ERRNO((uint32_t)denied_errno));
	if (!filter)
		return gb_fail(err, GB_EWALL, 0, "seccomp: libseccomp does not know this architecture");
	/* Calls of another architecture (32-bit code) end the process. The binary tree keeps both the run
	 * of the filter and the kernel's walk over it at load time short. */
	seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return add_room(filter, room, cookie, err) && export_filter(filter, ret, err);
}
