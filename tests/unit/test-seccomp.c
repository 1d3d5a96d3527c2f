/* Which system calls the filters allow, for calls listed here. test-seccomp-tables.c compares the filters
 * with the tables that they are compiled from. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "sandbox/linux/protocol.h"
#include "tap.h"

static bool make_filter(
    struct gb_seccomp *ret, enum gb_room room, uint64_t cookie, int denied_errno, struct gb_err *err) {
	return gb_seccomp_filter(ret,
	    &(struct gb_seccomp_options){
		.room = room, .cookie = cookie, .denied_errno = denied_errno, .grouped = true},
	    err);
}

/* The filter's action for a call with the given arguments. */
#define EVALUATE(filter, number, ...)                                                                        \
	evaluate(filter,                                                                                     \
	    &(struct seccomp_data){.nr = (number), .arch = AUDIT_ARCH_X86_64, .args = {__VA_ARGS__}})

static uint32_t evaluate_call(
    const struct gb_seccomp *filter, long nr, uint64_t a0, uint64_t a1, uint64_t a2) {
	struct seccomp_data data = {.nr = (int)nr, .arch = AUDIT_ARCH_X86_64, .args = {a0, a1, a2}};
	return evaluate(filter, &data);
}

enum {
	DENIED = SECCOMP_RET_ERRNO | EPERM,
	SKIPPED = SECCOMP_RET_ERRNO, /* the call returns 0 and has no effect */
};

#ifdef __SANITIZE_ADDRESS__
#define ONLY_IN_RELEASE() SKIP("sanitizer build: its filter admits more")
#else
#define ONLY_IN_RELEASE() (void)0
#endif

TEST(the_filter_allows_listed_calls_only) {
	ONLY_IN_RELEASE();
	struct gb_seccomp f;
	struct gb_err err = {0};
	if (!CHECK(make_filter(&f, GB_ROOM_NONE, 0, EPERM, &err)))
		return;
	unsigned n_allowed = 0;
	for (long nr = 0; nr < 1024; nr++)
		n_allowed += evaluate_call(&f, nr, 0, 0, 0) == SECCOMP_RET_ALLOW;
	CHECK(n_allowed > 15 && n_allowed < 45);
	const long denied[] = {SYS_open, SYS_openat, SYS_socket, SYS_connect, SYS_execve, SYS_execveat,
	    SYS_ptrace, SYS_kill, SYS_tgkill, SYS_mount, SYS_unshare, SYS_setns, SYS_bpf, SYS_io_uring_setup,
	    SYS_io_uring_enter, SYS_userfaultfd, SYS_keyctl, SYS_perf_event_open, SYS_memfd_create,
	    SYS_clone3, SYS_fork, SYS_vfork, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
	    SYS_pidfd_send_signal, SYS_seccomp, SYS_prctl, SYS_ioctl, SYS_personality, SYS_kexec_load,
	    SYS_dup, SYS_dup2, SYS_fcntl, SYS_socketpair, SYS_recvmmsg, SYS_sendmmsg, SYS_splice, SYS_shmget,
	    SYS_landlock_create_ruleset};
	for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
		if (!CHECK_INT(evaluate_call(&f, denied[i], 0, 0, 0), DENIED))
			printf("#   system call %ld\n", denied[i]);
	/* The x32 numbering of this architecture, and another architecture. */
	CHECK(evaluate_call(&f, SYS_read | 0x40000000, 0, 0, 0) != SECCOMP_RET_ALLOW);
	struct seccomp_data i386 = {.nr = 3, .arch = AUDIT_ARCH_I386};
	CHECK(evaluate(&f, &i386) == SECCOMP_RET_KILL_PROCESS);
}

TEST(arguments_are_checked) {
	struct gb_seccomp f;
	CHECK(make_filter(&f, GB_ROOM_NONE, 0, EPERM, NULL));
	const int private = MAP_PRIVATE | MAP_ANONYMOUS;
	CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, private), SECCOMP_RET_ALLOW);
	CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, private), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_mprotect, 0, 4096, PROT_EXEC), DENIED);
	CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, PROT_READ, private | MAP_HUGETLB), DENIED);
	CHECK_INT(EVALUATE(&f, SYS_sendto, 3, 0, 1, MSG_OOB), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_futex, 0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_futex, 0, FUTEX_WAKE, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_futex, 0, FUTEX_LOCK_PI, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_futex, 0, FUTEX_REQUEUE, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_sendmsg, GB_FD_CONTROL, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_sendmsg, GB_FD_CELL, 0, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_recvmsg, GB_FD_CELL, 0, 0), DENIED);
	/* The kernel reads 32 bits of a descriptor, and so does the filter. */
	CHECK_INT(evaluate_call(&f, SYS_sendmsg, GB_FD_CELL | 1ull << 32, 0, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_dup3, 0, GB_FD_CELL, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_dup3, GB_FD_CELL, GB_FD_CONTROL, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_prlimit64, 0, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_prlimit64, 1, 0, 0), DENIED);
	/* fork() of the C library, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD; the same with
	 * CLONE_NEWUSER; and SIGCHLD alone. */
	CHECK_INT(evaluate_call(&f, SYS_clone, 0x1200011, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_clone, 0x1200011 | 0x10000000, 0, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_clone, 0x11, 0, 0), DENIED);
}

