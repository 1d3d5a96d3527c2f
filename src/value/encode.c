#include "base/err.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/identity.h"
#include "value/repr.h"

struct encoder {
	struct gb_buf *out;
	struct gb_identity seen;
	unsigned depth;
	const struct gb_grants *grants;
	struct gb_err *err;
};

static bool encode(struct encoder *e, const struct gb_value *value);

/* Tag 3 means -1 - n, so the magnitude minus one is written. */
static void encode_bigint(struct encoder *e, const struct gb_value *value) {
	size_t n = value->bytes.n;
	if (!value->flag) {
		gb_cbor_tag(e->out, GB_CBOR_BIGINT);
		gb_cbor_bytes(e->out, value->bytes.p, n);
		return;
	}
	const uint8_t *magnitude = (const uint8_t *)value->bytes.p;
	size_t zeros = 0; /* trailing zero bytes, which the subtraction borrows through */
	while (magnitude[n - 1 - zeros] == 0)
		zeros++;
	bool shorter = zeros == n - 1 && magnitude[0] == 1;
	gb_cbor_tag(e->out, GB_CBOR_NEGATIVE_BIGINT);
	gb_cbor_bytes(e->out, magnitude + shorter, n - shorter);
	if (gb_buf_failed(e->out))
		return;
	uint8_t *end = (uint8_t *)e->out->data + e->out->len;
	for (size_t i = 1; i <= zeros; i++)
		end[-(ptrdiff_t)i] = 0xff;
	if (!shorter)
		end[-(ptrdiff_t)zeros - 1]--;
}

static bool encode_slots(struct encoder *e, const struct gb_value *value) {
	if (e->depth == GB_DECODE_LIMITS_DEFAULT.max_depth)
		return gb_fail(e->err, GB_ELIMIT, 0, "value is nested deeper than %u levels", e->depth);
	e->depth++;
	for (size_t i = 0; i < value->list.used; i++)
		if (!encode(e, value->list.slots[i]))
			return false;
	e->depth--;
	return true;
}

static void encode_text(struct encoder *e, const struct gb_value *text) {
	if (text)
		gb_cbor_string(e->out, text->bytes.p, text->bytes.n);
	else
		gb_cbor_simple(e->out, GB_SIMPLE_NULL);
}

static bool encode_error(struct encoder *e, const struct gb_value *error) {
	bool has_parts = gb_error_has_parts(error);
	gb_cbor_tag(e->out, GB_CBOR_ERROR);
	gb_cbor_array(e->out, has_parts ? GB_CBOR_ERROR_FIELDS : GB_TEXTS);
	encode_text(e, error->texts[0]);
	encode_text(e, error->texts[1]);
	encode_text(e, gb_error_part(error, GB_ERROR_STACK));
	if (e->depth == GB_DECODE_LIMITS_DEFAULT.max_depth)
		return gb_fail(e->err, GB_ELIMIT, 0, "value is nested deeper than %u levels", e->depth);
	e->depth++;
	for (enum gb_error_part part = GB_ERROR_CAUSE; has_parts && part < GB_ERROR_PARTS; part++) {
		const struct gb_value *item = gb_error_part(error, part);
		if (!item)
			gb_cbor_simple(e->out, GB_SIMPLE_HOLE);
		else if (!encode(e, item))
			return false;
	}
	e->depth--;
	return true;
}

static bool encode_view(struct encoder *e, const struct gb_value *value) {
	gb_cbor_tag(e->out, GB_CBOR_VIEW);
	gb_cbor_array(e->out, 4);
	gb_cbor_unsigned(e->out, value->kind);
	gb_cbor_unsigned(e->out, value->view.offset);
	gb_cbor_unsigned(e->out, value->view.length);
	return encode(e, value->view.buffer);
}

/* Encode a value with identity for the first time. */
static bool encode_new(struct encoder *e, const struct gb_value *value) {
	struct gb_buf *out = e->out;
	switch ((enum gb_type)value->type) {
	case GB_ARRAY:
		gb_cbor_array(out, value->list.used);
		return encode_slots(e, value);
	case GB_OBJECT:
		gb_cbor_object(out, value->list.used / 2);
		return encode_slots(e, value);
	case GB_MAP:
		gb_cbor_tag(out, GB_CBOR_MAP);
		gb_cbor_object(out, value->list.used / 2);
		return encode_slots(e, value);
	case GB_SET:
		gb_cbor_tag(out, GB_CBOR_SET);
		gb_cbor_array(out, value->list.used);
		return encode_slots(e, value);
	case GB_DATE:
		gb_cbor_tag(out, GB_CBOR_DATE);
		gb_cbor_float(out, value->number);
		return true;
	case GB_BUFFER:
		gb_cbor_bytes(out, value->bytes.p, value->bytes.n);
		return true;
	case GB_VIEW:
		return encode_view(e, value);
	case GB_ERROR:
		return encode_error(e, value);
	default:
		gb_cbor_tag(out, GB_CBOR_REGEXP);
		gb_cbor_array(out, 2);
		encode_text(e, value->texts[0]);
		encode_text(e, value->texts[1]);
		return true;
	}
}

