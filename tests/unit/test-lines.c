#include "server/lines.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "tap.h"

enum { LINE_MAX_HERE = 10 };

struct peer {
	struct gb_lines lines;
	struct gb_loop loop;
	int fd;             /* the peer's descriptor */
	char seen[1 << 12]; /* received lines, each followed by '|'; '!' for one that is too long */
	int pause_after;    /* this number of lines; 0: never */
	int n_lines, n_ends;
};

static void on_line(struct gb_lines *lines, const char *line, size_t n) {
	struct peer *peer = gb_container(struct peer, lines, lines);
	size_t used = strlen(peer->seen);
	bool fits = n <= lines->line_max;
	snprintf(peer->seen + used, sizeof peer->seen - used, "%.*s|", fits ? (int)n : 1, fits ? line : "!");
	if (++peer->n_lines == peer->pause_after)
		gb_lines_pause(lines);
}

static void on_end(struct gb_lines *lines) {
	gb_container(struct peer, lines, lines)->n_ends++;
}

static void set_up_with(struct peer *peer, int in, int out, size_t line_max) {
	signal(SIGPIPE, SIG_IGN);
	CHECK(gb_loop_init(&peer->loop, NULL));
	gb_lines_init(&peer->lines, &peer->loop, in, out, line_max);
	peer->lines.on_line = on_line;
	peer->lines.on_end = on_end;
	CHECK(gb_lines_start(&peer->lines, NULL));
}

static void set_up(struct peer *peer, size_t line_max) {
	int pair[2];
	*peer = (struct peer){0};
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	peer->fd = pair[1];
	set_up_with(peer, pair[0], dup(pair[0]), line_max);
}

static void tear_down(struct peer *peer) {
	gb_lines_finish(&peer->lines);
	gb_loop_finish(&peer->loop);
	if (peer->fd >= 0)
		close(peer->fd);
}

static void say(struct peer *peer, const char *text) {
	CHECK(write(peer->fd, text, strlen(text)) == (ssize_t)strlen(text));
	while (gb_loop_dispatch(&peer->loop, 0) > 0)
		;
}

TEST(lines_do_not_depend_on_read_boundaries) {
	struct peer peer;
	set_up(&peer, LINE_MAX_HERE);
	say(&peer, "one\ntwo\n\nth");
	CHECK_STR(peer.seen, "one|two||");
	say(&peer, "r");
	say(&peer, "ee\nfour\nf");
	CHECK_STR(peer.seen, "one|two||three|four|");
	CHECK_INT(peer.n_ends, 0);
	tear_down(&peer);
}

TEST(a_line_that_is_too_long_is_reported_once_and_skipped) {
	struct peer peer;
	set_up(&peer, LINE_MAX_HERE);
	say(&peer, "0123456789\n0123456789a\nb\n");
	CHECK_STR(peer.seen, "0123456789|!|b|");
	peer.seen[0] = '\0';
	say(&peer, "0123456789");
	CHECK_STR(peer.seen, "");
	say(&peer, "a");
	CHECK_STR(peer.seen, "!|");
	say(&peer, "more");
	say(&peer, "0123456789a0123456789a");
	say(&peer, "the end\nc\nd");
	CHECK_STR(peer.seen, "!|c|");
	say(&peer, "\n");
	CHECK_STR(peer.seen, "!|c|d|");
	tear_down(&peer);
}

TEST(text_without_a_final_newline_is_ignored) {
	struct peer peer;
	set_up(&peer, LINE_MAX_HERE);
	say(&peer, "one\ntw");
	close(peer.fd);
	peer.fd = -1;
	gb_loop_dispatch(&peer.loop, 0);
	gb_loop_dispatch(&peer.loop, 0);
	CHECK_STR(peer.seen, "one|");
	CHECK_INT(peer.n_ends, 1);
	tear_down(&peer);
}

TEST(a_pause_also_applies_to_buffered_lines) {
	struct peer peer;
	set_up(&peer, LINE_MAX_HERE);
	peer.pause_after = 2;
	say(&peer, "a\nb\nc\nd\ne");
	CHECK_STR(peer.seen, "a|b|");
	say(&peer, "e\nf\n");
	CHECK_STR(peer.seen, "a|b|");
	gb_lines_resume(&peer.lines);
	CHECK_STR(peer.seen, "a|b|c|d|");
	say(&peer, "g\n");
	CHECK_STR(peer.seen, "a|b|c|d|ee|f|g|");
	tear_down(&peer);
}

