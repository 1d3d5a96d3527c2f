#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/session.h"

/* In XDG_RUNTIME_DIR if that belongs to this user, else in /tmp. */
static bool name_folder(struct session_place *place, struct gb_err *err) {
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	/* After su or sudo the variable may still name the folder of the original user. */
	struct stat found;
	bool own = runtime && runtime[0] == '/' && stat(runtime, &found) == 0 && found.st_uid == geteuid();
	int n = own ? snprintf(place->folder, sizeof place->folder, "%s/glovebox", runtime)
		    : snprintf(place->folder, sizeof place->folder, "/tmp/glovebox-%u", (unsigned)geteuid());
	if ((size_t)n >= sizeof place->folder)
		return gb_fail(err, GB_EINVAL, 0, "XDG_RUNTIME_DIR: '%s' is too long for a socket", runtime);
	snprintf(place->socket, sizeof place->socket, "%s/sessions.sock", place->folder);
	snprintf(place->lock, sizeof place->lock, "%s/sessions.lock", place->folder);
	return true;
}

/* In /tmp another user may have created the folder before. */
static bool check_folder(const char *path, struct gb_err *err) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat found;
	if (fd < 0 || fstat(fd, &found) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "open the folder '%s'", path);
	if (found.st_uid != geteuid() || (found.st_mode & 077))
		return gb_fail(err, GB_EINVAL, 0,
		    "other users can access the folder '%s' (it needs owner %u and mode 0700); remove it, "
		    "or set XDG_RUNTIME_DIR to another folder",
		    path, (unsigned)geteuid());
	return true;
}

bool session_place_open(struct session_place *ret, struct gb_err *err) {
	if (!name_folder(ret, err))
		return false;
	if (mkdir(ret->folder, 0700) != 0 && errno != EEXIST)
		return gb_fail(err, GB_ESYSTEM, errno, "make the folder '%s'", ret->folder);
	return check_folder(ret->folder, err);
}

int session_place_lock(const struct session_place *place, struct gb_err *err) {
	gb_auto_fd int fd = open(place->lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		gb_fail(err, GB_ESYSTEM, errno, "open '%s'", place->lock);
		return -1;
	}
	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			gb_fail(err, GB_ESYSTEM, errno, "lock '%s'", place->lock);
			return -1;
		}
	return gb_take_fd(&fd);
}
