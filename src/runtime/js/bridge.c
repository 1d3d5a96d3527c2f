#include "runtime/js/bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/js/codec.h"
#include "runtime/wire.h"

enum { READ_STEP = 4 << 10, FRAME_SLACK = 64 };

void gb_js_bridge_open(struct gb_js *js, struct gb_js_bridge *bridge, int fd, const struct gb_job *job) {
	*bridge = (struct gb_js_bridge){
	    .fd = fd,
	};
	gb_call_budget_begin(&bridge->budget, job);
	gb_frame_reader_init(&bridge->reader, job->call + READ_STEP + FRAME_SLACK);
	gb_inbox_init(&bridge->inbox);
	js->bridge = bridge;
}

/* Make room for one more element. */
static bool grow(void *list, uint32_t used, uint32_t *cap, size_t size) {
	if (used < *cap)
		return true;
	uint32_t bigger = *cap ? *cap * 2 : 8;
	void *moved = realloc(*(void **)list, bigger * size);
	if (!moved)
		return false;
	*(void **)list = moved;
	*cap = bigger;
	return true;
}

/* --- received frames --- */

/* The next frame, blocking if none is buffered. Exits if the host has closed the connection. False if
 * interrupted. */
static bool wait_for_frame(struct gb_js *js, struct gb_frame *ret_frame) {
	struct gb_js_bridge *bridge = js->bridge;
	for (;;) {
		enum gb_frame_status status = gb_frame_reader_next(&bridge->reader, ret_frame);
		if (status == GB_FRAME_READY)
			return true;
		size_t room = 0, missing = gb_frame_reader_missing(&bridge->reader);
		char *into = NULL;
		if (status == GB_FRAME_MORE)
			into = gb_frame_reader_room(
			    &bridge->reader, missing > READ_STEP ? missing : READ_STEP, &room);
		ssize_t n = into ? read(bridge->fd, into, room) : -1;
		if (n < 0 && into && errno == EINTR) {
			if (js->interrupted)
				return false;
			continue;
		}
		if (n <= 0)
			_exit(0);
		gb_frame_reader_fed(&bridge->reader, (size_t)n);
	}
}

/* --- calls to the host --- */

static bool throw_exceeded(struct gb_js *js, struct gb_exceeded exceeded) {
	JS_ThrowRangeError(
	    js->guest, "%s (the limit is %llu)", exceeded.what, (unsigned long long)exceeded.limit);
	return false;
}

/* Append the call as a frame. */
static bool write_call(
    struct gb_js *js, struct gb_buf *out, uint32_t call, uint32_t function, JSValueConst arguments) {
	struct gb_exceeded exceeded;
	struct gb_call_frame frame = gb_call_begin(&js->bridge->budget, out, call, function);
	bool ok = gb_js_encode(js, arguments, frame.is_report ? GB_JS_STRICT : GB_JS_BRIDGED, "args", out);
	if (!ok && JS_HasException(js->guest))
		return false;
	return gb_call_end(&js->bridge->budget, &frame, ok, &exceeded) || throw_exceeded(js, exceeded);
}

/* Send a call, without waiting for the answer. */
static bool send_call(
    struct gb_js *js, uint32_t function, JSValueConst arguments, uint32_t *ret_call, size_t *ret_cost) {
	struct gb_js_bridge *bridge = js->bridge;
	struct gb_exceeded exceeded;
	gb_auto_buf struct gb_buf out;
	uint32_t call = bridge->next_call++;
	/* Getters of the guest may run here, and call the host themselves. */
	if (!write_call(js, &out, call, function, arguments))
		return false;
	size_t cost = out.len - GB_FRAME_HEAD;
	if (!gb_call_count(&bridge->budget, cost, bridge->n_pending, &exceeded))
		return throw_exceeded(js, exceeded);
	if (!gb_write_all(bridge->fd, out.data, out.len))
		_exit(0);
	*ret_call = call;
	*ret_cost = cost;
	return true;
}

