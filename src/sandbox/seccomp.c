/*
 * The system call allowlist, compiled to BPF on the host by libseccomp and loaded raw by the child.
 *
 * There are two filters. The zygote's admits what forking cells needs; every worker adds its own, much
 * shorter one, so that a worker can do nothing but compute, read its socket and answer.
 */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/plan.h"

enum who { ZYGOTE = 1, WORKER = 2, BOTH = 3 };

/* A system call, who may make it, and what one of its arguments must look like: (arg & mask) == value. */
struct rule {
	int nr;
	enum who who;
	bool conditional;
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

#define PLAIN(name, who_)                                                                                    \
	{ .nr = SCMP_SYS(name), .who = who_ }
#define WHEN(name, who_, arg_, mask_, value_)                                                                \
	{ SCMP_SYS(name), who_, true, arg_, mask_, value_ }
#define ANY_BITS UINT64_MAX

/* glibc's fork(), and nothing else that clone can do. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct rule rules[] = {
    /* Talk on the sockets that are already open. */
    PLAIN(read, BOTH),
    PLAIN(write, BOTH),
    PLAIN(sendto, BOTH),
    PLAIN(close, BOTH),
    PLAIN(recvmsg, ZYGOTE),
    PLAIN(sendmsg, ZYGOTE),
    PLAIN(ppoll, ZYGOTE),
    PLAIN(dup3, ZYGOTE),
    PLAIN(close_range, ZYGOTE),
    /* Memory, never executable. */
    WHEN(mmap, BOTH, 2, PROT_EXEC, 0),
    WHEN(mprotect, BOTH, 2, PROT_EXEC, 0),
    PLAIN(munmap, BOTH),
    PLAIN(mremap, BOTH),
    PLAIN(madvise, BOTH),
    PLAIN(brk, BOTH),
    /* Time and randomness. */
    PLAIN(clock_gettime, BOTH),
    PLAIN(gettimeofday, BOTH),
    PLAIN(time, BOTH),
    PLAIN(getrandom, BOTH),
    /* What the C library does on its own. */
    PLAIN(futex, BOTH),
    PLAIN(rt_sigreturn, BOTH),
    PLAIN(restart_syscall, BOTH),
    PLAIN(getpid, BOTH),
    PLAIN(gettid, BOTH),
    PLAIN(rt_sigprocmask, ZYGOTE),
    PLAIN(set_robust_list, ZYGOTE),
    /* A run's own limits: only downwards, since nobody here may raise a hard limit. */
    WHEN(prlimit64, BOTH, 0, ANY_BITS, 0),
    /* Cells: fork one, tell the host, reap it. */
    WHEN(clone, ZYGOTE, 0, ANY_BITS, FORK_FLAGS),
    PLAIN(pidfd_open, ZYGOTE),
    PLAIN(wait4, ZYGOTE),
    /* The worker's own filter goes on top of this one. */
    PLAIN(seccomp, ZYGOTE),
    WHEN(prctl, ZYGOTE, 0, ANY_BITS, PR_SET_SECCOMP),
    PLAIN(exit, BOTH),
    PLAIN(exit_group, BOTH),
#ifdef __SANITIZE_ADDRESS__
    /* A sanitizer's runtime is part of the process: test builds only. */
    PLAIN(sigaltstack, BOTH),
    PLAIN(rt_sigaction, BOTH),
    PLAIN(rt_sigprocmask, WORKER),
    PLAIN(sched_yield, BOTH),
    PLAIN(prctl, BOTH),
    PLAIN(openat, BOTH),
    PLAIN(readlink, BOTH),
    PLAIN(getrlimit, BOTH),
    PLAIN(sched_getaffinity, BOTH),
    PLAIN(sysinfo, BOTH),
    PLAIN(getuid, BOTH),
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

static bool build_filter(enum who who, int denied_errno, struct gb_filter *ret, struct gb_err *err) {
	__attribute__((cleanup(release_filter))) scmp_filter_ctx filter =
	    seccomp_init(SCMP_ACT_ERRNO((uint32_t)denied_errno));
	if (!filter)
		return gb_fail(err, GB_EWALL, 0, "seccomp: libseccomp does not know this architecture");
	/* Calls of another architecture (32-bit code) end the process. The binary tree keeps both the run
	 * of the filter and the kernel's walk over it at load time short. */
	seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < GB_COUNT(rules); i++) {
		if (!(rules[i].who & who))
			continue;
		int failed = add_rule(filter, &rules[i]);
		if (failed)
			return gb_fail(err, GB_EWALL, -failed, "seccomp: rule %zu", i);
	}
	return export_filter(filter, ret, err);
}

bool gb_seccomp_filters(
    struct gb_filter *ret_zygote, struct gb_filter *ret_worker, int denied_errno, struct gb_err *err) {
	return build_filter(ZYGOTE, denied_errno, ret_zygote, err) &&
	       build_filter(WORKER, denied_errno, ret_worker, err);
}
