#include "sandbox/plan.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/protocol.h"
#include "tap.h"

/* Run the compiled filter as the kernel would: the part of classic BPF that libseccomp uses. */
static uint32_t judge(const struct gb_seccomp *filter, const struct seccomp_data *data) {
	uint32_t a = 0;
	for (unsigned pc = 0; pc < filter->n;) {
		const struct sock_filter *in = &filter->code[pc++];
		uint32_t k = in->k;
		switch (in->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + k, sizeof a);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			break;
		case BPF_JMP | BPF_JA:
			pc += k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == k ? in->jt : in->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > k ? in->jt : in->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= k ? in->jt : in->jf;
			break;
		case BPF_RET | BPF_K:
			return k;
		default:
			printf("# unknown instruction %x\n", in->code);
			return UINT32_MAX;
		}
	}
	return UINT32_MAX;
}

static uint32_t judge_call(const struct gb_seccomp *filter, long nr, uint64_t a0, uint64_t a1, uint64_t a2) {
	struct seccomp_data data = {.nr = (int)nr, .arch = AUDIT_ARCH_X86_64, .args = {a0, a1, a2}};
	return judge(filter, &data);
}

enum { DENIED = SECCOMP_RET_ERRNO | EPERM };

#ifdef __SANITIZE_ADDRESS__
#define ONLY_IN_RELEASE() SKIP("sanitizer build: its filter admits more")
#else
#define ONLY_IN_RELEASE() (void)0
#endif

TEST(the_filter_admits_what_is_listed_and_nothing_else) {
	ONLY_IN_RELEASE();
	struct gb_seccomp f;
	struct gb_err err = {0};
	if (!CHECK(gb_seccomp_filter(&f, GB_ROOM_EMPTY, 0, EPERM, &err)))
		return;
	unsigned n_allowed = 0;
	for (long nr = 0; nr < 1024; nr++)
		n_allowed += judge_call(&f, nr, 0, 0, 0) == SECCOMP_RET_ALLOW;
	CHECK(n_allowed > 15 && n_allowed < 45);
	const long never[] = {SYS_open, SYS_openat, SYS_socket, SYS_connect, SYS_execve, SYS_execveat,
	    SYS_ptrace, SYS_kill, SYS_tgkill, SYS_mount, SYS_unshare, SYS_setns, SYS_bpf, SYS_io_uring_setup,
	    SYS_io_uring_enter, SYS_userfaultfd, SYS_keyctl, SYS_perf_event_open, SYS_memfd_create,
	    SYS_clone3, SYS_fork, SYS_vfork, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
	    SYS_pidfd_send_signal, SYS_seccomp, SYS_prctl, SYS_ioctl, SYS_personality, SYS_kexec_load,
	    SYS_dup, SYS_dup2, SYS_fcntl, SYS_socketpair, SYS_recvmmsg, SYS_sendmmsg, SYS_splice, SYS_shmget,
	    SYS_landlock_create_ruleset};
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (!CHECK_INT(judge_call(&f, never[i], 0, 0, 0), DENIED))
			printf("#   system call %ld\n", never[i]);
	/* The other numbering of this architecture, and another architecture. */
	CHECK(judge_call(&f, SYS_read | 0x40000000, 0, 0, 0) != SECCOMP_RET_ALLOW);
	struct seccomp_data i386 = {.nr = 3, .arch = AUDIT_ARCH_I386};
	CHECK(judge(&f, &i386) == SECCOMP_RET_KILL_PROCESS);
}

TEST(arguments_are_looked_at) {
	struct gb_seccomp f;
	CHECK(gb_seccomp_filter(&f, GB_ROOM_EMPTY, 0, EPERM, NULL));
	CHECK_INT(judge_call(&f, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC), DENIED);
	CHECK_INT(judge_call(&f, SYS_mprotect, 0, 4096, PROT_EXEC), DENIED);
	struct seccomp_data huge = {
	    .nr = SYS_mmap, .arch = AUDIT_ARCH_X86_64, .args = {0, 4096, PROT_READ, MAP_HUGETLB}};
	CHECK_INT(judge(&f, &huge), DENIED);
	struct seccomp_data out_of_band = {
	    .nr = SYS_sendto, .arch = AUDIT_ARCH_X86_64, .args = {3, 0, 1, MSG_OOB}};
	CHECK_INT(judge(&f, &out_of_band), DENIED);
	CHECK_INT(judge_call(&f, SYS_futex, 0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_futex, 0, FUTEX_WAKE, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_futex, 0, FUTEX_LOCK_PI, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_futex, 0, FUTEX_REQUEUE, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_sendmsg, GB_FD_CONTROL, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_sendmsg, GB_FD_CELL, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_recvmsg, GB_FD_CELL, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_sendmsg, GB_FD_CONTROL | 1ull << 32, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_dup3, 0, GB_FD_CELL, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_dup3, GB_FD_CELL, GB_FD_CONTROL, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_prlimit64, 0, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_prlimit64, 1, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_clone, 0x1200011, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_clone, 0x1200011 | 0x10000000, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_clone, 0x11, 0, 0), DENIED);
}

