/*
 * The messages between host and zygote: fixed-size, over a SOCK_SEQPACKET pair. Cells have neither end of it.
 */
#ifndef GB_SANDBOX_LINUX_PROTOCOL_H
#define GB_SANDBOX_LINUX_PROTOCOL_H

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>

#include "sandbox/worker.h"

/* Descriptor numbers: the cell's socket, and the zygote's pidfd of the host and control socket. The filter
 * contains these numbers; that of the control socket is above every descriptor that a cell can have in
 * GB_ROOM_NONE and GB_ROOM_FILES. */
enum { GB_FD_CELL = 3, GB_FD_HOST = 4, GB_FD_CONTROL = 300 };

/* The descriptors of a cell's control group, GB_FD_GROUP_USAGE and those behind it, are sent with the order
 * for the cell, after its socket and the descriptors that it joins the group through, one for each
 * hierarchy. */
enum { GB_GROUP_KEPT = 3, GB_GROUP_FDS_MAX = 3 + GB_GROUP_KEPT };
/* Descriptors of an order: the socket of the cell, that of its network, those of its control group. */
enum { GB_ORDER_FDS_MAX = 2 + GB_GROUP_FDS_MAX };

/* Exit status of a cell that could not raise one of its own layers, or raised it and did not observe it: one
 * of these plus the number of the layer's bit (GB_LAYER_COUNT: no single layer). Such a cell has not read its
 * job. */
enum {
	GB_CELL_EXIT_NOT_RAISED = 100,
	GB_CELL_EXIT_NOT_OBSERVED = 120,
	GB_CELL_EXIT_NO_WALL_END = 140, /* the first status above both ranges */
};

/* Clone flags for a cell: those of fork(); in a room that is not empty also new mount and pid namespaces, and
 * in a room with programs also a new network namespace. */
#define GB_FORK_FLAGS           (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
#define GB_CELL_CLONE_FLAGS     (GB_FORK_FLAGS | CLONE_NEWNS | CLONE_NEWPID)
#define GB_CELL_CLONE_FLAGS_NET (GB_CELL_CLONE_FLAGS | CLONE_NEWNET)

enum gb_order_kind {
	/* with the cell's socket as SCM_RIGHTS unless it is a spare one, and the descriptors of its control
	 * group, if it has one */
	GB_ORDER_FORK = 1,
	GB_ORDER_SOCKETS, /* with spare sockets as SCM_RIGHTS */
};

/* While a unix socket is in flight to another process, each close of any unix socket makes the kernel's
 * garbage collector run. So sockets are sent a few at a time, in advance. A cell has to close its zygote's
 * spare sockets, so there are only a few. */
enum { GB_SPARE_SOCKETS = 8, GB_NO_SPARE = GB_SPARE_SOCKETS };

enum {
	GB_FORK_PRIME = 1, /* prime the cell before it waits for its job */
	/* The descriptor behind the cell's socket is the one over which it passes its sockets out; in an empty room, its
	 * fetch channel. */
	GB_FORK_NETWORK = 2,
};

/* Host to zygote, after the plan. */
struct gb_order {
	uint32_t kind;
	uint32_t cell;
	uint32_t flags;
	uint32_t spare; /* FORK: index of the spare socket, or GB_NO_SPARE; SOCKETS: index of the first one */
};

enum gb_notice_kind {
	GB_NOTICE_READY = 1, /* the wall is up */
	GB_NOTICE_FAILED,    /* a layer could not be raised; the zygote ends */
	GB_NOTICE_FORKED,    /* with the cell's pidfd as SCM_RIGHTS, or error set */
	GB_NOTICE_EXITED,    /* the cell's process was reaped */
};

struct gb_notice {
	uint32_t kind;
	uint32_t cell;
	uint32_t layer;      /* FAILED */
	int32_t error;       /* FAILED, FORKED: an errno */
	int32_t wait_status; /* EXITED */
	char text[64];       /* FAILED: the step that failed; READY: the version of the worker */
};

#endif
