/* Use the socket of a worker for anything other than plain bytes. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "attack.h"
#include "sandbox/linux/protocol.h"

static struct msghdr message_with_fd(struct iovec *iov, char *control, size_t n) {
	struct msghdr message = {
	    .msg_iov = iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = n};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &(int){0}, sizeof(int));
	return message;
}

ATTACK(send_a_descriptor_to_the_host, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {(char[]){'\n'}, 1};
	struct mmsghdr many = {.msg_hdr = message_with_fd(&iov, control, sizeof control)};
	struct tries tries = {0};
	try(&tries, syscall(SYS_sendmmsg, GB_FD_CELL, &many, 1, 0));
	if (!tries.worked)
		try(&tries, syscall(SYS_sendmsg, GB_FD_CELL, &many.msg_hdr, 0));
	return tries_end(&tries);
}

/* Rarely used, and more than once exploited to escape from a sandbox. */
ATTACK(send_out_of_band, .layers = GB_LAYER_SECCOMP, .kernel_says = {EOPNOTSUPP}) {
	return syscall(SYS_sendto, GB_FD_CELL, "\n", 1, MSG_OOB, NULL, 0);
}

ATTACK(receive_a_descriptor, .programs_allow = true, .layers = GB_LAYER_SECCOMP, .kernel_says = {EAGAIN}) {
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	return syscall(SYS_recvmsg, GB_FD_CELL, &message, MSG_DONTWAIT);
}

/* The filter recognises the zygote's control socket by its number; a cell cannot open that number. */
ATTACK(put_a_descriptor_where_the_control_socket_was, .programs_allow = true,
    .layers = GB_LAYER_RLIMIT | GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_dup3, GB_FD_CELL, GB_FD_CONTROL, 0));
	try(&tries, syscall(SYS_dup2, GB_FD_CELL, GB_FD_CONTROL));
	try(&tries, syscall(SYS_fcntl, GB_FD_CELL, F_DUPFD, GB_FD_CONTROL));
	return tries_end(&tries);
}

ATTACK(open_a_descriptor_of_ones_own_process, .files_allow = true, .layers = GB_LAYER_RLIMIT) {
	return syscall(SYS_pidfd_open, syscall(SYS_getpid), 0);
}

ATTACK(change_the_socket, .files_allow = true, .layers = GB_LAYER_SECCOMP) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_setsockopt, GB_FD_CELL, SOL_SOCKET, SO_SNDBUF, &(int){1 << 20}, sizeof(int)));
	try(&tries, syscall(SYS_fcntl, GB_FD_CELL, F_SETFL, O_NONBLOCK));
	try(&tries, syscall(SYS_ioctl, GB_FD_CELL, SIOCOUTQ, &(int){0}));
	return tries_end(&tries);
}

ATTACK(ask_who_is_at_the_other_end, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	struct {
		int pid, uid, gid;
	} who;
	socklen_t n = sizeof who;
	return syscall(SYS_getsockopt, GB_FD_CELL, SOL_SOCKET, SO_PEERCRED, &who, &n);
}

ATTACK(splice_pages_into_the_socket, .files_allow = true, .layers = GB_LAYER_SECCOMP) {
	int ends[2] = {-1, -1};
	/* The page itself is sent, and not a copy: it must be unchanged when it is read. */
	static char line[] = "\n";
	struct iovec iov = {line, 1};
	struct tries tries = {0};
	try(&tries, syscall(SYS_pipe2, ends, 0));
	try(&tries, syscall(SYS_vmsplice, ends[1], &iov, 1, 0));
	try(&tries, syscall(SYS_splice, ends[0], NULL, GB_FD_CELL, NULL, 1, SPLICE_F_NONBLOCK));
	try(&tries, syscall(SYS_tee, ends[0], ends[1], 1, SPLICE_F_NONBLOCK));
	try(&tries, syscall(SYS_sendfile, GB_FD_CELL, 0, NULL, 1));
	return tries_end(&tries);
}
