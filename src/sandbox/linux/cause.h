/*
 * Why this machine denies a layer, and what changes that. A refused system call gives an errno only, and EPERM
 * has a dozen causes: a chroot, a sysctl, the profile of a container. After a failure:
 *
 *	struct gb_machine machine;
 *	gb_machine_look_closely(&machine);
 *	struct gb_cause cause;
 *	if (gb_cause_find(&machine, GB_LAYER_MOUNT, &cause))
 *		... cause.text, cause.remedy ...
 *
 * Finding no cause is not an error: the caller reports the errno.
 */
#ifndef GB_SANDBOX_LINUX_CAUSE_H
#define GB_SANDBOX_LINUX_CAUSE_H

#include <stdbool.h>

#include "sandbox/linux/plan.h"

/* What is known about this process and its machine. */
struct gb_machine {
	bool has_proc;       /* /proc is mounted */
	bool is_chrooted;    /* its root is not the root of its mount namespace */
	bool is_privileged;  /* it has CAP_SYS_ADMIN */
	bool is_powerless;   /* it is root without the capabilities to change its user and group */
	bool is_filtered;    /* it has inherited a seccomp filter */
	bool userns_is_off;  /* kernel.unprivileged_userns_clone is 0 */
	bool userns_is_tied; /* kernel.apparmor_restrict_unprivileged_userns is 1 */
	bool masks_proc;     /* something is mounted below /proc */
	bool lacks_id;       /* it is root of a user namespace without the unprivileged id of sandboxes */
	enum gb_groups {
		GB_GROUPS_USABLE,
		GB_GROUPS_NOT_MOUNTED,
		GB_GROUPS_READ_ONLY,
		GB_GROUPS_NOT_OWN, /* the host's group belongs to another user */
	} groups;
	char zero_limit
	    [40]; /* name of a limit on namespaces that is 0: "user.max_user_namespaces"; or empty */
	/* For each layer, by its bit, the name of a system call that a filter refuses it; or NULL. */
	const char *refused_calls[GB_LAYER_COUNT];
	char profile[64]; /* AppArmor profile that confines it, or empty */
};

/* Reads files of /proc. Does not find the calls that a filter refuses, nor a chroot into the root of a mount. */
void gb_machine_look(struct gb_machine *ret);
/* Finds these as well, with processes whose end it awaits: not for an event loop. */
void gb_machine_look_closely(struct gb_machine *ret);

struct gb_cause {
	const char *name; /* for programs: "chroot" */
	char text[200], remedy[320];
};

/* The most specific cause for which @machine can deny @layer. False if there is none. */
bool gb_cause_find(const struct gb_machine *machine, enum gb_layer layer, struct gb_cause *ret);
/* Why programs in cells have no /proc. False if nothing denies it. */
bool gb_cause_find_proc(const struct gb_machine *machine, struct gb_cause *ret);
#define GB_CAUSE_MARK " (cause: "

/* Append the cause for which this machine denies @layer to the message of @err, if one is found, and return
 * false. */
bool gb_cause_append(enum gb_layer layer, struct gb_err *err);

#endif
