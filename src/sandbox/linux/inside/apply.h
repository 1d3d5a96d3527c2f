/*
 * The child's half of the sandbox: applies a plan, layer by layer, with system calls only.
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
	bool raised; /* the system call reported success, but the layer was not observed: see verify.h */
};

/* Raise every layer of @plan except seccomp, which the caller raises last, after its own preparation. The
 * caller was cloned into its namespaces and holds their capabilities; afterwards it holds only those of
 * gb_plan_zygote_capabilities(). */
bool gb_plan_apply(const struct gb_plan *plan, struct gb_wall_failure *ret_failure);

/* Raise the layers of a cell: limits, and in a room that is not empty also folders of its own, a user
 * namespace, no capabilities, Landlock. Each layer is verified as soon as it is raised. */
bool gb_plan_apply_cell(const struct gb_plan *plan, struct gb_wall_failure *ret_failure);

/* The capabilities that a zygote of @plan keeps, as bits of the first 32 capabilities. */
uint32_t gb_plan_zygote_capabilities(const struct gb_plan *plan);
/* The securebits of a zygote. */
unsigned long gb_plan_securebits(void);

/* Replace the placeholders of GB_SECCOMP_REGION by the regions around @address. */
void gb_seccomp_place(struct gb_seccomp *filter, const void *address);
/* Load the system call filter. errno on failure. */
bool gb_seccomp_load(const struct gb_seccomp *filter);

#endif
