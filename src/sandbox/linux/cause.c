#include "sandbox/linux/cause.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

enum {
	NAMESPACES = GB_LAYER_USER | GB_LAYER_PID | GB_LAYER_NET | GB_LAYER_IPC | GB_LAYER_UTS |
		     GB_LAYER_MOUNT | GB_LAYER_CAPS,
};

/* --- conditions: the detail that the text names, "" if there is none, or NULL: the cause does not apply --- */

static const char *only_if(bool applies) {
	return applies ? "" : NULL;
}

static const char *unless_empty(const char *text) {
	return *text ? text : NULL;
}

static const char *no_proc(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(!m->has_proc);
}

static const char *chrooted(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->is_chrooted);
}

static const char *zero_limit(const struct gb_machine *m, enum gb_layer layer) {
	return unless_empty(m->zero_limit);
}

static const char *refused_call(const struct gb_machine *m, enum gb_layer layer) {
	return m->refused_calls[__builtin_ctz(layer)];
}

static const char *userns_off(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->userns_is_off && !m->is_privileged);
}

static const char *userns_tied(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->userns_is_tied && !m->is_privileged);
}

static const char *profile(const struct gb_machine *m, enum gb_layer layer) {
	return unless_empty(m->profile);
}

static const char *unmapped(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->lacks_id);
}

static const char *powerless(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->is_powerless);
}

static const char *filtered(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->is_filtered);
}

static const char *no_groups(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->groups == GB_GROUPS_NOT_MOUNTED);
}

static const char *read_only_groups(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->groups == GB_GROUPS_READ_ONLY);
}

static const char *not_own_group(const struct gb_machine *m, enum gb_layer layer) {
	return only_if(m->groups == GB_GROUPS_NOT_OWN);
}

/* --- causes --- */

/* The most specific ones first. %s is the detail, once in each text. */
static const struct {
	const char *name;
	unsigned layers;
	const char *(*applies)(const struct gb_machine *machine, enum gb_layer layer);
	const char *text;
	const char *remedy;
} causes[] = {
    {"no-proc", NAMESPACES, no_proc, "/proc is not mounted", "mount -t proc proc /proc"},
    {"chroot", NAMESPACES, chrooted, "this process is in a chroot, where the kernel refuses user namespaces",
	"enter the root with pivot_root instead of chroot, for example: "
	"bwrap --bind ROOT / --dev-bind /dev /dev --proc /proc COMMAND"},
    {"namespace-limit", NAMESPACES, zero_limit, "the limit %s is 0",
	"as root of the host: sysctl -w %s=10000"},
    {"seccomp-profile", GB_LAYER_ALL & ~GB_LAYER_CGROUP, refused_call,
	"a seccomp filter of the container or service denies %s",
	"Docker and Podman: --security-opt seccomp=glovebox-seccomp.json; Kubernetes: the same file as "
	"seccompProfile.localhostProfile; systemd: SystemCallFilter= and RestrictNamespaces= must allow it"},
    {"userns-sysctl", NAMESPACES, userns_off, "kernel.unprivileged_userns_clone is 0",
	"as root of the host: sysctl -w kernel.unprivileged_userns_clone=1"},
    {"apparmor-userns", NAMESPACES, userns_tied,
	"AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
	"as root of the host, install the profile glovebox: apparmor_parser --replace "
	"/etc/apparmor.d/glovebox"},
    {"apparmor-profile", NAMESPACES, profile, "the AppArmor profile %s confines this process",
	"Docker and Podman: --security-opt apparmor=glovebox-container, after 'apparmor_parser --replace' "
	"has loaded "
	"that profile on the host"},
    {"unmapped-user", NAMESPACES, unmapped,
	"this process is root of a user namespace that has no user and group 65534",
	"map more users into the container (Podman: entries for the user in /etc/subuid and /etc/subgid), or "
	"run as "
	"another user than root"},
    {"dropped-capabilities", NAMESPACES, powerless,
	"this process is root without the capabilities CAP_SETUID and CAP_SETGID",
	"run it as another user than root, or keep both capabilities (--cap-add SETUID,SETGID)"},
    {"seccomp-filter", GB_LAYER_ALL & ~GB_LAYER_CGROUP, filtered,
	"this process has inherited a seccomp filter, which may answer in place of the kernel",
	"start it without the filter, or Docker and Podman: --security-opt seccomp=glovebox-seccomp.json"},
    {"no-cgroups", GB_LAYER_CGROUP, no_groups, "no hierarchy of control groups is mounted",
	"mount -t cgroup2 none /sys/fs/cgroup"},
    {"read-only-cgroups", GB_LAYER_CGROUP, read_only_groups, "control groups are mounted read-only",
	"Podman: --security-opt unmask=/sys/fs/cgroup; Docker: --security-opt writable-cgroups=true (28 and "
	"newer)"},
    {"not-delegated", GB_LAYER_CGROUP, not_own_group,
	"the control group of this process belongs to another user",
	"systemd-run --user --scope -p Delegate=yes COMMAND, or Delegate=yes in the systemd unit"},
};

/* Put @detail in the place of %s. */
static void insert(const char *text, const char *detail, char *ret, size_t n) {
	const char *mark = strstr(text, "%s");
	if (mark)
		snprintf(ret, n, "%.*s%s%s", (int)(mark - text), text, detail, mark + 2);
	else
		snprintf(ret, n, "%s", text);
}

bool gb_cause_find(const struct gb_machine *machine, enum gb_layer layer, struct gb_cause *ret) {
	for (size_t i = 0; i < GB_COUNT(causes); i++) {
		const char *detail = causes[i].layers & layer ? causes[i].applies(machine, layer) : NULL;
		if (!detail)
			continue;
		ret->name = causes[i].name;
		insert(causes[i].text, detail, ret->text, sizeof ret->text);
		insert(causes[i].remedy, detail, ret->remedy, sizeof ret->remedy);
		return true;
	}
	return false;
}

bool gb_cause_find_proc(const struct gb_machine *machine, struct gb_cause *ret) {
	if (!machine->masks_proc)
		return false;
	ret->name = "masked-proc";
	snprintf(ret->text, sizeof ret->text,
	    "the container hides parts of /proc, so the kernel gives cells none of their own");
	snprintf(ret->remedy, sizeof ret->remedy,
	    "Podman: --security-opt unmask=ALL; Docker: --security-opt systempaths=unconfined; Kubernetes: "
	    "procMount: "
	    "Unmasked, which needs hostUsers: false");
	return true;
}

/* Of many layers, or of the moment: these have none of the causes above. */
static bool has_cause(enum gb_layer layer, int error) {
	return __builtin_popcount(layer) == 1 && error != ENOMEM && error != EAGAIN && error != EMFILE &&
	       error != ENFILE;
}

bool gb_cause_append(enum gb_layer layer, struct gb_err *err) {
	struct gb_machine machine;
	struct gb_cause cause;
	if (!err || !has_cause(layer, err->sys_errno))
		return false;
	gb_machine_look(&machine);
	if (!gb_cause_find(&machine, layer, &cause))
		return false;
	size_t n = strlen(err->message);
	snprintf(err->message + n, sizeof err->message - n, " (cause: %s; what to do: %s)", cause.text,
	    cause.remedy);
	return false;
}
