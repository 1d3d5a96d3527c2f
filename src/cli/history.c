#include "cli/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "store/state.h"
#include "value/wtf8.h"

/* A longer file is cut to its last entries when it is read. */
enum { FILE_MAX = 4 << 20 };

static void append(struct history *history, char *entry) {
	char **entries = history->entries;
	if (!entries)
		entries = history->entries = calloc(HISTORY_ENTRIES, sizeof *entries);
	if (!entries || !entry) {
		free(entry);
		return;
	}
	if (history->n == HISTORY_ENTRIES) {
		free(entries[0]);
		memmove(entries, entries + 1, --history->n * sizeof *entries);
	}
	entries[history->n++] = entry;
}

/* --- the file: one entry in each line, "\n" and "\\" are escapes --- */

static void write_entry(struct gb_buf *out, const char *entry) {
	for (; *entry; entry++) {
		if (*entry == '\n')
			gb_buf_append(out, "\\n", 2);
		else if (*entry == '\\')
			gb_buf_append(out, "\\\\", 2);
		else
			gb_buf_append_char(out, *entry);
	}
	gb_buf_append_char(out, '\n');
}

static void read_entry(struct history *history, struct gb_str line) {
	if (!line.n || line.n > (size_t)2 * HISTORY_ENTRY_BYTES ||
	    gb_wtf8_scan(line.p, line.n) != GB_WTF8_UTF8 || memchr(line.p, '\0', line.n))
		return;
	char *entry = malloc(line.n + 1), *to = entry;
	for (size_t i = 0; entry && i < line.n; i++) {
		bool is_escape = line.p[i] == '\\' && i + 1 < line.n;
		i += is_escape;
		*to++ = is_escape && line.p[i] == 'n' ? '\n' : line.p[i];
	}
	if (entry)
		*to = '\0';
	append(history, entry);
}

/* Entries that another process adds meanwhile wait for the lock. */
static void write_again(struct history *history) {
	gb_auto_buf struct gb_buf all;
	gb_buf_init(&all, (size_t)2 * FILE_MAX);
	for (size_t i = 0; i < history->n; i++)
		write_entry(&all, history->entries[i]);
	if (!gb_buf_failed(&all) && ftruncate(history->fd, 0) == 0)
		gb_write_all(history->fd, all.data, all.len);
}

static bool read_file(struct history *history, struct gb_err *err) {
	struct stat st;
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, FILE_MAX + 1);
	if (fstat(history->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    fchmod(history->fd, 0600) != 0)
		return gb_fail(err, GB_EINVAL, 0, "it is not a file of this user");
	off_t begin = st.st_size > FILE_MAX ? st.st_size - FILE_MAX : 0;
	if (lseek(history->fd, begin, SEEK_SET) < 0 || !gb_read_to_end(history->fd, "it", &bytes, err))
		return false;
	struct gb_str rest = gb_buf_str(&bytes), line;
	if (begin > 0)
		gb_str_cut(&rest, '\n', &line);
	size_t lines = 0;
	for (; rest.n; lines++) {
		gb_str_cut(&rest, '\n', &line);
		read_entry(history, line);
	}
	if (begin > 0 || lines > (size_t)2 * HISTORY_ENTRIES)
		write_again(history);
	return true;
}

bool history_open(struct history *history, const char *folder, const char *name, struct gb_err *err) {
	if (!gb_state_prepare(folder, err))
		return false;
	gb_auto_fd int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gb_auto_fd int fd =
	    dir < 0
		? -1
		: openat(dir, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "open '%s' in '%s'", name, folder);
	history->fd = fd;
	bool ok = read_file(history, err);
	flock(fd, LOCK_UN);
	history->fd = ok ? gb_take_fd(&fd) : -1;
	return ok || gb_wrap(err, name);
}

void history_add(struct history *history, const char *text) {
	size_t n = strlen(text);
	if (n == 0 || n > HISTORY_ENTRY_BYTES)
		return;
	if (history->n && strcmp(history->entries[history->n - 1], text) == 0)
		return;
	append(history, strdup(text));
	if (history->fd <= 0)
		return;
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, (size_t)4 * HISTORY_ENTRY_BYTES);
	write_entry(&line, text);
	if (gb_buf_failed(&line) || flock(history->fd, LOCK_EX | LOCK_NB) != 0)
		return;
	(void)gb_write_all(history->fd, line.data, line.len);
	flock(history->fd, LOCK_UN);
}

void history_close(struct history *history) {
	for (size_t i = 0; i < history->n; i++)
		free(history->entries[i]);
	free(history->entries);
	if (history->fd > 0)
		gb_close_fd(&history->fd);
	*history = (struct history){.fd = -1};
}
