#include "runtime/js/web.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "egress/fetch.h"
#include "runtime/js/bridge.h"
#include "sandbox/worker.h"
#include "value/cbor.h"
#include "web_script.h"

/* What the script gives back. */
enum callback { ON_MESSAGE, ON_TIMER, ON_LOST, ON_END, CALLBACKS };
static const char *const callback_names[CALLBACKS] = {"message", "timer", "lost", "end"};

static struct {
	bool installed;
	bool lost; /* glovebox-egress has closed the channel */
	JSValue callbacks[CALLBACKS];
	unsigned n_live;    /* requests that may still change something */
	double deadline_ms; /* of the first timer; infinite: there is none */
} web = {.deadline_ms = INFINITY};

static double now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* --- functions for the script --- */

static bool send_message(enum gb_fetch_kind kind, uint32_t id, const void *bytes, size_t n) {
	static char message[GB_FETCH_MESSAGE_MAX];
	const struct gb_fetch_message head = {kind, id};
	ssize_t sent;
	if (n > sizeof message - sizeof head)
		return false;
	memcpy(message, &head, sizeof head);
	if (n)
		memcpy(message + sizeof head, bytes, n);
	do
		sent = send(GB_FD_FETCH, message, sizeof head + n, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

/* A text of code points up to 255, as bytes. */
static bool append_latin1(JSContext *ctx, struct gb_buf *out, JSValueConst text, struct gb_str *ret) {
	size_t n;
	const char *utf8 = JS_ToCStringLen(ctx, &n, text);
	const size_t from = out->len;
	for (size_t i = 0; utf8 && i < n; i++) {
		const unsigned char c = (unsigned char)utf8[i];
		if (c < 0x80)
			gb_buf_append_char(out, (char)c);
		else if (i + 1 < n && (c & 0xfc) == 0xc0)
			gb_buf_append_char(out, (char)((c & 3) << 6 | (utf8[++i] & 0x3f)));
		else
			out->failed = true;
	}
	*ret = (struct gb_str){NULL, out->len - from};
	JS_FreeCString(ctx, utf8);
	return utf8;
}

/* Where the texts of a request are until it is written: pointers are set when all bytes are there. */
static bool read_request(
    JSContext *ctx, JSValueConst *argv, struct gb_buf *bytes, struct gb_fetch_open *open) {
	int32_t tls = 0, port = 0;
	int64_t n = 0;
	double length = 0;
	if (!append_latin1(ctx, bytes, argv[1], &open->method) || JS_ToInt32(ctx, &tls, argv[2]) < 0 ||
	    !append_latin1(ctx, bytes, argv[3], &open->host) || JS_ToInt32(ctx, &port, argv[4]) < 0 ||
	    !append_latin1(ctx, bytes, argv[5], &open->target) || JS_ToFloat64(ctx, &length, argv[7]) < 0 ||
	    JS_GetLength(ctx, argv[6], &n) < 0)
		return false;
	open->tls = tls;
	open->port = (uint16_t)port;
	open->body = length == -1 ? GB_FETCH_NO_BODY : length == -2 ? GB_FETCH_STREAM : GB_FETCH_SIZED;
	open->length = length > 0 ? (uint64_t)length : 0;
	if (n % 2 != 0 || n / 2 > GB_FETCH_HEADERS_MAX) {
		JS_ThrowTypeError(ctx, "a request has at most %d headers", GB_FETCH_HEADERS_MAX);
		return false;
	}
	open->n_headers = (size_t)n / 2;
	for (uint32_t i = 0; i < n; i++) {
		struct gb_fetch_header *header = &open->headers[i / 2];
		JSValue text = JS_GetPropertyUint32(ctx, argv[6], i);
		const bool ok = append_latin1(ctx, bytes, text, i % 2 ? &header->value : &header->name);
		JS_FreeValue(ctx, text);
		if (!ok)
			return false;
	}
	return true;
}

static void set_pointers(const struct gb_buf *bytes, struct gb_fetch_open *open) {
	const char *at = bytes->data;
	struct gb_str *texts[] = {&open->method, &open->host, &open->target};
	for (size_t i = 0; i < GB_COUNT(texts); at += texts[i++]->n)
		texts[i]->p = at;
	for (size_t i = 0; i < open->n_headers; i++) {
		open->headers[i].name.p = at;
		open->headers[i].value.p = at + open->headers[i].name.n;
		at = open->headers[i].value.p + open->headers[i].value.n;
	}
}

/* open(id, method, tls, host, port, target, headers, length): length is -1 without a body, -2 if it is not known. */
static JSValue web_open(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	static struct gb_fetch_open open;
	gb_auto_buf struct gb_buf bytes, out;
	uint32_t id;
	gb_buf_init(&bytes, GB_FETCH_MESSAGE_MAX);
	gb_buf_init(&out, GB_FETCH_MESSAGE_MAX);
	if (JS_ToUint32(ctx, &id, argv[0]) < 0 || !read_request(ctx, argv, &bytes, &open))
		return JS_EXCEPTION;
	set_pointers(&bytes, &open);
	gb_fetch_write_open(&out, &open);
	if (gb_buf_failed(&bytes) || gb_buf_failed(&out))
		return JS_ThrowTypeError(ctx, "the URL and the headers of a request are too long");
	return JS_NewBool(ctx, !web.lost && send_message(GB_FETCH_OPEN, id, out.data, out.len));
}

/* send(kind, id, bytes?) */
static JSValue web_send(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	uint32_t kind, id, credit;
	size_t n = 0;
	const uint8_t *bytes = NULL;
	if (JS_ToUint32(ctx, &kind, argv[0]) < 0 || JS_ToUint32(ctx, &id, argv[1]) < 0)
		return JS_EXCEPTION;
	if (kind == GB_FETCH_CREDIT) {
		if (JS_ToUint32(ctx, &credit, argv[2]) < 0)
			return JS_EXCEPTION;
		bytes = (const uint8_t *)&credit;
		n = sizeof credit;
	} else if (kind == GB_FETCH_DATA && !(bytes = JS_GetUint8Array(ctx, &n, argv[2]))) {
		return JS_EXCEPTION;
	}
	return JS_NewBool(ctx, !web.lost && send_message((enum gb_fetch_kind)kind, id, bytes, n));
}

/* live(count): so many requests wait. */
static JSValue web_live(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	return JS_ToUint32(ctx, &web.n_live, argv[0]) < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

/* deadline(time of now(), or Infinity) */
static JSValue web_deadline(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	return JS_ToFloat64(ctx, &web.deadline_ms, argv[0]) < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

static JSValue web_now(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	return JS_NewFloat64(ctx, now_ms());
}

/* An exception that nothing can catch, as in a microtask. */
static JSValue web_report(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	gb_js_keep_uncaught(JS_GetRuntimeOpaque(JS_GetRuntime(ctx)), JS_DupValue(ctx, argv[0]));
	return JS_UNDEFINED;
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("open", 8, web_open),
    JS_CFUNC_DEF("send", 3, web_send),
    JS_CFUNC_DEF("live", 1, web_live),
    JS_CFUNC_DEF("deadline", 1, web_deadline),
    JS_CFUNC_DEF("now", 0, web_now),
    JS_CFUNC_DEF("report", 1, web_report),
};

/* --- installing --- */

bool gb_js_web_install(struct gb_js *js) {
	const struct gb_str script = {(const char *)gb_js_web_script, sizeof gb_js_web_script};
	JSContext *ctx = js->guest;
	JSValue native = JS_NewObject(ctx);
	JS_SetPropertyFunctionList(ctx, native, functions, GB_COUNT(functions));
	JSValue made = gb_js_web_add_bytes(ctx, native)
			   ? gb_js_call_script(js, "glovebox:web", script, 1, (JSValueConst[]){native})
			   : JS_EXCEPTION;
	JS_FreeValue(ctx, native);
	web.installed = !JS_IsException(made);
	for (int i = 0; i < CALLBACKS && web.installed; i++)
		web.callbacks[i] = JS_GetPropertyStr(ctx, made, callback_names[i]);
	JS_FreeValue(ctx, made);
	return web.installed;
}

void gb_js_web_drop(struct gb_js *js) {
	for (int i = 0; i < CALLBACKS && web.installed; i++)
		JS_FreeValue(js->guest, web.callbacks[i]);
	web.installed = false;
	web.n_live = 0;
	web.deadline_ms = INFINITY;
}

static void call(struct gb_js *js, enum callback which, int argc, JSValueConst *argv) {
	JSValue returned = JS_Call(js->guest, web.callbacks[which], JS_UNDEFINED, argc, argv);
	if (JS_IsException(returned))
		gb_js_keep_uncaught(js, JS_GetException(js->guest));
	else
		JS_FreeValue(js->guest, returned);
}

void gb_js_web_end_job(struct gb_js *js) {
	if (web.installed)
		call(js, ON_END, 0, NULL);
}

/* --- messages --- */

static JSValue latin1(JSContext *ctx, const uint8_t *bytes, size_t n) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 2 * n + 1);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] >= 0x80)
			gb_buf_append_char(&text, (char)(0xc0 | bytes[i] >> 6));
		gb_buf_append_char(&text, (char)(bytes[i] < 0x80 ? bytes[i] : 0x80 | (bytes[i] & 0x3f)));
	}
	return gb_buf_failed(&text) ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, text.data, text.len);
}

