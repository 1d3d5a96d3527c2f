/*
 * The interface of the sandbox to everything above src/sandbox. It names no mechanism of an operating system:
 * each port implements these functions with the mechanisms of its system. The port is chosen when the program
 * is linked; see docs/PORTING.md.
 *
 *	gb_port_create(&(struct gb_port_options){.loop = &loop, ...}, &port, &err);	// one for each engine
 *	gb_plan_create(port, &(struct gb_plan_options){.room = GB_ROOM_NONE}, &plan, &err);
 *	gb_plan_share(plan, "/opt/data", NULL, GB_SHARE_READ, &err);
 *	gb_pool_create(port, plan, &options, &pool, &err);	// does not wait: see gb_pool_state
 *
 *	struct gb_cell *cell = gb_pool_take(pool, owner, &err);	// runs after every layer was observed
 *	... send and receive on gb_cell_fd(cell), gb_cell_kill(cell) at any time ...
 *	gb_cell_release(cell);				// kills the process
 *
 *	gb_pool_destroy(pool), gb_plan_destroy(plan), gb_port_destroy(port);
 *
 * A *layer* is one mechanism of the sandbox. A layer that cannot be raised is an error (GB_EWALL) that names
 * it: no port runs code with a layer missing, unless it declares that layer optional.
 */
#ifndef GB_SANDBOX_PORT_H
#define GB_SANDBOX_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "egress/rules.h"

struct gb_port;
struct gb_plan;
struct gb_pool;
struct gb_cell;

/* --- the port of an engine --- */

/* Work that waits for the system. Another thread of the host may do it. */
struct gb_port_task {
	void (*work)(struct gb_port_task *task); /* on any thread */
	void (*done)(struct gb_port_task *task); /* afterwards, in the loop; frees the task */
};

struct gb_port_options {
	struct gb_loop *loop;   /* outlives the port */
	uint64_t memory_bytes;  /* of all cells together; 0: three quarters of the machine's */
	uint32_t max_processes; /* and threads, of all cells together */
	uint32_t max_cells;     /* at once, in each pool */
	uint64_t box_bytes;     /* of a cell's own folder; its temporary files have as much */
	/* Let another thread do @task, and return true. False, or NULL: the port does the work at once. All tasks
	 * must be done before a pool is destroyed. */
	bool (*offload)(struct gb_port_task *task, void *data);
	void *data;
};

bool gb_port_create(const struct gb_port_options *options, struct gb_port **ret, struct gb_err *err);
/* After its pools. NULL is fine. */
void gb_port_destroy(struct gb_port *port);

/* --- plan: what the code of a runtime may use, decided before any process is started --- */

/* What exists inside a sandbox. */
enum gb_room {
	GB_ROOM_NONE,  /* one socket, no files, no threads */
	GB_ROOM_FILES, /* system files to read, threads, a folder and temporary files of each cell's own */
	/* also processes, terminals, and a network of each cell's own, without any other host */
	GB_ROOM_PROGRAMS,
	GB_ROOMS,
};

enum { GB_PROFILE_BYTES = 512 };

struct gb_plan_options {
	enum gb_room room;
	const char
	    /* tells the worker what to prepare; shorter than GB_PROFILE_BYTES; NULL: nothing */
	    *profile;
	bool all_programs; /* GB_ROOM_PROGRAMS: all programs of the system may be started */
	/* Each cell has a network of its own, and passes sockets of it out before it reads its job. Code can reach what
	 * another process makes of them: see gb_pool_options.open_network. In GB_ROOM_NONE there are no sockets: the
	 * cell keeps the descriptor that it is given (GB_FD_FETCH), and asks over it. */
	bool network;
	/* GB_ROOM_FILES, for an interpreter that is linked statically: no files of the system and no sockets. If there is
	 * a network, the cell keeps its descriptor, as in GB_ROOM_NONE. */
	bool bare;
	bool workdir; /* gb_plan_work_in follows */
	/* Addresses, apart from those of loopback, that the cell's network has. */
	const struct gb_host *addresses;
	size_t n_addresses;
};

/* The plan of a room with all layers, and with the files that every program of this system reads. If this
 * system lacks a layer, fails with an error that names it. *ret_plan is owned by the caller. */
bool gb_plan_create(struct gb_port *port, const struct gb_plan_options *options, struct gb_plan **ret_plan,
    struct gb_err *err);
void gb_plan_destroy(struct gb_plan *plan);

enum gb_share {
	GB_SHARE_READ,
	GB_SHARE_EXECUTE, /* GB_ROOM_PROGRAMS: the file, or files in the folder, may also be executed */
};

/* Make the host's file or folder @from visible to code, read-only, as @to; NULL: under the same name. Does
 * nothing if @from does not exist. "/proc/self/fd/N" is the file of that descriptor: no cell starts if another
 * process has put something else in its place. */
bool gb_plan_share(
    struct gb_plan *plan, const char *from, const char *to, enum gb_share how, struct gb_err *err);

