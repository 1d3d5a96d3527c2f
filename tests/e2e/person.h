/* Runs of glovebox, and a user at a terminal where it runs. */
#ifndef GB_TESTS_PERSON_H
#define GB_TESTS_PERSON_H

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "e2e/screen.h"
#include "tap.h"

enum { WAIT_MAX_S = 60 };

/* Run glovebox with these arguments, and return its exit status; its output is in @out. */
static inline int glovebox(char *out, size_t size, const char *arguments) {
	char command[1000];
	snprintf(command, sizeof command, "\"$GB_GLOVEBOX\" %s 2>&1 < /dev/null", arguments);
	FILE *pipe = popen(command, "re");
	size_t n = pipe ? fread(out, 1, size - 1, pipe) : 0;
	out[n] = '\0';
	int status = pipe ? pclose(pipe) : -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void expect(int status, const char *arguments, const char *words) {
	char out[10000];
	int got = glovebox(out, sizeof out, arguments);
	if (!CHECK_INT(got, status) || !CHECK(strstr(out, words)))
		printf("#   glovebox %s\n", arguments), tap_quote("said: ", out);
}

struct person {
	pid_t pid;
	int master;
	struct termios before;
	struct screen screen;
};

/* @program NULL: glovebox. */
static inline void sit_down_with(struct person *person, const char *program, const char *const *arguments) {
	const struct winsize size = {.ws_col = 100, .ws_row = 30};
	int slave;
	memset(person, 0, sizeof *person);
	CHECK(openpty(&person->master, &slave, NULL, NULL, &size) == 0);
	CHECK(tcgetattr(slave, &person->before) == 0);
	person->pid = fork();
	if (person->pid == 0) {
		close(person->master);
		login_tty(slave);
		/* As a login does: under nohup, or in the background, the tests ignore some. */
		signal(SIGHUP, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		execv(program ? program : getenv("GB_GLOVEBOX"), (char **)arguments);
		_exit(127);
	}
	close(slave);
}

static inline void sit_down(struct person *person, const char *const *arguments) {
	sit_down_with(person, NULL, arguments);
}

/* Wait until @text is on the screen. */
static inline bool sees(struct person *person, const char *text) {
	time_t deadline = time(NULL) + WAIT_MAX_S;
	bool shown;
	while (!(shown = screen_shows(&person->screen, text)) && time(NULL) < deadline) {
		struct pollfd fd = {person->master, POLLIN, 0};
		char bytes[4096];
		ssize_t n = poll(&fd, 1, 1000) > 0 ? read(person->master, bytes, sizeof bytes) : 0;
		if (n < 0 && errno != EINTR)
			break;
		screen_add(&person->screen, bytes, n > 0 ? (size_t)n : 0);
	}
	return screen_check(&person->screen, text, shown);
}

static inline void types(struct person *person, const char *keys) {
	CHECK(write(person->master, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

/* Wait until the client has switched off the echo of its terminal. */
static inline void awaits_keys(const struct person *person) {
	struct termios now = {.c_lflag = ECHO};
	for (int i = 0; i < 6000 && (now.c_lflag & ECHO); i++, usleep(10000))
		tcgetattr(person->master, &now);
	CHECK(!(now.c_lflag & ECHO));
}

/* Returns the exit status, and checks that the terminal settings are restored. */
static inline int leaves(struct person *person) {
	int status = -1;
	struct termios after;
	/* A process blocks when it restores its terminal while output is unread. */
	while (waitpid(person->pid, &status, WNOHANG) == 0) {
		struct pollfd fd = {person->master, POLLIN, 0};
		char bytes[1000];
		if (poll(&fd, 1, 20) > 0 && read(person->master, bytes, sizeof bytes) < 0)
			usleep(20000);
	}
	CHECK(tcgetattr(person->master, &after) == 0 && after.c_lflag == person->before.c_lflag &&
	      after.c_iflag == person->before.c_iflag && after.c_oflag == person->before.c_oflag);
	close(person->master);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
