#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "guard/secrets_filter.h"
#include "value/codec.h"
#include "value/identity.h"
#include "value/keys.h"
#include "value/repr.h"
#include "value/text.h"
#include "value/wtf8.h"

/*
 * A value is walked twice: the first time only to learn whether there is anything to mask, which is rare; the
 * second time to copy it.
 */
enum { ITEM_MAX = 300 }; /* bytes of an item that are looked at with its key */

struct walk {
	struct gb_filter *filter;
	struct gb_values *pool;
	struct gb_identity met; /* what has identity: where in `copies` its copy is */
	struct gb_value **copies;
	size_t cap;
	struct gb_buf text;
	unsigned depth;
	bool found;
	struct gb_err *err;
};

static bool fail_memory(struct walk *w) {
	return gb_fail(w->err, GB_ENOMEM, 0, "out of memory while masking a value");
}

static bool enter(struct walk *w) {
	if (w->depth == GB_DECODE_LIMITS_DEFAULT.max_depth)
		return gb_fail(w->err, GB_ELIMIT, 0, "value is nested deeper than %u levels", w->depth);
	w->depth++;
	return true;
}

/* --- single texts --- */

static const struct gb_spans *spans_of(struct walk *w, const void *bytes, size_t n) {
	const struct gb_spans *spans = gb_mask_spans(w->filter, bytes, n);
	if (!spans)
		fail_memory(w);
	return spans;
}

static void count(struct walk *w, const struct gb_spans *spans) {
	for (size_t i = 0; i < spans->n; i++)
		gb_filter_note(w->filter, spans->list[i].kind);
}

/* Leaves in w->text what is to be shown of @bytes. */
static bool mask_text(struct walk *w, const char *bytes, size_t n) {
	const struct gb_spans *spans = spans_of(w, bytes, n);
	size_t shown = 0;
	gb_buf_clear(&w->text);
	if (!spans)
		return false;
	for (size_t i = 0; i < spans->n; i++) {
		gb_buf_append(&w->text, bytes + shown, spans->list[i].from - shown);
		gb_buf_append(&w->text, "***", 3);
		shown = spans->list[i].to;
	}
	gb_buf_append(&w->text, bytes + shown, n - shown);
	count(w, spans);
	return !gb_buf_failed(&w->text) || fail_memory(w);
}

/* What was cut may have been in the middle of a character. */
static struct gb_value *string_of(struct walk *w, const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf mended;
	gb_buf_init(&mended, w->text.max * 3);
	if (gb_wtf8_scan(bytes, n) == GB_WTF8_INVALID) {
		gb_wtf8_mend(&mended, bytes, n);
		bytes = mended.data;
		n = mended.len;
	}
	struct gb_value *copy = gb_buf_failed(&mended) ? NULL : gb_value_string(w->pool, bytes, n);
	if (!copy)
		gb_fail(w->err, GB_ELIMIT, 0, "the masked value does not fit into its pool");
	return copy;
}

static struct gb_value *copy_string(struct walk *w, const struct gb_value *string) {
	if (!mask_text(w, string->bytes.p, string->bytes.n))
		return NULL;
	return string_of(w, w->text.data ? w->text.data : "", w->text.len);
}

/* Does a text in which @item is assigned to @key have a secret in the place of the item? */
static bool is_masked_as(struct walk *w, struct gb_str key, struct gb_str item, uint32_t *ret_kind) {
	char text[GB_SECRET_NAME_MAX + ITEM_MAX + 4];
	size_t n = item.n < ITEM_MAX ? item.n : ITEM_MAX;
	memcpy(text, key.p, key.n);
	text[key.n] = '=';
	text[key.n + 1] = '"';
	memcpy(text + key.n + 2, item.p, n);
	text[key.n + 2 + n] = '"';
	const struct gb_spans *spans = gb_mask_spans(w->filter, text, key.n + 3 + n);
	/* Text that could not be checked is treated as a secret. */
	*ret_kind = 0;
	for (size_t i = 0; spans && i < spans->n; i++)
		if (spans->list[i].from == key.n + 2) {
			*ret_kind = spans->list[i].kind;
			return true;
		}
	return !spans;
}