TEST(privileged_calls_are_denied_to_programs) {
	ONLY_IN_RELEASE();
	enum { COOKIE = 0x1234567 };
	struct gb_seccomp f;
	CHECK(make_filter(&f, GB_ROOM_PROGRAMS, COOKIE, EPERM, NULL));
	const long denied[] = {SYS_ptrace, SYS_setns, SYS_bpf, SYS_io_uring_setup, SYS_io_uring_enter,
	    SYS_io_uring_register, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
	    SYS_perf_event_open, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
	    SYS_pidfd_send_signal, SYS_seccomp, SYS_personality, SYS_kexec_load, SYS_pivot_root, SYS_chroot,
	    SYS_umount2, SYS_fsopen, SYS_fsmount, SYS_move_mount, SYS_open_tree, SYS_mount_setattr,
	    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_init_module, SYS_finit_module, SYS_reboot,
	    SYS_swapon, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_quotactl, SYS_acct,
	    SYS_fanotify_init, SYS_kcmp, SYS_lookup_dcookie, SYS_modify_ldt, SYS_ioperm, SYS_iopl, SYS_shmget,
	    SYS_semget, SYS_msgget, SYS_mq_open, SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setgroups,
	    SYS_sethostname, SYS_vhangup, SYS_syslog, SYS_memfd_secret, SYS_process_madvise, SYS_execveat,
	    SYS_fanotify_mark, SYS_vmsplice, SYS_readahead};
	for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
		if (!CHECK_INT(evaluate_call(&f, denied[i], 0, 0, 0), DENIED))
			printf("#   system call %ld\n", denied[i]);
	/* A user namespace needs the cookie; other new namespaces are denied. */
	CHECK_INT(evaluate_call(&f, SYS_unshare, CLONE_NEWUSER, COOKIE, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_unshare, CLONE_NEWUSER, 0, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS, COOKIE, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_clone, SIGCHLD, 0, 0), SECCOMP_RET_ALLOW);
	const uint64_t namespaces[] = {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
	    CLONE_NEWUTS, CLONE_NEWCGROUP};
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
		CHECK_INT(evaluate_call(&f, SYS_clone, namespaces[i] | SIGCHLD, 0, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_clone3, 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
	/* Terminals can be used, but input cannot be injected. */
	CHECK_INT(evaluate_call(&f, SYS_ioctl, 0, TCGETS, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(evaluate_call(&f, SYS_ioctl, 0, TIOCSTI, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_ioctl, 0, TIOCLINUX, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_ioctl, 0, TIOCSETD, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_socket, AF_NETLINK, SOCK_RAW, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_socket, AF_PACKET, SOCK_RAW, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_socket, AF_VSOCK, SOCK_STREAM, 0), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_mknodat, 0, 0, S_IFCHR), DENIED);
	CHECK_INT(evaluate_call(&f, SYS_mknodat, 0, 0, S_IFIFO | 0600), SECCOMP_RET_ALLOW);
}

TEST(anonymous_memory_can_be_shared_only_by_grouped_programs) {
	static const struct {
		struct gb_seccomp_options options;
		bool shared, files;
	} cases[] = {
	    {{.room = GB_ROOM_NONE}, false, false},
	    {{.room = GB_ROOM_FILES, .grouped = true}, false, true},
	    {{.room = GB_ROOM_PROGRAMS}, false, true},
	    {{.room = GB_ROOM_PROGRAMS, .grouped = true}, true, true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gb_seccomp_options options = cases[i].options;
		struct gb_seccomp f;
		options.denied_errno = EPERM;
		CHECK(gb_seccomp_filter(&f, &options, NULL));
		const int rw = PROT_READ | PROT_WRITE, anonymous = MAP_ANONYMOUS | MAP_NORESERVE,
			  shared = cases[i].shared ? SECCOMP_RET_ALLOW : DENIED,
			  files = cases[i].files ? SECCOMP_RET_ALLOW : DENIED;
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, anonymous | MAP_PRIVATE), SECCOMP_RET_ALLOW);
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, anonymous | MAP_SHARED), shared);
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, anonymous | MAP_SHARED_VALIDATE), shared);
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, MAP_SHARED), files);
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, MAP_PRIVATE), SECCOMP_RET_ALLOW);
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, MAP_SHARED | MAP_HUGETLB), DENIED);
		CHECK_INT(EVALUATE(&f, SYS_mmap, 0, 4096, rw, anonymous | MAP_PRIVATE | MAP_HUGETLB), DENIED);
	}
}

