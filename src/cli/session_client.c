#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/session.h"
#include "cli/wake.h"
#include "egress/rules.h"
#include "glovebox/errors.h"
#include "value/json.h"
#include "value/text.h"

enum { LINE_MAX_BYTES = 130 << 20, READ_STEP = 64 << 10, TRIES = 5, READY_FD = 3, TYPED_REQUEST = 9 };

/* --- messages --- */

void session_line(struct gb_buf *line, const char *type) {
	gb_buf_init(line, LINE_MAX_BYTES);
	gb_buf_printf(line, "{\"type\":\"%s\"", type);
}

void session_line_text(struct gb_buf *line, const char *key, const char *text) {
	if (!text)
		return;
	gb_buf_printf(line, ",\"%s\":", key);
	gb_json_append_string(line, gb_str_from(text));
}

void session_line_list(struct gb_buf *line, const char *key, const char *items) {
	struct gb_str rest = gb_str_from(items), item;
	if (!items)
		return;
	gb_buf_printf(line, ",\"%s\":[", key);
	for (bool more = true, first = true; more; first = false) {
		more = gb_host_rule_cut(&rest, &item);
		gb_buf_append(line, ",", first ? 0 : 1);
		gb_json_append_string(line, item);
	}
	gb_buf_append_char(line, ']');
}

const char *session_text(const struct gb_value *message, const char *key) {
	const struct gb_value *value = gb_value_get(message, key);
	const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, NULL) : NULL;
	return text ? text : "";
}

/* The session is an operand of these commands, and such messages name it. */
static const char *without_field(const char *message) {
	static const char *const naming[] = {"session: '", "session: there is"};
	for (size_t i = 0; i < GB_COUNT(naming); i++)
		if (strncmp(message, naming[i], strlen(naming[i])) == 0)
			return message + strlen("session: ");
	return message;
}

int session_report_error(const struct command *command, const struct gb_value *error) {
	const char *message = session_text(error, "message"), *field = session_text(error, "field");
	size_t n = strlen(field) + strlen(": "), length = strlen(message);
	const char *detail = message + (n < length ? n : length);
	report_field_error(command, field, detail, without_field(message));
	return strcmp(session_text(error, "code"), GB_CODE_INVALID) == 0 ? EXIT_BAD_USE : EXIT_REFUSED;
}

bool session_send_line(struct session_client *client, struct gb_buf *line) {
	gb_buf_append(line, "}\n", 2);
	if (gb_buf_failed(line))
		return report_error(client->command, "the code and its inputs are too large");
	if (gb_write_all(client->fd, line->data, line->len))
		return true;
	return report_error(
	    client->command, "the process that kept the sessions has died; all sessions are lost");
}

bool session_send_keys(struct session_client *client, const char *session, const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf line;
	session_line(&line, "session_send");
	gb_buf_printf(&line, ",\"request\":%d", TYPED_REQUEST);
	session_line_text(&line, "session", session);
	gb_buf_printf(&line, ",\"text\":{\"$type\":\"Uint8Array\",\"data\":\"");
	gb_base64_append(&line, bytes, n);
	gb_buf_append(&line, "\"}", 2);
	return session_send_line(client, &line);
}

bool session_has_line(const struct session_client *client) {
	size_t left = client->got.len - client->used;
	return left > 0 && memchr(client->got.data + client->used, '\n', left);
}

bool session_read_available(struct session_client *client) {
	char *into = gb_buf_reserve(&client->got, READ_STEP);
	ssize_t n = into ? recv(client->fd, into, READ_STEP, MSG_DONTWAIT) : 0;
	if (n > 0)
		client->got.len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Read the next line, without its line feed; false at the end of the stream. */
static bool next_line(struct session_client *client) {
	struct gb_buf *got = &client->got;
	gb_buf_consume(got, client->used);
	client->used = 0;
	for (size_t scanned = 0;;) {
		char *newline =
		    got->len > scanned ? memchr(got->data + scanned, '\n', got->len - scanned) : NULL;
		if (newline) {
			*newline = '\0';
			client->used = (size_t)(newline - got->data) + 1;
			return true;
		}
		scanned = got->len;
		if (client->on_interrupt && !wake_wait(client->fd)) {
			client->on_interrupt(client);
			continue;
		}
		char *into = gb_buf_reserve(got, READ_STEP);
		ssize_t n = into ? read(client->fd, into, READ_STEP) : 0;
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		got->len += n > 0 ? (size_t)n : 0;
	}
}

struct gb_str session_last_line(const struct session_client *client) {
	return (struct gb_str){client->got.data, client->used ? client->used - 1 : 0};
}

static const struct gb_value *receive(struct session_client *client) {
	struct gb_err err = {0};
	if (!next_line(client))
		return NULL;
	gb_values_destroy(client->pool);
	client->pool = gb_values_create(0);
	struct gb_str line = session_last_line(client);
	return client->pool ? gb_value_from_json(client->pool, line.p, line.n, &err) : NULL;
}

const struct gb_value *session_receive(struct session_client *client) {
	const struct gb_value *message = receive(client);
	if (!message)
		report_error(
		    client->command, "the process that kept the sessions has died; all sessions are lost");
	return message;
}

/* --- connecting to the host --- */

void session_leave(struct session_client *client) {
	gb_close_fd(&client->fd);
	gb_buf_finish(&client->got);
	gb_values_destroy(client->pool);
	client->pool = NULL;
}

/* The peer must be a process of this user or of root. */
static bool is_own(int fd) {
	struct ucred peer;
	socklen_t n = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* *ret_fd is -1 if no process listens; then *ret_stale says whether a dead host left its socket. */
static bool connect_once(
    const struct session_place *place, int *ret_fd, bool *ret_stale, struct gb_err *err) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, place->socket, sizeof address.sun_path);
	gb_auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	*ret_fd = -1;
	*ret_stale = false;
	if (fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socket");
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
		*ret_stale = errno == ECONNREFUSED;
		return errno == ECONNREFUSED || errno == ENOENT ||
		       gb_fail(err, GB_ESYSTEM, errno, "connect to '%s'", place->socket);
	}
	if (!is_own(fd))
		return gb_fail(err, GB_EINVAL, 0, "a process of another user listens at '%s'", place->socket);
	*ret_fd = gb_take_fd(&fd);
	return true;
}

