/*
 * Observe that a layer denies what it must, after it was raised. A system call that raises a layer can return
 * success without any effect: an outer seccomp filter may answer it with SECCOMP_RET_ERRNO and errno 0. Each
 * verification therefore attempts what the layer forbids, or reads the state back into memory that held a
 * different value before.
 *
 *	gb_verify_inherited(&failure);			// zygote, first of all: descriptors, session
 *	gb_plan_apply(&plan, &failure);
 *	gb_verify_zygote(&plan, &failure);		// all layers of the zygote except the filter
 *	gb_verify_before_filter();
 *	gb_seccomp_load(&plan.filter);
 *	gb_verify_filter(&failure);
 *
 * Cells verify each layer of their own right after raising it: see gb_plan_apply_cell(). The host verifies
 * namespaces and the control group from outside: see ../zygote.c. Uses system calls only, as everything in
 * inside/.
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_VERIFY_H
#define GB_SANDBOX_LINUX_INSIDE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/linux/inside/apply.h"

/* Verify that the host's descriptors are closed, that the standard streams are on /dev/null, and that the
 * zygote has its own session. */
bool gb_verify_inherited(struct gb_wall_failure *ret_failure);

/* Verify every layer of @plan that gb_plan_apply() raised. A layer that has no verification fails. */
bool gb_verify_zygote(const struct gb_plan *plan, struct gb_wall_failure *ret_failure);

/* Record which system calls work now that no room's filter admits. */
void gb_verify_before_filter(void);
/* Verify that one of them fails now. */
bool gb_verify_filter(struct gb_wall_failure *ret_failure);

/* In a cell: verify that none of @fds is open. At most GB_VERIFY_FDS_MAX of them. */
enum { GB_VERIFY_FDS_MAX = 16 };
bool gb_verify_closed(const int *fds, size_t n, struct gb_wall_failure *ret_failure);

/* In a cell: verify @layer right after it was raised. A layer that has no verification fails. */
bool gb_verify_cell(const struct gb_plan *plan, enum gb_layer layer, struct gb_wall_failure *ret_failure);

#endif
