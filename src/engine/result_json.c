#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fields.h"
#include "engine/result_json.h"
#include "value/json.h"

enum { JSON_MAX = 1 << 30 };

static void write_key(struct gb_buf *out, const char *key) {
	if (out->data[out->len - 1] != '{')
		gb_buf_append_char(out, ',');
	gb_buf_printf(out, "\"%s\":", key);
}

/* Ids of shared values are numbered throughout the whole result. */
struct writer {
	struct gb_buf *out;
	uint32_t next_id;
	struct gb_err *err;
};

static bool write_value(struct writer *w, const struct gb_value *value) {
	return gb_json_write(w->out, value, &w->next_id, w->err);
}

static void write_bytes(struct gb_buf *out, const char *bytes, size_t n) {
	gb_json_append_bytes(out, (struct gb_str){bytes ? bytes : "", bytes ? n : 0});
}

static bool write_list(struct writer *w, const char *key, const struct gb_value *const *list, size_t n) {
	gb_buf_append_char(w->out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			gb_buf_append_char(w->out, ',');
		if (!write_value(w, list[i]))
			return gb_wrap(w->err, "%s[%zu]", key, i);
	}
	gb_buf_append_char(w->out, ']');
	return true;
}

static bool write_logs(struct writer *w, const struct gb_log *logs, size_t n) {
	gb_buf_append_char(w->out, '[');
	for (size_t i = 0; i < n; i++) {
		const struct gb_log *log = &logs[i];
		gb_buf_printf(
		    w->out, "%s{\"level\":\"%s\",\"args\":", i ? "," : "", gb_log_level_name(log->level));
		if (!write_value(w, log->args))
			return gb_wrap(w->err, "logs[%zu]", i);
		gb_buf_printf(w->out, ",\"timestamp\":%.3f}", log->timestamp);
	}
	gb_buf_append_char(w->out, ']');
	return true;
}

/* --- the error --- */

/* The texts of an error, in the order of the JSON object. */
static const struct error_text {
	const char *key;
	size_t offset, n_offset; /* n_offset is 0: the text has no U+0000 */
	bool required;
} error_texts[] = {
    {"name", offsetof(struct gb_run_error, name), offsetof(struct gb_run_error, name_bytes), true},
    {"message", offsetof(struct gb_run_error, message), offsetof(struct gb_run_error, message_bytes), true},
    {"code", offsetof(struct gb_run_error, code), 0, false},
    {"stack", offsetof(struct gb_run_error, stack), offsetof(struct gb_run_error, stack_bytes), false},
    {"specifier", offsetof(struct gb_run_error, specifier), 0, false},
    {"filename", offsetof(struct gb_run_error, filename), 0, false},
};

static void write_error(struct gb_buf *out, const struct gb_run_error *error) {
	gb_buf_append_char(out, '{');
	for (size_t i = 0; i < GB_COUNT(error_texts); i++) {
		const struct error_text *text = &error_texts[i];
		const char *p = *(const char *const *)(const void *)((const char *)error + text->offset);
		size_t n = text->n_offset
			       ? *(const size_t *)(const void *)((const char *)error + text->n_offset)
			       : 0;
		if (n == 0)
			n = strlen(p);
		if (n == 0 && !text->required)
			continue;
		write_key(out, text->key);
		gb_json_append_string(out, (struct gb_str){p, n});
	}
	if (error->line) {
		write_key(out, "line");
		gb_buf_printf(out, "%u,\"column\":%u", error->line, error->column);
	}
	gb_buf_append_char(out, '}');
}

/* --- fields --- */

