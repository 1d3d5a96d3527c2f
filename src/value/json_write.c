#include <math.h>
#include <string.h>

#include "base/err.h"
#include "value/identity.h"
#include "value/json.h"
#include "value/repr.h"
#include "value/text.h"

enum { MAX_INDENT = 8 };

/* The number of a value in the identity map; from FIRST_ID on it was written, with the id number -
 * FIRST_ID. */
enum { SEEN_ONCE = 1, SEEN_AGAIN, FIRST_ID };

struct writer {
	struct gb_buf out;
	unsigned indent;
	unsigned depth;
	bool empty;    /* the innermost brackets are still empty */
	bool is_plain; /* see gb_json_write_plain */
	bool too_deep;
	bool no_memory;
	struct gb_identity seen;
	uint32_t next_id;
};

static void write_value(struct writer *w, const struct gb_value *value);

static void enter(struct writer *w) {
	w->too_deep |= w->depth++ >= GB_JSON_MAX_DEPTH;
}

static bool stopped(const struct writer *w) {
	return w->too_deep || w->no_memory || gb_buf_failed(&w->out);
}

/* First pass: find the values that are reached more than once. */
static void count_references(struct writer *w, const struct gb_value *value) {
	if (stopped(w) || !gb_value_has_identity(value))
		return;
	bool is_new;
	uint32_t *seen = gb_identity_at(&w->seen, value, &is_new);
	w->no_memory |= !seen;
	if (!seen)
		return;
	*seen = is_new ? SEEN_ONCE : SEEN_AGAIN;
	if (!is_new)
		return;
	enter(w);
	if (value->type == GB_VIEW)
		count_references(w, value->view.buffer);
	else if (value->type == GB_ERROR && gb_error_has_parts(value))
		for (size_t i = 0; i < value->texts[2]->list.used; i++)
			count_references(w, value->texts[2]->list.slots[i]);
	else if (gb_value_is_container(value))
		for (size_t i = 0; i < value->list.used; i++)
			count_references(w, value->list.slots[i]);
	w->depth--;
}

static uint32_t *seen(struct writer *w, const struct gb_value *value) {
	bool is_new;
	return gb_identity_at(&w->seen, value, &is_new);
}

static void write_line_end(struct writer *w) {
	if (w->indent == 0)
		return;
	size_t n = (size_t)w->depth * w->indent;
	char *at = gb_buf_reserve(&w->out, 1 + n);
	if (!at)
		return;
	at[0] = '\n';
	memset(at + 1, ' ', n);
	w->out.len += 1 + n;
}

static void begin(struct writer *w, char bracket) {
	gb_buf_append_char(&w->out, bracket);
	enter(w);
	w->empty = true;
}

static void begin_item(struct writer *w) {
	if (!w->empty)
		gb_buf_append_char(&w->out, ',');
	w->empty = false;
	write_line_end(w);
}

static void end(struct writer *w, char bracket) {
	w->depth--;
	if (!w->empty)
		write_line_end(w);
	gb_buf_append_char(&w->out, bracket);
	w->empty = false;
}

static void begin_field(struct writer *w, struct gb_str name) {
	begin_item(w);
	gb_json_append_string(&w->out, name);
	gb_buf_append(&w->out, ": ", w->indent ? 2 : 1);
}

static void write_text_field(struct writer *w, const char *name, struct gb_str text) {
	begin_field(w, gb_str_from(name));
	gb_json_append_string(&w->out, text);
}

static void write_number_field(struct writer *w, const char *name, size_t number) {
	begin_field(w, gb_str_from(name));
	gb_buf_printf(&w->out, "%zu", number);
}

static void begin_tagged(struct writer *w, const char *type) {
	begin(w, '{');
	write_text_field(w, "$type", gb_str_from(type));
}

static void write_base64_field(struct writer *w, const void *bytes, size_t n) {
	begin_field(w, GB_STR("data"));
	gb_buf_append_char(&w->out, '"');
	gb_base64_append(&w->out, bytes, n);
	gb_buf_append_char(&w->out, '"');
}

