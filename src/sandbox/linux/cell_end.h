/* Why a cell ended, derived from the wait status of its process and from out-of-memory kills. */
#ifndef GB_SANDBOX_LINUX_CELL_END_H
#define GB_SANDBOX_LINUX_CELL_END_H

#include "sandbox/port.h"

/* Which limit was reached when the kernel killed a process for lack of memory. */
enum gb_out_of_memory {
	GB_OOM_NONE, /* none: no such kill */
	GB_OOM_CELL, /* the cell's, or the machine's */
	GB_OOM_ALL,  /* that of all cells together, or the machine's */
};

void gb_cell_end_by_status(int wait_status, struct gb_cell_end *ret);
/* @which is not GB_OOM_NONE. */
void gb_cell_end_by_memory(enum gb_out_of_memory which, struct gb_cell_end *ret);

#endif
