/*
 * A session: one interactive bash on a terminal, from run to run.
 *
 * When a shell has done what it was told, it is about to show its prompt, and for that runs
 * PROMPT_GB_SHELL_COMMAND. Ours says so, with the exit code, and waits to be told what to do next: on a
 * second terminal, the wire, that is opened by its name for just that and closed again, so that commands find
 * no descriptor of it. Whatever a command does, short of ending the shell, ends there: an error that a shell
 * gives up its command for, or an interrupt, too.
 *
 * The wire says how far the shell is, the terminal what was written up to then: all of that is to be read
 * once the wire has reported, since reading the terminal fetches bytes that are still in transit.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/program/post.h"
#include "runtime/shell/awaiting.h"
#include "runtime/shell/shell.h"
#include "runtime/shell/tty.h"
#include "runtime/shell/waiting.h"
#include "value/cbor.h"

#define MS 1000000ull

enum {
	STEP = 16 << 10,
	TYPED_MAX = 4 << 20,
	KEPT_MAX = 64 << 10,  /* of what is written between runs */
	LAST_MAX = 256 << 10, /* more than a terminal can hold of what was written before the wire spoke */
	SCRIPT_MAX = 256 << 20,
	CALL_MS = 100,
	LOOK_MS = 10, /* whether it can be called */
	UNASKED_MAX = 64,
	INTERRUPTED = 130, /* a shell's number for it */
};

static struct {
	struct gb_tty terminal, wire;
	enum { STARTING, READY, RUNNING, AT_PROMPT } shell;
	bool attached;
	bool wanted;             /* by a run, which comes before whoever is attached */
	uint64_t called_at;      /* when it was called away from its prompt; 0: it was not */
	bool unheard;            /* what the terminal shows is of our own making */
	unsigned turn;           /* of the shell's last question */
	unsigned number, status; /* of the command that is run */
	char word[64];           /* what the wire has said, up to the end of a line */
	size_t n_word;
	struct gb_buf typed, kept;
	bool kept_all;
	struct gb_awaiting awaiting;
	bool interrupted; /* what runs, at least once */
} console = {.terminal = {.master = -1, .slave = -1}, .wire = {.master = -1, .slave = -1}};

/* --- the shell's side --- */

static bool write_file(const char *path, const char *text, size_t n) {
	unlink(path);
	gb_auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0 && gb_write_all(fd, text, n);
}

/* Answer the last question. */
static void tell_shell(const char *word) {
	char line[40];
	int n = snprintf(line, sizeof line, "%u %s\n", console.turn, word);
	if (write(console.wire.master, line, (size_t)n) != n)
		_exit(1);
}

static void tell_number(void) {
	char number[16];
	snprintf(number, sizeof number, "%u", console.number);
	tell_shell(number);
}

/* --- what the terminal shows --- */

static void post_shown(const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, n + GB_WIRE_CALL_SLACK);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_TERMINAL);
	gb_cbor_bytes(&frame, bytes, n);
	gb_frame_end(&frame, mark);
	if (!gb_buf_failed(&frame))
		gb_post_frame(frame.data, frame.len);
}

/* Between runs: kept for the next one. */
static void keep(const char *bytes, size_t n) {
	size_t room = KEPT_MAX - console.kept.len;
	console.kept_all &= n <= room;
	gb_buf_append(&console.kept, bytes, n < room ? n : room);
}

static void show(const char *bytes, size_t n) {
	if (console.attached)
		post_shown(bytes, n);
	if (console.unheard)
		return;
	gb_awaiting_shown(&console.awaiting, bytes, n);
	if (console.shell == RUNNING)
		gb_post_output(1, bytes, n);
	else if (!console.attached)
		keep(bytes, n);
}

/* At most @max bytes of what is there now. */
static void take_shown(size_t max) {
	static char bytes[STEP];
	for (ssize_t n = 1; n > 0 && max > 0; max -= (size_t)n) {
		n = read(console.terminal.master, bytes, max < sizeof bytes ? max : sizeof bytes);
		if (n > 0)
			show(bytes, (size_t)n);
		else
			return;
	}
}

/* --- what is typed --- */

static void watch_typed(struct gb_keeper *keeper) {
	keeper->also[0].events = (short)(POLLIN | (console.typed.len ? POLLOUT : 0));
}