/* Append the next text to @list. glovebox-egress is trusted to be correct, and checked all the same. */
static bool take_text(JSContext *ctx, struct gb_cbor_reader *in, JSValueConst list, uint32_t i) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_BYTES)
		return false;
	return JS_DefinePropertyValueUint32(
		   ctx, list, i, latin1(ctx, item.bytes, item.argument), JS_PROP_C_W_E) >= 0;
}

/* [status, reason, name, value, …] */
static JSValue read_head(JSContext *ctx, const uint8_t *bytes, size_t n) {
	struct gb_cbor_reader in = gb_cbor_reader(bytes, n);
	struct gb_cbor_item item, status, count;
	JSValue list = JS_NewArray(ctx);
	bool ok = gb_cbor_next(&in, &item) && item.kind == GB_CBOR_ARRAY && gb_cbor_next(&in, &status) &&
		  JS_DefinePropertyValueUint32(
		      ctx, list, 0, JS_NewFloat64(ctx, status.number), JS_PROP_C_W_E) >= 0 &&
		  take_text(ctx, &in, list, 1) && gb_cbor_next(&in, &count) && count.kind == GB_CBOR_ARRAY;
	for (uint32_t i = 0; ok && i < count.argument; i++)
		ok = take_text(ctx, &in, list, i + 2);
	if (ok)
		return list;
	JS_FreeValue(ctx, list);
	return JS_UNDEFINED;
}

