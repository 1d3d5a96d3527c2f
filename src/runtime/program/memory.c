#include "runtime/program/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { TEXT_MAX = 4096 };

static bool read_text(const char *pid, const char *name, char text[TEXT_MAX]) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%.16s/%s", pid, name);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, TEXT_MAX - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Its own pages, and those it shares with its children since they were born. */
static uint64_t pages_of(const char *pid) {
	char text[TEXT_MAX];
	unsigned long long resident, shared;
	if (!read_text(pid, "statm", text) || sscanf(text, "%*u %llu %llu", &resident, &shared) != 2)
		return 0;
	return resident > shared ? resident - shared : 0;
}

/* The same, but what several have counts for each in part. */
static uint64_t share_of(const char *pid) {
	char text[TEXT_MAX];
	unsigned long long kb;
	const char *line = read_text(pid, "smaps_rollup", text) ? strstr(text, "\nPss_Anon:") : NULL;
	return line && sscanf(line, "\nPss_Anon: %llu", &kb) == 1 ? kb << 10 : 0;
}

static uint64_t sum(uint64_t (*of)(const char *pid)) {
	uint64_t all = 0;
	DIR *proc = opendir("/proc");
	if (!proc)
		return 0;
	for (struct dirent *entry; (entry = readdir(proc));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && strcmp(entry->d_name, "1") != 0)
			all += of(entry->d_name);
	closedir(proc);
	return all;
}

uint64_t gb_memory_used(uint64_t limit) {
	uint64_t used = sum(pages_of) * (uint64_t)sysconf(_SC_PAGESIZE);
	return used > limit ? sum(share_of) : used;
}
