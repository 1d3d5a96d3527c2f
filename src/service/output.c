/* Turns output, logs and displays of the code into events: masked, and in their order. */
#include <string.h>

#include "base/cleanup.h"
#include "service/execution.h"

/* The number of bytes at the end of @bytes that begin an incomplete character. */
static size_t incomplete_tail(const char *bytes, size_t n) {
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)bytes[n - back];
		if (c < 0x80)
			return 0;
		if (c >= 0xc0) {
			size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
			return back < length ? back : 0;
		}
	}
	return 0;
}

static void add_text(struct gb_execution *execution, int stream, const char *bytes, size_t n) {
	if (n)
		gb_events_add(&execution->events,
		    &(struct gb_event){.kind = GB_EVENT_OUTPUT, .stream = stream, .text = {bytes, n}});
}

/* Complete characters only; the rest is kept for the next call. */
void gb_output_append(struct gb_execution *execution, int stream, const char *bytes, size_t n) {
	struct gb_output_tail *tail = &execution->tails[stream - 1];
	gb_auto_buf struct gb_buf joined;
	gb_buf_init(&joined, n + sizeof tail->bytes);
	if (tail->n) {
		gb_buf_append(&joined, tail->bytes, tail->n);
		gb_buf_append(&joined, bytes, n);
		if (gb_buf_failed(&joined))
			return;
		bytes = joined.data;
		n = joined.len;
	}
	tail->n = (unsigned char)incomplete_tail(bytes, n);
	memcpy(tail->bytes, bytes + n - tail->n, tail->n);
	add_text(execution, stream, bytes, n - tail->n);
}

static void add_log(struct gb_execution *execution, const struct gb_log *log) {
	gb_events_add(&execution->events, &(struct gb_event){.kind = GB_EVENT_LOG, .log = *log});
}

static void add_display(struct gb_execution *execution, const struct gb_value *display) {
	gb_events_add(&execution->events, &(struct gb_event){.kind = GB_EVENT_DISPLAY, .value = display});
}

/* Append what the filter has released. */
static void add_masked(struct gb_execution *execution) {
	struct gb_masked *masked = execution->masked;
	struct gb_masked_event event;
	while (gb_masked_next(masked, &event)) {
		switch (event.kind) {
		case GB_MASKED_OUTPUT:
			gb_output_append(
			    execution, event.stream, gb_masked_output(masked, &event).p, event.n);
			break;
		case GB_MASKED_LOG: {
			/* The list may move when a callback adds to it. */
			struct gb_log log = masked->logs[event.at];
			add_log(execution, &log);
			break;
		}
		case GB_MASKED_DISPLAY:
			add_display(execution, event.display);
			break;
		}
	}
}

void gb_output_on_progress(struct gb_masked *masked, void *data) {
	struct gb_execution *execution = data;
	add_masked(execution);
	if (execution->settled && gb_masked_is_ready(masked))
		gb_execution_finish_masked(execution);
}

void gb_output_on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (!execution->masked) {
		add_log(execution, log);
		return;
	}
	gb_masked_put_log(execution->masked, log);
	gb_output_on_progress(execution->masked, execution);
}

void gb_output_on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (!execution->masked) {
		gb_output_append(execution, stream, bytes, n);
		return;
	}
	gb_masked_put_output(execution->masked, stream, bytes, n);
	gb_output_on_progress(execution->masked, execution);
}

void gb_output_on_display(struct gb_run *run, const struct gb_value *display, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (!execution->masked) {
		add_display(execution, display);
		return;
	}
	gb_masked_put_display(execution->masked, display);
	gb_output_on_progress(execution->masked, execution);
}

void gb_output_end(struct gb_execution *execution) {
	for (int stream = 1; stream <= 2; stream++) {
		struct gb_output_tail *tail = &execution->tails[stream - 1];
		add_text(execution, stream, tail->bytes, tail->n);
		tail->n = 0;
	}
}

bool gb_execution_mask(const struct gb_execution *execution, const struct gb_value **value,
    struct gb_values **ret_pool, bool *thrown) {
	enum { POOL_MAX_GIB = 2 };
	*ret_pool = NULL;
	if (!execution->masked)
		return true;
	struct gb_values *pool = *ret_pool = gb_values_create((size_t)POOL_MAX_GIB << 30);
	const struct gb_value *clean = NULL;
	if (!pool || !gb_mask_value(execution->masked->filter, *value, pool, &clean, NULL)) {
		const char *why = "out of memory for masking the value";
		clean = pool ? gb_value_error(pool, "RangeError", why, NULL) : NULL;
		*thrown = true;
	}
	*value = clean;
	return clean;
}
