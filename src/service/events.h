/*
 * The events of one execution: numbered, kept for a while, delivered to any number of subscriptions.
 *
 *	gb_events_init(&events, &(struct gb_events_limits){.bytes = 256 << 10, .count = 1000});
 *	gb_events_add(&events, &(struct gb_event){.kind = GB_EVENT_OUTPUT, .stream = 1, .text = text});
 *	gb_events_subscribe(&events, &subscription, after);	// first the kept events with a number above @after
 *	gb_subscription_pause(&subscription);			// the subscriber cannot take more
 *	gb_subscription_resume(&subscription);			// deliver what it has missed
 *	gb_subscription_end(&subscription);
 *	gb_events_finish(&events);
 *
 * The texts of kept events are copied; their other values must live as long as the events. When the limits are
 * reached, the oldest events are dropped. A subscription that had not received them gets an event LOST, with the
 * number of events, in their place. A subscription needs no memory of its own for events.
 */
#ifndef GB_SERVICE_EVENTS_H
#define GB_SERVICE_EVENTS_H

#include "base/list.h"
#include "base/str.h"
#include "glovebox/glovebox.h"

enum gb_event_kind {
	GB_EVENT_STARTED,
	GB_EVENT_PENDING,  /* text: id of the approval; expires_ms */
	GB_EVENT_OUTPUT,   /* stream, text: complete characters, if the program writes UTF-8 */
	GB_EVENT_LOG,      /* log */
	GB_EVENT_DISPLAY,  /* value */
	GB_EVENT_REPORT,   /* value */
	GB_EVENT_PROMPT,   /* text: the prompt; the code waits for input */
	GB_EVENT_FINISHED, /* result; the last event */
	GB_EVENT_LOST,     /* count: events that were dropped before the subscription received them */
};

/* "started", "output". A static string. */
const char *gb_event_name(enum gb_event_kind kind);

struct gb_event {
	enum gb_event_kind kind;
	uint64_t seq; /* set by gb_events_add: 1 is the first; of LOST: the last one that is lost */
	int stream;
	struct gb_str text;
	int64_t expires_ms;
	uint64_t count;
	struct gb_log log;
	const struct gb_value *value;
	const struct gb_result *result;
};

struct gb_events_limits {
	size_t bytes; /* of the texts of kept events */
	size_t count; /* of kept events, at least 1 */
};

struct gb_events {
	struct gb_events_limits limits;
	struct gb_list kept; /* oldest first */
	size_t n_kept, bytes;
	uint64_t last; /* number of the last event */
	struct gb_list subscriptions;
	unsigned n_subscriptions;
};

struct gb_subscription {
	/* Set by the subscriber. The callback may pause, end and free any subscription, and add events. */
	void (*on_event)(struct gb_subscription *subscription, const struct gb_event *event);

	struct gb_list link;
	struct gb_events *events; /* NULL: ended */
	uint64_t seen;            /* number of the last event that was delivered, or lost */
	bool paused;
	bool *ended; /* not NULL while on_event runs: gb_subscription_end sets the flag */
};

void gb_events_init(struct gb_events *events, const struct gb_events_limits *limits);
/* Ends all subscriptions. Must not be called from on_event. */
void gb_events_finish(struct gb_events *events);

/* Number the event, keep it, and deliver it to the subscriptions that are not paused. If memory is exhausted, it is
 * delivered and not kept. */
void gb_events_add(struct gb_events *events, const struct gb_event *event);

/* Deliver all events with a number above @after (0: all), kept ones at once. @subscription must not be in use. */
void gb_events_subscribe(struct gb_events *events, struct gb_subscription *subscription, uint64_t after);
/* No effect if it has ended. Does not free it. */
void gb_subscription_end(struct gb_subscription *subscription);
void gb_subscription_pause(struct gb_subscription *subscription);
void gb_subscription_resume(struct gb_subscription *subscription);

#endif
