#include "egress/client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/watchdog.h"

enum {
	/* A process that does not answer for so many periods hangs: it is killed. */
	PERIOD_S = 2,
	PATIENCE = 5,
	/* Deaths in a row without a single run in between, after which it is not started any more. */
	MAX_DEATHS = 5,
	SOCKET_BYTES = 1 << 20,
};

struct gb_egress {
	struct gb_egress_options options;
	char *program, *proxy, *authorities;
	struct gb_source source, timer, death;
	int control, timer_fd, pidfd;
	pid_t pid;
	bool answered; /* since the last ping */
	unsigned n_unanswered, deaths;
	uint32_t next_id;
	uint32_t used[4096 / 32]; /* ids modulo 4096 */
	struct gb_list links;
	char problem[128]; /* of the process that has failed to start */
};

/* --- messages --- */

static bool send_order(
    struct gb_egress *egress, const struct gb_egress_order *order, const void *more, size_t n, int fd) {
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {
	    .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)}};
	struct iovec iov[] = {{(void *)order, sizeof *order}, {(void *)more, n}};
	struct msghdr message = {.msg_iov = iov, .msg_iovlen = n ? 2 : 1};
	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
	}
	ssize_t sent;
	do
		sent = sendmsg(egress->control, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

static struct gb_egress_link *find_link(struct gb_egress *egress, uint32_t id) {
	gb_list_each(struct gb_egress_link, link, &egress->links, link) {
		if (link->id == id)
			return link;
	}
	return NULL;
}

static void handle(
    struct gb_egress *egress, const struct gb_egress_notice *notice, const char *more, size_t n) {
	struct gb_egress_link *link = find_link(egress, notice->cell);
	struct gb_egress_record record;
	struct gb_egress_bodies bodies;
	char problem[sizeof notice->text + 1];
	switch ((enum gb_egress_notice_kind)notice->kind) {
	case GB_EGRESS_READY:
		egress->problem[0] = '\0';
		egress->answered = true;
		break;
	case GB_EGRESS_PONG:
		egress->answered = true;
		break;
	case GB_EGRESS_FAILED:
		snprintf(egress->problem, sizeof egress->problem, "%.*s", (int)sizeof notice->text - 1,
		    notice->text);
		break;
	case GB_EGRESS_BEGUN:
		egress->deaths = 0;
		gb_copy_text(problem, sizeof problem,
		    (struct gb_str){notice->text, strnlen(notice->text, sizeof notice->text)});
		if (link && link->on_begun)
			link->on_begun(link, problem);
		break;
	case GB_EGRESS_RECORD:
		if (!link || !link->on_record || n != sizeof record)
			break;
		memcpy(&record, more, sizeof record);
		record.host[sizeof record.host - 1] = record.rule[sizeof record.rule - 1] =
		    record.reason[sizeof record.reason - 1] = record.method[sizeof record.method - 1] =
			record.path[sizeof record.path - 1] = '\0';
		link->on_record(link, &record);
		break;
	case GB_EGRESS_BODIES:
		if (!link || !link->on_bodies || n != sizeof bodies)
			break;
		memcpy(&bodies, more, sizeof bodies);
		if (bodies.n_sent <= sizeof bodies.sent && bodies.n_received <= sizeof bodies.received)
			link->on_bodies(link, &bodies);
		break;
	case GB_EGRESS_DONE:
		if (link && link->on_done)
			link->on_done(link, notice->dropped);
		break;
	}
}

/* --- life and death --- */

static void close_process(struct gb_egress *egress) {
	gb_loop_remove(egress->options.loop, &egress->source);
	gb_loop_remove(egress->options.loop, &egress->timer);
	gb_close_fd(&egress->control);
	gb_close_fd(&egress->timer_fd);
	if (egress->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, egress->pidfd, SIGKILL, NULL, 0);
		/* It has no children and no files: it is dead within moments. */
		waitid(P_PIDFD, (id_t)egress->pidfd, &(siginfo_t){0}, WEXITED | __WALL);
	}
	gb_close_fd(&egress->pidfd);
	egress->pid = 0;
}

