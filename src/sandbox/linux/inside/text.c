#include "sandbox/linux/inside/text.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* Linux 5.14; older C library headers do not name it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool fill_huge_page(char *page, const void *bytes, size_t n) {
	if (madvise(page, HUGE_PAGE, MADV_HUGEPAGE) != 0 ||
	    madvise(page, HUGE_PAGE, MADV_POPULATE_WRITE) != 0)
		return false;
	memcpy(page, bytes, n);
	return true;
}

/* Build the copy elsewhere and map it over the original in one system call: the code that the call returns to
 * is identical. */
static void move_segment(char *begin, size_t n, int protection) {
	char *room = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return;
	char *page = room + (-(uintptr_t)room & (HUGE_PAGE - 1));
	if (fill_huge_page(page, begin, n) && mprotect(page, HUGE_PAGE, protection) == 0)
		(void)mremap(page, HUGE_PAGE, HUGE_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, begin);
	munmap(room, 2 * HUGE_PAGE);
}

static int move_segments(struct dl_phdr_info *info, size_t size, void *data) {
	(void)size, (void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
		bool fits =
		    begin % HUGE_PAGE == 0 && segment->p_memsz <= HUGE_PAGE && segment->p_align >= HUGE_PAGE;
		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && fits)
			move_segment((char *)begin, segment->p_memsz,
			    PROT_READ | (segment->p_flags & PF_X ? PROT_EXEC : 0));
	}
	return 1; /* stop: the first object is the program itself */
}

void gb_text_make_inheritable(void) {
	dl_iterate_phdr(move_segments, NULL);
}