/* Instead of a folder of each cell's own, all cells have the host's folder that is open as @fd. It is mounted once, by
 * each zygote: no cell starts if another process has put something else in its place. Code can leave it neither by a
 * path nor by a link. Not for GB_ROOM_NONE. */
bool gb_plan_work_in(struct gb_plan *plan, int fd, bool writable, struct gb_err *err);

/* --- start: a pool of cells behind one plan --- */

/* Why a cell has ended without having been released. */
enum gb_cell_cause {
	GB_CELL_UNUSED,   /* it died before it read its job: the job can be given to another cell */
	GB_CELL_MEMORY,   /* its processes, or all cells together, needed more memory than they may have */
	GB_CELL_CPU_TIME, /* it used more CPU time than it may */
	GB_CELL_CRASHED,  /* it was killed by a signal */
	/* it reported that one of its layers does not hold. Code that has compromised a worker can report
	 * this as well. */
	GB_CELL_LAYER_MISSING,
	GB_CELL_NO_ANSWER, /* it exited by itself, without an answer */
	GB_CELL_LOST,      /* the zygote died, and the cell with it */
	/* it was never started: a layer could not be raised, or the system could not create a process */
	GB_CELL_REFUSED,
};

struct gb_cell_end {
	enum gb_cell_cause cause;
	char text[GB_ERR_MESSAGE_MAX]; /* to be shown to the user */
};

struct gb_pool_options {
	const char *program; /* path of the worker program */
	/* number of zygotes, which fork the cells; 0: one for each CPU that the host may use */
	unsigned shards;
	/* Start each zygote when the one before it is ready, instead of all at once: this takes longer, and leaves
	 * CPUs to the other work of the host. Until then, the first cells come from the zygotes that have started. */
	bool one_by_one;
	unsigned warm;        /* cells to prepare before they are taken, in each shard */
	uint32_t max_cells;   /* at once; 0: as many as the port's options allow */
	uint64_t cell_memory; /* memory limit of a cell with programs until gb_cell_limit_memory is called */
	uint64_t prime_ns;    /* how long preparing a cell takes; 0: a default for forking alone */
	/* The socket of a cell that has an owner is ready: GB_LOOP_IN, GB_LOOP_OUT, or it was closed. */
	void (*on_ready)(struct gb_cell *cell, uint32_t events);
	/* A cell that was taken while its zygote started (gb_cell_is_waiting) is about to run. May be called
	 * again for the same cell. The callback must not take or release cells. */
	void (*on_begin)(struct gb_cell *cell);
	/* A cell that has an owner has ended by itself. The owner still has to release it. */
	void (*on_end)(struct gb_cell *cell, const struct gb_cell_end *end);
	/* If the plan has a network: make one for a new cell. Returns a descriptor, which is given to the cell, or -1;
	 * the cell sends its sockets over it, and waits for one byte. In GB_ROOM_NONE the cell keeps it instead.
	 * *ret_network is the cell's from now on. */
	int (*open_network)(void *data, void **ret_network, struct gb_err *err);
	void (*close_network)(void *network);
	void *data;
};

/* Start zygotes behind a copy of @plan, and return without waiting for them. Cells can be taken at once: they
 * run when every layer was raised and observed. If a layer was not, they end with GB_CELL_REFUSED and a text
 * that names it. Fails, and leaves no process, if the first zygote cannot be started at all; if another
 * thread starts it, the cells end with GB_CELL_REFUSED instead. */
bool gb_pool_create(struct gb_port *port, const struct gb_plan *plan, const struct gb_pool_options *options,
    struct gb_pool **ret, struct gb_err *err);
/* Kills all remaining processes, and waits for their end. Cells that have an owner must be released before.
 * NULL is fine. */
void gb_pool_destroy(struct gb_pool *pool);

enum gb_pool_state {
	GB_POOL_STARTING,
	GB_POOL_READY,  /* all its zygotes have raised and observed every layer */
	GB_POOL_BROKEN, /* one of its zygotes has not, or died: see @err */
};

/* @err is written for GB_POOL_BROKEN; it may be NULL. */
enum gb_pool_state gb_pool_state(const struct gb_pool *pool, struct gb_err *err);
/* Kill all its processes without waiting for their end. Cells that have an owner end with GB_CELL_REFUSED. */
void gb_pool_stop(struct gb_pool *pool);
/* Whether the pool was stopped, or none of its zygotes could be started, and neither processes nor cells are
 * left: gb_pool_destroy does not have to wait. */
bool gb_pool_is_over(const struct gb_pool *pool);

/* The names of the layers around its cells: writes up to @n, returns how many there are. 0 before its first
 * zygote is ready. */
size_t gb_pool_layers(const struct gb_pool *pool, const char **ret, size_t n);
/* The version that its worker program reports: "Python 3.11.2". Empty before its first zygote is ready, and
 * for worker programs that start another program. Lives as long as the pool. */
const char *gb_pool_version(const struct gb_pool *pool);

/* Start warm cells until there are as many as the options ask for. Separate from gb_pool_take, to keep it off
 * the latency path. */