/* Parsers and pages have tokens that are no secrets: {"token": "while"}, {"next_token": "..."}. */
static bool is_plain_token(struct gb_str key) {
	static const char *const secret[] = {"access", "auth", "refresh", "bearer", "api", "bot", "secret"};
	if (key.n < 5 || strncasecmp(key.p + key.n - 5, "token", 5) != 0)
		return false;
	for (size_t i = 0; i < GB_COUNT(secret); i++)
		for (size_t at = 0; at + strlen(secret[i]) <= key.n; at++)
			if (strncasecmp(key.p + at, secret[i], strlen(secret[i])) == 0)
				return false;
	return true;
}

/* A key that tells by itself that its item is a secret, whatever that is; or with the item, as in code. */
static bool tells(
    struct walk *w, const struct gb_value *key, const struct gb_value *item, uint32_t *ret_kind) {
	static const struct gb_str any = GB_STR("Zq7xk2Wp");
	size_t n = key->type == GB_STRING ? key->bytes.n : 0;
	if (item->type != GB_STRING || item->bytes.n < GB_SECRET_MIN || !n || n > GB_SECRET_NAME_MAX ||
	    strchr("*<{$", item->bytes.p[0]))
		return false;
	return (!is_plain_token(key->bytes) && is_masked_as(w, key->bytes, any, ret_kind)) ||
	       is_masked_as(w, key->bytes, item->bytes, ret_kind);
}

/* The digits of a number can be a registered value. */
static bool is_secret_number(struct walk *w, const struct gb_value *value) {
	if (!w->filter->numeric)
		return false;
	gb_buf_clear(&w->text);
	if (value->type == GB_BIGINT) {
		gb_bigint_format(&w->text, value);
	} else {
		char text[GB_NUMBER_TEXT];
		gb_buf_append(&w->text, text, gb_number_format(text, value->number));
	}
	const struct gb_spans *spans = gb_mask_spans(w->filter, w->text.data, w->text.len);
	return !spans || spans->n > 0;
}

/* --- looking --- */

static bool look(struct walk *w, const struct gb_value *value);

static bool look_at_bytes(struct walk *w, const char *bytes, size_t n) {
	const struct gb_spans *spans = spans_of(w, bytes, n);
	w->found |= spans && spans->n > 0;
	return spans != NULL;
}

static bool look_at_slots(struct walk *w, const struct gb_value *value) {
	uint32_t kind;
	if (!enter(w))
		return false;
	for (size_t i = 0; i < value->list.used && !w->found; i++) {
		if (!look(w, value->list.slots[i]))
			return false;
		w->found |= gb_value_has_entries(value) && i % 2 &&
			    tells(w, value->list.slots[i - 1], value->list.slots[i], &kind);
	}
	w->depth--;
	return true;
}

static bool look_inside(struct walk *w, const struct gb_value *value) {
	switch ((enum gb_type)value->type) {
	case GB_BUFFER:
		return look_at_bytes(w, value->bytes.p, value->bytes.n);
	case GB_VIEW:
		return look(w, value->view.buffer);
	case GB_ERROR:
	case GB_REGEXP:
		for (unsigned i = 0; i < GB_TEXTS; i++)
			if (value->texts[i] && !look(w, value->texts[i]))
				return false;
		return true;
	case GB_DATE:
		return true;
	default:
		return look_at_slots(w, value);
	}
}

static bool look(struct walk *w, const struct gb_value *value) {
	if (value->type == GB_STRING)
		return look_at_bytes(w, value->bytes.p, value->bytes.n);
	if (value->type == GB_NUMBER || value->type == GB_BIGINT)
		w->found |= is_secret_number(w, value);
	if (gb_value_is_callable(value))
		return !value->callable.name || look(w, value->callable.name);
	if (!gb_value_has_identity(value))
		return true;
	bool is_new;
	if (!gb_identity_at(&w->met, value, &is_new))
		return fail_memory(w);
	return !is_new || look_inside(w, value);
}

/* --- copying --- */