/* @is_float: a whole number has a point, too. */
static void write_number(struct writer *w, double number, bool is_float) {
	char text[GB_NUMBER_TEXT];
	bool minus_zero = number == 0 && signbit(number);
	size_t n = gb_number_format(text, number);
	if (isfinite(number) && (!minus_zero || w->is_plain)) {
		gb_buf_append(&w->out, text, n);
		gb_buf_append(&w->out, ".0", is_float ? 2 : 0);
		return;
	}
	begin_tagged(w, "number");
	write_text_field(w, "value", minus_zero ? GB_STR("-0") : (struct gb_str){text, n});
	end(w, '}');
}

static void write_bigint(struct writer *w, const struct gb_value *value) {
	begin_tagged(w, "bigint");
	begin_field(w, GB_STR("value"));
	gb_buf_append_char(&w->out, '"');
	gb_bigint_format(&w->out, value);
	gb_buf_append_char(&w->out, '"');
	end(w, '}');
}

static void write_date(struct writer *w, const struct gb_value *value) {
	char text[GB_DATE_TEXT];
	begin_tagged(w, "Date");
	if (isnan(value->number)) {
		begin_field(w, GB_STR("value"));
		gb_buf_append(&w->out, "null", 4);
	} else {
		write_text_field(w, "value", (struct gb_str){text, gb_date_format(text, value->number)});
	}
	end(w, '}');
}

static void write_elements(struct writer *w, const struct gb_value *value) {
	begin(w, '[');
	for (size_t i = 0; i < value->list.used; i++) {
		begin_item(w);
		write_value(w, value->list.slots[i]);
	}
	end(w, ']');
}

static void write_pairs(struct writer *w, const struct gb_value *value) {
	begin_field(w, GB_STR("entries"));
	begin(w, '[');
	for (size_t i = 0; i < value->list.used; i += 2) {
		begin_item(w);
		begin(w, '[');
		begin_item(w);
		write_value(w, value->list.slots[i]);
		begin_item(w);
		write_value(w, value->list.slots[i + 1]);
		end(w, ']');
	}
	end(w, ']');
}

static void write_object(struct writer *w, const struct gb_value *value) {
	if (!w->is_plain && gb_value_get(value, "$type")) {
		begin_tagged(w, "Object");
		write_pairs(w, value);
		end(w, '}');
		return;
	}
	begin(w, '{');
	for (size_t i = 0; i < value->list.used; i += 2) {
		begin_field(w, value->list.slots[i]->bytes);
		write_value(w, value->list.slots[i + 1]);
	}
	end(w, '}');
}

static void write_view(struct writer *w, const struct gb_value *value) {
	const struct gb_value *buffer = value->view.buffer;
	size_t n;
	const char *bytes = gb_value_bytes(value, &n);
	begin_tagged(w, gb_view_infos[value->kind].name);
	if (n == buffer->bytes.n && *seen(w, buffer) == SEEN_ONCE) {
		write_base64_field(w, bytes, n);
	} else {
		begin_field(w, GB_STR("buffer"));
		write_value(w, buffer);
		write_number_field(w, "byteOffset", value->view.offset);
		write_number_field(w, "length", value->view.length);
	}
	end(w, '}');
}

static void write_error(struct writer *w, const struct gb_value *value) {
	static const char *const names[GB_ERROR_PARTS] = {"stack", "cause", "errors"};
	begin_tagged(w, "Error");
	write_text_field(w, "name", value->texts[0]->bytes);
	write_text_field(w, "message", value->texts[1]->bytes);
	for (enum gb_error_part part = GB_ERROR_STACK; part < GB_ERROR_PARTS; part++) {
		const struct gb_value *item = gb_error_part(value, part);
		if (!item)
			continue;
		begin_field(w, gb_str_from(names[part]));
		write_value(w, item);
	}
	end(w, '}');
}

static void write_regexp(struct writer *w, const struct gb_value *value) {
	begin_tagged(w, "RegExp");
	write_text_field(w, "source", value->texts[0]->bytes);
	write_text_field(w, "flags", value->texts[1]->bytes);
	end(w, '}');
}

/* Write a value with identity, without its "shared" wrapper. */
static void write_contents(struct writer *w, const struct gb_value *value) {
	switch ((enum gb_type)value->type) {
	case GB_ARRAY:
		write_elements(w, value);
		return;
	case GB_OBJECT:
		write_object(w, value);
		return;
	case GB_MAP:
		begin_tagged(w, "Map");
		write_pairs(w, value);
		end(w, '}');
		return;
	case GB_SET:
		begin_tagged(w, "Set");
		begin_field(w, GB_STR("values"));
		write_elements(w, value);
		end(w, '}');
		return;
	case GB_DATE:
		write_date(w, value);
		return;
	case GB_BUFFER:
		begin_tagged(w, "ArrayBuffer");
		write_base64_field(w, value->bytes.p, value->bytes.n);
		end(w, '}');
		return;
	case GB_VIEW:
		write_view(w, value);
		return;
	case GB_ERROR:
		write_error(w, value);
		return;
	default:
		write_regexp(w, value);
	}
}

