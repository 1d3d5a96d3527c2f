/*
 * A session: one interactive bash on a terminal for all runs.
 *
 * Before bash shows its prompt it runs PROMPT_COMMAND. Ours reports that the shell is ready, with the exit
 * code of the last command, and reads the next command from a second terminal, the wire. It opens the wire by
 * name and closes it again, so that commands inherit no descriptor of it. Every command that does not end the
 * shell leads back there, also after an error that makes the shell abandon the command, or after an
 * interrupt.
 *
 * The wire reports the progress of the shell, the terminal carries the output. After a report on the wire,
 * all output up to that point must be read from the terminal: reading it also fetches bytes that are in
 * transit.
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
#include "glovebox/errors.h"
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
	KEPT_MAX = 64 << 10,  /* maximum of output kept between runs */
	LAST_MAX = 256 << 10, /* more than a terminal can buffer before a report on the wire */
	SCRIPT_MAX = 256 << 20,
	INTERRUPT_AGAIN_MS = 100,
	POLL_MS = 10, /* poll interval while the shell cannot be interrupted yet */
	SKIPPED_REQUESTS_MAX = 64,
	INTERRUPTED = 130, /* exit code of a shell after SIGINT */
};

static struct {
	struct gb_tty terminal, wire;
	enum { STARTING, READY, RUNNING, AT_PROMPT } shell;
	bool attached;
	bool run_pending;        /* a run needs the shell: it takes precedence over an attached client */
	uint64_t interrupted_at; /* time of the interrupt that called it away from its prompt; 0: none */
	bool discarding_output;  /* discard terminal output: it results from our own input or interrupt */
	unsigned request;        /* number of the shell's last request */
	unsigned number, status; /* of the current command */
	char line[64];           /* partial line from the wire */
	size_t n_line;
	struct gb_buf typed, kept;
	bool kept_all;
	struct gb_awaiting awaiting;
	bool interrupted; /* the current command, at least once */
} console = {.terminal = {.master = -1, .slave = -1}, .wire = {.master = -1, .slave = -1}};

/* --- replies to the shell --- */

static bool write_file(const char *path, const char *text, size_t n) {
	unlink(path);
	gb_auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0 && gb_write_all(fd, text, n);
}

/* Answer the shell's last request. */
static void answer_shell(const char *reply) {
	char line[40];
	int n = snprintf(line, sizeof line, "%u %s\n", console.request, reply);
	if (write(console.wire.master, line, (size_t)n) != n)
		_exit(1);
}

static void send_command_number(void) {
	char number[16];
	snprintf(number, sizeof number, "%u", console.number);
	answer_shell(number);
}

/* --- terminal output --- */

static void post_terminal(const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, n + GB_WIRE_CALL_SLACK);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_TERMINAL);
	gb_cbor_bytes(&frame, bytes, n);
	gb_frame_end(&frame, mark);
	if (!gb_buf_failed(&frame))
		gb_post_frame(frame.data, frame.len);
}

/* Output between runs: kept for the next run. */
static void keep(const char *bytes, size_t n) {
	size_t room = KEPT_MAX - console.kept.len;
	console.kept_all &= n <= room;
	gb_buf_append(&console.kept, bytes, n < room ? n : room);
}

static void show(const char *bytes, size_t n) {
	if (console.attached)
		post_terminal(bytes, n);
	if (console.discarding_output)
		return;
	gb_awaiting_shown(&console.awaiting, bytes, n);
	if (console.shell == RUNNING)
		gb_post_output(1, bytes, n);
	else if (!console.attached)
		keep(bytes, n);
}

/* Read at most @max bytes of the available output. */
static void read_terminal(size_t max) {
	static char bytes[STEP];
	for (ssize_t n = 1; n > 0 && max > 0; max -= (size_t)n) {
		n = read(console.terminal.master, bytes, max < sizeof bytes ? max : sizeof bytes);
		if (n > 0)
			show(bytes, (size_t)n);
		else
			return;
	}
}

/* --- terminal input --- */

static void watch_typed(struct gb_keeper *keeper) {
	keeper->sources[0].events = (short)(POLLIN | (console.typed.len ? POLLOUT : 0));
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
	/* Too much unread input: discard it. */
	if (gb_buf_failed(&console.typed))
		gb_buf_clear(&console.typed);
	feed_typed(keeper);
}

/* --- reports on the wire --- */

static void give_prompt(void) {
	answer_shell("prompt");
	console.shell = AT_PROMPT;
}

/* The shell is about to read from the terminal: for an attached client, or because a command broke out of all
 * loops, including ours. */
