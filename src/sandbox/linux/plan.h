/*
 * The plan of a wall: everything that a sandbox must give up, decided on the host before anything runs.
 *
 *	struct gb_plan plan;
 *	gb_plan_init(&plan, &err);			// host: may allocate, may ask the kernel
 *	gb_zygote_spawn(&zygote, &plan, ...);		// the plan travels to the child as bytes
 *	gb_plan_apply(&plan, &failure);			// inside/: system calls only
 *
 * A plan is plain data of a fixed size. The child never decides anything: it applies the plan, layer by
 * layer, and if one layer cannot be raised it says which and ends.
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
	GB_LAYER_CAPS = 1 << 7,     /* no capability, and none to gain */
	GB_LAYER_LANDLOCK = 1 << 8, /* no file, no TCP, no signal or abstract socket outward */
	GB_LAYER_SECCOMP = 1 << 9,  /* system call allowlist */
	GB_LAYER_CGROUP = 1 << 10,  /* memory and process count of the whole engine; where there is one */
	GB_LAYER_ALL = (1 << 11) - 1,
};

enum {
	GB_LAYER_COUNT = 11,
	GB_PLAN_FILTER_MAX = 2048,
	GB_PLAN_RLIMITS_MAX = 12,
	GB_PLAN_PATHS_MAX = 32,
	GB_PLAN_PATH_BYTES = 64,
	GB_PLAN_HOST_PATH_BYTES = 192,
	GB_SHM_BYTES = 64 << 20, /* of /dev/shm, in a room with programs */
};

/* "seccomp" and the like; the index is the bit's. */
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

/* What a room has that is not empty. */
struct gb_room_contents {
	uint32_t n_paths;
	struct gb_plan_path {
		char from[GB_PLAN_HOST_PATH_BYTES]; /* on the host */
		char to[GB_PLAN_PATH_BYTES];        /* in the room */
		uint8_t is_file;
		uint8_t is_device;  /* may be written to */
		uint8_t is_program; /* it, or what is in it, may be started */
	} paths[GB_PLAN_PATHS_MAX];
	uint64_t box_bytes;     /* of /box; /tmp has as much */
	uint32_t max_processes; /* and threads, in a cell */
	uint32_t max_files;     /* open at once, in a cell */
	uint32_t max_signals;   /* that wait, and timers, in a cell */
	uint64_t namespaces;    /* that a cell takes last, as flags of unshare */
	uint64_t cookie;        /* with which it may do so: see seccomp.c */
};

struct gb_plan {
	uint32_t size; /* sizeof(struct gb_plan): host and worker must come from the same build */
	uint32_t layers;
	uint32_t uid;
	uint32_t gid;
	int32_t cpu;                    /* to run on, or -1 */
	uint32_t room;                  /* enum gb_room */
	uint32_t grouped;               /* each cell has a control group of its own, and starts in it */
	char profile[GB_PROFILE_BYTES]; /* for the worker: what to make ready */
	uint32_t n_rlimits;
	struct gb_rlimit rlimits[GB_PLAN_RLIMITS_MAX];
	struct gb_landlock_rights landlock;
	struct gb_room_contents contents;
	struct gb_seccomp filter;
};

/* The full wall on this kernel. Fails, naming the layer, if a layer is not to be had at all. */
bool gb_plan_init(struct gb_plan *plan, struct gb_err *err);

struct gb_room_options {
	enum gb_room room;
	uint64_t box_bytes; /* of /box; /tmp has as much */
	bool grouped;       /* each cell will have a control group of its own */
};

/* The same around a room that is not empty: with /box and /tmp for each cell, and what gb_plan_add_path adds.
 * The zygote then keeps CAP_SYS_ADMIN over its own namespaces, to give each cell its own mounts and
 * processes; cells keep nothing, and raise Landlock themselves. */
bool gb_plan_init_room(struct gb_plan *plan, const struct gb_room_options *options, struct gb_err *err);
/* Let the host's @from be read in the room, as @to; NULL: under the same name. Does nothing if it does not
 * exist. */
bool gb_plan_add_path(struct gb_plan *plan, const char *from, const char *to, struct gb_err *err);
/* The same, and it may be started, or what is in it: in a room with programs. */
bool gb_plan_add_program(struct gb_plan *plan, const char *from, const char *to, struct gb_err *err);
/* All of a list that ends with NULL, to be read. */
bool gb_plan_add_paths(struct gb_plan *plan, const char *const *paths, struct gb_err *err);

/* Which Landlock rights this kernel knows. False if it has no Landlock or it is switched off. */
bool gb_landlock_rights(struct gb_landlock_rights *ret, int *ret_abi, struct gb_err *err);

/*
 * Where a process may ask for memory by its address: regions of 4 GiB, of which the filter compares the
 * number. The host does not know where the zygote's memory will be, so the filter has these placeholders,
 * which no address of a process is in, and the zygote replaces them by the regions around its own.
 */
#define GB_SECCOMP_REGION 0xfffffff0ull
enum { GB_SECCOMP_REGIONS = 3 };

/* An errno that no kernel returns: with it, a refusal of the filter can be told from any other. */
enum { GB_SECCOMP_MARK = 4000 };

struct gb_seccomp_options {
	enum gb_room room;
	uint64_t cookie;  /* that of the contents */
	int denied_errno; /* of calls that are refused: EPERM, or the mark in tests and diagnoses */
	/* A control group counts what the cell takes. Without one, programs are refused what /proc does not
	 * show: anonymous shared memory, larger buffers of sockets, processes that cannot be looked into. */
	bool grouped;
};

/* The system call filter of a room. */
bool gb_seccomp_filter(struct gb_seccomp *ret, const struct gb_seccomp_options *options, struct gb_err *err);

#endif
