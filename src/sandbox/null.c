/* The port for operating systems without a sandbox implementation: it starts nothing and refuses every
 * run. */
#include <stdio.h>
#include <stdlib.h>

#include "sandbox/port.h"

/* The member is never read; C does not allow an empty struct. */
struct gb_port {
	char unused;
};

static bool refuse(struct gb_err *err) {
	return gb_fail(err, GB_EWALL, 0,
	    "sandbox: this build has no sandbox for this operating system, so it runs no code; use a build "
	    "for "
	    "Linux (PORTING.md in the documentation says what a port needs)");
}

/* --- the port --- */

bool gb_port_create(const struct gb_port_options *options, struct gb_port **ret, struct gb_err *err) {
	struct gb_port *port = calloc(1, sizeof *port);
	if (!port)
		return gb_fail(err, GB_ENOMEM, 0, "the sandbox");
	*ret = port;
	return true;
}

void gb_port_destroy(struct gb_port *port) {
	free(port);
}

/* --- plan and start --- */

bool gb_plan_create(struct gb_port *port, const struct gb_plan_options *options, struct gb_plan **ret_plan,
    struct gb_err *err) {
	return refuse(err);
}

void gb_plan_destroy(struct gb_plan *plan) {
}

bool gb_plan_share(
    struct gb_plan *plan, const char *from, const char *to, enum gb_share how, struct gb_err *err) {
	return refuse(err);
}

bool gb_plan_work_in(struct gb_plan *plan, int fd, bool writable, struct gb_err *err) {
	return refuse(err);
}

bool gb_pool_create(struct gb_port *port, const struct gb_plan *plan, const struct gb_pool_options *options,
    struct gb_pool **ret, struct gb_err *err) {
	return refuse(err);
}

void gb_pool_destroy(struct gb_pool *pool) {
}

enum gb_pool_state gb_pool_state(const struct gb_pool *pool, struct gb_err *err) {
	refuse(err);
	return GB_POOL_BROKEN;
}

void gb_pool_stop(struct gb_pool *pool) {
}

bool gb_pool_is_over(const struct gb_pool *pool) {
	return true;
}

const char *gb_pool_version(const struct gb_pool *pool) {
	return "";
}

size_t gb_pool_layers(const struct gb_pool *pool, const char **ret, size_t n) {
	return 0;
}

void gb_pool_refill(struct gb_pool *pool) {
}

void gb_pool_before_wait(struct gb_pool *pool) {
}

struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err) {
	refuse(err);
	return NULL;
}

/* --- cells: this port creates none, so calling any of these functions is a bug in the host --- */

void gb_cell_release(struct gb_cell *cell) {
	abort();
}

void *gb_cell_network(const struct gb_cell *cell) {
	(void)cell;
	return NULL;
}

void gb_pool_discard(struct gb_pool *pool) {
	(void)pool;
}

void *gb_cell_owner(const struct gb_cell *cell) {
	abort();
}

void gb_cell_set_owner(struct gb_cell *cell, void *owner) {
	abort();
}

int gb_cell_fd(const struct gb_cell *cell) {
	abort();
}

void gb_cell_listen(struct gb_cell *cell, uint32_t events) {
	abort();
}

void gb_cell_ignore(struct gb_cell *cell) {
	abort();
}

bool gb_cell_is_waiting(const struct gb_cell *cell) {
	abort();
}

bool gb_cell_was_warm(const struct gb_cell *cell) {
	abort();
}

bool gb_cell_is_older(const struct gb_cell *cell, uint64_t time) {
	abort();
}

void gb_cell_limit_memory(struct gb_cell *cell, uint64_t bytes) {
	abort();
}

void gb_cell_yield_cpu(struct gb_cell *cell, bool yields) {
	abort();
}

void gb_cell_kill(struct gb_cell *cell) {
	abort();
}

void gb_cell_interrupt(struct gb_cell *cell, int job) {
	abort();
}

/* --- observe --- */

void gb_port_about(struct gb_port_facts *ret) {
	*ret = (struct gb_port_facts){.text = "No sandbox for this operating system"};
}

void gb_port_limits(struct gb_port_facts *ret) {
	*ret = (struct gb_port_facts){.text = "No cells, and nothing that limits them."};
}

bool gb_observer_create(
    const struct gb_observer_options *options, struct gb_observer **ret, struct gb_err *err) {
	return refuse(err);
}

void gb_observer_destroy(struct gb_observer *observer) {
}

bool gb_observer_next(struct gb_observer *observer, struct gb_layer_finding *ret) {
	return false;
}

const struct gb_room_finding *gb_observer_room(const struct gb_observer *observer, enum gb_room room) {
	static const struct gb_room_finding missing = {.verdict = GB_MISSING};
	return &missing;
}
