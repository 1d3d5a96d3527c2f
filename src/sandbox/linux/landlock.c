#include "sandbox/linux/landlock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/linux/plan.h"

bool gb_landlock_rights(struct gb_landlock_rights *ret, int *ret_abi, struct gb_err *err) {
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GB_LANDLOCK_CREATE_VERSION);
	if (abi < 1)
		return gb_fail(err, GB_EWALL, errno, "landlock: %s",
		    errno == EOPNOTSUPP ? "switched off at boot; add landlock to the kernel's lsm= list"
					: "not in this kernel; Linux 5.13 or newer is needed");
	*ret = (struct gb_landlock_rights){.fs = GB_LANDLOCK_FS_ABI1};
	if (abi >= 2)
		ret->fs |= GB_LANDLOCK_FS_REFER;
	if (abi >= 3)
		ret->fs |= GB_LANDLOCK_FS_TRUNCATE;
	if (abi >= 4)
		ret->net = GB_LANDLOCK_NET_TCP;
	if (abi >= 5)
		ret->fs |= GB_LANDLOCK_FS_IOCTL_DEV;
	if (abi >= 6)
		ret->scoped = GB_LANDLOCK_SCOPE_ALL;
	if (ret_abi)
		*ret_abi = (int)abi;
	return true;
}
