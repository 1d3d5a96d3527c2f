/*
 * What host and zygote say to each other: fixed-size messages over a SOCK_SEQPACKET pair. Both ends are ours;
 * workers never hold either of them.
 */
#ifndef GB_SANDBOX_LINUX_PROTOCOL_H
#define GB_SANDBOX_LINUX_PROTOCOL_H

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>

#include "sandbox/worker.h"

/* Where a cell finds its socket, and the zygote what it was given. The filter knows these numbers; that of
 * the control socket is beyond every descriptor that a cell can have, in either kind of room. */
enum { GB_FD_CELL = 3, GB_FD_HOST = 4, GB_FD_CONTROL = 300 };

/* The descriptors of a cell's control group, GB_FD_GROUP_USAGE and those behind it, come with the order for the
 * cell, after its socket and the descriptors through which it joins the group, one for each hierarchy. */
enum { GB_GROUP_KEPT = 3, GB_GROUP_FDS_MAX = 3 + GB_GROUP_KEPT };

/* A cell that could not raise one of its own layers, or raised it and did not observe it, ends with one of
 * these and the number of the layer's bit (GB_LAYER_COUNT: no single layer), without having read its job. */
enum {
	GB_CELL_EXIT_NOT_RAISED = 100,
	GB_CELL_EXIT_NOT_OBSERVED = 120,
	GB_CELL_EXIT_NO_WALL_END = 140, /* the first that is neither */
};

/* How a zygote makes a cell: as fork() would. In a room that is not empty with mounts and processes of its
 * own, and a network where there are programs. */
#define GB_FORK_FLAGS           (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
#define GB_CELL_CLONE_FLAGS     (GB_FORK_FLAGS | CLONE_NEWNS | CLONE_NEWPID)
#define GB_CELL_CLONE_FLAGS_NET (GB_CELL_CLONE_FLAGS | CLONE_NEWNET)

enum gb_order_kind {
	GB_ORDER_FORK = 1, /* with the cell's socket as SCM_RIGHTS, if it is none of the spare ones, and the
			    * descriptors of its control group, if it has one */
	GB_ORDER_SOCKETS,  /* with spare sockets as SCM_RIGHTS */
};

/* While a unix socket is on its way to another process, every unix socket that is closed anywhere makes the
 * kernel look for lost ones. So they are sent a few at a time. A cell does not have more to close for it than
 * these. */
enum { GB_SPARE_SOCKETS = 8, GB_NO_SPARE = GB_SPARE_SOCKETS };

enum { GB_FORK_PRIME = 1 }; /* warm the cell up before it waits for its job */

/* Host to zygote, after the plan. */
struct gb_order {
	uint32_t kind;
	uint32_t cell;
	uint32_t flags;
	uint32_t
	    spare; /* FORK: which of the spare sockets, or GB_NO_SPARE; SOCKETS: which the first one is */
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
	char step[64];       /* FAILED: what was being done */
};

#endif
