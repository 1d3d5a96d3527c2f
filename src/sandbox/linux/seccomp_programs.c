/* The additional rules of a room with programs: calls on their own files, processes, terminals and sockets.
 * The namespaces of a cell separate them from the files, processes and sockets of others. */
#include "sandbox/linux/seccomp_rules.h"

#include <asm/prctl.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "sandbox/linux/protocol.h"

/* All clone flags for new namespaces, except CLONE_NEWTIME: in clone its bit is part of the exit signal, and
 * only clone3 accepts it. */
#define NEW_NAMESPACES                                                                                       \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	    CLONE_NEWNET)

/* The user and group that programs see, and the id that stands for no change. */
enum { OWN_ID = 65534, SAME_ID = -1 };

#define KEEP_TWO_IDS(name)                                                                                   \
	DO_NOTHING_IF(name, IS(0, SAME_ID), IS(1, SAME_ID)),                                                 \
	    DO_NOTHING_IF(name, IS(0, SAME_ID), IS(1, OWN_ID)),                                              \
	    DO_NOTHING_IF(name, IS(0, OWN_ID), IS(1, SAME_ID)),                                              \
	    DO_NOTHING_IF(name, IS(0, OWN_ID), IS(1, OWN_ID))
#define KEEP_IDS_BEFORE(name, last)                                                                          \
	DO_NOTHING_IF(name, IS(0, SAME_ID), IS(1, SAME_ID), IS(2, last)),                                    \
	    DO_NOTHING_IF(name, IS(0, SAME_ID), IS(1, OWN_ID), IS(2, last)),                                 \
	    DO_NOTHING_IF(name, IS(0, OWN_ID), IS(1, SAME_ID), IS(2, last)),                                 \
	    DO_NOTHING_IF(name, IS(0, OWN_ID), IS(1, OWN_ID), IS(2, last))
#define KEEP_THREE_IDS(name) KEEP_IDS_BEFORE(name, SAME_ID), KEEP_IDS_BEFORE(name, OWN_ID)

static const struct gb_seccomp_rule exceptions[] = {
    /* For the same reason as prlimit64. */
    DO_NOTHING_IF(setrlimit, IS(0, RLIMIT_CORE)),
    /* The keeper inspects processes to count file locks and more. Programs that try to become undumpable see
     * success without effect. A thread must not have its own descriptor table, which the keeper does not
     * count. */
    DO_NOTHING_IF(prctl, IS(0, PR_SET_DUMPABLE)),
    REFUSE(clone, HAS(0, CLONE_THREAD | CLONE_FILES, CLONE_THREAD)),
};

static const struct gb_seccomp_rule program_rules[] = {
    /* For the zygote, as in seccomp_rules.c. */
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
    /* Programs such as make set the ids that they have already. The kernel would refuse even that, since the ids have no
     * mapping in the namespace of a cell. */
    DO_NOTHING_IF(setuid, IS(0, OWN_ID)),
    DO_NOTHING_IF(setgid, IS(0, OWN_ID)),
    KEEP_TWO_IDS(setreuid),
    KEEP_TWO_IDS(setregid),
    KEEP_THREE_IDS(setresuid),
    KEEP_THREE_IDS(setresgid),
    WHEN(arch_prctl, IS(0, ARCH_SET_FS)),
    WHEN(arch_prctl, IS(0, ARCH_GET_FS)),
    WHEN(arch_prctl, IS(0, ARCH_SET_GS)),
    WHEN(arch_prctl, IS(0, ARCH_GET_GS)),
    /* For every process except the keeper: see the exceptions. */
    PLAIN(prlimit64),
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
    /* Code that is generated at run time. */
    PLAIN(mprotect),
    PLAIN(mlock),
    PLAIN(munlock),
    /* Files. */
    PLAIN(chown),
    PLAIN(lchown),
    PLAIN(fchown),
    PLAIN(fchownat),
    WHEN(mknodat, HAS(2, S_IFMT, S_IFIFO)),
    WHEN(mknod, HAS(1, S_IFMT, S_IFIFO)),
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
    /* For the same reason as fsync. */
    DO_NOTHING(sync),
    DO_NOTHING(syncfs),
    DO_NOTHING(sync_file_range),
    /* Not RWF_NOWAIT, which reveals whether a file is in the host's page cache, and no flags that bypass that
     * cache. */
    WHEN(preadv2, ONLY(5, RWF_SYNC | RWF_DSYNC)),
    WHEN(pwritev2, ONLY(5, RWF_SYNC | RWF_DSYNC | RWF_APPEND)),
    PLAIN(sendfile),
    /* These put pages of files into pipes without a copy, a frequent source of kernel bugs. Programs handle
     * this error, because many pairs of files cannot be spliced, and copy instead. */
    FAIL(splice, EINVAL),
    FAIL(tee, EINVAL),
    /* A watch is on an inode, not on a mount: on a file of /usr it would report when the host or another cell
     * uses that file. Programs conclude that the kernel has no inotify, and poll. */
    FAIL(inotify_init, ENOSYS),
    FAIL(inotify_init1, ENOSYS),
    FAIL(inotify_add_watch, ENOSYS),
    FAIL(inotify_rm_watch, ENOSYS),
    /* Not F_NOTIFY, which watches a folder as inotify does, nor leases. */
    PLAIN(flock),
    WHEN(fcntl, IS(1, F_SETLK)),
    WHEN(fcntl, IS(1, F_SETLKW)),
    /* Every cell would see these in /proc/locks, and the keeper cannot attribute them to a process. */
    GB_RULE(fcntl, GB_SECCOMP_FAIL, EINVAL, IS(1, F_OFD_GETLK)),
    GB_RULE(fcntl, GB_SECCOMP_FAIL, EINVAL, IS(1, F_OFD_SETLK)),
    GB_RULE(fcntl, GB_SECCOMP_FAIL, EINVAL, IS(1, F_OFD_SETLKW)),
    WHEN(fcntl, IS(1, F_GETOWN)),
    WHEN(fcntl, IS(1, F_SETOWN)),
    WHEN(fcntl, IS(1, F_GETOWN_EX)),
    WHEN(fcntl, IS(1, F_SETOWN_EX)),
    WHEN(fcntl, IS(1, F_GETSIG)),
    WHEN(fcntl, IS(1, F_SETSIG)),
    WHEN(fcntl, IS(1, F_GETPIPE_SZ)),
    WHEN(fcntl, IS(1, F_SETPIPE_SZ)),
    PLAIN(eventfd),
    PLAIN(epoll_create),
    PLAIN(epoll_pwait2),
    PLAIN(timerfd_gettime),
    PLAIN(timer_gettime),
    PLAIN(timer_getoverrun),
    /* Terminals; but not TIOCSTI, which inserts input, nor TIOCCONS, which redirects the console. */
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
};