static void on_prompt(struct gb_keeper *keeper) {
	if (console.shell != AT_PROMPT) {
		read_terminal(LAST_MAX);
		console.discarding_output = true;
		type(keeper, "\n", 1);
	}
	answer_shell("now");
}

static void on_ready(struct gb_keeper *keeper, unsigned number, unsigned status) {
	/* The shell was interrupted before it had read the command. */
	if (console.shell == RUNNING && number != console.number) {
		send_command_number();
		return;
	}
	read_terminal(LAST_MAX);
	if (console.shell == RUNNING) {
		console.status = status;
		keeper->done = true;
	}
	console.discarding_output = false;
	console.interrupted_at = 0;
	console.shell = READY;
	/* After an interrupt, readline restores the settings that it found at its prompt, perhaps those for
	 * an attached client. */
	gb_tty_for_people(&console.terminal, console.attached);
	if (console.attached && !console.run_pending)
		give_prompt();
}

/* True for the shell's next request. A shell that is interrupted between incrementing its counter and sending
 * the request skips numbers. */
static bool is_next_request(unsigned request) {
	return request > console.request && request - console.request <= SKIPPED_REQUESTS_MAX;
}

static void handle_wire_line(struct gb_keeper *keeper, const char *line) {
	unsigned request, number, status;
	if (sscanf(line, "prompt %u", &request) == 1 && is_next_request(request)) {
		console.request = request;
		on_prompt(keeper);
	} else if (sscanf(line, "ready %u %u %u", &request, &number, &status) == 3 &&
		   is_next_request(request) && status <= 255) {
		console.request = request;
		on_ready(keeper, number, status);
	}
}

static void on_wire(struct gb_keeper *keeper, short events) {
	(void)events;
	char bytes[256];
	ssize_t n = read(console.wire.master, bytes, sizeof bytes);
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			/* Truncate longer lines: no report is that long. */
			if (console.n_line < sizeof console.line - 1)
				console.line[console.n_line++] = bytes[i];
			continue;
		}
		console.line[console.n_line] = '\0';
		console.n_line = 0;
		handle_wire_line(keeper, console.line);
	}
}

static void on_terminal(struct gb_keeper *keeper, short events) {
	if (events & POLLIN)
		read_terminal(4ul * STEP);
	if (events & POLLOUT)
		feed_typed(keeper);
	if (console.attached)
		gb_post_flush();
}

/* --- frames from the host --- */

/* Interrupt a shell at its prompt, but not a foreground program started there. An interrupt that arrives just
 * before the shell reads keys is lost, so callers repeat this; INTERRUPT_AGAIN_MS is the minimum interval. */
static void interrupt_prompt(struct gb_keeper *keeper) {
	uint64_t now = gb_now_ns();
	if (console.shell != AT_PROMPT ||
	    (console.interrupted_at && now - console.interrupted_at < INTERRUPT_AGAIN_MS * MS) ||
	    tcgetpgrp(console.terminal.master) != keeper->pid)
		return;
	console.interrupted_at = now;
	console.discarding_output = true;
	gb_tty_interrupt(&console.terminal);
}

/* Before a run: a late interrupt would hit the command of the run. So interrupt the shell only while it waits
 * for keys; otherwise it soon will, or returns to the wire by itself. */
static void interrupt_prompt_for_run(struct gb_keeper *keeper) {
	if (console.shell == AT_PROMPT && tcgetpgrp(console.terminal.master) == keeper->pid)
		console.discarding_output = true;
	if (console.discarding_output &&
	    gb_waiting_for(console.terminal.master, console.terminal.device) != GB_WAITING_NO)
		interrupt_prompt(keeper);
}

static void attach(struct gb_keeper *keeper, bool attached) {
	if (console.attached == attached)
		return;
	console.attached = attached;
	gb_tty_for_people(&console.terminal, attached);
	if (attached && console.kept.len) {
		post_terminal(console.kept.data, console.kept.len);
		gb_buf_clear(&console.kept);
	}
	if (attached && console.shell == READY)
		give_prompt();
	else if (!attached)
		interrupt_prompt(keeper);
}

static void on_input(struct gb_keeper *keeper, struct gb_cbor_reader in) {
	struct gb_cbor_item bytes;
	if (!gb_cbor_next(&in, &bytes) || bytes.kind != GB_CBOR_BYTES)
		_exit(1);
	type(keeper, (const char *)bytes.bytes, bytes.argument);
	gb_awaiting_answered(&console.awaiting);
}

