/*
 * Landlock constants. The header of Debian 12 stops at ABI 2 while kernels are at 7, so they are defined
 * here.
 */
#ifndef GB_SANDBOX_LINUX_LANDLOCK_H
#define GB_SANDBOX_LINUX_LANDLOCK_H

#include <stdint.h>

enum { GB_LANDLOCK_CREATE_VERSION = 1 };

/* A kernel rejects rights of later ABIs, so each right is annotated with the ABI that introduced it. */
#define GB_LANDLOCK_FS_ABI1      0x1fffull    /* execute … make_sym */
#define GB_LANDLOCK_FS_REFER     (1ull << 13) /* ABI 2 */
#define GB_LANDLOCK_FS_TRUNCATE  (1ull << 14) /* ABI 3 */
#define GB_LANDLOCK_FS_IOCTL_DEV (1ull << 15) /* ABI 5 */
#define GB_LANDLOCK_NET_TCP      3ull         /* ABI 4: bind and connect */
#define GB_LANDLOCK_SCOPE_ALL    3ull         /* ABI 6: abstract unix sockets and signals */

/* Rights to read-only files, to terminals, to devices, and to a cell's own files. */
#define GB_LANDLOCK_FS_READ     ((1ull << 2) | (1ull << 3)) /* read_file, read_dir */
#define GB_LANDLOCK_FS_TERMINAL ((1ull << 1) | (1ull << 2) | (1ull << 3) | GB_LANDLOCK_FS_IOCTL_DEV)
#define GB_LANDLOCK_FS_DEVICE   ((1ull << 1) | (1ull << 2))                /* write_file, read_file */
#define GB_LANDLOCK_FS_FILE     ((1ull << 1) | (1ull << 2) | (1ull << 14)) /* of a single file */
#define GB_LANDLOCK_FS_EXECUTE  1ull
#define GB_LANDLOCK_FS_READ_DIR (1ull << 3)
#define GB_LANDLOCK_FS_SOCKET   (1ull << 9)  /* make_sock */
#define GB_LANDLOCK_FS_FIFO     (1ull << 10) /* make_fifo */
/* All but execute, make_char, make_sock and make_block. */
#define GB_LANDLOCK_FS_OWN ((0x1ffeull & ~0xa40ull) | GB_LANDLOCK_FS_REFER | GB_LANDLOCK_FS_TRUNCATE)

enum { GB_LANDLOCK_RULE_PATH_BENEATH = 1 };

struct gb_landlock_path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

struct gb_landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

#endif
