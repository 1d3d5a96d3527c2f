/*
 * The sandbox as everything above src/sandbox sees it. It names no mechanism of an operating system: each port
 * implements these functions with what its system has. The port is chosen when the program is linked; see
 * docs/PORTING.md.
 *
 *	gb_port_create(&(struct gb_port_options){.loop = &loop, ...}, &port, &err);	// one for each engine
 *	gb_plan_create(port, &(struct gb_plan_options){.room = GB_ROOM_NONE}, &plan, &err);
 *	gb_plan_share(plan, "/opt/data", NULL, GB_SHARE_READ, &err);
 *	gb_pool_create(port, plan, &options, &pool, &err);	// returns when every layer is known to hold
 *
 *	struct gb_cell *cell = gb_pool_take(pool, owner, &err);
 *	... send and receive on gb_cell_fd(cell), gb_cell_kill(cell) at any time ...
 *	gb_cell_release(cell);				// kills the process, whatever it does
 *
 *	gb_pool_destroy(pool), gb_plan_destroy(plan), gb_port_destroy(port);
 *
 * A *layer* is one mechanism of the sandbox. A layer that cannot be raised is an error (GB_EWALL) that names it:
 * no port runs code behind fewer layers than it has, except those that it declares optional.
 */
#ifndef GB_SANDBOX_PORT_H
#define GB_SANDBOX_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"

struct gb_port;
struct gb_plan;
struct gb_pool;
struct gb_cell;

/* --- the port of an engine --- */

struct gb_port_options {
	struct gb_loop *loop;   /* outlives the port */
	uint64_t memory_bytes;  /* of all cells together; 0: three quarters of the machine's */
	uint32_t max_processes; /* and threads, of all cells together */
	uint32_t max_cells;     /* at once, in each pool */
	uint64_t box_bytes;     /* of a cell's own folder; its temporary files have as much */
};

bool gb_port_create(const struct gb_port_options *options, struct gb_port **ret, struct gb_err *err);
/* After its pools. NULL is fine. */
void gb_port_destroy(struct gb_port *port);

/* --- plan: what the code of a runtime may use, decided before anything is started --- */

/* What exists inside a sandbox. */
enum gb_room {
	GB_ROOM_NONE,  /* one socket, no file, no thread */
	GB_ROOM_FILES, /* system files to read, threads, a folder and temporary files of each cell's own */
	GB_ROOM_PROGRAMS, /* also processes, terminals, and a network of each cell's own, without any other host */
	GB_ROOMS,
};

enum { GB_PROFILE_BYTES = 512 };

struct gb_plan_options {
	enum gb_room room;
	const char
	    *profile;      /* for the worker: what to prepare, shorter than GB_PROFILE_BYTES; NULL: nothing */
	bool all_programs; /* GB_ROOM_PROGRAMS: all programs of the system may be started */
};

/* The plan of a room with all layers, and with the files that every program of this system reads. Fails, naming the
 * layer, if this system does not have one. *ret_plan is the caller's. */
bool gb_plan_create(struct gb_port *port, const struct gb_plan_options *options, struct gb_plan **ret_plan,
    struct gb_err *err);
void gb_plan_destroy(struct gb_plan *plan);

enum gb_share {
	GB_SHARE_READ,
	GB_SHARE_EXECUTE, /* it, or what is in it, may also be started: GB_ROOM_PROGRAMS */
};

/* Let code see the host's file or folder @from, read-only, as @to; NULL: under the same name. Does nothing if @from
 * does not exist. */
bool gb_plan_share(
    struct gb_plan *plan, const char *from, const char *to, enum gb_share how, struct gb_err *err);

/* --- start: a pool of cells behind one plan --- */

/* Why a cell has ended without having been released. */
enum gb_cell_cause {
	GB_CELL_UNUSED,   /* it died before it read its job: another cell can have the job */
	GB_CELL_MEMORY,   /* its processes, or all cells together, needed more memory than they may have */
	GB_CELL_CPU_TIME, /* it used more CPU time than it may */
	GB_CELL_CRASHED,  /* it was killed by a signal */
	GB_CELL_LAYER_MISSING, /* it says that one of its layers does not hold. Code that has compromised a worker can
				* say so as well. */
	GB_CELL_NO_ANSWER, /* it ended by itself */
	GB_CELL_LOST,      /* the process that cells are made from died, and the cell with it */
	GB_CELL_REFUSED,   /* it was never made: a layer could not be raised, or the system gave no process */
};

struct gb_cell_end {
	enum gb_cell_cause cause;
	char text[256]; /* for people */
};

struct gb_pool_options {
	const char *program; /* path of the worker program */
	unsigned shards; /* processes that cells are made from; 0: one for each CPU that the host may use */
	unsigned warm;   /* cells to prepare before they are taken, in each shard */
	uint64_t cell_memory; /* what a cell with programs may use before gb_cell_limit_memory */
	uint64_t prime_ns;    /* how long preparing a cell takes; 0: as long as making its process */
	/* The socket of a cell that has an owner is ready: GB_LOOP_IN, GB_LOOP_OUT, or it was closed. */
	void (*on_ready)(struct gb_cell *cell, uint32_t events);
	/* A cell that has an owner has ended by itself. The owner still has to release it. */
	void (*on_end)(struct gb_cell *cell, const struct gb_cell_end *end);
};

