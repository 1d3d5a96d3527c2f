/*
 * A small event loop over epoll: one descriptor that an embedder can poll, callbacks that run only while
 * the embedder asks for it.
 *
 *	struct thing { struct gb_source source; ... };
 *	static void on_ready(struct gb_source *source, uint32_t events) { struct thing *t = (struct thing
 **)source; ... }
 *
 *	gb_loop_add(&loop, &thing->source, fd, EPOLLIN, on_ready, &err);
 *	gb_loop_dispatch(&loop, 0);	// what is ready now
 */
#ifndef GB_BASE_LOOP_H
#define GB_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

struct gb_source {
	void (*on_ready)(struct gb_source *source, uint32_t events);
	int fd; /* borrowed; -1 while it is not in a loop */
};

enum { GB_LOOP_BATCH = 64 };

struct gb_loop {
	int epoll;
	int n_batch; /* of the dispatch that is under way */
	struct epoll_event batch[GB_LOOP_BATCH];
};

bool gb_loop_init(struct gb_loop *loop, struct gb_err *err);
void gb_loop_finish(struct gb_loop *loop);

bool gb_loop_add(struct gb_loop *loop, struct gb_source *source, int fd, uint32_t events,
    void (*on_ready)(struct gb_source *, uint32_t), struct gb_err *err);
void gb_loop_change(struct gb_loop *loop, struct gb_source *source, uint32_t events);
/* Before its descriptor is closed. Also takes back events that were received but not yet delivered, so the
 * source may be freed at once, from any callback. */
void gb_loop_remove(struct gb_loop *loop, struct gb_source *source);

/* Wait at most @timeout_ms (-1: for ever) and deliver what is ready. Returns how many, or -1 with errno. */
int gb_loop_dispatch(struct gb_loop *loop, int timeout_ms);

#endif
