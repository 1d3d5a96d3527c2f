#include "store/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool set_path(char path[GB_STATE_PATH], const char *variable, const char *folder, const char *below,
    struct gb_err *err) {
	if (folder[0] != '/')
		return gb_fail(err, GB_EINVAL, 0, "$%s is not an absolute path", variable);
	if (snprintf(path, GB_STATE_PATH, "%s%s", folder, below) >= GB_STATE_PATH)
		return gb_fail(err, GB_ELIMIT, 0, "$%s is longer than %d bytes", variable, GB_STATE_PATH);
	return true;
}

bool gb_state_find(char path[GB_STATE_PATH], struct gb_err *err) {
	static const struct {
		const char *variable, *below;
	} places[] = {
	    {"GLOVEBOX_STATE_DIR", ""}, {"XDG_STATE_HOME", "/glovebox"}, {"HOME", "/.local/state/glovebox"}};
	for (size_t i = 0; i < GB_COUNT(places); i++) {
		const char *folder = getenv(places[i].variable);
		if (folder && *folder)
			return set_path(path, places[i].variable, folder, places[i].below, err);
	}
	return gb_fail(err, GB_ENOENT, 0, "no state folder: set $GLOVEBOX_STATE_DIR, or $HOME");
}

bool gb_state_choose(const char *configured, char path[GB_STATE_PATH], struct gb_err *err) {
	if (!*configured)
		return gb_state_find(path, err);
	if (snprintf(path, GB_STATE_PATH, "%s", configured) >= GB_STATE_PATH)
		return gb_fail(err, GB_ELIMIT, 0, "stateDir is longer than %d bytes", GB_STATE_PATH);
	return true;
}

static bool make_folders(const char *path, struct gb_err *err) {
	char part[GB_STATE_PATH];
	if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
		return gb_fail(
		    err, GB_ELIMIT, 0, "the state folder's path is longer than %d bytes", GB_STATE_PATH);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return gb_fail(err, GB_ESYSTEM, errno, "create the folder '%s'", part);
		*slash = '/';
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return gb_fail(err, GB_ESYSTEM, errno, "create the folder '%s'", path);
	return true;
}

bool gb_state_prepare(const char *path, struct gb_err *err) {
	struct stat st;
	if (!make_folders(path, err))
		return false;
	gb_auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "open the folder '%s'", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return gb_fail(err, GB_EINVAL, 0,
		    "the folder '%s' belongs to user %u, but this process runs as user %u", path,
		    (unsigned)st.st_uid, (unsigned)geteuid());
	if (st.st_mode & 022)
		return gb_fail(err, GB_EINVAL, 0,
		    "the folder '%s' has mode %04o: others could write there; chmod 700 it", path,
		    (unsigned)st.st_mode & 07777);
	return true;
}
