/* Arguments with bits that the kernel does not read, but that a filter may compare. */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "attack.h"

static long with_high_bits(long argument) {
	return (long)((uint64_t)argument | UINT64_C(1) << 32);
}

/* The limit is only read: in a control, process 1 is the init of the machine. */
ATTACK(reach_the_limits_of_the_first_process, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM}) {
	struct rlimit limit;
	struct tries tries = {0};
	try(&tries, syscall(SYS_prlimit64, 1L, RLIMIT_NOFILE, NULL, &limit));
	try(&tries, syscall(SYS_prlimit64, with_high_bits(1), RLIMIT_NOFILE, NULL, &limit));
	return tries_end(&tries);
}

ATTACK(ask_with_high_bits, .layers = GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_prctl, with_high_bits(PR_GET_TIMERSLACK), 0, 0, 0, 0));
	try(&tries, syscall(SYS_fcntl, 0, with_high_bits(F_GETLEASE)));
	try(&tries, syscall(SYS_socket, with_high_bits(AF_NETLINK), SOCK_RAW, 0));
	try(&tries, syscall(SYS_socket, AF_INET, with_high_bits(SOCK_RAW), IPPROTO_RAW));
	return tries_end(&tries);
}
