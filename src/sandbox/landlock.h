/*
 * Landlock's numbers. The header of Debian 12 stops at ABI 2 while kernels are at 7, so we carry our own.
 */
#ifndef GB_SANDBOX_LANDLOCK_H
#define GB_SANDBOX_LANDLOCK_H

#include <stdint.h>

enum { GB_LANDLOCK_CREATE_VERSION = 1 };

/* Kernels before an ABI refuse rights of later ones, so each is tied to the ABI that brought it. */
#define GB_LANDLOCK_FS_ABI1      0x1fffull    /* execute … make_sym */
#define GB_LANDLOCK_FS_REFER     (1ull << 13) /* ABI 2 */
#define GB_LANDLOCK_FS_TRUNCATE  (1ull << 14) /* ABI 3 */
#define GB_LANDLOCK_FS_IOCTL_DEV (1ull << 15) /* ABI 5 */
#define GB_LANDLOCK_NET_TCP      3ull         /* ABI 4: bind and connect */
#define GB_LANDLOCK_SCOPE_ALL    3ull         /* ABI 6: abstract unix sockets and signals */

struct gb_landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

#endif
