#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value/json_read.h"
#include "value/repr.h"
#include "value/text.h"

enum { MAX_FIELDS = 5 };

#define TYPE(type)   (1u << (type))
#define HAS_IDENTITY (TYPE(GB_REGEXP + 1) - TYPE(GB_ARRAY))
#define ANYTHING     (~TYPE(GB_HOLE))
#define MAX_SAFE     0x1fffffffffffffp0

struct field {
	const char *name;
	unsigned types; /* the allowed types */
	bool optional;
};

/* A tagged object under construction: its fields in the order of the table, NULL if absent. */
struct construction {
	struct gb_json_reader *r;
	const struct tagged *tagged;
	struct gb_value *fields[MAX_FIELDS];
	const char *at; /* where the tagged object begins */
};

struct tagged {
	const char *name;
	struct gb_value *(*make)(struct construction *m);
	struct field fields[MAX_FIELDS];
};

static struct gb_value *check_allocated(struct construction *m, struct gb_value *value) {
	return value ? value : gb_json_fail_memory(m->r);
}

static bool append(
    struct gb_json_reader *r, struct gb_value ***list, size_t *n, size_t *cap, struct gb_value *value) {
	if (*n == *cap) {
		size_t bigger = *cap ? *cap * 2 : 16;
		struct gb_value **grown = realloc(*list, bigger * sizeof(struct gb_value *));
		if (!grown)
			return gb_json_fail_memory(r);
		*list = grown;
		*cap = bigger;
	}
	(*list)[(*n)++] = value;
	return true;
}

bool gb_json_add_unresolved(struct gb_json_reader *r, struct gb_value *container) {
	return append(r, &r->unresolved, &r->n_unresolved, &r->cap_unresolved, container);
}

static struct gb_value *bad_field(struct construction *m, unsigned field, const char *what) {
	return gb_json_fail(
	    m->r, m->at, "\"%s\" of %s must be %s", m->tagged->fields[field].name, m->tagged->name, what);
}

/* A field that must be a non-negative integer. */
static bool get_whole_number(struct construction *m, unsigned field, size_t *ret_number) {
	double number = m->fields[field]->number;
	if (!(number >= 0 && number <= MAX_SAFE && number == trunc(number)))
		return bad_field(m, field, "a whole number");
	*ret_number = (size_t)number;
	return true;
}

static struct gb_value *make_undefined(struct construction *m) {
	return gb_value_undefined(m->r->pool);
}

static struct gb_value *make_hole(struct construction *m) {
	return gb_value_hole(m->r->pool);
}