/* Its sockets died with it: every cell has lost its network. */
static void lose(struct gb_egress *egress) {
	struct gb_watch watch;
	struct gb_list lost;
	gb_watch_begin(&watch);
	close_process(egress);
	gb_watch_exclude(&watch);
	egress->deaths++;
	memset(egress->used, 0, sizeof egress->used);
	gb_list_init(&lost);
	for (struct gb_egress_link *link;
	     (link = gb_list_first(struct gb_egress_link, &egress->links, link));) {
		gb_list_remove(&link->link);
		gb_list_append(&lost, &link->link);
		link->lost = true;
	}
	for (struct gb_egress_link *link; (link = gb_list_first(struct gb_egress_link, &lost, link));) {
		gb_list_remove(&link->link);
		if (link->on_lost)
			link->on_lost(link);
	}
	if (egress->options.on_lost)
		egress->options.on_lost(egress->options.data);
}

/* Handle what has arrived. False if the process is gone. */
static bool receive_all(struct gb_egress *egress) {
	char message[sizeof(struct gb_egress_notice) + sizeof(struct gb_egress_record) +
		     sizeof(struct gb_egress_bodies)];
	while (egress->control >= 0) {
		struct gb_egress_notice notice;
		const ssize_t n = recv(egress->control, message, sizeof message, MSG_DONTWAIT);
		/* A process that ends before it has read everything: what it has sent can still be read. */
		if (n < 0 && (errno == EINTR || errno == ECONNRESET))
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < (ssize_t)sizeof notice)
			return false;
		memcpy(&notice, message, sizeof notice);
		handle(egress, &notice, message + sizeof notice, (size_t)n - sizeof notice);
	}
	return true;
}

void gb_egress_catch_up(struct gb_egress *egress) {
	if (egress->control >= 0 && !receive_all(egress))
		lose(egress);
}

static void on_control(struct gb_source *source, uint32_t events) {
	gb_egress_catch_up(gb_container(struct gb_egress, source, source));
}

static void on_timer(struct gb_source *source, uint32_t events) {
	struct gb_egress *egress = gb_container(struct gb_egress, timer, source);
	uint64_t times;
	if (read(egress->timer_fd, &times, sizeof times) < 0)
		return;
	egress->n_unanswered = egress->answered ? 0 : egress->n_unanswered + 1;
	egress->answered = false;
	/* A process that does not read has a full socket: that is an answer that is missing, too. */
	(void)send_order(egress, &(struct gb_egress_order){.kind = GB_EGRESS_PING}, NULL, 0, -1);
	if (egress->n_unanswered >= PATIENCE)
		lose(egress);
}