static bool encode_with_identity(struct encoder *e, const struct gb_value *value) {
	bool is_new;
	uint32_t *number = gb_identity_at(&e->seen, value, &is_new);
	if (!number)
		return gb_fail(e->err, GB_ENOMEM, 0, "out of memory while encoding a value");
	if (is_new) {
		*number = (uint32_t)e->seen.used - 1;
		return encode_new(e, value);
	}
	gb_cbor_tag(e->out, GB_CBOR_REFERENCE);
	gb_cbor_unsigned(e->out, *number);
	return true;
}

static bool encode_callable(struct encoder *e, const struct gb_value *value) {
	bool is_function = value->type == GB_FUNCTION;
	if (!e->grants)
		return gb_fail(
		    e->err, GB_EINVAL, 0, "a %s is not allowed here", is_function ? "function" : "promise");
	if (!value->flag && !e->grants->grant(e->grants->data, value->type, value->callable.id))
		return gb_fail(e->err, GB_ELIMIT, 0, "too many functions and promises");
	gb_cbor_tag(e->out, is_function ? GB_CBOR_FUNCTION : GB_CBOR_PROMISE);
	gb_cbor_array(e->out, is_function ? 3 : 2);
	gb_cbor_unsigned(e->out, value->flag ? GB_SANDBOX : GB_HOST);
	gb_cbor_unsigned(e->out, value->callable.id);
	if (is_function && value->callable.name)
		gb_cbor_string(e->out, value->callable.name->bytes.p, value->callable.name->bytes.n);
	else if (is_function)
		gb_cbor_simple(e->out, GB_SIMPLE_NULL);
	return true;
}

static bool encode(struct encoder *e, const struct gb_value *value) {
	if (gb_buf_failed(e->out))
		return false;
	switch ((enum gb_type)value->type) {
	case GB_UNDEFINED:
		gb_cbor_simple(e->out, GB_SIMPLE_UNDEFINED);
		return true;
	case GB_NULL:
		gb_cbor_simple(e->out, GB_SIMPLE_NULL);
		return true;
	case GB_HOLE:
		gb_cbor_simple(e->out, GB_SIMPLE_HOLE);
		return true;
	case GB_BOOLEAN:
		gb_cbor_simple(e->out, value->flag ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
		return true;
	case GB_NUMBER:
		(value->flag ? gb_cbor_float : gb_cbor_number)(e->out, value->number);
		return true;
	case GB_BIGINT:
		encode_bigint(e, value);
		return true;
	case GB_STRING:
		gb_cbor_string(e->out, value->bytes.p, value->bytes.n);
		return true;
	case GB_FUNCTION:
	case GB_PROMISE:
		return encode_callable(e, value);
	default:
		return encode_with_identity(e, value);
	}
}

bool gb_value_encode(
    struct gb_buf *out, const struct gb_value *value, const struct gb_grants *grants, struct gb_err *err) {
	if (!value || value->type == GB_HOLE)
		return gb_fail(
		    err, GB_EINVAL, 0, "%s", value ? "a hole cannot be encoded" : "no value to encode");
	struct encoder e = {.out = out, .grants = grants, .err = err};
	bool ok = encode(&e, value);
	gb_identity_finish(&e.seen);
	if (gb_buf_failed(out))
		return gb_fail(err, GB_ELIMIT, 0, "encoded value is larger than %zu bytes", out->max);
	return ok;
}

static bool encode_root(struct encoder *e, const struct gb_root *root) {
	size_t n = root->value ? root->value->list.used : 0;
	if (root->type == GB_OBJECT)
		gb_cbor_object(e->out, n / 2);
	else
		gb_cbor_array(e->out, n);
	return !root->value || encode_slots(e, root->value);
}

bool gb_value_encode_roots(struct gb_buf *out, const struct gb_root *roots, size_t n,
    const struct gb_grants *grants, struct gb_err *err) {
	struct encoder e = {.out = out, .grants = grants, .err = err};
	bool ok = true;
	for (size_t i = 0; i < n && ok; i++) {
		ok = encode_root(&e, &roots[i]);
		if (gb_buf_failed(out))
			ok = gb_fail(err, GB_ELIMIT, 0, "encoded value is larger than %zu bytes", out->max);
		if (!ok)
			gb_wrap_field(err, roots[i].name);
	}
	gb_identity_finish(&e.seen);
	return ok;
}
