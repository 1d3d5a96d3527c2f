/*
 * Replaces src/sandbox/linux/inside/verify.c in attack-worker-unverified: a worker that believes what
 * system calls return. It shows that code would run behind a missing layer without the verification.
 */
#include "sandbox/linux/inside/verify.h"

bool gb_verify_inherited(struct gb_wall_failure *ret_failure) {
	(void)ret_failure;
	return true;
}

bool gb_verify_zygote(const struct gb_plan *plan, struct gb_wall_failure *ret_failure) {
	(void)plan, (void)ret_failure;
	return true;
}

void gb_verify_before_filter(void) {
}

bool gb_verify_filter(struct gb_wall_failure *ret_failure) {
	(void)ret_failure;
	return true;
}

bool gb_verify_closed(const int *fds, size_t n, struct gb_wall_failure *ret_failure) {
	(void)fds, (void)n, (void)ret_failure;
	return true;
}

bool gb_verify_cell(const struct gb_plan *plan, enum gb_layer layer, struct gb_wall_failure *ret_failure) {
	(void)plan, (void)layer, (void)ret_failure;
	return true;
}