/* A promise for the answer to @call. */
static JSValue make_pending(struct gb_js *js, uint32_t call, size_t cost) {
	struct gb_js_bridge *bridge = js->bridge;
	if (!grow(&bridge->pending, bridge->n_pending, &bridge->cap_pending, sizeof *bridge->pending))
		return JS_ThrowOutOfMemory(js->guest);
	struct gb_js_pending *pending = &bridge->pending[bridge->n_pending];
	JSValue promise = JS_NewPromiseCapability(js->guest, pending->settle);
	if (JS_IsException(promise))
		return promise;
	pending->call = call;
	pending->cost = cost;
	bridge->n_pending++;
	bridge->budget.in_flight_bytes += cost;
	return promise;
}

/* Uncatchable for the code. */
static JSValue throw_interrupted(struct gb_js *js) {
	JS_ThrowInternalError(js->guest, "interrupted");
	JSValue thrown = JS_GetException(js->guest);
	JS_SetUncatchableError(js->guest, thrown);
	return JS_Throw(js->guest, thrown);
}

/* Block until @call is answered. */
static JSValue wait_for_answer(struct gb_js *js, uint32_t call, size_t cost) {
	for (;;) {
		struct gb_frame frame;
		if (!wait_for_frame(js, &frame))
			return throw_interrupted(js);
		struct gb_cbor_reader in = gb_cbor_reader(frame.payload, frame.n);
		if (frame.type != GB_FRAME_ANSWER || gb_take_u32(&in) != call) {
			gb_inbox_keep(&js->bridge->inbox, &frame);
			continue;
		}
		uint32_t how = gb_take_u32(&in);
		if (how == GB_WIRE_PROMISED)
			return make_pending(js, call, cost);
		JSValue value = gb_js_decode(js, &in);
		return how == GB_WIRE_THROWN && !JS_IsException(value) ? JS_Throw(js->guest, value) : value;
	}
}

static JSValue make_list(JSContext *ctx, int argc, JSValueConst *argv) {
	JSValue list = JS_NewArray(ctx);
	for (int i = 0; i < argc && !JS_IsException(list); i++)
		JS_DefinePropertyValueUint32(
		    ctx, list, (uint32_t)i, JS_DupValue(ctx, argv[i]), JS_PROP_C_W_E);
	return list;
}

static JSValue call_host(
    JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic, JSValueConst *data) {
	(void)this_value, (void)magic;
	struct gb_js *js = JS_GetRuntimeOpaque(JS_GetRuntime(ctx));
	uint32_t function, generation, call = 0;
	size_t cost = 0;
	if (JS_ToUint32(ctx, &function, data[0]) < 0 || JS_ToUint32(ctx, &generation, data[1]) < 0)
		return JS_EXCEPTION;
	if (generation != js->bridge->generation)
		return JS_ThrowTypeError(ctx, "this host function belongs to an earlier run of the "
					      "session and is no longer valid");
	/* A guest hook runs while an error is being decoded. Its answer would overwrite the bytes that are
	 * being decoded. */
	if (js->decoding)
		return JS_ThrowTypeError(ctx, "the host cannot be called while a value is being received");
	JSValueConst nothing = JS_UNDEFINED;
	JSValue arguments = function == GB_WIRE_REPORT ? make_list(ctx, 1, argc ? argv : &nothing)
						       : make_list(ctx, argc, argv);
	bool sent = !JS_IsException(arguments) && send_call(js, function, arguments, &call, &cost);
	JS_FreeValue(ctx, arguments);
	return sent ? wait_for_answer(js, call, cost) : JS_EXCEPTION;
}

/* --- functions and promises lent to the other side --- */

