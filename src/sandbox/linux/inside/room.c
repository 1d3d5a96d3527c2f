#include "sandbox/linux/inside/room.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

static const unsigned long RESTRICTED = MS_NOSUID | MS_NODEV | MS_NOEXEC;

/* Whether this zygote was able to mount /proc. The kernel refuses it if parts of the host's /proc are masked,
 * as in many containers; /proc is then an empty folder in rooms. */
static bool has_proc;

bool gb_room_has_proc(void) {
	return has_proc;
}

static bool has_programs(const struct gb_plan *plan) {
	return plan->room == GB_ROOM_PROGRAMS;
}

/* --- in the zygote --- */

/* Create @path, relative to the working directory, with its parent folders. */
static const char *make_mount_point(const char *path, bool is_file) {
	char copy[GB_PLAN_PATH_BYTES];
	size_t n = strnlen(path, sizeof copy - 1);
	memcpy(copy, path, n);
	copy[n] = '\0';
	for (size_t i = 1; i <= n; i++) {
		if (copy[i] != '/' && copy[i] != '\0')
			continue;
		char kept = copy[i];
		copy[i] = '\0';
		bool last = kept == '\0';
		int failed = last && is_file ? mknod(copy, S_IFREG | 0444, 0) : mkdir(copy, 0555);
		if (failed && errno != EEXIST)
			return "make a mount point in the root";
		copy[i] = kept;
	}
	return NULL;
}

/* Descriptors of the paths of the plan, and of the folder that lists them by number. -1: not open. */
static struct { int paths[GB_PLAN_PATHS_MAX], workdir, folder; } opened;

void gb_room_open(const struct gb_plan *plan) {
	opened.folder = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (uint32_t i = 0; i < plan->contents.n_paths; i++)
		opened.paths[i] = open(plan->contents.paths[i].from, O_PATH | O_CLOEXEC);
	opened.workdir = GB_PLAN_HAS_WORKDIR(plan)
			     ? open(plan->contents.workdir.from, O_PATH | O_DIRECTORY | O_CLOEXEC)
			     : -1;
}

static void close_paths(const struct gb_plan *plan) {
	gb_close_fd(&opened.folder);
	gb_close_fd(&opened.workdir);
	for (uint32_t i = 0; i < plan->contents.n_paths; i++)
		gb_close_fd(&opened.paths[i]);
}

/* Mount what is open as @fd on @to, relative to the new root. The new root covers /proc, so the descriptor is named
 * relative to the folder that was opened before. */
static bool bind_descriptor(int fd, const char *to) {
	char from[16], target[sizeof "/proc/" + GB_PLAN_PATH_BYTES];
	snprintf(from, sizeof from, "%d", fd);
	snprintf(target, sizeof target, "/proc/%s", to);
	bool bound = fchdir(opened.folder) == 0 && mount(from, target, NULL, MS_BIND | MS_REC, NULL) == 0;
	const int error = errno;
	if (chdir("/proc") != 0)
		return false;
	errno = error;
	return bound;
}

/* Attributes of mount_setattr(). */
enum { ATTR_RDONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4, ATTR_NOEXEC = 8 };

static bool set_attributes(const char *path, uint64_t set) {
	struct {
		uint64_t set, clear, propagation, userns_fd;
	} attr = {.set = set};
	enum { AT_RECURSIVE_ = 0x8000 };
	return syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE_, &attr, sizeof attr) == 0;
}

