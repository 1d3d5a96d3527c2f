/* Checks a value against a schema. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "schema/internal.h"
#include "value/wtf8.h"

enum { WORK_MAX = 1000000, PATH_MAX_KEPT = 400, SHOWN = 100 };

struct check {
	const struct gb_value *root;
	unsigned depth, work;
	char path[PATH_MAX_KEPT];
	size_t n_path;
	bool quiet; /* an alternative is tried: no message is written */
	bool exhausted;
	struct gb_err *err;
};

static bool check(struct check *c, const struct gb_value *schema, const struct gb_value *value);

__attribute__((format(printf, 2, 3), cold)) static bool refuse(struct check *c, const char *format, ...) {
	char why[300];
	va_list ap;
	if (c->quiet || c->exhausted)
		return false;
	va_start(ap, format);
	vsnprintf(why, sizeof why, format, ap);
	va_end(ap);
	return gb_fail(c->err, GB_EINVAL, 0, "%s: %s", c->path, why);
}

static bool exhaust(struct check *c) {
	c->exhausted = true;
	return gb_fail(
	    c->err, GB_ELIMIT, 0, "%s: the schema is nested too deeply, or takes too long to check", c->path);
}

/* --- the path --- */

static size_t enter(struct check *c, struct gb_str name) {
	size_t before = c->n_path, room = sizeof c->path - before;
	int n = snprintf(c->path + before, room, ".%.*s", (int)(name.n < SHOWN ? name.n : SHOWN), name.p);
	c->n_path += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
	return before;
}

static void leave(struct check *c, size_t before) {
	c->n_path = before;
	c->path[before] = '\0';
}

static bool check_member(
    struct check *c, struct gb_str name, const struct gb_value *schema, const struct gb_value *value) {
	size_t before = enter(c, name);
	bool ok = check(c, schema, value);
	leave(c, before);
	return ok;
}

/* --- types --- */

static const char *type_of(const struct gb_value *value) {
	switch (gb_value_type(value)) {
	case GB_NULL:
		return "null";
	case GB_BOOLEAN:
		return "boolean";
	case GB_NUMBER:
		return "number";
	case GB_STRING:
		return "string";
	case GB_ARRAY:
		return "array";
	case GB_OBJECT:
		return "object";
	default:
		return "none";
	}
}

static bool is_whole(const struct gb_value *value) {
	double number = gb_value_as_number(value);
	return gb_value_type(value) == GB_NUMBER && number == floor(number);
}

static bool check_type(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	if (gb_schema_allows(schema, type_of(value)) ||
	    (is_whole(value) && gb_schema_allows(schema, "integer")))
		return true;
	const struct gb_value *type = gb_value_get(schema, "type");
	gb_auto_free char *types = gb_value_to_json(type, 0, NULL, NULL);
	return refuse(c, "must be of the type %.100s, not %s", types ? types : "?", type_of(value));
}

/* --- equality --- */

static bool is_same(struct check *c, const struct gb_value *a, const struct gb_value *b) {
	if (++c->work > WORK_MAX)
		return !exhaust(c);
	if (gb_value_type(a) != gb_value_type(b) || gb_value_count(a) != gb_value_count(b))
		return false;
	if (gb_value_type(a) == GB_NUMBER)
		return gb_value_as_number(a) == gb_value_as_number(b);
	if (gb_value_type(a) == GB_BOOLEAN)
		return gb_value_is_true(a) == gb_value_is_true(b);
	if (gb_value_type(a) == GB_STRING)
		return gb_str_eq(gb_schema_text(a), gb_schema_text(b));
	for (size_t i = 0; i < gb_value_count(a); i++) {
		const struct gb_value *other = gb_value_at(b, i);
		if (gb_value_type(a) == GB_OBJECT)
			other = gb_value_get(b, gb_schema_text(gb_value_key_at(a, i)).p);
		if (!is_same(c, gb_value_at(a, i), other))
			return false;
	}
	return true;
}

static bool check_choice(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	const struct gb_value *choices = gb_value_get(schema, "enum"),
			      *constant = gb_value_get(schema, "const");
	if (constant && !is_same(c, constant, value))
		return refuse(c, "must be the constant of its schema");
	if (gb_value_type(choices) != GB_ARRAY)
		return true;
	for (size_t i = 0; i < gb_value_count(choices); i++)
		if (is_same(c, gb_value_at(choices, i), value))
			return true;
	gb_auto_free char *list = gb_value_to_json(choices, 0, NULL, NULL);
	return refuse(c, "must be one of %.200s", list ? list : "its choices");
}

