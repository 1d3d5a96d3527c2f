/* What there is to say about a language: what runs it, and behind which layers. */
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

enum { PATIENCE_MS = 5000, LINGER_MS = 500 };

/* Start "@path --version"; what it says can be read from the descriptor, or -1. */
static int start_asking(const char *path, pid_t *ret_pid) {
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

/* Until it ends, or for as long as anybody would wait. */
static size_t listen_to(int fd, char *ret, size_t n) {
	uint64_t until = gb_now_ns() + PATIENCE_MS * 1000000ull;
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

/* One that has said what it had to ends by itself, or is ended. A process whose children are reaped by
 * somebody else may find another's under the same number: only one that is still there is killed. */
static void end(pid_t pid) {
	for (int waited_ms = 0; waitpid(pid, NULL, WNOHANG) == 0; waited_ms++) {
		if (waited_ms == LINGER_MS) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return;
		}
		poll(NULL, 0, 1);
	}
}

void gb_program_version(const char *path, char *ret, size_t n) {
	pid_t pid;
	*ret = '\0';
	gb_auto_fd int fd = start_asking(path, &pid);
	if (fd < 0)
		return;
	ret[listen_to(fd, ret, n - 1)] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	end(pid);
}

const char *gb_engine_version(struct gb_engine *engine, enum gb_language language) {
	char path[PATH_MAX];
	enum gb_runtime runtime = GB_RUNTIME_JS;
	struct gb_err err;
	if (!gb_runtime_find(engine, language, NULL, &runtime, &err))
		return "";
	char *version = engine->versions[runtime];
	if (!engine->knows_version[runtime] && gb_runtime_program(engine, runtime, path, sizeof path, &err))
		gb_program_version(path, version, sizeof engine->versions[runtime]);
	engine->knows_version[runtime] = true;
	return version;
}

size_t gb_engine_layers(
    const struct gb_engine *engine, enum gb_language language, const char **ret, size_t n) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	struct gb_err err;
	if (!gb_runtime_find(engine, language, NULL, &runtime, &err) || !engine->pools[runtime])
		return 0;
	unsigned up = gb_pool_layers(engine->pools[runtime]);
	size_t count = 0;
	for (int i = 0; i < GB_LAYER_COUNT; i++)
		if (up & 1u << i) {
			if (count < n)
				ret[count] = gb_layer_name((enum gb_layer)(1u << i));
			count++;
		}
	return count;
}
