/*
 * Socket buffers. The kernel reports queue sizes for TCP only, and slowly; for other sockets it reports only
 * their number. Those are charged at their maximum, above a free allowance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "runtime/program/memory.h"
#include "runtime/program/memory_parts.h"

/* A datagram of any size is accepted while the buffer is not full: hence twice the buffer. */
enum { USUAL_BUFFER = 212992, OVERSHOOT = 2, FREE_SOCKETS = 64, FREE_LARGE_SOCKETS = 16 };

static struct {
	uint64_t each;     /* maximum bytes of a non-TCP socket; 0: not yet determined */
	uint64_t tcp_each; /* maximum of a TCP socket, both directions; 0: not yet determined */
} sockets;

/* The buffer size that the kernel grants to an excessive request. */
static uint64_t largest_buffer(void) {
	static const int options[] = {SO_SNDBUF, SO_RCVBUF};
	uint64_t largest = USUAL_BUFFER;
	gb_auto_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return INT32_MAX;
	for (size_t i = 0; i < GB_COUNT(options); i++) {
		int wanted = 1 << 30, got = 0;
		socklen_t n = sizeof got;
		(void)setsockopt(fd, SOL_SOCKET, options[i], &wanted, sizeof wanted);
		if (getsockopt(fd, SOL_SOCKET, options[i], &got, &n) == 0 && (uint64_t)got > largest)
			largest = (uint64_t)got;
	}
	return largest;
}

static uint64_t non_tcp_used(uint64_t n) {
	if (n <= FREE_LARGE_SOCKETS)
		return 0;
	if (!sockets.each)
		sockets.each = largest_buffer() * OVERSHOOT;
	bool large = sockets.each > 2ull * OVERSHOOT * USUAL_BUFFER;
	uint64_t n_free = large ? FREE_LARGE_SOCKETS : FREE_SOCKETS;
	return n > n_free ? (n - n_free) * sockets.each : 0;
}

/* The third number of the file: the maximum. */
static uint64_t read_maximum(const char *path) {
	char text[GB_PROC_TEXT_MAX];
	unsigned long long most = 0;
	if (gb_proc_read(path, text) != GB_PROC_READ || sscanf(text, "%*u %*u %llu", &most) != 1)
		return UINT32_MAX;
	return most;
}

static uint64_t tcp_each(void) {
	if (!sockets.tcp_each)
		sockets.tcp_each =
		    read_maximum("/proc/sys/net/ipv4/tcp_wmem") + read_maximum("/proc/sys/net/ipv4/tcp_rmem");
	return sockets.tcp_each;
}

/* "  sl  local_address rem_address   st tx_queue:rx_queue ...", in hexadecimal. */
static bool add_queues(const char *path, uint64_t *sum) {
	FILE *file = fopen(path, "re");
	char line[512];
	unsigned long sent, received;
	if (!file)
		return false;
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "%*s %*s %*s %*s %lx:%lx", &sent, &received) == 2)
			*sum += sent + received;
	fclose(file);
	return true;
}

/* Data in connections that no process has accepted yet, and IP datagrams during reassembly, are charged to no
 * control group. Each is at most the default receive buffer of a socket. */
enum { FREE_INET = 256, INET_BYTES = 136 << 10 };

static uint64_t inet_held(uint64_t n) {
	return n > FREE_INET ? (n - FREE_INET) * (uint64_t)INET_BYTES : 0;
}

uint64_t gb_sockets_uncounted(void) {
	char text[GB_PROC_TEXT_MAX], six[GB_PROC_TEXT_MAX];
	if (gb_proc_read("/proc/self/net/sockstat", text) != GB_PROC_READ)
		return 0;
	if (gb_proc_read("/proc/self/net/sockstat6", six) != GB_PROC_READ)
		six[0] = '\0';
	return inet_held(gb_proc_number(text, "\nTCP: inuse ") + gb_proc_number(text, "\nUDP: inuse ") +
			 gb_proc_number(six, "TCP6: inuse ") + gb_proc_number(six, "\nUDP6: inuse "));
}

/* The maximum; if that exceeds @left, twice the bytes held now, to include headers. For that the kernel walks
 * its table of all connections, which takes milliseconds. */
static uint64_t tcp_used(uint64_t n_tcp4, uint64_t n_tcp6, uint64_t left) {
	uint64_t most = (n_tcp4 + n_tcp6) * tcp_each(), held = inet_held(n_tcp4 + n_tcp6), sum = 0;
	/* Walking that many connections takes longer than filling them. */
	if (held > left)
		return held;
	if (most <= left || (n_tcp4 && !add_queues("/proc/self/net/tcp", &sum)) ||
	    (n_tcp6 && !add_queues("/proc/self/net/tcp6", &sum)))
		return most;
	return 2 * sum < most ? 2 * sum : most;
}

uint64_t gb_sockets_used(uint64_t left) {
	char text[GB_PROC_TEXT_MAX], six[GB_PROC_TEXT_MAX];
	if (gb_proc_read("/proc/self/net/sockstat", text) != GB_PROC_READ)
		return GB_MEMORY_UNKNOWN;
	uint64_t n = gb_proc_number(text, "sockets: used ");
	if (n == 0)
		return 0;
	/* Missing if the kernel has no IPv6. */
	if (gb_proc_read("/proc/self/net/sockstat6", six) != GB_PROC_READ)
		six[0] = '\0';
	uint64_t n_tcp4 = gb_proc_number(text, "\nTCP: inuse "), n_tcp6 = gb_proc_number(six, "TCP6: inuse ");
	uint64_t others = non_tcp_used(n > n_tcp4 + n_tcp6 ? n - n_tcp4 - n_tcp6 : 0);
	left = left > others ? left - others : 0;
	return others + (n_tcp4 || n_tcp6 ? tcp_used(n_tcp4, n_tcp6, left) : 0);
}