static void on_resize(struct gb_cbor_reader in) {
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
		on_input(keeper, in);
		break;
	case GB_FRAME_RESIZE:
		on_resize(in);
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
	/* The shell has no command. A starting shell would die of the signal. */
	if (console.shell == STARTING || console.shell == READY)
		return;
	gb_buf_clear(&console.typed);
	watch_typed(keeper);
	gb_tty_interrupt(&console.terminal);
	/* The terminal's interrupt may have hit only a short-lived child of the shell: signal the shell
	 * itself too. */
	if (console.interrupted && keeper->pid)
		kill(keeper->pid, SIGINT);
	console.interrupted = true;
}

/* --- start and stop --- */

static void start_shell(struct gb_keeper *keeper) {
	static const char *const argv[] = {"bash", "--noprofile", "--rcfile", GB_SHELL_RC, "-i", NULL};
	static const char *const envp[] = {GB_SHELL_ENVIRONMENT, "TERM=xterm-256color", NULL};
	if (!write_file(GB_SHELL_RC, gb_shell_rc, strlen(gb_shell_rc)))
		_exit(1);
	/* The shell's startup file relies on the wire being the first terminal of the cell. */
	gb_tty_open(&console.wire, true);
	gb_tty_open(&console.terminal, false);
	gb_keeper_start(keeper,
	    &(struct gb_program){
		.path = GB_SHELL_PROGRAM, .argv = argv, .envp = envp, .terminal = console.terminal.slave});
	keeper->sources[0] = (struct gb_keeper_source){console.terminal.master, POLLIN, on_terminal};
	keeper->sources[1] = (struct gb_keeper_source){console.wire.master, POLLIN, on_wire};
	console.shell = STARTING;
	console.request = console.n_line = 0;
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
	keeper->inert_when_idle = true;
	gb_keeper_watch(keeper, keeper->memory_limit, 0);
	gb_post_open(keeper->host, 0);
	start_shell(keeper);
}

static void reset(struct gb_keeper *keeper) {
	stop_shell(keeper);
	gb_buf_clear(&console.typed);
	gb_buf_clear(&console.kept);
	console.discarding_output = false;
	console.interrupted_at = 0;
	start_shell(keeper);
	gb_tty_for_people(&console.terminal, console.attached);
}

/* --- a run --- */

/* Wait until the shell is ready or has exited. Does not wait for a starting shell if the run is already
 * interrupted. */
static bool await_shell(struct gb_keeper *keeper) {
	console.status = INTERRUPTED;
	do {
		if (keeper->interrupted && console.shell == STARTING)
			return false;
		interrupt_prompt_for_run(keeper);
	} while (console.shell != READY &&
		 gb_keeper_turn(keeper, console.interrupted_at ? INTERRUPT_AGAIN_MS : POLL_MS));
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
	gb_script_begin(&text, settings);
	gb_script_append(&text, job);
	gb_buf_append(&text, gb_shell_tail, strlen(gb_shell_tail));
	snprintf(path, sizeof path, GB_SHELL_COMMAND "%u", ++console.number);
	if (gb_buf_failed(&text) || !write_file(path, text.data, text.len))
		return false;
	console.shell = RUNNING;
	send_command_number();
	return true;
}

/* Type the run's standard input, followed by end-of-file. */
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
		gb_post_mark_truncated();
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
		/* In the format of waitpid(). */
		keeper->wait_status = (int)console.status << 8;
	} else {
		if (!keeper->out_of_memory)
			gb_keeper_stop(keeper);
		console.shell = RUNNING;
		read_terminal(LAST_MAX);
	}
}

static bool run(struct gb_keeper *keeper, const struct gb_job *job, const struct gb_settings *settings) {
	gb_awaiting_begin(&console.awaiting);
	/* A line editor restores the settings that it found, which may be those for a client that has since
	 * detached. */
	gb_tty_restore(&console.terminal);
	deliver_kept();
	if (!hand_over(job, settings))
		return false;
	type_input(keeper, settings->input);
	while (gb_keeper_turn(keeper, gb_awaiting_pause(&console.awaiting))) {
		/* Unread typed input would satisfy a read immediately. */
		if (!console.typed.len)
			gb_awaiting_check(&console.awaiting, &console.terminal);
	}
	return true;
}

void gb_console_run(struct gb_keeper *keeper, const struct gb_job *job) {
	struct gb_failure failure = {.name = "OSError", .code = GB_CODE_FILES};
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
	console.run_pending = true;
	if (ok && await_shell(keeper) && !(ok = run(keeper, job, &settings))) {
		snprintf(why, sizeof why, "cannot write the command to /dev/shm: %s", strerror(errno));
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
	console.run_pending = false;
	if (console.attached && console.shell == READY)
		give_prompt();
}
