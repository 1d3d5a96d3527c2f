/*
 * The output of a run with secrets masked: streams, log lines and displays as they arrive, and the result.
 *
 *	gb_masked_init(&masked, filter, output_bytes, value_bytes);
 *	show(gb_masked_feed(&masked, stream, bytes, n));	// output that may be shown now
 *	...
 *	show(gb_masked_end(&masked, 1, result));		// each stream once, before the result
 *	gb_masked_result(&masked, result, &clean);		// clean lives as long as masked and result
 *	gb_masked_finish(&masked);
 *
 * When memory is exhausted there is no further output: bytes that could not be checked are not shown.
 */
#ifndef GB_GUARD_MASKED_H
#define GB_GUARD_MASKED_H

#include "base/arena.h"
#include "base/str.h"
#include "glovebox/glovebox.h"
#include "guard/secrets.h"

struct gb_masked {
	struct gb_filter *filter;
	struct gb_mask *streams[2];
	struct gb_buf outputs[2]; /* all of it */
	struct gb_values *values;
	struct gb_log *logs;
	size_t n_logs, cap_logs;
	struct gb_arena texts;
	uint64_t n_masked; /* number of masked places in everything that is part of the result */
	bool failed;       /* memory was exhausted: no output is shown */
};

bool gb_masked_init(
    struct gb_masked *masked, struct gb_filter *filter, size_t output_bytes, size_t value_bytes);
void gb_masked_finish(struct gb_masked *masked);
/* The masked bytes that may be shown by now: the end of outputs[stream - 1], valid until the next call. */
struct gb_str gb_masked_feed(struct gb_masked *masked, int stream, const char *bytes, size_t n);
/* The rest of the stream. A stream that was cut at a limit, or by the end of the sandbox, may end with a part of a
 * secret: such an end is dropped. */
struct gb_str gb_masked_end(struct gb_masked *masked, int stream, const struct gb_result *result);
/* NULL if memory is out. */
const struct gb_log *gb_masked_log(struct gb_masked *masked, const struct gb_log *log);
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
