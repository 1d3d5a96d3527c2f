/*
 * The probe: a worker that attempts, inside the sandbox, what each layer must block. 'glovebox doctor' sends
 * one request per cell. The answer is "allowed", "seccomp", or the name of the errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/plan.h"
#include "sandbox/worker.h"

enum { CHILDREN_MAX = 512 };

/* Each probe returns 0 if the attempt succeeded, else an errno. */

static int do_nothing(const char *argument) {
	(void)argument;
	return 0;
}

static int become_root(const char *argument) {
	(void)argument;
	return syscall(SYS_setresuid, 0, 0, 0) == 0 ? 0 : errno;
}

static int see_process(const char *pid) {
	/* EPERM means that the process exists and is visible. */
	return kill((pid_t)strtol(pid, NULL, 10), 0) == 0 || errno == EPERM ? 0 : errno;
}

static int connect_to_port(const char *port) {
	gb_auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)strtol(port, NULL, 10)),
	    .sin_addr = {htonl(INADDR_LOOPBACK)}};
	return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? 0 : errno;
}

static int attach_shared_memory(const char *id) {
	return shmat((int)strtol(id, NULL, 10), NULL, SHM_RDONLY) != (void *)-1 ? 0 : errno;
}

/* @expected is the host's name and domain, with a space between them. */
static int read_host_name(const char *expected) {
	struct utsname name;
	char both[sizeof name.nodename + sizeof name.domainname];
	if (uname(&name) != 0)
		return errno;
	snprintf(both, sizeof both, "%s %s", name.nodename, name.domainname);
	return strcmp(both, expected) == 0 ? 0 : ENODATA;
}

static int open_file(const char *path) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? 0 : errno;
}

static int use_up_descriptors(const char *count) {
	for (long n = strtol(count, NULL, 10); n > 0; n--)
		if (dup(0) < 0)
			return errno;
	return 0;
}

static int use_capability(const char *argument) {
	(void)argument;
	return chroot("/") == 0 ? 0 : errno;
}

static int open_folder(const char *path) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? 0 : errno;
}

static int be_traced(const char *argument) {
	(void)argument;
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno;
}

static int fork_many(const char *count) {
	pid_t children[CHILDREN_MAX];
	long wanted = strtol(count, NULL, 10);
	int n = 0, failed = 0;
	for (; n < CHILDREN_MAX && n < wanted; n++) {
		children[n] = fork();
		if (children[n] == 0) {
			pause();
			_exit(0);
		}
		if (children[n] < 0) {
			failed = errno;
			break;
		}
	}
	while (n-- > 0)
		kill(children[n], SIGKILL);
	return failed;
}

static const struct {
	const char *name;
	int (*attempt)(const char *argument);
} probes[] = {
    {"nothing", do_nothing},
    {"become-root", become_root},
    {"see-process", see_process},
    {"connect", connect_to_port},
    {"shared-memory", attach_shared_memory},
    {"host-name", read_host_name},
    {"open-file", open_file},
    {"descriptors", use_up_descriptors},
    {"capability", use_capability},
    {"open-folder", open_folder},
    {"trace", be_traced},
    {"fork", fork_many},
};

static bool init(const char *profile) {
	(void)profile;
	return true;
}

static void serve(int fd) {
	char request[256];
	size_t n = 0;
	for (ssize_t got;
	     n < sizeof request - 1 && (got = read(fd, request + n, sizeof request - 1 - n)) > 0;)
		n += (size_t)got;
	request[n] = '\0';
	char *argument = strchr(request, ' ');
	if (argument)
		*argument++ = '\0';
	for (size_t i = 0; i < GB_COUNT(probes); i++) {
		if (strcmp(probes[i].name, request) != 0)
			continue;
		int error = probes[i].attempt(argument ? argument : "");
		const char *answer = error == 0                 ? "allowed"
				     : error == GB_SECCOMP_MARK ? "seccomp"
								: strerrorname_np(error);
		gb_write_all(fd, answer ? answer : "refused", strlen(answer ? answer : "refused"));
		return;
	}
}

int main(void) {
	static const struct gb_worker functions = {.init = init, .serve = serve};
	return gb_zygote_main(&functions);
}