TEST(the_core_limit_cannot_be_changed_in_any_room) {
	for (enum gb_room room = GB_ROOM_NONE; room <= GB_ROOM_PROGRAMS; room++) {
		struct gb_seccomp f;
		CHECK(make_filter(&f, room, 0, EPERM, NULL));
		CHECK_INT(EVALUATE(&f, SYS_prlimit64, 0, RLIMIT_CORE, 0, 4096), SECCOMP_RET_ALLOW);
		CHECK_INT(EVALUATE(&f, SYS_prlimit64, 0, RLIMIT_CORE, 4096, 0), SKIPPED);
		CHECK_INT(EVALUATE(&f, SYS_prlimit64, 0, RLIMIT_CORE, 4096, 8192), DENIED);
		CHECK_INT(EVALUATE(&f, SYS_prlimit64, 0, RLIMIT_CORE | 1ull << 32, 1ull << 32, 0), SKIPPED);
		CHECK_INT(EVALUATE(&f, SYS_prlimit64, 0, RLIMIT_NOFILE, 4096, 0), SECCOMP_RET_ALLOW);
	}
	struct gb_seccomp f;
	CHECK(make_filter(&f, GB_ROOM_PROGRAMS, 0, EPERM, NULL));
	CHECK_INT(EVALUATE(&f, SYS_setrlimit, RLIMIT_CORE, 4096), SKIPPED);
	CHECK_INT(EVALUATE(&f, SYS_setrlimit, RLIMIT_CORE | 1ull << 32, 4096), SKIPPED);
	CHECK_INT(EVALUATE(&f, SYS_setrlimit, RLIMIT_NOFILE, 4096), SECCOMP_RET_ALLOW);
	CHECK_INT(EVALUATE(&f, SYS_prlimit64, 2, RLIMIT_NOFILE, 4096), SECCOMP_RET_ALLOW);
	CHECK_INT(EVALUATE(&f, SYS_prlimit64, 1, RLIMIT_NOFILE, 4096), DENIED);
	CHECK_INT(EVALUATE(&f, SYS_prlimit64, 1 | 1ull << 32, RLIMIT_NOFILE, 4096), DENIED);
}

