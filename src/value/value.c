#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "value/codec.h"
#include "value/repr.h"
#include "value/wtf8.h"

enum { DEFAULT_MAX = 64 << 20, FIRST_SLOTS = 4 };

#define MAX_DATE 8.64e15 /* ms; the limit of ECMAScript's TimeClip */

_Static_assert(sizeof(struct gb_value) <= 32, "one byte of input can become one value: keep it small");

const struct gb_view_info gb_view_infos[GB_VIEW_KINDS] = {
    [GB_INT8] = {"Int8Array", 1},
    [GB_UINT8] = {"Uint8Array", 1},
    [GB_UINT8_CLAMPED] = {"Uint8ClampedArray", 1},
    [GB_INT16] = {"Int16Array", 2},
    [GB_UINT16] = {"Uint16Array", 2},
    [GB_INT32] = {"Int32Array", 4},
    [GB_UINT32] = {"Uint32Array", 4},
    [GB_FLOAT16] = {"Float16Array", 2},
    [GB_FLOAT32] = {"Float32Array", 4},
    [GB_FLOAT64] = {"Float64Array", 8},
    [GB_BIGINT64] = {"BigInt64Array", 8},
    [GB_BIGUINT64] = {"BigUint64Array", 8},
    [GB_DATAVIEW] = {"DataView", 1},
};

struct gb_values {
	struct gb_arena arena;
	struct gb_values *joined; /* another pool that is freed with this one, and so on; or NULL */
	bool failed;
	struct gb_value undefined, null, hole, booleans[2];
};

struct gb_values *gb_values_create(size_t max_bytes) {
	struct gb_values *pool = malloc(sizeof *pool);
	if (!pool)
		return NULL;
	*pool = (struct gb_values){
	    .undefined = {.type = GB_UNDEFINED},
	    .null = {.type = GB_NULL},
	    .hole = {.type = GB_HOLE},
	    .booleans = {{.type = GB_BOOLEAN}, {.type = GB_BOOLEAN, .flag = true}},
	};
	gb_arena_init(&pool->arena, max_bytes ? max_bytes : DEFAULT_MAX);
	return pool;
}

size_t gb_values_used(const struct gb_values *pool) {
	return pool->arena.used;
}

void gb_values_extend(struct gb_values *pool, size_t more) {
	pool->arena.max += more;
}

struct gb_values *gb_values_branch(const struct gb_values *pool) {
	size_t left = pool->arena.max - pool->arena.used;
	return gb_values_create(left ? left : 1);
}

void gb_values_join(struct gb_values *pool, struct gb_values *branch) {
	struct gb_arena *arena = &pool->arena;
	size_t left = arena->max - arena->used, more = branch->arena.used;
	arena->used += more < left ? more : left;
	pool->failed |= branch->failed;
	branch->joined = pool->joined;
	pool->joined = branch;
}

void gb_values_destroy(struct gb_values *pool) {
	for (struct gb_values *next; pool; pool = next) {
		next = pool->joined;
		gb_arena_finish(&pool->arena);
		free(pool);
	}
}

bool gb_values_failed(const struct gb_values *pool) {
	return pool->failed;
}

/* Returns NULL, which callers that return bool convert to false. */
static void *fail(struct gb_values *pool) {
	pool->failed = true;
	return NULL;
}

static struct gb_value *make(struct gb_values *pool, enum gb_type type) {
	struct gb_value *value = gb_arena_alloc(&pool->arena, sizeof *value);
	if (!value)
		return fail(pool);
	value->type = (uint8_t)type;
	return value;
}

/* Create a value followed by a copy of @bytes (zeros if NULL) and a terminating zero. */
static struct gb_value *make_bytes(struct gb_values *pool, enum gb_type type, const void *bytes, size_t n) {
	struct gb_value *value = NULL;
	if (n < SIZE_MAX - sizeof *value)
		value = gb_arena_alloc(&pool->arena, sizeof *value + n + 1);
	if (!value)
		return fail(pool);
	value->type = (uint8_t)type;
	value->bytes = (struct gb_str){(char *)(value + 1), n};
	if (n && bytes)
		memcpy(value + 1, bytes, n);
	return value;
}

static struct gb_value *make_list(struct gb_values *pool, enum gb_type type) {
	struct gb_value *value = make(pool, type);
	if (value)
		value->list.pool = pool;
	return value;
}

struct gb_value *gb_value_undefined(struct gb_values *pool) {
	return &pool->undefined;
}

struct gb_value *gb_value_null(struct gb_values *pool) {
	return &pool->null;
}

struct gb_value *gb_value_hole(struct gb_values *pool) {
	return &pool->hole;
}