TEST(descriptors_that_cannot_be_polled_are_read_to_their_end) {
	struct peer peer = {.fd = -1};
	char path[] = "/tmp/gb-lines-XXXXXX";
	int file = mkstemp(path);
	CHECK(write(file, "a\nb\n", 4) == 4 && lseek(file, 0, SEEK_SET) == 0);
	unlink(path);
	set_up_with(&peer, file, open("/dev/null", O_WRONLY | O_CLOEXEC), LINE_MAX_HERE);
	for (int i = 0; i < 4; i++)
		gb_loop_dispatch(&peer.loop, 0);
	CHECK_STR(peer.seen, "a|b|");
	CHECK_INT(peer.n_ends, 1);
	gb_buf_printf(gb_lines_begin(&peer.lines), "x");
	CHECK(gb_lines_end(&peer.lines));
	gb_lines_flush(&peer.lines);
	CHECK_INT(gb_lines_waiting(&peer.lines), 0);
	tear_down(&peer);
}

TEST(a_line_that_does_not_fit_is_not_written_partially) {
	struct peer peer;
	char got[64] = "";
	set_up(&peer, LINE_MAX_HERE);
	gb_buf_printf(gb_lines_begin(&peer.lines), "one");
	CHECK(gb_lines_end(&peer.lines));
	gb_buf_printf(gb_lines_begin(&peer.lines), "0123456789a");
	CHECK(!gb_lines_end(&peer.lines));
	gb_buf_printf(gb_lines_begin(&peer.lines), "to be dropped");
	gb_lines_drop(&peer.lines);
	gb_buf_printf(gb_lines_begin(&peer.lines), "012345678");
	CHECK(gb_lines_end(&peer.lines));
	gb_lines_flush(&peer.lines);
	CHECK_INT(read(peer.fd, got, sizeof got - 1), 14);
	CHECK_STR(got, "one\n012345678\n");
	tear_down(&peer);
}

TEST(output_is_buffered_while_the_peer_does_not_read) {
	enum { N = 3000, WIDTH = 1000 };
	struct peer peer;
	static char got[N * WIDTH];
	set_up(&peer, WIDTH);
	for (int i = 0; i < N; i++) {
		gb_buf_printf(gb_lines_begin(&peer.lines), "%0*d", WIDTH - 1, i);
		CHECK(gb_lines_end(&peer.lines));
		gb_lines_flush(&peer.lines);
	}
	CHECK(gb_lines_waiting(&peer.lines) > N * WIDTH / 2);
	size_t n = 0;
	while (n < sizeof got) {
		ssize_t now = read(peer.fd, got + n, sizeof got - n);
		if (!CHECK(now > 0))
			break;
		n += (size_t)now;
		gb_loop_dispatch(&peer.loop, 0);
	}
	CHECK_INT(gb_lines_waiting(&peer.lines), 0);
	for (int i = 0; i < N; i++) {
		char *line = got + (size_t)i * WIDTH;
		CHECK(line[WIDTH - 1] == '\n');
		line[WIDTH - 1] = '\0';
		CHECK_INT(strtol(line, NULL, 10), i);
	}
	tear_down(&peer);
}

TEST(a_closed_peer_is_detected_by_writing_too) {
	struct peer peer;
	set_up(&peer, LINE_MAX_HERE);
	close(peer.fd);
	peer.fd = -1;
	gb_buf_printf(gb_lines_begin(&peer.lines), "x");
	CHECK(gb_lines_end(&peer.lines));
	gb_lines_flush(&peer.lines);
	CHECK(peer.lines.broken);
	CHECK_INT(peer.n_ends, 1);
	gb_buf_printf(gb_lines_begin(&peer.lines), "y");
	CHECK(gb_lines_end(&peer.lines));
	CHECK_INT(gb_lines_waiting(&peer.lines), 0);
	tear_down(&peer);
}

TEST(descriptor_flags_are_restored) {
	struct peer peer;
	set_up(&peer, LINE_MAX_HERE);
	int other = dup(peer.lines.in);
	CHECK(fcntl(other, F_GETFL) & O_NONBLOCK);
	gb_lines_finish(&peer.lines);
	CHECK(!(fcntl(other, F_GETFL) & O_NONBLOCK));
	gb_loop_finish(&peer.loop);
	close(other);
	close(peer.fd);
}
