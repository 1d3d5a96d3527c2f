/* Readers for /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/program/memory_parts.h"

enum gb_proc_status gb_proc_error(void) {
	if (errno == ENOENT || errno == ESRCH)
		return GB_PROC_GONE;
	return errno == EACCES || errno == EPERM ? GB_PROC_CLOSED : GB_PROC_FAILED;
}

enum gb_proc_status gb_proc_read(const char *path, char text[GB_PROC_TEXT_MAX]) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, GB_PROC_TEXT_MAX - 1) : -1;
	if (n < 0)
		return gb_proc_error();
	text[n] = '\0';
	return n > 0 ? GB_PROC_READ : GB_PROC_GONE;
}

uint64_t gb_proc_number(const char *text, const char *label) {
	const char *at = strstr(text, label);
	return at ? strtoull(at + strlen(label), NULL, 10) : 0;
}

const char *gb_proc_next(DIR *dir) {
	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && strcmp(entry->d_name, "1") != 0)
			return entry->d_name;
	return NULL;
}

static bool begins_with_one(const char *line, size_t n, const char *const *labels) {
	for (; *labels; labels++)
		if (n >= strlen(*labels) && memcmp(line, *labels, strlen(*labels)) == 0)
			return true;
	return false;
}

enum gb_proc_status gb_proc_count_lines(
    const char *path, const char *const *labels, uint64_t max, uint64_t *ret) {
	enum { STEP = 16 << 10, LINE_START = 16 };
	static char bytes[STEP];
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gb_proc_error();
	char start[LINE_START];
	size_t n_start = 0;
	uint64_t count = 0;
	ssize_t n = 0;
	while (count < max && (n = read(fd, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				if (n_start < sizeof start)
					start[n_start++] = bytes[i];
				continue;
			}
			count += begins_with_one(start, n_start, labels);
			n_start = 0;
		}
	*ret = count;
	return n < 0 ? gb_proc_error() : GB_PROC_READ;
}
