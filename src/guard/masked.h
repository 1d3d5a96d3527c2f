/*
 * The output of a run with secrets masked: streams, log lines and displays as they arrive, and the result.
 *
 *	gb_masked_init(&masked, filter, output_bytes, value_bytes);
 *	gb_masked_put_output(&masked, stream, bytes, n);
 *	while (gb_masked_next(&masked, &event))			// events that may be shown now
 *		show(&masked, &event);
 *	...
 *	gb_masked_put_end(&masked, result);			// then the rest of the events
 *	gb_masked_result(&masked, result, &clean);		// clean lives as long as masked and result
 *	gb_masked_finish(&masked);
 *
 * Events keep their order: an event after text that may be the beginning of a secret waits until that is decided.
 *
 * When memory is exhausted there is no further output: bytes that could not be checked are not shown.
 *
 * Masking 16 MiB can take more than a second. An owner with an event loop calls gb_masked_use_threads. Then what is
 * long, or comes in large amounts, is masked on a thread, and everything that is put in meanwhile waits behind it;
 * the limits of the run bound how much that is. Events come out in the same order as without a thread. on_progress
 * is called when there may be more of them, and when the result may be ready:
 *
 *	gb_masked_put_end(&masked, result);
 *	...take events...
 *	if (gb_masked_is_ready(&masked))		// else: look again in on_progress
 *		gb_masked_result(&masked, result, &clean);
 */
#ifndef GB_GUARD_MASKED_H
#define GB_GUARD_MASKED_H

#include <stdatomic.h>

#include "base/str.h"
#include "glovebox/glovebox.h"
#include "guard/masker.h"
#include "guard/secrets.h"
#include "store/worker.h"

enum gb_masked_kind { GB_MASKED_OUTPUT, GB_MASKED_LOG, GB_MASKED_DISPLAY };

struct gb_masked_event {
	enum gb_masked_kind kind;
	int stream;                     /* of output */
	size_t at, n;                   /* output: bytes of outputs[stream - 1]; a log: its number in logs */
	const struct gb_value *display; /* lives as long as masked */
};

struct gb_masked;

struct gb_masked_threads {
	/* Run @work, on about @bytes of data, on a thread, and then its .done on the caller's. False if there is none. */
	bool (*work)(struct gb_work *work, size_t bytes, void *data);
	void *work_data;
	/* Called on the thread of the event loop. May put in more. It may finish @masked only if gb_masked_is_ready. */
	void (*on_progress)(struct gb_masked *masked, void *data);
	void *data; /* also of gb_masked_then */
};

/* Called when a value is masked. @clean is NULL if memory is out. */
typedef void (*gb_masked_then)(
    struct gb_masked *masked, const struct gb_value *clean, void *context, void *data);

struct gb_masked_item;

/* What is masked together, in this order. */
struct gb_masked_batch {
	struct gb_masked_item *items;
	size_t n, cap;
	struct gb_buf bytes;         /* of all output */
	const struct gb_result *end; /* after all items; NULL: there is more to come */
	size_t size;                 /* of everything: see gb_masker_size */
};

struct gb_masked {
	struct gb_filter *filter;
	struct gb_mask *streams[2];
	struct gb_buf outputs[2]; /* all of it */
	struct gb_values *values;
	struct gb_masker own; /* for the thread of the event loop */
	struct gb_log *logs;
	size_t n_logs, cap_logs;
	struct gb_masked_event *queue; /* of output: .n bytes of input that are not released */
	size_t first, n_queue, cap_queue;
	size_t in_advance[2]; /* bytes of later events that were released with a masked place */
	bool ended, was_cut;
	bool has_result; /* @result is masked, except for streams and logs */
	struct gb_result result;
	uint64_t n_in_result; /* masked places in it that are not counted in n_masked yet */
	uint64_t n_masked;    /* number of masked places in everything that is part of the result */
	bool failed;          /* memory was exhausted: no output is shown */

	struct gb_masked_threads threads; /* .work is NULL: everything is masked at once */
	struct gb_work work;
	struct gb_masked_batch active, waiting;
	struct gb_masker beside; /* for @active, while a thread works on it */
	bool busy;               /* @active is being masked, or its events added: more waits */
	bool on_thread;          /* a thread works on @active, and uses the streams and values */
	bool again;              /* @active was masked, before a secret was added */
	atomic_bool abandoned;
	uint64_t quota_since; /* ns: when the quota was last updated */
	size_t quota;         /* bytes that may be masked at once, without a thread; grows with time */
};

bool gb_masked_init(
    struct gb_masked *masked, struct gb_filter *filter, size_t output_bytes, size_t value_bytes);
void gb_masked_use_threads(struct gb_masked *masked, const struct gb_masked_threads *threads);
/* Not while a thread works on it: see gb_masked_is_ready. */
void gb_masked_finish(struct gb_masked *masked);
/* The memory of its output and values, in bytes. */
size_t gb_masked_memory(const struct gb_masked *masked);
/* The owner is about to be destroyed: a thread skips what it has not begun. There are no further events. */
void gb_masked_abandon(struct gb_masked *masked);
/* Values and results that are put in must live as long as masked. */
void gb_masked_put_output(struct gb_masked *masked, int stream, const char *bytes, size_t n);
void gb_masked_put_log(struct gb_masked *masked, const struct gb_log *log);
void gb_masked_put_display(struct gb_masked *masked, const struct gb_value *display);
/* The end of the output. A stream that was cut at a limit, or by the end of the sandbox, may end with a part of a
 * secret: such an end is dropped. */
void gb_masked_put_end(struct gb_masked *masked, const struct gb_result *result);
/* Whether what is put in now has to wait. */
bool gb_masked_is_busy(const struct gb_masked *masked);
/* The end was put in and everything before it is masked, the result as well if it is long. */
bool gb_masked_is_ready(const struct gb_masked *masked);
/* Mask a report, which is not one of the events: it does not wait for text that is not decided. @then is called now or
 * when everything that was put in before is masked; events that come before it can be taken then. */
void gb_masked_put_report(
    struct gb_masked *masked, const struct gb_value *value, gb_masked_then then, void *context);
/* The same without a value: only the order matters. */
void gb_masked_put_mark(struct gb_masked *masked, gb_masked_then then, void *context);
/* The next event that may be shown by now. False if there is none, or memory is out. */
bool gb_masked_next(struct gb_masked *masked, struct gb_masked_event *ret);
/* The bytes of an event of output; valid until more is put in or comes out. */
struct gb_str gb_masked_output(const struct gb_masked *masked, const struct gb_masked_event *event);
/* A whole text, at once. */
struct gb_str gb_masked_text(struct gb_masked *masked, const char *text, size_t n);
/* The result, when it is ready. */
bool gb_masked_result(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret);
/* The same; if memory is exhausted, the result is a failure that says so. */
void gb_masked_tell(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret);

/* Limits for gb_masked_init: the output that a run with these limits may have, and the memory of its values after
 * decoding. */
size_t gb_masked_output_max(const struct gb_run_options *run);
size_t gb_masked_value_max(const struct gb_run_options *run);

#endif
