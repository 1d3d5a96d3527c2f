/* Determines which version of which program runs a language. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "engine/engine.h"
#include "engine/workers.h"

enum { VERSION_TIMEOUT_MS = 5000, LINGER_MS = 500 };

/* Start "@path --version". Returns a descriptor to read its output from, or -1. */
static int start_version_query(const char *path, pid_t *ret_pid) {
	const char *const argv[] = {path, "--version", NULL};
	const char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	bool ok =
	    posix_spawn(ret_pid, path, &actions, NULL, (char *const *)argv, (char *const *)environment) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!ok)
		gb_close_fd(&ends[0]);
	return ends[0];
}

/* Read until end of file, at most for VERSION_TIMEOUT_MS. */
static size_t read_until_deadline(int fd, char *ret, size_t n) {
	uint64_t until = gb_now_ns() + VERSION_TIMEOUT_MS * 1000000ull;
	size_t got = 0;
	for (uint64_t now; got < n && (now = gb_now_ns()) < until;) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		ssize_t more = 0;
		if (poll(&ready, 1, (int)((until - now) / 1000000) + 1) > 0)
			more = read(fd, ret + got, n - got);
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	return got;
}

/* Wait for the process to exit; kill it after LINGER_MS. If other code of this process reaps our children,
 * the pid may have been reused: kill it only while waitpid() still reports it as running. */
static void reap_or_kill(pid_t pid) {
	for (int waited_ms = 0; waitpid(pid, NULL, WNOHANG) == 0; waited_ms++) {
		if (waited_ms == LINGER_MS) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return;
		}
		poll(NULL, 0, 1);
	}
}

/* Workers are part of Glovebox and may run outside the sandbox. */
static void query_worker(const char *path, char *ret, size_t n) {
	pid_t pid;
	*ret = '\0';
	gb_auto_fd int fd = start_version_query(path, &pid);
	if (fd < 0)
		return;
	ret[read_until_deadline(fd, ret, n - 1)] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	reap_or_kill(pid);
}

/* --- programs of the machine: named by settings and the environment, so they run only in a sandbox --- */

static bool is_program(enum gb_language language) {
	return language == GB_SHELL || language == GB_NODE || language == GB_DENO;
}

/* In a separate engine: waiting for it dispatches no events of another engine. */
static void begin_question(
    struct gb_question *question, const struct gb_engine_options *programs, enum gb_language language) {
	struct gb_engine_options options = {
	    .worker_dir = programs->worker_dir,
	    .shell = programs->shell,
	    .node = programs->node,
	    .deno = programs->deno,
	    .ready = 1u << language,
	    .shards = 1,
	    .warm = GB_NONE,
	    .max_runs = 1,
	};
	const struct gb_run_options run = {
	    .language = language, .source = "--version", .timeout_ms = VERSION_TIMEOUT_MS};
	question->asked = true;
	if (!gb_engine_create(&options, &question->engine, NULL))
		return;
	question->engine->asks_version = true;
	(void)gb_run_start(question->engine, &run, &question->run, NULL);
}

void gb_question_finish(struct gb_question *question) {
	gb_run_destroy(question->run);
	gb_engine_destroy(question->engine);
	question->run = NULL;
	question->engine = NULL;
}

/* The first line of the output, with non-printable bytes replaced: it is untrusted. */
static void end_question(struct gb_question *question, char *ret, size_t n) {
	const struct gb_result *result = question->run ? gb_run_wait(question->run) : NULL;
	bool ok = result && result->status == GB_SUCCESS;
	const char *text = ok ? result->stdout_text : "";
	size_t length = ok ? result->stdout_bytes : 0;
	size_t i = 0;
	for (; i < length && i < n - 1 && text[i] != '\n'; i++)
		ret[i] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
	ret[i] = '\0';
	gb_question_finish(question);
}

void gb_program_version(enum gb_language language, const char *path, char *ret, size_t n) {
	struct gb_question question = {0};
	begin_question(
	    &question, &(struct gb_engine_options){.shell = path, .node = path, .deno = path}, language);
	end_question(&question, ret, n);
}

void gb_engine_ask_version(struct gb_engine *engine, enum gb_language language) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	if (!gb_runtime_find(engine, language, NULL, &runtime, NULL) || !is_program(language) ||
	    engine->questions[runtime].asked)
		return;
	const struct gb_engine_options programs = {.worker_dir = engine->worker_dir,
	    .shell = engine->shell,
	    .node = engine->node,
	    .deno = engine->deno};
	begin_question(&engine->questions[runtime], &programs, language);
}

const char *gb_engine_version(struct gb_engine *engine, enum gb_language language) {
	char path[PATH_MAX];
	enum gb_runtime runtime = GB_RUNTIME_JS;
	struct gb_err err;
	if (!gb_runtime_find(engine, language, NULL, &runtime, &err))
		return "";
	char *version = engine->versions[runtime];
	size_t n = sizeof engine->versions[runtime];
	if (!engine->knows_version[runtime] && is_program(language)) {
		gb_engine_ask_version(engine, language);
		end_question(&engine->questions[runtime], version, n);
	} else if (!engine->knows_version[runtime] &&
		   gb_runtime_worker(engine, runtime, path, sizeof path, &err)) {
		query_worker(path, version, n);
	}
	engine->knows_version[runtime] = true;
	return version;
}
