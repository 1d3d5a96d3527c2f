/*
 * Notification about changes by other processes, without polling the database.
 *
 * A file beside the database, the bell, is the notification channel: a process that changed something writes
 * a byte to it, and waiting processes watch it with inotify. So no list of waiters is needed, processes that
 * die leave nothing behind, and many notifications at once wake a waiter once. A datagram socket would need a
 * list of waiters and a way to remove dead ones. A notification carries no data: the waiter reads the changes
 * from the database. If a decider dies between its commit and its notification, waiters see the decision at
 * the next notification, or at the deadline, where the decision counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/approval_parts.h"

static int open_bell(const struct gb_approvals *approvals) {
	return openat(approvals->dir, GB_APPROVALS_BELL,
	    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

void gb_approvals_notify(const struct gb_approvals *approvals) {
	gb_auto_fd int bell = open_bell(approvals);
	/* Best effort: the decision is already committed. */
	if (bell >= 0 && pwrite(bell, "!", 1, 0) != 1)
		return;
}

/* Use the folder descriptor: the path of the folder may have changed since it was opened. */
static bool watch_bell(struct gb_approvals *approvals, struct gb_err *err) {
	char path[64];
	gb_auto_fd int bell = open_bell(approvals);
	snprintf(path, sizeof path, "/proc/self/fd/%d/" GB_APPROVALS_BELL, approvals->dir);
	approvals->watch = bell < 0 ? -1
				    : inotify_add_watch(approvals->inotify, path,
					  IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW);
	return approvals->watch >= 0 ||
	       gb_fail(err, GB_ESYSTEM, errno,
		   "watch '%s' beside '%s' (is fs.inotify.max_user_watches reached?)", GB_APPROVALS_BELL,
		   gb_db_path(approvals->db));
}

bool gb_approvals_fd(struct gb_approvals *approvals, int *ret_fd, struct gb_err *err) {
	if (approvals->inotify < 0) {
		approvals->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (approvals->inotify < 0)
			return gb_fail(err, GB_ESYSTEM, errno,
			    "wait for decisions (is fs.inotify.max_user_instances reached?)");
		if (!watch_bell(approvals, err)) {
			gb_close_fd(&approvals->inotify);
			return false;
		}
	}
	*ret_fd = approvals->inotify;
	return true;
}

/* Read pending inotify events. If the file was removed or moved, create and watch a new one. */
static bool read_events(struct gb_approvals *approvals, struct gb_err *err) {
	_Alignas(struct inotify_event) char events[4096];
	bool is_removed = false;
	for (ssize_t n; approvals->inotify >= 0 && (n = read(approvals->inotify, events, sizeof events)) > 0;)
		for (const char *at = events; at < events + n;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			is_removed |= event->wd == approvals->watch &&
				      (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0;
			at += sizeof *event + event->len;
		}
	if (!is_removed)
		return true;
	inotify_rm_watch(approvals->inotify, approvals->watch);
	return watch_bell(approvals, err);
}

static bool read_changed(
    struct gb_approvals *approvals, struct gb_approval **ret_approval, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	if (!gb_db_prepare(approvals->db,
		"SELECT " GB_APPROVAL_COLUMNS
		" FROM approval WHERE (changed, seq) > (?, ?) ORDER BY changed, seq LIMIT 1",
		&stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, approvals->seen_changed);
	sqlite3_bind_int64(stmt, 2, approvals->seen_seq);
	if (!gb_approval_read_one(approvals, stmt, ret_approval, err))
		return false;
	if (*ret_approval) {
		approvals->seen_changed = sqlite3_column_int64(stmt, 9);
		approvals->seen_seq = (sqlite3_int64)(*ret_approval)->seq;
	}
	return true;
}

bool gb_approvals_poll(
    struct gb_approvals *approvals, gb_approval_visit visit, void *data, struct gb_err *err) {
	if (!read_events(approvals, err) || !gb_approvals_transaction(approvals, NULL, NULL, err))
		return gb_wrap(err, "check for decisions");
	for (;;) {
		gb_auto_approval struct gb_approval *approval = NULL;
		if (!read_changed(approvals, &approval, err))
			return gb_wrap(err, "check for decisions");
		if (!approval || !visit(data, approval))
			return true;
	}
}

bool gb_approvals_next_deadline(struct gb_approvals *approvals, int64_t *ret_ms, struct gb_err *err) {
	gb_auto_stmt sqlite3_stmt *stmt = NULL;
	bool row;
	if (!gb_db_prepare(approvals->db, "SELECT min(expires) FROM approval WHERE state = 0", &stmt, err) ||
	    !gb_db_step(approvals->db, stmt, &row, err))
		return false;
	*ret_ms = -1;
	if (row && sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
		int64_t left = sqlite3_column_int64(stmt, 0) - gb_approvals_now(approvals);
		*ret_ms = left > 0 ? left : 0;
	}
	return true;
}
