#include "processes.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

/* From /proc/<pid>/stat; the name in it may hold anything, so what follows the last bracket is read. */
static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent) {
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t n = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[n] = '\0';
	const char *tail = strrchr(text, ')');
	return tail && sscanf(tail, ") %c %d", ret_state, ret_parent) == 2;
}

static bool is_alive(pid_t pid) {
	char state;
	pid_t parent;
	return read_stat(pid, &state, &parent) && state != 'Z' && state != 'X';
}

/* Every living process and its parent, read once. */
static size_t read_all(pid_t (*ret)[2], size_t max) {
	size_t n = 0;
	DIR *dir = opendir("/proc");
	for (struct dirent *entry; dir && n < max && (entry = readdir(dir));) {
		pid_t pid = atoi(entry->d_name), parent;
		char state;
		if (pid > 0 && read_stat(pid, &state, &parent) && state != 'Z' && state != 'X') {
			ret[n][0] = pid;
			ret[n++][1] = parent;
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

/* One generation after the other; those that were added are the next parents. */
static void find_family(pid_t parent, bool with_grandchildren, struct processes *ret) {
	static pid_t all[32768][2];
	size_t n = read_all(all, sizeof all / sizeof *all), next = 0;
	ret->n = 0;
	for (;;) {
		for (size_t i = 0; i < n && ret->n < MAX_PROCESSES; i++)
			if (all[i][1] == parent)
				ret->pids[ret->n++] = all[i][0];
		if (!with_grandchildren || next == ret->n)
			return;
		parent = ret->pids[next++];
	}
}

void processes_children(pid_t parent, struct processes *ret) {
	find_family(parent, false, ret);
}

void processes_descendants(pid_t parent, struct processes *ret) {
	find_family(parent, true, ret);
}

size_t processes_alive(const struct processes *processes) {
	size_t n = 0;
	for (size_t i = 0; i < processes->n; i++)
		n += is_alive(processes->pids[i]);
	return n;
}

size_t processes_await_end(const struct processes *processes, int timeout_ms) {
	uint64_t deadline = gb_now_ns() + (uint64_t)timeout_ms * 1000000;
	while (processes_alive(processes) && gb_now_ns() < deadline)
		usleep(2000);
	return processes_alive(processes);
}

size_t count_open_fds(void) {
	size_t n = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* A line of /proc/self/status that is in kilobytes. */
static size_t read_status(const char *field) {
	char line[128];
	size_t n = strlen(field), kilobytes = 0;
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, field, n) == 0)
			kilobytes = strtoul(line + n, NULL, 10);
	if (file)
		fclose(file);
	return kilobytes << 10;
}

size_t memory_mark(void) {
	FILE *file = fopen("/proc/self/clear_refs", "we");
	if (file) {
		fputs("5", file);
		fclose(file);
	}
	return read_status("VmRSS:");
}

size_t memory_peak_above(size_t mark) {
	size_t peak = read_status("VmHWM:");
	return peak > mark ? peak - mark : 0;
}

static size_t own_cgroups;

static int count_cgroup(const char *path, const struct stat *stat, int type, struct FTW *ftw) {
	(void)stat;
	char prefix[40];
	int n = snprintf(prefix, sizeof prefix, "glovebox.%d.", (int)getpid());
	if (type == FTW_D && strncmp(path + ftw->base, prefix, (size_t)n) == 0)
		own_cgroups++;
	return 0;
}

size_t count_own_cgroups(void) {
	own_cgroups = 0;
	nftw("/sys/fs/cgroup", count_cgroup, 16, FTW_PHYS);
	return own_cgroups;
}

/* A folder in which attack-worker goes by the name of the real one. Zygotes are started from there at any
 * time, so it stays until the program ends. */
static char worker_dir[40];

static void remove_worker_dir(void) {
	char link[sizeof worker_dir + 16];
	snprintf(link, sizeof link, "%s/glovebox-js", worker_dir);
	unlink(link);
	rmdir(worker_dir);
}

static bool make_worker_dir(void) {
	const char *worker = getenv("GB_ATTACK_WORKER");
	char link[sizeof worker_dir + 16];
	if (worker_dir[0])
		return true;
	snprintf(worker_dir, sizeof worker_dir, "/tmp/glovebox-worker.XXXXXX");
	if (!worker || !mkdtemp(worker_dir)) {
		worker_dir[0] = '\0';
		return false;
	}
	atexit(remove_worker_dir);
	snprintf(link, sizeof link, "%s/glovebox-js", worker_dir);
	return symlink(worker, link) == 0;
}

struct gb_engine *hostile_engine(unsigned shards) {
	struct gb_engine *engine = NULL;
	struct gb_err err = {0};
	if (!make_worker_dir()) {
		printf("# GB_ATTACK_WORKER is not set, or /tmp is not writable\n");
		return NULL;
	}
	const struct gb_engine_options options = {
	    .worker_dir = worker_dir, .shards = shards, .warm = GB_NONE};
	if (!gb_engine_create(&options, &engine, &err))
		printf("# %s\n", err.message);
	return engine;
}

struct gb_run *hostile_start(struct gb_engine *engine, const char *behaviour, uint64_t timeout_ms) {
	struct gb_run *run = NULL;
	struct gb_err err = {0};
	if (!gb_run_start(
		engine, &(struct gb_run_options){.source = behaviour, .timeout_ms = timeout_ms}, &run, &err))
		printf("# %s\n", err.message);
	return run;
}

bool engine_works(struct gb_engine *engine) {
	struct gb_run *run = hostile_start(engine, "ok", 60000);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	bool ok = result && result->status == GB_SUCCESS && gb_value_as_number(result->value) == 42;
	if (result && !ok)
		printf("# a good run: %s %s: %s\n", gb_status_name(result->status), result->error.code,
		    result->error.message);
	gb_run_destroy(run);
	return ok;
}
