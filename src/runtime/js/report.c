#include "runtime/js/report.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/failure.h"
#include "runtime/js/modules.h"

enum { STACK_MAX = 256 << 10 };

/* The position in the first line of @stack that has one in the caller's code. */
static void find_position(const char *stack, char *filename, size_t n, struct gb_failure *ret) {
	for (const char *line = stack; *line; line += strspn(line, "\n")) {
		size_t length = strcspn(line, "\n");
		struct gb_js_stack_line parsed;
		if (gb_js_stack_line_parse(line, length, &parsed) && !gb_js_stack_line_is_ours(&parsed)) {
			/* Longer names are omitted: the redaction of secrets would miss a partial one. */
			if (parsed.n_file < n) {
				snprintf(filename, n, "%.*s", (int)parsed.n_file, parsed.file);
				ret->filename = filename;
			}
			ret->line = parsed.line;
			ret->column = parsed.column;
			return;
		}
		line += length;
	}
}

/* A property as text, or NULL. Guest code may run here and may throw. */
static const char *text_property(JSContext *ctx, JSValueConst object, const char *name, size_t *ret_n) {
	JSValue value = JS_IsObject(object) ? JS_GetPropertyStr(ctx, object, name) : JS_UNDEFINED;
	const char *text = JS_IsString(value) ? JS_ToCStringLen(ctx, ret_n, value) : NULL;
	if (JS_HasException(ctx))
		JS_FreeValue(ctx, JS_GetException(ctx));
	JS_FreeValue(ctx, value);
	return text;
}

/* Text of a thrown value that is not an error. */
static const char *text_of(JSContext *ctx, JSValueConst thrown, size_t *ret_n) {
	JSValue json = JS_UNDEFINED;
	if (JS_IsObject(thrown) && !JS_IsFunction(ctx, thrown))
		json = JS_JSONStringify(ctx, thrown, JS_UNDEFINED, JS_UNDEFINED);
	const char *text = JS_ToCStringLen(ctx, ret_n, JS_IsString(json) ? json : thrown);
	if (JS_HasException(ctx))
		JS_FreeValue(ctx, JS_GetException(ctx));
	JS_FreeValue(ctx, json);
	return text;
}

/* A failed import is reported at its position, unless the error is inside the imported module. */
static void locate_link_error(const struct gb_js_modules *modules, struct gb_failure *failure) {
	if (!modules->specifier[0])
		return;
	failure->specifier = modules->specifier;
	if (failure->line)
		return;
	failure->filename = modules->importer;
	failure->line = modules->line;
	failure->column = modules->column;
}

void gb_js_write_exception(struct gb_buf *out, struct gb_js *js, JSContext *ctx, enum gb_wire_status status,
    size_t peak_memory, bool truncated) {
	JSValue thrown = JS_GetException(ctx);
	bool is_error = JS_IsError(thrown);
	size_t n_name = 0, n_message = 0, n_stack = 0;
	const char *name = is_error ? text_property(ctx, thrown, "name", &n_name) : NULL;
	const char *message =
	    is_error ? text_property(ctx, thrown, "message", &n_message) : text_of(ctx, thrown, &n_message);
	const char *stack = is_error ? text_property(ctx, thrown, "stack", &n_stack) : NULL;
	gb_auto_buf struct gb_buf mapped;
	gb_buf_init(&mapped, STACK_MAX);
	/* The engine's own stacks contain no NUL: such a stack was set by the code and is passed on
	 * unchanged. */
	bool is_own = stack && !memchr(stack, '\0', n_stack);
	bool is_mapped = is_own && js->modules;
	if (is_mapped)
		gb_js_source_map_stack(&js->modules->sources, stack, &mapped);
	struct gb_failure failure = {
	    .name = name ? name : "Error",
	    .message = message ? message : "a value that cannot be shown was thrown",
	    .stack = is_mapped ? gb_buf_c_str(&mapped) : stack,
	    .name_bytes = name ? n_name : 0,
	    .message_bytes = message ? n_message : 0,
	    .stack_bytes = is_own ? 0 : n_stack,
	};
	char filename[1024];
	if (failure.stack)
		find_position(failure.stack, filename, sizeof filename, &failure);
	if (status == GB_WIRE_LINK_ERROR && js->modules)
		locate_link_error(js->modules, &failure);
	gb_failure_write(out, status, peak_memory, truncated, &failure);
	JS_FreeCString(ctx, name);
	JS_FreeCString(ctx, message);
	JS_FreeCString(ctx, stack);
	JS_FreeValue(ctx, thrown);
}
