/* One script in one bash, which was started before the script was known. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "glovebox/errors.h"
#include "runtime/program/post.h"
#include "runtime/shell/shell.h"
#include "sandbox/worker.h"

/* Descriptors that the waiting shell reads: a byte on GO_FD; then its name and arguments, and the script,
 * from SCRIPT_FD. Both are closed before the first command of the script. */
enum { GO_FD = 9, SCRIPT_FD = 8, SCRIPT_MAX = 256 << 20 };

/* Warm-up code that exercises most shell features, so that their memory is paged in, and the first trap command, for
 * which bash asks for the handler of each signal; then wait for the script. All of this is one line, so that the line
 * numbers of the script are its own. Tearing down a process takes longer than most scripts run, so the shell reports
 * the end of the script on a named pipe that is opened only for that, together with any EXIT trap that is still to run.
 * Without a trap it then waits for a moment, so that the host can kill it off the latency path. */
static const char wait_and_run[] =
    "builtin eval 'f() { builtin local a=($((1 + 1)) \"${1%x}\"); [[ ${a[1]} "
    "== y ]] && builtin echo \"${a[0]}\"; "
    "}; for i in 1; do f yx || :; done >/dev/null; builtin printf -v i %s "
    "\"$i\"' 2>/dev/null; builtin unset -f f; "
    "builtin unset i; builtin trap -p EXIT; "
    "IFS= builtin read -r -u 9; IFS= builtin read -r -d '' -u 8; builtin eval "
    "\"$REPLY\"; IFS= builtin read -r -d "
    "'' -u 8 BASH_EXECUTION_STRING; exec 8<&- 9<&-; builtin unset REPLY; "
    "builtin eval \"$BASH_EXECUTION_STRING\"; "
    "{ REPLY=$?; builtin set +x; } 2>/dev/null; { builtin trap -p EXIT; "
    "builtin printf 'end %s\\n' \"$REPLY\"; } "
    "2>/dev/null >" GB_SHELL_END "; builtin read -r -t 0.05 _ 2>/dev/null <" GB_SHELL_HOLD
    "; builtin exit \"$REPLY\"";

static int script_fd = -1, go_fd = -1, end_fd = -1, hold_fd = -1;

/* Opened for reading and writing, so that neither side blocks in open(). A script that removes the pipe only
 * becomes slower. */
static int make_pipe(const char *path) {
	return mkfifo(path, 0600) == 0 ? open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
}

void gb_oneshot_start(struct gb_keeper *keeper) {
	static const char *const argv[] = {"bash", "--noprofile", "--norc", "-c", wait_and_run, "bash", NULL};
	static const char *const envp[] = {GB_SHELL_ENVIRONMENT, "TERM=dumb", NULL};
	int ends[2];
	end_fd = make_pipe(GB_SHELL_END);
	hold_fd = make_pipe(GB_SHELL_HOLD);
	script_fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (end_fd < 0 || hold_fd < 0 || script_fd < 0 || pipe2(ends, O_CLOEXEC) != 0)
		_exit(1);
	go_fd = ends[1];
	gb_keeper_start(keeper, &(struct gb_program){.path = GB_SHELL_PROGRAM,
				    .argv = argv,
				    .envp = envp,
				    .extra = {{ends[0], GO_FD}, {script_fd, SCRIPT_FD}}});
	close(ends[0]);
}

void gb_oneshot_stop(struct gb_keeper *keeper) {
	if (keeper->pid)
		gb_keeper_stop(keeper);
	unlink(GB_SHELL_END);
	unlink(GB_SHELL_HOLD);
	gb_close_fd(&end_fd);
	gb_close_fd(&hold_fd);
	gb_close_fd(&keeper->in);
	gb_close_fd(&keeper->out[0]);
	gb_close_fd(&keeper->out[1]);
}

/* Exactly "end N" means that the script is over; after any other output (an EXIT trap) the shell has more to
 * do. */
static void on_end(struct gb_keeper *keeper, short events) {
	(void)events;
	static char report[16];
	static size_t n;
	char bytes[4096];
	unsigned status;
	int length = 0;
	ssize_t got = read(end_fd, bytes, sizeof bytes);
	for (ssize_t i = 0; i < got && n < sizeof report - 1; i++)
		report[n++] = bytes[i];
	if (sscanf(report, "end %u\n%n", &status, &length) != 1 || status > 255 || length != (int)n ||
	    report[n - 1] != '\n') {
		(void)!write(hold_fd, "\n", 1);
		return;
	}
	keeper->wait_status = (int)status << 8;
	keeper->done = true;
}

static void hand_over(const struct gb_job *job, const struct gb_settings *settings) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, SCRIPT_MAX);
	gb_buf_append(&text, "BASH_ARGV0=", 11);
	gb_script_quote(&text, (struct gb_str){job->filename.p, job->filename.n});
	gb_buf_append_char(&text, ';');
	gb_script_set_arguments(&text, job);
	gb_buf_append_char(&text, ';');
	gb_script_begin(&text, settings);
	gb_buf_append_char(&text, '\0');
	gb_script_append(&text, job);
	gb_buf_append_char(&text, '\0');
	/* pwrite: the shell shares the file offset. */
	if (gb_buf_failed(&text) || pwrite(script_fd, text.data, text.len, 0) != (ssize_t)text.len)
		_exit(1);
	if (!gb_write_all(go_fd, "\n", 1))
		_exit(GB_CELL_EXIT_UNUSED);
}

void gb_oneshot_run(struct gb_keeper *keeper, const struct gb_job *job) {
	struct gb_settings settings;
	char why[300];
	gb_settings_read(job, &settings);
	if (!gb_keeper_begin(keeper, job, gb_shell_data_limit(job), why, sizeof why)) {
		const struct gb_failure failure = {.name = "OSError", .message = why, .code = GB_CODE_FILES};
		gb_keeper_fail(keeper, job, GB_WIRE_ERROR, &failure);
		return;
	}
	if (!gb_shell_admits(keeper, job, &settings))
		return;
	hand_over(job, &settings);
	keeper->sources[0] = (struct gb_keeper_source){end_fd, POLLIN, on_end};
	gb_keeper_serve(keeper);
	/* Offset 0 (shared with the shell) means that the script is unread. The byte on GO_FD proves nothing:
	 * the kernel completes the read of a shell that was killed and has not been scheduled since. */
	gb_keeper_end_unused(keeper, lseek(script_fd, 0, SEEK_CUR) == 0);
	/* Stop leftover background processes; their output so far is sent. The host kills them after it has
	 * the result: tearing them down now would compete for the CPU that the host needs. */
	if (keeper->done)
		kill(-1, SIGSTOP);
	gb_keeper_settle(keeper, job);
}
