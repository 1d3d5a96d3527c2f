#include "runtime/js/box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "box_script.h"

/* A tree that is removed: one descriptor for each level. */
enum { DEPTH_MAX = 128, READ_STEP = 64 << 10 };

/* Each function returns its value, or the number of the error; the script makes an exception of it. */
static JSValue failed(JSContext *ctx) {
	return JS_NewInt32(ctx, errno ? errno : EIO);
}

/* @value as a path. False: with an exception. It is freed by JS_FreeCString. */
static bool to_path(JSContext *ctx, JSValueConst value, const char **ret) {
	size_t n;
	*ret = JS_ToCStringLen(ctx, &n, value);
	if (*ret && strlen(*ret) == n)
		return true;
	if (*ret)
		JS_ThrowTypeError(ctx, "a path must not hold the character U+0000");
	JS_FreeCString(ctx, *ret);
	return false;
}

/* Keeps errno. */
static void free_path(JSContext *ctx, const char *path) {
	const int error = errno;
	JS_FreeCString(ctx, path);
	errno = error;
}

/* --- contents --- */

/* Memory of the heap of JavaScript, so that it counts. NULL: with errno, or with an exception if errno is 0. */
static uint8_t *read_all(JSContext *ctx, int fd, size_t *ret_n) {
	struct stat st;
	size_t n = 0, cap;
	if (fstat(fd, &st) != 0)
		return NULL;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return NULL;
	}
	cap = st.st_size > 0 && st.st_size < SSIZE_MAX / 2 ? (size_t)st.st_size + 1 : READ_STEP;
	uint8_t *bytes = js_malloc(ctx, cap);
	while (bytes) {
		if (n == cap) {
			uint8_t *more = js_realloc(ctx, bytes, cap += cap / 2 + READ_STEP);
			if (!more)
				break;
			bytes = more;
		}
		ssize_t got = read(fd, bytes + n, cap - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;
			js_free(ctx, bytes);
			errno = error;
			return NULL;
		}
		n += (size_t)got;
		*ret_n = n;
		if (!got)
			return bytes;
	}
	js_free(ctx, bytes);
	errno = 0;
	return NULL;
}

/* Resize or free, as the engine asks for. */
static void *resize_bytes(JSRuntime *runtime, void *opaque, void *bytes, size_t n) {
	(void)opaque;
	return js_realloc_rt(runtime, bytes, n);
}

