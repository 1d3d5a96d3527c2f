/* Memory of a cell that has its own memory control group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/program/memory.h"
#include "runtime/program/memory_parts.h"
#include "sandbox/worker.h"

static bool read_group(int fd, char text[GB_PROC_TEXT_MAX]) {
	ssize_t n = pread(fd, text, GB_PROC_TEXT_MAX - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool read_usage(uint64_t *ret) {
	char text[GB_PROC_TEXT_MAX], *end;
	if (!read_group(GB_FD_GROUP_USAGE, text))
		return false;
	*ret = strtoull(text, &end, 10);
	return end != text && (*end == '\n' || *end == '\0');
}

bool gb_group_init(void) {
	uint64_t usage;
	return read_usage(&usage);
}

/* Files on the cell's tmpfs mounts have their own quota. */
static uint64_t files_used(void) {
	static const char *const folders[] = {"/box", "/tmp", "/dev/shm"};
	uint64_t used = 0;
	for (size_t i = 0; i < GB_COUNT(folders); i++) {
		struct statfs fs;
		/* The files of a working directory are not in memory, but on a disk. */
		if (i == 0 && gb_worker_has_workdir())
			continue;
		if (statfs(folders[i], &fs) == 0)
			used += (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
	}
	return used;
}

/* Page cache: the kernel reclaims it before it kills. */
static uint64_t cache_used(void) {
	char text[GB_PROC_TEXT_MAX] = "\n";
	if (!read_group(GB_FD_GROUP_STAT, text))
		return 0;
	return gb_proc_number(text, "\nactive_file ") + gb_proc_number(text, "\ninactive_file ");
}

static uint64_t subtract_saturating(uint64_t from, uint64_t n) {
	return from > n ? from - n : 0;
}

uint64_t gb_group_used(uint64_t limit) {
	uint64_t usage;
	if (!read_usage(&usage))
		return GB_MEMORY_UNKNOWN;
	usage = subtract_saturating(usage, files_used()) + gb_locks_used(limit) + gb_sockets_uncounted();
	return usage > limit ? subtract_saturating(usage, cache_used()) : usage;
}

uint64_t gb_group_kills(void) {
	char text[GB_PROC_TEXT_MAX];
	return read_group(GB_FD_GROUP_EVENTS, text) ? gb_proc_number(text, "oom_kill ") : 0;
}