struct gb_value *gb_value_boolean(struct gb_values *pool, bool boolean) {
	return &pool->booleans[boolean];
}

struct gb_value *gb_value_number(struct gb_values *pool, double number) {
	struct gb_value *value = make(pool, GB_NUMBER);
	if (value)
		value->number = number;
	return value;
}

struct gb_value *gb_value_float(struct gb_values *pool, double number) {
	struct gb_value *value = gb_value_number(pool, number);
	/* Others have one form only. */
	bool is_whole = fabs(number) <= 0x1fffffffffffffp0 && number == trunc(number);
	if (value)
		value->flag = is_whole && !(number == 0 && signbit(number));
	return value;
}

struct gb_value *gb_value_string(struct gb_values *pool, const char *bytes, size_t n) {
	enum gb_wtf8 found = gb_wtf8_scan(bytes, n);
	if (found == GB_WTF8_INVALID)
		return fail(pool);
	struct gb_value *value = make_bytes(pool, GB_STRING, bytes, n);
	if (value)
		value->flag = found == GB_WTF8_SURROGATES;
	return value;
}

struct gb_value *gb_value_utf8(struct gb_values *pool, const char *bytes, size_t n) {
	return make_bytes(pool, GB_STRING, bytes, n);
}

struct gb_value *gb_value_bigint(struct gb_values *pool, bool negative, const uint8_t *magnitude, size_t n) {
	while (n && magnitude[0] == 0) {
		magnitude++;
		n--;
	}
	struct gb_value *value = make_bytes(pool, GB_BIGINT, magnitude, n);
	if (value)
		value->flag = negative && n;
	return value;
}

struct gb_value *gb_value_bigint_complement(struct gb_values *pool, const uint8_t *magnitude, size_t n) {
	/* Increment the magnitude: trailing 0xff bytes become 0, and the byte before them is incremented. */
	size_t n_trailing_ff = 0;
	while (n_trailing_ff < n && magnitude[n - 1 - n_trailing_ff] == 0xff)
		n_trailing_ff++;
	bool longer = n_trailing_ff == n;
	struct gb_value *value = make_bytes(pool, GB_BIGINT, NULL, n + longer);
	if (!value)
		return NULL;
	uint8_t *to = (uint8_t *)(value + 1);
	if (!longer)
		memcpy(to, magnitude, n - n_trailing_ff);
	to[longer ? 0 : n - n_trailing_ff - 1]++;
	value->flag = true;
	return value;
}

struct gb_value *gb_value_date(struct gb_values *pool, double milliseconds) {
	struct gb_value *value = make(pool, GB_DATE);
	if (value) /* adding zero turns -0 into 0 */
		value->number = fabs(milliseconds) <= MAX_DATE ? trunc(milliseconds) + 0.0 : NAN;
	return value;
}

struct gb_value *gb_value_buffer(struct gb_values *pool, const void *bytes, size_t n) {
	return make_bytes(pool, GB_BUFFER, bytes, n);
}

bool gb_view_fits(uint64_t kind, const struct gb_value *buffer, uint64_t offset, uint64_t length) {
	if (!buffer || buffer->type != GB_BUFFER || kind >= GB_VIEW_KINDS)
		return false;
	uint64_t size = gb_view_infos[kind].size, n = buffer->bytes.n;
	return offset % size == 0 && offset <= n && length <= (n - offset) / size;
}

struct gb_value *gb_value_view(
    struct gb_values *pool, enum gb_view_kind kind, struct gb_value *buffer, size_t offset, size_t length) {
	if (!buffer || buffer->type != GB_BUFFER || (unsigned)kind >= GB_VIEW_KINDS)
		return fail(pool);
	size_t size = gb_view_infos[kind].size, n;
	if (offset % size || offset > buffer->bytes.n || __builtin_mul_overflow(length, size, &n) ||
	    n > buffer->bytes.n - offset)
		return fail(pool);
	struct gb_value *value = make(pool, GB_VIEW);
	if (!value)
		return NULL;
	value->kind = (uint8_t)kind;
	value->view.buffer = buffer;
	value->view.offset = offset;
	value->view.length = length;
	return value;
}

struct gb_value *gb_value_array(struct gb_values *pool) {
	return make_list(pool, GB_ARRAY);
}

struct gb_value *gb_value_object(struct gb_values *pool) {
	return make_list(pool, GB_OBJECT);
}

struct gb_value *gb_value_map(struct gb_values *pool) {
	return make_list(pool, GB_MAP);
}

struct gb_value *gb_value_set(struct gb_values *pool) {
	return make_list(pool, GB_SET);
}

