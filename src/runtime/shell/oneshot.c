/* One script, one bash, which was started before the script was there. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/program/post.h"
#include "runtime/shell/shell.h"
#include "sandbox/protocol.h"

/* What the waiting shell reads from: a byte that says go; then who it is, and the script. Both are closed
 * before the script's first command. */
enum { GO_FD = 9, SCRIPT_FD = 8, SCRIPT_MAX = 256 << 20 };

/* First something that goes through most of what a script does, so that the memory for it is there; then it
 * waits. The script's lines have their own numbers, since all of this is one line. Taking a process apart
 * takes longer than most scripts: when one has come to its end, that is said on a terminal that is opened for
 * it alone, after the trap that is still to be run, if there is one. Without one it then waits for a moment,
 * to be ended where nobody waits for that. */
static const char wait_and_run[] =
    "builtin eval 'f() { builtin local a=($((1 + 1)) \"${1%x}\"); [[ ${a[1]} "
    "== y ]] && builtin echo \"${a[0]}\"; "
    "}; for i in 1; do f yx || :; done >/dev/null; builtin printf -v i %s "
    "\"$i\"' 2>/dev/null; builtin unset -f f; "
    "builtin unset i; "
    "IFS= builtin read -r -u 9; IFS= builtin read -r -d '' -u 8; builtin eval "
    "\"$REPLY\"; IFS= builtin read -r -d "
    "'' -u 8 BASH_EXECUTION_STRING; exec 8<&- 9<&-; builtin unset REPLY; "
    "builtin eval \"$BASH_EXECUTION_STRING\"; "
    "{ REPLY=$?; builtin set +x; } 2>/dev/null; { builtin trap -p EXIT; "
    "builtin printf 'end %s\\n' \"$REPLY\"; } "
    "2>/dev/null >" GB_SHELL_END "; builtin read -r -t 0.05 _ 2>/dev/null <" GB_SHELL_HOLD
    "; builtin exit \"$REPLY\"";

static int script_fd = -1, go_fd = -1, end_fd = -1, hold_fd = -1;

/* Open at both ends, so that nobody waits for the other. A script that removes it is only slower. */
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

/* "end 0" and nothing else is the end; after anything else the shell has something to do yet. */
static void on_end(struct gb_keeper *keeper, short events) {
	(void)events;
	static char said[16];
	static size_t n;
	char bytes[4096];
	unsigned status;
	int length = 0;
	ssize_t got = read(end_fd, bytes, sizeof bytes);
	for (ssize_t i = 0; i < got && n < sizeof said - 1; i++)
		said[n++] = bytes[i];
	if (sscanf(said, "end %u\n%n", &status, &length) != 1 || status > 255 || length != (int)n ||
	    said[n - 1] != '\n') {
		(void)!write(hold_fd, "\n", 1);
		return;
	}
	keeper->wait_status = (int)status << 8;
	keeper->done = true;
}

static void hand_over(const struct gb_job *job) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, SCRIPT_MAX);
	gb_buf_append(&text, "BASH_ARGV0=", 11);
	gb_script_quote(&text, (struct gb_str){job->filename.p, job->filename.n});
	gb_buf_append_char(&text, ';');
	gb_script_set_arguments(&text, job);
	gb_buf_append_char(&text, '\0');
	gb_script_append(&text, job);
	gb_buf_append_char(&text, '\0');
	/* By its place, which the shell has its own idea of. */
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
		const struct gb_failure failure = {.name = "OSError", .message = why, .code = "files"};
		gb_keeper_fail(keeper, job, GB_WIRE_ERROR, &failure);
		return;
	}
	if (!gb_shell_admits(keeper, job, &settings))
		return;
	hand_over(job);
	keeper->also[0] = (struct gb_keeper_source){end_fd, POLLIN, on_end};
	gb_keeper_serve(keeper);
	/* Both have the same place in the script. The byte that says go does not tell: the kernel hands it to
	 * a shell that was killed and has not been scheduled since. */
	gb_keeper_end_unused(keeper, lseek(script_fd, 0, SEEK_CUR) == 0);
	/* What it has left running does not go on; what that had written is told. Ending all of them is the
	 * host's, once it has the answer: they would be taken apart on the CPU that it waits for. */
	if (keeper->done)
		kill(-1, SIGSTOP);
	gb_keeper_settle(keeper, job);
}
