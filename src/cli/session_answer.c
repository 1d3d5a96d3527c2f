/* Forwards keys to the code that runs in a session. The session's terminal echoes them, or does not while it
 * reads a password. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/wake.h"

enum { STEP = 4096, NEXT_LINE_MS = 200 };

static struct {
	bool captured;
	uint64_t paused_until;
	struct termios before;
} terminal;

void session_answer_end(void) {
	if (terminal.captured)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
	terminal.captured = false;
}

static void on_end_signal(int number) {
	session_answer_end();
	signal(number, SIG_DFL);
	raise(number);
}

bool session_answer_begin(const struct session_job *job) {
	static const int ends[] = {SIGTERM, SIGHUP, SIGQUIT};
	terminal.paused_until = 0;
	if (terminal.captured)
		return true;
	if (job->json || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &terminal.before) != 0)
		return false;
	for (size_t i = 0; i < GB_COUNT(ends) && !job->interactive; i++)
		signal(ends[i], on_end_signal);
	struct termios keys = terminal.before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	keys.c_cc[VSUSP] = _POSIX_VDISABLE;
	terminal.captured = true;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) != 0)
		session_answer_end();
	return terminal.captured;
}

/* Read at most one line, so that the lines after it stay in the terminal: for the next prompt of the code, or, if the
 * code ends, for the program that reads the terminal next. */
static size_t read_keys(char *keys, size_t room) {
	size_t n = 0;
	struct pollfd more = {STDIN_FILENO, POLLIN, 0};
	while (n < room && (n == 0 || (keys[n - 1] != '\n' && poll(&more, 1, 0) > 0))) {
		ssize_t got = read(STDIN_FILENO, keys + n, 1);
		if (got <= 0)
			break;
		n++;
	}
	return n;
}

/* False at the end of the input. *ret_pause: a line was sent. */
static bool forward_keys(struct session_client *client, const char *session, bool *ret_pause) {
	char keys[STEP];
	errno = 0;
	size_t n = read_keys(keys, sizeof keys);
	if (n == 0)
		return errno == EINTR || errno == EAGAIN;
	*ret_pause = keys[n - 1] == '\n';
	return session_send_keys(client, session, keys, n);
}

/* @paused: after a line, further keys wait until the code asks again or has ended, but not longer than
 * NEXT_LINE_MS: not every program is seen to wait. */
void session_answer_until_message(struct session_client *client, const char *session) {
	struct pollfd fds[] = {{client->fd, POLLIN, 0}, {wake_fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
	while (terminal.captured && !session_has_line(client)) {
		uint64_t now = gb_now_ns();
		bool is_paused = now < terminal.paused_until;
		int wait_ms = is_paused ? (int)((terminal.paused_until - now) / 1000000) + 1 : -1;
		bool pause = false;
		int ready = poll(fds, is_paused ? 2 : GB_COUNT(fds), wait_ms);
		const bool signalled = ready < 0 ? errno == EINTR : ready && fds[1].revents;
		if (signalled) {
			wake_clear();
			if (client->on_interrupt)
				client->on_interrupt(client);
		}
		/* A signal does not end the pause; what else is ready is so in the next turn, too. */
		if (ready <= 0 || signalled)
			continue;
		if (fds[0].revents)
			return;
		if (!is_paused && fds[2].revents && !forward_keys(client, session, &pause))
			session_answer_end();
		terminal.paused_until = pause ? gb_now_ns() + NEXT_LINE_MS * 1000000ull : 0;
	}
}

/* The only control sequence that is passed on is the erasure of a typed character. */
void session_answer_show(int stream, const char *text, size_t n) {
	static const char back[] = "\b \b";
	const char *found;
	while (terminal.captured && (found = memmem(text, n, back, sizeof back - 1))) {
		size_t before = (size_t)(found - text);
		show_output(stream, text, before);
		(void)!write(stream, back, sizeof back - 1);
		text += before + sizeof back - 1;
		n -= before + sizeof back - 1;
	}
	show_output(stream, text, n);
}
