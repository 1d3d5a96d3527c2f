#include "server/fields.h"

#include <math.h>
#include <stdio.h>

#include "base/language.h"
#include "glovebox/errors.h"

/* --- the path of the present field --- */

/* The rejection's field holds the path of the present field: append a name, and remove it again. */
static size_t enter(struct gb_rejection *at, struct gb_str name) {
	size_t before = strlen(at->field), n = before;
	if (n && n + 1 < sizeof at->field)
		at->field[n++] = '.';
	gb_copy_text(at->field + n, sizeof at->field - n, name);
	return before;
}

static void leave(struct gb_rejection *at, size_t before) {
	at->field[before] = '\0';
}

/* --- reading --- */

bool gb_read_whole(const struct gb_value *value, uint64_t *ret) {
	double number = gb_value_type(value) == GB_NUMBER ? gb_value_as_number(value) : -1;
	if (!(number >= 0 && number <= (double)GB_WHOLE_MAX) || floor(number) != number)
		return false;
	*ret = (uint64_t)number;
	return true;
}

struct gb_str gb_read_str(const struct gb_value *value) {
	struct gb_str s = {NULL, 0};
	if (gb_value_type(value) == GB_STRING)
		s.p = gb_value_bytes(value, &s.n);
	return s;
}

static bool read_whole(
    const struct gb_field *field, const struct gb_value *value, void *to, struct gb_rejection *at) {
	uint64_t number, max = field->max ? field->max : GB_WHOLE_MAX;
	if (!gb_read_whole(value, &number) || number < field->min || number > max)
		return gb_reject(at, GB_CODE_INVALID, "must be a whole number from %llu to %llu",
		    (unsigned long long)field->min, (unsigned long long)max);
	if (field->kind == GB_FIELD_WHOLE32)
		*(uint32_t *)to = (uint32_t)number;
	else
		*(uint64_t *)to = number;
	return true;
}

static bool read_text(
    const struct gb_field *field, const struct gb_value *value, void *to, struct gb_rejection *at) {
	struct gb_str text = gb_read_str(value);
	if (!text.p)
		return gb_reject(at, GB_CODE_INVALID, "must be a string");
	if (field->kind == GB_FIELD_STR) {
		*(struct gb_str *)to = text;
		return true;
	}
	if (memchr(text.p, '\0', text.n))
		return gb_reject(at, GB_CODE_INVALID, "must not hold the character U+0000");
	*(const char **)to = text.p;
	return true;
}

static bool read_bytes(const struct gb_value *value, void *to, struct gb_rejection *at) {
	struct gb_str bytes = {.n = 0};
	bytes.p = gb_value_bytes(value, &bytes.n);
	enum gb_type type = gb_value_type(value);
	if (type != GB_STRING && type != GB_BUFFER && type != GB_VIEW)
		return gb_reject(at, GB_CODE_INVALID, "must be a string, or bytes");
	*(struct gb_str *)to = bytes;
	return true;
}

static bool reject_choice(const char *const *choices, struct gb_rejection *at) {
	char all[120] = "";
	for (unsigned i = 0; choices[i]; i++) {
		size_t n = strlen(all);
		snprintf(all + n, sizeof all - n, "%s\"%s\"", i ? " or " : "", choices[i]);
	}
	return gb_reject(at, GB_CODE_INVALID, "must be %s", all);
}

static bool read_choice(
    const struct gb_field *field, const struct gb_value *value, void *to, struct gb_rejection *at) {
	struct gb_str text = gb_read_str(value);
	for (unsigned i = 0; field->choices[i]; i++)
		if (text.p && gb_str_eq(text, gb_str_from(field->choices[i]))) {
			*(unsigned *)to = i;
			return true;
		}
	return reject_choice(field->choices, at);
}

static bool read_language(const struct gb_value *value, void *to, struct gb_rejection *at) {
	struct gb_str text = gb_read_str(value);
	return (text.p && gb_language_find_str(text, to)) || reject_choice(gb_language_names, at);
}

