#include "runtime/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/wire.h"
#include "sandbox/worker.h"
#include "value/cbor.h"
#include "value/frame.h"
#include "value/wtf8.h"

#define BOX "/box"

enum {
	PATH_BYTES = 1024,
	DEPTH_MAX = 32,
	SETTINGS_DEPTH = 1000,
	TAKEN_MAX = 64,
	LISTING_MAX = 1 << 20,
};

/* --- input files --- */

/* Position *ret at the value of @name in the job's settings. */
static bool find_setting(const struct gb_job *job, struct gb_str name, struct gb_cbor_reader *ret) {
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
		if (key.argument == name.n && memcmp(key.bytes, name.p, name.n) == 0) {
			*ret = in;
			return true;
		}
		if (!gb_cbor_skip(&in, SETTINGS_DEPTH))
			return false;
	}
	return false;
}

/* Open @path below the box. No symbolic link is followed: the program may have made one to a file of this process,
 * below /proc. With @make, missing folders are created. Returns -1 with errno. */
static int open_in_box(const char *path, bool make, int flags) {
	gb_auto_fd int folder = open(BOX, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gb_str rest = gb_str_from(path), part;
	char name[NAME_MAX + 1];
	while (folder >= 0) {
		bool more = gb_str_cut(&rest, '/', &part);
		if (more && (!part.n || gb_str_eq(part, GB_STR("."))))
			continue;
		if (!part.n || part.n > NAME_MAX || gb_str_eq(part, GB_STR(".."))) {
			errno = EINVAL;
			return -1;
		}
		gb_copy_text(name, sizeof name, part);
		if (!more)
			return openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		if (make && mkdirat(folder, name, 0700) != 0 && errno != EEXIST)
			return -1;
		int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(folder);
		folder = below;
	}
	return -1;
}

static bool write_file(
    const struct gb_cbor_item *name, const struct gb_cbor_item *data, char *why, size_t n_why) {
	char path[PATH_BYTES];
	struct stat st;
	int n = snprintf(path, sizeof path, "%.*s", (int)name->argument, (const char *)name->bytes);
	if (n < 0 || (size_t)n >= sizeof path - sizeof BOX) {
		snprintf(why, n_why, "a file path is too long");
		return false;
	}
	gb_auto_fd int fd = open_in_box(path, true, O_WRONLY | O_CREAT);
	/* Not a pipe or device that the program has made. */
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		errno = EINVAL;
		gb_close_fd(&fd);
	}
	if (fd >= 0 && ftruncate(fd, 0) == 0 && gb_write_all(fd, data->bytes, data->argument))
		return true;
	snprintf(why, n_why, "cannot write the file '%.200s' into the box: %s", path, strerror(errno));
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
	return !gb_worker_has_workdir() && statfs(BOX, &fs) == 0 && fs.f_files > 0 &&
	       fs.f_files - fs.f_ffree <= 1;
}

