#include "cli/attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"

enum { LEAVE_KEY = 0x1d, STEP = 4096 };

void attach_show(const struct attach *attach, const char *bytes, size_t n) {
	(void)gb_write_all(attach->out, bytes, n);
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
	ssize_t n = read(attach->in, bytes, sizeof bytes);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	/* The terminal was closed, or the key was pressed. */
	*ret = ATTACH_LEFT;
	if (n <= 0)
		return false;
	const char *key = memchr(bytes, LEAVE_KEY, (size_t)n);
	size_t before = key ? (size_t)(key - bytes) : (size_t)n;
	if (before > 0 && !attach->send(attach->data, bytes, before)) {
		*ret = ATTACH_OVER;
		return false;
	}
	return !key;
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

enum attach_end attach_run(const struct attach *attach, struct gb_err *err) {
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
	/* Reset modes that a remote program has set; TCSAFLUSH below also discards unread keys. */
	static const char calm[] = "\033[?2004l\033[?1l\033>\033[?1049l\033[?25h\033[0m\r";
	if (end != ATTACH_FAILED)
		attach_show(attach, calm, sizeof calm - 1);
	tcsetattr(attach->in, TCSAFLUSH, &before);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return end;
}