static void feed_typed(struct gb_keeper *keeper) {
	while (console.typed.len) {
		ssize_t n = write(console.terminal.master, console.typed.data, console.typed.len);
		if (n <= 0)
			break;
		gb_buf_consume(&console.typed, (size_t)n);
	}
	watch_typed(keeper);
}

static void type(struct gb_keeper *keeper, const char *bytes, size_t n) {
	gb_buf_append(&console.typed, bytes, n);
	/* More than anybody types. */
	if (gb_buf_failed(&console.typed))
		gb_buf_clear(&console.typed);
	feed_typed(keeper);
}

/* --- what the wire says --- */

static void give_prompt(void) {
	tell_shell("prompt");
	console.shell = AT_PROMPT;
}

/* The shell reads from the terminal: for somebody who is there, or because a command has left all loops. */
static void on_prompt(struct gb_keeper *keeper) {
	if (console.shell != AT_PROMPT) {
		take_shown(LAST_MAX);
		console.unheard = true;
		type(keeper, "\n", 1);
	}
	tell_shell("now");
}

static void on_ready(struct gb_keeper *keeper, unsigned number, unsigned status) {
	/* It was interrupted before it had heard of the command. */
	if (console.shell == RUNNING && number != console.number) {
		tell_number();
		return;
	}
	take_shown(LAST_MAX);
	if (console.shell == RUNNING) {
		console.status = status;
		keeper->done = true;
	}
	console.unheard = false;
	console.called_at = 0;
	console.shell = READY;
	/* What its line editor was given back when it was called away is what it had found: perhaps people.
	 */
	gb_tty_for_people(&console.terminal, console.attached);
	if (console.attached && !console.wanted)
		give_prompt();
}

/* Is it the shell's next question? One that was interrupted after it had counted and before it had asked has
 * left out a number, or some. */
static bool is_next(unsigned turn) {
	return turn > console.turn && turn - console.turn <= UNASKED_MAX;
}

static void handle_wire_line(struct gb_keeper *keeper, const char *word) {
	unsigned turn, number, status;
	if (sscanf(word, "prompt %u", &turn) == 1 && is_next(turn)) {
		console.turn = turn;
		on_prompt(keeper);
	} else if (sscanf(word, "ready %u %u %u", &turn, &number, &status) == 3 && is_next(turn) &&
		   status <= 255) {
		console.turn = turn;
		on_ready(keeper, number, status);
	}
}

static void on_wire(struct gb_keeper *keeper, short events) {
	(void)events;
	char bytes[256];
	ssize_t n = read(console.wire.master, bytes, sizeof bytes);
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			/* What is longer than a word of the shell's is none. */
			if (console.n_word < sizeof console.word - 1)
				console.word[console.n_word++] = bytes[i];
			continue;
		}
		console.word[console.n_word] = '\0';
		console.n_word = 0;
		handle_wire_line(keeper, console.word);
	}
}

static void on_terminal(struct gb_keeper *keeper, short events) {
	if (events & POLLIN)
		take_shown(4ul * STEP);
	if (events & POLLOUT)
		feed_typed(keeper);
	if (console.attached)
		gb_post_flush();
}

/* --- what the host says --- */

/* A shell at its prompt is called away by an interrupt; a program that somebody has left there is not. One
 * that comes just before the shell listens to keys is lost: so it is called again, but not at once. */
static void call_shell(struct gb_keeper *keeper) {
	uint64_t now = gb_now_ns();
	if (console.shell != AT_PROMPT || (console.called_at && now - console.called_at < CALL_MS * MS) ||
	    tcgetpgrp(console.terminal.master) != keeper->pid)
		return;
	console.called_at = now;
	console.unheard = true;
	gb_tty_interrupt(&console.terminal);
}

/* A run is about to begin: an interrupt that came late would meet its command. So a shell that does not
 * listen to keys is not called: it will, or is coming back by itself. */
static void call_shell_for_run(struct gb_keeper *keeper) {
	if (console.shell == AT_PROMPT && tcgetpgrp(console.terminal.master) == keeper->pid)
		console.unheard = true;
	if (console.unheard &&
	    gb_waiting_for(console.terminal.master, console.terminal.device) != GB_WAITING_NO)
		call_shell(keeper);
}