TEST(programs_cannot_watch_files_or_flush_disks) {
	ONLY_IN_RELEASE();
	struct gb_seccomp f;
	CHECK(make_filter(&f, GB_ROOM_PROGRAMS, 0, EPERM, NULL));
	const long inotify[] = {
	    SYS_inotify_init, SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch};
	for (size_t i = 0; i < sizeof inotify / sizeof *inotify; i++)
		CHECK_INT(EVALUATE(&f, (int)inotify[i], 0), SECCOMP_RET_ERRNO | ENOSYS);
	static const struct {
		uint64_t command;
		uint32_t expected;
	} commands[] = {{F_NOTIFY, DENIED}, {F_SETLEASE, DENIED}, {F_GETLEASE, DENIED}, {F_ADD_SEALS, DENIED},
	    {F_DUPFD_CLOEXEC, SECCOMP_RET_ALLOW}, {F_SETFL, SECCOMP_RET_ALLOW}, {F_SETLKW, SECCOMP_RET_ALLOW},
	    {F_OFD_SETLK, SECCOMP_RET_ERRNO | EINVAL}, {F_SETOWN, SECCOMP_RET_ALLOW},
	    {F_SETPIPE_SZ, SECCOMP_RET_ALLOW}};
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!CHECK_INT(EVALUATE(&f, SYS_fcntl, 0, commands[i].command), commands[i].expected))
			printf("#   command %d\n", (int)commands[i].command);
	const int rwf_nowait = 8;
	CHECK_INT(EVALUATE(&f, SYS_preadv2, 0, 0, 0, 0, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(EVALUATE(&f, SYS_preadv2, 0, 0, 0, 0, 0, rwf_nowait), DENIED);
	/* Calls that flush the host's disks have no effect. */
	const long sync[] = {
	    SYS_sync, SYS_syncfs, SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_fadvise64};
	for (size_t i = 0; i < sizeof sync / sizeof *sync; i++)
		CHECK_INT(EVALUATE(&f, (int)sync[i], 0), SKIPPED);
	CHECK_INT(EVALUATE(&f, SYS_msync, 0, 4096, MS_SYNC), SKIPPED);
	CHECK_INT(EVALUATE(&f, SYS_msync, 0, 4096, MS_ASYNC), SECCOMP_RET_ALLOW);
}

TEST(programs_can_create_only_tcp_and_udp_internet_sockets) {
	ONLY_IN_RELEASE();
	struct gb_seccomp f;
	CHECK(make_filter(&f, GB_ROOM_PROGRAMS, 0, EPERM, NULL));
	for (int type = 0; type < 16; type++)
		for (int protocol = 0; protocol < 300; protocol++) {
			bool tcp = type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP),
			     udp = type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP);
			const uint32_t expected = tcp || udp ? SECCOMP_RET_ALLOW : (uint32_t)DENIED;
			const int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
			if (EVALUATE(&f, SYS_socket, AF_INET, type | flags, protocol) != expected ||
			    EVALUATE(&f, SYS_socket, AF_INET6, type, protocol) != expected)
				CHECK_INT(type * 1000 + protocol, -1); /* fails and prints both */
		}
	static const struct {
		uint64_t level, option;
		uint32_t expected;
	} options[] = {{SOL_SOCKET, SO_REUSEADDR, SECCOMP_RET_ALLOW},
	    {IPPROTO_TCP, TCP_NODELAY, SECCOMP_RET_ALLOW}, {IPPROTO_IPV6, IPV6_V6ONLY, SECCOMP_RET_ALLOW},
	    {IPPROTO_IP, IP_TOS, SECCOMP_RET_ALLOW}, {SOL_SOCKET, SO_ATTACH_FILTER, DENIED},
	    {SOL_SOCKET, SO_DETACH_FILTER, DENIED}, {SOL_SOCKET, SO_LOCK_FILTER, DENIED},
	    {SOL_SOCKET, SO_ATTACH_BPF, DENIED}, {SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, DENIED},
	    {SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, DENIED},
	    {SOL_SOCKET, 68 /* SO_DETACH_REUSEPORT_BPF */, DENIED}, {SOL_SOCKET, SO_ZEROCOPY, DENIED},
	    {SOL_SOCKET, SO_OOBINLINE, DENIED}, {IPPROTO_TCP, 31 /* TCP_ULP */, DENIED},
	    {IPPROTO_TCP, TCP_REPAIR, DENIED}, {IPPROTO_TCP, TCP_MD5SIG, DENIED},
	    {IPPROTO_IPV6, IPV6_ADDRFORM, DENIED}, {IPPROTO_IP, 64 /* IPT_SO_SET_REPLACE */, DENIED},
	    {282 /* SOL_TLS */, 1, DENIED}};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (!CHECK_INT(EVALUATE(&f, SYS_setsockopt, 0, options[i].level, options[i].option),
			options[i].expected))
			printf("#   level %d, option %d\n", (int)options[i].level, (int)options[i].option);
	const int flags_in_arg2[] = {SYS_sendmsg, SYS_recvmsg},
		  flags_in_arg3[] = {SYS_sendto, SYS_recvfrom, SYS_sendmmsg, SYS_recvmmsg};
	for (size_t i = 0; i < sizeof flags_in_arg2 / sizeof *flags_in_arg2; i++)
		CHECK(EVALUATE(&f, flags_in_arg2[i], GB_FD_CONTROL, 0, MSG_DONTWAIT) == SECCOMP_RET_ALLOW &&
		      EVALUATE(&f, flags_in_arg2[i], GB_FD_CONTROL, 0, MSG_OOB) == (uint32_t)DENIED);
	for (size_t i = 0; i < sizeof flags_in_arg3 / sizeof *flags_in_arg3; i++)
		CHECK(EVALUATE(&f, flags_in_arg3[i], 0, 0, 0, MSG_DONTWAIT) == SECCOMP_RET_ALLOW &&
		      EVALUATE(&f, flags_in_arg3[i], 0, 0, 0, MSG_OOB) == (uint32_t)DENIED);
}

TEST(the_errno_of_denied_calls_can_be_chosen) {
	ONLY_IN_RELEASE();
	struct gb_seccomp f;
	CHECK(make_filter(&f, GB_ROOM_NONE, 0, GB_SECCOMP_MARK, NULL));
	CHECK_INT(evaluate_call(&f, SYS_openat, 0, 0, 0), SECCOMP_RET_ERRNO | GB_SECCOMP_MARK);
	CHECK_INT(
	    evaluate_call(&f, SYS_prlimit64, 0, RLIMIT_CORE, 4096), SECCOMP_RET_ERRNO | GB_SECCOMP_MARK);
}