JSValue gb_js_bridge_function(struct gb_js *js, uint32_t id, JSValueConst name) {
	struct gb_js_bridge *bridge = js->bridge;
	bool is_new;
	uint32_t *index = gb_identity_at(&bridge->host_by_id, (const void *)((uintptr_t)id + 1), &is_new);
	if (!index || !grow(&bridge->host, bridge->n_host, &bridge->cap_host, sizeof *bridge->host))
		return JS_ThrowOutOfMemory(js->guest);
	if (!is_new)
		return JS_DupValue(js->guest, bridge->host[*index].value);
	*index = bridge->n_host;
	JSValueConst numbers[] = {JS_NewUint32(js->guest, id), JS_NewUint32(js->guest, bridge->generation)};
	JSValue function = JS_NewCFunctionData2(js->guest, call_host, "", 0, 0, GB_COUNT(numbers), numbers);
	if (JS_IsString(name) && !JS_IsException(function))
		JS_DefinePropertyValueStr(
		    js->guest, function, "name", JS_DupValue(js->guest, name), JS_PROP_CONFIGURABLE);
	uint32_t *back = JS_IsException(function)
			     ? NULL
			     : gb_identity_at(&bridge->host_by_value, JS_VALUE_GET_PTR(function), &is_new);
	if (!back)
		return JS_ThrowOutOfMemory(js->guest);
	*back = bridge->n_host;
	bridge->host[bridge->n_host++] = (struct gb_js_lent){JS_DupValue(js->guest, function), id};
	return function;
}

JSValue gb_js_bridge_promise(struct gb_js *js, uint32_t id) {
	JSValue nothing = JS_NewArray(js->guest);
	uint32_t call;
	size_t cost;
	bool sent = send_call(js, id, nothing, &call, &cost);
	JS_FreeValue(js->guest, nothing);
	return sent ? make_pending(js, call, cost) : JS_EXCEPTION;
}

JSValue gb_js_bridge_own(struct gb_js *js, uint32_t id) {
	if (id >= js->bridge->n_guest)
		return JS_ThrowReferenceError(
		    js->guest, "the sandbox has lent no function or promise with id %u", id);
	return JS_DupValue(js->guest, js->bridge->guest[id]);
}

bool gb_js_bridge_lend(struct gb_js *js, JSValueConst value, enum gb_side *ret_side, uint32_t *ret_id) {
	struct gb_js_bridge *bridge = js->bridge;
	const uint32_t *back = gb_identity_find(&bridge->host_by_value, JS_VALUE_GET_PTR(value));
	*ret_side = back ? GB_HOST : GB_SANDBOX;
	if (back) {
		*ret_id = bridge->host[*back].id;
		return true;
	}
	const uint32_t *known = gb_identity_find(&bridge->guest_by_value, JS_VALUE_GET_PTR(value));
	if (known) {
		*ret_id = *known;
		return true;
	}
	if (bridge->n_guest == GB_WIRE_LENT_MAX)
		return throw_exceeded(
		    js, (struct gb_exceeded){"this run has lent too many functions and promises to the host",
			    GB_WIRE_LENT_MAX});
	bool is_new;
	uint32_t *id = gb_identity_at(&bridge->guest_by_value, JS_VALUE_GET_PTR(value), &is_new);
	if (!id || !grow(&bridge->guest, bridge->n_guest, &bridge->cap_guest, sizeof *bridge->guest)) {
		JS_ThrowOutOfMemory(js->guest);
		return false;
	}
	*ret_id = *id = bridge->n_guest;
	bridge->guest[bridge->n_guest++] = JS_DupValue(js->guest, value);
	if (JS_IsPromise(value))
		JS_PromiseMarkAsHandled(js->guest, value); /* the host handles its rejection from now on */
	else
		bridge->n_guest_functions++;
	return true;
}

/* --- calls from the host --- */

static bool write_answer(
    struct gb_js *js, struct gb_buf *out, uint32_t call, enum gb_wire_answer how, JSValueConst value) {
	gb_buf_clear(out);
	size_t mark = gb_frame_begin(out, GB_FRAME_ANSWER);
	gb_cbor_unsigned(out, call);
	gb_cbor_unsigned(out, how);
	const char *root = how == GB_WIRE_THROWN ? "thrown value" : "return value";
	bool ok = gb_js_encode(js, value, GB_JS_BRIDGED, root, out);
	gb_frame_end(out, mark);
	if (ok && !gb_buf_failed(out))
		return true;
	if (!JS_HasException(js->guest))
		throw_exceeded(js, (struct gb_exceeded){
				       "the answer to the host is too large", js->bridge->budget.call_bytes});
	return false;
}

