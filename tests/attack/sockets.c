/* Open sockets of every kind. */
#include <sys/socket.h>

#include "attack.h"

ATTACK(open_a_socket_of_any_family, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
	struct tries tries = {0};
	for (int family = 0; family < AF_MAX; family++)
		for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
			try(&tries, syscall(SYS_socket, family, types[i], 0));
	return tries_end(&tries);
}

/* Their buffers hold more than those of streams. */
ATTACK(open_a_pair_of_datagram_sockets, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	int pair[2];
	struct tries tries = {0};
	try(&tries, syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	try(&tries, syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET, 0, pair));
	return tries_end(&tries);
}

ATTACK(open_a_pair_of_sockets, .files_allow = true, .layers = GB_LAYER_SECCOMP) {
	int pair[2];
	return syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
}
