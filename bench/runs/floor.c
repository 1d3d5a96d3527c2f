#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runs/bench.h"

bool samples_init(struct samples *samples, size_t n) {
	*samples = (struct samples){calloc(n, sizeof(double)), n};
	return samples->us;
}

void samples_finish(struct samples *samples) {
	free(samples->us);
}

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double samples_quantile(struct samples *samples, double part) {
	qsort(samples->us, samples->n, sizeof *samples->us, compare);
	size_t at = (size_t)((double)samples->n * part);
	return samples->us[at < samples->n ? at : samples->n - 1];
}

static cpu_set_t allowed_cpus(void) {
	/* Read once, before any process is pinned. */
	static cpu_set_t set;
	static bool known;
	if (!known)
		sched_getaffinity(0, sizeof set, &set);
	known = true;
	return set;
}

unsigned cpu_count(void) {
	cpu_set_t set = allowed_cpus();
	return (unsigned)CPU_COUNT(&set);
}

int cpu_number(unsigned n) {
	cpu_set_t set = allowed_cpus();
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set) && n-- == 0)
			return cpu;
	return 0;
}

void pin_to(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void echo_until_end(int fd, int cpu) {
	char byte;
	pin_to(cpu);
	while (gb_read_all(fd, &byte, 1) && gb_write_all(fd, &byte, 1))
		;
	_exit(0);
}

bool bench_ping_pong(struct samples *samples, int cpu, int other_cpu) {
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	gb_auto_fd int ours = pair[0], theirs = pair[1];
	pid_t child = fork();
	if (child == 0) {
		close(ours);
		echo_until_end(theirs, other_cpu);
	}
	gb_close_fd(&theirs);
	pin_to(cpu);
	char byte = 0;
	bool ok = child > 0;
	for (size_t i = 0; i < samples->n && ok; i++) {
		uint64_t before = gb_now_ns();
		ok = gb_write_all(ours, &byte, 1) && gb_read_all(ours, &byte, 1);
		samples->us[i] = (double)(gb_now_ns() - before) / 1e3;
	}
	gb_close_fd(&ours);
	waitpid(child, NULL, 0);
	return ok;
}

/* A raw terminal whose other end echoes its input. */
bool bench_terminal(struct samples *samples, int cpu) {
	struct termios raw = {0};
	int master, slave;
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	if (openpty(&master, &slave, NULL, &raw, NULL) != 0)
		return false;
	gb_auto_fd int ours = master, theirs = slave;
	char byte = 0;
	pin_to(cpu);
	pid_t child = fork();
	if (child == 0) {
		close(ours);
		echo_until_end(theirs, cpu);
	}
	bool ok = child > 0;
	for (size_t i = 0; i < samples->n && ok; i++) {
		uint64_t before = gb_now_ns();
		ok = gb_write_all(ours, &byte, 1) && gb_read_all(ours, &byte, 1);
		samples->us[i] = (double)(gb_now_ns() - before) / 1e3;
	}
	gb_close_fd(&theirs);
	gb_close_fd(&ours);
	waitpid(child, NULL, 0);
	return ok;
}

bool bench_pipes(struct samples *samples, int cpu) {
	int there[2], back[2];
	if (pipe2(there, O_CLOEXEC) != 0)
		return false;
	gb_auto_fd int there_out = there[0], there_in = there[1];
	if (pipe2(back, O_CLOEXEC) != 0)
		return false;
	gb_auto_fd int back_out = back[0], back_in = back[1];
	char byte = 0;
	pin_to(cpu);
	pid_t child = fork();
	if (child == 0) {
		close(there_in);
		while (gb_read_all(there_out, &byte, 1) && gb_write_all(back_in, &byte, 1))
			;
		_exit(0);
	}
	bool ok = child > 0;
	for (size_t i = 0; i < samples->n && ok; i++) {
		uint64_t before = gb_now_ns();
		ok = gb_write_all(there_in, &byte, 1) && gb_read_all(back_out, &byte, 1);
		samples->us[i] = (double)(gb_now_ns() - before) / 1e3;
	}
	gb_close_fd(&there_in);
	waitpid(child, NULL, 0);
	return ok;
}

bool bench_fork(struct samples *samples, int cpu, size_t bytes) {
	pin_to(cpu);
	char *dirty = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (dirty == MAP_FAILED)
		return false;
	memset(dirty, 1, bytes);
	bool ok = true;
	for (size_t i = 0; i < samples->n && ok; i++) {
		uint64_t before = gb_now_ns();
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		ok = child > 0 && waitpid(child, NULL, 0) == child;
		samples->us[i] = (double)(gb_now_ns() - before) / 1e3;
	}
	munmap(dirty, bytes);
	return ok;
}