static bool is_set(const struct gb_result_field *field, const struct gb_result *result) {
	const void *member = (const char *)result + field->offset;
	size_t n = *(const size_t *)(const void *)((const char *)result + field->n_offset);
	switch (field->kind) {
	case GB_RESULT_VALUE: {
		const struct gb_value *value = *(const struct gb_value *const *)member;
		return value && gb_value_type(value) != GB_UNDEFINED;
	}
	case GB_RESULT_FILES:
		return *(const struct gb_value *const *)member;
	case GB_RESULT_VALUES:
	case GB_RESULT_DISPLAYS:
	case GB_RESULT_LOGS:
	case GB_RESULT_OUTPUT:
		return n;
	case GB_RESULT_ID:
		return *(const char *)member;
	case GB_RESULT_TEXT:
		return **(const char *const *)member;
	case GB_RESULT_FLAG:
		return *(const bool *)member;
	case GB_RESULT_INTEGER:
		return *(const int *)member;
	case GB_RESULT_COUNT:
		return *(const uint64_t *)member;
	case GB_RESULT_MS:
		return *(const double *)member > 0;
	case GB_RESULT_ERROR:
		return result->status != GB_SUCCESS;
	case GB_RESULT_STATUS:
		return true;
	}
	return false;
}

static bool write_field(
    struct writer *w, const struct gb_result_field *field, const struct gb_result *result) {
	struct gb_buf *out = w->out;
	const void *member = (const char *)result + field->offset;
	size_t n = *(const size_t *)(const void *)((const char *)result + field->n_offset);
	switch (field->kind) {
	case GB_RESULT_VALUE:
	case GB_RESULT_FILES:
		return write_value(w, *(const struct gb_value *const *)member) ||
		       gb_wrap(w->err, "%s", field->json);
	case GB_RESULT_VALUES:
	case GB_RESULT_DISPLAYS:
		return write_list(w, field->json, *(const struct gb_value *const *const *)member, n);
	case GB_RESULT_LOGS:
		return write_logs(w, *(const struct gb_log *const *)member, n);
	case GB_RESULT_OUTPUT:
		write_bytes(out, *(const char *const *)member, n);
		return true;
	case GB_RESULT_ID:
		gb_json_append_string(out, gb_str_from(member));
		return true;
	case GB_RESULT_STATUS:
		gb_json_append_string(out, gb_str_from(gb_status_name(*(const enum gb_status *)member)));
		return true;
	case GB_RESULT_TEXT:
		write_bytes(out, *(const char *const *)member, strlen(*(const char *const *)member));
		return true;
	case GB_RESULT_FLAG:
		gb_buf_printf(out, "%s", *(const bool *)member ? "true" : "false");
		return true;
	case GB_RESULT_INTEGER:
		gb_buf_printf(out, "%d", *(const int *)member);
		return true;
	case GB_RESULT_COUNT:
		gb_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)member);
		return true;
	case GB_RESULT_MS:
		gb_buf_printf(out, "%.3f", *(const double *)member);
		return true;
	case GB_RESULT_ERROR:
		write_error(out, member);
		return true;
	}
	return false;
}

bool gb_result_write_json(struct gb_buf *out, const struct gb_result *result, struct gb_err *err) {
	struct writer w = {.out = out, .err = err};
	gb_buf_append_char(out, '{');
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		if (field->optional && !is_set(field, result))
			continue;
		write_key(out, field->json);
		if (!write_field(&w, field, result))
			return false;
	}
	gb_buf_append_char(out, '}');
	return !gb_buf_failed(out) || gb_fail(err, GB_ELIMIT, 0, "the result's JSON is too large");
}

char *gb_result_to_json(const struct gb_result *result, size_t *ret_n, struct gb_err *err) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, JSON_MAX);
	if (!gb_result_write_json(&out, result, err) || !gb_buf_c_str(&out))
		return NULL;
	if (ret_n)
		*ret_n = out.len;
	return gb_take_pointer(&out.data);
}

/* --- reading --- */

static const char *text_of(const struct gb_value *value) {
	const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, NULL) : NULL;
	return text ? text : "";
}

static double number_of(const struct gb_value *value) {
	return gb_value_type(value) == GB_NUMBER ? gb_value_as_number(value) : 0;
}

static enum gb_status status_of(const struct gb_value *value) {
	for (int status = GB_SUCCESS; status <= GB_DENIED; status++)
		if (strcmp(gb_status_name((enum gb_status)status), text_of(value)) == 0)
			return (enum gb_status)status;
	return GB_FAILURE;
}

