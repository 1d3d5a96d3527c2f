/* A client of 'glovebox stdio' for tests: starts a server, sends lines, receives lines. */
#ifndef GB_TESTS_STDIO_H
#define GB_TESTS_STDIO_H

#include <errno.h>
#include <fcntl.h>
#include <glovebox/glovebox.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "tap.h"

enum { WAIT_MAX_MS = 300000 };

struct client {
	pid_t pid;   /* 0 if the client is connected to a socket */
	int in, out; /* from the server, to the server */
	struct gb_buf got;
	size_t used;
	struct gb_values *pool; /* of the last line */
};

static inline struct client client_start(const char *const *args) {
	int to[2], from[2];
	struct client client = {.pid = -1};
	gb_buf_init(&client.got, 2000u << 20);
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
		return client;
	client.pid = fork();
	if (client.pid == 0) {
		const char *argv[10] = {"glovebox", "stdio"};
		for (int i = 0; args && args[i]; i++)
			argv[2 + i] = args[i];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execv(getenv("GB_GLOVEBOX"), (char **)argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	client.in = from[0];
	client.out = to[1];
	return client;
}

static inline struct client client_connect(const char *path) {
	struct client client = {.in = -1, .out = -1};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	gb_buf_init(&client.got, 1000u << 20);
	for (int i = 0; i < 3000; i++, usleep(20000)) {
		client.in = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(client.in, (struct sockaddr *)&address, sizeof address) == 0)
			break;
		close(client.in);
		client.in = -1;
	}
	client.out = client.in < 0 ? -1 : dup(client.in);
	return client;
}

static inline bool client_say_bytes(struct client *client, const char *bytes, size_t n) {
	while (n > 0) {
		ssize_t done = write(client->out, bytes, n);
		if (done < 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

/* Send a line; the newline is added. */
static inline void client_say(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void client_say(struct client *client, const char *format, ...) {
	char *text = NULL;
	va_list ap;
	va_start(ap, format);
	int n = vasprintf(&text, format, ap);
	va_end(ap);
	text[n] = '\n';
	CHECK(client_say_bytes(client, text, (size_t)n + 1));
	free(text);
}

/* The next line, zero-terminated and valid until the next call; NULL at end of file, or after WAIT_MAX_MS
 * without input. */
static inline const char *client_line(struct client *client) {
	struct gb_buf *got = &client->got;
	gb_buf_consume(got, client->used);
	client->used = 0;
	for (size_t scanned = 0;;) {
		char *newline =
		    got->len > scanned ? memchr(got->data + scanned, '\n', got->len - scanned) : NULL;
		if (newline) {
			*newline = '\0';
			client->used = (size_t)(newline - got->data) + 1;
			return got->data;
		}
		scanned = got->len;
		struct pollfd ready = {.fd = client->in, .events = POLLIN};
		if (poll(&ready, 1, WAIT_MAX_MS) <= 0) {
			printf("# no input for %d ms\n", WAIT_MAX_MS);
			return NULL;
		}
		char *into = gb_buf_reserve(got, 1 << 16);
		ssize_t n = into ? read(client->in, into, 1 << 16) : -1;
		if (n <= 0)
			return NULL;
		got->len += (size_t)n;
	}
}

/* The next line as a value; NULL if there is none or it is not JSON. */
static inline const struct gb_value *client_hear(struct client *client) {
	const char *line = client_line(client);
	struct gb_err err = {0};
	gb_values_destroy(client->pool);
	client->pool = gb_values_create((size_t)4 << 30);
	const struct gb_value *value =
	    line ? gb_value_from_json(client->pool, line, strlen(line), &err) : NULL;
	if (line && !value)
		printf("# not JSON: %s: %.200s\n", err.message, line);
	return value;
}

/* The value at a path such as "result.status", with numbers for arrays; NULL if there is none. */
static inline const struct gb_value *at(const struct gb_value *value, const char *path) {
	while (value && *path) {
		char key[100];
		size_t n = strcspn(path, ".");
		snprintf(key, sizeof key, "%.*s", (int)n, path);
		value = gb_value_type(value) == GB_ARRAY ? gb_value_at(value, (size_t)atoi(key))
							 : gb_value_get(value, key);
		path += n + (path[n] == '.');
	}
	return value;
}

static inline const char *text_at(const struct gb_value *value, const char *path) {
	const struct gb_value *found = at(value, path);
	return gb_value_type(found) == GB_STRING ? gb_value_bytes(found, NULL) : "";
}

/* -1 if it is not a number. */
static inline long long number_at(const struct gb_value *value, const char *path) {
	const struct gb_value *found = at(value, path);
	return gb_value_type(found) == GB_NUMBER ? (long long)gb_value_as_number(found) : -1;
}

/* Receive a line, which must have this type and this run (-1: no run). */
static inline const struct gb_value *client_expect(struct client *client, const char *type, long long run) {
	const struct gb_value *heard = client_hear(client);
	if (!CHECK_STR(text_at(heard, "type"), type) | !CHECK_INT(number_at(heard, "run"), run)) {
		printf("# heard: %.300s\n", client->got.data ? client->got.data : "nothing");
		return NULL;
	}
	return heard;
}

/* Receive the result of a run. */
static inline const struct gb_value *client_result(struct client *client, long long run, const char *status) {
	const struct gb_value *heard = client_expect(client, "result", run);
	if (heard && !CHECK_STR(text_at(heard, "result.status"), status))
		printf("# heard: %.300s\n", client->got.data);
	return heard;
}

static inline void client_shut(struct client *client) {
	if (client->in >= 0)
		close(client->in);
	if (client->out >= 0)
		close(client->out);
	client->in = client->out = -1;
	gb_values_destroy(client->pool);
	client->pool = NULL;
	gb_buf_finish(&client->got);
}

/* Close the streams, and wait for the server. Returns its exit status, or 1000 plus its signal. */
static inline int client_end(struct client *client) {
	int status = -1;
	close(client->out);
	client->out = -1;
	while (client->in >= 0 && client_line(client))
		;
	client_shut(client);
	if (waitpid(client->pid, &status, 0) < 0)
		return -1;
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Start a server, and receive its hello. */
static inline struct client client_ready(const char *const *args) {
	struct client client = client_start(args);
	client_expect(&client, "hello", -1);
	return client;
}

#endif
