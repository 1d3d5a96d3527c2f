#include "store/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/chain.h"
#include "store/state.h"

#define LIST_FILE  "trusted-files"
#define FIRST_LINE "glovebox trusted files 1"

enum { HASH_CHARS = 2 * GB_HASH_BYTES };

/* --- the text --- */

static int digit(char c) {
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hash(const char *text, struct gb_hash *ret) {
	for (size_t i = 0; i < GB_HASH_BYTES; i++) {
		int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
		if (low < 0)
			return false;
		ret->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Reject control characters: a line break in a path would break the format. */
static bool is_path(struct gb_str path) {
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] < 0x20 || path.p[i] == 0x7f)
			return false;
	return path.n > 0 && path.n <= GB_TRUSTED_PATH_MAX && path.p[0] == '/';
}

static bool fail_malformed(size_t line, struct gb_err *err) {
	return gb_fail(err, GB_EFORMAT, 0,
	    "the list of trusted files is damaged in line %zu; remove it, and trust the files again", line);
}

/* Parse @line; writes a zero after the path, in place of the line break. */
static bool parse_line(struct gb_trusted *list, struct gb_str line) {
	struct gb_trusted_file *file = &list->files[list->n];
	if (line.n < HASH_CHARS + 2 || line.p[HASH_CHARS] != ' ' || !parse_hash(line.p, &file->hash))
		return false;
	struct gb_str path = {line.p + HASH_CHARS + 1, line.n - HASH_CHARS - 1};
	if (!is_path(path) || memchr(path.p, '\0', path.n))
		return false;
	list->text.data[path.p + path.n - list->text.data] = '\0';
	file->path = path.p;
	if (gb_trusted_find(list, file->path))
		return false;
	list->n++;
	return true;
}

static bool parse(struct gb_trusted *list, struct gb_err *err) {
	struct gb_str rest = gb_buf_str(&list->text), line;
	if (!rest.n)
		return true;
	if (!gb_str_cut(&rest, '\n', &line) || !gb_str_eq(line, GB_STR(FIRST_LINE)))
		return fail_malformed(1, err);
	for (size_t number = 2; rest.n; number++) {
		if (list->n == GB_TRUSTED_MAX || !gb_str_cut(&rest, '\n', &line) || !parse_line(list, line))
			return fail_malformed(number, err);
	}
	return true;
}

static struct gb_trusted *create(struct gb_err *err) {
	struct gb_trusted *list = calloc(1, sizeof *list);
	if (!list)
		gb_fail(err, GB_ENOMEM, 0, "the list of trusted files");
	else
		gb_buf_init(&list->text, GB_TRUSTED_BYTES_MAX);
	return list;
}

void gb_trusted_destroy(struct gb_trusted *list) {
	if (list)
		gb_buf_finish(&list->text);
	free(list);
}

bool gb_trusted_parse(struct gb_str text, struct gb_trusted **ret, struct gb_err *err) {
	struct gb_trusted *list = create(err);
	if (!list)
		return false;
	gb_buf_append_str(&list->text, text);
	bool ok = gb_buf_failed(&list->text)
		      ? gb_fail(err, GB_ELIMIT, 0, "the list of trusted files is too long")
		      : parse(list, err);
	if (ok)
		*ret = list;
	else
		gb_trusted_destroy(list);
	return ok;
}

const struct gb_trusted_file *gb_trusted_find(const struct gb_trusted *list, const char *path) {
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->files[i].path, path) == 0)
			return &list->files[i];
	return NULL;
}

bool gb_trusted_has(const struct gb_trusted *list, const char *path, const struct gb_hash *hash) {
	const struct gb_trusted_file *file = gb_trusted_find(list, path);
	return file && gb_hash_eq(&file->hash, hash);
}

/* --- the file --- */

