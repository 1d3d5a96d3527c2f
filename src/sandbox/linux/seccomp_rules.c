/* The rules of empty rooms, of rooms with files, and of all rooms. Those of rooms with programs only:
 * seccomp_programs.c. */
#include "sandbox/linux/seccomp_rules.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "sandbox/linux/protocol.h"

/* The clone flags of glibc's threads. */
#define THREAD_FLAGS                                                                                         \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |   \
	    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

static const struct gb_seccomp_rule exceptions[] = {
    /* In a room with programs, pid 1 is the keeper: programs must not change its limits. In other rooms it is
     * the cell, which changes its own limits with pid 0. */
    REFUSE(prlimit64, IS(0, 1)),
    /* The value 1 keeps guest memory from a crash handler of the host (see plan.c) and must not change. Many
     * scripts lower this limit routinely, so they see success. A caller that also requests the old value gets
     * an error, because a filter cannot write it. */
    DO_NOTHING_IF(prlimit64, IS(1, RLIMIT_CORE), IS_NOT_LONG(2, 0), IS_LONG(3, 0)),
    REFUSE(prlimit64, IS(1, RLIMIT_CORE), IS_NOT_LONG(2, 0)),
    /* If equal pages are merged, the duration of a write reveals the contents of other processes' memory. */
    REFUSE(madvise, HAS(2, ~1u, MADV_MERGEABLE)), /* and MADV_UNMERGEABLE */
};

/*
 * No rlimit bounds the page tables of a process. Contiguous memory needs few of them; memory at chosen
 * addresses, spread over the address space, needs two pages of tables for each page, so that 64 MiB became
 * 480. Therefore code in an empty room (GB_ROOM_NONE) cannot choose addresses, and code in a room with files,
 * where the loader maps shared libraries at fixed addresses, can choose only addresses close to those. In a
 * room with programs page tables are counted.
 */
#ifdef __SANITIZE_ADDRESS__
/* A sanitizer's runtime maps memory at fixed addresses. */
static const struct gb_seccomp_rule empty_exceptions[] = {REFUSE(mremap, HAS(3, MREMAP_FIXED, MREMAP_FIXED))};
static const struct gb_seccomp_rule files_exceptions[] = {REFUSE(mremap, HAS(3, MREMAP_FIXED, MREMAP_FIXED))};
#else
static const struct gb_seccomp_rule empty_exceptions[] = {
    REFUSE(mmap, IS_NOT_LONG(0, 0)),
    REFUSE(mremap, HAS(3, MREMAP_FIXED, MREMAP_FIXED)),
};
static const struct gb_seccomp_rule files_exceptions[] = {
    REFUSE(mmap, IS_NOT_LONG(0, 0), IS_OUTSIDE(0, 0), IS_OUTSIDE(0, 1), IS_OUTSIDE(0, 2)),
    REFUSE(mremap, HAS(3, MREMAP_FIXED, MREMAP_FIXED)),
};
#endif

/* In a folder of the host, a program with one of these bits would run with the rights of its owner. The mount ignores
 * them in the sandbox; outside, other users could start it. The mode means something only if a file can be made. */
#define GIVES_RIGHTS(n)                                                                                      \
	{ .arg = (n), .mask = S_ISUID | S_ISGID, .value = 0, .differs = true }
static const struct gb_seccomp_rule workdir_exceptions[] = {
    REFUSE(chmod, GIVES_RIGHTS(1)),
    REFUSE(fchmod, GIVES_RIGHTS(1)),
    REFUSE(fchmodat, GIVES_RIGHTS(2)),
    REFUSE(creat, GIVES_RIGHTS(1)),
    REFUSE(open, HAS(1, O_CREAT, O_CREAT), GIVES_RIGHTS(2)),
    REFUSE(openat, HAS(2, O_CREAT, O_CREAT), GIVES_RIGHTS(3)),
    REFUSE(open, HAS(1, __O_TMPFILE, __O_TMPFILE), GIVES_RIGHTS(2)),
    REFUSE(openat, HAS(2, __O_TMPFILE, __O_TMPFILE), GIVES_RIGHTS(3)),
};

