/* Looks for what can make this machine deny a layer. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/cause.h"
#include "sandbox/linux/cgroup_tree.h"

/* --- files of /proc --- */

/* Empty if it cannot be read. */
static void read_text(const char *path, char *ret, size_t n) {
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, ret, n - 1);
	ret[got < 0 ? 0 : got] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

static bool file_is(const char *path, const char *text) {
	char seen[16];
	read_text(path, seen, sizeof seen);
	return strcmp(seen, text) == 0;
}

static void find_zero_limit(struct gb_machine *ret) {
	static const char *const names[] = {"user", "pid", "net", "ipc", "uts", "mnt"};
	for (size_t i = 0; i < GB_COUNT(names); i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/sys/user/max_%s_namespaces", names[i]);
		if (!file_is(path, "0"))
			continue;
		snprintf(ret->zero_limit, sizeof ret->zero_limit, "user.max_%s_namespaces", names[i]);
		return;
	}
}

/* "unconfined", "glovebox (unconfined)" or "docker-default (enforce)". Other security modules use the file, too. */
static void find_profile(struct gb_machine *ret) {
	char text[sizeof ret->profile];
	read_text("/proc/self/attr/apparmor/current", text, sizeof text);
	char *mode = strstr(text, " (enforce)");
	if (!mode)
		return;
	*mode = '\0';
	snprintf(ret->profile, sizeof ret->profile, "%s", text);
}

static bool has_filter(void) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 16 << 10);
	gb_auto_fd int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	bool read = fd >= 0 && gb_read_to_end(fd, "status", &text, NULL) && gb_buf_c_str(&text);
	return read && strstr(text.data, "\nSeccomp:\t2");
}

/* Mounts below /proc. A file system for binary formats is mounted where the kernel has an empty folder for it. */
static bool masks_proc(void) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	gb_auto_fd int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !gb_read_to_end(fd, "mountinfo", &text, NULL) || !gb_buf_c_str(&text))
		return false;
	char *save = NULL;
	for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char point[32];
		if (sscanf(line, "%*s %*s %*s %*s %31s", point) == 1 && strncmp(point, "/proc/", 6) == 0 &&
		    strncmp(point, "/proc/sys/fs/binfmt_misc", sizeof point - 1) != 0)
			return true;
	}
	return false;
}

/* --- properties of this process --- */

static bool has_capability(unsigned capability) {
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {0};
	return syscall(SYS_capget, &head, caps) == 0 && (caps[0].effective & 1u << capability);
}

/* A copy of this process, without a signal at its end, which a program that embeds the library might wait for. */
static pid_t fork_silently(void) {
	return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}

__attribute__((noreturn)) static void exit_now(int status) {
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

static bool look_at(const char *path, struct statx *ret) {
	return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_MNT_ID, ret) == 0;
}

/* From a folder outside of the root, ".." leads to the root of the mount namespace. Needs CAP_SYS_CHROOT. */
static bool is_above_root(void) {
	enum { ABOVE = 77, DEPTH = 64 };
	int status = 0;
	pid_t pid = fork_silently();
	if (pid == 0) {
		struct statx root, top;
		bool moved = look_at("/", &root) && chdir("/") == 0 && chroot("/proc") == 0;
		for (int i = 0; moved && i < DEPTH; i++)
			moved = chdir("..") == 0;
		exit_now(
		    moved && look_at(".", &top) &&
			    (top.stx_ino != root.stx_ino || top.stx_dev_minor != root.stx_dev_minor ||
				top.stx_dev_major != root.stx_dev_major || top.stx_mnt_id != root.stx_mnt_id)
			? ABOVE
			: 0);
	}
	return pid > 0 && waitpid(pid, &status, __WALL) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == ABOVE;
}

/* A root that is not a mount is that of a chroot. One that is can be as well: see is_above_root. */
static bool is_chrooted(void) {
	struct statx root = {0};
	const uint64_t known = STATX_ATTR_MOUNT_ROOT;
	return look_at("/", &root) && (root.stx_attributes_mask & known) && !(root.stx_attributes & known);
}

/* Whether user 65534 exists in this user namespace: lines of "first in here, first outside, how many". */
static bool lacks_id(void) {
	enum { UNPRIVILEGED = 65534 };
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 64 << 10);
	gb_auto_fd int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	if (geteuid() != 0 || fd < 0 || !gb_read_to_end(fd, "uid_map", &text, NULL) || !gb_buf_c_str(&text))
		return false;
	char *save = NULL;
	for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned first, outside, n;
		if (sscanf(line, "%u %u %u", &first, &outside, &n) == 3 && first <= UNPRIVILEGED &&
		    UNPRIVILEGED - first < n)
			return false;
	}
	return true;
}

static enum gb_groups find_groups(void) {
	char path[PATH_MAX];
	struct statvfs system;
	bool found =
	    gb_cgroup_find_own("memory", path, sizeof path) || gb_cgroup_find_own(NULL, path, sizeof path);
	if (!found)
		return GB_GROUPS_NOT_MOUNTED;
	/* In a container the path of the group may be that on the host, of which the mount shows a part. */
	for (char *slash; statvfs(path, &system) != 0; *slash = '\0')
		if (!(slash = strrchr(path, '/')) || slash == path)
			return GB_GROUPS_NOT_MOUNTED;
	if (system.f_flag & ST_RDONLY)
		return GB_GROUPS_READ_ONLY;
	return access(path, W_OK) == 0 ? GB_GROUPS_USABLE : GB_GROUPS_NOT_OWN;
}