static void attach(struct gb_keeper *keeper, bool attached) {
	if (console.attached == attached)
		return;
	console.attached = attached;
	gb_tty_for_people(&console.terminal, attached);
	if (attached && console.kept.len) {
		post_shown(console.kept.data, console.kept.len);
		gb_buf_clear(&console.kept);
	}
	if (attached && console.shell == READY)
		give_prompt();
	else if (!attached)
		call_shell(keeper);
}

static void take_input(struct gb_keeper *keeper, struct gb_cbor_reader in) {
	struct gb_cbor_item bytes;
	if (!gb_cbor_next(&in, &bytes) || bytes.kind != GB_CBOR_BYTES)
		_exit(1);
	type(keeper, (const char *)bytes.bytes, bytes.argument);
	gb_awaiting_answered(&console.awaiting);
}

static void take_size(struct gb_cbor_reader in) {
	struct gb_cbor_item columns, rows;
	if (!gb_cbor_next(&in, &columns) || !gb_cbor_next(&in, &rows))
		_exit(1);
	gb_tty_resize(&console.terminal, (unsigned)columns.argument, (unsigned)rows.argument);
}

void gb_console_on_frame(struct gb_keeper *keeper, const struct gb_frame *frame) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	gb_console_open(keeper);
	switch (frame->type) {
	case GB_FRAME_INPUT:
		take_input(keeper, in);
		break;
	case GB_FRAME_RESIZE:
		take_size(in);
		break;
	case GB_FRAME_ATTACH:
		attach(keeper, true);
		break;
	case GB_FRAME_DETACH:
		attach(keeper, false);
		break;
	}
	gb_post_flush();
}

static void on_interrupt(struct gb_keeper *keeper) {
	/* Nothing was handed over to it, and nothing will be; one that is only starting would die of it. */
	if (console.shell == STARTING || console.shell == READY)
		return;
	gb_buf_clear(&console.typed);
	watch_typed(keeper);
	gb_tty_interrupt(&console.terminal);
	/* A shell that runs one short command after another may have been missed: whom the key reached was
	 * about to end anyway. */
	if (console.interrupted && keeper->pid)
		kill(keeper->pid, SIGINT);
	console.interrupted = true;
}

/* --- beginning --- */

static void start_shell(struct gb_keeper *keeper) {
	static const char *const argv[] = {"bash", "--noprofile", "--rcfile", GB_SHELL_RC, "-i", NULL};
	static const char *const envp[] = {GB_SHELL_ENVIRONMENT, "TERM=xterm-256color", NULL};
	if (!write_file(GB_SHELL_RC, gb_shell_rc, strlen(gb_shell_rc)))
		_exit(1);
	/* The first terminal of a cell is the wire: that is how the shell knows it. */
	gb_tty_open(&console.wire, true);
	gb_tty_open(&console.terminal, false);
	gb_keeper_start(keeper,
	    &(struct gb_program){
		.path = GB_SHELL_PROGRAM, .argv = argv, .envp = envp, .terminal = console.terminal.slave});
	keeper->also[0] = (struct gb_keeper_source){console.terminal.master, POLLIN, on_terminal};
	keeper->also[1] = (struct gb_keeper_source){console.wire.master, POLLIN, on_wire};
	console.shell = STARTING;
	console.turn = console.n_word = 0;
}

static void stop_shell(struct gb_keeper *keeper) {
	if (keeper->pid)
		gb_keeper_stop(keeper);
	gb_tty_close(&console.terminal);
	gb_tty_close(&console.wire);
}

void gb_console_open(struct gb_keeper *keeper) {
	if (console.wire.master >= 0)
		return;
	gb_oneshot_stop(keeper);
	gb_buf_init(&console.typed, TYPED_MAX);
	gb_buf_init(&console.kept, KEPT_MAX);
	console.kept_all = true;
	keeper->on_interrupt = on_interrupt;
	keeper->rests_alone = true;
	gb_keeper_watch(keeper, keeper->memory_limit, 0);
	gb_post_open(keeper->host, 0);
	start_shell(keeper);
}

static void reset(struct gb_keeper *keeper) {
	stop_shell(keeper);
	gb_buf_clear(&console.typed);
	gb_buf_clear(&console.kept);
	console.unheard = false;
	console.called_at = 0;
	start_shell(keeper);
	gb_tty_for_people(&console.terminal, console.attached);
}

/* --- a run --- */

/* Until the shell waits for us, or is gone. One that is only starting need not be waited for to do nothing.
 */
