#include "guard/masked.h"

#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/io.h"
#include "glovebox/errors.h"
#include "value/codec.h"

enum {
	OUTPUT_SLACK = 4 << 20,
	VALUE_FACTOR = 16,
	DISPLAYS_MAX = 64 << 20,
	FILES_MAX = 64 << 20,
	REPORTS_MAX = 16 << 20, /* unless the run says otherwise */
	QUOTA = 64 << 10,       /* bytes of one run that may be masked at once, in up to 6 ms */
};

#define QUOTA_NS 20000000ull /* after which they may be again */

size_t gb_masked_output_max(const struct gb_run_options *run) {
	return run->output_bytes + OUTPUT_SLACK;
}

size_t gb_masked_value_max(const struct gb_run_options *run) {
	uint64_t reports = run->report_bytes ? run->report_bytes : REPORTS_MAX;
	return (run->result_bytes + run->output_bytes + reports + DISPLAYS_MAX + FILES_MAX) * VALUE_FACTOR;
}

enum item_kind { ITEM_OUTPUT, ITEM_LOG, ITEM_DISPLAY, ITEM_REPORT };

/* Something that was put in. */
struct gb_masked_item {
	enum item_kind kind;
	int stream;                   /* of output */
	size_t at, n;                 /* output: its place in the bytes of the batch */
	struct gb_log log;            /* without its values */
	const struct gb_value *value; /* masked in place; NULL: none, or memory is out */
	gb_masked_then then;          /* of a report */
	void *context;
	uint64_t n_masked; /* places that are part of the result */
};

static enum gb_work_end on_work(struct gb_work *work, void *data);
static void on_worked(struct gb_work *work);

bool gb_masked_init(
    struct gb_masked *masked, struct gb_filter *filter, size_t output_bytes, size_t value_bytes) {
	*masked = (struct gb_masked){.filter = filter,
	    .values = gb_values_create(value_bytes),
	    .work = {.run = on_work, .done = on_worked}};
	gb_masker_init(&masked->own, filter, masked->values);
	gb_masker_init(&masked->beside, NULL, masked->values);
	gb_buf_init(&masked->active.bytes, output_bytes + 1);
	gb_buf_init(&masked->waiting.bytes, output_bytes + 1);
	for (int i = 0; i < 2; i++) {
		masked->streams[i] = gb_mask_create(filter);
		gb_buf_init(&masked->outputs[i], output_bytes + 1);
	}
	return masked->values && masked->streams[0] && masked->streams[1];
}

void gb_masked_use_threads(struct gb_masked *masked, const struct gb_masked_threads *threads) {
	masked->threads = *threads;
}

static void finish_batch(struct gb_masked_batch *batch) {
	free(batch->items);
	gb_buf_finish(&batch->bytes);
}

void gb_masked_finish(struct gb_masked *masked) {
	for (int i = 0; i < 2; i++) {
		gb_mask_destroy(masked->streams[i]);
		gb_buf_finish(&masked->outputs[i]);
	}
	finish_batch(&masked->active);
	finish_batch(&masked->waiting);
	gb_masker_finish(&masked->own);
	gb_masker_finish(&masked->beside);
	gb_values_destroy(masked->values);
	free(masked->logs);
	free(masked->queue);
	*masked = (struct gb_masked){0};
}

size_t gb_masked_memory(const struct gb_masked *masked) {
	return masked->outputs[0].cap + masked->outputs[1].cap + gb_values_used(masked->values);
}

void gb_masked_abandon(struct gb_masked *masked) {
	masked->abandoned = true;
	masked->failed = true;
}

/* Add the places that were masked since the filter's count was @before. */
static void count(struct gb_masked *masked, uint64_t before) {
	masked->n_masked += gb_filter_total(masked->filter) - before;
}

/* --- in order --- */

