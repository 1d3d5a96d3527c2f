/* Reach network code of the kernel that programs rarely use. */
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "attack.h"
#include "sandbox/linux/protocol.h"

ATTACK(open_a_socket_of_another_protocol, .layers = GB_LAYER_SECCOMP,
    .kernel_says = {EPROTONOSUPPORT, ESOCKTNOSUPPORT, EPERM, EACCES}) {
	enum { MPTCP = 262, SMC = 256, DCCP_TYPE = 6 };
	static const struct {
		int type, protocol;
	} kinds[] = {{SOCK_STREAM, MPTCP}, {SOCK_STREAM, SMC}, {SOCK_STREAM, IPPROTO_SCTP},
	    {SOCK_SEQPACKET, IPPROTO_SCTP}, {SOCK_DGRAM, IPPROTO_UDPLITE}, {SOCK_DGRAM, IPPROTO_ICMP},
	    {SOCK_DGRAM, IPPROTO_ICMPV6}, {SOCK_RAW, IPPROTO_ICMP}, {SOCK_RAW, IPPROTO_RAW},
	    {DCCP_TYPE, IPPROTO_DCCP}};
	struct tries tries = {0};
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		try(&tries, syscall(SYS_socket, AF_INET, kinds[i].type | SOCK_CLOEXEC, kinds[i].protocol));
		try(&tries, syscall(SYS_socket, AF_INET6, kinds[i].type, kinds[i].protocol));
	}
	return tries_end(&tries);
}

static long set(int fd, int level, int option, const void *value, socklen_t n) {
	return syscall(SYS_setsockopt, fd, level, option, value, n);
}

/* This filter passes everything, so that the result can still be sent. */
ATTACK(give_the_kernel_a_packet_filter, .layers = GB_LAYER_SECCOMP) {
	enum { DETACH_REUSEPORT_BPF = 68 };
	struct sock_filter accept = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	const struct sock_fprog program = {.len = 1, .filter = &accept};
	const int fd = GB_FD_CELL, one = 1;
	struct tries tries = {0};
	try(&tries, set(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
	try(&tries, set(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program));
	try(&tries, set(fd, SOL_SOCKET, SO_ATTACH_BPF, &one, sizeof one));
	try(&tries, set(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &one, sizeof one));
	try(&tries, set(fd, SOL_SOCKET, SO_DETACH_FILTER, &one, sizeof one));
	try(&tries, set(fd, SOL_SOCKET, DETACH_REUSEPORT_BPF, &one, sizeof one));
	try(&tries, set(fd, SOL_SOCKET, SO_LOCK_FILTER, &one, sizeof one));
	return tries_end(&tries);
}

ATTACK(set_rare_socket_options, .layers = GB_LAYER_SECCOMP) {
	enum { ULP = 31 };
	const int one = 1;
	long tcp = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	int fd = tcp < 0 ? GB_FD_CELL : (int)tcp;
	struct tries tries = {0};
	try(&tries, set(fd, SOL_SOCKET, SO_OOBINLINE, &one, sizeof one));
	try(&tries, set(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one));
	try(&tries, set(fd, SOL_SOCKET, SO_BUSY_POLL, &(int){0}, sizeof(int)));
	try(&tries, set(fd, IPPROTO_TCP, ULP, "tls", sizeof "tls"));
	try(&tries, set(fd, IPPROTO_TCP, TCP_REPAIR, &one, sizeof one));
	try(&tries, set(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof "reno"));
	try(&tries, set(fd, IPPROTO_IP, IP_OPTIONS, NULL, 0));
	return tries_end(&tries);
}

/* A pidfd gives access to its process. Older kernels do not have the option. */
ATTACK(get_a_descriptor_of_the_peer, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOPROTOOPT, ENODATA}) {
	enum { PEERPIDFD = 77 };
	int fd;
	socklen_t n = sizeof fd;
	return syscall(SYS_getsockopt, GB_FD_CELL, SOL_SOCKET, PEERPIDFD, &fd, &n);
}

/* One byte out of band, from one end of a pair to the other, by each call that can send or receive it.
 * Kernels can be built without this. */
ATTACK(exchange_bytes_out_of_band, .layers = GB_LAYER_SECCOMP, .kernel_says = {EOPNOTSUPP}) {
	int pair[2] = {GB_FD_CELL, GB_FD_CELL};
	char byte = 'x';
	struct iovec iov = {&byte, 1};
	struct mmsghdr many = {.msg_hdr = {.msg_iov = &iov, .msg_iovlen = 1}};
	const int flags = MSG_OOB | MSG_DONTWAIT;
	struct tries tries = {0};
	(void)syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
	try(&tries, syscall(SYS_sendto, pair[0], &byte, 1, flags, NULL, 0));
	try(&tries, syscall(SYS_recvfrom, pair[1], &byte, 1, flags, NULL, NULL));
	try(&tries, syscall(SYS_sendmsg, pair[0], &many.msg_hdr, flags));
	try(&tries, syscall(SYS_recvmsg, pair[1], &many.msg_hdr, flags));
	try(&tries, syscall(SYS_sendmmsg, pair[0], &many, 1, flags));
	try(&tries, syscall(SYS_recvmmsg, pair[1], &many, 1, flags, NULL));
	return tries_end(&tries);
}

/* Pages that are in two pipes at once. */
ATTACK(copy_a_pipe_by_reference, .layers = GB_LAYER_SECCOMP) {
	int from[2], to[2];
	if (syscall(SYS_pipe, from) < 0 || syscall(SYS_pipe, to) < 0 || write(from[1], "x", 1) != 1)
		return -1;
	struct tries tries = {0};
	try(&tries, syscall(SYS_tee, from[0], to[1], 1, 0));
	try(&tries, syscall(SYS_splice, from[0], NULL, to[1], NULL, 1, 0));
	try(&tries, syscall(SYS_vmsplice, to[1], &(struct iovec){(char[]){'x'}, 1}, 1, 0));
	return tries_end(&tries);
}
