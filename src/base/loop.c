#include "base/loop.h"

#include <errno.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/watchdog.h"

bool gb_loop_init(struct gb_loop *loop, struct gb_err *err) {
	gb_watchdog_init();
	loop->n_batch = 0;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll >= 0 || gb_fail(err, GB_ESYSTEM, errno, "epoll_create1");
}

void gb_loop_finish(struct gb_loop *loop) {
	gb_close_fd(&loop->epoll);
}

bool gb_loop_add_named(struct gb_loop *loop, struct gb_source *source, int fd, uint32_t events,
    void (*on_ready)(struct gb_source *, uint32_t), const char *name, struct gb_err *err) {
	source->fd = -1;
	struct epoll_event event = {.events = events, .data.ptr = source};
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "epoll_ctl");
	source->on_ready = on_ready;
	source->name = name;
	source->fd = fd;
	return true;
}

void gb_loop_change(struct gb_loop *loop, struct gb_source *source, uint32_t events) {
	struct epoll_event event = {.events = events, .data.ptr = source};
	epoll_ctl(loop->epoll, EPOLL_CTL_MOD, source->fd, &event);
}

void gb_loop_remove(struct gb_loop *loop, struct gb_source *source) {
	if (source->fd < 0)
		return;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	source->fd = -1;
	for (int i = 0; i < loop->n_batch; i++)
		if (loop->batch[i].data.ptr == source)
			loop->batch[i].data.ptr = NULL;
}

int gb_loop_dispatch(struct gb_loop *loop, int timeout_ms) {
	int n = epoll_wait(loop->epoll, loop->batch, GB_LOOP_BATCH, timeout_ms);
	loop->n_batch = n > 0 ? n : 0;
	for (int i = 0; i < loop->n_batch; i++) {
		struct gb_source *source = loop->batch[i].data.ptr;
		if (!source)
			continue;
		const char *name = source->name; /* the callback may free its source */
		struct gb_watch watch;
		gb_watch_begin(&watch);
		source->on_ready(source, loop->batch[i].events);
		gb_watch_end(&watch, name);
	}
	loop->n_batch = 0;
	return n;
}
