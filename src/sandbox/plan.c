#include "sandbox/plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"

/* What root becomes inside; also what Linux shows for ids that have no mapping. */
enum { NOBODY = 65534 };

static const struct gb_rlimit standing_rlimits[] = {
    {RLIMIT_CORE, 0},
    {RLIMIT_FSIZE, 0},
    {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0},
    {RLIMIT_NICE, 0},
    {RLIMIT_RTPRIO, 0},
    {RLIMIT_SIGPENDING, 16},
    /* Also bounds the descriptors that are on their way to the host; a cell gets far fewer. */
    {RLIMIT_NOFILE, 4096},
    {RLIMIT_STACK, 8u << 20},
    /* Of this user in this user namespace: how many cells one zygote can have. */
    {RLIMIT_NPROC, 4096},
};
static_assert(GB_COUNT(standing_rlimits) <= GB_PLAN_RLIMITS_MAX, "room in the plan");

const char *gb_layer_name(enum gb_layer layer) {
	static const char *const names[GB_LAYER_COUNT] = {
	    "user namespace",
	    "pid namespace",
	    "network namespace",
	    "ipc namespace",
	    "uts namespace",
	    "mount namespace",
	    "resource limits",
	    "capabilities",
	    "landlock",
	    "seccomp",
	    "cgroup",
	};
	return layer && layer < GB_LAYER_ALL ? names[__builtin_ctz(layer)] : "wall";
}

bool gb_plan_init(struct gb_plan *plan, struct gb_err *err) {
	memset(plan, 0, sizeof *plan);
	plan->size = sizeof *plan;
	plan->layers = GB_LAYER_ALL;
	plan->cpu = -1;
	plan->uid = geteuid() == 0 ? NOBODY : geteuid();
	plan->gid = geteuid() == 0 ? NOBODY : getegid();
	plan->n_rlimits = GB_COUNT(standing_rlimits);
	memcpy(plan->rlimits, standing_rlimits, sizeof standing_rlimits);
	return gb_landlock_rights(&plan->landlock, NULL, err) && gb_seccomp_filter(&plan->filter, EPERM, err);
}
