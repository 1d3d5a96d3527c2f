/* Another process that keeps a database locked until the test releases it. */
#ifndef GB_TESTS_LOCKER_H
#define GB_TESTS_LOCKER_H

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct locker {
	pid_t pid;
	int fd;
};

/* Reads names of files; an empty one releases the lock. Answers each with a byte. */
static inline void locker_serve(int fd) {
	char file[400];
	sqlite3 *db = NULL;
	for (ssize_t n; (n = recv(fd, file, sizeof file, 0)) > 0;) {
		sqlite3_close(db);
		db = NULL;
		if (*file && (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
				 sqlite3_busy_timeout(db, 10000) != SQLITE_OK ||
				 sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK))
			_exit(1);
		if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

/* Call it before a gate is opened: a process with threads must not fork without exec. */
static inline struct locker locker_start(void) {
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		locker_serve(fds[1]);
	}
	close(fds[1]);
	return (struct locker){pid, fds[0]};
}

/* Returns when @file is locked, or with "" when the lock is released. */
static inline bool locker_lock(struct locker *locker, const char *file) {
	char done;
	return send(locker->fd, file, strlen(file) + 1, MSG_NOSIGNAL) > 0 &&
	       recv(locker->fd, &done, 1, 0) == 1;
}

static inline bool locker_release(struct locker *locker) {
	return locker_lock(locker, "");
}

static inline void locker_end(struct locker *locker) {
	close(locker->fd);
	waitpid(locker->pid, NULL, 0);
}
#define auto_locker __attribute__((cleanup(locker_end)))

#endif