/* --- what a filter refuses --- */

enum {
	NAMESPACES = GB_LAYER_USER | GB_LAYER_PID | GB_LAYER_NET | GB_LAYER_IPC | GB_LAYER_UTS |
		     GB_LAYER_MOUNT | GB_LAYER_CAPS
};

#define BAD_POINTER 1

/* Each call has arguments that the kernel rejects before it looks at permissions. Another answer is that of a
 * filter. */
static const struct attempt {
	const char *name;
	unsigned layers;
	long nr, args[3];
	int expected, also;
	bool inside; /* in namespaces of its own, since the kernel looks at permissions first */
} attempts[] = {
    {"clone", NAMESPACES, SYS_clone, {CLONE_NEWUSER | CLONE_FS | SIGCHLD}, EINVAL, EINVAL, false},
    {"unshare", NAMESPACES, SYS_unshare, {CLONE_NEWUSER | SIGCHLD}, EINVAL, EINVAL, false},
    /* The C library starts threads with clone if the kernel does not know clone3. */
    {"clone3", NAMESPACES, SYS_clone3, {0}, EINVAL, ENOSYS, false},
    {"mount", GB_LAYER_MOUNT, SYS_mount, {0, BAD_POINTER}, EFAULT, EFAULT, false},
    {"umount2", GB_LAYER_MOUNT, SYS_umount2, {BAD_POINTER, ~0u}, EINVAL, EINVAL, false},
    {"mount_setattr", GB_LAYER_MOUNT, SYS_mount_setattr, {-1, BAD_POINTER}, EINVAL, EINVAL, false},
    {"landlock_create_ruleset", GB_LAYER_LANDLOCK, SYS_landlock_create_ruleset, {0, 0, 1 << 30}, EINVAL,
	EOPNOTSUPP, false},
    {"seccomp", GB_LAYER_SECCOMP, SYS_seccomp, {~0u}, EINVAL, EINVAL, false},
    {"sethostname", GB_LAYER_UTS, SYS_sethostname, {BAD_POINTER, 1}, EFAULT, EFAULT, true},
    {"setdomainname", GB_LAYER_UTS, SYS_setdomainname, {BAD_POINTER, 1}, EFAULT, EFAULT, true},
    {"pivot_root", GB_LAYER_MOUNT, SYS_pivot_root, {BAD_POINTER, BAD_POINTER}, EFAULT, EFAULT, true},
};

__attribute__((noreturn)) static void make_attempts(int out) {
	bool is_inside = false;
	for (size_t i = 0; i < GB_COUNT(attempts); i++) {
		const long *a = attempts[i].args;
		if (attempts[i].inside && !is_inside &&
		    syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS) != 0)
			break;
		is_inside = attempts[i].inside;
		errno = 0;
		(void)syscall(attempts[i].nr, a[0], a[1], a[2], 0, 0, 0);
		const int error = errno;
		if (write(out, &error, sizeof error) != sizeof error)
			break;
	}
	exit_now(0);
}

/* The errno of each attempt, made in a process of its own, since a filter may kill it. Returns how many were made, and
 * whether the one after them has killed the process. */
static size_t collect_attempts(int *ret_errors, bool *ret_killed) {
	int pair[2], status = 0;
	size_t n = 0;
	*ret_killed = false;
	if (pipe2(pair, O_CLOEXEC) != 0)
		return 0;
	pid_t pid = fork_silently();
	if (pid == 0)
		make_attempts(pair[1]);
	close(pair[1]);
	while (pid > 0 && n < GB_COUNT(attempts) && gb_read_all(pair[0], &ret_errors[n], sizeof *ret_errors))
		n++;
	close(pair[0]);
	if (pid > 0)
		*ret_killed = waitpid(pid, &status, __WALL) == pid && WIFSIGNALED(status);
	return n;
}

static void find_refused_calls(struct gb_machine *ret) {
	int errors[GB_COUNT(attempts)];
	bool killed;
	const size_t n = collect_attempts(errors, &killed), judged = n + killed;
	for (size_t i = 0; i < judged && i < GB_COUNT(attempts); i++) {
		/* Under AppArmor's restriction a new user namespace gives no permissions. */
		if (attempts[i].inside && ret->userns_is_tied)
			break;
		if (i < n && (errors[i] == attempts[i].expected || errors[i] == attempts[i].also))
			continue;
		for (unsigned layer = 0; layer < GB_LAYER_COUNT; layer++)
			if ((attempts[i].layers & 1u << layer) && !ret->refused_calls[layer])
				ret->refused_calls[layer] = attempts[i].name;
	}
}

void gb_machine_look(struct gb_machine *ret) {
	*ret = (struct gb_machine){
	    .has_proc = access("/proc/self/status", F_OK) == 0,
	    .is_chrooted = is_chrooted(),
	    .is_privileged = has_capability(CAP_SYS_ADMIN),
	    .is_powerless = geteuid() == 0 && !(has_capability(CAP_SETUID) && has_capability(CAP_SETGID)),
	    .is_filtered = has_filter(),
	    .userns_is_off = file_is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
	    .userns_is_tied = file_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
	    .masks_proc = masks_proc(),
	    .lacks_id = lacks_id(),
	    .groups = find_groups(),
	};
	find_zero_limit(ret);
	find_profile(ret);
}

void gb_machine_look_closely(struct gb_machine *ret) {
	gb_machine_look(ret);
	ret->is_chrooted = ret->is_chrooted || is_above_root();
	if (ret->is_filtered || !ret->has_proc)
		find_refused_calls(ret);
}