static const struct gb_seccomp_rule common_rules[] = {
    /* Communicate over the socket that is already open. */
    PLAIN(read),
    PLAIN(write),
    /* Plain bytes: no out-of-band data. On a connected socket the address argument has no effect. */
    WHEN(sendto, ONLY(3, MSG_NOSIGNAL)),
    PLAIN(close),
    /* Memory, never executable, not from the host's pool of huge pages, and not shared: shared memory is an
     * unnamed file, which keeps its pages when a mapping shrinks or drops them, so that no rlimit counts
     * them. */
    WHEN(mmap, WITHOUT(2, PROT_EXEC), HAS(3, MAP_TYPE | MAP_HUGETLB, MAP_PRIVATE)),
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
    /* Calls that the C library makes by itself. */
    WHEN(futex, ONLY(1, FUTEX_WAKE | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)), /* FUTEX_WAIT is 0 */
    PLAIN(rt_sigreturn),
    PLAIN(restart_syscall),
    PLAIN(rt_sigprocmask),
    PLAIN(set_robust_list),
    PLAIN(getpid),
    PLAIN(gettid),
    /* A run's own limits: they can only be lowered, since no process in a cell has the capability to raise a
     * hard limit. */
    WHEN(prlimit64, IS(0, 0)),
    PLAIN(exit),
    PLAIN(exit_group),

    /* For the zygote. A cell has no control socket, and cannot open another descriptor with its number. */
    WHEN(recvmsg, IS(0, GB_FD_CONTROL), WITHOUT(2, MSG_OOB)),
    WHEN(sendmsg, IS(0, GB_FD_CONTROL), WITHOUT(2, MSG_OOB)),
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

/* An empty room: no files to open and no processes to start. */
static const struct gb_seccomp_rule empty_rules[] = {
    /* For the zygote: a cell may start no process (RLIMIT_NPROC is 0 there), and open no descriptor by
     * pidfd_open (RLIMIT_NOFILE too). */
    WHEN(clone, IS(0, GB_FORK_FLAGS)),
};

/* A room with files: files, threads, and calls that a large interpreter makes by itself. */
static const struct gb_seccomp_rule files_rules[] = {
    /* For the zygote: new namespaces and mounts require a capability that a cell does not have. */
    WHEN(clone, IS(0, GB_CELL_CLONE_FLAGS)),
    PLAIN(mount),
    PLAIN(capset),
    /* For the start of a cell. Not for guests: rules use kernel memory, and each thread can have its own copy
     * of all of them. */
    WHEN(landlock_create_ruleset, IS_COOKIE(3)),
    PLAIN(landlock_add_rule),
    PLAIN(landlock_restrict_self),
    /* A cell enters its own user namespace. Programs that it starts do not know the cookie. */
    WHEN(unshare, IS_LONG(0, CLONE_NEWUSER), IS_COOKIE(1)),
    WHEN(unshare, IS_LONG(0, CLONE_NEWUSER | CLONE_NEWCGROUP), IS_COOKIE(1)),
    /* Programs that try the newer call first conclude that the kernel is old, and use the older call. */
    FAIL(clone3, ENOSYS),
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
    WHEN(mmap, IS_LONG(2, PROT_READ | PROT_EXEC), WITHOUT(3, MAP_ANONYMOUS | MAP_HUGETLB)),
    WHEN(mmap, WITHOUT(2, PROT_EXEC), WITHOUT(3, MAP_ANONYMOUS | MAP_HUGETLB)),
    PLAIN(mincore),
    /* Files that exist in the room. */
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
    /* Writable files are in memory, so syncing them has no effect. On read-only files, syncing would load the
     * host's disks, and advice could evict the host's files from its page cache, which reveals which files
     * other processes use. */
    DO_NOTHING(fsync),
    DO_NOTHING(fdatasync),
    DO_NOTHING_IF(msync, HAS(2, MS_SYNC, MS_SYNC)),
    WHEN(msync, WITHOUT(2, MS_SYNC)),
    DO_NOTHING(fadvise64),
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
    /* A socket pair within the process: event loops use one to wake themselves up. Other types have buffers
     * up to twice as large. */
    WHEN(socketpair, IS(0, AF_UNIX), HAS(1, GB_SOCKET_TYPE, SOCK_STREAM)),
    WHEN(recvfrom, WITHOUT(3, MSG_OOB)),
    WHEN(shutdown, IS(1, SHUT_RDWR)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_TYPE)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_ERROR)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_DOMAIN)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_PROTOCOL)),
    /* Time, signals to itself, its own ids. */
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

