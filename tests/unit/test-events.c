/* The events of an execution: numbers, replay, loss, and callbacks that change what is being iterated. */
#include "base/cleanup.h"
#include "service/events.h"
#include "tap.h"

enum { SEEN_MAX = 64 };

/* A subscription that records what it gets, as text: "2:ab" is the output "ab", "lost 3 to 7" and so on. */
struct subscriber {
	struct gb_subscription subscription;
	char seen[SEEN_MAX * 16];
	unsigned n;
	uint64_t last;
	/* Called after the event is recorded; it may free the subscriber. */
	void (*then)(struct subscriber *subscriber, const struct gb_event *event);
	struct subscriber *other;
	struct gb_events *events;
	char *text; /* of the event, in the memory of the caller */
};

static void on_event(struct gb_subscription *subscription, const struct gb_event *event) {
	struct subscriber *subscriber = gb_container(struct subscriber, subscription, subscription);
	size_t at = strlen(subscriber->seen), room = sizeof subscriber->seen - at;
	const char *space = at ? " " : "";
	if (event->kind == GB_EVENT_LOST)
		snprintf(subscriber->seen + at, room, "%slost%llu:%llu", space,
		    (unsigned long long)event->count, (unsigned long long)event->seq);
	else
		snprintf(subscriber->seen + at, room, "%s%llu%.*s", space, (unsigned long long)event->seq,
		    (int)event->text.n, event->text.p ? event->text.p : "");
	subscriber->n++;
	subscriber->last = event->seq;
	if (subscriber->then)
		subscriber->then(subscriber, event);
}

static void subscribe(struct gb_events *events, struct subscriber *subscriber, uint64_t after) {
	subscriber->subscription.on_event = on_event;
	subscriber->events = events;
	gb_events_subscribe(events, &subscriber->subscription, after);
}

/* On the heap, so that a sanitizer finds each use after it is freed. */
static struct subscriber *create(struct gb_events *events) {
	struct subscriber *subscriber = calloc(1, sizeof *subscriber);
	if (!subscriber)
		abort();
	subscribe(events, subscriber, 0);
	return subscriber;
}

static void say(struct gb_events *events, const char *text) {
	gb_events_add(
	    events, &(struct gb_event){.kind = GB_EVENT_OUTPUT, .stream = 1, .text = gb_str_from(text)});
}

static struct gb_events *make(struct gb_events *events, size_t bytes, size_t count) {
	gb_events_init(events, &(struct gb_events_limits){.bytes = bytes, .count = count});
	return events;
}

/* --- numbers and replay --- */

TEST(events_are_numbered_from_one) {
	struct gb_events events;
	struct subscriber a = {0};
	subscribe(make(&events, 100, 10), &a, 0);
	say(&events, "a");
	say(&events, "b");
	gb_events_add(&events, &(struct gb_event){.kind = GB_EVENT_FINISHED, .seq = 77});
	CHECK_STR(a.seen, "1a 2b 3");
	CHECK_INT(events.last, 3);
	gb_events_finish(&events);
	CHECK(!a.subscription.events);
}

TEST(every_kind_has_a_name) {
	for (int kind = GB_EVENT_STARTED; kind <= GB_EVENT_LOST; kind++)
		CHECK(*gb_event_name((enum gb_event_kind)kind));
	CHECK_STR(gb_event_name(GB_EVENT_STARTED), "started");
	CHECK_STR(gb_event_name(GB_EVENT_LOST), "lost");
}

TEST(subscription_gets_what_is_kept_behind_a_number) {
	struct gb_events events;
	static const struct {
		uint64_t after;
		const char *seen;
	} cases[] = {{0, "1a 2b 3c 4d"}, {1, "2b 3c 4d"}, {2, "3c 4d"}, {3, "4d"}, {99, "4d"}};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct subscriber a = {0};
		make(&events, 100, 10);
		say(&events, "a");
		say(&events, "b");
		say(&events, "c");
		subscribe(&events, &a, cases[i].after);
		say(&events, "d");
		CHECK_STR(a.seen, cases[i].seen);
		gb_events_finish(&events);
	}
}

TEST(texts_of_kept_events_are_copies) {
	struct gb_events events;
	struct subscriber a = {0};
	char text[] = "abc";
	make(&events, 100, 10);
	say(&events, text);
	memset(text, 'x', 3);
	subscribe(&events, &a, 0);
	CHECK_STR(a.seen, "1abc");
	gb_events_finish(&events);
}

