/* The rules of empty and rooms with files, and those that every room has. Others: seccomp_programs.c. */
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

#include "base/cleanup.h"
#include "sandbox/linux/protocol.h"

/* glibc's threads. */
#define THREAD_FLAGS                                                                                         \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |   \
	    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

static const struct gb_seccomp_rule exceptions[] = {
    /* The keeper of programs is the first process of its cell, and its limits are its own. In other rooms pid
     * 1 is the cell, which names itself by 0. */
    REFUSE(prlimit64, IS(0, 1)),
    /* The value 1 keeps guest memory from a host's crash handler (see plan.c), so it stays. Scripts lower
     * this limit as a matter of course: they are told that they did. A caller that also asks for the old
     * value gets an error, because a filter cannot write it. */
    DO_NOTHING_IF(prlimit64, IS(1, RLIMIT_CORE), IS_NOT_LONG(2, 0), IS_LONG(3, 0)),
    REFUSE(prlimit64, IS(1, RLIMIT_CORE), IS_NOT_LONG(2, 0)),
    /* Merging equal pages tells, by the time a write takes, what is in the memory of others. */
    REFUSE(madvise, HAS(2, ~1u, MADV_MERGEABLE)), /* and MADV_UNMERGEABLE */
};

/*
 * No limit of a process bounds its page tables. Memory that lies together needs few of them; spread over the
 * address space by asking for addresses, one page of memory needs two pages of tables, and 64 MiB became 480.
 * So an empty room (GB_ROOM_NONE) takes what addresses the kernel gives, and a room with files, where shared
 * libraries are put in their place, asks for addresses close to those. Where there are programs they are
 * counted.
 */
#ifdef __SANITIZE_ADDRESS__
/* A sanitizer's runtime has places of its own. */
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

static const struct gb_seccomp_rule common_rules[] = {
    /* Talk on the socket that is already open. */
    PLAIN(read),
    PLAIN(write),
    /* Plain bytes: no out-of-band data, no addresses to speak of on a connected socket. */
    WHEN(sendto, ONLY(3, MSG_NOSIGNAL)),
    PLAIN(close),
    /* Memory, never executable, and not from the host's pool of huge pages. Nor shared: such memory is a file
     * without a name, which keeps its pages when a mapping shrinks or drops them, so that no limit of a
     * process counts them. */
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

/* An empty room: nothing to open and nobody to call. */
static const struct gb_seccomp_rule empty_rules[] = {
    /* For the zygote: a cell may start no process (RLIMIT_NPROC is 0 there), and open no descriptor by
     * pidfd_open (RLIMIT_NOFILE too). */
    WHEN(clone, IS(0, GB_FORK_FLAGS)),
};

/* A room with files: files, threads, and what a large interpreter does without being asked. */
static const struct gb_seccomp_rule files_rules[] = {
    /* For the zygote: new namespaces and mounts take a capability that a cell does not have. */
    WHEN(clone, IS(0, GB_CELL_CLONE_FLAGS)),
    PLAIN(mount),
    PLAIN(capset),
    /* For a cell's start. Not for guests: rules are kernel memory, and each thread can have a copy of them
       all. */
    WHEN(landlock_create_ruleset, IS_COOKIE(3)),
    PLAIN(landlock_add_rule),
    PLAIN(landlock_restrict_self),
    /* A cell becomes a user of its own. Programs that it starts do not know the number with which to ask. */
    WHEN(unshare, IS_LONG(0, CLONE_NEWUSER), IS_COOKIE(1)),
    WHEN(unshare, IS_LONG(0, CLONE_NEWUSER | CLONE_NEWCGROUP), IS_COOKIE(1)),
    /* Programs that try the newer call first take this for an old kernel, and use the other one. */
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
    /* What can be written is memory, so writing it to a disk is nothing. For what can only be read these
     * would keep the host's disks busy; and advice could push the host's files out of its page cache, which
     * shows who uses which of them. */
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
    /* A pair that leads nowhere: event loops wake themselves up through one. The buffers of other types hold
     * up to twice as much. */
    WHEN(socketpair, IS(0, AF_UNIX), HAS(1, GB_SOCKET_TYPE, SOCK_STREAM)),
    WHEN(recvfrom, WITHOUT(3, MSG_OOB)),
    WHEN(shutdown, IS(1, SHUT_RDWR)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_TYPE)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_ERROR)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_DOMAIN)),
    WHEN(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_PROTOCOL)),
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

/* What a room with files has and a room with programs has in another form. Locks are between processes, and a
 * cell here is one: they have no effect but to take memory, without a limit, that not even a control group
 * counts. */
static const struct gb_seccomp_rule one_process_rules[] = {
    DO_NOTHING_IF(fcntl, IS(1, F_SETLK)),
    DO_NOTHING_IF(fcntl, IS(1, F_SETLKW)),
    /* On a system file this would also be a lock for other cells, and for the host. */
    DO_NOTHING(flock),
};

/* Anonymous memory of programs; executable too, since some make code as they run. */
static const struct gb_seccomp_rule private_memory_rules[] = {
    WHEN(mmap, WITHOUT(3, MAP_ANONYMOUS | MAP_HUGETLB)),
    WHEN(mmap, HAS(3, MAP_TYPE | MAP_HUGETLB, MAP_PRIVATE)),
};
static const struct gb_seccomp_rule shared_memory_rules[] = {
    WHEN(mmap, WITHOUT(3, MAP_HUGETLB)),
};

#define TABLE(array)                                                                                         \
	(struct gb_seccomp_table) {                                                                          \
		(array), GB_COUNT(array), false                                                              \
	}

void gb_seccomp_tables(const struct gb_seccomp_options *options, struct gb_seccomp_tables *ret) {
	size_t n = 0;
	ret->of[n++] = (struct gb_seccomp_table){exceptions, GB_COUNT(exceptions), true};
	if (options->room == GB_ROOM_NONE)
		ret->of[n++] = (struct gb_seccomp_table){empty_exceptions, GB_COUNT(empty_exceptions), true};
	if (options->room == GB_ROOM_FILES)
		ret->of[n++] = (struct gb_seccomp_table){files_exceptions, GB_COUNT(files_exceptions), true};
	if (options->room == GB_ROOM_PROGRAMS) {
		ret->of[n++] = gb_seccomp_program_exceptions;
		if (!options->grouped)
			ret->of[n++] = gb_seccomp_ungrouped_exceptions;
		/* The largest first: libseccomp forgets to free what a wider rule replaces. */
		ret->of[n++] = options->grouped ? TABLE(shared_memory_rules) : TABLE(private_memory_rules);
		ret->of[n++] = gb_seccomp_program_rules;
		ret->of[n++] = gb_seccomp_socket_rules;
	}
	if (options->room == GB_ROOM_FILES)
		ret->of[n++] = TABLE(one_process_rules);
	if (options->room != GB_ROOM_NONE)
		ret->of[n++] = TABLE(files_rules);
	ret->of[n++] = TABLE(common_rules);
	if (options->room == GB_ROOM_NONE)
		ret->of[n++] = TABLE(empty_rules);
	ret->n = n;
}
