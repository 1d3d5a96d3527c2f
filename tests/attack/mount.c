/* Change mounts. The controls do it in a mount namespace of their own. */
#include <fcntl.h>
#include <sys/mount.h>

#include "attack.h"

enum { IN_NAMESPACE = GB_LAYER_USER | GB_LAYER_MOUNT };

#define STOPPED_BY GB_LAYER_CAPS | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP

ATTACK(mount_something, .layers = STOPPED_BY, .control = IN_NAMESPACE) {
	return syscall(SYS_mount, "x", "/", "tmpfs", 0, NULL);
}

ATTACK(make_the_root_writable, .layers = STOPPED_BY, .control = IN_NAMESPACE) {
	const unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC;
	return syscall(SYS_mount, NULL, "/", NULL, flags, NULL);
}

ATTACK(open_a_file_system, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = IN_NAMESPACE) {
	return syscall(SYS_fsopen, "tmpfs", 0);
}

ATTACK(clone_a_mount, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = IN_NAMESPACE) {
	return syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */);
}

ATTACK(unmount_the_root, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = IN_NAMESPACE,
    .kernel_says = {EINVAL, EBUSY}) {
	return syscall(SYS_umount2, "/", MNT_DETACH);
}

ATTACK(exchange_the_root, .layers = STOPPED_BY, .control = IN_NAMESPACE, .kernel_says = {EINVAL, EBUSY}) {
	return syscall(SYS_pivot_root, ".", ".");
}

ATTACK(change_the_root, .layers = GB_LAYER_CAPS | GB_LAYER_SECCOMP, .control = GB_LAYER_USER) {
	return syscall(SYS_chroot, "/");
}