/* --- numbers and sizes --- */

static double number_at(const struct gb_value *schema, const char *keyword) {
	const struct gb_value *number = gb_value_get(schema, keyword);
	return gb_value_type(number) == GB_NUMBER ? gb_value_as_number(number) : NAN;
}

static bool check_number(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	double number = gb_value_as_number(value), step = number_at(schema, "multipleOf");
	/* A comparison with NaN, a keyword that is absent, is false. */
	if (number < number_at(schema, "minimum") || number <= number_at(schema, "exclusiveMinimum"))
		return refuse(c, "is too small");
	if (number > number_at(schema, "maximum") || number >= number_at(schema, "exclusiveMaximum"))
		return refuse(c, "is too large");
	if (step > 0 && fabs(number / step - nearbyint(number / step)) > 1e-9)
		return refuse(c, "must be a multiple of %g", step);
	return true;
}

static bool check_size(struct check *c, const struct gb_value *schema, size_t n,
    const char *const keywords[2], const char *unit) {
	double least = number_at(schema, keywords[0]), most = number_at(schema, keywords[1]);
	if ((double)n < least)
		return refuse(c, "must have at least %.0f %s", least, unit);
	if ((double)n > most)
		return refuse(c, "must have at most %.0f %s", most, unit);
	return true;
}

static size_t count_characters(struct gb_str text) {
	size_t n = 0;
	for (size_t i = 0; i < text.n; i++)
		n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	return n;
}

/* --- arrays and objects --- */

static bool check_unique(struct check *c, const struct gb_value *schema, const struct gb_value *list) {
	if (!gb_value_is_true(gb_value_get(schema, "uniqueItems")))
		return true;
	for (size_t i = 0; i < gb_value_count(list); i++)
		for (size_t k = 0; k < i; k++)
			if (is_same(c, gb_value_at(list, i), gb_value_at(list, k)))
				return refuse(c, "must not have the same item twice");
	return true;
}

static bool check_array(struct check *c, const struct gb_value *schema, const struct gb_value *list) {
	static const char *const sizes[2] = {"minItems", "maxItems"};
	const struct gb_value *first = gb_value_get(schema, "prefixItems"),
			      *rest = gb_value_get(schema, "items");
	/* The older form of a tuple. */
	if (gb_value_type(rest) == GB_ARRAY) {
		first = rest;
		rest = gb_value_get(schema, "additionalItems");
	}
	if (!check_size(c, schema, gb_value_count(list), sizes, "items") || !check_unique(c, schema, list))
		return false;
	for (size_t i = 0; i < gb_value_count(list); i++) {
		char index[24];
		snprintf(index, sizeof index, "%zu", i);
		const struct gb_value *own = gb_value_type(first) == GB_ARRAY ? gb_value_at(first, i) : NULL;
		if (!check_member(c, gb_str_from(index), own ? own : rest, gb_value_at(list, i)))
			return false;
	}
	return true;
}

static bool check_required(struct check *c, const struct gb_value *schema, const struct gb_value *object) {
	const struct gb_value *required = gb_value_get(schema, "required");
	for (size_t i = 0; gb_value_type(required) == GB_ARRAY && i < gb_value_count(required); i++) {
		struct gb_str name = gb_schema_text(gb_value_at(required, i));
		if (!name.p || gb_value_get(object, name.p))
			continue;
		size_t before = enter(c, name);
		refuse(c, "is missing");
		leave(c, before);
		return false;
	}
	return true;
}

static bool check_object(struct check *c, const struct gb_value *schema, const struct gb_value *object) {
	static const char *const sizes[2] = {"minProperties", "maxProperties"};
	const struct gb_value *properties = gb_value_get(schema, "properties"),
			      *more = gb_value_get(schema, "additionalProperties");
	bool has_patterns = gb_value_count(gb_value_get(schema, "patternProperties")) > 0;
	if (!check_size(c, schema, gb_value_count(object), sizes, "properties") ||
	    !check_required(c, schema, object))
		return false;
	for (size_t i = 0; i < gb_value_count(object); i++) {
		struct gb_str name = gb_schema_text(gb_value_key_at(object, i));
		const struct gb_value *own = gb_value_get(properties, name.p);
		/* Patterns are not evaluated; a name that is not listed may match one. */
		const struct gb_value *member = own ? own : has_patterns ? NULL : more;
		if (!own && !has_patterns && gb_value_type(more) == GB_BOOLEAN && !gb_value_is_true(more)) {
			size_t before = enter(c, name);
			refuse(c, "is not a property of the schema");
			leave(c, before);
			return false;
		}
		if (!check_member(c, name, member, gb_value_at(object, i)))
			return false;
	}
	return true;
}

