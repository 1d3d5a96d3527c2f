#include <math.h>
#include <string.h>

#include "value/repr.h"

enum gb_type gb_value_type(const struct gb_value *value) {
	return value ? (enum gb_type)value->type : GB_UNDEFINED;
}

bool gb_value_is_true(const struct gb_value *value) {
	return value && value->type == GB_BOOLEAN && value->flag;
}

double gb_value_as_number(const struct gb_value *value) {
	return value && (value->type == GB_NUMBER || value->type == GB_DATE) ? value->number : NAN;
}

const char *gb_value_bytes(const struct gb_value *value, size_t *ret_n) {
	if (value && (value->type == GB_STRING || value->type == GB_BUFFER)) {
		if (ret_n)
			*ret_n = value->bytes.n;
		return value->bytes.p;
	}
	if (value && value->type == GB_VIEW) {
		if (ret_n)
			*ret_n = value->view.length * gb_view_infos[value->kind].size;
		return value->view.buffer->bytes.p + value->view.offset;
	}
	return NULL;
}

const uint8_t *gb_value_magnitude(const struct gb_value *value, bool *ret_negative, size_t *ret_n) {
	if (!value || value->type != GB_BIGINT)
		return NULL;
	if (ret_negative)
		*ret_negative = value->flag;
	if (ret_n)
		*ret_n = value->bytes.n;
	return (const uint8_t *)value->bytes.p;
}

enum gb_view_kind gb_value_view_kind(const struct gb_value *value) {
	return value && value->type == GB_VIEW ? (enum gb_view_kind)value->kind : GB_UINT8;
}

const struct gb_value *gb_value_view_buffer(
    const struct gb_value *value, size_t *ret_offset, size_t *ret_length) {
	if (!value || value->type != GB_VIEW)
		return NULL;
	if (ret_offset)
		*ret_offset = value->view.offset;
	if (ret_length)
		*ret_length = value->view.length;
	return value->view.buffer;
}

const struct gb_value *gb_value_cause(const struct gb_value *error) {
	return error && error->type == GB_ERROR ? gb_error_part(error, GB_ERROR_CAUSE) : NULL;
}

const struct gb_value *gb_value_errors(const struct gb_value *error) {
	return error && error->type == GB_ERROR ? gb_error_part(error, GB_ERROR_ERRORS) : NULL;
}

const char *gb_value_text(const struct gb_value *value, unsigned index) {
	if (!value || (value->type != GB_ERROR && value->type != GB_REGEXP) || index >= GB_TEXTS)
		return NULL;
	const struct gb_value *text = value->texts[index];
	if (value->type == GB_ERROR && index == 2)
		text = gb_error_part(value, GB_ERROR_STACK);
	return text ? text->bytes.p : NULL;
}

bool gb_value_as_callable(const struct gb_value *value, enum gb_side *ret_side, uint32_t *ret_id) {
	if (!value || !gb_value_is_callable(value))
		return false;
	if (ret_side)
		*ret_side = value->flag ? GB_SANDBOX : GB_HOST;
	if (ret_id)
		*ret_id = value->callable.id;
	return true;
}

size_t gb_value_count(const struct gb_value *value) {
	if (!value || !gb_value_is_container(value))
		return 0;
	return gb_value_has_entries(value) ? value->list.used / 2 : value->list.used;
}

const struct gb_value *gb_value_at(const struct gb_value *value, size_t index) {
	if (index >= gb_value_count(value))
		return NULL;
	return value->list.slots[gb_value_has_entries(value) ? 2 * index + 1 : index];
}

const struct gb_value *gb_value_key_at(const struct gb_value *value, size_t index) {
	if (index >= gb_value_count(value) || !gb_value_has_entries(value))
		return NULL;
	return value->list.slots[2 * index];
}

const struct gb_value *gb_value_get(const struct gb_value *object, const char *key) {
	if (!object || object->type != GB_OBJECT || !key)
		return NULL;
	struct gb_str key_str = gb_str_from(key);
	for (size_t i = 0; i < object->list.used; i += 2)
		if (gb_str_eq(object->list.slots[i]->bytes, key_str))
			return object->list.slots[i + 1];
	return NULL;
}
