#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "engine/workers.h"
#include "glovebox/glovebox.h"

enum { FLAG_JSON, FLAG_RUNTIMES };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object"},
    [FLAG_RUNTIMES] = {"runtimes", 0, NULL, "also the programs of this machine that code can run in"},
    {0},
};

struct choice {
	bool json, runtimes;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct choice *choice = data;
	if (!flag)
		return complain(&command_version, "takes no operand, but got '%s'", value);
	*(flag == &flags[FLAG_JSON] ? &choice->json : &choice->runtimes) = true;
	return true;
}

/* Start "@path --version"; what it says can be read from *ret_fd. */
static bool start_asking(const char *path, pid_t *ret_pid, int *ret_fd) {
	const char *const argv[] = {path, "--version", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	bool ok = posix_spawn(ret_pid, path, &actions, NULL, (char *const *)argv, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!ok)
		close(ends[0]);
	*ret_fd = ends[0];
	return ok;
}

/* The first line of what it says; empty if it says nothing. */
static void ask_version(const char *path, char *ret, size_t n) {
	size_t got = 0;
	pid_t pid;
	int fd;
	*ret = '\0';
	if (!start_asking(path, &pid, &fd))
		return;
	for (ssize_t more; got < n - 1 && (more = read(fd, ret + got, n - 1 - got)) > 0;)
		got += (size_t)more;
	close(fd);
	waitpid(pid, NULL, 0);
	ret[got] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

static void print_runtime(const char *name, bool json, bool first) {
	char path[PATH_MAX], version[200];
	struct gb_err err = {0};
	bool found = gb_program_find(NULL, name, path, sizeof path, &err);
	if (found)
		ask_version(path, version, sizeof version);
	if (!json) {
		printf("%-8s %s\n", name, found ? path : err.message);
		if (found)
			printf("%-8s %s\n", "", version);
		return;
	}
	printf("%s\"%s\":", first ? "" : ",", name);
	if (!found) {
		printf("null");
		return;
	}
	printf("{\"path\":");
	print_json_string(stdout, path);
	printf(",\"version\":");
	print_json_string(stdout, version);
	printf("}");
}

static int run(const struct command *self, int argc, char **argv) {
	static const char *const programs[] = {"bash", "node", "deno"};
	struct choice choice = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &choice);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	printf(choice.json ? "{\"version\":\"%s\"" : "glovebox %s\n", GB_VERSION);
	if (choice.json && choice.runtimes)
		printf(",\"runtimes\":{");
	for (size_t i = 0; i < GB_COUNT(programs) && choice.runtimes; i++)
		print_runtime(programs[i], choice.json, i == 0);
	if (choice.json)
		puts(choice.runtimes ? "}}" : "}");
	return EXIT_OK;
}

const struct command command_version = {
    .name = "version",
    .synopsis = "[--runtimes] [--json]",
    .summary = "which Glovebox this is",
    .details = "Print the version; with --runtimes also where bash, Node.js and Deno were found, and which "
	       "they are.",
    .flags = flags,
    .run = run,
};