static struct gb_value *make_number(struct construction *m) {
	static const struct {
		struct gb_str text;
		double number;
	} known[] = {
	    {{"NaN", 3}, (double)NAN},
	    {{"Infinity", 8}, (double)INFINITY},
	    {{"-Infinity", 9}, -(double)INFINITY},
	    {{"-0", 2}, -0.0},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (gb_str_eq(m->fields[0]->bytes, known[i].text))
			return check_allocated(m, gb_value_number(m->r->pool, known[i].number));
	return bad_field(m, 0, "\"NaN\", \"Infinity\", \"-Infinity\" or \"-0\"");
}

static struct gb_value *make_bigint(struct construction *m) {
	struct gb_value *bigint = gb_bigint_parse(m->r->pool, m->fields[0]->bytes);
	if (!bigint && !gb_values_failed(m->r->pool))
		return bad_field(m, 0, "decimal (up to 9866 digits) or hexadecimal after \"0x\"");
	return check_allocated(m, bigint);
}

static struct gb_value *make_date(struct construction *m) {
	double milliseconds = NAN;
	if (m->fields[0]->type == GB_STRING && !gb_date_parse(m->fields[0]->bytes, &milliseconds))
		return bad_field(m, 0, "a date like \"1970-01-01T00:00:00.000Z\", or null");
	return check_allocated(m, gb_value_date(m->r->pool, milliseconds));
}

static struct gb_value *make_set(struct construction *m) {
	const struct gb_slots *from = &m->fields[0]->list;
	struct gb_value *set = gb_value_set(m->r->pool);
	bool pending = false;
	if (!set || !gb_value_reserve(set, from->used))
		return gb_json_fail_memory(m->r);
	for (size_t i = 0; i < from->used; i++) {
		if (from->slots[i]->type == GB_HOLE)
			return bad_field(m, 0, "an array without holes");
		gb_value_push(set, from->slots[i]);
		pending |= from->slots[i]->type == GB_JSON_PENDING;
	}
	if (pending && !gb_json_add_unresolved(m->r, set))
		return NULL;
	return set;
}

static bool is_pair(const struct gb_value *value, bool string_key) {
	if (value->type != GB_ARRAY || value->list.used != 2)
		return false;
	const struct gb_value *key = value->list.slots[0], *item = value->list.slots[1];
	return key->type != GB_HOLE && item->type != GB_HOLE && (!string_key || key->type == GB_STRING);
}

static struct gb_value *make_entries(struct construction *m, struct gb_value *into) {
	const struct gb_slots *from = &m->fields[0]->list;
	bool pending = false;
	if (!into || !gb_value_reserve(into, 2 * (size_t)from->used))
		return gb_json_fail_memory(m->r);
	for (size_t i = 0; i < from->used; i++) {
		if (!is_pair(from->slots[i], into->type == GB_OBJECT))
			return bad_field(m, 0, "an array of [key, value] pairs");
		struct gb_value *const *pair = from->slots[i]->list.slots;
		gb_value_put(into, pair[0], pair[1]);
		pending |= pair[0]->type == GB_JSON_PENDING || pair[1]->type == GB_JSON_PENDING;
	}
	if (pending && !gb_json_add_unresolved(m->r, into))
		return NULL;
	return into;
}

static struct gb_value *make_map(struct construction *m) {
	return make_entries(m, gb_value_map(m->r->pool));
}

static struct gb_value *make_object(struct construction *m) {
	struct gb_value *object = make_entries(m, gb_value_object(m->r->pool));
	if (object && !gb_keys_merge(&m->r->keys, object))
		return gb_json_fail_memory(m->r);
	return object;
}

static struct gb_value *make_buffer(struct construction *m) {
	struct gb_buf *bytes = &m->r->scratch;
	gb_buf_clear(bytes);
	if (!gb_base64_decode(bytes, m->fields[0]->bytes))
		return bad_field(m, 0, "base64");
	return check_allocated(m, gb_value_buffer(m->r->pool, bytes->data, bytes->len));
}

static struct gb_value *make_view(struct construction *m) {
	size_t offset = 0, length = 0;
	unsigned kind = 0;
	while (strcmp(gb_view_infos[kind].name, m->tagged->name) != 0)
		kind++;
	struct gb_value *data = m->fields[0], *buffer = m->fields[1];
	if (!data == !buffer || !buffer != !m->fields[2] || !buffer != !m->fields[3])
		return gb_json_fail(m->r, m->at,
		    "%s must have \"data\", or \"buffer\", \"byteOffset\" and \"length\"", m->tagged->name);
	if (data) {
		buffer = make_buffer(m);
		length = buffer ? buffer->bytes.n / gb_view_infos[kind].size : 0;
		if (buffer && length * gb_view_infos[kind].size != buffer->bytes.n)
			return bad_field(m, 0, "a whole number of elements");
	} else if (!get_whole_number(m, 2, &offset) || !get_whole_number(m, 3, &length)) {
		return NULL;
	}
	if (!buffer)
		return NULL;
	if (!gb_view_fits(kind, buffer, offset, length))
		return gb_json_fail(m->r, m->at, "%s does not fit its buffer", m->tagged->name);
	return check_allocated(m, gb_value_view(m->r->pool, (enum gb_view_kind)kind, buffer, offset, length));
}

static struct gb_value *make_error(struct construction *m) {
	enum { STACK = 2, CAUSE, ERRORS };
	struct gb_value *texts[GB_TEXTS] = {m->fields[0], m->fields[1], m->fields[STACK]};
	if (!m->fields[CAUSE] && !m->fields[ERRORS])
		return check_allocated(m, gb_value_texts(m->r->pool, GB_ERROR, texts));
	struct gb_value *parts = texts[2] = check_allocated(m, gb_value_array(m->r->pool));
	bool pending = false;
	for (unsigned i = STACK; i <= ERRORS && parts; i++) {
		struct gb_value *part = m->fields[i] ? m->fields[i] : gb_value_hole(m->r->pool);
		pending |= part && part->type == GB_JSON_PENDING;
		if (!gb_value_push(parts, part))
			return gb_json_fail_memory(m->r);
	}
	if (!parts || (pending && !gb_json_add_unresolved(m->r, parts)))
		return NULL;
	return check_allocated(m, gb_value_texts(m->r->pool, GB_ERROR, texts));
}

static struct gb_value *make_regexp(struct construction *m) {
	return check_allocated(m, gb_value_texts(m->r->pool, GB_REGEXP, m->fields));
}

/* The id is below 2^32; the owner is the host unless given. */
static struct gb_value *make_callable(
    struct construction *m, enum gb_type type, unsigned owner, unsigned name) {
	size_t id = 0;
	if (!get_whole_number(m, 0, &id))
		return NULL;
	if (id > UINT32_MAX)
		return bad_field(m, 0, "below 2^32");
	enum gb_side side = GB_HOST;
	if (m->fields[owner] && gb_str_eq(m->fields[owner]->bytes, GB_STR("sandbox")))
		side = GB_SANDBOX;
	else if (m->fields[owner] && !gb_str_eq(m->fields[owner]->bytes, GB_STR("host")))
		return bad_field(m, owner, "\"host\" or \"sandbox\"");
	struct gb_value *text = name ? m->fields[name] : NULL;
	return check_allocated(m, gb_value_callable(m->r->pool, type, side, (uint32_t)id, text));
}

static struct gb_value *make_function(struct construction *m) {
	return make_callable(m, GB_FUNCTION, 1, 2);
}

static struct gb_value *make_promise(struct construction *m) {
	return make_callable(m, GB_PROMISE, 1, 0);
}

/* The id of a "shared" or "ref". Ids count from 0, so a text of n bytes has none above n: an array indexed by
 * id is enough. */
static bool shared_id(struct construction *m, size_t *ret_id) {
	size_t id = 0;
	if (!get_whole_number(m, 0, &id))
		return false;
	if (id > (size_t)(m->r->end - m->r->start))
		return bad_field(m, 0, "counted from 0");
	*ret_id = id;
	return true;
}

static struct gb_value *make_shared(struct construction *m) {
	struct gb_json_reader *r = m->r;
	size_t id = 0;
	if (!shared_id(m, &id))
		return NULL;
	while (r->n_shared <= id)
		if (!append(r, &r->shared, &r->n_shared, &r->cap_shared, NULL))
			return NULL;
	if (r->shared[id])
		return gb_json_fail(r, m->at, "duplicate \"shared\" with the id %zu", id);
	return r->shared[id] = m->fields[1];
}

static struct gb_value *make_ref(struct construction *m) {
	struct gb_json_reader *r = m->r;
	size_t id = 0;
	if (!shared_id(m, &id))
		return NULL;
	if (id < r->n_shared && r->shared[id])
		return r->shared[id];
	struct gb_value *pending = check_allocated(m, gb_value_number(r->pool, 0));
	if (!pending)
		return NULL;
	pending->type = GB_JSON_PENDING;
	pending->view.offset = (size_t)(m->at - r->start);
	pending->view.length = id;
	return pending;
}

static bool resolve_slot(struct gb_json_reader *r, struct gb_value **slot) {
	const struct gb_value *pending = *slot;
	if (pending->type != GB_JSON_PENDING)
		return true;
	size_t id = pending->view.length;
	if (id >= r->n_shared || !r->shared[id])
		return gb_json_fail(
		    r, r->start + pending->view.offset, "there is no \"shared\" with the id %zu", id);
	*slot = r->shared[id];
	return true;
}

bool gb_json_resolve(struct gb_json_reader *r) {
	for (size_t i = 0; i < r->n_unresolved; i++) {
		struct gb_slots *list = &r->unresolved[i]->list;
		for (size_t k = 0; k < list->used; k++)
			if (!resolve_slot(r, &list->slots[k]))
				return false;
	}
	return true;
}

/* clang-format off */
static const struct tagged table[] = {
	{"undefined",	make_undefined,	{{0}}},
	{"hole",	make_hole,	{{0}}},
	{"number",	make_number,	{{"value", TYPE(GB_STRING), false}}},
	{"bigint",	make_bigint,	{{"value", TYPE(GB_STRING), false}}},
	{"Date",	make_date,	{{"value", TYPE(GB_STRING) | TYPE(GB_NULL), false}}},
	{"Map",		make_map,	{{"entries", TYPE(GB_ARRAY), false}}},
	{"Set",		make_set,	{{"values", TYPE(GB_ARRAY), false}}},
	{"Object",	make_object,	{{"entries", TYPE(GB_ARRAY), false}}},
	{"ArrayBuffer",	make_buffer,	{{"data", TYPE(GB_STRING), false}}},
	{"Error",	make_error,	{{"name", TYPE(GB_STRING), false}, {"message", TYPE(GB_STRING), false},
					 {"stack", TYPE(GB_STRING), true}, {"cause", ANYTHING, true},
					 {"errors", ANYTHING, true}}},
	{"RegExp",	make_regexp,	{{"source", TYPE(GB_STRING), false}, {"flags", TYPE(GB_STRING), false}}},
	{"function",	make_function,	{{"id", TYPE(GB_NUMBER), false}, {"owner", TYPE(GB_STRING), true},
					 {"name", TYPE(GB_STRING), true}}},
	{"promise",	make_promise,	{{"id", TYPE(GB_NUMBER), false}, {"owner", TYPE(GB_STRING), true}}},
	{"shared",	make_shared,	{{"id", TYPE(GB_NUMBER), false}, {"value", HAS_IDENTITY, false}}},
	{"ref",		make_ref,	{{"id", TYPE(GB_NUMBER), false}}},
};

static const struct field view_fields[MAX_FIELDS] = {
	{"data", TYPE(GB_STRING), true},
	{"buffer", TYPE(GB_BUFFER), true},
	{"byteOffset", TYPE(GB_NUMBER), true},
	{"length", TYPE(GB_NUMBER), true},
};
/* clang-format on */

static const char *type_names(unsigned types) {
	return types == TYPE(GB_STRING)   ? "a string"
	       : types == TYPE(GB_NUMBER) ? "a number"
	       : types == TYPE(GB_ARRAY)  ? "an array"
	       : types == TYPE(GB_BUFFER) ? "an ArrayBuffer"
	       : types == HAS_IDENTITY    ? "an array, an object or another value with identity"
					  : "a string or null";
}

static bool find_tagged(struct gb_str name, struct tagged *ret_tagged) {
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (gb_str_eq(name, gb_str_from(table[i].name))) {
			*ret_tagged = table[i];
			return true;
		}
	}
	for (size_t i = 0; i < GB_VIEW_KINDS; i++) {
		if (gb_str_eq(name, gb_str_from(gb_view_infos[i].name))) {
			*ret_tagged = (struct tagged){.name = gb_view_infos[i].name, .make = make_view};
			memcpy(ret_tagged->fields, view_fields, sizeof view_fields);
			return true;
		}
	}
	return false;
}

