/*
 * The plan of a wall: all restrictions of a sandbox, decided on the host before any process starts.
 *
 *	struct gb_plan plan;
 *	gb_plan_init(&plan, &err);			// host: may allocate, may ask the kernel
 *	gb_zygote_spawn(&zygote, &plan, ...);		// sends the plan to the child as bytes
 *	gb_plan_apply(&plan, &failure);			// inside/: system calls only
 *
 * A plan is plain data of a fixed size. The child makes no decisions: it applies the plan layer by layer, and
 * if a layer cannot be raised it reports which one and exits.
 */
#ifndef GB_SANDBOX_LINUX_PLAN_H
#define GB_SANDBOX_LINUX_PLAN_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/port.h"

/* In the order in which the child raises them. */
enum gb_layer {
	GB_LAYER_USER = 1 << 0,     /* user namespace, unprivileged host uid */
	GB_LAYER_PID = 1 << 1,      /* pid namespace, zygote is its init */
	GB_LAYER_NET = 1 << 2,      /* empty network namespace */
	GB_LAYER_IPC = 1 << 3,      /* System V and POSIX message queue namespace */
	GB_LAYER_UTS = 1 << 4,      /* host name namespace */
	GB_LAYER_MOUNT = 1 << 5,    /* mount namespace with an empty, read-only root */
	GB_LAYER_RLIMIT = 1 << 6,   /* resource limits */
	GB_LAYER_CAPS = 1 << 7,     /* no capabilities, and no way to gain any */
	GB_LAYER_LANDLOCK = 1 << 8, /* no files, no TCP; no signals or abstract sockets to the outside */
	GB_LAYER_SECCOMP = 1 << 9,  /* system call allowlist */
	GB_LAYER_CGROUP = 1 << 10,  /* memory and process count of the whole engine; where available */
	GB_LAYER_ALL = (1 << 11) - 1,
};

enum {
	GB_LAYER_COUNT = 11,
	GB_PLAN_FILTER_MAX = 2048,
	GB_PLAN_RLIMITS_MAX = 12,
	GB_PLAN_PATHS_MAX = 32,
	GB_PLAN_PATH_BYTES = 64,
	GB_PLAN_HOST_PATH_BYTES = 192,
	GB_PLAN_WORKDIR_BYTES = 4096,
	GB_SHM_BYTES = 64 << 20, /* of /dev/shm, in a room with programs */
};

/* The name of a single layer, such as "seccomp". */
const char *gb_layer_name(enum gb_layer layer);

struct gb_seccomp {
	uint16_t n;
	struct sock_filter code[GB_PLAN_FILTER_MAX];
};