static void walk_box(visitor visit, void *data) {
	char path[PATH_BYTES];
	if (box_is_empty())
		return;
	gb_auto_fd int box = open(BOX, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (box >= 0)
		walk(box, path, 0, 0, visit, data);
}

/* A folder of the host's may have any number of files, and others change them too: a run has no "changed files"
 * there. */
static void walk_changes(visitor visit, void *data) {
	if (!gb_worker_has_workdir())
		walk_box(visit, data);
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

/* --- files that the run is asked for --- */

static void forget_taken(struct gb_files *files) {
	for (size_t i = 0; i < files->n_taken; i++)
		free(files->taken[i]);
	free(files->taken);
	files->taken = NULL;
	files->n_taken = 0;
}

static void note_taken(struct gb_files *files, const struct gb_job *job) {
	struct gb_cbor_reader in;
	struct gb_cbor_item list, path;
	forget_taken(files);
	if (!find_setting(job, GB_STR("take"), &in) || !gb_cbor_next(&in, &list) ||
	    list.kind != GB_CBOR_ARRAY || list.argument > TAKEN_MAX)
		return;
	files->taken = calloc(list.argument + 1, sizeof *files->taken);
	for (uint64_t i = 0; files->taken && i < list.argument; i++) {
		if (!gb_cbor_next(&in, &path) || path.kind != GB_CBOR_TEXT || path.argument >= PATH_BYTES)
			return;
		char *copy = strndup((const char *)path.bytes, path.argument);
		if (!copy)
			return;
		files->taken[files->n_taken++] = copy;
	}
}

bool gb_files_place(struct gb_files *files, const struct gb_job *job, char *why, size_t n_why) {
	struct gb_cbor_reader in;
	struct gb_cbor_item given;
	note_taken(files, job);
	if (!find_setting(job, GB_STR("files"), &in) || !gb_cbor_next(&in, &given) ||
	    given.kind != GB_CBOR_OBJECT)
		return true;
	bool ok = write_files(in, &given, why, n_why);
	files->n = 0;
	walk_changes(add_mark, files);
	return ok;
}

void gb_files_finish(struct gb_files *files) {
	forget_taken(files);
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

static bool is_taken(const struct gb_files *files, const char *path);

static void post_file(struct sending *sending, const char *path, const struct gb_buf *bytes) {
	size_t n_path = strlen(path);
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, bytes->len + n_path + GB_WIRE_CALL_SLACK);
	size_t mark = gb_frame_begin(&frame, GB_FRAME_FILE);
	gb_cbor_string(&frame, path, n_path);
	gb_cbor_bytes(&frame, bytes->data, bytes->len);
	gb_frame_end(&frame, mark);
	if (gb_buf_failed(&frame))
		return;
	sending->left -= bytes->len + n_path;
	sending->n++;
	sending->post(frame.data, frame.len);
}

static void send_file(struct sending *sending, int fd, const char *path, size_t size) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, size);
	if (fd >= 0 && gb_read_to_end(fd, path, &bytes, NULL))
		post_file(sending, path, &bytes);
	else
		sending->all = false;
}

static void send_changed(void *data, int folder, const char *path, const struct stat *st) {
	struct sending *sending = data;
	size_t n_path = strlen(path);
	add_mark(&sending->after, folder, path, st);
	if (is_unchanged(sending, st) || is_taken(sending->before, path))
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
	send_file(sending, fd, path, (size_t)st->st_size);
}

/* --- files that were asked for --- */

struct listing {
	struct gb_buf text;
	bool full;
};

static void list_file(void *data, int folder, const char *path, const struct stat *st) {
	struct listing *listing = data;
	size_t n = strlen(path);
	(void)folder;
	/* A name with a newline would look like two files. */
	if (gb_wtf8_scan(path, n) != GB_WTF8_UTF8 || memchr(path, '\n', n) ||
	    listing->text.len + n > LISTING_MAX)
		listing->full = true;
	else
		gb_buf_printf(&listing->text, "%lld %s\n", (long long)st->st_size, path);
}

/* The last line is "…" if files are left out. */
static void send_listing(struct sending *sending) {
	struct listing listing = {.full = false};
	gb_buf_init(&listing.text, LISTING_MAX + PATH_BYTES);
	walk_box(list_file, &listing);
	if (listing.full)
		gb_buf_printf(&listing.text, "…\n");
	if (!gb_buf_failed(&listing.text))
		post_file(sending, ".", &listing.text);
	gb_buf_finish(&listing.text);
}

/* A file that does not exist, or is none, is left out. */
static void send_taken(struct sending *sending, const char *path) {
	struct stat st;
	if (strcmp(path, ".") == 0) {
		send_listing(sending);
		return;
	}
	gb_auto_fd int fd = open_in_box(path, false, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	if ((uint64_t)st.st_size + strlen(path) > sending->left)
		sending->all = false;
	else
		send_file(sending, fd, path, (size_t)st.st_size);
}

static bool is_taken(const struct gb_files *files, const char *path) {
	for (size_t i = 0; i < files->n_taken; i++)
		if (strcmp(files->taken[i], path) == 0)
			return true;
	return false;
}

bool gb_files_send(struct gb_files *files, uint64_t max_bytes, void (*post)(const void *frame, size_t n)) {
	struct sending sending = {.before = files, .left = max_bytes, .all = true, .post = post};
	walk_changes(send_changed, &sending);
	for (size_t i = 0; i < files->n_taken; i++)
		send_taken(&sending, files->taken[i]);
	gb_files_finish(files);
	*files = sending.after;
	return sending.all;
}
