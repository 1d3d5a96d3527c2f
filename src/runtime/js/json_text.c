#include "runtime/js/json_text.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "json_text_script.h"

static const char mark[] = "…[truncated]";

JSValue gb_js_json_writer(struct gb_js *js) {
	const struct gb_str script = {(const char *)gb_js_json_text_script, sizeof gb_js_json_text_script};
	return gb_js_call_script(js, "glovebox:json_text", script, 0, NULL);
}

/* The longest prefix of at most @max bytes that ends between characters. */
static size_t whole_characters(const char *text, size_t max) {
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

static JSValue cut_text(JSContext *ctx, const char *text, size_t max) {
	size_t n = max < strlen(mark) ? 0 : whole_characters(text, max - strlen(mark));
	gb_auto_buf struct gb_buf kept;
	gb_buf_init(&kept, max + sizeof mark);
	gb_buf_append(&kept, text, n);
	gb_buf_append(&kept, mark, max < strlen(mark) ? 0 : strlen(mark));
	return gb_buf_failed(&kept) ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, kept.data, kept.len);
}

JSValue gb_js_json_text(
    struct gb_js *js, JSValueConst writer, JSValueConst value, size_t max, bool *ret_cut) {
	JSContext *ctx = js->guest;
	size_t n;
	JSValue limit = JS_NewInt64(ctx, (int64_t)max);
	JSValueConst arguments[] = {value, limit};
	JSValue text = JS_Call(ctx, writer, JS_UNDEFINED, 2, arguments);
	const char *bytes = JS_IsException(text) ? NULL : JS_ToCStringLen(ctx, &n, text);
	if (!bytes) {
		JS_FreeValue(ctx, text);
		return JS_EXCEPTION;
	}
	*ret_cut = n > max;
	if (*ret_cut) {
		JS_FreeValue(ctx, text);
		text = cut_text(ctx, bytes, max);
	}
	JS_FreeCString(ctx, bytes);
	return text;
}
