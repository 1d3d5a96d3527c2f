#include "guard/masked.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "glovebox/errors.h"
#include "value/codec.h"

enum {
	TEXTS_MAX = 64 << 20, /* code is part of up to three records, with 16 MiB in each */
	OUTPUT_SLACK = 4 << 20,
	VALUE_FACTOR = 16,
	DISPLAYS_MAX = 64 << 20,
	FILES_MAX = 64 << 20,
	REPORTS_MAX = 16 << 20, /* unless the run says otherwise */
};

size_t gb_masked_output_max(const struct gb_run_options *run) {
	return run->output_bytes + OUTPUT_SLACK;
}

size_t gb_masked_value_max(const struct gb_run_options *run) {
	uint64_t reports = run->report_bytes ? run->report_bytes : REPORTS_MAX;
	return (run->result_bytes + run->output_bytes + reports + DISPLAYS_MAX + FILES_MAX) * VALUE_FACTOR;
}

bool gb_masked_init(
    struct gb_masked *masked, struct gb_filter *filter, size_t output_bytes, size_t value_bytes) {
	*masked = (struct gb_masked){.filter = filter, .values = gb_values_create(value_bytes)};
	gb_arena_init(&masked->texts, TEXTS_MAX);
	for (int i = 0; i < 2; i++) {
		masked->streams[i] = gb_mask_create(filter);
		gb_buf_init(&masked->outputs[i], output_bytes + 1);
	}
	return masked->values && masked->streams[0] && masked->streams[1];
}

void gb_masked_finish(struct gb_masked *masked) {
	for (int i = 0; i < 2; i++) {
		gb_mask_destroy(masked->streams[i]);
		gb_buf_finish(&masked->outputs[i]);
	}
	gb_values_destroy(masked->values);
	gb_arena_finish(&masked->texts);
	free(masked->logs);
	free(masked->queue);
	*masked = (struct gb_masked){0};
}

size_t gb_masked_memory(const struct gb_masked *masked) {
	return masked->outputs[0].cap + masked->outputs[1].cap + gb_values_used(masked->values);
}

/* Add the places that were masked since the filter's count was @before. */
static void count(struct gb_masked *masked, uint64_t before) {
	masked->n_masked += gb_filter_total(masked->filter) - before;
}

const struct gb_value *gb_masked_value(struct gb_masked *masked, const struct gb_value *value) {
	const struct gb_value *clean = NULL;
	if (!value)
		return NULL;
	if (!gb_mask_value(masked->filter, value, masked->values, &clean, NULL))
		masked->failed = true;
	return masked->failed ? NULL : clean;
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

void gb_masked_put_output(struct gb_masked *masked, int stream, const char *bytes, size_t n) {
	struct gb_buf *out = &masked->outputs[stream - 1];
	struct gb_masked_event *last =
	    masked->first < masked->n_queue ? &masked->queue[masked->n_queue - 1] : NULL;
	gb_mask_add(masked->streams[stream - 1], bytes, n, out);
	masked->failed |= gb_buf_failed(out);
	if (last && last->kind == GB_MASKED_OUTPUT && last->stream == stream)
		last->n += n;
	else if ((last = push(masked)))
		*last = (struct gb_masked_event){.kind = GB_MASKED_OUTPUT, .stream = stream, .n = n};
}

static struct gb_log *add_log(struct gb_masked *masked) {
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

void gb_masked_put_log(struct gb_masked *masked, const struct gb_log *log) {
	struct gb_log *slot = add_log(masked);
	if (!slot)
		return;
	uint64_t total = gb_filter_total(masked->filter);
	*slot = (struct gb_log){log->level, log->timestamp, gb_masked_value(masked, log->args)};
	count(masked, total);
	struct gb_masked_event *event = masked->failed ? NULL : push(masked);
	if (event)
		*event = (struct gb_masked_event){.kind = GB_MASKED_LOG, .at = masked->n_logs++};
}

void gb_masked_put_display(struct gb_masked *masked, const struct gb_value *display) {
	const struct gb_value *clean = gb_masked_value(masked, display);
	struct gb_masked_event *event = clean ? push(masked) : NULL;
	if (event)
		*event = (struct gb_masked_event){.kind = GB_MASKED_DISPLAY, .display = clean};
}

/* The output of the code may be truncated. */
static bool is_cut(const struct gb_result *result) {
	const struct gb_error_info *error = gb_error_find(result->error.code);
	return result->truncated || result->status == GB_TERMINATED || result->status == GB_MEMORY ||
	       (error && error->cuts_output);
}

void gb_masked_put_end(struct gb_masked *masked, const struct gb_result *result) {
	masked->ended = true;
	masked->was_cut = is_cut(result);
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
	while (masked->first < masked->n_queue && !masked->failed) {
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

/* --- whole texts and values --- */

static struct gb_str keep_text(struct gb_masked *masked, const struct gb_buf *out) {
	char *copy = !gb_buf_failed(out) ? gb_arena_copy(&masked->texts, gb_buf_str(out)) : NULL;
	masked->failed |= !copy;
	return copy ? (struct gb_str){copy, out->len} : GB_STR("");
}

struct gb_str gb_masked_text(struct gb_masked *masked, const char *text, size_t n) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXTS_MAX);
	gb_mask_text(masked->filter, (struct gb_str){text, n}, &out);
	return keep_text(masked, &out);
}

struct gb_str gb_masked_cut_text(struct gb_masked *masked, const char *text, size_t n) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXTS_MAX);
	struct gb_mask *stream = gb_mask_create(masked->filter);
	if (stream) {
		gb_mask_feed(stream, text, n, &out);
		gb_mask_cut(stream, &out);
	} else {
		out.failed = true;
	}
	gb_mask_destroy(stream);
	return keep_text(masked, &out);
}

