/* A server with its own state folder, and its clients. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/bench.h"

void die(const char *what) {
	fprintf(stderr, "bench-service: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- the server --- */

/* Settings of the user must have no effect. */
static void clear_environment(const struct server *server) {
	for (char **each = environ; *each;) {
		char name[200];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(*each, "="), *each);
		if (strncmp(name, "GLOVEBOX_", 9) == 0 || strncmp(name, "XDG_", 4) == 0)
			unsetenv(name);
		else
			each++;
	}
	setenv("HOME", server->folder, 1);
}

/* The program is beside this one. */
static void find_program(char *path, size_t n) {
	ssize_t length = readlink("/proc/self/exe", path, n - 1);
	path[length < 0 ? 0 : length] = '\0';
	char *name = strrchr(path, '/');
	if (name)
		snprintf(name, n - (size_t)(name - path), "/glovebox");
}

void server_prepare(struct server *server, const char *settings) {
	const char *tmp = getenv("TMPDIR");
	*server = (struct server){.pid = -1};
	snprintf(
	    server->folder, sizeof server->folder, "%.60s/bench-service-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(server->folder))
		die("make a folder");
	snprintf(server->socket, sizeof server->socket, "%s/socket", server->folder);
	snprintf(server->settings, sizeof server->settings, "%s/glovebox.yaml", server->folder);
	snprintf(server->log, sizeof server->log, "%s/log", server->folder);
	FILE *file = fopen(server->settings, "w");
	if (!file || fprintf(file, "stateDir: %s\n%s", server->folder, settings) < 0 || fclose(file) != 0)
		die("write the settings");
}

void server_start(struct server *server) {
	char program[4096];
	find_program(program, sizeof program);
	server->pid = fork();
	if (server->pid == 0) {
		int log = open(server->log, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(log, STDERR_FILENO);
		dup2(log, STDOUT_FILENO);
		clear_environment(server);
		execl(program, "glovebox", "stdio", "--socket", server->socket, "--config", server->settings,
		    NULL);
		_exit(127);
	}
	struct client client;
	client_open(&client, server);
	client_close(&client);
}

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *at) {
	(void)stat, (void)kind, (void)at;
	return remove(path);
}

void server_end(struct server *server) {
	if (server->pid > 0) {
		kill(server->pid, SIGTERM);
		waitpid(server->pid, NULL, 0);
	}
	nftw(server->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- clients --- */

enum { CONNECT_TRIES = 3000, CONNECT_US = 10000, READ_BYTES = 1 << 16 };

static int connect_to(const char *path) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, path, strlen(path) + 1);
	for (int i = 0; i < CONNECT_TRIES; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
			return fd;
		close(fd);
		usleep(CONNECT_US);
	}
	return -1;
}

void client_open(struct client *client, const struct server *server) {
	*client = (struct client){.fd = connect_to(server->socket)};
	gb_buf_init(&client->got, 1u << 30);
	if (client->fd < 0 || !client_receive(client, -1))
		die("connect to the server");
}

void client_close(struct client *client) {
	close(client->fd);
	gb_buf_finish(&client->got);
}

void client_send(struct client *client, const char *bytes, size_t n) {
	while (n > 0) {
		ssize_t done = send(client->fd, bytes, n, MSG_NOSIGNAL);
		if (done < 0)
			die("send to the server");
		bytes += done;
		n -= (size_t)done;
	}
}

void client_request(struct client *client, const char *type, const char *fields) {
	char line[4096];
	int n = snprintf(line, sizeof line, "{\"type\":\"%s\",\"run\":%u,%s}\n", type, ++client->run, fields);
	client_send(client, line, (size_t)n);
}

/* The line of the previous call is still in the buffer, ended by a zero byte. */
const char *client_receive(struct client *client, int timeout_ms) {
	struct gb_buf *got = &client->got;
	char *end = got->len ? memchr(got->data, '\0', got->len) : NULL;
	if (end)
		gb_buf_consume(got, (size_t)(end - got->data) + 1);
	for (size_t scanned = 0;;) {
		char *newline =
		    got->len > scanned ? memchr(got->data + scanned, '\n', got->len - scanned) : NULL;
		if (newline) {
			*newline = '\0';
			return got->data;
		}
		scanned = got->len;
		struct pollfd ready = {.fd = client->fd, .events = POLLIN};
		if (poll(&ready, 1, timeout_ms) <= 0)
			return NULL;
		char *into = gb_buf_reserve(got, READ_BYTES);
		ssize_t n = into ? read(client->fd, into, READ_BYTES) : -1;
		if (n <= 0)
			return NULL;
		got->len += (size_t)n;
	}
}

bool client_reply(struct client *client, bool *ret_ok) {
	for (const char *line; (line = client_receive(client, -1));) {
		*ret_ok = strstr(line, "\"status\":\"success\"");
		if (strncmp(line, "{\"type\":\"result\"", 16) == 0 ||
		    strncmp(line, "{\"type\":\"error\"", 15) == 0)
			return true;
	}
	return false;
}