static bool is_inode(const char *path, uint64_t device, uint64_t inode) {
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/* Make a file or folder of the host visible in the new root by a read-only bind mount. */
static const char *bind_path(const struct gb_plan_path *path, int fd) {
	const char *to = path->to + 1;
	const char *failed = make_mount_point(to, path->is_file);
	if (failed)
		return failed;
	if (fd >= 0 ? !bind_descriptor(fd, to) : mount(path->from, to, NULL, MS_BIND | MS_REC, NULL) != 0)
		return "bind a system folder into the root";
	if (path->inode && !is_inode(to, path->device, path->inode)) {
		errno = ESTALE;
		return "bind a folder that another process has replaced";
	}
	if (!set_attributes(to, ATTR_RDONLY | ATTR_NOSUID | (path->is_device ? 0 : ATTR_NODEV)))
		return "make a system folder read-only";
	return NULL;
}

/* Mount the host's folder as /box. Cells have copies of this mount. */
static const char *bind_workdir(const struct gb_plan *plan) {
	const struct gb_plan_workdir *workdir = &plan->contents.workdir;
	if (opened.workdir < 0 || opened.folder < 0) {
		errno = ENOENT;
		return "open the working directory";
	}
	if (!bind_descriptor(opened.workdir, "box"))
		return "mount the working directory";
	if (!is_inode("box", workdir->device, workdir->inode)) {
		errno = ESTALE;
		return "the working directory was replaced";
	}
	return set_attributes("box", ATTR_NOSUID | ATTR_NODEV | (has_programs(plan) ? 0 : ATTR_NOEXEC) |
					 (workdir->is_writable ? 0 : ATTR_RDONLY))
		   ? NULL
		   : "restrict the working directory";
}

static const char *write_file(const char *path, const char *text) {
	gb_auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	size_t n = strlen(text);
	return fd < 0 || write(fd, text, n) != (ssize_t)n ? "write a system file" : NULL;
}

/* Programs look up their user and their terminal in these files. */
static const char *fill_for_programs(void) {
	static const struct {
		const char *path, *text;
	} texts[] = {
	    {"etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\nbox:x:65534:65534:box:/box:/bin/bash\n"},
	    {"etc/group", "root:x:0:\nbox:x:65534:\n"},
	    {"etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
	};
	static const struct {
		const char *to, *path;
	} links[] = {{"usr/bin", "bin"}, {"usr/sbin", "sbin"}, {"pts/ptmx", "dev/ptmx"},
	    {"/proc/self/fd", "dev/fd"}, {"/proc/self/fd/0", "dev/stdin"}, {"/proc/self/fd/1", "dev/stdout"},
	    {"/proc/self/fd/2", "dev/stderr"}};
	static const char *const folders[] = {"etc", "dev", "dev/shm", "dev/pts", "proc"};
	for (size_t i = 0; i < GB_COUNT(folders); i++)
		if (mkdir(folders[i], 0755) != 0 && errno != EEXIST)
			return "make a system folder";
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		if (write_file(texts[i].path, texts[i].text))
			return "write a system file";
	for (size_t i = 0; i < GB_COUNT(links); i++)
		if (symlink(links[i].to, links[i].path) != 0)
			return "make a system link";
	/* The kernel lets cells mount their own /proc only if one is visible already. */
	has_proc = mount("proc", "proc", "proc", RESTRICTED | MS_RDONLY, NULL) == 0;
	return has_proc || errno == EPERM || errno == EACCES ? NULL : "mount /proc";
}

/* The name server is glovebox-egress: see docs/NETWORK.md. */
static const char *fill_for_network(bool has_hosts) {
	if (mkdir("etc", 0755) != 0 && errno != EEXIST)
		return "make a system folder";
	if (!has_hosts && write_file("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"))
		return "write a system file";
	return write_file("etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n") ||
		       write_file("etc/nsswitch.conf", "hosts: files dns\n")
		   ? "write a system file"
		   : NULL;
}

static const char *fill_room(const struct gb_plan *plan) {
	for (uint32_t i = 0; i < plan->contents.n_paths; i++) {
		const char *failed =
		    bind_path(&plan->contents.paths[i], opened.folder < 0 ? -1 : opened.paths[i]);
		if (failed)
			return failed;
	}
	if (mkdir("box", 0700) != 0 || mkdir("tmp", 0700) != 0)
		return "make /box and /tmp";
	const char *unbound = GB_PLAN_HAS_WORKDIR(plan) ? bind_workdir(plan) : NULL;
	if (unbound)
		return unbound;
	close_paths(plan);
	if (symlink("usr/lib", "lib") != 0 || symlink("usr/lib64", "lib64") != 0)
		return "make /lib";
	if (write_file(GB_ROOM_CANARY + 1, "Landlock admits no access to this file.\n"))
		return "write the file that Landlock is observed by";
	const char *failed = has_programs(plan) ? fill_for_programs() : NULL;
	return failed || !GB_PLAN_PASSES_SOCKETS(plan) ? failed : fill_for_network(has_programs(plan));
}

/* A mount with propagation would make later mounts of the host appear in the room, without the flags set
 * here. Must run before /proc is covered. Paths in mountinfo contain no spaces (they are escaped). */
static bool mounts_are_private(void) {
	gb_auto_fd int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	static const char shared[] = " shared:", master[] = " master:";
	enum { MARK = sizeof shared - 1 };
	char block[MARK + 4096];
	size_t kept = 0;
	ssize_t n;
	while ((n = read(fd, block + kept, 4096)) > 0) {
		size_t all = kept + (size_t)n;
		if (memmem(block, all, shared, MARK) || memmem(block, all, master, MARK))
			return false;
		kept = all < MARK ? all : MARK;
		memmove(block, block + all - kept, kept);
	}
	return n == 0;
}

static bool is_same_folder(const char *a, const char *b) {
	struct stat first = {0}, second = {0};
	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino && first.st_ino != 0;
}

/* The new root is a read-only tmpfs: empty and too small for any file, or with the mount points of the room
 * only. */
const char *gb_room_enter(const struct gb_plan *plan) {
	const bool empty = plan->room == GB_ROOM_NONE;
	char room[64];
	snprintf(room, sizeof room, "size=%d,nr_inodes=%d,mode=0555",
	    empty ? GB_ROOM_NONE_BYTES : GB_ROOM_ROOT_BYTES, empty ? GB_ROOM_NONE_FILES : GB_ROOM_ROOT_FILES);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return "make mounts private";
	errno = 0;
	if (!mounts_are_private())
		return "mounts did not become private";
	/* Any folder can be the mount point of the new root; /proc exists, since the host wrote the id maps
	 * through it. */
	if (mount("glovebox", "/proc", "tmpfs", RESTRICTED, room) != 0)
		return "mount the root";
	if (chdir("/proc") != 0)
		return "enter the root";
	/* Nothing must be created in the folder of the host that this process was started in. */
	if (!is_same_folder(".", "/proc"))
		return "the working directory did not change";
	const char *failed = empty ? NULL : fill_room(plan);
	if (failed)
		return failed;
	if (syscall(SYS_pivot_root, ".", ".") != 0)
		return "pivot_root";
	if (umount2(".", MNT_DETACH) != 0)
		return "unmount the old root";
	if (chdir("/") != 0)
		return "enter the root";
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | RESTRICTED, NULL) != 0)
		return "make the root read-only";
	return NULL;
}