static struct gb_value *copy(struct walk *w, const struct gb_value *value);

/* Keeps its length, so that views of it stay valid. */
static struct gb_value *copy_buffer(struct walk *w, const struct gb_value *value) {
	const struct gb_spans *spans = spans_of(w, value->bytes.p, value->bytes.n);
	struct gb_value *made = spans ? gb_value_buffer(w->pool, value->bytes.p, value->bytes.n) : NULL;
	if (!made)
		return NULL;
	for (size_t i = 0; i < spans->n; i++)
		memset((char *)made->bytes.p + spans->list[i].from, '*',
		    spans->list[i].to - spans->list[i].from);
	count(w, spans);
	return made;
}

/* Parts of an error are left empty: they may hold the error, so they are copied once it is remembered. */
static struct gb_value *copy_texts(struct walk *w, const struct gb_value *value) {
	struct gb_value *texts[GB_TEXTS] = {0};
	for (unsigned i = 0; i < GB_TEXTS; i++) {
		const struct gb_value *text = value->texts[i];
		if (text &&
		    !(texts[i] = text->type == GB_ARRAY ? gb_value_array(w->pool) : copy_string(w, text)))
			return NULL;
	}
	return gb_value_texts(w->pool, (enum gb_type)value->type, texts);
}

static struct gb_value *copy_view(struct walk *w, const struct gb_value *value) {
	struct gb_value *buffer = copy(w, value->view.buffer);
	return buffer ? gb_value_view(w->pool, (enum gb_view_kind)value->kind, buffer, value->view.offset,
			    value->view.length)
		      : NULL;
}

static struct gb_value *copy_callable(struct walk *w, const struct gb_value *value) {
	struct gb_value *name = NULL;
	if (value->callable.name && !(name = copy_string(w, value->callable.name)))
		return NULL;
	return gb_value_callable(
	    w->pool, (enum gb_type)value->type, value->flag ? GB_SANDBOX : GB_HOST, value->callable.id, name);
}

/* The second key that was masked in an object, and those after it, are numbered: none is lost. */
static struct gb_value *copy_key(struct walk *w, const struct gb_value *key, unsigned *masked) {
	if (key->type != GB_STRING)
		return copy(w, key);
	if (!mask_text(w, key->bytes.p, key->bytes.n))
		return NULL;
	if (!gb_str_eq(gb_buf_str(&w->text), key->bytes) && ++*masked > 1)
		gb_buf_printf(&w->text, " (%u)", *masked);
	return string_of(w, w->text.data ? w->text.data : "", w->text.len);
}

static struct gb_value *copy_item(struct walk *w, const struct gb_value *key, const struct gb_value *item) {
	uint32_t kind;
	if (!tells(w, key, item, &kind))
		return copy(w, item);
	gb_filter_note(w->filter, kind);
	return string_of(w, "***", 3);
}

static bool copy_slots(struct walk *w, const struct gb_value *value, struct gb_value *made) {
	unsigned masked = 0;
	if (!enter(w))
		return false;
	for (size_t i = 0; i < value->list.used; i++) {
		const struct gb_value *slot = value->list.slots[i];
		if (!gb_value_has_entries(value)) {
			if (!gb_value_push(made, copy(w, slot)))
				return false;
			continue;
		}
		struct gb_value *key = copy_key(w, slot, &masked);
		i++;
		if (!key || !gb_value_put(made, key, copy_item(w, slot, value->list.slots[i])))
			return false;
	}
	w->depth--;
	gb_auto_keys struct gb_keys keys = {0};
	/* The value may already have a key that looks like a numbered one. */
	return value->type != GB_OBJECT || !masked || gb_keys_merge(&keys, made) || fail_memory(w);
}

static struct gb_value *make_container(struct walk *w, const struct gb_value *value) {
	switch ((enum gb_type)value->type) {
	case GB_ARRAY:
		return gb_value_array(w->pool);
	case GB_OBJECT:
		return gb_value_object(w->pool);
	case GB_MAP:
		return gb_value_map(w->pool);
	default:
		return gb_value_set(w->pool);
	}
}