static enum gb_log_level level_of(const struct gb_value *value) {
	for (int level = GB_LOG_LOG; level <= GB_LOG_DEBUG; level++)
		if (strcmp(gb_log_level_name((enum gb_log_level)level), text_of(value)) == 0)
			return (enum gb_log_level)level;
	return GB_LOG_LOG;
}

static void read_error(const struct gb_value *error, struct gb_run_error *ret) {
	for (size_t i = 0; i < GB_COUNT(error_texts); i++) {
		const struct error_text *text = &error_texts[i];
		const struct gb_value *value = gb_value_get(error, text->key);
		*(const char **)(void *)((char *)ret + text->offset) = text_of(value);
		if (text->n_offset)
			gb_value_bytes(value, (size_t *)(void *)((char *)ret + text->n_offset));
	}
	ret->line = (unsigned)number_of(gb_value_get(error, "line"));
	ret->column = (unsigned)number_of(gb_value_get(error, "column"));
}

static bool read_list(
    const struct gb_value *array, struct gb_arena *lists, const struct gb_value *const **ret, size_t *ret_n) {
	size_t n = gb_value_count(array);
	const struct gb_value **list = gb_arena_array(lists, n ? n : 1, sizeof *list);
	for (size_t i = 0; list && i < n; i++)
		list[i] = gb_value_at(array, i);
	*ret = list;
	*ret_n = list ? n : 0;
	return list;
}

static bool read_logs(
    const struct gb_value *array, struct gb_arena *lists, const struct gb_log **ret, size_t *ret_n) {
	size_t n = gb_value_count(array);
	struct gb_log *logs = gb_arena_array(lists, n ? n : 1, sizeof *logs);
	for (size_t i = 0; logs && i < n; i++) {
		const struct gb_value *log = gb_value_at(array, i);
		logs[i] = (struct gb_log){level_of(gb_value_get(log, "level")),
		    number_of(gb_value_get(log, "timestamp")), gb_value_get(log, "args")};
	}
	*ret = logs;
	*ret_n = logs ? n : 0;
	return logs;
}

static bool read_field(const struct gb_result_field *field, const struct gb_value *value,
    struct gb_arena *lists, struct gb_result *result) {
	void *to = gb_result_member(field, result);
	size_t *n = gb_result_length(field, result);
	switch (field->kind) {
	case GB_RESULT_ID:
		gb_copy_text(to, sizeof result->run_id, gb_str_from(text_of(value)));
		return true;
	case GB_RESULT_STATUS:
		*(enum gb_status *)to = status_of(value);
		return true;
	case GB_RESULT_VALUE:
	case GB_RESULT_FILES:
		*(const struct gb_value **)to = value;
		return true;
	case GB_RESULT_VALUES:
	case GB_RESULT_DISPLAYS:
		return read_list(value, lists, to, n);
	case GB_RESULT_LOGS:
		return read_logs(value, lists, to, n);
	case GB_RESULT_OUTPUT:
		*(const char **)to = text_of(value);
		gb_value_bytes(value, n);
		return true;
	case GB_RESULT_TEXT:
		*(const char **)to = text_of(value);
		return true;
	case GB_RESULT_FLAG:
		*(bool *)to = gb_value_is_true(value);
		return true;
	case GB_RESULT_INTEGER:
		*(int *)to = (int)number_of(value);
		return true;
	case GB_RESULT_COUNT:
		*(uint64_t *)to = (uint64_t)number_of(value);
		return true;
	case GB_RESULT_MS:
		*(double *)to = number_of(value);
		return true;
	case GB_RESULT_ERROR:
		read_error(value, to);
		return true;
	}
	return false;
}

bool gb_result_read_json(
    const struct gb_value *object, struct gb_arena *lists, struct gb_result *ret, struct gb_err *err) {
	struct gb_result result = gb_result_instead(GB_SUCCESS, "", "", "", NULL);
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		const struct gb_value *value = gb_value_get(object, field->json);
		if (value && !read_field(field, value, lists, &result))
			return gb_fail(err, GB_ENOMEM, 0, "%s: too large to be read", field->json);
	}
	*ret = result;
	return true;
}
