#include "sandbox/linux/inside/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/authorities.h"
#include "egress/protocol.h"

/* The first device of a network namespace. */
enum { LOOPBACK_INDEX = 1 };

static bool set_address(int fd, const char *device, uint32_t address, uint32_t mask) {
	struct ifreq request = {0};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(address)}};
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
	memcpy(&request.ifr_addr, &in, sizeof in);
	if (ioctl(fd, SIOCSIFADDR, &request) != 0)
		return false;
	in.sin_addr.s_addr = htonl(mask);
	memcpy(&request.ifr_netmask, &in, sizeof in);
	return ioctl(fd, SIOCSIFNETMASK, &request) == 0;
}

static bool set_address6(int fd, const uint8_t address[16]) {
	struct in6_ifreq request = {.ifr6_prefixlen = 128, .ifr6_ifindex = LOOPBACK_INDEX};
	memcpy(&request.ifr6_addr, address, sizeof request.ifr6_addr);
	return ioctl(fd, SIOCSIFADDR, &request) == 0;
}

/* An address of the loopback device makes its whole network local. Aliases: 127.0.0.1 stays. A system without IPv6 has
 * no addresses of it. */
static const char *set_addresses(const struct gb_plan *plan) {
	gb_auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		       fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &up) != 0)
		return "bring the loopback device up";
	if (!set_address(fd, "lo:g", GB_EGRESS_FIRST, GB_EGRESS_NETMASK))
		return "give the network its addresses";
	for (uint32_t i = 0; i < plan->n_addresses; i++) {
		const struct gb_plan_address *address = &plan->addresses[i];
		char alias[IFNAMSIZ];
		uint32_t four;
		memcpy(&four, address->bytes, sizeof four);
		snprintf(alias, sizeof alias, "lo:%u", i);
		if (address->is_six ? fd6 >= 0 && !set_address6(fd6, address->bytes)
				    : !set_address(fd, alias, ntohl(four), ~0u))
			return "give the network the addresses of the allowlist";
	}
	return NULL;
}

static const char *send_all(int fd, const int *fds, size_t n) {
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int[GB_EGRESS_SOCKETS + GB_EGRESS_SOCKETS6 + 1]))];
	} control = {
	    .head = {
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(n * sizeof *fds)}};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = CMSG_SPACE(n * sizeof *fds)};
	memcpy(CMSG_DATA(&control.head), fds, n * sizeof *fds);
	ssize_t sent;
	/* Too many descriptors of this user are in flight: glovebox-egress will receive them. */
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && (errno == EINTR || (errno == ETOOMANYREFS && poll(NULL, 0, 1) == 0)));
	return sent == 1 ? NULL : "pass sockets out";
}

static const char *pass_sockets(int fd) {
	int fds[GB_EGRESS_SOCKETS + GB_EGRESS_SOCKETS6 + 1];
	size_t n = 0;
	const char *failed = NULL;
	for (size_t i = 0; i < GB_COUNT(fds) && !failed; i++) {
		const bool six = i > GB_EGRESS_SOCKETS;
		const int made =
		    socket(six ? AF_INET6 : AF_INET, (i == 0 ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
		if (made >= 0)
			fds[n++] = made;
		else if (!six)
			failed = "make the sockets of the network";
	}
	failed = failed ? failed : send_all(fd, fds, n);
	while (n)
		close(fds[--n]);
	return failed;
}

/* --- certificates --- */

static bool copy_file(const char *from, int to) {
	gb_auto_fd int fd = open(from, O_RDONLY | O_CLOEXEC);
	char block[16 << 10];
	ssize_t n;
	while ((n = read(fd, block, sizeof block)) > 0)
		if (write(to, block, (size_t)n) != n)
			return false;
	return n == 0;
}

/* The authorities of the system, then those that glovebox-egress names, in a file of the cell's own that covers the one
 * of the system. /tmp, where the file is made, gets covered by the folder of the cell. */
static const char *add_authority(const char *pem, size_t n) {
	static const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	struct stat st;
	char options[64];
	/* Without the file, programs know no authority: they refuse every server. */
	if (n <= 1 || stat(GB_AUTHORITIES, &st) != 0)
		return NULL;
	snprintf(options, sizeof options, "size=%lld,nr_inodes=4,mode=0755",
	    (long long)st.st_size + GB_EGRESS_AUTHORITY_MAX + (64 << 10));
	if (mount("glovebox", "/tmp", "tmpfs", flags, options) != 0)
		return "mount a folder for certificates";
	gb_auto_fd int fd = open("/tmp/authorities", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0 || !copy_file(GB_AUTHORITIES, fd) || write(fd, pem, n) != (ssize_t)n)
		return "write the certificates of authorities";
	if (mount("/tmp/authorities", GB_AUTHORITIES, NULL, MS_BIND, NULL) != 0 ||
	    mount(NULL, GB_AUTHORITIES, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL) != 0)
		return "cover the certificates of authorities";
	struct statfs fs = {0};
	return statfs(GB_AUTHORITIES, &fs) == 0 && (fs.f_flags & ST_RDONLY)
		   ? NULL
		   : "the certificates of authorities are not read-only";
}

bool gb_network_pass(const struct gb_plan *plan, int fd, struct gb_wall_failure *ret_failure) {
	static char authority[GB_EGRESS_AUTHORITY_MAX];
	ssize_t got = 0;
	const char *failed = fd < 0 ? "have a network" : set_addresses(plan);
	failed = failed ? failed : pass_sockets(fd);
	if (!failed) {
		do
			got = recv(fd, authority, sizeof authority, 0);
		while (got < 0 && errno == EINTR);
		failed = got > 0 ? NULL : "wait for glovebox-egress";
	}
	failed = failed ? failed : add_authority(authority, (size_t)got);
	if (failed)
		*ret_failure = (struct gb_wall_failure){GB_LAYER_NET, errno, failed, false};
	return !failed;
}