TEST(ended_subscription_gets_nothing_more) {
	struct gb_events events;
	struct subscriber a = {0};
	subscribe(make(&events, 100, 10), &a, 0);
	say(&events, "a");
	gb_subscription_end(&a.subscription);
	gb_subscription_end(&a.subscription);
	say(&events, "b");
	gb_subscription_pause(&a.subscription);
	gb_subscription_resume(&a.subscription);
	CHECK_STR(a.seen, "1a");
	CHECK_INT(events.n_subscriptions, 0);
	gb_events_finish(&events);
}

/* --- loss --- */

TEST(number_of_kept_events_is_limited) {
	struct gb_events events;
	struct subscriber late = {0}, later = {0}, current = {0};
	make(&events, 100, 2);
	for (const char *c = "abcde"; *c; c++)
		say(&events, (char[]){*c, '\0'});
	CHECK_INT(events.n_kept, 2);
	CHECK_INT(events.bytes, 2);
	subscribe(&events, &late, 0);
	subscribe(&events, &later, 2);
	subscribe(&events, &current, 3);
	CHECK_STR(late.seen, "lost3:3 4d 5e");
	CHECK_STR(later.seen, "lost1:3 4d 5e");
	CHECK_STR(current.seen, "4d 5e");
	gb_events_finish(&events);
}

TEST(bytes_of_kept_events_are_limited) {
	struct gb_events events;
	struct subscriber late = {0};
	make(&events, 10, 100);
	say(&events, "aaaa");
	say(&events, "bbbb");
	say(&events, "cc");
	CHECK_INT(events.n_kept, 3);
	say(&events, "ddddd");
	CHECK_INT(events.bytes, 7);
	subscribe(&events, &late, 0);
	CHECK_STR(late.seen, "lost2:2 3cc 4ddddd");
	gb_events_finish(&events);
}

TEST(subscription_that_is_up_to_date_loses_nothing) {
	struct gb_events events;
	struct subscriber a = {0};
	subscribe(make(&events, 0, 1), &a, 0);
	for (const char *c = "abc"; *c; c++)
		say(&events, (char[]){*c, '\0'});
	CHECK_STR(a.seen, "1a 2b 3c");
	gb_events_finish(&events);
}

TEST(last_event_is_kept_whatever_its_size) {
	struct gb_events events;
	struct subscriber late = {0};
	make(&events, 4, 10);
	say(&events, "a");
	say(&events, "bbbbbbbb");
	CHECK_INT(events.n_kept, 1);
	subscribe(&events, &late, 0);
	CHECK_STR(late.seen, "lost1:1 2bbbbbbbb");
	say(&events, "c");
	CHECK_INT(events.n_kept, 1);
	CHECK_INT(events.bytes, 1);
	gb_events_finish(&events);
}

/* --- pause and resume --- */

TEST(paused_subscription_gets_missed_events_when_it_is_resumed) {
	struct gb_events events;
	struct subscriber a = {0}, b = {0};
	subscribe(make(&events, 100, 10), &a, 0);
	subscribe(&events, &b, 0);
	say(&events, "a");
	gb_subscription_pause(&a.subscription);
	say(&events, "b");
	say(&events, "c");
	CHECK_STR(a.seen, "1a");
	CHECK_STR(b.seen, "1a 2b 3c");
	gb_subscription_resume(&a.subscription);
	CHECK_STR(a.seen, "1a 2b 3c");
	gb_subscription_resume(&a.subscription);
	say(&events, "d");
	CHECK_STR(a.seen, "1a 2b 3c 4d");
	gb_events_finish(&events);
}

TEST(paused_subscription_gets_the_number_of_events_that_were_dropped) {
	struct gb_events events;
	struct subscriber a = {0};
	subscribe(make(&events, 100, 2), &a, 0);
	say(&events, "a");
	gb_subscription_pause(&a.subscription);
	for (const char *c = "bcdef"; *c; c++)
		say(&events, (char[]){*c, '\0'});
	gb_subscription_resume(&a.subscription);
	CHECK_STR(a.seen, "1a lost3:4 5e 6f");
	/* Another loss is counted from there. */
	gb_subscription_pause(&a.subscription);
	for (const char *c = "ghi"; *c; c++)
		say(&events, (char[]){*c, '\0'});
	gb_subscription_resume(&a.subscription);
	CHECK_STR(a.seen, "1a lost3:4 5e 6f lost1:7 8h 9i");
	gb_events_finish(&events);
}

