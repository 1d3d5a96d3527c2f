/* Read a file of the host. */
#include <fcntl.h>
#include <linux/openat2.h>

#include "attack.h"

ATTACK(read_a_file, .programs_allow = true, .layers = GB_LAYER_MOUNT | GB_LAYER_LANDLOCK | GB_LAYER_SECCOMP,
    .sanitizer_allows = true) {
	struct open_how how = {.flags = O_RDONLY};
	struct tries tries = {0};
	try(&tries, syscall(SYS_open, "/etc/passwd", O_RDONLY));
	try(&tries, syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
	try(&tries, syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how));
	return tries_end(&tries);
}

/* Test whether a file exists. */
ATTACK(look_for_a_file, .programs_allow = true, .layers = GB_LAYER_MOUNT | GB_LAYER_SECCOMP,
    .sanitizer_allows = true) {
	char buffer[256];
	struct tries tries = {0};
	try(&tries, syscall(SYS_access, "/etc/passwd", F_OK));
	try(&tries, syscall(SYS_stat, "/etc/passwd", buffer));
	try(&tries, syscall(SYS_statx, AT_FDCWD, "/etc/passwd", 0, 0x7ff, buffer));
	return tries_end(&tries);
}
