#include "mcp/jsonrpc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "value/json.h"
#include "value/text.h"

#define WHOLE_MAX 0x1fffffffffffffp0

size_t gb_jsonrpc_memory(size_t n) {
	enum { VALUES_MAX = 1 << 20, VALUE_BYTES = 128, SLACK = 64 << 10 };
	/* A JSON value has at least two bytes, counting a comma; and the number of values in a message is limited. */
	size_t values = n / 2 < VALUES_MAX ? n / 2 : VALUES_MAX;
	return values * VALUE_BYTES + n * 2 + SLACK;
}

bool gb_jsonrpc_fail(struct gb_jsonrpc_failure *failure, int code, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(failure->message, sizeof failure->message, format, ap);
	va_end(ap);
	/* A text that was cut ends with a whole character. */
	const struct gb_str text = {failure->message, strnlen(failure->message, sizeof failure->message)};
	failure->message[gb_text_fit(text, text.n)] = '\0';
	failure->code = code;
	return false;
}

const char *gb_jsonrpc_text(const struct gb_value *value) {
	size_t n;
	const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, &n) : NULL;
	return text && !memchr(text, '\0', n) ? text : NULL;
}

bool gb_jsonrpc_id(const struct gb_value *id, char ret[GB_JSONRPC_ID_TEXT]) {
	if (gb_value_type(id) == GB_NUMBER) {
		double number = gb_value_as_number(id);
		if (!(fabs(number) <= WHOLE_MAX) || trunc(number) != number)
			return false;
		snprintf(ret, GB_JSONRPC_ID_TEXT, "%.0f", number == 0 ? 0 : number);
		return true;
	}
	size_t n = 0;
	const char *bytes = gb_value_type(id) == GB_STRING ? gb_value_bytes(id, &n) : NULL;
	if (!bytes || n > GB_JSONRPC_ID_MAX)
		return false;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_JSONRPC_ID_TEXT - 1);
	gb_json_append_string(&text, (struct gb_str){bytes, n});
	const char *json = gb_buf_c_str(&text);
	if (json)
		memcpy(ret, json, text.len + 1);
	return json;
}

void gb_jsonrpc_write_failure(struct gb_buf *out, const struct gb_jsonrpc_failure *failure) {
	gb_buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":",
	    *failure->id ? failure->id : "null", failure->code);
	gb_json_append_bytes(out, gb_str_from(failure->message));
	if (*failure->data)
		gb_buf_printf(out, ",\"data\":%s", failure->data);
	gb_buf_printf(out, "}}");
}

/* --- reading --- */

/* A response with an id that is none of ours is ignored later; here its form is checked. */
static bool read_response(
    const struct gb_value *object, struct gb_jsonrpc *ret, struct gb_jsonrpc_failure *failure) {
	ret->kind = GB_JSONRPC_RESPONSE;
	ret->result = gb_value_get(object, "result");
	ret->error = gb_value_get(object, "error");
	if (!ret->result && !ret->error)
		return gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_REQUEST, "method is missing");
	if (ret->result && ret->error)
		return gb_jsonrpc_fail(
		    failure, GB_JSONRPC_INVALID_REQUEST, "a response has a result or an error, not both");
	return ret->id || gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_REQUEST, "id is missing");
}

static bool read_call(const struct gb_value *object, const struct gb_value *method, struct gb_jsonrpc *ret,
    struct gb_jsonrpc_failure *failure) {
	const char *name = gb_jsonrpc_text(method);
	ret->kind = ret->id ? GB_JSONRPC_REQUEST : GB_JSONRPC_NOTIFICATION;
	if (!name || strlen(name) > GB_JSONRPC_METHOD_MAX)
		return gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_REQUEST,
		    "method must be a text of at most %d bytes", GB_JSONRPC_METHOD_MAX);
	ret->method = gb_str_from(name);
	ret->params = gb_value_get(object, "params");
	/* A notification has no response, not even an error. */
	if (ret->kind == GB_JSONRPC_NOTIFICATION && gb_value_type(ret->params) != GB_OBJECT)
		ret->params = NULL;
	return !ret->params || gb_value_type(ret->params) == GB_OBJECT ||
	       gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_PARAMS, "params must be an object");
}

static bool read_object(
    const struct gb_value *object, struct gb_jsonrpc *ret, struct gb_jsonrpc_failure *failure) {
	const struct gb_value *method = gb_value_get(object, "method");
	const char *version = gb_jsonrpc_text(gb_value_get(object, "jsonrpc"));
	ret->id = gb_value_get(object, "id");
	if (ret->id && !gb_jsonrpc_id(ret->id, failure->id)) {
		memcpy(failure->id, "null", sizeof "null");
		return gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_REQUEST,
		    "id must be a whole number, or a text of at most %d bytes", GB_JSONRPC_ID_MAX);
	}
	if (!version || strcmp(version, "2.0") != 0)
		return gb_jsonrpc_fail(failure, GB_JSONRPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
	return method ? read_call(object, method, ret, failure) : read_response(object, ret, failure);
}

bool gb_jsonrpc_read(struct gb_values *pool, const char *text, size_t n, struct gb_jsonrpc *ret,
    struct gb_jsonrpc_failure *ret_failure) {
	struct gb_err err = {0};
	struct gb_jsonrpc message = {0};
	*ret_failure = (struct gb_jsonrpc_failure){.id = "null"};
	const struct gb_value *value = pool ? gb_value_from_unique_json(pool, text, n, &err) : NULL;
	if (!value && err.code == GB_EFORMAT)
		return gb_jsonrpc_fail(ret_failure, GB_JSONRPC_PARSE, "%s", err.message);
	if (!value)
		return gb_jsonrpc_fail(ret_failure, GB_JSONRPC_INVALID_REQUEST,
		    "the message has more values than a message may");
	if (gb_value_type(value) == GB_ARRAY)
		return gb_jsonrpc_fail(ret_failure, GB_JSONRPC_INVALID_REQUEST,
		    "batches are not supported: send one message a line");
	if (gb_value_type(value) != GB_OBJECT)
		return gb_jsonrpc_fail(ret_failure, GB_JSONRPC_INVALID_REQUEST, "a message is an object");
	if (!read_object(value, &message, ret_failure))
		return false;
	*ret = message;
	return true;
}
