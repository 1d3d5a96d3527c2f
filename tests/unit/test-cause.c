/* Which cause is named for what is known of a machine. tests/e2e/causes.py brings about those that can be. */
#include <string.h>

#include "base/cleanup.h"
#include "sandbox/linux/cause.h"
#include "tap.h"

/* A machine that denies nothing. */
static const struct gb_machine plain = {.has_proc = true};

static const char *name_of(const struct gb_machine *machine, enum gb_layer layer) {
	static struct gb_cause cause;
	return gb_cause_find(machine, layer, &cause) ? cause.name : "none";
}

TEST(a_machine_that_denies_nothing_has_no_cause) {
	for (unsigned layer = 0; layer < GB_LAYER_COUNT; layer++)
		CHECK_STR(name_of(&plain, (enum gb_layer)(1u << layer)), "none");
}

TEST(apparmor_restricts_user_namespaces_of_unprivileged_processes) {
	struct gb_machine ubuntu = plain;
	ubuntu.userns_is_tied = true;
	CHECK_STR(name_of(&ubuntu, GB_LAYER_USER), "apparmor-userns");
	CHECK_STR(name_of(&ubuntu, GB_LAYER_MOUNT), "apparmor-userns");
	CHECK_STR(name_of(&ubuntu, GB_LAYER_LANDLOCK), "none");
	ubuntu.is_privileged = true;
	CHECK_STR(name_of(&ubuntu, GB_LAYER_USER), "none");
}

TEST(the_sysctl_of_debian_concerns_unprivileged_processes) {
	struct gb_machine debian = plain;
	debian.userns_is_off = true;
	CHECK_STR(name_of(&debian, GB_LAYER_USER), "userns-sysctl");
	debian.is_privileged = true;
	CHECK_STR(name_of(&debian, GB_LAYER_USER), "none");
}

TEST(the_profile_of_a_container_is_named) {
	struct gb_machine container = plain;
	struct gb_cause cause;
	snprintf(container.profile, sizeof container.profile, "docker-default");
	if (CHECK(gb_cause_find(&container, GB_LAYER_MOUNT, &cause))) {
		CHECK_STR(cause.name, "apparmor-profile");
		CHECK_STR(cause.text, "the AppArmor profile docker-default confines this process");
		CHECK(strstr(cause.remedy, "apparmor=glovebox-container"));
	}
}

TEST(the_most_specific_cause_is_named) {
	struct gb_machine machine = plain;
	machine.is_filtered = true;
	CHECK_STR(name_of(&machine, GB_LAYER_UTS), "seccomp-filter");
	machine.refused_calls[__builtin_ctz(GB_LAYER_UTS)] = "sethostname";
	CHECK_STR(name_of(&machine, GB_LAYER_UTS), "seccomp-profile");
	CHECK_STR(name_of(&machine, GB_LAYER_SECCOMP), "seccomp-filter");
	machine.is_chrooted = true;
	CHECK_STR(name_of(&machine, GB_LAYER_UTS), "chroot");
}

TEST(a_masked_proc_is_a_cause_of_its_own) {
	struct gb_machine container = plain;
	struct gb_cause cause;
	CHECK(!gb_cause_find_proc(&container, &cause));
	container.masks_proc = true;
	CHECK(gb_cause_find_proc(&container, &cause));
	CHECK_STR(cause.name, "masked-proc");
	CHECK_STR(name_of(&container, GB_LAYER_MOUNT), "none");
}

TEST(control_groups) {
	static const struct {
		enum gb_groups groups;
		const char *name;
	} cases[] = {{GB_GROUPS_USABLE, "none"}, {GB_GROUPS_NOT_MOUNTED, "no-cgroups"},
	    {GB_GROUPS_READ_ONLY, "read-only-cgroups"}, {GB_GROUPS_NOT_OWN, "not-delegated"}};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct gb_machine machine = plain;
		machine.groups = cases[i].groups;
		CHECK_STR(name_of(&machine, GB_LAYER_CGROUP), cases[i].name);
	}
}

/* Names fit into findings, and all of text and remedy is printed. */
TEST(no_text_is_cut) {
	static const unsigned layers[] = {GB_LAYER_USER, GB_LAYER_CGROUP};
	for (unsigned bit = 0; bit < 12; bit++) {
		struct gb_machine m = {.has_proc = bit != 0,
		    .is_chrooted = bit == 1,
		    .userns_is_off = bit == 2,
		    .userns_is_tied = bit == 3,
		    .lacks_id = bit == 4,
		    .is_powerless = bit == 5,
		    .is_filtered = bit == 6,
		    .groups = bit > 8 ? (enum gb_groups)(bit - 8) : GB_GROUPS_USABLE};
		if (bit == 7)
			memset(m.zero_limit, 'x', sizeof m.zero_limit - 1);
		if (bit == 8)
			memset(m.profile, 'x', sizeof m.profile - 1);
		struct gb_cause cause;
		const struct gb_finding_cause *room = NULL;
		bool found = gb_cause_find(&m, (enum gb_layer)layers[bit > 8], &cause);
		if (!CHECK(found))
			continue;
		CHECK(
		    strlen(cause.text) < sizeof room->text - 1 && strlen(cause.text) < sizeof cause.text - 1);
		CHECK(strlen(cause.remedy) < sizeof room->remedy - 1 &&
		      strlen(cause.remedy) < sizeof cause.remedy - 1);
		CHECK(strlen(cause.name) < sizeof room->name);
	}
}

/* What was looked up on this machine, which has /proc, denies neither namespaces nor Landlock by a filter. */
TEST(looking_at_this_machine) {
	struct gb_machine machine;
	gb_machine_look_closely(&machine);
	CHECK(machine.has_proc);
	for (unsigned layer = 0; layer < GB_LAYER_COUNT && !machine.is_filtered; layer++)
		CHECK(!machine.refused_calls[layer]);
}
