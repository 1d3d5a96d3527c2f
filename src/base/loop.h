/*
 * A small event loop over epoll. An embedder can poll its one descriptor; callbacks run only inside
 * gb_loop_dispatch().
 *
 *	struct thing { struct gb_source source; ... };
 *	static void on_ready(struct gb_source *source, uint32_t events) {
 *		struct thing *t = (struct thing *)source; ...
 *	}
 *
 *	gb_loop_add(&loop, &thing->source, fd, GB_LOOP_IN, on_ready, &err);
 *	gb_loop_dispatch(&loop, 0);	// run the callbacks that are ready now
 */
#ifndef GB_BASE_LOOP_H
#define GB_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

struct gb_source {
	void (*on_ready)(struct gb_source *source, uint32_t events);
	const char *name; /* of on_ready, for the watchdog */
	int fd;           /* borrowed; -1 while it is not in a loop */
};

/* Events. Others mean that the descriptor was closed or has failed. With GB_LOOP_ONCE, an event is reported once
 * for each change, instead of in every turn until it is handled. */
enum { GB_LOOP_IN = EPOLLIN, GB_LOOP_OUT = EPOLLOUT };
#define GB_LOOP_ONCE ((uint32_t)EPOLLET)

enum { GB_LOOP_BATCH = 64 };

struct gb_loop {
	int epoll;
	int n_batch; /* events of the current dispatch */
	struct epoll_event batch[GB_LOOP_BATCH];
};

bool gb_loop_init(struct gb_loop *loop, struct gb_err *err);
void gb_loop_finish(struct gb_loop *loop);

#define gb_loop_add(loop, source, fd, events, on_ready, err)                                                 \
	gb_loop_add_named(loop, source, fd, events, on_ready, __FILE__ ": " #on_ready, err)
bool gb_loop_add_named(struct gb_loop *loop, struct gb_source *source, int fd, uint32_t events,
    void (*on_ready)(struct gb_source *, uint32_t), const char *name, struct gb_err *err);
void gb_loop_change(struct gb_loop *loop, struct gb_source *source, uint32_t events);
/* Call before closing the descriptor. Events received but not yet delivered are dropped, so the source may be
 * freed at once, from any callback. */
void gb_loop_remove(struct gb_loop *loop, struct gb_source *source);

/* Wait at most @timeout_ms (-1: for ever) and run the callbacks of ready sources. Returns their number, or -1
 * with errno. Callbacks must not block: see watchdog.h. */
int gb_loop_dispatch(struct gb_loop *loop, int timeout_ms);

#endif
