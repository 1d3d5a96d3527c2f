#include "guard/masker.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "value/codec.h"
#include "value/repr.h"

enum {
	TEXTS_MAX = 64 << 20, /* code is part of up to three records, with 16 MiB in each */
	VALUES_MAX = 8192,    /* that are looked at to tell the size of a value */
	VALUE_COST = 8,
};

void gb_masker_init(struct gb_masker *masker, struct gb_filter *filter, struct gb_values *values) {
	*masker = (struct gb_masker){.filter = filter, .values = values};
	gb_arena_init(&masker->texts, TEXTS_MAX);
}

void gb_masker_finish(struct gb_masker *masker) {
	gb_arena_finish(&masker->texts);
	*masker = (struct gb_masker){0};
}

/* --- sizes --- */

struct size {
	size_t bytes;
	unsigned values_left, depth;
};

static void add_size(struct size *size, const struct gb_value *value);

static void add_slots(struct size *size, const struct gb_slots *list) {
	if (size->depth == GB_DECODE_LIMITS_DEFAULT.max_depth) {
		size->values_left = 0;
		return;
	}
	size->depth++;
	for (uint32_t i = 0; i < list->used && size->values_left; i++)
		add_size(size, list->slots[i]);
	size->depth--;
}

/* Values that were met are not remembered: a cycle uses up values_left. */
static void add_size(struct size *size, const struct gb_value *value) {
	if (!value || !size->values_left)
		return;
	size->values_left--;
	size->bytes += VALUE_COST;
	if (gb_value_is_container(value)) {
		add_slots(size, &value->list);
		return;
	}
	switch ((enum gb_type)value->type) {
	case GB_STRING:
	case GB_BIGINT:
	case GB_BUFFER:
		size->bytes += value->bytes.n;
		break;
	case GB_VIEW:
		add_size(size, value->view.buffer);
		break;
	case GB_ERROR:
	case GB_REGEXP:
		for (unsigned i = 0; i < GB_TEXTS; i++)
			add_size(size, value->texts[i]);
		break;
	case GB_FUNCTION:
	case GB_PROMISE:
		add_size(size, value->callable.name);
		break;
	default:
		break;
	}
}

static size_t end_size(const struct size *size) {
	return size->values_left && size->bytes < GB_MASKER_MANY ? size->bytes : GB_MASKER_MANY;
}

size_t gb_masker_size(const struct gb_value *value) {
	struct size size = {.values_left = VALUES_MAX};
	add_size(&size, value);
	return end_size(&size);
}

static size_t error_size(const struct gb_run_error *error) {
	return error->name_bytes + error->message_bytes + error->stack_bytes;
}

size_t gb_masker_result_size(const struct gb_result *result) {
	struct size size = {.values_left = VALUES_MAX, .bytes = error_size(&result->error)};
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		const void *member = gb_result_member(field, (struct gb_result *)result);
		const struct gb_value *const *list;
		switch (field->kind) {
		case GB_RESULT_VALUE:
		case GB_RESULT_FILES:
			add_size(&size, *(const struct gb_value *const *)member);
			break;
		case GB_RESULT_VALUES:
		case GB_RESULT_DISPLAYS:
			list = *(const struct gb_value *const *const *)member;
			for (size_t k = 0; k < *gb_result_length(field, (struct gb_result *)result); k++)
				add_size(&size, list[k]);
			break;
		default:
			break;
		}
	}
	return end_size(&size);
}

/* --- values and texts --- */

const struct gb_value *gb_masker_value(struct gb_masker *masker, const struct gb_value *value) {
	const struct gb_value *clean = NULL;
	if (!value)
		return NULL;
	if (!gb_mask_value(masker->filter, value, masker->values, &clean, NULL))
		masker->failed = true;
	return masker->failed ? NULL : clean;
}

static struct gb_str keep_text(struct gb_masker *masker, const struct gb_buf *out) {
	char *copy = !gb_buf_failed(out) ? gb_arena_copy(&masker->texts, gb_buf_str(out)) : NULL;
	masker->failed |= !copy;
	return copy ? (struct gb_str){copy, out->len} : GB_STR("");
}