/* A socket option that may be both read and set, and one that may only be read. */
#define OPTION(level, option)                                                                                \
	WHEN(setsockopt, IS(1, level), IS(2, option)), WHEN(getsockopt, IS(1, level), IS(2, option))
#define OPTION_TO_READ(level, option) WHEN(getsockopt, IS(1, level), IS(2, option))

#define IP_SOCKET(family, type, protocol)                                                                    \
	WHEN(socket, IS(0, family), HAS(1, GB_SOCKET_TYPE, type), IS(2, protocol))

static const struct gb_seccomp_rule socket_rules[] = {
    /* Unix sockets, and TCP and UDP in the cell's own network. Other protocols (MPTCP, SCTP, UDP-Lite, ICMP)
     * would expose much kernel code that programs rarely use. */
    WHEN(socket, IS(0, AF_UNIX)),
    WHEN(socketpair, IS(0, AF_UNIX)),
    IP_SOCKET(AF_INET, SOCK_STREAM, 0),
    IP_SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP),
    IP_SOCKET(AF_INET, SOCK_DGRAM, 0),
    IP_SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP),
    IP_SOCKET(AF_INET6, SOCK_STREAM, 0),
    IP_SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP),
    IP_SOCKET(AF_INET6, SOCK_DGRAM, 0),
    IP_SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
    /* For the zygote: the flag requires a capability that a cell does not have. */
    WHEN(ioctl, IS(1, SIOCSIFFLAGS)),
    PLAIN(bind),
    PLAIN(listen),
    PLAIN(accept),
    PLAIN(accept4),
    PLAIN(connect),
    PLAIN(getsockname),
    PLAIN(getpeername),
    PLAIN(shutdown),
    /* No out-of-band data: its implementation for unix sockets has had bugs, and the filter does not see a
     * socket's family. */
    WHEN(sendto, WITHOUT(3, MSG_OOB)),
    WHEN(sendmsg, WITHOUT(2, MSG_OOB)),
    WHEN(recvmsg, WITHOUT(2, MSG_OOB)),
    WHEN(sendmmsg, WITHOUT(3, MSG_OOB)),
    WHEN(recvmmsg, WITHOUT(3, MSG_OOB)),
    /* Options that common programs set. Not: BPF programs (SO_ATTACH_FILTER, SO_ATTACH_BPF and the like), memory that
     * the kernel shares with the caller (SO_ZEROCOPY), SO_OOBINLINE, descriptors of processes. */
    OPTION(SOL_SOCKET, SO_REUSEADDR),
    OPTION(SOL_SOCKET, SO_REUSEPORT),
    OPTION(SOL_SOCKET, SO_DONTROUTE),
    OPTION(SOL_SOCKET, SO_BROADCAST),
    OPTION(SOL_SOCKET, SO_SNDBUF),
    OPTION(SOL_SOCKET, SO_RCVBUF),
    OPTION(SOL_SOCKET, SO_KEEPALIVE),
    OPTION(SOL_SOCKET, SO_LINGER),
    OPTION(SOL_SOCKET, SO_PASSCRED),
    OPTION(SOL_SOCKET, SO_RCVLOWAT),
    OPTION(SOL_SOCKET, SO_RCVTIMEO),
    OPTION(SOL_SOCKET, SO_SNDTIMEO),
    OPTION_TO_READ(SOL_SOCKET, SO_ACCEPTCONN),
    OPTION_TO_READ(SOL_SOCKET, SO_PEERCRED),
    OPTION_TO_READ(SOL_SOCKET, SO_SNDLOWAT),
    /* Not TCP_ULP, TCP_REPAIR, TCP_MD5SIG, TCP_CONGESTION, TCP_ZEROCOPY_RECEIVE. */
    OPTION(IPPROTO_TCP, TCP_NODELAY),
    OPTION(IPPROTO_TCP, TCP_MAXSEG),
    OPTION(IPPROTO_TCP, TCP_CORK),
    OPTION(IPPROTO_TCP, TCP_KEEPIDLE),
    OPTION(IPPROTO_TCP, TCP_KEEPINTVL),
    OPTION(IPPROTO_TCP, TCP_KEEPCNT),
    OPTION(IPPROTO_TCP, TCP_SYNCNT),
    OPTION(IPPROTO_TCP, TCP_LINGER2),
    OPTION(IPPROTO_TCP, TCP_DEFER_ACCEPT),
    OPTION(IPPROTO_TCP, TCP_QUICKACK),
    OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT),
    OPTION(IPPROTO_TCP, TCP_FASTOPEN),
    OPTION(IPPROTO_TCP, TCP_FASTOPEN_CONNECT),
    OPTION(IPPROTO_TCP, TCP_NOTSENT_LOWAT),
    OPTION_TO_READ(IPPROTO_TCP, TCP_INFO),
    /* Not IP_OPTIONS, nor lists of sources and policies. */
    OPTION(IPPROTO_IP, IP_TOS),
    OPTION(IPPROTO_IP, IP_TTL),
    OPTION(IPPROTO_IP, IP_PKTINFO),
    OPTION(IPPROTO_IP, IP_MTU_DISCOVER),
    OPTION(IPPROTO_IP, IP_RECVERR),
    OPTION(IPPROTO_IP, IP_RECVTTL),
    OPTION(IPPROTO_IP, IP_RECVTOS),
    OPTION(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT),
    OPTION(IPPROTO_IP, IP_MULTICAST_IF),
    OPTION(IPPROTO_IP, IP_MULTICAST_TTL),
    OPTION(IPPROTO_IP, IP_MULTICAST_LOOP),
    OPTION(IPPROTO_IP, IP_ADD_MEMBERSHIP),
    OPTION(IPPROTO_IP, IP_DROP_MEMBERSHIP),
    OPTION_TO_READ(IPPROTO_IP, IP_MTU),
    /* Not IPV6_ADDRFORM, extension headers, flow labels. */
    OPTION(IPPROTO_IPV6, IPV6_V6ONLY),
    OPTION(IPPROTO_IPV6, IPV6_UNICAST_HOPS),
    OPTION(IPPROTO_IPV6, IPV6_MTU_DISCOVER),
    OPTION(IPPROTO_IPV6, IPV6_RECVERR),
    OPTION(IPPROTO_IPV6, IPV6_RECVPKTINFO),
    OPTION(IPPROTO_IPV6, IPV6_RECVHOPLIMIT),
    OPTION(IPPROTO_IPV6, IPV6_RECVTCLASS),
    OPTION(IPPROTO_IPV6, IPV6_TCLASS),
    OPTION(IPPROTO_IPV6, IPV6_MULTICAST_IF),
    OPTION(IPPROTO_IPV6, IPV6_MULTICAST_HOPS),
    OPTION(IPPROTO_IPV6, IPV6_MULTICAST_LOOP),
    OPTION(IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP),
    OPTION(IPPROTO_IPV6, IPV6_DROP_MEMBERSHIP),
    OPTION_TO_READ(IPPROTO_IPV6, IPV6_MTU),
};

/* Without a control group, the keeper counts memory through /proc, which does not show socket buffers.
 * Programs that enlarge their buffers see success without effect. */
static const struct gb_seccomp_rule ungrouped_exceptions[] = {
    DO_NOTHING_IF(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_SNDBUF)),
    DO_NOTHING_IF(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_RCVBUF)),
};

const struct gb_seccomp_table gb_seccomp_program_exceptions = {exceptions, GB_COUNT(exceptions), true},
			      gb_seccomp_ungrouped_exceptions = {ungrouped_exceptions,
				  GB_COUNT(ungrouped_exceptions), true},
			      gb_seccomp_program_rules = {program_rules, GB_COUNT(program_rules), false},
			      gb_seccomp_socket_rules = {socket_rules, GB_COUNT(socket_rules), false};
