/*
 * The system call allowlist, compiled to BPF on the host by libseccomp and loaded raw by the child.
 *
 * There is one filter. The zygote loads it once, its cells inherit it: loading costs a tenth of a millisecond
 * and the kernel's time to compile and free, and kernels have been seen to lock up when thousands of filters
 * a second come and go. So the filter admits what the zygote needs, and each of those calls is either bound
 * to a descriptor that a cell does not have, or stopped in a cell by a limit that it cannot raise.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
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
#define WITHOUT(arg, bits)                                                                                   \
	{ arg, bits, 0 }
#define ONLY(arg, bits)                                                                                      \
	{ arg, UINT32_MAX & ~(uint64_t)(bits), 0 }

/* glibc's fork(), and nothing else that clone can do. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct rule rules[] = {
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
    /* it may start no process (RLIMIT_NPROC is 0 there) and open no descriptor (RLIMIT_NOFILE too). */
    WHEN(clone, IS(0, FORK_FLAGS)),
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
	struct scmp_arg_cmp comparisons[GB_COUNT(rule->conditions)];
	unsigned n = 0;
	for (size_t i = 0; i < GB_COUNT(rule->conditions); i++) {
		const struct condition *c = &rule->conditions[i];
		if (c->mask)
			comparisons[n++] = SCMP_CMP(c->arg, SCMP_CMP_MASKED_EQ, c->mask, c->value);
	}
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->nr, n, comparisons);
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