static struct gb_masked_event *push(struct gb_masked *masked) {
	/* Reuse the room of events that have come out. A program that writes to both streams in turn can keep the
	 * queue from ever being empty. */
	if (masked->first && (masked->first == masked->n_queue || masked->n_queue == masked->cap_queue)) {
		masked->n_queue -= masked->first;
		memmove(
		    masked->queue, masked->queue + masked->first, masked->n_queue * sizeof *masked->queue);
		masked->first = 0;
	}
	if (masked->n_queue == masked->cap_queue) {
		size_t cap = masked->cap_queue ? masked->cap_queue * 2 : 16;
		struct gb_masked_event *queue = reallocarray(masked->queue, cap, sizeof *queue);
		if (!queue) {
			masked->failed = true;
			return NULL;
		}
		masked->queue = queue;
		masked->cap_queue = cap;
	}
	return &masked->queue[masked->n_queue++];
}

static void add_output(struct gb_masked *masked, int stream, size_t n) {
	struct gb_masked_event *last =
	    masked->first < masked->n_queue ? &masked->queue[masked->n_queue - 1] : NULL;
	if (last && last->kind == GB_MASKED_OUTPUT && last->stream == stream)
		last->n += n;
	else if ((last = push(masked)))
		*last = (struct gb_masked_event){.kind = GB_MASKED_OUTPUT, .stream = stream, .n = n};
}

static struct gb_log *new_log(struct gb_masked *masked) {
	if (masked->n_logs == masked->cap_logs) {
		size_t cap = masked->cap_logs ? masked->cap_logs * 2 : 16;
		struct gb_log *logs = reallocarray(masked->logs, cap, sizeof *logs);
		if (!logs) {
			masked->failed = true;
			return NULL;
		}
		masked->logs = logs;
		masked->cap_logs = cap;
	}
	return &masked->logs[masked->n_logs];
}

static void add_log(struct gb_masked *masked, const struct gb_log *log) {
	struct gb_log *slot = log->args ? new_log(masked) : NULL;
	struct gb_masked_event *event = slot ? push(masked) : NULL;
	if (!event)
		return;
	*slot = *log;
	*event = (struct gb_masked_event){.kind = GB_MASKED_LOG, .at = masked->n_logs++};
}

static void add_display(struct gb_masked *masked, const struct gb_value *display) {
	struct gb_masked_event *event = display ? push(masked) : NULL;
	if (event)
		*event = (struct gb_masked_event){.kind = GB_MASKED_DISPLAY, .display = display};
}

/* The output of the code may be truncated. */
static bool is_cut(const struct gb_result *result) {
	const struct gb_error_info *error = gb_error_find(result->error.code);
	return result->truncated || result->status == GB_TERMINATED || result->status == GB_MEMORY ||
	       (error && error->cuts_output);
}

/* Let out what may be of @event, and take it off. */
static void release(struct gb_masked *masked, struct gb_masked_event *event) {
	int i = event->stream - 1;
	struct gb_buf *out = &masked->outputs[i];
	uint64_t total = gb_filter_total(masked->filter);
	size_t earlier = event->n < masked->in_advance[i] ? event->n : masked->in_advance[i];
	event->n -= earlier;
	masked->in_advance[i] -= earlier;
	if (!event->n)
		return;
	size_t n = gb_mask_release(masked->streams[i], event->n, masked->ended && !masked->was_cut, out);
	count(masked, total);
	masked->failed |= gb_buf_failed(out);
	masked->in_advance[i] = n > event->n ? n - event->n : 0;
	event->n -= n < event->n ? n : event->n;
	if (masked->ended)
		event->n = 0; /* what is left was cut */
}

bool gb_masked_next(struct gb_masked *masked, struct gb_masked_event *ret) {
	while (!masked->on_thread && masked->first < masked->n_queue && !masked->failed) {
		struct gb_masked_event *event = &masked->queue[masked->first];
		if (event->kind != GB_MASKED_OUTPUT) {
			*ret = *event;
			masked->first++;
			return true;
		}
		int stream = event->stream;
		size_t before = masked->outputs[stream - 1].len;
		release(masked, event);
		bool is_over = !event->n;
		masked->first += is_over;
		size_t more = masked->outputs[stream - 1].len - before;
		*ret = (struct gb_masked_event){
		    .kind = GB_MASKED_OUTPUT, .stream = stream, .at = before, .n = more};
		if (more && !masked->failed)
			return true;
		if (!is_over)
			return false;
	}
	return false;
}

