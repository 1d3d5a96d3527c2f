#include "service/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* An event that is kept, with its text. */
struct kept {
	struct gb_list link;
	struct gb_event event;
	char text[];
};

const char *gb_event_name(enum gb_event_kind kind) {
	static const char *const names[] = {
	    [GB_EVENT_STARTED] = "started",
	    [GB_EVENT_PENDING] = "pending",
	    [GB_EVENT_OUTPUT] = "output",
	    [GB_EVENT_LOG] = "log",
	    [GB_EVENT_DISPLAY] = "display",
	    [GB_EVENT_REPORT] = "report",
	    [GB_EVENT_PROMPT] = "prompt",
	    [GB_EVENT_FINISHED] = "finished",
	    [GB_EVENT_LOST] = "lost",
	};
	return names[kind];
}

void gb_events_init(struct gb_events *events, const struct gb_events_limits *limits) {
	*events = (struct gb_events){.limits = *limits};
	gb_list_init(&events->kept);
	gb_list_init(&events->subscriptions);
}

static void drop_oldest(struct gb_events *events) {
	struct kept *oldest = gb_list_first(struct kept, &events->kept, link);
	gb_list_remove(&oldest->link);
	events->n_kept--;
	events->bytes -= oldest->event.text.n;
	free(oldest);
}

void gb_events_finish(struct gb_events *events) {
	for (struct gb_subscription *each;
	     (each = gb_list_first(struct gb_subscription, &events->subscriptions, link));)
		gb_subscription_end(each);
	while (events->n_kept)
		drop_oldest(events);
}

/* --- keeping --- */

static bool has_room(const struct gb_events *events, size_t n) {
	return events->n_kept < events->limits.count && events->bytes + n <= events->limits.bytes;
}

static void keep(struct gb_events *events, const struct gb_event *event) {
	struct kept *kept = malloc(sizeof *kept + event->text.n);
	if (!kept) {
		/* Drop all kept events, so that paused subscriptions get LOST: a gap between kept events would
		 * not be noticed. */
		while (events->n_kept)
			drop_oldest(events);
		return;
	}
	kept->event = *event;
	if (event->text.n)
		memcpy(kept->text, event->text.p, event->text.n);
	kept->event.text = (struct gb_str){kept->text, event->text.n};
	while (events->n_kept && !has_room(events, event->text.n))
		drop_oldest(events);
	gb_list_append(&events->kept, &kept->link);
	events->n_kept++;
	events->bytes += event->text.n;
}

static uint64_t first_kept(const struct gb_events *events) {
	const struct kept *first = gb_list_first(struct kept, &events->kept, link);
	return first ? first->event.seq : events->last + 1;
}

/* --- delivering --- */

/* False if the callback has ended the subscription, which may be freed by now. */
static bool deliver(struct gb_subscription *subscription, const struct gb_event *event) {
	bool ended = false;
	subscription->ended = &ended;
	subscription->seen = event->seq;
	subscription->on_event(subscription, event);
	if (!ended)
		subscription->ended = NULL;
	return !ended;
}

/* A copy of the event, since the callback may add events, and these may drop it. */
static bool deliver_copy(struct gb_subscription *subscription, const struct gb_event *kept) {
	struct gb_event event = *kept;
	char *text = malloc(event.text.n + 1);
	if (!text)
		return false; /* tried again with the next event */
	memcpy(text, event.text.p, event.text.n);
	event.text.p = text;
	bool go_on = deliver(subscription, &event);
	free(text);
	return go_on;
}

/* The position of a subscription in the list of kept events. */
struct cursor {
	const struct kept *kept; /* the event that was delivered last; NULL: not known */
	uint64_t seq;            /* its number, still known after the event was freed */
};

/* The first kept event with a number above @seen. Callbacks only drop events from the front, so the cursor is valid
 * while its number is not below that of the first event. */
static const struct kept *kept_after(const struct gb_events *events, uint64_t seen, struct cursor *cursor) {
	const struct gb_list *link = events->kept.next;
	if (cursor->kept && cursor->seq == seen && seen >= first_kept(events))
		link = cursor->kept->link.next;
	const struct kept *kept = gb_container(struct kept, link, link);
	while (kept->event.seq <= seen)
		kept = gb_container(struct kept, link, kept->link.next);
	*cursor = (struct cursor){kept, kept->event.seq};
	return kept;
}

/* Deliver the next event that the subscription has not received. False if there is none, or the subscription is paused
 * or was ended. */
static bool deliver_next(struct gb_subscription *subscription, struct cursor *cursor) {
	const struct gb_events *events = subscription->events;
	uint64_t first = first_kept(events), seen = subscription->seen;
	if (subscription->paused || seen == events->last)
		return false;
	if (seen + 1 >= first)
		return deliver_copy(subscription, &kept_after(events, seen, cursor)->event);
	const struct gb_event lost = {.kind = GB_EVENT_LOST, .seq = first - 1, .count = first - 1 - seen};
	return deliver(subscription, &lost);
}

/* Does nothing inside a delivery to the same subscription: the outer call continues with the next event. */
static void catch_up(struct gb_subscription *subscription) {
	struct cursor cursor = {0};
	while (!subscription->ended && deliver_next(subscription, &cursor))
		;
}

void gb_events_add(struct gb_events *events, const struct gb_event *event) {
	struct gb_event numbered = *event;
	numbered.seq = ++events->last;
	keep(events, &numbered);
	/* A callback may end the run, and with it the text, before the next subscription receives it. */
	bool copies = events->n_subscriptions > 1 && event->text.n;
	gb_auto_free char *copy = copies ? malloc(event->text.n) : NULL;
	if (copy)
		numbered.text.p = memcpy(copy, event->text.p, event->text.n);
	else if (copies)
		numbered = (struct gb_event){.kind = GB_EVENT_LOST, .seq = numbered.seq, .count = 1};
	/* A callback may end any subscription and begin others: take one after the other from a list. */
	struct gb_list due;
	gb_list_init(&due);
	while (!gb_list_empty(&events->subscriptions)) {
		struct gb_list *link = events->subscriptions.next;
		gb_list_remove(link);
		gb_list_append(&due, link);
	}
	while (!gb_list_empty(&due)) {
		struct gb_subscription *each = gb_list_first(struct gb_subscription, &due, link);
		gb_list_remove(&each->link);
		gb_list_append(&events->subscriptions, &each->link);
		if (each->paused || each->ended)
			continue;
		/* A subscription that is up to date, the usual case, needs no copy. */
		if (each->seen + 1 != numbered.seq || deliver(each, &numbered))
			catch_up(each);
	}
}

/* --- subscriptions --- */

void gb_events_subscribe(struct gb_events *events, struct gb_subscription *subscription, uint64_t after) {
	subscription->events = events;
	subscription->seen = after < events->last ? after : events->last;
	subscription->paused = false;
	subscription->ended = NULL;
	gb_list_append(&events->subscriptions, &subscription->link);
	events->n_subscriptions++;
	catch_up(subscription);
}

void gb_subscription_end(struct gb_subscription *subscription) {
	if (!subscription->events)
		return;
	gb_list_remove(&subscription->link);
	subscription->events->n_subscriptions--;
	subscription->events = NULL;
	if (subscription->ended)
		*subscription->ended = true;
}

void gb_subscription_pause(struct gb_subscription *subscription) {
	subscription->paused = true;
}

void gb_subscription_resume(struct gb_subscription *subscription) {
	subscription->paused = false;
	if (subscription->events)
		catch_up(subscription);
}