static JSValue read_payload(JSContext *ctx, uint32_t kind, const uint8_t *bytes, size_t n) {
	uint32_t credit;
	switch (kind) {
	case GB_FETCH_HEAD:
		return read_head(ctx, bytes, n);
	case GB_FETCH_DATA:
		return JS_NewUint8ArrayCopy(ctx, bytes, n);
	case GB_FETCH_FAIL:
		return latin1(ctx, bytes, n);
	case GB_FETCH_CREDIT:
		memcpy(&credit, bytes, n < sizeof credit ? n : sizeof credit);
		return JS_NewUint32(ctx, n == sizeof credit ? credit : 0);
	default:
		return JS_UNDEFINED;
	}
}

static void receive(struct gb_js *js) {
	static uint8_t bytes[GB_FETCH_MESSAGE_MAX];
	JSContext *ctx = js->guest;
	struct gb_fetch_message head;
	const ssize_t n = read(GB_FD_FETCH, bytes, sizeof bytes);
	if (n < 0 && errno == EINTR)
		return;
	if (n < (ssize_t)sizeof head) {
		web.lost = true;
		call(js, ON_LOST, 0, NULL);
		return;
	}
	memcpy(&head, bytes, sizeof head);
	JSValue arguments[] = {JS_NewUint32(ctx, head.kind), JS_NewUint32(ctx, head.id),
	    read_payload(ctx, head.kind, bytes + sizeof head, (size_t)n - sizeof head)};
	call(js, ON_MESSAGE, GB_COUNT(arguments), (JSValueConst *)arguments);
	JS_FreeValue(ctx, arguments[2]);
}

/* --- turns --- */

/* Wait until a descriptor is ready or the first timer is due. @fds has the bridge first. False if interrupted. */
static bool wait(struct pollfd fds[2], bool has_bridge) {
	const double left = web.deadline_ms - now_ms();
	const double ms = left < 0 ? 0 : left;
	const struct timespec timeout = {
	    .tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(fmod(ms, 1e3) * 1e6)};
	/* Without a bridge only the channel. */
	struct pollfd *from = has_bridge ? fds : fds + 1;
	nfds_t n = (nfds_t)(fds + 2 - from);
	if (web.lost)
		n--;
	return ppoll(from, n, isfinite(web.deadline_ms) ? &timeout : NULL, NULL) >= 0;
}

bool gb_js_web_turn(struct gb_js *js) {
	const bool has_bridge = gb_js_bridge_is_live(js);
	if (!web.installed)
		return gb_js_bridge_turn(js);
	if (!has_bridge && web.n_live == 0 && !isfinite(web.deadline_ms))
		return false;
	if (has_bridge && gb_js_bridge_has_frame(js))
		return gb_js_bridge_turn(js);
	struct pollfd fds[] = {
	    {.fd = js->bridge->fd, .events = POLLIN}, {.fd = GB_FD_FETCH, .events = POLLIN}};
	if (!wait(fds, has_bridge))
		return true;
	if (fds[1].revents)
		receive(js);
	else if (now_ms() >= web.deadline_ms)
		call(js, ON_TIMER, 0, NULL);
	else if (fds[0].revents)
		return gb_js_bridge_turn(js);
	return true;
}