struct gb_landlock_rights {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

struct gb_rlimit {
	int32_t resource;
	uint64_t limit;
};

/* The contents of a room that is not empty. */
struct gb_room_contents {
	uint32_t n_paths;
	struct gb_plan_path {
		char from[GB_PLAN_HOST_PATH_BYTES]; /* on the host */
		char to[GB_PLAN_PATH_BYTES];        /* in the room */
		uint8_t is_file;
		uint8_t is_device;  /* may be written to */
		uint8_t is_program; /* it, or files in it, may be executed */
		/* The zygote refuses to start unless this is what it has mounted. 0: anything. */
		uint64_t device, inode;
	} paths[GB_PLAN_PATHS_MAX];
	/* The host's folder that is /box of all cells; empty: each has its own. */
	struct gb_plan_workdir {
		char from[GB_PLAN_WORKDIR_BYTES];
		uint64_t device, inode; /* as in gb_plan_path */
		uint32_t is_writable;
	} workdir;
	uint64_t box_bytes;     /* of /box; /tmp has as much */
	uint32_t max_processes; /* and threads, in a cell */
	uint32_t max_files;     /* open at once, in a cell */
	uint32_t max_signals;   /* pending signals and timers, in a cell */
	uint64_t namespaces;    /* flags of the unshare call that a cell makes last */
	uint64_t cookie;        /* an argument without which the filter refuses that call: see seccomp.c */
};

struct gb_plan {
	uint32_t size; /* sizeof(struct gb_plan): host and worker must come from the same build */
	uint32_t layers;
	uint32_t uid;
	uint32_t gid;
	uint32_t host_gid;    /* what gid is on the host; the user has the same id on both sides */
	int32_t cpu;          /* to run on, or -1 */
	uint32_t room;        /* enum gb_room */
	uint32_t network;     /* each cell passes sockets out of its network, or keeps a fetch channel */
	uint32_t bare;        /* a room with files, without those of the system and without sockets */
	uint32_t n_addresses; /* that a cell's network has, apart from loopback */
	struct gb_plan_address {
		uint32_t is_six;
		uint8_t bytes[16];
	} addresses[GB_HOST_ADDRESSES_MAX];
	uint32_t grouped;               /* each cell has a control group of its own, and starts in it */
	char profile[GB_PROFILE_BYTES]; /* tells the worker what to prepare */
	uint32_t n_rlimits;
	struct gb_rlimit rlimits[GB_PLAN_RLIMITS_MAX];
	struct gb_landlock_rights landlock;
	struct gb_room_contents contents;
	struct gb_seccomp filter;
};

/* A plan with all layers on this kernel. If the kernel lacks a layer, fails with an error that names it. */
bool gb_plan_init(struct gb_plan *plan, struct gb_err *err);
/* The same for cells of the network tier, which keep a fetch channel. */
bool gb_plan_init_fetching(struct gb_plan *plan, struct gb_err *err);

/* RLIMIT_NOFILE of a cell in an empty room: with 0 no descriptor can be opened, not even with the number of a closed
 * one. A cell that fetches waits for two descriptors at once, and ppoll takes no more than the limit. All that its
 * filter lets it open is a pidfd of itself, in the place of one that it has closed. */
#define GB_EMPTY_ROOM_FILES(plan) ((plan)->network ? 2u : 0u)

struct gb_room_options {
	enum gb_room room;
	uint64_t box_bytes; /* of /box; /tmp has as much */
	bool grouped;       /* each cell will have a control group of its own */
	bool network;       /* each cell passes sockets out of its network */
	bool bare;          /* no files of the system, and no sockets: see struct gb_plan_options */
	bool workdir;       /* gb_plan_set_workdir follows */
};

/* Whether each cell has a network of its own, and passes sockets out of it. */
#define GB_PLAN_PASSES_SOCKETS(plan) ((plan)->network && (plan)->room != GB_ROOM_NONE && !(plan)->bare)
#define GB_PLAN_HAS_WORKDIR(plan)    ((plan)->contents.workdir.from[0] != '\0')

/* The same for a room that is not empty: with /box and /tmp for each cell, and what gb_plan_add_path adds.
 * The zygote then keeps CAP_SYS_ADMIN over its own namespaces, to give each cell its own mount and pid
 * namespaces; cells keep no capability, and raise Landlock themselves. */
bool gb_plan_init_room(struct gb_plan *plan, const struct gb_room_options *options, struct gb_err *err);
/* Make the host's @from readable in the room, as @to; NULL: under the same name. Does nothing if @from does
 * not exist. */
bool gb_plan_add_path(struct gb_plan *plan, const char *from, const char *to, struct gb_err *err);
/* The same, and the file, or files in the folder, may be executed. For rooms with programs. */
bool gb_plan_add_program(struct gb_plan *plan, const char *from, const char *to, struct gb_err *err);
/* gb_plan_add_path for each path of a list that ends with NULL. */
bool gb_plan_add_paths(struct gb_plan *plan, const char *const *paths, struct gb_err *err);

/* /box is the host's folder that is open as @fd. After gb_plan_init_room with .workdir. */
bool gb_plan_set_workdir(struct gb_plan *plan, int fd, bool writable, struct gb_err *err);

/* Which Landlock rights this kernel supports. Fails if it has no Landlock or Landlock is switched off. */
bool gb_landlock_rights(struct gb_landlock_rights *ret, int *ret_abi, struct gb_err *err);

/*
 * Regions of 4 GiB in which a process may request memory at an address of its choice; the filter compares the
 * region's number. The host does not know where the zygote's memory will be, so the filter is compiled with
 * these placeholders, in which no address of a process lies, and the zygote replaces them by the regions
 * around its own memory.
 */
#define GB_SECCOMP_REGION 0xfffffff0ull
enum { GB_SECCOMP_REGIONS = 3 };

/* An errno that no kernel returns: it distinguishes a refusal by the filter from any other error. */
enum { GB_SECCOMP_MARK = 4000 };

struct gb_seccomp_options {
	enum gb_room room;
	uint64_t cookie;  /* that of the contents */
	int denied_errno; /* errno of refused calls: EPERM; GB_SECCOMP_MARK in tests and doctor */
	/* A control group counts the memory of the cell. Without one, the filter refuses to programs whatever
	 * memory /proc does not show: anonymous shared memory, larger socket buffers, processes that cannot
	 * be inspected. */
	bool grouped;
	bool network; /* sockets, also in GB_ROOM_FILES; and what the zygote needs to set the network up */
	bool workdir; /* files of the host can be made: none that give the rights of their owner to others */
};

/* The system call filter of a room. */
bool gb_seccomp_filter(struct gb_seccomp *ret, const struct gb_seccomp_options *options, struct gb_err *err);

#endif
