/* Forwards keys to the code that runs in a session. The session's terminal echoes them, or does not while it
 * reads a password. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/session.h"
#include "cli/show.h"

enum { STEP = 4096 };

static struct {
	bool captured;
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
	if (terminal.captured)
		return true;
	if (job->json || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &terminal.before) != 0)
		return false;
	for (size_t i = 0; i < GB_COUNT(ends); i++)
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

/* False at the end of the input. */
static bool forward_keys(struct session_client *client, const char *session) {
	char keys[STEP];
	ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	return session_send_keys(client, session, keys, (size_t)n);
}

void session_answer_until_message(struct session_client *client, const char *session) {
	struct pollfd fds[] = {{client->fd, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
	while (terminal.captured && !session_has_line(client)) {
		if (poll(fds, GB_COUNT(fds), -1) < 0) {
			if (errno == EINTR && client->on_interrupt)
				client->on_interrupt(client);
			continue;
		}
		if (fds[0].revents)
			return;
		if (fds[1].revents && !forward_keys(client, session))
			session_answer_end();
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
