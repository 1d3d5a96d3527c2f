/* A picture on a terminal that draws sixels: a pseudo-terminal that says it is one. */
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sixel.h"
#include "tap.h"

enum { SCREEN_MAX = 1 << 20 };

/* A red picture of eight by eight. */
static const char program[] =
    "import struct, zlib\n"
    "def chunk(name, body): return struct.pack('>I', len(body)) + name + body + struct.pack('>I', "
    "zlib.crc32(name + body))\n"
    "png = (b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 8, 8, 8, 2, 0, 0, 0))\n"
    "       + chunk(b'IDAT', zlib.compress((b'\\0' + b'\\xff\\0\\0' * 8) * 8)) + chunk(b'IEND', b''))\n"
    "display({'image/png': png}, raw=True)\n";

/* What the program has written to a terminal that answers @attributes when it is asked for them. */
static size_t watch(const char *source, const char *attributes, char *screen) {
	int terminal;
	pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
	if (pid == 0) {
		unsetenv("KITTY_WINDOW_ID");
		unsetenv("TERM_PROGRAM");
		setenv("TERM", "xterm", 1);
		execl(getenv("GB_GLOVEBOX"), "glovebox", "run", "-l", "python", "-e", source, (char *)NULL);
		_exit(1);
	}
	size_t n = 0;
	bool answered = false;
	ssize_t more;
	while (n < SCREEN_MAX - 1 && (more = read(terminal, screen + n, SCREEN_MAX - 1 - n)) > 0) {
		n += (size_t)more;
		screen[n] = '\0';
		if (!answered && strstr(screen, "\033[c"))
			answered = write(terminal, attributes, strlen(attributes)) >= 0;
	}
	close(terminal);
	waitpid(pid, NULL, 0);
	return n;
}

TEST(a_terminal_that_can_draws_the_picture) {
	static char screen[SCREEN_MAX];
	watch(program, "\033[?62;4;22c", screen);
	CHECK(strstr(screen, "\033Pq\"1;1;8;8"));
	/* Six lines of eight red pixels, then two; 180 is red. */
	CHECK(strstr(screen, "#180!8~-#180!8B-"));
	CHECK(strstr(screen, "\033\\"));
}

TEST(one_that_cannot_names_it) {
	static char screen[SCREEN_MAX];
	watch(program, "\033[?62;22;14c", screen);
	CHECK(!strstr(screen, "\033P"));
	CHECK(strstr(screen, "[image/png"));
}

TEST(what_is_no_picture_is_named) {
	static char screen[SCREEN_MAX];
	watch("display({'image/png': b'\\x89PNG no'}, raw=True)", "\033[?4c", screen);
	CHECK(!strstr(screen, "\033P"));
	CHECK(strstr(screen, "[image/png"));
}

TEST(only_sixels_reach_the_terminal) {
	CHECK(sixel_is_clean("#1;2;0;0;0!8~$-", 15));
	CHECK(!sixel_is_clean("#1\033]0;title\a", 12));
	CHECK(!sixel_is_clean("#1\0!8~", 6));
	CHECK(!sixel_is_clean("#1\x9c", 3));
	CHECK(!sixel_is_clean("", 0));
}