static void write_with_identity(struct writer *w, const struct gb_value *value) {
	uint32_t *state = seen(w, value);
	if (*state == SEEN_ONCE) {
		write_contents(w, value);
		return;
	}
	bool first = *state == SEEN_AGAIN;
	if (first)
		*state = FIRST_ID + w->next_id++;
	begin_tagged(w, first ? "shared" : "ref");
	write_number_field(w, "id", *state - FIRST_ID);
	if (first) {
		begin_field(w, GB_STR("value"));
		write_contents(w, value);
	}
	end(w, '}');
}

static void write_callable(struct writer *w, const struct gb_value *value) {
	begin_tagged(w, value->type == GB_FUNCTION ? "function" : "promise");
	write_number_field(w, "id", value->callable.id);
	if (value->flag)
		write_text_field(w, "owner", GB_STR("sandbox"));
	if (value->callable.name)
		write_text_field(w, "name", value->callable.name->bytes);
	end(w, '}');
}

static void write_value(struct writer *w, const struct gb_value *value) {
	if (stopped(w))
		return;
	switch ((enum gb_type)value->type) {
	case GB_UNDEFINED:
	case GB_HOLE:
		begin_tagged(w, value->type == GB_HOLE ? "hole" : "undefined");
		end(w, '}');
		return;
	case GB_NULL:
		gb_buf_append(&w->out, "null", 4);
		return;
	case GB_BOOLEAN:
		gb_buf_append_str(&w->out, value->flag ? GB_STR("true") : GB_STR("false"));
		return;
	case GB_NUMBER:
		write_number(w, value->number, value->flag);
		return;
	case GB_BIGINT:
		write_bigint(w, value);
		return;
	case GB_STRING:
		gb_json_append_string(&w->out, value->bytes);
		return;
	case GB_FUNCTION:
	case GB_PROMISE:
		write_callable(w, value);
		return;
	default:
		write_with_identity(w, value);
	}
}

static bool report(const struct writer *w, struct gb_err *err) {
	if (w->too_deep)
		return gb_fail(
		    err, GB_ELIMIT, 0, "value nests deeper than %d levels of JSON", GB_JSON_MAX_DEPTH);
	if (w->no_memory)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory while writing JSON");
	return gb_fail(
	    err, GB_ELIMIT, 0, "the JSON exceeds %d bytes or the available memory", GB_JSON_MAX_BYTES);
}

/* Both passes. The caller owns w->out afterwards. */
static bool write_all(struct writer *w, const struct gb_value *value, struct gb_err *err) {
	if (!value)
		return gb_fail(err, GB_EINVAL, 0, "no value to write as JSON");
	count_references(w, value);
	write_value(w, value);
	gb_identity_finish(&w->seen);
	return !stopped(w) || report(w, err);
}

bool gb_json_write(struct gb_buf *out, const struct gb_value *value, uint32_t *next_id, struct gb_err *err) {
	struct writer w = {.out = *out, .next_id = *next_id};
	bool ok = write_all(&w, value, err);
	*out = w.out;
	*next_id = w.next_id;
	return ok;
}

bool gb_json_write_plain(struct gb_buf *out, const struct gb_value *value, struct gb_err *err) {
	struct writer w = {.out = *out, .is_plain = true};
	bool ok = write_all(&w, value, err);
	*out = w.out;
	return ok;
}

char *gb_value_to_json(const struct gb_value *value, unsigned indent, size_t *ret_n, struct gb_err *err) {
	struct writer w = {.indent = indent < MAX_INDENT ? indent : MAX_INDENT};
	gb_buf_init(&w.out, GB_JSON_MAX_BYTES);
	if (!write_all(&w, value, err) || !gb_buf_c_str(&w.out)) {
		gb_buf_finish(&w.out);
		return NULL;
	}
	if (ret_n)
		*ret_n = w.out.len;
	return w.out.data;
}