struct gb_str gb_masker_text(struct gb_masker *masker, const char *text, size_t n) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXTS_MAX);
	gb_mask_text(masker->filter, (struct gb_str){text, n}, &out);
	return keep_text(masker, &out);
}

struct gb_str gb_masker_cut_text(struct gb_masker *masker, const char *text, size_t n) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXTS_MAX);
	struct gb_mask *stream = gb_mask_create(masker->filter);
	if (stream) {
		gb_mask_feed(stream, text, n, &out);
		gb_mask_cut(stream, &out);
	} else {
		out.failed = true;
	}
	gb_mask_destroy(stream);
	return keep_text(masker, &out);
}

/* --- the result --- */

static const struct gb_value *const *mask_all(
    struct gb_masker *masker, const struct gb_value *const *list, size_t n) {
	const struct gb_value **clean = gb_arena_array(&masker->texts, n ? n : 1, sizeof *clean);
	masker->failed |= !clean;
	for (size_t i = 0; i < n && clean; i++)
		clean[i] = gb_masker_value(masker, list[i]);
	return clean;
}

/* Workers cut texts of errors at whole characters. One that had just this length loses at most what could
 * have been the beginning of a secret. */
static bool may_be_cut(size_t n) {
	enum { CHARACTER_MAX = 4 };
	return n + CHARACTER_MAX > GB_ERROR_TEXT_MAX;
}

/* @n is the length; 0: the text ends with a zero. */
static struct gb_str mask_error_text(struct gb_masker *masker, const char *text, size_t n) {
	n = n ? n : strlen(text);
	if (!n)
		return GB_STR("");
	return (may_be_cut(n) ? gb_masker_cut_text : gb_masker_text)(masker, text, n);
}

static void mask_error(struct gb_masker *masker, struct gb_run_error *error) {
	struct gb_str name = mask_error_text(masker, error->name, error->name_bytes),
		      message = mask_error_text(masker, error->message, error->message_bytes),
		      stack = mask_error_text(masker, error->stack, error->stack_bytes);
	error->name = name.p;
	error->name_bytes = error->name_bytes ? name.n : 0;
	error->message = message.p;
	error->message_bytes = error->message_bytes ? message.n : 0;
	error->stack = stack.p;
	error->stack_bytes = error->stack_bytes ? stack.n : 0;
	error->specifier = mask_error_text(masker, error->specifier, 0).p;
	error->code = mask_error_text(masker, error->code, 0).p;
	error->filename = mask_error_text(masker, error->filename, 0).p;
}

/* Everything that the code can choose is masked; kinds that are not listed here contain nothing of the code. */
static void mask_field(
    struct gb_masker *masker, const struct gb_result_field *field, struct gb_result *result) {
	void *member = gb_result_member(field, result);
	const struct gb_value **value = member;
	const struct gb_value *const **list = member;
	const char **text = member;
	switch (field->kind) {
	case GB_RESULT_VALUE:
	case GB_RESULT_FILES:
		*value = gb_masker_value(masker, *value);
		break;
	case GB_RESULT_VALUES:
	case GB_RESULT_DISPLAYS:
		*list = mask_all(masker, *list, *gb_result_length(field, result));
		break;
	case GB_RESULT_TEXT:
		*text = gb_masker_text(masker, *text, strlen(*text)).p;
		break;
	case GB_RESULT_ERROR:
		mask_error(masker, &result->error); /* a result has one error */
		break;
	case GB_RESULT_LOGS:   /* masked.c has masked these */
	case GB_RESULT_OUTPUT: /* as they came */
	case GB_RESULT_ID:
	case GB_RESULT_STATUS:
	case GB_RESULT_FLAG:
	case GB_RESULT_INTEGER:
	case GB_RESULT_COUNT:
	case GB_RESULT_MS:
		break;
	}
}

void gb_masker_result(struct gb_masker *masker, struct gb_result *result) {
	for (size_t i = 0; i < gb_result_fields_count; i++)
		mask_field(masker, &gb_result_fields[i], result);
}
