#include "runtime/shell/tty.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { COLUMNS = 80, ROWS = 24 };

static void must(bool ok) {
	if (!ok)
		_exit(1);
}

void gb_tty_open(struct gb_tty *tty, bool raw) {
	struct stat st;
	int unlocked = 0;
	tty->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	must(tty->master >= 0 && ioctl(tty->master, TIOCSPTLCK, &unlocked) == 0);
	tty->slave = ioctl(tty->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(tty->slave >= 0 && fstat(tty->slave, &st) == 0 && tcgetattr(tty->slave, &tty->normal) == 0);
	tty->device = st.st_rdev;
	if (raw)
		cfmakeraw(&tty->normal);
	else
		tty->normal.c_oflag &= ~(tcflag_t)ONLCR;
	tty->normal.c_iflag |= raw ? 0 : IUTF8;
	/* Keep queued output on an interrupt. */
	tty->normal.c_lflag |= NOFLSH;
	must(tcsetattr(tty->slave, TCSANOW, &tty->normal) == 0);
	gb_tty_resize(tty, COLUMNS, ROWS);
}

void gb_tty_close(struct gb_tty *tty) {
	gb_close_fd(&tty->slave);
	gb_close_fd(&tty->master);
}

void gb_tty_for_people(struct gb_tty *tty, bool people) {
	struct termios now;
	const tcflag_t flag = ONLCR;
	tty->normal.c_oflag = people ? tty->normal.c_oflag | flag : tty->normal.c_oflag & ~flag;
	if (tcgetattr(tty->slave, &now) != 0)
		return;
	now.c_oflag = people ? now.c_oflag | flag : now.c_oflag & ~flag;
	tcsetattr(tty->slave, TCSANOW, &now);
}

void gb_tty_hide_typed(const struct gb_tty *tty) {
	struct termios quiet = tty->normal;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(tty->slave, TCSANOW, &quiet);
}

void gb_tty_restore(const struct gb_tty *tty) {
	tcsetattr(tty->slave, TCSANOW, &tty->normal);
	tcflush(tty->slave, TCIFLUSH);
}

void gb_tty_resize(const struct gb_tty *tty, unsigned columns, unsigned rows) {
	const struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
	ioctl(tty->master, TIOCSWINSZ, &size);
}

void gb_tty_interrupt(const struct gb_tty *tty) {
	struct termios now;
	pid_t group = tcgetpgrp(tty->master);
	tcflush(tty->slave, TCIFLUSH);
	if (tcgetattr(tty->slave, &now) == 0 && (now.c_lflag & ISIG) && now.c_cc[VINTR] &&
	    write(tty->master, &now.c_cc[VINTR], 1) == 1)
		return;
	if (group > 1)
		kill(-group, SIGINT);
}
