/* Shared by the files of the pool: pool.c implements the public functions, shard.c communicates with zygotes,
 * cell.c manages single cells. */
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
	/* Orders in flight to one zygote. More would only fill the socket's buffer. */
	GB_ORDERS_MAX = 64,
};

/* Time limit for raising the wall and preparing the interpreter. It normally takes milliseconds; an emulated
 * machine took 35 s for the data profile of Python. */
#define GB_START_NS 300000000000ull

struct gb_cell {
	/* Registered in the loop for input from the start, also while the cell is warm. The owner may change
	 * the events or remove it. */
	struct gb_source source;
	int fd; /* the host's end of the cell's socket; blocking, so use MSG_DONTWAIT */
	void *owner;

	/* Private to the pool. */
	struct gb_list link;
	struct gb_shard *shard;
	enum gb_cell_state {
		GB_CELL_QUEUED, /* not ordered yet */
		GB_CELL_WARM,   /* ordered, without owner */
		GB_CELL_ACTIVE, /* ordered, with owner */
		GB_CELL_DYING,  /* released and killed, not reaped yet */
		GB_CELL_ENDED,  /* the process has ended, the owner has not released the cell yet */
	} state;
	uint32_t id;
	int worker_fd;  /* the other end, until it was sent; -1 if the zygote already has it */
	uint32_t spare; /* if worker_fd is -1: index of the zygote's spare socket */
	int pidfd;      /* -1 until the zygote has sent it */
	bool kill_wanted;
	int interrupt_wanted;        /* the job number to send with the interrupt; 0: none wanted */
	int interrupted;             /* the last job number that was sent */
	bool awaited;                /* a caller depends on the next notice about this cell */
	struct gb_cell_group *group; /* its own, or NULL */
	bool yields;                 /* has low CPU priority */
	void *network;               /* see gb_pool_options.open_network */
	int network_fd;              /* until it was sent; or -1 */
	uint64_t ordered_at;         /* ns */
	bool was_warm;               /* it was prepared before it was taken, and may have died meanwhile */
};

struct gb_shard {
	struct gb_source source;
	struct gb_pool *pool;
	struct gb_zygote zygote;
	int cpu;
	bool absent;    /* not started yet: see start_absent_shard */
	bool on_thread; /* a thread of the host starts its zygote */
	bool starts;    /* counted in the port's .n_starts */
	bool ready;
	bool was_ready;       /* before its zygote died */
	uint64_t start_until; /* if it is not ready by then, it is given up */
	bool broken;
	bool restartable; /* broken for a temporary reason, not because a layer is missing
			 */
	struct gb_err why_broken;
	unsigned deaths;
	unsigned n_orders; /* sent, notice not read yet */
	unsigned n_dying;
	unsigned n_awaited; /* cells with awaited set */
	bool quiet;         /* notices may stay unread for now: see gb_shard_listen */
	unsigned unread_max;
	uint32_t events; /* registered in the loop */
	struct held {
		struct gb_notice notice;
		int pidfd;
		bool is_held;
	} held; /* a notice to be handled when the loop calls gb_shard_on_control */
	unsigned n_active;
	struct gb_list queued; /* cells by state, except ended ones */
	struct gb_list warm;
	struct gb_list active;
	struct gb_list dying;
	unsigned n_warm; /* warm cells, including queued ones */
};

struct gb_pool {
	struct gb_port *port;
	struct gb_loop *loop;
	struct gb_pool_options options;
	struct gb_plan plan;
	struct gb_cgroup *cgroup; /* owned by the port; NULL if there is none or the plan has none */
	char *program;
	uint32_t max_cells; /* at once */
	uint64_t oom_kills;
	struct gb_source timer; /* to start absent shards, to repeat failed orders, to give up zygotes */
	int timer_fd;
	uint64_t timer_at; /* ns; 0: not armed */
	bool was_ready;    /* one of its zygotes was, at some time */
	bool stopped;
	char version[64];
	uint32_t n_cells; /* dying ones included */
	uint32_t n_dying;
	uint32_t next_slot;
	uint32_t n_slots;       /* 2 * max_cells + DYING_MAX, since cells keep their slot while dying */
	struct gb_cell **slots; /* a cell's id is its slot plus a multiple of n_slots */
	unsigned n_shards;
	struct gb_shard shards[GB_SHARDS_MAX];
};

/* --- cell.c --- */

struct gb_cell *gb_cell_make(struct gb_shard *shard, struct gb_err *err);
void gb_cell_free(struct gb_cell *cell);
void gb_cell_set_state(struct gb_cell *cell, enum gb_cell_state state, struct gb_list *list);
/* State whether a caller depends on the next notice about @cell. */
void gb_cell_await(struct gb_cell *cell, bool awaited);
/* Its pidfd is known: send the kill or interrupt that was requested. */
void gb_cell_signal(struct gb_cell *cell);
/* The process of @cell has ended, or could not be created. */
void gb_cell_finish(struct gb_cell *cell, const struct gb_cell_end *end);
/* End all cells that the shard's zygote has, and with @queued also those that were not ordered yet. The
 * on_end callback may release any cell and take new ones: all cells are marked as ended before the first
 * call, so cells that are taken meanwhile are not affected. */
void gb_shard_end_cells(struct gb_shard *shard, bool queued, const struct gb_cell_end *end);
struct gb_cell *gb_pool_find(struct gb_pool *pool, uint32_t id);
bool gb_pool_is_full(const struct gb_pool *pool);
/* An order could not be sent, and no event reports when it can be: retry after a short time. */
void gb_pool_retry_later(struct gb_pool *pool);
/* Make the timer expire no later than @at. */
void gb_pool_wake_at(struct gb_pool *pool, uint64_t at);
/* A zygote has started, or has failed to: soon start the next one, if they start one by one. */
void gb_pool_start_next(struct gb_pool *pool);
/* Start warm cells of a shard until there are as many as the options ask for. */
void gb_shard_refill(struct gb_shard *shard);

/* --- shard_start.c --- */

/* Start its zygote. If the host lends a thread, it is started there, and gb_shard_break is called if that fails. */
bool gb_shard_start(struct gb_shard *shard, struct gb_err *err);
/* The same without a thread: waits for milliseconds. */
bool gb_shard_start_now(struct gb_shard *shard, struct gb_err *err);

/* --- shard.c --- */

void gb_shard_stop(struct gb_shard *shard);
/* End its cells: its zygote cannot raise its wall, or does not exist. */
void gb_shard_break(struct gb_shard *shard, const struct gb_err *why);
/* Order queued cells, as many as the zygote's socket accepts. Before the zygote is ready, none: they would be
 * lost if it fails, and their sockets would stay in flight (see GB_SPARE_SOCKETS). */
void gb_shard_order(struct gb_shard *shard);
/* Register for notices of the zygote only while something depends on them. */
void gb_shard_listen(struct gb_shard *shard);
/* State whether its zygote starts: meanwhile it uses its CPU as much as a run. */
void gb_shard_set_starts(struct gb_shard *shard, bool starts);
/* Whether the zygote may be started again after a failure to start it. */
bool gb_shard_may_restart(const struct gb_shard *shard);
/* Callback of the loop: the control socket of the zygote is ready. */
void gb_shard_on_control(struct gb_source *source, uint32_t events);
/* Read pending notices until the pidfd of @cell is known. The notice may report a failure, after which @cell
 * no longer exists: look it up again by its id. Does not call any owner: a notice that would is held for the
 * loop. */
void gb_shard_read_notices_for(struct gb_cell *cell);

#endif
