/* What the files of the pool share: pool.c is what callers ask for, shard.c speaks with zygotes, cell.c looks
 * after single cells.
 */
#ifndef GB_SANDBOX_LINUX_SHARD_H
#define GB_SANDBOX_LINUX_SHARD_H

#include "base/list.h"
#include "sandbox/linux/cell_group.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/port.h"
#include "sandbox/linux/zygote.h"
#include "sandbox/port.h"

enum {
	GB_SHARDS_MAX = 64,
	/* Orders under way to one zygote. More would only fill the socket's buffer. */
	GB_ORDERS_MAX = 64,
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

struct gb_shard {
	struct gb_source source;
	struct gb_pool *pool;
	struct gb_zygote zygote;
	int cpu;
	bool ready;
	bool broken;
	bool revivable; /* broken because the host could not start a zygote just then, not because of the wall
			 */
	struct gb_err why_broken;
	unsigned deaths;
	unsigned n_orders; /* given, not yet known to be answered */
	unsigned n_dying;
	unsigned n_awaited; /* cells of which somebody waits for news */
	bool quiet;         /* it need not be listened to just now */
	unsigned unheard_max;
	uint32_t events; /* that the loop listens for */
	struct held {
		struct gb_notice notice;
		int pidfd;
		bool is_held;
	} held; /* a notice that is dealt with from the loop only */
	unsigned n_active;
	struct gb_list queued; /* cells by state, but for those that have ended */
	struct gb_list warm;
	struct gb_list active;
	struct gb_list dying;
	unsigned n_warm; /* ordered or to be ordered */
};

struct gb_pool {
	struct gb_loop *loop;
	struct gb_pool_options options;
	struct gb_plan plan;
	struct gb_cgroup *cgroup; /* the port's; NULL where there is none, or the plan has none */
	char *program;
	uint32_t max_cells; /* at once */
	uint64_t oom_kills;
	struct gb_source retry; /* a timer: orders that could not be given wait for it */
	int retry_fd;           /* -1 until the first one */
	uint32_t n_cells;       /* dying ones included */
	uint32_t n_dying;
	uint32_t next_slot;
	uint32_t n_slots;       /* as many again, and some, may be dying */
	struct gb_cell **slots; /* a cell's id is its slot plus a multiple of n_slots */
	unsigned n_shards;
	struct gb_shard shards[GB_SHARDS_MAX];
};

/* --- cell.c --- */

struct gb_cell *gb_cell_make(struct gb_shard *shard, struct gb_err *err);
void gb_cell_free(struct gb_cell *cell);
void gb_cell_set_state(struct gb_cell *cell, enum gb_cell_state state, struct gb_list *list);
/* Does somebody wait for what its zygote tells of it? */
void gb_cell_await(struct gb_cell *cell, bool awaited);
/* Its process is known now: send what was wanted of it before. */
void gb_cell_signal(struct gb_cell *cell);
/* The process of @cell is gone, or never came. */
void gb_cell_finish(struct gb_cell *cell, const struct gb_cell_end *end);
/* All that the shard's zygote had in hand, and with @queued also what was still to be ordered. An owner's
 * callback may release any cell and take new ones: all are marked as ended before the first is called, and
 * those that are taken meanwhile are not among them. */
void gb_shard_end_cells(struct gb_shard *shard, bool queued, const struct gb_cell_end *end);
struct gb_cell *gb_pool_find(struct gb_pool *pool, uint32_t id);
bool gb_pool_is_full(const struct gb_pool *pool);
/* An order could not be given, and nothing will tell when it can be: try again soon. */
void gb_pool_retry_later(struct gb_pool *pool);

/* --- shard.c --- */

bool gb_shard_start(struct gb_shard *shard, struct gb_err *err);
void gb_shard_stop(struct gb_shard *shard);
/* Order what is queued, as far as the zygote can take it. */
void gb_shard_order(struct gb_shard *shard);
/* Listen to the zygote if anything depends on it, and else not. */
void gb_shard_listen(struct gb_shard *shard);
/* Take in what the zygote has told, until it has told which process @cell is. That may be of a failure, after
 * which there is no cell. Whoever asks must not be called back meanwhile: what would do that is held. */
void gb_shard_hear_of(struct gb_cell *cell);

#endif