static void pause_self(struct subscriber *subscriber, const struct gb_event *event) {
	gb_subscription_pause(&subscriber->subscription);
}

TEST(subscription_can_take_one_event_at_a_time) {
	struct gb_events events;
	struct subscriber a = {.then = pause_self};
	make(&events, 100, 3);
	for (const char *c = "abcde"; *c; c++)
		say(&events, (char[]){*c, '\0'});
	subscribe(&events, &a, 0);
	CHECK_STR(a.seen, "lost2:2");
	gb_subscription_resume(&a.subscription);
	CHECK_STR(a.seen, "lost2:2 3c");
	say(&events, "f");
	CHECK_STR(a.seen, "lost2:2 3c");
	for (int i = 0; i < 5; i++)
		gb_subscription_resume(&a.subscription);
	CHECK_STR(a.seen, "lost2:2 3c 4d 5e 6f");
	gb_events_finish(&events);
}

static void pause_and_resume_self(struct subscriber *subscriber, const struct gb_event *event) {
	gb_subscription_pause(&subscriber->subscription);
	gb_subscription_resume(&subscriber->subscription);
}

TEST(resuming_inside_the_own_callback_keeps_the_order) {
	struct gb_events events;
	struct subscriber a = {.then = pause_and_resume_self};
	make(&events, 100, 10);
	say(&events, "a");
	say(&events, "b");
	subscribe(&events, &a, 0);
	say(&events, "c");
	CHECK_STR(a.seen, "1a 2b 3c");
	gb_events_finish(&events);
}

static void resume_other(struct subscriber *subscriber, const struct gb_event *event) {
	gb_subscription_resume(&subscriber->other->subscription);
}

TEST(resuming_inside_the_callback_of_another_delivers_each_event_once) {
	for (int first = 0; first < 2; first++) {
		struct gb_events events;
		struct subscriber a = {.then = resume_other}, b = {0};
		a.other = &b;
		make(&events, 100, 10);
		subscribe(&events, first ? &a : &b, 0);
		subscribe(&events, first ? &b : &a, 0);
		gb_subscription_pause(&b.subscription);
		say(&events, "a");
		gb_subscription_pause(&b.subscription);
		say(&events, "b");
		say(&events, "c");
		CHECK_STR(a.seen, "1a 2b 3c");
		CHECK_STR(b.seen, "1a 2b 3c");
		gb_events_finish(&events);
	}
}

/* --- ending and freeing in callbacks --- */

static void free_self(struct subscriber *subscriber, const struct gb_event *event) {
	gb_subscription_end(&subscriber->subscription);
	free(subscriber);
}

TEST(subscription_can_be_freed_in_its_own_callback) {
	struct gb_events events;
	make(&events, 100, 10);
	struct subscriber *a = create(&events), *b = create(&events), *c = create(&events);
	a->then = b->then = free_self;
	say(&events, "a");
	say(&events, "b");
	CHECK_INT(events.n_subscriptions, 1);
	CHECK_STR(c->seen, "1a 2b");
	gb_events_finish(&events);
	free(c);
}

TEST(subscription_can_be_freed_during_its_replay) {
	struct gb_events events;
	struct subscriber *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
	make(&events, 100, 2);
	a->then = b->then = free_self;
	say(&events, "a");
	say(&events, "b");
	subscribe(&events, a, 0);
	say(&events, "c");
	subscribe(&events, b, 0); /* LOST is the first */
	CHECK_INT(events.n_subscriptions, 0);
	gb_events_finish(&events);
}

static void free_other(struct subscriber *subscriber, const struct gb_event *event) {
	if (!subscriber->other)
		return;
	gb_subscription_end(&subscriber->other->subscription);
	free(subscriber->other);
	subscriber->other = NULL;
}

