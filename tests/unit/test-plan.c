#include "sandbox/linux/plan.h"

#include <sys/resource.h>

#include "tap.h"

TEST(a_plan_has_all_layers_and_no_privileges) {
	struct gb_plan plan;
	struct gb_err err = {0};
	if (!CHECK(gb_plan_init(&plan, &err))) {
		printf("# %s\n", err.message);
		return;
	}
	CHECK_INT(plan.layers, GB_LAYER_ALL);
	CHECK_INT(plan.size, sizeof plan);
	CHECK(plan.uid != 0 && plan.gid != 0);
	CHECK(plan.landlock.fs & 1);
	CHECK(plan.n_rlimits > 5);
}

/* See plan.c for the effect of other values. */
TEST(the_core_limit_is_exactly_one) {
	struct gb_plan plan;
	if (!CHECK(gb_plan_init(&plan, NULL)))
		return;
	unsigned found = 0;
	for (uint32_t i = 0; i < plan.n_rlimits; i++)
		if (plan.rlimits[i].resource == RLIMIT_CORE && CHECK_INT(plan.rlimits[i].limit, 1))
			found++;
	CHECK_INT(found, 1);
}

TEST(every_layer_has_a_name) {
	for (unsigned i = 0; i < GB_LAYER_COUNT; i++)
		CHECK(*gb_layer_name((enum gb_layer)(1u << i)) &&
		      strcmp(gb_layer_name((enum gb_layer)(1u << i)), "wall") != 0);
	CHECK_STR(gb_layer_name(GB_LAYER_SECCOMP), "seccomp");
	CHECK_STR(gb_layer_name(GB_LAYER_CGROUP), "cgroup");
	CHECK_STR(gb_layer_name(GB_LAYER_ALL), "wall");
	CHECK_STR(gb_layer_name(0), "wall");
}

TEST(landlock_rights_grow_with_the_abi) {
	struct gb_landlock_rights rights;
	int abi = 0;
	if (!gb_landlock_rights(&rights, &abi, NULL))
		SKIP("this kernel has no Landlock");
	CHECK((rights.fs & 0x1fff) == 0x1fff);
	CHECK_INT(!!(rights.fs & 1 << 13), abi >= 2);
	CHECK_INT(!!(rights.fs & 1 << 14), abi >= 3);
	CHECK_INT(!!rights.net, abi >= 4);
	CHECK_INT(!!(rights.fs & 1 << 15), abi >= 5);
	CHECK_INT(!!rights.scoped, abi >= 6);
}
