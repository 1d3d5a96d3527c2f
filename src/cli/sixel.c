#include "cli/sixel.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "glovebox/glovebox.h"
#include "sixel_program.h"

enum {
	ANSWER_MS = 2000,
	PICTURE_MAX = 8 << 20,
	SIXELS_MAX = 32 << 20,
	MEMORY = 256 << 20,
	TIMEOUT_MS = 20000
};

/* "ESC [ ? 62 ; 4 ; 22 c": attributes, of which 4 is sixels. */
static bool has_sixels(const char *answer) {
	const char *at = strstr(answer, "\033[?");
	if (!at)
		return false;
	for (at += 2; *at == '?' || *at == ';'; at += strspn(at, "0123456789")) {
		at++;
		if (strspn(at, "0123456789") == 1 && *at == '4')
			return true;
	}
	return false;
}

static void read_answer(int tty, char *answer, size_t n) {
	size_t have = 0;
	while (have + 1 < n && !memchr(answer, 'c', have)) {
		ssize_t more = poll(&(struct pollfd){tty, POLLIN, 0}, 1, ANSWER_MS) > 0
				   ? read(tty, answer + have, n - 1 - have)
				   : 0;
		if (more <= 0)
			break;
		have += (size_t)more;
	}
	answer[have] = '\0';
}

bool sixel_terminal(void) {
	gb_auto_fd int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios before, raw;
	char answer[128];
	/* Only who is in the foreground may ask: others would be stopped. */
	if (tty < 0 || !isatty(STDOUT_FILENO) || tcgetpgrp(tty) != getpgrp() || tcgetattr(tty, &before) != 0)
		return false;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	if (tcsetattr(tty, TCSANOW, &raw) != 0)
		return false;
	bool asked = write(tty, "\033[c", 3) == 3;
	if (asked)
		read_answer(tty, answer, sizeof answer);
	tcsetattr(tty, TCSANOW, &before);
	return asked && has_sixels(answer);
}

bool sixel_is_clean(const char *text, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (!(text[i] >= '?' && text[i] <= '~') && !(text[i] >= '0' && text[i] <= '9') &&
		    !strchr("\"#;!$-", text[i]))
			return false;
	return n > 0 && !memchr(text, '\0', n);
}

static bool print_sixels(const struct gb_result *result) {
	if (!result || result->status != GB_SUCCESS || result->truncated ||
	    !sixel_is_clean(result->stdout_text, result->stdout_bytes))
		return false;
	printf("\033Pq%.*s\033\\\n", (int)result->stdout_bytes, result->stdout_text);
	return true;
}

bool sixel_draw(const char *png, size_t n) {
	struct gb_engine *engine;
	struct gb_run *run;
	const struct gb_engine_options one = {
	    .shards = 1, .warm = GB_NONE, .max_runs = 1, .ready = 1u << GB_PYTHON};
	struct gb_values *values = n <= PICTURE_MAX ? gb_values_create(2ul * PICTURE_MAX) : NULL;
	if (!values || !gb_engine_create(&one, &engine, NULL)) {
		gb_values_destroy(values);
		return false;
	}
	struct gb_value *files = gb_value_object(values);
	gb_value_put_key(files, "picture.png", gb_value_buffer(values, png, n));
	const struct gb_run_options options = {.source = gb_py_sources[0].source,
	    .language = GB_PYTHON,
	    .files = files,
	    .memory_bytes = MEMORY,
	    .output_bytes = SIXELS_MAX,
	    .timeout_ms = TIMEOUT_MS};
	bool drawn = false;
	if (gb_run_start(engine, &options, &run, NULL)) {
		drawn = print_sixels(gb_run_wait(run));
		gb_run_destroy(run);
	}
	gb_engine_destroy(engine);
	gb_values_destroy(values);
	return drawn;
}