static const struct gb_value *const *mask_all(
    struct gb_masked *masked, const struct gb_value *const *list, size_t n) {
	const struct gb_value **clean = gb_arena_array(&masked->texts, n ? n : 1, sizeof *clean);
	masked->failed |= !clean;
	for (size_t i = 0; i < n && clean; i++)
		clean[i] = gb_masked_value(masked, list[i]);
	return clean;
}

/* Workers cut texts of errors at whole characters. One that had just this length loses at most what could
 * have been the beginning of a secret. */
static bool may_be_cut(size_t n) {
	enum { CHARACTER_MAX = 4 };
	return n + CHARACTER_MAX > GB_ERROR_TEXT_MAX;
}

static void mask_error(struct gb_masked *masked, struct gb_run_error *error) {
	const struct {
		const char **text;
		size_t *n; /* NULL: it ends with a zero */
	} texts[] = {
	    {&error->name, &error->name_bytes},
	    {&error->message, &error->message_bytes},
	    {&error->stack, &error->stack_bytes},
	    {&error->specifier, NULL},
	    {&error->code, NULL},
	    {&error->filename, NULL},
	};
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		size_t *n = texts[i].n && *texts[i].n ? texts[i].n : NULL;
		const char *text = *texts[i].text;
		if (!*text && !n)
			continue;
		size_t length = n ? *n : strlen(text);
		struct gb_str clean =
		    (may_be_cut(length) ? gb_masked_cut_text : gb_masked_text)(masked, text, length);
		*texts[i].text = clean.p;
		if (n)
			*n = clean.n;
	}
}

/* Masked already, as it came. */
static void take_stream(
    struct gb_masked *masked, int stream, const struct gb_result_field *field, struct gb_result *ret) {
	const char *text = gb_buf_c_str(&masked->outputs[stream]);
	masked->failed |= !text;
	*(const char **)gb_result_member(field, ret) = text;
	*gb_result_length(field, ret) = masked->outputs[stream].len;
}

/* Everything that the code can choose is masked; kinds that are not listed here contain nothing of the code. */
static void mask_field(struct gb_masked *masked, const struct gb_result_field *field, struct gb_result *ret) {
	void *member = gb_result_member(field, ret);
	const struct gb_value **value = member;
	const struct gb_value *const **list = member;
	const char **text = member;
	switch (field->kind) {
	case GB_RESULT_VALUE:
	case GB_RESULT_FILES:
		*value = gb_masked_value(masked, *value);
		break;
	case GB_RESULT_VALUES:
	case GB_RESULT_DISPLAYS:
		*list = mask_all(masked, *list, *gb_result_length(field, ret));
		break;
	case GB_RESULT_TEXT:
		*text = gb_masked_text(masked, *text, strlen(*text)).p;
		break;
	case GB_RESULT_ERROR:
		mask_error(masked, &ret->error); /* a result has one error */
		break;
	case GB_RESULT_LOGS: /* masked already, as they came */
		*(const struct gb_log **)member = masked->logs;
		*gb_result_length(field, ret) = masked->n_logs;
		break;
	case GB_RESULT_OUTPUT: /* see take_stream */
	case GB_RESULT_ID:
	case GB_RESULT_STATUS:
	case GB_RESULT_FLAG:
	case GB_RESULT_INTEGER:
	case GB_RESULT_COUNT:
	case GB_RESULT_MS:
		break;
	}
}

bool gb_masked_result(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret) {
	struct gb_masked_event event;
	while (gb_masked_next(masked, &event)) /* all of the output is part of it */
		;
	uint64_t total = gb_filter_total(masked->filter);
	int stream = 0;
	*ret = *result;
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		if (field->kind == GB_RESULT_OUTPUT)
			take_stream(masked, stream++, field, ret);
		else
			mask_field(masked, field, ret);
	}
	count(masked, total);
	return !masked->failed;
}

void gb_masked_tell(struct gb_masked *masked, const struct gb_result *result, struct gb_result *ret) {
	if (!gb_masked_result(masked, result, ret))
		*ret = gb_result_instead(GB_FAILURE, "MaskingError", GB_CODE_MASKING,
		    "there was no memory to look for secrets in the result, so it is not told", result);
}