static void answer_host(struct gb_js *js, uint32_t call, enum gb_wire_answer how, JSValueConst value) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, js->bridge->budget.call_bytes + GB_FRAME_HEAD + GB_WIRE_CALL_SLACK / 2);
	if (!write_answer(js, &out, call, how, value)) {
		/* Send the reason for the failed encoding instead; if that cannot be encoded either,
		 * undefined. */
		JSValue why = JS_GetException(js->guest);
		bool written = write_answer(js, &out, call, GB_WIRE_THROWN, why);
		JS_FreeValue(js->guest, why);
		if (!written) {
			JS_FreeValue(js->guest, JS_GetException(js->guest));
			write_answer(js, &out, call, GB_WIRE_THROWN, JS_UNDEFINED);
		}
	}
	if (!gb_write_all(js->bridge->fd, out.data, out.len))
		_exit(0);
}

static void answer_thrown(struct gb_js *js, uint32_t call) {
	JSValue thrown = JS_GetException(js->guest);
	answer_host(js, call, GB_WIRE_THROWN, thrown);
	JS_FreeValue(js->guest, thrown);
}

static JSValue on_settled(
    JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int how, JSValueConst *data) {
	(void)this_value;
	uint32_t call;
	if (JS_ToUint32(ctx, &call, data[0]) == 0)
		answer_host(JS_GetRuntimeOpaque(JS_GetRuntime(ctx)), call, (enum gb_wire_answer)how,
		    argc ? argv[0] : JS_UNDEFINED);
	return JS_UNDEFINED;
}

/* Answer @call with the outcome of @promise. */
static void answer_when_settled(struct gb_js *js, uint32_t call, JSValueConst promise) {
	JSContext *ctx = js->guest;
	JSValue number = JS_NewUint32(ctx, call);
	JSValue then[2];
	for (int how = GB_WIRE_RETURNED; how <= GB_WIRE_THROWN; how++)
		then[how] = JS_NewCFunctionData(ctx, on_settled, 1, how, 1, &number);
	JSValue chained = JS_PromiseThen(ctx, promise, then[0], then[1]);
	if (JS_IsException(chained))
		answer_thrown(js, call);
	JS_FreeValue(ctx, chained);
	JS_FreeValue(ctx, then[0]);
	JS_FreeValue(ctx, then[1]);
}

/* @value, returned by a guest function, may be a promise or another thenable. */
static void answer_returned(struct gb_js *js, uint32_t call, JSValueConst value) {
	if (!JS_IsObject(value)) {
		answer_host(js, call, GB_WIRE_RETURNED, value);
		return;
	}
	JSValue settle[2];
	JSValue promise = JS_NewPromiseCapability(js->guest, settle);
	if (JS_IsException(promise)) {
		answer_thrown(js, call);
		return;
	}
	JS_FreeValue(js->guest, JS_Call(js->guest, settle[0], JS_UNDEFINED, 1, &value));
	JS_FreeValue(js->guest, settle[0]);
	JS_FreeValue(js->guest, settle[1]);
	answer_when_settled(js, call, promise);
	JS_FreeValue(js->guest, promise);
}

static void serve_call(struct gb_js *js, struct gb_cbor_reader *in) {
	JSContext *ctx = js->guest;
	uint32_t call = gb_take_u32(in), function = gb_take_u32(in);
	JSValue callee = gb_js_bridge_own(js, function);
	if (JS_IsException(callee)) {
		answer_thrown(js, call);
		return;
	}
	if (JS_IsPromise(callee)) {
		answer_when_settled(js, call, callee);
	} else {
		JSValue returned = gb_js_apply(js, callee, in);
		if (JS_IsException(returned))
			answer_thrown(js, call);
		else
			answer_returned(js, call, returned);
		JS_FreeValue(ctx, returned);
	}
	JS_FreeValue(ctx, callee);
}

/* --- turns --- */

