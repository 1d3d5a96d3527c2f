/*
 * Make the program's code cheap to inherit.
 *
 * fork does not copy the page tables of file mappings, so every cell would meet its program's code again,
 * page fault by page fault; and if it did copy them, there would be hundreds of entries to copy and to take
 * down. Held in one anonymous page of 2 MiB, the code is a single entry. Throughput grew by a quarter.
 */
#ifndef GB_SANDBOX_LINUX_INSIDE_TEXT_H
#define GB_SANDBOX_LINUX_INSIDE_TEXT_H

/* Move the read-only segments of this program into huge pages, where they stand. Before the wall is raised:
 * code becomes writable for a moment, elsewhere, and executable where it is. A matter of speed only: whatever
 * cannot be moved (no huge pages, a segment that is not aligned for them) stays what it was. */
void gb_text_make_inheritable(void);

#endif
