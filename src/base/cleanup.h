/*
 * Scope-based cleanup, and how to transfer ownership out of a scope:
 *
 *	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
 *	...
 *	*ret_fd = gb_take_fd(&fd);	// the scope no longer closes it
 */
#ifndef GB_BASE_CLEANUP_H
#define GB_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

/* Close *@fd unless it is negative, and set it to -1. errno is preserved. */
void gb_close_fd(int *fd);

static inline int gb_take_fd(int *fd) {
	int taken = *fd;
	*fd = -1;
	return taken;
}

static inline void gb_free_pointer(void *pointer_to_pointer) {
	free(*(void **)pointer_to_pointer);
}

#define gb_auto_fd   __attribute__((cleanup(gb_close_fd)))
#define gb_auto_free __attribute__((cleanup(gb_free_pointer)))

#define gb_take_pointer(pp)                                                                                  \
	({                                                                                                   \
		__typeof__(*(pp)) taken_ = *(pp);                                                            \
		*(pp) = NULL;                                                                                \
		taken_;                                                                                      \
	})

#define GB_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