/* --- in a cell --- */

static const char *mount_own(const char *where, uint64_t bytes, unsigned long flags) {
	char options[64];
	snprintf(options, sizeof options, "size=%llu,nr_inodes=%d,mode=0700", (unsigned long long)bytes,
	    GB_ROOM_OWN_FILES);
	return mount("glovebox", where, "tmpfs", flags, options) != 0 ? "mount a cell's own folder" : NULL;
}

/* Programs of a cell can connect to each other over loopback. */
static const char *bring_loopback_up(void) {
	gb_auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0 ? "bring the loopback device up" : NULL;
}

static const char *prepare_for_programs(const struct gb_plan *plan) {
	/* A cell must not have the zygote's /proc, which shows all cells. */
	if (has_proc && mount("proc", "/proc", "proc", RESTRICTED | MS_RDONLY, NULL) != 0)
		return "mount a cell's /proc";
	/* kernel.pty.max limits terminals of the whole machine: one cell must not use them all. */
	if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=0600,max=64") != 0)
		return "mount a cell's terminals";
	const char *failed = mount_own("/dev/shm", GB_SHM_BYTES, RESTRICTED);
	if (failed)
		return failed;
	return plan->layers & GB_LAYER_NET ? bring_loopback_up() : NULL;
}

unsigned long gb_room_own_flags(const struct gb_plan *plan) {
	/* Programs may execute files that they write to their own folders. */
	return has_programs(plan) ? RESTRICTED & ~(unsigned long)MS_NOEXEC : RESTRICTED;
}

const char *gb_room_prepare_cell(const struct gb_plan *plan) {
	const unsigned long flags = gb_room_own_flags(plan);
	const char *failed =
	    GB_PLAN_HAS_WORKDIR(plan) ? NULL : mount_own("/box", plan->contents.box_bytes, flags);
	if (!failed)
		failed = mount_own("/tmp", plan->contents.box_bytes, flags);
	if (!failed && has_programs(plan))
		failed = prepare_for_programs(plan);
	if (!failed && chdir("/box") != 0)
		failed = "enter /box";
	return failed;
}
