/*
 * The child's half of the wall: apply a plan, layer by layer, by system calls only.
 *
 *	struct gb_wall_failure failure;
 *	if (!gb_plan_apply(&plan, &failure))	// zygote: everything but seccomp
 *	if (!gb_seccomp_load(&plan.filter))
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_APPLY_H
#define GB_SANDBOX_LINUX_INSIDE_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/linux/plan.h"

struct gb_wall_failure {
	enum gb_layer layer;
	int error;
	const char *step;
	bool
	    raised; /* by a system call that reported success, but the layer was not observed: see verify.h */
};

/* Raise every layer of @plan except seccomp, which comes last and separately since what still has to be
 * done differs. The caller was cloned into its namespaces and holds their capabilities; after this it
 * holds none, or in a room with files one. */
bool gb_plan_apply(const struct gb_plan *plan, struct gb_wall_failure *ret_failure);

/* The rest, in a cell: limits, and in a room with files folders of its own, a user namespace, no capability,
 * Landlock. Each layer is verified as soon as it is raised. */
bool gb_plan_apply_cell(const struct gb_plan *plan, struct gb_wall_failure *ret_failure);

/* What drop_capabilities() leaves to a zygote of @plan: bits of the first 32 capabilities. */
uint32_t gb_plan_zygote_capabilities(const struct gb_plan *plan);
/* What it sets by PR_SET_SECUREBITS. */
unsigned long gb_plan_securebits(void);

/* Memory may be asked for in the regions around @address: see GB_SECCOMP_REGION. */
void gb_seccomp_place(struct gb_seccomp *filter, const void *address);
/* Load the system call filter. errno on failure. */
bool gb_seccomp_load(const struct gb_seccomp *filter);

#endif
