/* Connect to servers on the host. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "attack.h"

static struct sockaddr_in loopback(int port) {
	return (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static bool set_inet(struct stage *stage, int type) {
	struct sockaddr_in address = loopback(0);
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	stage->fds[stage->n_fds++] = fd;
	if (bind(fd, (struct sockaddr *)&address, n) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &n) != 0 ||
	    (type == SOCK_STREAM && listen(fd, 4) != 0))
		return false;
	snprintf(stage->argument, sizeof stage->argument, "%d", ntohs(address.sin_port));
	return true;
}

static bool set_tcp(struct stage *stage) {
	return set_inet(stage, SOCK_STREAM);
}

static bool set_udp(struct stage *stage) {
	return set_inet(stage, SOCK_DGRAM);
}

ATTACK(connect_to_a_tcp_port, .layers = GB_LAYER_NET | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .landlock_abi = 4, .set = set_tcp) {
	struct sockaddr_in address = loopback(atoi(argument));
	long fd = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	return fd < 0 ? -1 : syscall(SYS_connect, fd, &address, sizeof address);
}

ATTACK(listen_on_a_tcp_port, .programs_allow = true, .layers = GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .landlock_abi = 4) {
	struct sockaddr_in address = loopback(0);
	address.sin_addr.s_addr = htonl(INADDR_ANY);
	long fd = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	return fd < 0 ? -1 : syscall(SYS_bind, fd, &address, sizeof address);
}

ATTACK(send_a_datagram, .programs_allow = true, .layers = GB_LAYER_NET | GB_LAYER_SECCOMP, .set = set_udp) {
	struct sockaddr_in address = loopback(atoi(argument));
	long fd = syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0);
	return fd < 0 ? -1 : syscall(SYS_sendto, fd, "x", 1, 0, &address, sizeof address);
}

static bool set_unix(struct stage *stage, const struct sockaddr_un *address, size_t n) {
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	stage->fds[stage->n_fds++] = fd;
	return bind(fd, (const struct sockaddr *)address, (socklen_t)n) == 0 && listen(fd, 4) == 0;
}

/* The name without its leading zero byte is the argument. */
static struct sockaddr_un abstract(const char *name, size_t *ret_n) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = strnlen(name, sizeof address.sun_path - 2);
	memcpy(address.sun_path + 1, name, n);
	*ret_n = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	return address;
}

static bool set_abstract(struct stage *stage) {
	size_t n;
	snprintf(stage->argument, sizeof stage->argument, "glovebox-attack-%d", (int)getpid());
	struct sockaddr_un address = abstract(stage->argument, &n);
	return set_unix(stage, &address, n);
}

static bool set_path(struct stage *stage) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (!stage_dir(stage))
		return false;
	snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", stage->dir);
	snprintf(stage->argument, sizeof stage->argument, "%s", address.sun_path);
	return set_unix(stage, &address, sizeof address) && chmod(address.sun_path, 0777) == 0;
}

static long connect_unix(const struct sockaddr_un *address, size_t n) {
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	return fd < 0 ? -1 : syscall(SYS_connect, fd, address, n);
}

ATTACK(connect_to_an_abstract_socket, .layers = GB_LAYER_NET | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .landlock_abi = 6, .set = set_abstract) {
	size_t n;
	struct sockaddr_un address = abstract(argument, &n);
	return connect_unix(&address, n);
}

ATTACK(connect_to_a_socket_in_a_folder, .layers = GB_LAYER_MOUNT | GB_LAYER_SECCOMP, .set = set_path) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, argument, strnlen(argument, sizeof address.sun_path - 1));
	return connect_unix(&address, sizeof address);
}