struct gb_str gb_masked_output(const struct gb_masked *masked, const struct gb_masked_event *event) {
	return (struct gb_str){masked->outputs[event->stream - 1].data + event->at, event->n};
}

/* --- items --- */

/* On any thread. */
static void mask_item(
    struct gb_masked *masked, struct gb_masker *masker, struct gb_masked_item *item, const char *bytes) {
	uint64_t before = gb_filter_total(masker->filter);
	struct gb_buf state = {0}; /* tells of failure only */
	switch (item->kind) {
	case ITEM_OUTPUT:
		if (masked->again)
			return; /* gb_mask_release looks at it again */
		gb_mask_add(masked->streams[item->stream - 1], bytes, item->n, &state);
		masker->failed |= gb_buf_failed(&state);
		break;
	case ITEM_LOG:
	case ITEM_DISPLAY:
	case ITEM_REPORT:
		item->value = gb_masker_value(masker, item->value);
		break;
	}
	/* Displays and reports are masked again as parts of the result, and counted then; output when it is released. */
	if (item->kind == ITEM_LOG)
		item->n_masked += gb_filter_total(masker->filter) - before;
}

static void mask_result(struct gb_masked *masked, struct gb_masker *masker, const struct gb_result *result) {
	uint64_t before = gb_filter_total(masker->filter);
	if (!masked->has_result)
		masked->result = *result;
	gb_masker_result(masker, &masked->result);
	masked->n_in_result += gb_filter_total(masker->filter) - before;
	masked->has_result = true;
}

/* On the thread of the event loop, in order. */
static void add_item(struct gb_masked *masked, const struct gb_masked_item *item) {
	masked->n_masked += item->n_masked;
	switch (item->kind) {
	case ITEM_OUTPUT:
		add_output(masked, item->stream, item->n);
		break;
	case ITEM_LOG:
		add_log(masked, &(struct gb_log){item->log.level, item->log.timestamp, item->value});
		break;
	case ITEM_DISPLAY:
		add_display(masked, item->value);
		break;
	case ITEM_REPORT:
		item->then(masked, item->value, item->context, masked->threads.data);
		break;
	}
}

static void add_end(struct gb_masked *masked, const struct gb_result *result) {
	masked->ended = true;
	masked->was_cut = is_cut(result);
}

/* --- batches --- */

static void mask_batch(struct gb_masked *masked, struct gb_masker *masker) {
	struct gb_masked_batch *batch = &masked->active;
	for (size_t i = 0; i < batch->n; i++) {
		struct gb_masked_item *item = &batch->items[i];
		if (masked->abandoned) {
			item->value = NULL;
			masker->failed = true;
		} else {
			mask_item(masked, masker, item, item->n ? batch->bytes.data + item->at : NULL);
		}
	}
	if (batch->end && !masked->abandoned)
		mask_result(masked, masker, batch->end);
}

/* Callbacks of reports may put in more, which waits. */
static void add_batch(struct gb_masked *masked) {
	struct gb_masked_batch *batch = &masked->active;
	for (size_t i = 0; i < batch->n; i++)
		add_item(masked, &batch->items[i]);
	if (batch->end)
		add_end(masked, batch->end);
	gb_buf_finish(&batch->bytes);
	batch->n = batch->size = 0;
	batch->end = NULL;
	masked->again = false;
}

static bool begin_thread(struct gb_masked *masked) {
	if (!masked->threads.work || !(masked->beside.filter = gb_filter_fork(masked->filter)))
		return false;
	for (int i = 0; i < 2; i++)
		gb_mask_use(masked->streams[i], masked->beside.filter);
	masked->on_thread = true;
	return true;
}

static void end_thread(struct gb_masked *masked) {
	for (int i = 0; i < 2; i++)
		gb_mask_use(masked->streams[i], masked->filter);
	gb_filter_join(masked->beside.filter);
	masked->beside.filter = NULL;
	masked->failed |= masked->beside.failed;
	masked->on_thread = false;
}

