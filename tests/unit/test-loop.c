#include "base/loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "tap.h"

static struct gb_loop loop;
static unsigned n_called;

struct thing {
	struct gb_source source;
	struct thing *victim;
};

static void on_ready(struct gb_source *source, uint32_t events) {
	struct thing *thing = (struct thing *)source;
	CHECK(events & GB_LOOP_IN);
	n_called++;
	if (thing->victim)
		gb_loop_remove(&loop, &thing->victim->source);
}

static int ready_fd(void) {
	return eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
}

TEST(events_are_delivered) {
	CHECK(gb_loop_init(&loop, NULL));
	struct thing thing = {0};
	int fd = ready_fd();
	CHECK(gb_loop_add(&loop, &thing.source, fd, GB_LOOP_IN, on_ready, NULL));
	n_called = 0;
	CHECK_INT(gb_loop_dispatch(&loop, 0), 1);
	CHECK_INT(n_called, 1);
	gb_loop_remove(&loop, &thing.source);
	gb_loop_remove(&loop, &thing.source);
	CHECK_INT(gb_loop_dispatch(&loop, 0), 0);
	close(fd);
	gb_loop_finish(&loop);
}

TEST(a_source_removed_by_another_callback_is_not_called) {
	CHECK(gb_loop_init(&loop, NULL));
	struct thing a = {0}, b = {0};
	a.victim = &b;
	b.victim = &a;
	int one = ready_fd(), two = ready_fd();
	CHECK(gb_loop_add(&loop, &a.source, one, GB_LOOP_IN, on_ready, NULL));
	CHECK(gb_loop_add(&loop, &b.source, two, GB_LOOP_IN, on_ready, NULL));
	n_called = 0;
	CHECK_INT(gb_loop_dispatch(&loop, 0), 2);
	CHECK_INT(n_called, 1);
	close(one);
	close(two);
	gb_loop_finish(&loop);
}

TEST(a_closed_descriptor_cannot_be_added) {
	CHECK(gb_loop_init(&loop, NULL));
	struct thing thing = {0};
	struct gb_err err = {0};
	CHECK(!gb_loop_add(&loop, &thing.source, -1, GB_LOOP_IN, on_ready, &err));
	CHECK_INT(err.code, GB_ESYSTEM);
	gb_loop_remove(&loop, &thing.source); /* it was never added */
	gb_loop_finish(&loop);
}
