#include "cli/copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/code_flags.h"
#include "cli/paths.h"
#include "value/wtf8.h"

enum { NAME_BYTES = 1024, DEPTH_MAX = 32, FILES_MAX = 10000 };

/* A folder that is being copied. */
struct walk {
	const struct copies *copies;
	const char *folder;    /* as given */
	char name[NAME_BYTES]; /* of the current copy */
	unsigned left_out;
};

static bool put(const struct copies *copies, const char *name, const char *path, const struct gb_buf *bytes) {
	if (gb_wtf8_scan(name, strlen(name)) == GB_WTF8_UTF8 && gb_value_get(copies->files, name))
		return report_error(
		    copies->command, "%sthere is another file '%s' before '%s'", copies->prefix, name, path);
	if (gb_value_count(copies->files) >= FILES_MAX)
		return report_error(copies->command, "%smore than %d files", copies->prefix, FILES_MAX);
	return gb_value_put_key(
		   copies->files, name, gb_value_buffer(copies->values, bytes->data, bytes->len)) ||
	       report_error(copies->command, "%stoo large together, or a name that is not UTF-8: '%s'",
		   copies->prefix, name);
}

static bool copy_named(const struct copies *copies, const char *path) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, CODE_VALUES_MAX);
	const char *slash = strrchr(path, '/');
	return read_path(copies->command, copies->prefix, path, &bytes) &&
	       put(copies, slash ? slash + 1 : path, path, &bytes);
}

/* --- folders --- */

static bool report_unreadable(const struct walk *walk) {
	return report_error(walk->copies->command, "%sread '%s' in '%s': %s", walk->copies->prefix,
	    walk->name, walk->folder, strerror(errno));
}

/* @entry was a regular file; what it is now is checked after it is open. */
static bool copy_entry(struct walk *walk, int folder, const char *entry) {
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, CODE_VALUES_MAX);
	struct stat st;
	gb_auto_fd int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return report_unreadable(walk);
	if (!S_ISREG(st.st_mode)) {
		walk->left_out++;
		return true;
	}
	return gb_read_to_end(fd, walk->name, &bytes, &err)
		   ? put(walk->copies, walk->name, walk->name, &bytes)
		   : report_error(walk->copies->command, "%s%s", walk->copies->prefix, err.message);
}

static bool copy_below(struct walk *walk, int folder, size_t n, unsigned depth);

/* The name of @entry begins at @n of walk->name. */
static bool visit(struct walk *walk, int folder, const char *entry, size_t n, unsigned depth) {
	struct stat st;
	size_t length = strlen(entry);
	if (n + length + 2 > sizeof walk->name || depth > DEPTH_MAX)
		return report_error(walk->copies->command, "%s'%s' has paths that are too long or too deep",
		    walk->copies->prefix, walk->folder);
	memcpy(walk->name + n, entry, length + 1);
	if (fstatat(folder, entry, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return report_unreadable(walk);
	if (S_ISREG(st.st_mode))
		return copy_entry(walk, folder, entry);
	if (!S_ISDIR(st.st_mode)) {
		walk->left_out++;
		return true;
	}
	int below = openat(folder, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return report_unreadable(walk);
	walk->name[n + length] = '/';
	return copy_below(walk, below, n + length + 1, depth + 1);
}

/* Closes @folder. */
static bool copy_below(struct walk *walk, int folder, size_t n, unsigned depth) {
	DIR *dir = fdopendir(folder);
	bool ok = true;
	if (!dir) {
		close(folder);
		return report_unreadable(walk);
	}
	for (struct dirent *entry; ok && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ok = visit(walk, folder, entry->d_name, n, depth);
	closedir(dir);
	return ok;
}

/* The last name of @path and a slash; nothing if that is "." or "..", or the root. */
static size_t write_prefix(const char *path, char ret[NAME_BYTES]) {
	struct gb_str rest = gb_str_from(path), last;
	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	last = rest;
	const char *slash = memrchr(rest.p, '/', rest.n);
	if (slash)
		last = (struct gb_str){slash + 1, (size_t)(rest.p + rest.n - slash) - 1};
	bool has_name = last.n && last.n + 2 < NAME_BYTES && !gb_str_eq(last, gb_str_from(".")) &&
			!gb_str_eq(last, gb_str_from(".."));
	return has_name ? (size_t)snprintf(ret, NAME_BYTES, "%.*s/", GB_STR_ARG(last)) : 0;
}

static bool copy_folder(const struct copies *copies, const char *path) {
	struct walk walk = {.copies = copies, .folder = path};
	struct gb_err err = {0};
	int folder;
	if (!open_folder(path, &folder, &err))
		return report_error(copies->command, "%s%s", copies->prefix, err.message);
	if (!copy_below(&walk, folder, write_prefix(path, walk.name), 0))
		return false;
	if (walk.left_out)
		report_warning(copies->command, "%s%u symbolic links or special files in '%s' were left out",
		    copies->prefix, walk.left_out, path);
	return true;
}

bool copies_add(const struct copies *copies, const char *path) {
	struct stat st;
	bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	return is_folder ? copy_folder(copies, path) : copy_named(copies, path);
}
