/*
 * Internal parts of memory.h.
 *
 * Without a control group the sum consists of: the pages of each process (anonymous and shared memory, page
 * tables), the keeper's own pages, and upper bounds for kernel memory held on behalf of the processes:
 * mappings, descriptors, socket buffers, pipes, epoll items, file locks, watches, terminals. Pages shared
 * between processes are deduplicated only if the sum exceeds the limit otherwise, because that is slow.
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
	GB_PROC_CLOSED, /* no permission to inspect it */
	GB_PROC_FAILED, /* any other error: out of descriptors or memory */
};

/* --- memory_proc.c --- */

/* Read the beginning of a /proc file as text. */
enum gb_proc_status gb_proc_read(const char *path, char text[GB_PROC_TEXT_MAX]);
/* The number after @label in @text; 0 if @label is missing. */
uint64_t gb_proc_number(const char *text, const char *label);
/* The next entry whose name is a number above 1, or NULL. */
const char *gb_proc_next(DIR *dir);
/* Map errno to a status. */
enum gb_proc_status gb_proc_error(void);
/* Count the lines of a file that begin with one of @labels, up to @max. */
enum gb_proc_status gb_proc_count_lines(
    const char *path, const char *const *labels, uint64_t max, uint64_t *ret);

/* --- memory_group.c --- */

bool gb_group_init(void);
/* Excludes files on the cell's tmpfs mounts and page cache. GB_MEMORY_UNKNOWN on failure. */
uint64_t gb_group_used(uint64_t limit);
uint64_t gb_group_kills(void);

/* --- memory_tasks.c --- */

/* A process, read through any live thread: its leader may have exited. */
struct gb_task {
	char id[24];
	uint64_t pages;    /* anonymous and shared memory, bytes */
	uint64_t tables;   /* page tables, bytes */
	uint64_t size;     /* address space, bytes */
	uint64_t fd_slots; /* size of its descriptor table */
};

/* Read process @pid. GB_PROC_GONE also if all of its threads have exited. */
enum gb_proc_status gb_task_read(const char *pid, struct gb_task *ret);

/* All processes except the keeper, in bytes. */
struct gb_tasks {
	uint64_t pages; /* anonymous and shared memory */
	uint64_t used;  /* pages, page tables and descriptor tables */
};

/* Add up until the sum exceeds @limit; if @exact, pages shared by several processes count once. False if the
 * usage cannot be determined. */
bool gb_tasks_count(uint64_t limit, bool exact, struct gb_tasks *ret);

/* --- memory_sockets.c --- */

/* An upper bound for the memory of all sockets in the cell's network namespace, computed more precisely if it
 * exceeds @left. GB_MEMORY_UNKNOWN on failure. */
uint64_t gb_sockets_used(uint64_t left);

/* An upper bound for socket memory that is charged to no control group. */
uint64_t gb_sockets_uncounted(void);

/* --- memory_descriptors.c --- */

/* An upper bound for kernel memory behind the mappings and descriptors of all processes. Partly from earlier
 * calls, since each call inspects a limited number of descriptors. GB_MEMORY_UNKNOWN on failure. */
uint64_t gb_descriptors_used(uint64_t limit);
/* The same for file locks alone, which are charged to no control group. */
uint64_t gb_locks_used(uint64_t limit);
/* Start from zero for a new run. */
void gb_descriptors_reset(void);

#endif
