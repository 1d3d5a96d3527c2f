/* Attaching the terminal of the process, and restoring its settings. */
#include "cli/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "base/cleanup.h"
#include "tap.h"

/* The process under test at the terminal; the test talks to it through pipes. */
struct scene {
	int master, slave;
	int said;   /* the calls of the callbacks, as text */
	int remote; /* the output of the remote terminal; closed: the attachment has ended */
	pid_t pid;
	struct termios before;
};

static int tell, shown;
static struct attach attach;

static bool on_ready(void *data) {
	char bytes[100];
	(void)data;
	ssize_t n = read(shown, bytes, sizeof bytes);
	if (n > 0)
		attach_show(&attach, bytes, (size_t)n);
	return n > 0;
}

static bool send_keys(void *data, const char *bytes, size_t n) {
	(void)data;
	return dprintf(tell, "keys %.*s\n", (int)n, bytes) > 0;
}

static bool resize(void *data, unsigned columns, unsigned rows) {
	(void)data;
	return dprintf(tell, "size %u %u\n", columns, rows) > 0;
}

static void be_there(int slave) {
	login_tty(slave);
	attach = (struct attach){
	    .in = 0, .out = 1, .fd = shown, .on_ready = on_ready, .send = send_keys, .resize = resize};
	enum attach_end end = attach_run(&attach, NULL);
	/* The signal mask is restored: a blocked signal is delivered again. */
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	_exit(sigismember(&mask, SIGWINCH) ? 99 : (int)end);
}

static bool hear(struct scene *scene, const char *expected) {
	char line[200] = "";
	size_t n = 0;
	while (n < sizeof line - 1 && read(scene->said, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	return CHECK_STR(line, expected);
}

static void begin(struct scene *scene) {
	const struct winsize size = {.ws_col = 100, .ws_row = 30};
	int says[2], shows[2];
	CHECK(openpty(&scene->master, &scene->slave, NULL, NULL, &size) == 0);
	CHECK(pipe2(says, O_CLOEXEC) == 0 && pipe2(shows, O_CLOEXEC) == 0);
	CHECK(tcgetattr(scene->slave, &scene->before) == 0);
	tell = says[1];
	shown = shows[0];
	scene->said = says[0];
	scene->remote = shows[1];
	scene->pid = fork();
	if (scene->pid == 0) {
		close(scene->remote);
		be_there(scene->slave);
	}
	close(tell);
	close(shown);
	hear(scene, "size 100 30");
}

/* Returns how the process ended, and checks that the terminal settings are restored. */
static int end(struct scene *scene) {
	int status = -1;
	struct termios after;
	CHECK(waitpid(scene->pid, &status, 0) == scene->pid);
	CHECK(tcgetattr(scene->slave, &after) == 0 && after.c_lflag == scene->before.c_lflag &&
	      after.c_iflag == scene->before.c_iflag && after.c_oflag == scene->before.c_oflag);
	close(scene->master);
	close(scene->slave);
	close(scene->said);
	if (scene->remote >= 0)
		close(scene->remote);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void type(struct scene *scene, const char *keys) {
	CHECK(write(scene->master, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

TEST(keys_are_sent_and_output_is_shown) {
	struct scene scene;
	char text[100] = "";
	struct termios now;
	begin(&scene);
	CHECK(tcgetattr(scene.slave, &now) == 0 && !(now.c_lflag & (ICANON | ECHO | ISIG)));
	type(&scene, "ls\r");
	hear(&scene, "keys ls\r");
	/* Ctrl-C and Ctrl-Z are sent like other keys. */
	type(&scene, "\003\032");
	hear(&scene, "keys \003\032");
	CHECK(write(scene.remote, "shown\r\n", 7) == 7);
	CHECK(read(scene.master, text, sizeof text - 1) == 7);
	CHECK_STR(text, "shown\r\n");
	type(&scene, "last\035never");
	hear(&scene, "keys last");
	CHECK_INT(end(&scene), ATTACH_LEFT);
}

TEST(a_resize_is_reported) {
	struct scene scene;
	begin(&scene);
	CHECK(ioctl(scene.master, TIOCSWINSZ, &(struct winsize){.ws_col = 132, .ws_row = 50}) == 0);
	hear(&scene, "size 132 50");
	type(&scene, "\035");
	CHECK_INT(end(&scene), ATTACH_LEFT);
}

TEST(signals_restore_the_terminal) {
	static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct scene scene;
		begin(&scene);
		kill(scene.pid, signals[i]);
		CHECK_INT(end(&scene), ATTACH_SIGNAL);
	}
}

TEST(the_remote_side_may_end_the_attachment) {
	struct scene scene;
	begin(&scene);
	close(scene.remote);
	scene.remote = -1;
	CHECK_INT(end(&scene), ATTACH_OVER);
}

TEST(standard_streams_must_be_a_terminal) {
	struct gb_err err = {0};
	int ends[2];
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	attach = (struct attach){.in = ends[0],
	    .out = ends[1],
	    .fd = -1,
	    .on_ready = on_ready,
	    .send = send_keys,
	    .resize = resize};
	CHECK_INT(attach_run(&attach, &err), ATTACH_FAILED);
	CHECK(strstr(err.message, "attaching needs a terminal"));
	close(ends[0]);
	close(ends[1]);
}

/* --- the screen --- */

static void check_screen(const char *given, const char *expected, bool asked) {
	/* In one piece, and byte by byte. */
	for (size_t step = 1; step < 100; step += 98) {
		struct attach_screen screen = {.is_used = true, .is_entered = true};
		gb_auto_buf struct gb_buf out;
		gb_buf_init(&out, 1000);
		for (size_t at = 0; at < strlen(given); at += step)
			attach_screen_filter(
			    &screen, given + at, strlen(given) - at < step ? strlen(given) - at : step, &out);
		const char *text = gb_buf_c_str(&out);
		if (!CHECK_STR(text ? text : "", expected) || !CHECK(screen.asked == asked))
			tap_quote("given: ", given);
	}
}

TEST(output_does_not_leave_the_screen_that_was_entered) {
	check_screen("plain\r\n\033[1mbold\033[0m", "plain\r\n\033[1mbold\033[0m", false);
	check_screen("a\033[?1049lb", "a\033[2J\033[Hb", false);
	check_screen("a\033[?1049hb\033[?47l", "a\033[2J\033[Hb\033[2J\033[H", false);
	check_screen("\033[?25;1049;7l.", "\033[?25;7l\033[2J\033[H.", false);
	check_screen("\033[?2004h\033[?25l", "\033[?2004h\033[?25l", false);
	check_screen("\033\033[?1049h", "\033\033[2J\033[H", false);
}

TEST(output_that_terminals_answer_is_noticed) {
	static const char *const questions[] = {"\033[6n", "\033[c", "\033[>c", "\033[?1003h", "\033[21t",
	    "\033P$qm\033\\", "\033]10;?\007", "\005", "\033Z", "\033[?1$p", "\302\2336n"};
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
		check_screen(questions[i], questions[i], true);
}
