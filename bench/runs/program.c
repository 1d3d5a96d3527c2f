/* Programs of the machine, for comparison. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "runs/bench.h"

/* Start it, and wait for its successful end. */
static bool spawn_once(const char *const *argv, double *ret_us) {
	static char *const no_environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = -1;
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	uint64_t before = gb_now_ns();
	bool ok = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)argv, no_environment) == 0 &&
		  waitpid(pid, &status, 0) == pid && status == 0;
	*ret_us = (double)(gb_now_ns() - before) / 1e3;
	posix_spawn_file_actions_destroy(&actions);
	return ok;
}

void bench_program(const char *const *argv, struct samples *samples, size_t from, size_t to) {
	for (size_t i = from; i < to && samples->n; i++)
		if (!spawn_once(argv, &samples->us[i]))
			samples->n = 0;
}
