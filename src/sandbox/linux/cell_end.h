/* Why a cell has ended, from what the kernel says about its process. */
#ifndef GB_SANDBOX_LINUX_CELL_END_H
#define GB_SANDBOX_LINUX_CELL_END_H

#include "sandbox/port.h"

/* Which processes had taken too much when the kernel killed for want of memory. */
enum gb_out_of_memory {
	GB_OOM_NONE, /* it did not */
	GB_OOM_CELL, /* those of the cell, or of the machine */
	GB_OOM_ALL,  /* those of all cells together, or of the machine */
};

void gb_cell_end_by_status(int wait_status, struct gb_cell_end *ret);
/* @which is not GB_OOM_NONE. */
void gb_cell_end_by_memory(enum gb_out_of_memory which, struct gb_cell_end *ret);

#endif