struct gb_value *gb_value_texts(
    struct gb_values *pool, enum gb_type type, struct gb_value *const texts[GB_TEXTS]) {
	if (!texts[0] || !texts[1])
		return fail(pool);
	for (unsigned i = 0; i < GB_TEXTS; i++)
		if (texts[i] && texts[i]->type != GB_STRING &&
		    !(i == 2 && type == GB_ERROR && texts[i]->type == GB_ARRAY))
			return fail(pool);
	struct gb_value *value = make(pool, type);
	if (value)
		memcpy(value->texts, texts, sizeof value->texts);
	return value;
}

static struct gb_value *string_from(struct gb_values *pool, const char *zero_terminated) {
	if (!zero_terminated)
		return fail(pool);
	return gb_value_string(pool, zero_terminated, strlen(zero_terminated));
}

struct gb_value *gb_value_error(
    struct gb_values *pool, const char *name, const char *message, const char *stack) {
	struct gb_value *texts[GB_TEXTS] = {string_from(pool, name), string_from(pool, message)};
	if (stack && !(texts[2] = string_from(pool, stack)))
		return NULL;
	return gb_value_texts(pool, GB_ERROR, texts);
}

struct gb_value *gb_value_regexp(struct gb_values *pool, const char *source, const char *flags) {
	struct gb_value *texts[GB_TEXTS] = {string_from(pool, source), string_from(pool, flags)};
	return gb_value_texts(pool, GB_REGEXP, texts);
}

struct gb_value *gb_value_callable(
    struct gb_values *pool, enum gb_type type, enum gb_side side, uint32_t id, struct gb_value *name) {
	struct gb_value *value = make(pool, type);
	if (!value)
		return NULL;
	value->flag = side == GB_SANDBOX;
	value->callable.name = name;
	value->callable.id = id;
	return value;
}

struct gb_value *gb_value_function(struct gb_values *pool, uint32_t id, const char *name) {
	struct gb_value *text = name ? string_from(pool, name) : NULL;
	if (name && !text)
		return NULL;
	return gb_value_callable(pool, GB_FUNCTION, GB_HOST, id, text);
}

struct gb_value *gb_value_promise(struct gb_values *pool, uint32_t id) {
	return gb_value_callable(pool, GB_PROMISE, GB_HOST, id, NULL);
}

static bool grow(struct gb_slots *list, size_t cap) {
	struct gb_value **slots = NULL;
	if (cap <= UINT32_MAX)
		slots = gb_arena_array(&list->pool->arena, cap, sizeof(struct gb_value *));
	if (!slots)
		return fail(list->pool);
	if (list->used)
		memcpy(slots, list->slots, list->used * sizeof(struct gb_value *));
	list->slots = slots;
	list->cap = (uint32_t)cap;
	return true;
}

bool gb_value_reserve(struct gb_value *container, size_t slots) {
	struct gb_slots *list = &container->list;
	if (slots <= list->cap - list->used)
		return true;
	if (slots > UINT32_MAX - list->used)
		return fail(list->pool);
	return grow(list, list->used + slots);
}

/* Doubling is enough: @slots is 1, or 2 in an object or map, whose capacity is even. */
static bool make_room(struct gb_slots *list, size_t slots) {
	if (slots <= list->cap - list->used)
		return true;
	return grow(list, list->cap ? (size_t)list->cap * 2 : FIRST_SLOTS);
}

bool gb_value_push(struct gb_value *list, struct gb_value *item) {
	if (!list || (list->type != GB_ARRAY && list->type != GB_SET))
		return false;
	if (!item || (item->type == GB_HOLE && list->type == GB_SET))
		return fail(list->list.pool);
	if (!make_room(&list->list, 1))
		return false;
	list->list.slots[list->list.used++] = item;
	return true;
}

bool gb_value_put(struct gb_value *object_or_map, struct gb_value *key, struct gb_value *item) {
	struct gb_value *into = object_or_map;
	if (!into || !gb_value_has_entries(into))
		return false;
	if (!key || !item || key->type == GB_HOLE || item->type == GB_HOLE ||
	    (into->type == GB_OBJECT && key->type != GB_STRING))
		return fail(into->list.pool);
	if (!make_room(&into->list, 2))
		return false;
	into->list.slots[into->list.used++] = key;
	into->list.slots[into->list.used++] = item;
	return true;
}

bool gb_value_put_key(struct gb_value *object, const char *key, struct gb_value *item) {
	if (!object || object->type != GB_OBJECT)
		return false;
	return gb_value_put(object, string_from(object->list.pool, key), item);
}
