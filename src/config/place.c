#include "config/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "config/values.h"

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH };

#define REMEDY "; if you trust it, name it with --config"

static bool is_ours(const struct stat *st) {
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* --- folders --- */

/* Whether other users cannot replace files in the folder. In a sticky folder (/tmp) only the owner of a file
 * can. A folder of root above the containing one may be writable by a group, as /usr/local is in Debian.
 */
static bool is_closed(const struct stat *st, bool containing) {
	mode_t open = st->st_mode & OTHERS_WRITE;
	if (st->st_uid == 0 && !containing)
		open &= S_IWOTH;
	return !open || (st->st_mode & S_ISVTX);
}

/* @real is an absolute path without links; all its folders are checked. */
static bool check_folders(const char *path, const char *real, struct gb_err *err) {
	char folder[PATH_MAX], quoted[GB_CONFIG_QUOTED_MAX];
	struct stat st;
	snprintf(folder, sizeof folder, "%s", real);
	for (bool containing = true;; containing = false) {
		char *slash = strrchr(folder, '/');
		if (!slash)
			return true;
		bool is_root = slash == folder;
		*(is_root ? slash + 1 : slash) = '\0';
		if (stat(folder, &st) != 0)
			return gb_fail(err, GB_ESYSTEM, errno, "%s: its folder %s", path,
			    gb_config_quote(gb_str_from(folder), quoted));
		if (!is_ours(&st))
			return gb_fail(err, GB_EINVAL, 0, "%s: the folder %s belongs to another user" REMEDY,
			    path, gb_config_quote(gb_str_from(folder), quoted));
		if (!is_closed(&st, containing))
			return gb_fail(err, GB_EINVAL, 0,
			    "%s: others can write to the folder %s; 'chmod go-w' it" REMEDY, path,
			    gb_config_quote(gb_str_from(folder), quoted));
		if (is_root)
			return true;
	}
}

/* Check the folder that contains a link: its owner controls the target of the link. */
static bool check_link(const char *path, struct gb_err *err) {
	char folder[PATH_MAX], real[PATH_MAX];
	snprintf(folder, sizeof folder, "%s", path);
	char *slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	if (!realpath(slash ? folder : ".", real) || strlen(real) + 2 > sizeof real)
		return gb_fail(err, GB_ESYSTEM, errno, "%s: its folder", path);
	/* check_folders removes the last component. */
	memcpy(real + strlen(real), "/", 2);
	return check_folders(path, real, err);
}

/* --- files --- */

static enum gb_place_verdict fail_open(const char *path, struct gb_err *err) {
	if (errno == ENOENT || errno == ENOTDIR)
		return GB_PLACE_ABSENT;
	/* The user cannot own a file in a folder that the user cannot enter. */
	enum gb_place_verdict verdict = errno == EACCES ? GB_PLACE_FOREIGN : GB_PLACE_WRONG;
	gb_fail(err, GB_ENOENT, errno, "open '%s'", path);
	return verdict;
}

static enum gb_place_verdict fail_owner(const char *path, struct gb_err *err) {
	gb_fail(err, GB_EINVAL, 0, "%s: belongs to another user" REMEDY, path);
	return GB_PLACE_FOREIGN;
}

static enum gb_place_verdict check_file(const char *path, const struct stat *st, struct gb_err *err) {
	if (!is_ours(st))
		return fail_owner(path, err);
	if (!S_ISREG(st->st_mode))
		gb_fail(err, GB_EINVAL, S_ISDIR(st->st_mode) ? EISDIR : 0,
		    "%s: is not a regular file; move it away", path);
	else if (st->st_mode & OTHERS_WRITE)
		gb_fail(err, GB_EINVAL, 0, "%s: others can write to it; 'chmod go-w' it" REMEDY, path);
	else
		return GB_PLACE_READ;
	return GB_PLACE_WRONG;
}

/* Check the entry itself, the file that it leads to, and all folders. */
static enum gb_place_verdict check_place(
    const char *path, struct gb_place *place, struct stat *ret_st, struct gb_err *err) {
	struct stat entry;
	if (lstat(path, &entry) != 0)
		return fail_open(path, err);
	if (!is_ours(&entry))
		return fail_owner(path, err);
	if (stat(path, ret_st) != 0)
		return fail_open(path, err);
	if (!realpath(path, place->real))
		return fail_open(path, err);
	if (!check_folders(path, place->real, err) || (S_ISLNK(entry.st_mode) && !check_link(path, err)))
		return GB_PLACE_FOREIGN;
	return check_file(path, ret_st, err);
}

/* Without O_NONBLOCK a FIFO that has replaced the file would block. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

enum gb_place_verdict gb_place_read(
    const char *path, struct gb_buf *text, struct gb_place *ret, struct gb_err *err) {
	struct gb_place place;
	struct stat before, st;
	enum gb_place_verdict verdict = check_place(path, &place, &before, err);
	if (verdict != GB_PLACE_READ)
		return verdict;
	gb_auto_fd int fd = open(place.real, OPEN_FLAGS | O_NOFOLLOW);
	if (fd < 0 && errno == EACCES) {
		/* The file was found, and is the user's or root's: it is obeyed or nothing runs. */
		gb_fail(err, GB_EINVAL, EACCES, "open '%s'", path);
		return GB_PLACE_WRONG;
	}
	if (fd < 0 || fstat(fd, &st) != 0)
		return fail_open(path, err);
	verdict = check_file(path, &st, err);
	if (verdict != GB_PLACE_READ)
		return verdict;
	place.device = st.st_dev;
	place.inode = st.st_ino;
	if (!gb_read_to_end(fd, path, text, err))
		return GB_PLACE_WRONG;
	*ret = place;
	return GB_PLACE_READ;
}

/* --- files named by the user --- */

bool gb_place_read_named(const char *path, struct gb_buf *text, struct gb_err *err) {
	gb_auto_fd int fd = -1;
	return gb_open_named(path, &fd, err) && gb_read_to_end(fd, path, text, err);
}