/* Whether @size bytes can be masked at once without holding up the event loop. */
static bool is_within_quota(struct gb_masked *masked, size_t size) {
	if (!masked->threads.work)
		return true;
	uint64_t now = gb_now_ns(), idle = now - masked->quota_since;
	size_t quota = masked->quota + (size_t)(idle < QUOTA_NS ? idle * QUOTA / QUOTA_NS : QUOTA);
	masked->quota = quota < QUOTA ? quota : QUOTA;
	masked->quota_since = now;
	if (size > masked->quota)
		return false;
	masked->quota -= size;
	return true;
}

/* Something was masked at once. The time that it took does not add to the quota: on a slow machine the loop would be
 * held up for longer. */
static void end_masking(struct gb_masked *masked) {
	masked->failed |= masked->own.failed;
	if (masked->threads.work)
		masked->quota_since = gb_now_ns();
}

/* Returns true if a thread does it. */
static bool mask_active(struct gb_masked *masked) {
	if (!is_within_quota(masked, masked->active.size) && begin_thread(masked)) {
		if (masked->threads.work(&masked->work, masked->active.size, masked->threads.work_data))
			return true;
		end_thread(masked);
	}
	mask_batch(masked, &masked->own);
	end_masking(masked);
	return false;
}

static bool take_waiting(struct gb_masked *masked) {
	struct gb_masked_batch batch = masked->active;
	if (!masked->waiting.n && !masked->waiting.end)
		return false;
	masked->active = masked->waiting;
	masked->waiting = batch;
	return true;
}

static void mask_waiting(struct gb_masked *masked) {
	if (masked->busy)
		return;
	masked->busy = true;
	while (take_waiting(masked)) {
		if (mask_active(masked))
			return;
		add_batch(masked);
	}
	masked->busy = false;
}

static enum gb_work_end on_work(struct gb_work *work, void *data) {
	struct gb_masked *masked = gb_container(struct gb_masked, work, work);
	(void)data;
	mask_batch(masked, &masked->beside);
	return GB_WORK_DONE;
}

static void on_worked(struct gb_work *work) {
	struct gb_masked *masked = gb_container(struct gb_masked, work, work);
	void *data = masked->threads.data;
	masked->again = gb_filter_is_outdated(masked->beside.filter);
	end_thread(masked);
	/* What is shown after a secret was added has passed a filter with this secret. */
	if (masked->again && mask_active(masked))
		return;
	do {
		add_batch(masked);
		/* Before the next batch begins, which uses the streams. */
		masked->threads.on_progress(masked, data);
		if (!take_waiting(masked)) {
			masked->busy = false;
			masked->threads.on_progress(masked, data);
			return;
		}
	} while (!mask_active(masked));
}

/* Room for one more item. NULL if memory is exhausted. */
static struct gb_masked_item *make_room(struct gb_masked_batch *batch) {
	if (batch->n < batch->cap)
		return batch->items;
	size_t cap = batch->cap ? batch->cap * 2 : 16;
	struct gb_masked_item *items = reallocarray(batch->items, cap, sizeof *items);
	if (!items)
		return NULL;
	batch->items = items;
	batch->cap = cap;
	return items;
}

static bool append(struct gb_masked_batch *batch, const struct gb_masked_item *item, const char *bytes) {
	struct gb_masked_item *last = batch->n ? &batch->items[batch->n - 1] : NULL;
	if (item->n)
		gb_buf_append(&batch->bytes, bytes, item->n);
	if (gb_buf_failed(&batch->bytes))
		return false;
	if (last && item->kind == ITEM_OUTPUT && last->kind == ITEM_OUTPUT && last->stream == item->stream) {
		last->n += item->n;
		return true;
	}
	struct gb_masked_item *items = make_room(batch);
	if (!items)
		return false;
	items[batch->n] = *item;
	items[batch->n++].at = batch->bytes.len - item->n;
	return true;
}

/* --- putting in --- */