static bool spawn(struct gb_egress *egress, int control, struct gb_err *err) {
	char *const argv[] = {
	    (char *)"glovebox-egress", *egress->authorities ? egress->authorities : NULL, NULL};
	char *const environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, control, GB_EGRESS_FD);
	posix_spawn_file_actions_addclosefrom_np(&actions, GB_EGRESS_FD + 1);
	posix_spawnattr_setflags(
	    &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	const int error =
	    posix_spawn(&egress->pid, egress->program, &actions, &attributes, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (error)
		return gb_fail(err, GB_ESYSTEM, error, "start '%s'", egress->program);
	egress->pidfd = (int)syscall(SYS_pidfd_open, egress->pid, 0);
	if (egress->pidfd >= 0)
		return true;
	gb_fail(err, GB_ESYSTEM, errno, "watch '%s'", egress->program);
	kill(egress->pid, SIGKILL);
	waitpid(egress->pid, NULL, 0);
	return false;
}

static bool watch(struct gb_egress *egress, struct gb_err *err) {
	const struct itimerspec period = {{PERIOD_S, 0}, {PERIOD_S, 0}};
	egress->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	egress->answered = true;
	egress->n_unanswered = 0;
	if (egress->timer_fd < 0 || timerfd_settime(egress->timer_fd, 0, &period, NULL) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "watch '%s'", egress->program);
	return gb_loop_add(
		   egress->options.loop, &egress->source, egress->control, GB_LOOP_IN, on_control, err) &&
	       gb_loop_add(egress->options.loop, &egress->timer, egress->timer_fd, GB_LOOP_IN, on_timer, err);
}

static bool start(struct gb_egress *egress, struct gb_err *err) {
	const struct gb_egress_order setup = {.kind = GB_EGRESS_SETUP};
	const int bytes = SOCKET_BYTES;
	int pair[2];
	if (egress->deaths >= MAX_DEATHS)
		return gb_fail(err, GB_EWALL, 0, "glovebox-egress died %u times in a row%s%s", egress->deaths,
		    egress->problem[0] ? ": " : "", egress->problem);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socketpair for glovebox-egress");
	/* dup2 to the same number would leave it closed by exec. */
	gb_auto_fd int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, GB_EGRESS_FD + 1);
	close(pair[1]);
	egress->control = pair[0];
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	struct gb_watch busy;
	/* Sleeps until the program is executed. */
	gb_watch_begin(&busy);
	const bool spawned = theirs >= 0 && spawn(egress, theirs, err);
	gb_watch_exclude(&busy);
	if (spawned && watch(egress, err) &&
	    send_order(egress, &setup, egress->proxy, strlen(egress->proxy), -1))
		return true;
	close_process(egress);
	return err && err->code ? false : gb_fail(err, GB_ESYSTEM, 0, "start glovebox-egress");
}

bool gb_egress_create(const struct gb_egress_options *options, struct gb_egress **ret, struct gb_err *err) {
	struct gb_egress *egress = calloc(1, sizeof *egress);
	if (!egress)
		return gb_fail(err, GB_ENOMEM, 0, "the client of glovebox-egress");
	egress->options = *options;
	egress->program = strdup(options->program);
	egress->proxy = strdup(options->proxy ? options->proxy : "");
	egress->authorities = strdup(options->authorities ? options->authorities : "");
	egress->control = egress->timer_fd = egress->pidfd = -1;
	egress->source.fd = egress->timer.fd = -1;
	gb_list_init(&egress->links);
	if (egress->program && egress->proxy && egress->authorities) {
		*ret = egress;
		return true;
	}
	gb_egress_destroy(egress);
	return gb_fail(err, GB_ENOMEM, 0, "the client of glovebox-egress");
}

void gb_egress_destroy(struct gb_egress *egress) {
	if (!egress)
		return;
	close_process(egress);
	free(egress->program);
	free(egress->proxy);
	free(egress->authorities);
	free(egress);
}

const char *gb_egress_problem(const struct gb_egress *egress) {
	return egress->problem;
}

int gb_egress_pid(const struct gb_egress *egress) {
	return egress->pid;
}

/* --- links --- */

/* An id whose place no other link has. */
static bool take_id(struct gb_egress *egress, uint32_t *ret) {
	enum { PLACES = sizeof egress->used * 8 };
	for (unsigned i = 0; i < PLACES; i++) {
		const uint32_t id = ++egress->next_id, place = id % PLACES;
		if (egress->used[place / 32] & 1u << place % 32)
			continue;
		egress->used[place / 32] |= 1u << place % 32;
		*ret = id;
		return true;
	}
	return false;
}

int gb_egress_open(struct gb_egress *egress, struct gb_egress_link *link, bool fetches, struct gb_err *err) {
	int pair[2];
	if (egress->control < 0 && !start(egress, err))
		return -1;
	if (!take_id(egress, &link->id)) {
		gb_fail(err, GB_ELIMIT, 0, "too many sandboxes with a network");
		return -1;
	}
	link->egress = egress;
	link->lost = false;
	gb_list_init(&link->link);
	gb_list_append(&egress->links, &link->link);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		gb_fail(err, GB_ESYSTEM, errno, "socketpair for a network");
		gb_egress_close(link);
		return -1;
	}
	const struct gb_egress_order order = {.kind = GB_EGRESS_CELL, .cell = link->id, .fetches = fetches};
	const bool sent = send_order(egress, &order, NULL, 0, pair[0]);
	close(pair[0]);
	if (sent)
		return pair[1];
	close(pair[1]);
	gb_egress_close(link);
	gb_fail(err, GB_EBUSY, errno, "glovebox-egress does not take orders");
	return -1;
}