static bool remember(struct walk *w, uint32_t number, struct gb_value *made) {
	if (number >= w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 64;
		struct gb_value **copies = realloc(w->copies, cap * sizeof *copies);
		if (!copies)
			return fail_memory(w);
		w->copies = copies;
		w->cap = cap;
	}
	w->copies[number] = made;
	return true;
}

/* Register a container before its items are copied: it may contain itself. */
static struct gb_value *copy_new(struct walk *w, const struct gb_value *value, uint32_t number) {
	if (value->type == GB_ERROR && gb_error_has_parts(value)) {
		struct gb_value *made = copy_texts(w, value);
		return made && remember(w, number, made) && copy_slots(w, value->texts[2], made->texts[2])
			   ? made
			   : NULL;
	}
	if (gb_value_is_container(value)) {
		struct gb_value *made = make_container(w, value);
		return made && remember(w, number, made) && copy_slots(w, value, made) ? made : NULL;
	}
	struct gb_value *made = value->type == GB_BUFFER ? copy_buffer(w, value)
				: value->type == GB_VIEW ? copy_view(w, value)
				: value->type == GB_DATE ? gb_value_date(w->pool, value->number)
							 : copy_texts(w, value);
	return made && remember(w, number, made) ? made : NULL;
}

static struct gb_value *copy_with_identity(struct walk *w, const struct gb_value *value) {
	bool is_new;
	uint32_t *number = gb_identity_at(&w->met, value, &is_new);
	if (!number) {
		fail_memory(w);
		return NULL;
	}
	if (!is_new)
		return w->copies[*number];
	*number = (uint32_t)w->met.used - 1;
	return copy_new(w, value, *number);
}

static struct gb_value *copy_number(struct walk *w, const struct gb_value *value) {
	if (is_secret_number(w, value)) {
		const struct gb_spans *spans = spans_of(w, w->text.data, w->text.len);
		if (!spans)
			return NULL;
		count(w, spans);
		return string_of(w, "***", 3);
	}
	if (value->type == GB_NUMBER)
		return gb_value_number(w->pool, value->number);
	return gb_value_bigint(w->pool, value->flag, (const uint8_t *)value->bytes.p, value->bytes.n);
}

static struct gb_value *copy(struct walk *w, const struct gb_value *value) {
	switch ((enum gb_type)value->type) {
	case GB_UNDEFINED:
		return gb_value_undefined(w->pool);
	case GB_NULL:
		return gb_value_null(w->pool);
	case GB_HOLE:
		return gb_value_hole(w->pool);
	case GB_BOOLEAN:
		return gb_value_boolean(w->pool, value->flag);
	case GB_NUMBER:
	case GB_BIGINT:
		return copy_number(w, value);
	case GB_STRING:
		return copy_string(w, value);
	case GB_FUNCTION:
	case GB_PROMISE:
		return copy_callable(w, value);
	default:
		return copy_with_identity(w, value);
	}
}

static bool walk(struct walk *w, const struct gb_value *value, const struct gb_value **ret_value) {
	if (!look(w, value))
		return false;
	if (!w->found) {
		*ret_value = value;
		return true;
	}
	gb_identity_finish(&w->met);
	w->depth = 0;
	struct gb_value *made = copy(w, value);
	if (!made)
		return false;
	*ret_value = made;
	return true;
}

bool gb_mask_value(struct gb_filter *filter, const struct gb_value *value, struct gb_values *pool,
    const struct gb_value **ret_value, struct gb_err *err) {
	if (!value)
		return gb_fail(err, GB_EINVAL, 0, "there is no value to mask");
	/* A failure without a message is a lack of memory. */
	struct gb_err why = {.code = GB_ELIMIT, .message = "the masked value does not fit into its pool"};
	struct walk w = {.filter = filter, .pool = pool, .err = &why};
	gb_buf_init(&w.text, (size_t)1 << 30);
	bool ok = walk(&w, value, ret_value);
	gb_identity_finish(&w.met);
	gb_buf_finish(&w.text);
	free(w.copies);
	if (!ok && err)
		*err = why;
	return ok;
}