TEST(subscription_can_be_freed_in_the_callback_of_another) {
	for (int first = 0; first < 2; first++)
		for (int paused = 0; paused < 2; paused++) {
			struct gb_events events;
			make(&events, 100, 10);
			struct subscriber *x = create(&events), *y = create(&events);
			struct subscriber *killer = first ? x : y, *victim = first ? y : x;
			killer->then = free_other;
			killer->other = victim;
			if (paused)
				gb_subscription_pause(&victim->subscription);
			say(&events, "a");
			say(&events, "b");
			CHECK_INT(events.n_subscriptions, 1);
			CHECK_STR(killer->seen, "1a 2b");
			gb_events_finish(&events);
			free(killer);
		}
}

static void resume_and_free_other(struct subscriber *subscriber, const struct gb_event *event) {
	if (subscriber->other)
		gb_subscription_resume(&subscriber->other->subscription);
	free_other(subscriber, event);
}

/* The callback of b, on the stack below, has been called by that of a. */
static void free_other_and_self(struct subscriber *subscriber, const struct gb_event *event) {
	free_other(subscriber, event);
	free_self(subscriber, event);
}

TEST(nested_callbacks_can_free_the_outer_subscription) {
	struct gb_events events;
	make(&events, 100, 10);
	struct subscriber *a = create(&events), *b = create(&events), *c = create(&events);
	say(&events, "a");
	gb_subscription_pause(&b->subscription);
	a->then = resume_other;
	a->other = b;
	b->then = free_other_and_self;
	b->other = a;
	say(&events, "b");
	CHECK_STR(c->seen, "1a 2b");
	CHECK_INT(events.n_subscriptions, 1);
	struct subscriber *d = create(&events);
	gb_subscription_pause(&d->subscription);
	c->then = resume_and_free_other;
	c->other = d;
	say(&events, "c");
	CHECK_STR(c->seen, "1a 2b 3c");
	gb_events_finish(&events);
	free(c);
}

static void subscribe_again(struct subscriber *subscriber, const struct gb_event *event) {
	subscriber->then = NULL;
	gb_subscription_end(&subscriber->subscription);
	subscribe(subscriber->events, subscriber, 0);
}

TEST(subscription_can_begin_again_in_its_own_callback) {
	struct gb_events events;
	struct subscriber a = {0};
	subscribe(make(&events, 100, 10), &a, 0);
	say(&events, "a");
	a.then = subscribe_again;
	say(&events, "b");
	say(&events, "c");
	CHECK_STR(a.seen, "1a 2b 1a 2b 3c");
	CHECK_INT(events.n_subscriptions, 1);
	gb_events_finish(&events);
}

static void subscribe_other(struct subscriber *subscriber, const struct gb_event *event) {
	if (!subscriber->other->events)
		subscribe(subscriber->events, subscriber->other, 0);
}

TEST(subscription_that_begins_in_a_callback_gets_each_event_once) {
	struct gb_events events;
	struct subscriber a = {.then = subscribe_other}, b = {0}, c = {0};
	a.other = &b;
	subscribe(make(&events, 100, 10), &a, 0);
	subscribe(&events, &c, 0);
	say(&events, "a");
	say(&events, "b");
	CHECK_STR(a.seen, "1a 2b");
	CHECK_STR(b.seen, "1a 2b");
	CHECK_STR(c.seen, "1a 2b");
	gb_events_finish(&events);
}

/* As a callback that ends the run, whose memory has the text. */
static void overwrite_text(struct subscriber *subscriber, const struct gb_event *event) {
	memset(subscriber->text, 'x', strlen(subscriber->text));
}

TEST(text_that_a_callback_overwrites_reaches_all_subscriptions) {
	struct gb_events events;
	char text[] = "abc";
	struct subscriber a = {.then = overwrite_text, .text = text}, b = {0}, c = {0};
	subscribe(make(&events, 100, 10), &a, 0);
	subscribe(&events, &b, 0);
	subscribe(&events, &c, 0);
	say(&events, text);
	CHECK_STR(text, "xxx");
	CHECK_STR(b.seen, "1abc");
	CHECK_STR(c.seen, "1abc");
	gb_events_finish(&events);
}

/* --- adding in callbacks --- */

static void answer(struct subscriber *subscriber, const struct gb_event *event) {
	if (gb_str_eq(event->text, GB_STR("?")))
		say(subscriber->events, "!");
}