/* The host changes to another folder, so a relative path of GLOVEBOX_CONFIG must become absolute. */
static void keep_named_settings(void) {
	const char *named = getenv("GLOVEBOX_CONFIG");
	char path[PATH_MAX];
	if (named && *named && realpath(named, path))
		setenv("GLOVEBOX_CONFIG", path, 1);
}

__attribute__((noreturn)) static void become_host(int ready, enum gb_language language) {
	int null = open("/dev/null", O_RDWR);
	keep_named_settings();
	setsid();
	if (null < 0 || dup2(ready, READY_FD) < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 || chdir("/") != 0)
		_exit(1);
	close_range(READY_FD + 1, ~0u, 0);
	execl("/proc/self/exe", "glovebox", "session-host", "--language", gb_language_name(language), NULL);
	_exit(1);
}

/* The host writes "ok" or an error to the pipe, and closes it. */
static bool start_host(enum gb_language language, struct gb_err *err) {
	int ready[2];
	char said[GB_ERR_MESSAGE_MAX] = "";
	if (pipe2(ready, O_CLOEXEC) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "pipe");
	pid_t pid = fork();
	if (pid == 0)
		become_host(ready[1], language);
	close(ready[1]);
	size_t n = 0;
	for (ssize_t got; pid > 0 && n + 1 < sizeof said; n += (size_t)got) {
		got = read(ready[0], said + n, sizeof said - 1 - n);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			break;
	}
	close(ready[0]);
	return strcmp(said, "ok") == 0 ||
	       gb_fail(err, GB_EWALL, 0, "the process that keeps the sessions could not start: %s",
		   *said ? said : "it exited at once");
}

static void report_dead_host(const struct command *command, const struct session_place *place) {
	unlink(place->socket);
	fprintf(stderr, "glovebox %s: the process that kept the sessions has died; all sessions are lost\n",
	    command->name);
}

/* Under the lock no other process starts a host, so a stale socket stays stale. */
static bool connect_or_start(const struct session_place *place, const struct command *command,
    const enum gb_language *language, int *ret_fd, struct gb_err *err) {
	bool stale;
	gb_auto_fd int lock = session_place_lock(place, err);
	if (lock < 0 || !connect_once(place, ret_fd, &stale, err))
		return false;
	if (*ret_fd >= 0)
		return true;
	if (stale)
		report_dead_host(command, place);
	return !language || (start_host(*language, err) && connect_once(place, ret_fd, &stale, err));
}

static bool try_reach(struct session_client *client, const struct session_place *place,
    const enum gb_language *language, struct gb_err *err) {
	bool stale;
	if (!connect_once(place, &client->fd, &stale, err))
		return false;
	return client->fd >= 0 ||
	       ((stale || language) ? connect_or_start(place, client->command, language, &client->fd, err)
				    : true);
}

enum reached session_reach(
    struct session_client *client, const struct command *command, const enum gb_language *language) {
	struct session_place place;
	struct gb_err err = {0};
	*client = (struct session_client){.command = command, .fd = -1};
	gb_buf_init(&client->got, LINE_MAX_BYTES);
	if (!session_place_open(&place, &err)) {
		report_error(command, "%s", err.message);
		return UNREACHABLE;
	}
	/* A host that is exiting may accept the connection and send nothing, and a host that was just started
	 * may exit again because it has no sessions: try again. */
	for (int i = 0; i < TRIES; i++) {
		if (!try_reach(client, &place, language, &err)) {
			report_error(command, "%s", err.message);
			session_leave(client);
			return UNREACHABLE;
		}
		if (client->fd < 0 && !language)
			return NO_HOST;
		if (client->fd >= 0 && strcmp(session_text(receive(client), "type"), "hello") == 0)
			return REACHED;
		gb_close_fd(&client->fd);
	}
	report_error(command, "the process that keeps the sessions does not answer");
	session_leave(client);
	return UNREACHABLE;
}
