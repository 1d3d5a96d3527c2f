#include "runtime/js/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/js/modules.h"
#include "value/cbor.h"
#include "value/frame.h"

/* Texts of an error are for people: beyond this they are cut. */
enum { TEXT_MAX = 64 << 10 };

static void write_text(struct gb_buf *out, const char *text) {
	if (!text) {
		gb_cbor_simple(out, GB_SIMPLE_NULL);
		return;
	}
	size_t n = strnlen(text, TEXT_MAX);
	/* Not in the middle of a character. */
	if (n == TEXT_MAX)
		while (n > 0 && (text[n] & 0xc0) == 0x80)
			n--;
	gb_cbor_string(out, text, n);
}

void gb_js_write_failure(struct gb_buf *out, enum gb_wire_status status, size_t peak_memory, bool truncated,
    const struct gb_js_failure *failure) {
	size_t mark = gb_frame_begin(out, GB_FRAME_RESULT);
	gb_cbor_unsigned(out, status);
	gb_cbor_unsigned(out, peak_memory);
	gb_cbor_simple(out, truncated ? GB_SIMPLE_TRUE : GB_SIMPLE_FALSE);
	gb_cbor_array(out, GB_WIRE_ERROR_FIELDS);
	write_text(out, failure->name);
	write_text(out, failure->message);
	write_text(out, failure->stack);
	write_text(out, failure->code);
	write_text(out, failure->specifier);
	write_text(out, failure->filename);
	gb_cbor_unsigned(out, failure->line);
	gb_cbor_unsigned(out, failure->column);
	gb_frame_end(out, mark);
}

/* "    at f (file.js:3:9)" or "    at file.js:3:9": the first line of @stack that has a position. */
static void find_position(const char *stack, char *filename, size_t n, struct gb_js_failure *ret) {
	for (const char *line = stack; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		size_t length = strcspn(line, "\n");
		if (length && line[length - 1] == ')')
			length--;
		char copy[1024];
		if (length >= sizeof copy)
			continue;
		memcpy(copy, line, length);
		copy[length] = '\0';
		char *column = strrchr(copy, ':');
		if (column)
			*column++ = '\0';
		char *row = column ? strrchr(copy, ':') : NULL;
		if (!row)
			continue;
		*row++ = '\0';
		unsigned long at_line = strtoul(row, NULL, 10), at_column = strtoul(column, NULL, 10);
		const char *open = strchr(copy, '('), *at = strstr(copy, "at ");
		const char *name = open ? open + 1 : at ? at + 3 : NULL;
		if (!at_line || !name)
			continue;
		snprintf(filename, n, "%s", name);
		ret->filename = filename;
		ret->line = (unsigned)at_line;
		ret->column = (unsigned)at_column;
		return;
	}
}

/* A property as text, or NULL. Guest code may run here, and may throw. */
static const char *text_property(JSContext *ctx, JSValueConst object, const char *name) {
	JSValue value = JS_IsObject(object) ? JS_GetPropertyStr(ctx, object, name) : JS_UNDEFINED;
	const char *text = JS_IsString(value) ? JS_ToCString(ctx, value) : NULL;
	if (JS_HasException(ctx))
		JS_FreeValue(ctx, JS_GetException(ctx));
	JS_FreeValue(ctx, value);
	return text;
}

/* What was thrown, as text, when it is not an error: anything can be. */
static const char *text_of(JSContext *ctx, JSValueConst thrown) {
	JSValue json = JS_UNDEFINED;
	if (JS_IsObject(thrown) && !JS_IsFunction(ctx, thrown))
		json = JS_JSONStringify(ctx, thrown, JS_UNDEFINED, JS_UNDEFINED);
	const char *text = JS_IsString(json) ? JS_ToCString(ctx, json) : JS_ToCString(ctx, thrown);
	if (JS_HasException(ctx))
		JS_FreeValue(ctx, JS_GetException(ctx));
	JS_FreeValue(ctx, json);
	return text;
}

void gb_js_write_exception(struct gb_buf *out, struct gb_js *js, JSContext *ctx, enum gb_wire_status status,
    size_t peak_memory, bool truncated) {
	JSValue thrown = JS_GetException(ctx);
	bool is_error = JS_IsError(thrown);
	const char *name = is_error ? text_property(ctx, thrown, "name") : NULL;
	const char *message = is_error ? text_property(ctx, thrown, "message") : text_of(ctx, thrown);
	const char *stack = is_error ? text_property(ctx, thrown, "stack") : NULL;
	struct gb_js_failure failure = {
	    .name = name ? name : "Error",
	    .message = message ? message : "a value that cannot be shown was thrown",
	    .stack = stack,
	};
	char filename[1024];
	if (stack)
		find_position(stack, filename, sizeof filename, &failure);
	if (status == GB_WIRE_LINK_ERROR && js->modules && js->modules->specifier[0]) {
		failure.specifier = js->modules->specifier;
		if (!failure.filename)
			failure.filename = js->modules->importer;
	}
	gb_js_write_failure(out, status, peak_memory, truncated, &failure);
	JS_FreeCString(ctx, name);
	JS_FreeCString(ctx, message);
	JS_FreeCString(ctx, stack);
	JS_FreeValue(ctx, thrown);
}