void gb_pool_refill(struct gb_pool *pool);
/* Call this before the loop blocks: it does work for later cells while no cell is in use. */
void gb_pool_before_wait(struct gb_pool *pool);

/* End the cells that nothing has taken yet: their networks are of no use any more. */
void gb_pool_discard(struct gb_pool *pool);

/* --- cell: one sandboxed process, for one run or one session --- */

/* Returns a warm cell if there is one, else a new one; NULL on failure. Does not wait: see gb_cell_is_waiting.
 * @owner must not be NULL. */
struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err);
/* Whether its zygote is still starting: on_begin or on_end follows. */
bool gb_cell_is_waiting(const struct gb_cell *cell);
/* Kills the cell's processes. The caller must not use @cell afterwards. */
void gb_cell_release(struct gb_cell *cell);

/* What open_network has returned for it; or NULL. */
void *gb_cell_network(const struct gb_cell *cell);
void *gb_cell_owner(const struct gb_cell *cell);
void gb_cell_set_owner(struct gb_cell *cell, void *owner);
/* The host's end of the cell's stream socket. It is blocking: use MSG_DONTWAIT. The cell is registered in the
 * loop for GB_LOOP_IN from the start. */
int gb_cell_fd(const struct gb_cell *cell);
/* Change the events of on_ready. */
void gb_cell_listen(struct gb_cell *cell, uint32_t events);
/* Stop calling on_ready. */
void gb_cell_ignore(struct gb_cell *cell);
/* Whether it was prepared before it was taken. If so, it may have died before it was taken. */
bool gb_cell_was_warm(const struct gb_cell *cell);
/* Whether its process was requested before @time (gb_now_ns). */
bool gb_cell_is_older(const struct gb_cell *cell, uint64_t time);

/* Limit the memory of all processes of the cell to @bytes. Has an effect only where the system counts memory
 * per cell. */
void gb_cell_limit_memory(struct gb_cell *cell, uint64_t bytes);
/* Lower the CPU priority of this cell below that of shorter runs, or restore it. May affect only the threads
 * that the cell has now. An unprivileged user may be unable to restore it. */
void gb_cell_yield_cpu(struct gb_cell *cell, bool yields);

/* --- kill --- */

/* Kill its processes. on_end is called afterwards. */
void gb_cell_kill(struct gb_cell *cell);
/* Interrupt the code. @job, above 0, is the number of the job to interrupt: the worker ignores interrupts for
 * other jobs. A repetition with the same number only wakes a worker that missed the first one. 0: withdraw an
 * interrupt that was not delivered yet. */
void gb_cell_interrupt(struct gb_cell *cell, int job);

/* --- observe: what 'glovebox doctor' shows --- */

/* Description of the port, and what it found on this machine. */
struct gb_port_facts {
	char text[160]; /* one line, to be shown to the user */
	struct gb_port_fact {
		const char *name;
		char text[96];
		bool is_number;
	} facts[4]; /* for JSON output */
	size_t n_facts;
	/* gb_port_limits: resources that this machine has no means to limit */
	const char *const *not_bounded;
	size_t n_not_bounded;
};
void gb_port_about(struct gb_port_facts *ret);
/* Which mechanisms limit the memory and the processes of cells. */
void gb_port_limits(struct gb_port_facts *ret);

enum gb_verdict {
	GB_OBSERVED,
	/* an optional layer that this machine does not have, or a room for which no runtime is installed */
	GB_ABSENT,
	GB_MISSING, /* could not be raised, or did not refuse what it must refuse: runs are refused */
};

/* Why the machine denies something, as far as it is known. An empty name: it denies nothing, or for an unknown
 * reason. */
struct gb_finding_cause {
	char name[24];  /* for programs: "chroot" */
	char text[200]; /* to be shown to the user */
	char remedy[320];
};

/* Outcome of an attempt: "allowed", the name of the refusal, or empty if the attempt was not made. */
typedef char gb_outcome[24];

struct gb_layer_finding {
	const char *layer, *attempt, *remedy;
	bool optional;
	enum gb_verdict verdict;
	gb_outcome rooms[GB_ROOMS]; /* behind all layers */
	gb_outcome alone, without;  /* behind this layer alone, and without it, in GB_ROOM_NONE */
	char trouble[GB_ERR_MESSAGE_MAX];
	struct gb_finding_cause
	    cause; /* of any other verdict than GB_OBSERVED; its remedy replaces that of the layer */
};

struct gb_room_finding {
	enum gb_verdict verdict;
	char trouble[GB_ERR_MESSAGE_MAX];
	struct gb_finding_cause
	    lacks; /* what its cells lack although no run needs it, or the cause of the trouble */
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
/* Observe the next layer. Returns false after the last one. */
bool gb_observer_next(struct gb_observer *observer, struct gb_layer_finding *ret);
/* Findings for a room; complete after the last layer. */
const struct gb_room_finding *gb_observer_room(const struct gb_observer *observer, enum gb_room room);

#endif
