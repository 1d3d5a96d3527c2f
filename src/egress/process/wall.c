/* The sandbox of glovebox-egress: no files, no processes, only TCP and UDP. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/process/process.h"

/* If the host is root: an id that no user, and no cell, has. */
enum { OWN_ID = 65533 };

/* Everything that Landlock can refuse, by ABI. Nothing is granted. */
static const struct {
	uint64_t fs, net, scoped;
} landlock_abi[] = {
    {(1ull << 13) - 1, 0, 0},
    {(1ull << 14) - 1, 0, 0},
    {(1ull << 15) - 1, 0, 0},
    {(1ull << 15) - 1, 0, 0},
    {(1ull << 16) - 1, 0, 0},
    {(1ull << 16) - 1, 0, 3},
};

static const char *refuse_files(void) {
	const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	if (abi < 1)
		return "landlock: the kernel has none";
	const size_t i = (size_t)abi < GB_COUNT(landlock_abi) ? (size_t)abi - 1 : GB_COUNT(landlock_abi) - 1;
	const size_t size = sizeof landlock_abi[0];
	gb_auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &landlock_abi[i], size, 0);
	if (ruleset < 0)
		return "landlock: create a ruleset";
	return syscall(SYS_landlock_restrict_self, ruleset, 0) != 0 ? "landlock: restrict self" : NULL;
}

static bool set_capabilities(uint32_t kept) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{.effective = kept, .permitted = kept}};
	return syscall(SYS_capset, &head, caps) == 0;
}

/* Ports below 1024 inside a cell: a user who started the cell may bind them without any capability. */
static const char *become_unprivileged(void) {
	const bool root = geteuid() == 0;
	if (root && (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
			setresgid(OWN_ID, OWN_ID, OWN_ID) != 0 || setresuid(OWN_ID, OWN_ID, OWN_ID) != 0))
		return "take an unprivileged user id";
	if (!set_capabilities(root ? 1u << CAP_NET_BIND_SERVICE : 0))
		return "drop capabilities";
	return root && (setresuid(0, 0, 0) == 0 || geteuid() == 0) ? "the user id did not change" : NULL;
}

static const char *limit_resources(void) {
	static const int none[] = {RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_MSGQUEUE};
	const struct rlimit zero = {0, 0}, core = {0, 1};
	for (size_t i = 0; i < GB_COUNT(none); i++)
		if (setrlimit((__rlimit_resource_t)none[i], &zero) != 0)
			return "set a limit";
	/* For the reason in sandbox/linux/plan.c. */
	(void)setrlimit(RLIMIT_CORE, &core);
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ? "set not dumpable" : NULL;
}

#define CALL(name) SCMP_SYS(name)
static const int plain_calls[] = {
    CALL(read),
    CALL(write),
    CALL(readv),
    CALL(writev),
    CALL(close),
    CALL(lseek),
    CALL(epoll_wait),
    CALL(epoll_pwait),
    CALL(epoll_ctl),
    CALL(poll),
    CALL(ppoll),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(sendto),
    CALL(sendmsg),
    CALL(accept4),
    CALL(bind),
    CALL(listen),
    CALL(connect),
    CALL(getsockname),
    CALL(getpeername),
    CALL(getsockopt),
    CALL(shutdown),
    CALL(clock_gettime),
    CALL(gettimeofday),
    CALL(futex),
    CALL(brk),
    CALL(munmap),
    CALL(mremap),
    CALL(madvise),
    CALL(mlock),
    CALL(exit),
    CALL(exit_group),
    CALL(rt_sigreturn),
    CALL(rt_sigprocmask),
    CALL(getrandom),
    CALL(restart_syscall),
    CALL(getpid),
    CALL(gettid),
#ifdef __SANITIZE_ADDRESS__
    CALL(mmap),
    CALL(mprotect),
    CALL(sigaltstack),
    CALL(rt_sigaction),
    CALL(readlink),
    CALL(getrusage),
    CALL(prctl),
    CALL(sched_yield),
    CALL(set_robust_list),
    CALL(prlimit64),
    CALL(getppid),
    CALL(wait4),
    CALL(clone),
#endif
};

static bool allow_sockets(scmp_filter_ctx filter) {
	static const int families[] = {AF_INET, AF_INET6}, types[] = {SOCK_STREAM, SOCK_DGRAM};
	static const struct {
		int level, name;
	} options[] = {{SOL_SOCKET, SO_LINGER}, {SOL_SOCKET, SO_KEEPALIVE}, {SOL_SOCKET, SO_REUSEADDR},
	    {IPPROTO_TCP, TCP_NODELAY}};
	int failed = 0;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 2; k++)
			failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(socket), 2,
			    SCMP_A0_32(SCMP_CMP_EQ, (uint32_t)families[i]),
			    SCMP_A1_32(SCMP_CMP_MASKED_EQ, 0xf, (uint32_t)types[k]));
	for (size_t i = 0; i < GB_COUNT(options); i++)
		failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(setsockopt), 2,
		    SCMP_A1_32(SCMP_CMP_EQ, (uint32_t)options[i].level),
		    SCMP_A2_32(SCMP_CMP_EQ, (uint32_t)options[i].name));
	return !failed;
}

static bool allow_the_rest(scmp_filter_ctx filter) {
	static const uint32_t fcntls[] = {F_GETFD, F_SETFD, F_GETFL, F_SETFL};
	int failed = 0;
	for (size_t i = 0; i < GB_COUNT(plain_calls); i++)
		failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain_calls[i], 0);
	for (size_t i = 0; i < GB_COUNT(fcntls); i++)
		failed |= seccomp_rule_add(
		    filter, SCMP_ACT_ALLOW, CALL(fcntl), 1, SCMP_A1_32(SCMP_CMP_EQ, fcntls[i]));
	failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(ioctl), 1, SCMP_A1_32(SCMP_CMP_EQ, FIONBIO));
#ifndef __SANITIZE_ADDRESS__
	/* Memory, but no code. */
	failed |= seccomp_rule_add(
	    filter, SCMP_ACT_ALLOW, CALL(mmap), 1, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	failed |= seccomp_rule_add(
	    filter, SCMP_ACT_ALLOW, CALL(mprotect), 1, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
#endif
	return !failed;
}

static const char *restrict_calls(void) {
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool loaded = filter && allow_sockets(filter) && allow_the_rest(filter) && seccomp_load(filter) == 0;
	seccomp_release(filter);
	return loaded ? NULL : "seccomp: load the filter";
}

/* Try what each layer refuses. */
static const char *observe(void) {
	if (open("/", O_RDONLY | O_CLOEXEC) >= 0 || (errno != EPERM && errno != EACCES))
		return "did not deny opening /";
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return "seccomp did not deny a unix socket";
	if (fork() >= 0)
		return "did not deny a new process";
	return NULL;
}

const char *wall_raise(void) {
	static const char *(*const steps[])(void) = {
	    become_unprivileged, limit_resources, refuse_files, restrict_calls, observe};
	const char *failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? "set no_new_privs" : NULL;
	for (size_t i = 0; i < GB_COUNT(steps) && !failed; i++)
		failed = steps[i]();
	return failed;
}