static bool send_secret(
    struct gb_egress_link *link, const struct gb_secret_texts *texts, struct gb_err *err) {
	const struct gb_egress_order order = {.kind = GB_EGRESS_SECRET, .cell = link->id};
	struct gb_buf bytes;
	gb_buf_init(&bytes, GB_SECRET_ORDER_MAX);
	/* At once: growing would leave copies behind. */
	const bool reserved = gb_buf_reserve(&bytes, GB_SECRET_ORDER_MAX);
	if (reserved)
		gb_secret_order_write(&bytes, texts);
	const bool fits = reserved && !gb_buf_failed(&bytes);
	const bool sent = fits && send_order(link->egress, &order, bytes.data, bytes.len, -1);
	const int error = errno;
	if (reserved)
		explicit_bzero(bytes.data, bytes.len);
	gb_buf_finish(&bytes);
	return sent || (fits ? gb_fail(err, GB_EBUSY, error, "glovebox-egress does not take orders")
			     : gb_fail(err, GB_ELIMIT, 0, "the secret '%.*s' is too long", (int)texts->name.n,
				   texts->name.p));
}

bool gb_egress_begin(struct gb_egress_link *link, const struct gb_egress_policy *policy, struct gb_err *err) {
	const struct gb_egress_order order = {
	    .kind = GB_EGRESS_RUN, .cell = link->id, .limits = policy->limits};
	if (!link->egress || link->lost)
		return gb_fail(
		    err, GB_EBUSY, 0, "glovebox-egress has ended, and the network of this sandbox with it");
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_EGRESS_MESSAGE_MAX - sizeof order);
	for (size_t i = 0; i < policy->n_rules; i++)
		gb_buf_append(&text, policy->rules[i], strlen(policy->rules[i]) + 1);
	if (gb_buf_failed(&text))
		return gb_fail(err, GB_ELIMIT, 0, "the allowlist is too long");
	for (size_t i = 0; i < policy->n_secrets; i++)
		if (!send_secret(link, &policy->secrets[i], err))
			return false;
	return send_order(link->egress, &order, text.data, text.len, -1) ||
	       gb_fail(err, GB_EBUSY, errno, "glovebox-egress does not take orders");
}

static void order_simply(struct gb_egress_link *link, enum gb_egress_order_kind kind) {
	if (link->egress && !link->lost)
		(void)send_order(
		    link->egress, &(struct gb_egress_order){.kind = kind, .cell = link->id}, NULL, 0, -1);
}

void gb_egress_end(struct gb_egress_link *link) {
	order_simply(link, GB_EGRESS_END);
}

bool gb_egress_connect(struct gb_egress_link *link, uint16_t port, int fd, struct gb_err *err) {
	const struct gb_egress_order order = {.kind = GB_EGRESS_CONNECT, .cell = link->id, .port = port};
	if (!link->egress || link->lost)
		return gb_fail(err, GB_EBUSY, 0, "the network of this sandbox was lost");
	return send_order(link->egress, &order, NULL, 0, fd) ||
	       gb_fail(err, GB_EBUSY, errno, "glovebox-egress does not take orders");
}

void gb_egress_close(struct gb_egress_link *link) {
	if (!link->egress)
		return;
	order_simply(link, GB_EGRESS_RELEASE);
	const uint32_t place = link->id % (sizeof link->egress->used * 8);
	if (!link->lost)
		link->egress->used[place / 32] &= ~(1u << place % 32);
	gb_list_remove(&link->link);
	link->egress = NULL;
}
