/* Use /proc to read memory, and to write to read-only memory. */
#include <fcntl.h>

#include "attack.h"

static long open_in_proc(const char *path, int flags) {
	return syscall(SYS_openat, AT_FDCWD, path, flags);
}

/* Where a root host has changed its user, these two are closed already. */
ATTACK(open_proc_self_mem, .layers = GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	return open_in_proc("/proc/self/mem", O_RDWR);
}

ATTACK(open_proc_self_environ, .layers = GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	return open_in_proc("/proc/self/environ", O_RDONLY);
}

ATTACK(open_proc_self_maps, .programs_allow = true,
    .layers = GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP, .sanitizer_allows = true) {
	return open_in_proc("/proc/self/maps", O_RDONLY);
}

ATTACK(read_where_the_program_is, .programs_allow = true, .layers = GB_LAYER_MOUNT | GB_LAYER_SECCOMP,
    .sanitizer_allows = true) {
	char path[256];
	return syscall(SYS_readlink, "/proc/self/exe", path, sizeof path);
}