static void settle_pending(struct gb_js *js, struct gb_cbor_reader *in) {
	struct gb_js_bridge *bridge = js->bridge;
	uint32_t call = gb_take_u32(in), how = gb_take_u32(in), i = 0;
	while (i < bridge->n_pending && bridge->pending[i].call != call)
		i++;
	/* PROMISED for one of the host's own promises: the actual answer follows. */
	if (i == bridge->n_pending || how == GB_WIRE_PROMISED)
		return;
	struct gb_js_pending pending = bridge->pending[i];
	bridge->pending[i] = bridge->pending[--bridge->n_pending];
	bridge->budget.in_flight_bytes -= pending.cost;
	JSValue value = gb_js_decode(js, in);
	if (JS_IsException(value)) {
		value = JS_GetException(js->guest);
		how = GB_WIRE_THROWN;
	}
	JS_FreeValue(
	    js->guest, JS_Call(js->guest, pending.settle[how == GB_WIRE_THROWN], JS_UNDEFINED, 1, &value));
	JS_FreeValue(js->guest, value);
	JS_FreeValue(js->guest, pending.settle[0]);
	JS_FreeValue(js->guest, pending.settle[1]);
}

bool gb_js_bridge_has_frame(const struct gb_js *js) {
	struct gb_frame_reader reader = js->bridge->reader;
	struct gb_frame frame;
	return gb_inbox_has(&js->bridge->inbox) || gb_frame_reader_next(&reader, &frame) != GB_FRAME_MORE;
}

bool gb_js_bridge_is_live(const struct gb_js *js) {
	const struct gb_js_bridge *bridge = js->bridge;
	return bridge && (gb_inbox_has(&bridge->inbox) || bridge->n_pending || bridge->n_guest_functions);
}

bool gb_js_bridge_turn(struct gb_js *js) {
	struct gb_js_bridge *bridge = js->bridge;
	struct gb_frame frame;
	if (!bridge)
		return false;
	if (!gb_inbox_take(&bridge->inbox, &frame)) {
		if (bridge->n_pending == 0 && bridge->n_guest_functions == 0)
			return false;
		if (!wait_for_frame(js, &frame))
			return true;
	}
	/* Decode the values before guest code runs: guest code may receive frames into the same memory. */
	struct gb_cbor_reader in = gb_cbor_reader(frame.payload, frame.n);
	if (frame.type == GB_FRAME_ANSWER)
		settle_pending(js, &in);
	else if (frame.type == GB_FRAME_CALL)
		serve_call(js, &in);
	else
		_exit(1);
	return true;
}

/* --- sessions --- */

/* Drop lent functions and pending promises for the next job. */
static void reset(struct gb_js *js, const struct gb_job *job) {
	struct gb_js_bridge *bridge = js->bridge;
	for (uint32_t i = 0; i < bridge->n_host; i++)
		JS_FreeValue(js->guest, bridge->host[i].value);
	for (uint32_t i = 0; i < bridge->n_guest; i++)
		JS_FreeValue(js->guest, bridge->guest[i]);
	for (uint32_t i = 0; i < bridge->n_pending; i++)
		for (size_t k = 0; k < GB_COUNT(bridge->pending[i].settle); k++)
			JS_FreeValue(js->guest, bridge->pending[i].settle[k]);
	gb_identity_finish(&bridge->host_by_id);
	gb_identity_finish(&bridge->host_by_value);
	gb_identity_finish(&bridge->guest_by_value);
	free(bridge->host);
	free(bridge->guest);
	free(bridge->pending);
	gb_inbox_finish(&bridge->inbox);
	struct gb_frame_reader reader = bridge->reader;
	uint32_t generation = bridge->generation;
	gb_js_bridge_open(js, bridge, bridge->fd, job);
	bridge->reader = reader;
	bridge->reader.buf.max = job->call + READ_STEP + FRAME_SLACK;
	bridge->generation = generation + 1;
}

void gb_js_bridge_next_job(struct gb_js *js, struct gb_job *ret_job) {
	struct gb_frame frame;
	/* A job may be larger than a call; the host limits its size. */
	js->bridge->reader.buf.max = UINT32_MAX;
	do
		js->interrupted = false;
	while (!wait_for_frame(js, &frame) || frame.type != GB_FRAME_JOB);
	uint8_t *bytes = malloc(frame.n + 1);
	if (!bytes)
		_exit(1);
	memcpy(bytes, frame.payload, frame.n);
	gb_job_parse(ret_job, bytes, frame.n);
	reset(js, ret_job);
}
