/* The parts of bench-service: a server, clients, and processes that disturb it. */
#ifndef GB_BENCH_SERVICE_H
#define GB_BENCH_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* --- the server (client.c) --- */

struct server {
	char folder[90], socket[100], settings[120], log[120];
	pid_t pid;
};

/* A state folder of its own, with these settings. Exits the program if something fails. */
void server_prepare(struct server *server, const char *settings);
/* Start 'glovebox stdio --socket'; returns when it accepts connections. */
void server_start(struct server *server);
/* Stop it and remove its folder. */
void server_end(struct server *server);

/* --- a client (client.c) --- */

struct client {
	int fd;
	struct gb_buf got;
	unsigned run; /* number of the last run */
};

/* Connect, and receive the hello. */
void client_open(struct client *client, const struct server *server);
void client_close(struct client *client);
void client_send(struct client *client, const char *bytes, size_t n);
/* A run or execute message without its number: "language":"python" and so on, without braces. */
void client_request(struct client *client, const char *type, const char *fields);
/* Receive a line, which is valid until the next call; NULL if there is none within @timeout_ms (-1: no limit), or the
 * server has closed the connection. */
const char *client_receive(struct client *client, int timeout_ms);
/* Receive the reply to the last request. False if the connection is closed. */
bool client_reply(struct client *client, bool *ret_ok);

/* --- disturbances (disturb.c) --- */

struct disturbance {
	pid_t pid;
	int fd; /* becomes readable when the disturbance has ended by itself */
};

/* What a disturbance does, in a process of its own. */
struct task {
	const struct server *server;
	const char *what; /* of the function: a database, a request */
	int fd;
};
typedef void task_function(struct task *task);

/* Returns when the function has called task_ready. */
void disturbance_start(
    struct disturbance *disturbance, const struct server *server, task_function *function, const char *what);
bool disturbance_has_ended(const struct disturbance *disturbance);
/* Returns the number that the function reported last. */
unsigned disturbance_end(struct disturbance *disturbance);

/* In the process: the disturbance is in effect; it has done something @n times. */
void task_ready(struct task *task);
void task_report(struct task *task, unsigned n);

/* Keep the database @what locked, while 20 requests of agents wait for it. Reports replies. */
void lock_database(struct task *task);
/* Send the request @what, once, and end when the reply is there. */
void send_once(struct task *task);
/* Send the request @what and read nothing; again every two seconds, as another client. */
void never_read(struct task *task);
/* Send a run with 38 MB of data, again and again. */
void send_large(struct task *task);
/* Ends when the audit log has less than 2,000 records. Sends requests of agents meanwhile. */
void watch_pruning(struct task *task);

/* Write an audit log of @n old records, before the server is started. */
void write_old_records(const struct server *server, unsigned n);

void die(const char *what) __attribute__((noreturn));

#endif
