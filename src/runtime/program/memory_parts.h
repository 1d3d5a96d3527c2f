/*
 * The parts of memory.h.
 *
 * Without a control group the sum is made of: the pages of each process (anonymous and shared memory, page
 * tables), the keeper's own pages, and bounds for what the kernel holds on behalf of the processes: mappings,
 * descriptors, socket buffers, pipes, epoll items, file locks, watches, terminals. Pages that processes share
 * are told apart only if the sum passes the limit otherwise: that takes long.
 */
#ifndef GB_RUNTIME_PROGRAM_MEMORY_PARTS_H
#define GB_RUNTIME_PROGRAM_MEMORY_PARTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GB_PROC_TEXT_MAX = 4096, GB_PROC_PATH_MAX = 96 };

enum gb_proc_status {
	GB_PROC_READ,
	GB_PROC_GONE,   /* the process or thread has ended */
	GB_PROC_CLOSED, /* it may not be looked into */
	GB_PROC_FAILED, /* anything else: descriptors or memory are short */
};

/* --- memory_proc.c --- */

/* Read the beginning of a file of /proc as text. */
enum gb_proc_status gb_proc_read(const char *path, char text[GB_PROC_TEXT_MAX]);
/* The number after @label in @text; 0 if @label is not there. */
uint64_t gb_proc_number(const char *text, const char *label);
/* The next entry whose name is a number above 1, or NULL. */
const char *gb_proc_next(DIR *dir);
/* What errno means for the reader. */
enum gb_proc_status gb_proc_error(void);
/* Count the lines of a file that begin with one of @labels, until there are
 * @max. */
enum gb_proc_status gb_proc_count_lines(
    const char *path, const char *const *labels, uint64_t max, uint64_t *ret);

/* --- memory_group.c --- */

bool gb_group_init(void);
/* Without files in the cell's own folders and without page cache; GB_MEMORY_UNKNOWN on failure. */
uint64_t gb_group_used(uint64_t limit);
uint64_t gb_group_kills(void);

/* --- memory_tasks.c --- */

/* A process, read through a thread of it that lives: its leader may have exited. */
struct gb_task {
	char id[24];
	uint64_t pages;    /* anonymous and shared memory, bytes */
	uint64_t tables;   /* page tables, bytes */
	uint64_t size;     /* of its address space, bytes */
	uint64_t fd_slots; /* of its table of descriptors */
};

/* Read process @pid. GB_PROC_GONE also if none of its threads has memory any more. */
enum gb_proc_status gb_task_read(const char *pid, struct gb_task *ret);

/* All processes but the keeper, in bytes. */
struct gb_tasks {
	uint64_t pages; /* anonymous and shared memory */
	uint64_t used;  /* that, page tables and tables of descriptors */
};

/* Add up until @limit is passed; if @exact, pages that several processes share count once. False if that
 * cannot be found out. */
bool gb_tasks_count(uint64_t limit, bool exact, struct gb_tasks *ret);

/* --- memory_sockets.c --- */

/* An upper bound for what all sockets of the cell's network hold, less rough if it is above @left;
 * GB_MEMORY_UNKNOWN on failure. */
uint64_t gb_sockets_used(uint64_t left);

/* An upper bound for what sockets hold that no control group counts. */
uint64_t gb_sockets_uncounted(void);

/* --- memory_descriptors.c --- */

/* An upper bound for what is behind the mappings and descriptors of all processes; some of it was found out a
 * while ago, since each call looks at a limited number of descriptors. GB_MEMORY_UNKNOWN on failure. */
uint64_t gb_descriptors_used(uint64_t limit);
/* The same for file locks alone, which no control group counts. */
uint64_t gb_locks_used(uint64_t limit);
/* A run begins. */
void gb_descriptors_forget(void);

#endif