/* --- combinations --- */

static bool try_schema(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	bool quiet = c->quiet;
	c->quiet = true;
	bool ok = check(c, schema, value);
	c->quiet = quiet;
	return ok;
}

static unsigned count_fitting(
    struct check *c, const struct gb_value *schemas, const struct gb_value *value, unsigned enough) {
	unsigned n = 0;
	for (size_t i = 0; i < gb_value_count(schemas) && n < enough; i++)
		n += try_schema(c, gb_value_at(schemas, i), value);
	return n;
}

static bool check_condition(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	const struct gb_value *condition = gb_value_get(schema, "if");
	if (!condition)
		return true;
	const struct gb_value *then = gb_value_get(schema, try_schema(c, condition, value) ? "then" : "else");
	return !then || check(c, then, value);
}

static bool check_combined(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	const struct gb_value *all = gb_value_get(schema, "allOf"), *any = gb_value_get(schema, "anyOf"),
			      *one = gb_value_get(schema, "oneOf"), *none = gb_value_get(schema, "not");
	for (size_t i = 0; gb_value_type(all) == GB_ARRAY && i < gb_value_count(all); i++)
		if (!check(c, gb_value_at(all, i), value))
			return false;
	/* The only alternative has the better message. */
	if (gb_value_type(any) == GB_ARRAY && gb_value_count(any) == 1)
		return check(c, gb_value_at(any, 0), value);
	if (gb_value_type(any) == GB_ARRAY && count_fitting(c, any, value, 1) == 0)
		return refuse(c, "fits none of the alternatives of anyOf");
	if (gb_value_type(one) == GB_ARRAY && count_fitting(c, one, value, 2) != 1)
		return refuse(c, "must fit exactly one of the alternatives of oneOf");
	if (none && try_schema(c, none, value))
		return refuse(c, "must not fit the schema of not");
	return check_condition(c, schema, value);
}

static bool check_reference(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	const struct gb_value *reference = gb_value_get(schema, "$ref");
	if (gb_value_type(reference) != GB_STRING)
		return true;
	const struct gb_value *target = gb_schema_follow(c->root, gb_schema_text(reference));
	return target ? check(c, target, value)
		      : refuse(c, "its schema refers to '%.100s', which is not in the schema",
			    gb_schema_text(reference).p);
}

static bool check_keywords(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	static const char *const lengths[2] = {"minLength", "maxLength"};
	if (!check_reference(c, schema, value) || !check_type(c, schema, value) ||
	    !check_choice(c, schema, value) || !check_combined(c, schema, value))
		return false;
	switch (gb_value_type(value)) {
	case GB_NUMBER:
		return check_number(c, schema, value);
	case GB_STRING:
		return check_size(c, schema, count_characters(gb_schema_text(value)), lengths, "characters");
	case GB_ARRAY:
		return check_array(c, schema, value);
	case GB_OBJECT:
		return check_object(c, schema, value);
	default:
		return true;
	}
}

static bool check(struct check *c, const struct gb_value *schema, const struct gb_value *value) {
	if (gb_value_type(schema) == GB_BOOLEAN)
		return gb_value_is_true(schema) || refuse(c, "is not allowed");
	if (gb_value_type(schema) != GB_OBJECT)
		return true;
	if (c->exhausted || c->depth >= 4 * GB_SCHEMA_DEPTH_MAX || ++c->work > WORK_MAX)
		return exhaust(c);
	c->depth++;
	bool ok = check_keywords(c, schema, value) && !c->exhausted;
	c->depth--;
	return ok;
}

bool gb_schema_check(
    const struct gb_value *schema, const struct gb_value *value, const char *root_name, struct gb_err *err) {
	struct check c = {.root = schema, .err = err};
	c.n_path = (size_t)snprintf(c.path, sizeof c.path, "%.100s", root_name);
	return check(&c, schema, value);
}