TEST(events_that_a_callback_adds_come_after_the_present_one_for_all) {
	/* With room for one event, the present one is dropped while it is delivered. */
	for (size_t count = 1; count <= 10; count += 9)
		for (int first = 0; first < 2; first++) {
			struct gb_events events;
			struct subscriber a = {.then = answer}, b = {0};
			make(&events, 100, count);
			subscribe(&events, first ? &a : &b, 0);
			subscribe(&events, first ? &b : &a, 0);
			say(&events, "?");
			say(&events, "x");
			say(&events, "?");
			CHECK_STR(a.seen, "1? 2! 3x 4? 5!");
			CHECK_STR(b.seen, "1? 2! 3x 4? 5!");
			gb_events_finish(&events);
		}
}

TEST(event_that_is_dropped_during_its_replay_stays_valid) {
	struct gb_events events;
	struct subscriber a = {.then = answer};
	make(&events, 100, 2);
	say(&events, "?");
	say(&events, "?");
	subscribe(&events, &a, 0);
	CHECK_STR(a.seen, "1? 2? 3! 4!");
	gb_events_finish(&events);
}

static void flood(struct subscriber *subscriber, const struct gb_event *event) {
	subscriber->then = NULL;
	for (const char *c = "vwxyz"; *c; c++)
		say(subscriber->events, (char[]){*c, '\0'});
}

TEST(callback_that_adds_too_many_events_loses_some_itself) {
	struct gb_events events;
	struct subscriber a = {.then = flood}, b = {0};
	make(&events, 100, 2);
	say(&events, "a");
	say(&events, "b");
	subscribe(&events, &b, 0);
	subscribe(&events, &a, 0);
	CHECK_STR(a.seen, "1a lost4:5 6y 7z");
	CHECK_STR(b.seen, "1a 2b 3v 4w 5x 6y 7z");
	gb_events_finish(&events);
}

/* --- many --- */

enum { MANY = 2000, ROUNDS = 300 };

/* Checks that numbers have no gap, and counts what is lost. */
struct counter {
	struct gb_subscription subscription;
	uint64_t next, lost;
	bool out_of_order;
};

static void count(struct gb_subscription *subscription, const struct gb_event *event) {
	struct counter *counter = gb_container(struct counter, subscription, subscription);
	uint64_t n = event->kind == GB_EVENT_LOST ? event->count : 1;
	counter->next += n;
	counter->lost += event->kind == GB_EVENT_LOST ? n : 0;
	counter->out_of_order |= event->seq != counter->next - 1;
}

static void check_counters(const struct counter *counters, uint64_t last) {
	unsigned complete = 0, in_order = 0;
	for (unsigned i = 0; i < MANY; i++) {
		complete += counters[i].next == last + 1;
		in_order += !counters[i].out_of_order;
	}
	CHECK_INT(complete, MANY);
	CHECK_INT(in_order, MANY);
}

TEST(many_subscriptions_that_pause_and_resume_account_for_every_event) {
	struct gb_events events;
	struct counter *counters = calloc(MANY, sizeof *counters);
	unsigned long long lost = 0;
	uint32_t random = 1;
	make(&events, 1000, 20);
	for (unsigned i = 0; i < MANY; i++) {
		counters[i] = (struct counter){.subscription.on_event = count, .next = 1};
		gb_events_subscribe(&events, &counters[i].subscription, 0);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		say(&events, "x");
		for (unsigned k = 0; k < 20; k++) {
			random = random * 1664525 + 1013904223;
			struct gb_subscription *some = &counters[(random >> 8) % MANY].subscription;
			(random >> 31 ? gb_subscription_pause : gb_subscription_resume)(some);
		}
	}
	for (unsigned i = 0; i < MANY; i++) {
		gb_subscription_resume(&counters[i].subscription);
		lost += counters[i].lost;
	}
	check_counters(counters, ROUNDS);
	CHECK(lost > 0);
	CHECK_INT(events.n_kept, 20);
	gb_events_finish(&events);
	free(counters);
}

TEST(replay_of_many_events_to_many_subscriptions_is_complete) {
	struct gb_events events;
	enum { KEPT = 4096 };
	struct counter *counters = calloc(MANY, sizeof *counters);
	make(&events, 1 << 20, KEPT);
	for (unsigned i = 0; i < KEPT; i++)
		say(&events, "x");
	for (unsigned i = 0; i < MANY; i++) {
		counters[i] = (struct counter){.subscription.on_event = count, .next = 1};
		gb_events_subscribe(&events, &counters[i].subscription, 0);
	}
	check_counters(counters, KEPT);
	gb_events_finish(&events);
	free(counters);
}
