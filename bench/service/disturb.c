/* What else the server has to do while latency is measured: each in a process of its own. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/bench.h"
#include "store/audit.h"

/* --- processes --- */

void disturbance_start(
    struct disturbance *disturbance, const struct server *server, task_function *function, const char *what) {
	int fds[2];
	unsigned ready;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		die("make a socket pair");
	disturbance->pid = fork();
	if (disturbance->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		function(&(struct task){.server = server, .what = what, .fd = fds[1]});
		_exit(0);
	}
	close(fds[1]);
	disturbance->fd = fds[0];
	if (disturbance->pid < 0 || recv(disturbance->fd, &ready, sizeof ready, 0) != sizeof ready)
		die("start a disturbance");
}

/* The process has closed its end. Reports may come before. */
bool disturbance_has_ended(const struct disturbance *disturbance) {
	struct pollfd ended = {.fd = disturbance->fd};
	return poll(&ended, 1, 0) > 0 && (ended.revents & POLLHUP);
}

unsigned disturbance_end(struct disturbance *disturbance) {
	unsigned n = 0, report;
	kill(disturbance->pid, SIGKILL);
	waitpid(disturbance->pid, NULL, 0);
	while (recv(disturbance->fd, &report, sizeof report, MSG_DONTWAIT) == sizeof report)
		n = report;
	close(disturbance->fd);
	return n;
}

void task_ready(struct task *task) {
	task_report(task, 0);
}

/* Without waiting: a report that does not fit is lost. */
void task_report(struct task *task, unsigned n) {
	send(task->fd, &n, sizeof n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* --- locks --- */

static sqlite3 *open_database(const struct server *server, const char *name, int flags) {
	char path[200];
	sqlite3 *db = NULL;
	snprintf(path, sizeof path, "%s/%s", server->folder, name);
	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
		die(path);
	sqlite3_busy_timeout(db, 10000);
	return db;
}

void lock_database(struct task *task) {
	enum { REQUESTS = 20 };
	struct client client;
	client_open(&client, task->server);
	/* The first one creates the database. */
	bool ok;
	client_request(&client, "execute", "\"source\":\"1\",\"turn\":\"first\",\"language\":\"javascript\"");
	if (strcmp(task->what, "approvals.db") == 0 ? !client_receive(&client, -1)
						    : !client_reply(&client, &ok))
		die("use the database");
	sqlite3 *db = open_database(task->server, task->what, SQLITE_OPEN_READWRITE);
	if (sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK)
		die("lock the database");
	for (int i = 0; i < REQUESTS; i++)
		client_request(
		    &client, "execute", "\"source\":\"1\",\"turn\":\"turn\",\"language\":\"javascript\"");
	task_ready(task);
	for (unsigned n = 0; client_receive(&client, -1);)
		task_report(task, ++n);
	pause();
}

/* --- clients --- */

void send_once(struct task *task) {
	struct client client;
	bool ok = false;
	client_open(&client, task->server);
	client_request(&client, "run", task->what);
	task_ready(task);
	if (!client_reply(&client, &ok) || !ok)
		fprintf(stderr, "bench-service: a run failed: %s\n", client.got.data ? client.got.data : "");
	task_report(task, 1);
}

void never_read(struct task *task) {
	task_ready(task);
	for (unsigned n = 1;; n++) {
		struct client client;
		client_open(&client, task->server);
		client_request(&client, "run", task->what);
		task_report(task, n);
		sleep(2);
		client_close(&client);
	}
}

/* The run is terminated at once: the message is to be handled, and not the data in the sandbox. */
void send_large(struct task *task) {
	enum { BYTES = 38000000 };
	struct client client;
	struct gb_buf line;
	bool ok;
	client_open(&client, task->server);
	task_ready(task);
	for (unsigned n = 1;; n++) {
		gb_buf_init(&line, BYTES + 1000);
		gb_buf_printf(&line,
		    "{\"type\":\"run\",\"run\":%u,\"source\":\"export default data.length\","
		    "\"options\":{\"globals\":{\"data\":\"",
		    n);
		memset(gb_buf_reserve(&line, BYTES), 'x', BYTES);
		line.len += BYTES;
		gb_buf_printf(&line, "\"}}}\n{\"type\":\"terminate\",\"run\":%u}\n", n);
		client_send(&client, line.data, line.len);
		gb_buf_finish(&line);
		if (!client_reply(&client, &ok))
			die("send a large message");
		task_report(task, n);
	}
}

/* --- the audit log --- */

static int64_t long_ago(void) {
	return 1000000000000;
}

void write_old_records(const struct server *server, unsigned n) {
	enum { GROUP = 1000 };
	struct gb_audit *audit = NULL;
	struct gb_err err = {0};
	const struct gb_audit_options options = {.now_ms = long_ago};
	const struct gb_audit_record record = {
	    .kind = GB_STR("code_execution"),
	    .run_id = GB_STR("0123456789abcdef0123456789abcdef"),
	    .runtime = GB_STR("js"),
	    .status = GB_STR("success"),
	    .exit_code = {true, 0},
	    .code = GB_STR("export default 1"),
	    .limits = GB_STR("{\"timeoutMs\":30000,\"memoryBytes\":67108864,\"outputBytes\":1048576}"),
	    .decision = GB_STR("auto"),
	};
	bool ok = gb_audit_open(server->folder, &options, &audit, &err);
	for (unsigned i = 0; ok && i < n; i++)
		ok = gb_audit_append(audit, &record, NULL, NULL, &err) &&
		     (i % GROUP != GROUP - 1 || gb_audit_commit(audit, &err));
	if (!ok || !gb_audit_close(audit, &err)) {
		fprintf(stderr, "bench-service: %s\n", err.message);
		exit(1);
	}
}

static long long read_number(sqlite3 *db, const char *sql) {
	sqlite3_stmt *stmt = NULL;
	long long n = -1;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

void watch_pruning(struct task *task) {
	enum { LEFT = 2000 };
	struct client client;
	bool ok;
	client_open(&client, task->server);
	sqlite3 *db = open_database(task->server, "audit.db", SQLITE_OPEN_READONLY);
	task_ready(task);
	for (unsigned n = 1; read_number(db, "SELECT max(seq) - min(seq) FROM audit_record") > LEFT; n++) {
		client_request(&client, "execute", "\"source\":\"1\",\"language\":\"javascript\"");
		if (!client_reply(&client, &ok))
			break;
		task_report(task, n);
	}
}
