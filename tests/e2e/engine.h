/* Helpers for end-to-end tests: an engine, and counts of the processes, descriptors and groups it leaves
 * behind. */
#ifndef GB_TESTS_ENGINE_H
#define GB_TESTS_ENGINE_H

#include <ctype.h>
#include <dirent.h>
#include <glovebox/glovebox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline struct gb_engine *engine_with(struct gb_engine_options options) {
	struct gb_engine *engine = NULL;
	struct gb_err err = {0};
	options.worker_dir = getenv("GB_WORKER_DIR");
	if (!gb_engine_create(&options, &engine, &err))
		printf("# %s\n", err.message);
	return engine;
}

static inline struct gb_run *start(struct gb_engine *engine, struct gb_run_options options) {
	struct gb_run *run = NULL;
	struct gb_err err = {0};
	if (!gb_run_start(engine, &options, &run, &err))
		printf("# %s\n", err.message);
	return run;
}

/* --- processes, descriptors, groups --- */

struct census {
	unsigned fds, descendants, mounts, cgroups;
	long rss_kb;
};

static inline unsigned count_dir(const char *path, const char *prefix) {
	DIR *dir = opendir(path);
	unsigned n = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		n += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	if (dir)
		closedir(dir);
	return n;
}

static inline int parent_of(int pid) {
	char path[64], line[512] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	int parent = 0;
	if (file && fgets(line, sizeof line, file) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1, " %*c %d", &parent);
	if (file)
		fclose(file);
	return parent;
}

static inline size_t list_children(int *ret, size_t max) {
	DIR *proc = opendir("/proc");
	size_t n = 0;
	for (struct dirent *entry; proc && n < max && (entry = readdir(proc));) {
		int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		if (pid && parent_of(pid) == getpid())
			ret[n++] = pid;
	}
	if (proc)
		closedir(proc);
	return n;
}

static inline unsigned count_descendants(int of) {
	DIR *proc = opendir("/proc");
	unsigned n = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		for (int up = pid ? parent_of(pid) : 0; up > 1; up = parent_of(up))
			if (up == of) {
				n++;
				break;
			}
	}
	if (proc)
		closedir(proc);
	return n;
}

static inline unsigned count_lines(const char *path) {
	FILE *file = fopen(path, "re");
	unsigned n = 0;
	for (int c; file && (c = fgetc(file)) != EOF;)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

/* The number of control groups that Glovebox has created for this process. */
static inline unsigned count_cgroups(void) {
	char command[256], line[32] = "0";
	snprintf(command, sizeof command,
	    "find /sys/fs/cgroup -type d -name 'glovebox.%d.*' 2>/dev/null | wc -l", (int)getpid());
	FILE *pipe = popen(command, "re");
	if (pipe && !fgets(line, sizeof line, pipe))
		line[0] = '0';
	if (pipe)
		pclose(pipe);
	return (unsigned)atoi(line);
}

static inline long own_rss_kb(void) {
	FILE *file = fopen("/proc/self/status", "re");
	long kb = 0;
	for (char line[256]; file && fgets(line, sizeof line, file);)
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static inline struct census take_census(void) {
	return (struct census){
	    .cgroups = count_cgroups(),
	    .fds = count_dir("/proc/self/fd", ""),
	    .descendants = count_descendants(getpid()),
	    .mounts = count_lines("/proc/self/mountinfo"),
	    .rss_kb = own_rss_kb(),
	};
}

#endif
