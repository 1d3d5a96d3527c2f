#include "guard/masked.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "glovebox/errors.h"

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
	*masked = (struct gb_masked){0};
}

/* Add the places that were masked since the filter's count was @before. */
static void count(struct gb_masked *masked, uint64_t before) {
	masked->n_masked += gb_filter_total(masked->filter) - before;
}

/* The bytes after the first @before of the output; none once memory is exhausted. */
static struct gb_str added(struct gb_masked *masked, int stream, size_t before) {
	const struct gb_buf *out = &masked->outputs[stream - 1];
	masked->failed |= gb_buf_failed(out);
	return masked->failed || out->len == before ? (struct gb_str){"", 0}
						    : (struct gb_str){out->data + before, out->len - before};
}

struct gb_str gb_masked_feed(struct gb_masked *masked, int stream, const char *bytes, size_t n) {
	struct gb_buf *out = &masked->outputs[stream - 1];
	size_t before = out->len;
	uint64_t total = gb_filter_total(masked->filter);
	gb_mask_feed(masked->streams[stream - 1], bytes, n, out);
	count(masked, total);
	return added(masked, stream, before);
}

/* The output of the code may be truncated. */
static bool is_cut(const struct gb_result *result) {
	const struct gb_error_info *error = gb_error_find(result->error.code);
	return result->truncated || result->status == GB_TERMINATED || result->status == GB_MEMORY ||
	       (error && error->cuts_output);
}

struct gb_str gb_masked_end(struct gb_masked *masked, int stream, const struct gb_result *result) {
	struct gb_buf *out = &masked->outputs[stream - 1];
	size_t before = out->len;
	uint64_t total = gb_filter_total(masked->filter);
	(is_cut(result) ? gb_mask_cut : gb_mask_end)(masked->streams[stream - 1], out);
	count(masked, total);
	return added(masked, stream, before);
}

const struct gb_value *gb_masked_value(struct gb_masked *masked, const struct gb_value *value) {
	const struct gb_value *clean = NULL;
	if (!value)
		return NULL;
	if (!gb_mask_value(masked->filter, value, masked->values, &clean, NULL))
		masked->failed = true;
	return masked->failed ? NULL : clean;
}

const struct gb_log *gb_masked_log(struct gb_masked *masked, const struct gb_log *log) {
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
	struct gb_log *slot = &masked->logs[masked->n_logs];
	uint64_t total = gb_filter_total(masked->filter);
	*slot = (struct gb_log){log->level, log->timestamp, gb_masked_value(masked, log->args)};
	count(masked, total);
	if (masked->failed)
		return NULL;
	masked->n_logs++;
	return slot;
}

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
		mask_error(masked, member);
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
