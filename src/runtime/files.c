#include "runtime/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/frame.h"
#include "value/wtf8.h"

#define BOX "/box"

enum { PATH_BYTES = 1024, DEPTH_MAX = 32, SETTINGS_DEPTH = 1000 };

/* --- input files --- */

/* Position *ret at the value of "files" in the job's settings. */
static bool find_input_files(const struct gb_job *job, struct gb_cbor_reader *ret) {
	struct gb_cbor_reader in = job->values;
	struct gb_cbor_item item;
	for (int i = 0; i < 3; i++) /* imports, globals, arguments */
		if (!gb_cbor_skip(&in, SETTINGS_DEPTH))
			return false;
	if (!gb_cbor_next(&in, &item) || item.kind != GB_CBOR_OBJECT)
		return false;
	for (uint64_t i = 0; i < item.argument; i++) {
		struct gb_cbor_item key;
		if (!gb_cbor_next(&in, &key) || key.kind != GB_CBOR_TEXT)
			return false;
		if (key.argument == 5 && memcmp(key.bytes, "files", 5) == 0) {
			*ret = in;
			return true;
		}
		if (!gb_cbor_skip(&in, SETTINGS_DEPTH))
			return false;
	}
	return false;
}

/* Create the parent directories of @path, which begins with BOX. */
static bool make_folders(char *path) {
	for (char *slash = path + sizeof BOX; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
		*slash = '/';
		if (!ok)
			return false;
	}
	return true;
}

static bool write_file(
    const struct gb_cbor_item *name, const struct gb_cbor_item *data, char *why, size_t n_why) {
	char path[PATH_BYTES];
	int n = snprintf(path, sizeof path, BOX "/%.*s", (int)name->argument, (const char *)name->bytes);
	if (n < 0 || (size_t)n >= sizeof path) {
		snprintf(why, n_why, "a file path is too long");
		return false;
	}
	gb_auto_fd int fd =
	    make_folders(path) ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && gb_write_all(fd, data->bytes, data->argument))
		return true;
	snprintf(why, n_why, "cannot write the file '%.200s' into the box: %s", path + sizeof BOX,
	    strerror(errno));
	return false;
}

/* The host sends file contents as plain text or bytes, never as a typed array view. */
static bool read_data(struct gb_cbor_reader *in, struct gb_cbor_item *ret) {
	return gb_cbor_next(in, ret) && (ret->kind == GB_CBOR_TEXT || ret->kind == GB_CBOR_BYTES);
}

/* Write each of @files; @in is positioned at the first name. */
static bool write_files(struct gb_cbor_reader in, const struct gb_cbor_item *files, char *why, size_t n_why) {
	struct gb_cbor_item name, data;
	for (uint64_t i = 0; i < files->argument; i++) {
		if (!gb_cbor_next(&in, &name) || name.kind != GB_CBOR_TEXT || !read_data(&in, &data)) {
			snprintf(why, n_why, "files: must be text or bytes by path");
			return false;
		}
		if (!write_file(&name, &data, why, n_why))
			return false;
	}
	return true;
}

/* --- directory walk --- */

typedef void (*visitor)(void *data, int folder, const char *path, const struct stat *st);

/* Visit every regular file below @folder. Symbolic links are not followed. */
static void walk(int folder, char *path, size_t n, unsigned depth, visitor visit, void *data) {
	gb_auto_fd int copy = dup(folder);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	if (!dir)
		return;
	gb_take_fd(&copy);
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat st;
		size_t length = strlen(entry->d_name);
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    n + length + 2 > PATH_BYTES ||
		    fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		memcpy(path + n, entry->d_name, length + 1);
		if (S_ISREG(st.st_mode)) {
			visit(data, folder, path, &st);
		} else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			gb_auto_fd int below =
			    openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			path[n + length] = '/';
			if (below >= 0)
				walk(below, path, n + length + 1, depth + 1, visit, data);
		}
	}
	closedir(dir);
}

/* True if the root directory is the only inode. statfs() costs a tenth of a walk, and most runs create no
 * files. */