static bool is_private(const struct stat *st) {
	return (st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* *ret_fd is -1 if the folder does not exist. */
static bool open_folder(const char *dir, int *ret_fd, struct gb_err *err) {
	struct stat st;
	*ret_fd = -1;
	gb_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0 || fstat(fd, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "open the folder '%s'", dir);
	if (!is_private(&st))
		return gb_fail(
		    err, GB_EINVAL, 0, "the folder '%s': others can write to it; chmod 700 it", dir);
	*ret_fd = gb_take_fd(&fd);
	return true;
}

static bool read_file(int folder, struct gb_trusted **ret, struct gb_err *err) {
	struct stat st;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_TRUSTED_BYTES_MAX);
	gb_auto_fd int fd = -1;
	if (folder >= 0) {
		fd = openat(folder, LIST_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			return gb_fail(err, GB_ESYSTEM, errno, "open '" LIST_FILE "' in the state folder");
	}
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_private(&st)))
		return gb_fail(err, GB_EINVAL, 0,
		    "'" LIST_FILE "' in the state folder is not a file that only its owner can write to");
	if (fd >= 0 && !gb_read_to_end(fd, LIST_FILE, &text, err))
		return false;
	return gb_trusted_parse(gb_buf_str(&text), ret, err);
}

bool gb_trusted_read(const char *dir, struct gb_trusted **ret, struct gb_err *err) {
	gb_auto_fd int folder = -1;
	return open_folder(dir, &folder, err) && read_file(folder, ret, err);
}

static void write_file(struct gb_buf *out, const char *path, const struct gb_hash *hash) {
	char text[HASH_CHARS + 1];
	gb_hash_format(text, hash);
	gb_buf_printf(out, "%s %s\n", text, path);
}

/* Replace the file atomically: a reader sees either the old list or the new one. */
static bool replace(int folder, const struct gb_buf *text, struct gb_err *err) {
	gb_auto_fd int fd =
	    openat(folder, LIST_FILE ".new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0600) != 0 || !gb_write_all(fd, text->data, text->len) || fsync(fd) != 0 ||
	    renameat(folder, LIST_FILE ".new", folder, LIST_FILE) != 0 || fsync(folder) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "write '" LIST_FILE "' in the state folder");
	return true;
}

static bool change(
    int folder, struct gb_trusted *list, const char *path, const struct gb_hash *hash, struct gb_err *err) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, GB_TRUSTED_BYTES_MAX);
	gb_buf_printf(&out, FIRST_LINE "\n");
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->files[i].path, path) != 0)
			write_file(&out, list->files[i].path, &list->files[i].hash);
	if (hash)
		write_file(&out, path, hash);
	if (gb_buf_failed(&out))
		return gb_fail(err, GB_ELIMIT, 0, "the list of trusted files is too long");
	return replace(folder, &out, err);
}

bool gb_trusted_set(
    const char *dir, const char *path, const struct gb_hash *hash, bool *ret_changed, struct gb_err *err) {
	gb_auto_fd int folder = -1;
	struct gb_trusted *list = NULL;
	if (!is_path(gb_str_from(path)))
		return gb_fail(err, GB_EINVAL, 0,
		    "a path that can be trusted is absolute, has at most %d bytes and no control characters",
		    GB_TRUSTED_PATH_MAX);
	if ((hash && !gb_state_prepare(dir, err)) || !open_folder(dir, &folder, err))
		return false;
	while (folder >= 0 && flock(folder, LOCK_EX) != 0)
		if (errno != EINTR)
			return gb_fail(err, GB_ESYSTEM, errno, "lock the folder '%s'", dir);
	if (!read_file(folder, &list, err) || !list)
		return false;
	const struct gb_trusted_file *before = gb_trusted_find(list, path);
	bool is_new = hash ? !before || !gb_hash_eq(&before->hash, hash) : before != NULL;
	bool ok = !is_new || !(hash && !before && list->n == GB_TRUSTED_MAX) ||
		  gb_fail(err, GB_ELIMIT, 0, "%d files are trusted already; see 'glovebox config trusted'",
		      GB_TRUSTED_MAX);
	ok = ok && (!is_new || change(folder, list, path, hash, err));
	gb_trusted_destroy(list);
	if (ok)
		*ret_changed = is_new;
	return ok;
}
