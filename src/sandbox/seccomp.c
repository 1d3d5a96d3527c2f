/*
 * The system call allowlist, compiled to BPF on the host by libseccomp and loaded raw by the child.
 *
 * There is one filter. The zygote loads it once, its cells inherit it: loading costs a tenth of a millisecond
 * and the kernel's time to compile and free, and kernels have been seen to lock up when thousands of filters
 * a second come and go. So the filter admits what the zygote needs, and each of those calls is either bound
 * to a descriptor that a cell does not have, or stopped in a cell by a limit that it cannot raise.
 */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/plan.h"
#include "sandbox/protocol.h"

/* A system call, and what one of its arguments must look like: (arg & mask) == value. */
struct rule {
	int nr;
	bool conditional;
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

#define PLAIN(name)                                                                                          \
	{ .nr = SCMP_SYS(name) }
#define WHEN(name, arg_, mask_, value_)                                                                      \
	{ SCMP_SYS(name), true, arg_, mask_, value_ }
#define ANY_BITS UINT64_MAX

/* glibc's fork(), and nothing else that clone can do. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct rule rules[] = {
    /* Talk on the socket that is already open. */
    PLAIN(read),
    PLAIN(write),
    PLAIN(sendto),
    PLAIN(close),
    /* Memory, never executable. */
    WHEN(mmap, 2, PROT_EXEC, 0),
    WHEN(mprotect, 2, PROT_EXEC, 0),
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
    PLAIN(futex),
    PLAIN(rt_sigreturn),
    PLAIN(restart_syscall),
    PLAIN(rt_sigprocmask),
    PLAIN(set_robust_list),
    PLAIN(getpid),
    PLAIN(gettid),
    /* A run's own limits: only downwards, since nobody here may raise a hard limit. */
    WHEN(prlimit64, 0, ANY_BITS, 0),
    PLAIN(exit),
    PLAIN(exit_group),

    /* For the zygote. A cell has no control socket, and no way to put another one in its place; */
    WHEN(recvmsg, 0, ANY_BITS, GB_FD_CONTROL),
    WHEN(sendmsg, 0, ANY_BITS, GB_FD_CONTROL),
    WHEN(dup3, 1, ANY_BITS, GB_FD_CELL),
    PLAIN(close_range),
    PLAIN(ppoll),
    /* it may have no process (RLIMIT_NPROC is 0 there), no further descriptor (RLIMIT_NOFILE), no child. */
    WHEN(clone, 0, ANY_BITS, FORK_FLAGS),
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

static int add_rule(scmp_filter_ctx filter, const struct rule *rule) {
	if (!rule->conditional)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, rule->nr, 0);
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, rule->nr, 1,
	    SCMP_CMP(rule->arg, SCMP_CMP_MASKED_EQ, rule->mask, rule->value));
}

static bool export_filter(scmp_filter_ctx filter, struct gb_filter *ret, struct gb_err *err) {
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

bool gb_seccomp_filter(struct gb_filter *ret, int denied_errno, struct gb_err *err) {
	__attribute__((cleanup(release_filter))) scmp_filter_ctx filter =
	    seccomp_init(SCMP_ACT_ERRNO((uint32_t)denied_errno));
	if (!filter)
		return gb_fail(err, GB_EWALL, 0, "seccomp: libseccomp does not know this architecture");
	/* Calls of another architecture (32-bit code) end the process. The binary tree keeps both the run
	 * of the filter and the kernel's walk over it at load time short. */
	seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < GB_COUNT(rules); i++) {
		int failed = add_rule(filter, &rules[i]);
		if (failed)
			return gb_fail(err, GB_EWALL, -failed, "seccomp: rule %zu", i);
	}
	return export_filter(filter, ret, err);
}
