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
 */
#ifndef GB_GUARD_MASKED_H
#define GB_GUARD_MASKED_H

#include "base/arena.h"
#include "base/str.h"
#include "glovebox/glovebox.h"
#include "guard/secrets.h"

enum gb_masked_kind { GB_MASKED_OUTPUT, GB_MASKED_LOG, GB_MASKED_DISPLAY };

struct gb_masked_event {
	enum gb_masked_kind kind;
	int stream;                     /* of output */
	size_t at, n;                   /* output: bytes of outputs[stream - 1]; a log: its number in logs */
	const struct gb_value *display; /* lives as long as masked */
};

struct gb_masked {
	struct gb_filter *filter;
	struct gb_mask *streams[2];
	struct gb_buf outputs[2]; /* all of it */
	struct gb_values *values;
	struct gb_log *logs;
	size_t n_logs, cap_logs;
	struct gb_masked_event *queue; /* of output: .n bytes of input that are not released */
	size_t first, n_queue, cap_queue;
	size_t in_advance[2]; /* bytes of later events that were released with a masked place */
	bool ended, was_cut;
	struct gb_arena texts;
	uint64_t n_masked; /* number of masked places in everything that is part of the result */
	bool failed;       /* memory was exhausted: no output is shown */
};

bool gb_masked_init(
    struct gb_masked *masked, struct gb_filter *filter, size_t output_bytes, size_t value_bytes);
void gb_masked_finish(struct gb_masked *masked);
/* The memory of its output and values, in bytes. */
size_t gb_masked_memory(const struct gb_masked *masked);
void gb_masked_put_output(struct gb_masked *masked, int stream, const char *bytes, size_t n);
void gb_masked_put_log(struct gb_masked *masked, const struct gb_log *log);
void gb_masked_put_display(struct gb_masked *masked, const struct gb_value *display);
/* The end of the output. A stream that was cut at a limit, or by the end of the sandbox, may end with a part of a
 * secret: such an end is dropped. */
void gb_masked_put_end(struct gb_masked *masked, const struct gb_result *result);
/* The next event that may be shown by now. False if there is none, or memory is out. */
bool gb_masked_next(struct gb_masked *masked, struct gb_masked_event *ret);
/* The bytes of an event of output; valid until more is put in or comes out. */
struct gb_str gb_masked_output(const struct gb_masked *masked, const struct gb_masked_event *event);
/* A display, a report. NULL if memory is out. */
const struct gb_value *gb_masked_value(struct gb_masked *masked, const struct gb_value *value);
/* A whole text. */
struct gb_str gb_masked_text(struct gb_masked *masked, const char *text, size_t n);
/* A truncated text: an end that may be a part of a secret is dropped. */
struct gb_str gb_masked_cut_text(struct gb_masked *masked, const char *text, size_t n);
/* The result, after its streams have ended. */
bool gb_masked_result(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret);
/* The same; if memory is exhausted, the result is a failure that says so. */
void gb_masked_tell(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret);

/* Limits for gb_masked_init: the output that a run with these limits may have, and the memory of its values after
 * decoding. */
size_t gb_masked_output_max(const struct gb_run_options *run);
size_t gb_masked_value_max(const struct gb_run_options *run);

#endif