/* Assign the object's entries to m->fields. */
static bool assign_fields(struct construction *m, const struct gb_value *object) {
	for (size_t i = 0; i < object->list.used; i += 2) {
		struct gb_str key = object->list.slots[i]->bytes;
		unsigned field = 0;
		if (gb_str_eq(key, GB_STR("$type")))
			continue;
		while (field < MAX_FIELDS && !gb_str_eq(key, gb_str_from(m->tagged->fields[field].name)))
			field++;
		if (field == MAX_FIELDS || !m->tagged->fields[field].name) {
			char quoted[GB_QUOTED_TEXT];
			gb_text_quote(quoted, key);
			return gb_json_fail(m->r, m->at, "%s has no field %s", m->tagged->name, quoted);
		}
		m->fields[field] = object->list.slots[i + 1];
	}
	return true;
}

struct gb_value *gb_json_untag(struct gb_json_reader *r, const struct gb_value *object, const char *at) {
	const struct gb_value *type = gb_value_get(object, "$type");
	struct tagged tagged;
	if (type->type != GB_STRING)
		return gb_json_fail(r, at, "\"$type\" must be a string");
	if (!find_tagged(type->bytes, &tagged)) {
		char quoted[GB_QUOTED_TEXT];
		gb_text_quote(quoted, type->bytes);
		return gb_json_fail(r, at, "unknown \"$type\" %s", quoted);
	}
	struct construction m = {.r = r, .tagged = &tagged, .at = at};
	if (!assign_fields(&m, object))
		return NULL;
	for (unsigned i = 0; i < MAX_FIELDS && tagged.fields[i].name; i++) {
		if (!m.fields[i] && !tagged.fields[i].optional)
			return gb_json_fail(r, at, "%s lacks \"%s\"", tagged.name, tagged.fields[i].name);
		if (m.fields[i] && !(TYPE(m.fields[i]->type) & tagged.fields[i].types))
			return bad_field(&m, i, type_names(tagged.fields[i].types));
	}
	return tagged.make(&m);
}