static bool read_boolean(
    const struct gb_field *field, const struct gb_value *value, void *to, struct gb_rejection *at) {
	bool is_true = gb_value_is_true(value);
	if (!is_true && (field->kind == GB_FIELD_TRUE || gb_value_type(value) != GB_BOOLEAN))
		return gb_reject(
		    at, GB_CODE_INVALID, "must be true%s", field->kind == GB_FIELD_TRUE ? "" : " or false");
	*(bool *)to = is_true;
	return true;
}

static bool read_value(
    const struct gb_field *field, const struct gb_value *value, void *to, struct gb_rejection *at) {
	enum gb_type type = gb_value_type(value);
	if (field->kind == GB_FIELD_ARRAY && type != GB_ARRAY)
		return gb_reject(at, GB_CODE_INVALID, "must be an array");
	if (field->kind == GB_FIELD_OBJECT && type != GB_OBJECT)
		return gb_reject(at, GB_CODE_INVALID, "must be an object");
	*(const struct gb_value **)to = value;
	return true;
}

static bool read_fields(
    const struct gb_field *fields, const struct gb_value *object, void *into, struct gb_rejection *at);

static bool read_field(
    const struct gb_field *field, const struct gb_value *value, void *into, struct gb_rejection *at) {
	void *to = (char *)into + field->offset;
	switch (field->kind) {
	case GB_FIELD_IGNORED:
		return true;
	case GB_FIELD_ANY:
	case GB_FIELD_ARRAY:
	case GB_FIELD_OBJECT:
		return read_value(field, value, to, at);
	case GB_FIELD_TEXT:
	case GB_FIELD_STR:
		return read_text(field, value, to, at);
	case GB_FIELD_REASON:
		*(struct gb_str *)to = gb_read_str(value);
		return true;
	case GB_FIELD_BYTES:
		return read_bytes(value, to, at);
	case GB_FIELD_WHOLE:
	case GB_FIELD_WHOLE32:
		return read_whole(field, value, to, at);
	case GB_FIELD_BOOLEAN:
	case GB_FIELD_TRUE:
		return read_boolean(field, value, to, at);
	case GB_FIELD_CHOICE:
		return read_choice(field, value, to, at);
	case GB_FIELD_LANGUAGE:
		return read_language(value, to, at);
	case GB_FIELD_FIELDS:
		return read_fields(field->fields, value, into, at);
	}
	return false;
}

static const struct gb_field *find_field(const struct gb_field *fields, struct gb_str name) {
	for (; fields->name; fields++)
		if (gb_str_eq(gb_str_from(fields->name), name))
			return fields;
	return NULL;
}

/* Required fields, in the order of the table and not of the object. */
static bool check_required(
    const struct gb_field *fields, const struct gb_value *object, struct gb_rejection *at) {
	for (; fields->name; fields++) {
		if (!fields->required || gb_value_get(object, fields->name))
			continue;
		enter(at, gb_str_from(fields->name));
		return gb_reject(at, GB_CODE_INVALID, "is missing");
	}
	return true;
}

static bool read_fields(
    const struct gb_field *fields, const struct gb_value *object, void *into, struct gb_rejection *at) {
	if (gb_value_type(object) != GB_OBJECT)
		return gb_reject(at, GB_CODE_INVALID, "must be an object");
	for (size_t i = 0; i < gb_value_count(object); i++) {
		struct gb_str name = gb_read_str(gb_value_key_at(object, i));
		const struct gb_field *field = find_field(fields, name);
		size_t before = enter(at, name);
		if (!field)
			return gb_reject(at, GB_CODE_INVALID, "there is no such field");
		if (!read_field(field, gb_value_at(object, i), into, at))
			return false;
		leave(at, before);
	}
	return check_required(fields, object, at);
}

bool gb_fields_read(const struct gb_field *fields, const struct gb_value *object, void *into,
    struct gb_rejection *ret_rejection) {
	return read_fields(fields, object, into, ret_rejection);
}