/* Rules of a room with files that differ in a room with programs. A cell here is one process, so file locks
 * have no effect except that they use unlimited memory that not even a control group counts. */
static const struct gb_seccomp_rule one_process_rules[] = {
    DO_NOTHING_IF(fcntl, IS(1, F_SETLK)),
    DO_NOTHING_IF(fcntl, IS(1, F_SETLKW)),
    /* A lock on a system file would also affect other cells and the host. */
    DO_NOTHING(flock),
};

/* Anonymous memory of programs; may be executable, since some programs generate code at run time. */
static const struct gb_seccomp_rule private_memory_rules[] = {
    WHEN(mmap, WITHOUT(3, MAP_ANONYMOUS | MAP_HUGETLB)),
    WHEN(mmap, HAS(3, MAP_TYPE | MAP_HUGETLB, MAP_PRIVATE)),
};
static const struct gb_seccomp_rule shared_memory_rules[] = {
    WHEN(mmap, WITHOUT(3, MAP_HUGETLB)),
};

/* For a zygote that sets up the network of a cell: both require a capability that a cell does not have. */
static const struct gb_seccomp_rule network_rules[] = {
    WHEN(ioctl, IS(1, SIOCSIFADDR)),
    WHEN(ioctl, IS(1, SIOCSIFNETMASK)),
};
/* For a zygote that gives a cell its fetch channel. A cell's limit on descriptors is below this number. */
static const struct gb_seccomp_rule fetch_rules[] = {
    WHEN(dup3, IS(1, GB_FD_FETCH)),
};
static const struct gb_seccomp_rule files_network_rules[] = {
    WHEN(clone, IS(0, GB_CELL_CLONE_FLAGS_NET)),
};

#define TABLE(array)                                                                                         \
	(struct gb_seccomp_table) {                                                                          \
		(array), GB_COUNT(array), false                                                              \
	}

void gb_seccomp_tables(const struct gb_seccomp_options *options, struct gb_seccomp_tables *ret) {
	size_t n = 0;
	ret->of[n++] = (struct gb_seccomp_table){exceptions, GB_COUNT(exceptions), true};
	if (options->workdir)
		ret->of[n++] =
		    (struct gb_seccomp_table){workdir_exceptions, GB_COUNT(workdir_exceptions), true};
	if (options->room == GB_ROOM_NONE)
		ret->of[n++] = (struct gb_seccomp_table){empty_exceptions, GB_COUNT(empty_exceptions), true};
	if (options->room == GB_ROOM_FILES)
		ret->of[n++] = (struct gb_seccomp_table){files_exceptions, GB_COUNT(files_exceptions), true};
	if (options->room == GB_ROOM_PROGRAMS) {
		ret->of[n++] = gb_seccomp_program_exceptions;
		if (!options->grouped)
			ret->of[n++] = gb_seccomp_ungrouped_exceptions;
		/* The widest rule first: libseccomp leaks narrower rules that a wider rule replaces. */
		ret->of[n++] = options->grouped ? TABLE(shared_memory_rules) : TABLE(private_memory_rules);
		ret->of[n++] = gb_seccomp_program_rules;
		ret->of[n++] = gb_seccomp_socket_rules;
	}
	if (options->room == GB_ROOM_FILES)
		ret->of[n++] = TABLE(one_process_rules);
	if (options->room == GB_ROOM_FILES && options->network) {
		ret->of[n++] = TABLE(files_network_rules);
		ret->of[n++] = gb_seccomp_socket_rules;
	}
	if (options->network)
		ret->of[n++] = options->room == GB_ROOM_NONE ? TABLE(fetch_rules) : TABLE(network_rules);
	if (options->room != GB_ROOM_NONE)
		ret->of[n++] = TABLE(files_rules);
	ret->of[n++] = TABLE(common_rules);
	if (options->room == GB_ROOM_NONE)
		ret->of[n++] = TABLE(empty_rules);
	ret->n = n;
}
