/*
 * Cells: sandboxed processes, each for one run, from zygotes that are sharded by core.
 *
 *	struct gb_pool *pool;
 *	gb_pool_create(&loop, &options, &pool, &err);	// returns when the wall is known to stand
 *	struct gb_cell *cell = gb_pool_take(pool, owner, &err);
 *	... talk on cell->fd, gb_cell_kill(cell) at will ...
 *	gb_cell_release(cell);				// whatever the process is doing, it ends now
 *	gb_pool_destroy(pool);
 *
 * A warm cell is one that was ordered before anybody wanted it; a cell on demand is one that was not. There
 * is no other difference, and no other path.
 */
#ifndef GB_SANDBOX_LINUX_POOL_H
#define GB_SANDBOX_LINUX_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/loop.h"
#include "sandbox/linux/plan.h"

struct gb_pool;
struct gb_cgroup;
struct gb_cell_group;

enum gb_cell_fate {
	GB_CELL_EXITED,  /* wait_status says how */
	GB_CELL_LOST,    /* its zygote died, and the cell with it */
	GB_CELL_REFUSED, /* it never came to be: the wall could not be raised */
};

/* Which processes had taken too much when the kernel killed for want of memory. */
enum gb_out_of_memory {
	GB_OOM_NONE, /* it did not */
	GB_OOM_CELL, /* those of the cell, or of the machine */
	GB_OOM_ALL,  /* those of all cells together, or of the machine */
};

struct gb_cell_end {
	enum gb_cell_fate fate;
	int wait_status;
	enum gb_out_of_memory out_of_memory;
	char reason[256]; /* LOST, REFUSED */
};

struct gb_cell {
	/* In the loop, for input, from its beginning: a warm cell is already listened to. Its owner may
	 * change the events, and may take it out. */
	struct gb_source source;
	int fd; /* the host's end of the cell's socket; blocking, so use MSG_DONTWAIT */
	void *owner;

	/* The pool's own. */
	struct gb_list link;
	struct gb_shard *shard;
	enum gb_cell_state {
		GB_CELL_QUEUED, /* to be ordered */
		GB_CELL_WARM,   /* ordered, nobody's */
		GB_CELL_ACTIVE, /* ordered, its owner's */
		GB_CELL_DYING,  /* released, to be reaped */
		GB_CELL_ENDED,  /* the process is gone, the owner has not let go yet */
	} state;
	uint32_t id;
	int worker_fd;  /* the other end, until it was handed over; -1 if the zygote has it already */
	uint32_t spare; /* then the zygote's number for it */
	int pidfd;      /* -1 until the zygote has answered */
	bool kill_wanted;
	int interrupt_wanted;        /* the number that is to come with it; 0: not wanted */
	int interrupted;             /* the last number that did */
	bool awaited;                /* somebody waits for what its zygote tells of it */
	struct gb_cell_group *group; /* its own, or NULL */
	bool yields;                 /* the CPU, to shorter runs */
	uint64_t ordered_at;         /* ns */
	bool was_warm;               /* it waited before it was taken, and may have died meanwhile */
};

struct gb_pool_options {
	const char *program; /* the worker's path */
	unsigned shards;     /* 0: one per CPU that the host may use */
	unsigned warm;       /* cells to keep waiting, in each shard */
	/* The engine's; NULL where there is none. It outlives the pool. If it can have groups of cells, each
	 * cell of a room with programs gets one. */
	struct gb_cgroup *cgroup;
	uint64_t
	    cell_memory;    /* what a run in such a cell may use until gb_cell_limit_memory says otherwise */
	uint32_t max_cells; /* at once */
	uint64_t prime_ns;  /* how long a cell takes to be ready; 0: as long as a fork and little more */
	const struct gb_plan *plan;
	/* The socket of a cell that has an owner is ready. */
	void (*on_ready)(struct gb_cell *cell, uint32_t events);
	/* A cell that has an owner has ended, unasked. The owner still has to release it. */
	void (*on_end)(struct gb_cell *cell, const struct gb_cell_end *end);
};

/* Start the zygotes in @loop. Fails, naming the layer, if the wall cannot be raised. */
bool gb_pool_create(
    struct gb_loop *loop, const struct gb_pool_options *options, struct gb_pool **ret, struct gb_err *err);
/* Kills what is left. Cells that have an owner must be released before. */
void gb_pool_destroy(struct gb_pool *pool);

/* The layers that stand around its cells: enum gb_layer. */
unsigned gb_pool_layers(const struct gb_pool *pool);

/* A cell: a warm one if there is one. */
struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err);
/* Order what is missing of warm cells. Apart from taking, so that it happens when nobody waits. */
void gb_pool_refill(struct gb_pool *pool);
/* To be called before the loop waits: what can be done for later cells when nobody has one now. */
void gb_pool_rest(struct gb_pool *pool);

/* Where the cell has a control group of its own: its run may use that much. */
void gb_cell_limit_memory(struct gb_cell *cell, uint64_t bytes);
/* Let the cell run on CPUs that shorter runs do not want, or as others do. Without a group of its own that is
 * done for the threads that it has now, and taking it back is for privileged hosts: an ordinary user's cell
 * goes on yielding. */
void gb_cell_yield_cpu(struct gb_cell *cell, bool yields);

/* Either reaches the process as soon as it is known, if it is not yet. */
void gb_cell_kill(struct gb_cell *cell);
/* SIGINT, with a number above 0 that says what is meant; GB_SIGNAL_AGAIN if it was sent with the same number
 * before. 0: what was not sent yet is not to be. */
void gb_cell_interrupt(struct gb_cell *cell, int number);
void gb_cell_release(struct gb_cell *cell);

#endif
