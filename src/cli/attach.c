#include "cli/attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"

enum { LEAVE_KEY = 0x1d, STEP = 4096, SHOWN_MAX = 256 << 20 };

void attach_begin(struct attach *attach) {
	const char *term = getenv("TERM");
	attach->screen.is_used = isatty(attach->out) && term && *term && strcmp(term, "dumb") != 0;
	attach_screen_enter(&attach->screen, attach->out);
}

void attach_show(struct attach *attach, const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, SHOWN_MAX);
	attach_screen_filter(&attach->screen, bytes, n, &out);
	(void)gb_write_all(attach->out, out.data, out.len);
}

static bool tell_size(const struct attach *attach) {
	struct winsize size;
	if (ioctl(attach->in, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
		return true;
	return attach->resize(attach->data, size.ws_col, size.ws_row);
}

/* Returns true to continue; else *ret is the reason. */
static bool take_keys(const struct attach *attach, enum attach_end *ret) {
	char bytes[STEP];
	size_t n = 0;
	ssize_t got = 0;
	bool is_left = false;
	struct pollfd more = {attach->in, POLLIN, 0};
	/* One by one: what was typed after the key that leaves is for the next program. */
	while (n < sizeof bytes && !is_left && (n == 0 || poll(&more, 1, 0) > 0)) {
		got = read(attach->in, bytes + n, 1);
		if (got <= 0)
			break;
		is_left = bytes[n] == LEAVE_KEY;
		n += !is_left;
	}
	if (got < 0 && n == 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	bool is_open = n == 0 || attach->send(attach->data, bytes, n);
	/* The terminal was closed, or the key was pressed. */
	*ret = is_open ? ATTACH_LEFT : ATTACH_OVER;
	return is_open && !is_left && got > 0;
}

static bool take_signals(const struct attach *attach, int signals, enum attach_end *ret) {
	struct signalfd_siginfo info;
	while (read(signals, &info, sizeof info) == sizeof info) {
		*ret = info.ssi_signo == SIGWINCH ? ATTACH_OVER : ATTACH_SIGNAL;
		if (info.ssi_signo != SIGWINCH || !tell_size(attach))
			return false;
	}
	return true;
}

static enum attach_end forward(const struct attach *attach, int signals) {
	enum attach_end end = ATTACH_OVER;
	struct pollfd fds[] = {{signals, POLLIN, 0}, {attach->fd, POLLIN, 0}, {attach->in, POLLIN, 0}};
	if (!tell_size(attach))
		return end;
	for (;;) {
		if (poll(fds, GB_COUNT(fds), -1) < 0 && errno != EINTR)
			return ATTACH_OVER;
		if (fds[0].revents && !take_signals(attach, signals, &end))
			return end;
		if (fds[1].revents && !attach->on_ready(attach->data))
			return ATTACH_OVER;
		if (fds[2].revents && !take_keys(attach, &end))
			return end;
	}
}

/* Read signals from a descriptor, so that none ends this process while the terminal is in raw mode. */
static int block_signals(sigset_t *ret_before) {
	static const int held[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < GB_COUNT(held); i++)
		sigaddset(&set, held[i]);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum attach_end attach_run(struct attach *attach, struct gb_err *err) {
	struct termios before, raw;
	sigset_t mask;
	if (tcgetattr(attach->in, &before) != 0) {
		gb_fail(err, GB_EINVAL, errno, "attaching needs a terminal");
		return ATTACH_FAILED;
	}
	gb_auto_fd int signals = block_signals(&mask);
	enum attach_end end = ATTACH_FAILED;
	raw = before;
	cfmakeraw(&raw);
	if (signals < 0 || tcsetattr(attach->in, TCSADRAIN, &raw) != 0)
		gb_fail(err, GB_ESYSTEM, errno, "the terminal cannot be set to raw mode");
	else
		end = forward(attach, signals);
	attach_screen_leave(&attach->screen, attach->out);
	tcsetattr(attach->in, attach->screen.asked ? TCSAFLUSH : TCSADRAIN, &before);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return end;
}