TEST(a_room_for_programs_keeps_what_is_not_theirs) {
	ONLY_IN_RELEASE();
	enum { COOKIE = 0x1234567 };
	struct gb_seccomp f;
	CHECK(gb_seccomp_filter(&f, GB_ROOM_INHABITED, COOKIE, EPERM, NULL));
	const long never[] = {SYS_ptrace, SYS_setns, SYS_bpf, SYS_io_uring_setup, SYS_io_uring_enter,
	    SYS_io_uring_register, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
	    SYS_perf_event_open, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
	    SYS_pidfd_send_signal, SYS_seccomp, SYS_personality, SYS_kexec_load, SYS_pivot_root, SYS_chroot,
	    SYS_umount2, SYS_fsopen, SYS_fsmount, SYS_move_mount, SYS_open_tree, SYS_mount_setattr,
	    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_init_module, SYS_finit_module, SYS_reboot,
	    SYS_swapon, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_quotactl, SYS_acct,
	    SYS_fanotify_init, SYS_kcmp, SYS_lookup_dcookie, SYS_modify_ldt, SYS_ioperm, SYS_iopl, SYS_shmget,
	    SYS_semget, SYS_msgget, SYS_mq_open, SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setgroups,
	    SYS_sethostname, SYS_vhangup, SYS_syslog, SYS_memfd_secret, SYS_process_madvise, SYS_execveat};
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (!CHECK_INT(judge_call(&f, never[i], 0, 0, 0), DENIED))
			printf("#   system call %ld\n", never[i]);
	/* New namespaces, for whoever does not know how to ask. */
	CHECK_INT(judge_call(&f, SYS_unshare, CLONE_NEWUSER, COOKIE, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_unshare, CLONE_NEWUSER, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS, COOKIE, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_clone, SIGCHLD, 0, 0), SECCOMP_RET_ALLOW);
	const uint64_t spaces[] = {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
	    CLONE_NEWUTS, CLONE_NEWCGROUP};
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		CHECK_INT(judge_call(&f, SYS_clone, spaces[i] | SIGCHLD, 0, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_clone3, 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
	/* Terminals are for use, not for typing into. */
	CHECK_INT(judge_call(&f, SYS_ioctl, 0, TCGETS, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(judge_call(&f, SYS_ioctl, 0, TIOCSTI, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_ioctl, 0, TIOCLINUX, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_ioctl, 0, TIOCSETD, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_socket, AF_NETLINK, SOCK_RAW, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_socket, AF_PACKET, SOCK_RAW, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_socket, AF_VSOCK, SOCK_STREAM, 0), DENIED);
	CHECK_INT(judge_call(&f, SYS_mknodat, 0, 0, S_IFCHR), DENIED);
	CHECK_INT(judge_call(&f, SYS_mknodat, 0, 0, S_IFIFO | 0600), SECCOMP_RET_ALLOW);
}

TEST(a_refusal_can_be_marked) {
	ONLY_IN_RELEASE();
	struct gb_seccomp f;
	CHECK(gb_seccomp_filter(&f, GB_ROOM_EMPTY, 0, GB_SECCOMP_MARK, NULL));
	CHECK_INT(judge_call(&f, SYS_openat, 0, 0, 0), SECCOMP_RET_ERRNO | GB_SECCOMP_MARK);
}

TEST(a_plan_has_every_layer_and_no_privilege) {
	struct gb_plan plan;
	struct gb_err err = {0};
	if (!CHECK(gb_plan_init(&plan, &err))) {
		printf("# %s\n", err.message);
		return;
	}
	CHECK_INT(plan.layers, GB_LAYER_ALL);
	CHECK_INT(plan.size, sizeof plan);
	CHECK(plan.uid != 0 && plan.gid != 0);
	CHECK(plan.landlock.fs & 1);
	CHECK(plan.n_rlimits > 5);
}

TEST(every_layer_has_a_name) {
	for (unsigned i = 0; i < GB_LAYER_COUNT; i++)
		CHECK(*gb_layer_name((enum gb_layer)(1u << i)) &&
		      strcmp(gb_layer_name((enum gb_layer)(1u << i)), "wall") != 0);
	CHECK_STR(gb_layer_name(GB_LAYER_SECCOMP), "seccomp");
	CHECK_STR(gb_layer_name(GB_LAYER_CGROUP), "cgroup");
	CHECK_STR(gb_layer_name(GB_LAYER_ALL), "wall");
	CHECK_STR(gb_layer_name(0), "wall");
}

TEST(landlock_rights_grow_with_the_abi) {
	struct gb_landlock_rights rights;
	int abi = 0;
	if (!gb_landlock_rights(&rights, &abi, NULL))
		SKIP("this kernel has no Landlock");
	CHECK((rights.fs & 0x1fff) == 0x1fff);
	CHECK_INT(!!(rights.fs & 1 << 13), abi >= 2);
	CHECK_INT(!!(rights.fs & 1 << 14), abi >= 3);
	CHECK_INT(!!rights.net, abi >= 4);
	CHECK_INT(!!(rights.fs & 1 << 15), abi >= 5);
	CHECK_INT(!!rights.scoped, abi >= 6);
}
