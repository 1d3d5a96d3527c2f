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

/* The kilobytes of a line of @text; 0 if it has no such line. */
static uint64_t kilobytes(const char *text, const char *line) {
	const char *at = strstr(text, line);
	return at ? strtoull(at + strlen(line), NULL, 10) : 0;
}

/* What it has that is in no file: its own pages, those it shares with its children since they were born, and
 * those it has made to be shared. */
static uint64_t pages_of(const char *pid) {
	char text[TEXT_MAX];
	return read_text(pid, "status", text) ? kilobytes(text, "\nRssAnon:") + kilobytes(text, "\nRssShmem:")
					      : 0;
}

/* The same, but what several have counts for each in part. */
static uint64_t share_of(const char *pid) {
	char text[TEXT_MAX];
	return read_text(pid, "smaps_rollup", text)
		   ? kilobytes(text, "\nPss_Anon:") + kilobytes(text, "\nPss_Shmem:")
		   : 0;
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
	uint64_t used = sum(pages_of) << 10;
	return used > limit ? sum(share_of) << 10 : used;
}