/* @size is not needed without threads. */
static void put(struct gb_masked *masked, struct gb_masked_item item, const char *bytes, size_t size) {
	if (!masked->busy && is_within_quota(masked, size)) {
		mask_item(masked, &masked->own, &item, bytes);
		end_masking(masked);
		add_item(masked, &item);
		return;
	}
	if (append(&masked->waiting, &item, bytes)) {
		masked->waiting.size += size;
		mask_waiting(masked);
		return;
	}
	masked->failed = true;
	/* The code may wait for the answer to a report. */
	if (item.kind == ITEM_REPORT)
		item.then(masked, NULL, item.context, masked->threads.data);
}

static void put_value(struct gb_masked *masked, struct gb_masked_item item) {
	put(masked, item, NULL, masked->threads.work ? gb_masker_size(item.value) : 0);
}

void gb_masked_put_output(struct gb_masked *masked, int stream, const char *bytes, size_t n) {
	put(masked, (struct gb_masked_item){.kind = ITEM_OUTPUT, .stream = stream, .n = n}, bytes, n);
}

void gb_masked_put_log(struct gb_masked *masked, const struct gb_log *log) {
	put_value(masked, (struct gb_masked_item){.kind = ITEM_LOG, .log = *log, .value = log->args});
}

void gb_masked_put_display(struct gb_masked *masked, const struct gb_value *display) {
	put_value(masked, (struct gb_masked_item){.kind = ITEM_DISPLAY, .value = display});
}

void gb_masked_put_report(
    struct gb_masked *masked, const struct gb_value *value, gb_masked_then then, void *context) {
	put_value(masked,
	    (struct gb_masked_item){.kind = ITEM_REPORT, .value = value, .then = then, .context = context});
}

void gb_masked_put_mark(struct gb_masked *masked, gb_masked_then then, void *context) {
	gb_masked_put_report(masked, NULL, then, context);
}

void gb_masked_put_end(struct gb_masked *masked, const struct gb_result *result) {
	size_t size = masked->threads.work ? gb_masker_result_size(result) : 0;
	/* A result that is not long is masked when it is asked for. */
	if (!masked->busy && is_within_quota(masked, size)) {
		add_end(masked, result);
		return;
	}
	masked->waiting.end = result;
	masked->waiting.size += size;
	mask_waiting(masked);
}

bool gb_masked_is_busy(const struct gb_masked *masked) {
	return masked->busy;
}

bool gb_masked_is_ready(const struct gb_masked *masked) {
	return masked->ended && !masked->busy;
}

/* --- the result --- */

struct gb_str gb_masked_text(struct gb_masked *masked, const char *text, size_t n) {
	struct gb_str clean = gb_masker_text(&masked->own, text, n);
	masked->failed |= masked->own.failed;
	return clean;
}

/* Masked already, as it came. */
static void take_stream(
    struct gb_masked *masked, int stream, const struct gb_result_field *field, struct gb_result *ret) {
	const char *text = gb_buf_c_str(&masked->outputs[stream]);
	masked->failed |= !text;
	*(const char **)gb_result_member(field, ret) = text;
	*gb_result_length(field, ret) = masked->outputs[stream].len;
}

static void take_streams_and_logs(struct gb_masked *masked, struct gb_result *ret) {
	int stream = 0;
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		if (field->kind == GB_RESULT_OUTPUT) {
			take_stream(masked, stream++, field, ret);
		} else if (field->kind == GB_RESULT_LOGS) {
			*(const struct gb_log **)gb_result_member(field, ret) = masked->logs;
			*gb_result_length(field, ret) = masked->n_logs;
		}
	}
}

bool gb_masked_result(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret) {
	struct gb_masked_event event;
	while (gb_masked_next(masked, &event)) /* all of the output is part of it */
		;
	if (!masked->has_result && !masked->failed) {
		mask_result(masked, &masked->own, result);
		masked->failed |= masked->own.failed;
	}
	masked->n_masked += masked->n_in_result;
	masked->n_in_result = 0;
	*ret = masked->result;
	take_streams_and_logs(masked, ret);
	return !masked->failed;
}

void gb_masked_tell(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret) {
	if (!gb_masked_result(masked, result, ret))
		*ret = gb_result_instead(GB_FAILURE, "MaskingError", GB_CODE_MASKING,
		    "there was no memory to look for secrets in the result, so it is not told", result);
}