static bool box_is_empty(void) {
	struct statfs fs;
	return statfs(BOX, &fs) == 0 && fs.f_files > 0 && fs.f_files - fs.f_ffree <= 1;
}

static void walk_box(visitor visit, void *data) {
	char path[PATH_BYTES];
	if (box_is_empty())
		return;
	gb_auto_fd int box = open(BOX, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (box >= 0)
		walk(box, path, 0, 0, visit, data);
}

static void add_mark(void *data, int folder, const char *path, const struct stat *st) {
	(void)folder, (void)path;
	struct gb_files *files = data;
	if (files->n == files->cap) {
		size_t cap = files->cap ? files->cap * 2 : 16;
		struct gb_files_mark *marks = realloc(files->marks, cap * sizeof *marks);
		if (!marks)
			return;
		files->marks = marks;
		files->cap = cap;
	}
	files->marks[files->n++] = (struct gb_files_mark){st->st_ino, st->st_size, st->st_ctim};
}

bool gb_files_place(struct gb_files *files, const struct gb_job *job, char *why, size_t n_why) {
	struct gb_cbor_reader in;
	struct gb_cbor_item given;
	if (!find_input_files(job, &in) || !gb_cbor_next(&in, &given) || given.kind != GB_CBOR_OBJECT)
		return true;
	bool ok = write_files(in, &given, why, n_why);
	files->n = 0;
	walk_box(add_mark, files);
	return ok;
}

void gb_files_finish(struct gb_files *files) {
	free(files->marks);
	*files = (struct gb_files){0};
}

/* --- changed files --- */

struct sending {
	const struct gb_files *before;
	struct gb_files after;
	/* index into the earlier marks: without additions or removals the walk order is the same */
	size_t next;
	uint64_t left;
	unsigned n;
	bool all;
	void (*post)(const void *frame, size_t n);
};

static bool is_unchanged(struct sending *sending, const struct stat *st) {
	const struct gb_files *before = sending->before;
	for (size_t i = 0; i < before->n; i++) {
		size_t at = (sending->next + i) % before->n;
		const struct gb_files_mark *mark = &before->marks[at];
		if (mark->inode == st->st_ino) {
			sending->next = at + 1;
			return mark->size == st->st_size && mark->changed.tv_sec == st->st_ctim.tv_sec &&
			       mark->changed.tv_nsec == st->st_ctim.tv_nsec;
		}
	}
	return false;
}

static void send_changed(void *data, int folder, const char *path, const struct stat *st) {
	struct sending *sending = data;
	size_t n_path = strlen(path);
	add_mark(&sending->after, folder, path, st);
	if (is_unchanged(sending, st))
		return;
	/* Skip names that are not UTF-8: the FILE frame carries the path as text. */
	if (sending->n == GB_WIRE_FILES_MAX || gb_wtf8_scan(path, n_path) != GB_WTF8_UTF8 ||
	    (uint64_t)st->st_size + n_path > sending->left) {
		sending->all = false;
		return;
	}
	const char *name = strrchr(path, '/');
	gb_auto_fd int fd =
	    openat(folder, name ? name + 1 : path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	gb_auto_buf struct gb_buf bytes, frame;
	gb_buf_init(&bytes, (size_t)st->st_size);
	gb_buf_init(&frame, (size_t)st->st_size + n_path + GB_WIRE_CALL_SLACK);
	if (fd < 0 || !gb_read_to_end(fd, path, &bytes, NULL)) {
		sending->all = false;
		return;
	}
	size_t mark = gb_frame_begin(&frame, GB_FRAME_FILE);
	gb_cbor_string(&frame, path, n_path);
	gb_cbor_bytes(&frame, bytes.data, bytes.len);
	gb_frame_end(&frame, mark);
	if (gb_buf_failed(&frame))
		return;
	sending->left -= bytes.len + n_path;
	sending->n++;
	sending->post(frame.data, frame.len);
}

bool gb_files_send(struct gb_files *files, uint64_t max_bytes, void (*post)(const void *frame, size_t n)) {
	struct sending sending = {.before = files, .left = max_bytes, .all = true, .post = post};
	walk_box(send_changed, &sending);
	gb_files_finish(files);
	*files = sending.after;
	return sending.all;
}