static bool await_shell(struct gb_keeper *keeper) {
	console.status = INTERRUPTED;
	do {
		if (keeper->interrupted && console.shell == STARTING)
			return false;
		call_shell_for_run(keeper);
	} while (console.shell != READY && gb_keeper_turn(keeper, console.called_at ? CALL_MS : LOOK_MS));
	unlink(GB_SHELL_RC);
	return console.shell == READY && !keeper->interrupted;
}

static bool hand_over(const struct gb_job *job, const struct gb_settings *settings) {
	char path[sizeof GB_SHELL_COMMAND + 16];
	struct gb_cbor_reader args = settings->args;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, SCRIPT_MAX);
	if (gb_settings_count(&args)) {
		gb_script_set_arguments(&text, job);
		gb_buf_append(&text, "; ", 2);
	}
	gb_script_append(&text, job);
	gb_buf_append(&text, gb_shell_tail, strlen(gb_shell_tail));
	snprintf(path, sizeof path, GB_SHELL_COMMAND "%u", ++console.number);
	if (gb_buf_failed(&text) || !write_file(path, text.data, text.len))
		return false;
	console.shell = RUNNING;
	tell_number();
	return true;
}

/* What is given as standard input is typed, and ended. */
static void type_input(struct gb_keeper *keeper, struct gb_str input) {
	if (!input.p)
		return;
	gb_tty_hide_typed(&console.terminal);
	type(keeper, input.p, input.n);
	type(keeper, "\4\4", input.n == 0 || input.p[input.n - 1] == '\n' ? 1 : 2);
}

static void deliver_kept(void) {
	gb_post_output(1, console.kept.data, console.kept.len);
	if (!console.kept_all)
		gb_post_cut();
	gb_buf_clear(&console.kept);
	console.kept_all = true;
}

static void clean_up(struct gb_keeper *keeper) {
	char path[sizeof GB_SHELL_COMMAND + 16];
	snprintf(path, sizeof path, GB_SHELL_COMMAND "%u", console.number);
	unlink(path);
	console.interrupted = false;
	gb_buf_clear(&console.typed);
	watch_typed(keeper);
	if (keeper->pid) {
		gb_tty_restore(&console.terminal);
		/* As a program that was waited for. */
		keeper->wait_status = (int)console.status << 8;
	} else {
		if (!keeper->out_of_memory)
			gb_keeper_stop(keeper);
		console.shell = RUNNING;
		take_shown(LAST_MAX);
	}
}

static bool run(struct gb_keeper *keeper, const struct gb_job *job, const struct gb_settings *settings) {
	gb_awaiting_begin(&console.awaiting);
	/* Whoever edits a line puts back what was there before; which may have been for somebody who has
	 * left. */
	gb_tty_restore(&console.terminal);
	deliver_kept();
	if (!hand_over(job, settings))
		return false;
	type_input(keeper, settings->input);
	while (gb_keeper_turn(keeper, gb_awaiting_pause(&console.awaiting))) {
		/* What is typed and not taken yet would be read at once. */
		if (!console.typed.len)
			gb_awaiting_look(&console.awaiting, &console.terminal);
	}
	return true;
}

void gb_console_run(struct gb_keeper *keeper, const struct gb_job *job) {
	struct gb_failure failure = {.name = "OSError", .code = "files"};
	struct gb_settings settings;
	char why[300];
	gb_settings_read(job, &settings);
	gb_console_open(keeper);
	if (settings.reset)
		reset(keeper);
	failure.message = why;
	bool ok = gb_keeper_begin(keeper, job, gb_shell_data_limit(job), why, sizeof why);
	if (ok && !gb_shell_admits(keeper, job, &settings))
		return;
	console.wanted = true;
	if (ok && await_shell(keeper) && !(ok = run(keeper, job, &settings))) {
		snprintf(why, sizeof why, "the command finds no place in /dev/shm: %s", strerror(errno));
		console.shell = READY;
	}
	if (!ok) {
		gb_keeper_fail(keeper, job, GB_WIRE_ERROR, &failure);
	} else {
		clean_up(keeper);
		gb_keeper_settle(keeper, job);
	}
	if (!keeper->pid)
		gb_keeper_finish(keeper);
	console.wanted = false;
	if (console.attached && console.shell == READY)
		give_prompt();
}
