#include "sandbox/inside/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/landlock.h"

/* Each step returns NULL when it is done, else its own name, with errno set. */

static const char *become_unprivileged(const struct gb_plan *plan) {
	/* An ordinary user's namespace has setgroups switched off; then the groups stay, and stay powerless:
	 * no file is in reach. */
	if (syscall(SYS_setgroups, 0, NULL) != 0 && errno != EPERM)
		return "drop supplementary groups";
	if (syscall(SYS_setresgid, plan->gid, plan->gid, plan->gid) != 0)
		return "change group";
	if (syscall(SYS_setresuid, plan->uid, plan->uid, plan->uid) != 0)
		return "change user";
	return NULL;
}

static const char *forget_host_name(const struct gb_plan *plan) {
	(void)plan;
	static const char name[] = "glovebox";
	if (sethostname(name, sizeof name - 1) != 0)
		return "set host name";
	return setdomainname("", 0) != 0 ? "set domain name" : NULL;
}

/* The new root is an empty tmpfs without room for a single file, and read-only on top. */
static const char *enter_empty_root(const struct gb_plan *plan) {
	(void)plan;
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return "make mounts private";
	/* Any folder can carry the new root; /proc is there, since the host wrote our id maps through it. */
	if (mount("glovebox", "/proc", "tmpfs", flags, "size=4k,nr_inodes=1,mode=0555") != 0)
		return "mount the empty root";
	if (chdir("/proc") != 0)
		return "enter the empty root";
	if (syscall(SYS_pivot_root, ".", ".") != 0)
		return "pivot_root";
	if (umount2(".", MNT_DETACH) != 0)
		return "let go of the old root";
	if (chdir("/") != 0)
		return "enter the root";
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL) != 0)
		return "make the root read-only";
	return NULL;
}

static const char *limit_resources(const struct gb_plan *plan) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++) {
		struct rlimit old, limit = {plan->rlimits[i].limit, plan->rlimits[i].limit};
		if (getrlimit((__rlimit_resource_t)plan->rlimits[i].resource, &old) != 0)
			return "read a limit";
		/* A limit is lowered, never raised: the host may itself live under a lower one. */
		if (old.rlim_max < limit.rlim_max)
			limit = (struct rlimit){old.rlim_max, old.rlim_max};
		if (setrlimit((__rlimit_resource_t)plan->rlimits[i].resource, &limit) != 0)
			return "set a limit";
	}
	return NULL;
}

static const char *drop_capabilities(const struct gb_plan *plan) {
	(void)plan;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return "clear ambient capabilities";
	for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return "empty the bounding set";
	if (prctl(PR_SET_SECUREBITS,
		SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
		    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
		    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
		0, 0, 0) != 0)
		return "lock securebits";
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	return syscall(SYS_capset, &head, none) != 0 ? "drop capabilities" : NULL;
}

static const char *restrict_by_landlock(const struct gb_plan *plan) {
	struct gb_landlock_ruleset_attr attr = {plan->landlock.fs, plan->landlock.net, plan->landlock.scoped};
	/* Older kernels know a shorter struct and take a longer one only if the rest is zero, as it is then.
	 */
	gb_auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	if (ruleset < 0)
		return "create a ruleset";
	return syscall(SYS_landlock_restrict_self, ruleset, 0) != 0 ? "restrict self" : NULL;
}

static const char *pin_to_cpu(const struct gb_plan *plan) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)plan->cpu, &set);
	/* A hint for speed, not a wall: a host that may not use that CPU runs where it may. */
	(void)sched_setaffinity(0, sizeof set, &set);
	return NULL;
}

bool gb_plan_apply(const struct gb_plan *plan, struct gb_failure *ret_failure) {
	static const struct {
		enum gb_layer layer;
		const char *(*raise)(const struct gb_plan *);
	} steps[] = {
	    {GB_LAYER_USER, become_unprivileged},
	    {GB_LAYER_UTS, forget_host_name},
	    {GB_LAYER_MOUNT, enter_empty_root},
	    {GB_LAYER_RLIMIT, limit_resources},
	    {GB_LAYER_CAPS, drop_capabilities},
	    {GB_LAYER_LANDLOCK, restrict_by_landlock},
	};
	if (plan->cpu >= 0)
		pin_to_cpu(plan);
	/* Landlock and seccomp demand it of processes without capabilities; it is also a wall of its own. */
	if (plan->layers && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		*ret_failure = (struct gb_failure){GB_LAYER_CAPS, errno, "set no_new_privs"};
		return false;
	}
	for (size_t i = 0; i < GB_COUNT(steps); i++) {
		const char *failed = plan->layers & steps[i].layer ? steps[i].raise(plan) : NULL;
		if (failed) {
			*ret_failure = (struct gb_failure){steps[i].layer, errno, failed};
			return false;
		}
	}
	/* Nobody of the same user may look into this process through /proc or ptrace. */
	if (plan->layers & GB_LAYER_CAPS)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return true;
}

bool gb_filter_load(const struct gb_filter *filter) {
	struct sock_fprog program = {.len = filter->n, .filter = (struct sock_filter *)filter->code};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