/* Start cells behind a copy of @plan. Returns when every layer was raised and observed. Fails, naming the layer, if
 * one was not; then no process is left. */
bool gb_pool_create(struct gb_port *port, const struct gb_plan *plan, const struct gb_pool_options *options,
    struct gb_pool **ret, struct gb_err *err);
/* Kills what is left. Cells that have an owner must be released before. NULL is fine. */
void gb_pool_destroy(struct gb_pool *pool);

/* The names of the layers around its cells: writes up to @n, returns how many there are. */
size_t gb_pool_layers(const struct gb_pool *pool, const char **ret, size_t n);

/* Prepare the warm cells that are missing. Separate from taking one, to keep it off the latency path. */
void gb_pool_refill(struct gb_pool *pool);
/* To be called before the loop waits: work for later cells that may be done while none is in use. */
void gb_pool_rest(struct gb_pool *pool);

/* --- cell: one sandboxed process, for one run or one session --- */

/* A warm cell if there is one, else a new one. @owner is not NULL. NULL on failure. */
struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err);
/* The cell is gone for the caller; its process is killed. */
void gb_cell_release(struct gb_cell *cell);

void *gb_cell_owner(const struct gb_cell *cell);
void gb_cell_set_owner(struct gb_cell *cell, void *owner);
/* The host's end of the cell's stream socket. It is blocking: use MSG_DONTWAIT. The cell is in the loop for GB_LOOP_IN
 * from its beginning. */
int gb_cell_fd(const struct gb_cell *cell);
/* Change the events of on_ready. */
void gb_cell_listen(struct gb_cell *cell, uint32_t events);
/* Do not call on_ready any more. */
void gb_cell_ignore(struct gb_cell *cell);
/* Was it prepared before it was taken? Then it may have died before. */
bool gb_cell_was_warm(const struct gb_cell *cell);
/* Has its process been ordered before @time (gb_now_ns)? */
bool gb_cell_is_older(const struct gb_cell *cell, uint64_t time);

/* Where a cell's memory is counted by the system: limit what its processes may use to @bytes. */
void gb_cell_limit_memory(struct gb_cell *cell, uint64_t bytes);
/* Let shorter runs have the CPU before this cell, or end that. May hold only for the threads that the cell has now,
 * and may be impossible to end for an ordinary user. */
void gb_cell_yield_cpu(struct gb_cell *cell, bool yields);

/* --- kill --- */

/* Kill its processes. on_end follows. */
void gb_cell_kill(struct gb_cell *cell);
/* Interrupt the code. @job, above 0, is the number of the job that is meant: the worker ignores an interrupt for
 * another one. Repeated with the same number, it only wakes a worker that has missed it. 0: withdraw an interrupt that
 * was not delivered yet. */
void gb_cell_interrupt(struct gb_cell *cell, int job);

/* --- observe: what 'glovebox doctor' shows --- */

/* What the port is and has found on this machine. */
struct gb_port_facts {
	char text[160]; /* one line, for people */
	struct gb_port_fact {
		const char *name;
		char text[96];
		bool is_number;
	} facts[4]; /* for programs */
	size_t n_facts;
	const char *const *not_bounded; /* gb_port_limits: what this machine has nothing to limit by */
	size_t n_not_bounded;
};
void gb_port_about(struct gb_port_facts *ret);
/* By what the memory and processes of cells are limited. */
void gb_port_limits(struct gb_port_facts *ret);

enum gb_verdict {
	GB_OBSERVED,
	GB_ABSENT, /* an optional layer that this machine does not have; a room of which no runtime is installed */
	GB_MISSING, /* could not be raised, or did not refuse what it must refuse: runs are refused */
};

/* How an attempt ended: "allowed", the name of the refusal, or empty if it was not made. */
typedef char gb_outcome[24];

struct gb_layer_finding {
	const char *layer, *attempt, *remedy;
	bool optional;
	enum gb_verdict verdict;
	gb_outcome rooms[GB_ROOMS]; /* behind all layers */
	gb_outcome alone, without;  /* behind this layer alone, and without it, in GB_ROOM_NONE */
	char trouble[GB_ERR_MESSAGE_MAX];
};

struct gb_room_finding {
	enum gb_verdict verdict;
	char trouble[GB_ERR_MESSAGE_MAX];
};

struct gb_observer_options {
	const char *probe; /* path of the worker program that makes the attempts */
	/* The plan of a runtime in @room. Fails with GB_ENOENT if none is installed. */
	bool (*plan)(struct gb_port *port, enum gb_room room, struct gb_plan **ret, struct gb_err *err);
	/* Called before each attempt. @layer is NULL while all are raised. */
	void (*on_progress)(enum gb_room room, const char *layer, void *data);
	void *data;
};

struct gb_observer;

/* Attack the sandbox from inside: probes in each room attempt what each layer must refuse. */
bool gb_observer_create(
    const struct gb_observer_options *options, struct gb_observer **ret, struct gb_err *err);
void gb_observer_destroy(struct gb_observer *observer);
/* Observe the next layer. False after the last one. */
bool gb_observer_next(struct gb_observer *observer, struct gb_layer_finding *ret);
/* What was found in a room; complete after the last layer. */
const struct gb_room_finding *gb_observer_room(const struct gb_observer *observer, enum gb_room room);

#endif