/* read(path, as text) */
static JSValue box_read(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *path;
	size_t n = 0;
	(void)this_value, (void)argc;
	if (!to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	/* Not blocked by a pipe that has no writer. */
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	free_path(ctx, path);
	if (fd < 0)
		return failed(ctx);
	uint8_t *bytes = read_all(ctx, fd, &n);
	if (!bytes)
		return errno ? failed(ctx) : JS_EXCEPTION;
	if (!JS_ToBool(ctx, argv[1]))
		return JS_NewUint8Array(ctx, bytes, n, resize_bytes, NULL, false);
	JSValue text = JS_NewStringLen(ctx, (const char *)bytes, n);
	js_free(ctx, bytes);
	return text;
}

enum { APPENDS = 1, MAKES = 2, MAKES_NEW = 4 };

static bool write_bytes(int fd, const void *bytes, size_t n) {
	const char *at = bytes;
	while (n) {
		ssize_t written = write(fd, at, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		at += written;
		n -= (size_t)written;
	}
	return true;
}

static bool write_file(const char *path, int how, int mode, const void *bytes, size_t n) {
	const int flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			  (how & APPENDS ? O_APPEND : O_TRUNC) | (how & (MAKES | MAKES_NEW) ? O_CREAT : 0) |
			  (how & MAKES_NEW ? O_EXCL : 0);
	gb_auto_fd int fd = open(path, flags, mode & 0777);
	bool ok = fd >= 0 && write_bytes(fd, bytes, n);
	const int error = errno;
	if (fd >= 0)
		close(gb_take_fd(&fd));
	errno = error;
	return ok;
}

/* write(path, text or Uint8Array, how, mode) */
static JSValue box_write(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	int32_t how, mode;
	size_t n;
	const char *path, *text = NULL;
	(void)this_value, (void)argc;
	if (JS_ToInt32(ctx, &how, argv[2]) < 0 || JS_ToInt32(ctx, &mode, argv[3]) < 0 ||
	    !to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	const void *bytes = JS_IsString(argv[1]) ? (text = JS_ToCStringLen(ctx, &n, argv[1]))
						 : (const void *)JS_GetUint8Array(ctx, &n, argv[1]);
	const bool ok = bytes && write_file(path, how, mode, bytes, n);
	free_path(ctx, text);
	free_path(ctx, path);
	return !bytes ? JS_EXCEPTION : ok ? JS_UNDEFINED : failed(ctx);
}

/* --- folders --- */

/* Append [name, kind] to @list. */
static bool add_entry(JSContext *ctx, JSValueConst list, uint32_t i, const struct dirent *entry) {
	JSValue pair = JS_NewArray(ctx);
	return JS_DefinePropertyValueUint32(ctx, pair, 0, JS_NewString(ctx, entry->d_name), JS_PROP_C_W_E) >=
		   0 &&
	       JS_DefinePropertyValueUint32(
		   ctx, pair, 1, JS_NewInt32(ctx, (int)DTTOIF(entry->d_type)), JS_PROP_C_W_E) >= 0 &&
	       JS_DefinePropertyValueUint32(ctx, list, i, pair, JS_PROP_C_W_E) >= 0;
}

/* list(path): an array of [name, kind] */
static JSValue box_list(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *path;
	uint32_t n = 0;
	(void)this_value, (void)argc;
	if (!to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	DIR *dir = opendir(path);
	free_path(ctx, path);
	if (!dir)
		return failed(ctx);
	JSValue list = JS_NewArray(ctx);
	bool ok = true;
	for (struct dirent *entry; ok && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ok = add_entry(ctx, list, n++, entry);
	closedir(dir);
	if (ok)
		return list;
	JS_FreeValue(ctx, list);
	return JS_EXCEPTION;
}

/* mkdir(path, mode) */
static JSValue box_mkdir(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *path;
	int32_t mode;
	(void)this_value, (void)argc;
	if (JS_ToInt32(ctx, &mode, argv[1]) < 0 || !to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	const bool ok = mkdir(path, (mode_t)mode & 0777) == 0;
	free_path(ctx, path);
	return ok ? JS_UNDEFINED : failed(ctx);
}

static bool remove_tree(int folder, const char *name, unsigned depth);

/* Entries that others make meanwhile are left; then the folder is not empty. */
static bool empty_folder(int fd, unsigned depth) {
	DIR *dir = fdopendir(fd);
	bool ok = dir;
	if (!dir) {
		close(fd);
		return false;
	}
	for (struct dirent *entry; ok && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ok = remove_tree(dirfd(dir), entry->d_name, depth + 1);
	const int error = errno;
	closedir(dir);
	errno = error;
	return ok;
}

/* Links are removed, not followed. */
static bool remove_tree(int folder, const char *name, unsigned depth) {
	if (unlinkat(folder, name, 0) == 0)
		return true;
	if (errno != EISDIR && errno != EPERM)
		return false;
	const int error = errno;
	if (unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return true;
	if (errno != ENOTEMPTY && errno != EEXIST) {
		errno = errno == ENOTDIR ? error : errno;
		return false;
	}
	if (depth == DEPTH_MAX) {
		errno = ELOOP;
		return false;
	}
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && empty_folder(fd, depth) && unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

static bool remove_one(const char *path) {
	if (unlink(path) == 0)
		return true;
	if (errno != EISDIR && errno != EPERM)
		return false;
	const int error = errno;
	if (rmdir(path) == 0)
		return true;
	errno = errno == ENOTDIR ? error : errno;
	return false;
}

/* remove(path, with its contents) */
static JSValue box_remove(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *path;
	(void)this_value, (void)argc;
	if (!to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	const bool ok = JS_ToBool(ctx, argv[1]) ? remove_tree(AT_FDCWD, path, 0) : remove_one(path);
	free_path(ctx, path);
	return ok ? JS_UNDEFINED : failed(ctx);
}

/* rename(from, to) */
static JSValue box_rename(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *from, *to;
	(void)this_value, (void)argc;
	if (!to_path(ctx, argv[0], &from))
		return JS_EXCEPTION;
	if (!to_path(ctx, argv[1], &to)) {
		JS_FreeCString(ctx, from);
		return JS_EXCEPTION;
	}
	const bool ok = rename(from, to) == 0;
	free_path(ctx, from);
	free_path(ctx, to);
	return ok ? JS_UNDEFINED : failed(ctx);
}

static double milliseconds(struct timespec time) {
	const long whole = time.tv_nsec / 1000000;
	return (double)time.tv_sec * 1e3 + (double)whole;
}

/* stat(path, follows): an array of numbers, in the order of box.js */
static JSValue box_stat(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *path;
	struct stat st;
	(void)this_value, (void)argc;
	if (!to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	const bool ok = fstatat(AT_FDCWD, path, &st, JS_ToBool(ctx, argv[1]) ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
	free_path(ctx, path);
	if (!ok)
		return failed(ctx);
	const double numbers[] = {st.st_mode, (double)st.st_size, milliseconds(st.st_mtim),
	    milliseconds(st.st_atim), milliseconds(st.st_ctim), (double)st.st_dev, (double)st.st_ino,
	    (double)st.st_nlink, st.st_uid, st.st_gid, (double)st.st_blksize, (double)st.st_blocks};
	JSValue list = JS_NewArray(ctx);
	for (uint32_t i = 0; i < GB_COUNT(numbers); i++)
		JS_DefinePropertyValueUint32(ctx, list, i, JS_NewFloat64(ctx, numbers[i]), JS_PROP_C_W_E);
	return list;
}

/* link(path): what the symbolic link is to */
static JSValue box_link(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const char *path;
	char target[PATH_MAX];
	(void)this_value, (void)argc;
	if (!to_path(ctx, argv[0], &path))
		return JS_EXCEPTION;
	const ssize_t n = readlink(path, target, sizeof target);
	free_path(ctx, path);
	return n < 0 ? failed(ctx) : JS_NewStringLen(ctx, target, (size_t)n);
}

/* describe(number of an error) */
static JSValue box_describe(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	int32_t number;
	(void)this_value, (void)argc;
	return JS_ToInt32(ctx, &number, argv[0]) < 0 ? JS_EXCEPTION : JS_NewString(ctx, strerror(number));
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("read", 2, box_read),
    JS_CFUNC_DEF("write", 4, box_write),
    JS_CFUNC_DEF("list", 1, box_list),
    JS_CFUNC_DEF("mkdir", 2, box_mkdir),
    JS_CFUNC_DEF("remove", 2, box_remove),
    JS_CFUNC_DEF("rename", 2, box_rename),
    JS_CFUNC_DEF("stat", 2, box_stat),
    JS_CFUNC_DEF("link", 1, box_link),
    JS_CFUNC_DEF("describe", 1, box_describe),
};

/* --- installing --- */

bool gb_js_box_install(struct gb_js *js) {
	const struct gb_str script = {(const char *)gb_js_box_script, sizeof gb_js_box_script};
	JSContext *ctx = js->guest;
	JSValue native = JS_NewObject(ctx);
	/* Beyond the limit of the size of a file, a write fails instead of ending the process. */
	signal(SIGXFSZ, SIG_IGN);
	JS_SetPropertyFunctionList(ctx, native, functions, GB_COUNT(functions));
	JSValue made = gb_js_call_script(js, "glovebox:box", script, 1, (JSValueConst[]){native});
	JS_FreeValue(ctx, native);
	js->has_files = !JS_IsException(made);
	js->files = js->has_files ? made : JS_UNDEFINED;
	return js->has_files;
}

void gb_js_box_drop(struct gb_js *js) {
	if (js->has_files)
		JS_FreeValue(js->guest, js->files);
	js->has_files = false;
}
