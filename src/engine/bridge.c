/*
 * Calls between a run and its host. Input from the sandbox is untrusted: ids are checked against the lent
 * functions, sizes and counts against the run's limits.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "glovebox/errors.h"
#include "runtime/wire.h"
#include "value/cbor.h"

/* A call from the code. It outlives its run until it is answered. */
struct gb_call {
	struct gb_list link; /* in run->bridge.asked, or unlinked */
	struct gb_run *run;  /* NULL once the run has settled */
	uint32_t id;         /* chosen by the sandbox */
	uint32_t function;
	bool of_promise; /* the function is a promise, which is called without arguments */
	bool promised;
	size_t cost;
	struct gb_values *values;
	const struct gb_value *args;
};

/* A call from the host. */
struct host_call {
	struct gb_list link;
	uint32_t id;
	gb_answered on_answer;
	void *data;
};

void gb_bridge_init(struct gb_bridge *bridge, const struct gb_run_options *options) {
	gb_list_init(&bridge->asked);
	gb_list_init(&bridge->asking);
	pthread_mutex_init(&bridge->lock, NULL);
	bridge->call_bytes = gb_limit_call_bytes(options);
	bridge->max_asked = gb_limit_max_in_flight(options);
	bridge->calls_left = gb_limit_max_calls(options);
}

/* An intact worker has at most as many unread answers as calls in flight. */
uint64_t gb_bridge_outbox_max(const struct gb_bridge *bridge) {
	uint64_t answers = bridge->max_asked + 1ull, each = bridge->call_bytes + 2ull * GB_WIRE_CALL_SLACK;
	return answers < OUTBOX_MAX / each ? answers * each : OUTBOX_MAX;
}

void gb_bridge_finish(struct gb_bridge *bridge) {
	gb_identity_finish(&bridge->granted);
	pthread_mutex_destroy(&bridge->lock);
}

void gb_bridge_close(struct gb_run *run, bool tell) {
	for (struct gb_call *call; (call = gb_list_first(struct gb_call, &run->bridge.asked, link));) {
		gb_list_remove(&call->link);
		call->run = NULL;
	}
	for (struct host_call *q; (q = gb_list_first(struct host_call, &run->bridge.asking, link));) {
		gb_list_remove(&q->link);
		if (tell)
			GB_CALL_BACK(run->engine, q->on_answer(run, NULL, true, q->data));
		free(q);
	}
}

/* --- lent functions and promises --- */

/* The value stored for an id: LENT_FUNCTION if it can be called any number of times, plus the number of
 * promise calls left: one for each time that the promise was sent. */
#define LENT_FUNCTION (1u << 31)

static const void *key_of(uint32_t id) {
	return (const void *)((uintptr_t)id + 1);
}

static bool add_grant(struct gb_bridge *bridge, enum gb_type type, uint32_t id) {
	bool is_new = !gb_identity_find(&bridge->granted, key_of(id));
	if (id == GB_WIRE_REPORT || (is_new && bridge->granted.used == GB_WIRE_LENT_MAX))
		return false;
	uint32_t *lent = gb_identity_at(&bridge->granted, key_of(id), &is_new);
	if (!lent)
		return false;
	if (type == GB_FUNCTION)
		*lent |= LENT_FUNCTION;
	else
		++*lent;
	return true;
}

static bool grant(void *data, enum gb_type type, uint32_t id) {
	struct gb_bridge *bridge = data;
	pthread_mutex_lock(&bridge->lock);
	bool ok = add_grant(bridge, type, id);
	pthread_mutex_unlock(&bridge->lock);
	return ok;
}

struct gb_grants gb_bridge_grants(struct gb_bridge *bridge) {
	return (struct gb_grants){.grant = grant, .data = bridge};
}

/* The sandbox may send back host functions that it has received, and lend its own. On any thread. */
static bool is_acceptable(void *data, enum gb_side side, uint32_t id) {
	struct gb_bridge *bridge = data;
	if (side == GB_SANDBOX)
		return id < GB_WIRE_LENT_MAX;
	pthread_mutex_lock(&bridge->lock);
	bool found = gb_identity_find(&bridge->granted, key_of(id));
	pthread_mutex_unlock(&bridge->lock);
	return found;
}

/* True if @id may be called now; uses up one call of a promise. Other threads do not read the counts. */
static bool use_grant(struct gb_bridge *bridge, uint32_t id, bool *ret_is_promise) {
	bool is_new = true;
	uint32_t *lent = gb_identity_find(&bridge->granted, key_of(id))
			     ? gb_identity_at(&bridge->granted, key_of(id), &is_new)
			     : NULL;
	if (!lent || *lent == 0)
		return false;
	*ret_is_promise = !(*lent & LENT_FUNCTION);
	if (*ret_is_promise)
		--*lent;
	return true;
}

static struct gb_decode_limits limits_of(struct gb_run *run) {
	return (struct gb_decode_limits){.max_depth = GB_WIRE_DEPTH_MAX + 2,
	    .max_items = GB_DECODE_LIMITS_DEFAULT.max_items,
	    .admits = is_acceptable,
	    .data = &run->bridge};
}

static bool read_u32(struct gb_cbor_reader *in, uint32_t *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument > UINT32_MAX)
		return false;
	*ret = (uint32_t)item.argument;
	return true;
}

static struct gb_values *make_pool(size_t encoded) {
	return gb_values_create(encoded * VALUE_BYTES + VALUES_SLACK);
}

/* --- calls from the code --- */

static void release_call(struct gb_call *call) {
	if (call->run) {
		call->run->bridge.n_asked--;
		call->run->bridge.in_flight_bytes -= call->cost;
	}
	gb_list_remove(&call->link);
	gb_values_destroy(call->values);
	free(call);
}

static uint64_t most_in_flight(const struct gb_bridge *bridge) {
	return GB_WIRE_IN_FLIGHT_FACTOR * (bridge->call_bytes + GB_WIRE_CALL_SLACK);
}

/* The worker enforces these limits itself, by exceptions; a worker that exceeds them has been compromised. */
static bool within_limits(struct gb_bridge *bridge, size_t cost, struct gb_err *err) {
	if (bridge->calls_left == 0)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox made more calls than it may");
	if (bridge->n_asked == bridge->max_asked)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox has more calls in flight than it may");
	if (cost > bridge->call_bytes + GB_WIRE_CALL_SLACK ||
	    bridge->in_flight_bytes + cost > most_in_flight(bridge))
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox made a larger call than it may");
	return true;
}

static struct gb_call *make_call(struct gb_run *run, uint32_t id, uint32_t function, size_t cost) {
	struct gb_call *call = calloc(1, sizeof *call);
	if (!call)
		return NULL;
	*call = (struct gb_call){.run = run, .id = id, .function = function, .cost = cost};
	gb_list_append(&run->bridge.asked, &call->link);
	run->bridge.calls_left--;
	run->bridge.n_asked++;
	run->bridge.in_flight_bytes += cost;
	call->values = make_pool(cost);
	if (call->values)
		return call;
	release_call(call);
	return NULL;
}

static void throw_text(struct gb_call *call, const char *name, const char *message);

/* A call within the byte limit can still contain more values than the decoder accepts. */
static bool throw_too_large(struct gb_call *call, struct gb_err *err) {
	if (err->code != GB_ELIMIT)
		return gb_wrap(err, "the sandbox made a call");
	throw_text(call, "RangeError", err->message);
	release_call(call);
	return true;
}

/* Small values take far more memory here than bytes on the wire, which the worker cannot predict: charge
 * calls by their memory beyond a free allowance. */
static bool charge_memory(struct gb_bridge *bridge, struct gb_call *call, struct gb_err *err) {
	size_t used = gb_values_used(call->values);
	size_t cost = used > VALUES_SLACK ? (used - VALUES_SLACK) / VALUES_FACTOR : 0;
	if (cost <= call->cost)
		return true;
	if (bridge->in_flight_bytes - call->cost + cost > most_in_flight(bridge))
		return gb_fail(err, GB_ELIMIT, 0, "calls that wait for an answer hold too many values");
	bridge->in_flight_bytes += cost - call->cost;
	call->cost = cost;
	return true;
}

/* No callback has received the call. */
static bool release_if_failed(struct gb_call *call, bool ok) {
	if (!ok)
		release_call(call);
	return ok;
}

static void drop_call(const struct gb_decoding *decoding) {
	release_call(decoding->call);
}

static bool take_report(
    struct gb_run *run, struct gb_call *call, const struct gb_value *args, struct gb_err *err) {
	if (!args)
		return throw_too_large(call, err);
	const struct gb_value *value = gb_answer_report(run, args, err);
	if (!value)
		return false;
	gb_values_extend(call->values, run->bridge.call_bytes * VALUES_FACTOR);
	if (run->on_report)
		GB_CALL_BACK(run->engine, run->on_report(run, value, call, run->data));
	else
		gb_call_return(call, NULL);
	return true;
}

static bool on_report_decoded(
    struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *args, struct gb_err *err) {
	return release_if_failed(decoding->call, take_report(run, decoding->call, args, err));
}

static bool receive_report(
    struct gb_run *run, struct gb_call *call, struct gb_cbor_reader in, struct gb_err *err) {
	/* The value is part of the result. It is decoded with the surrounding array, which is number 0 of the graph. */
	const struct gb_decoding decoding = {
	    .in = in, .limits = gb_answer_limits, .then = on_report_decoded, .drop = drop_call, .call = call};
	if (!gb_answer_spend_report(run, (size_t)(in.end - in.at), err))
		return release_if_failed(call, false);
	return gb_run_decode(run, &decoding, err);
}

static bool take_call(
    struct gb_run *run, struct gb_call *call, const struct gb_value *args, struct gb_err *err) {
	call->args = args;
	if (!args || !charge_memory(&run->bridge, call, err))
		return throw_too_large(call, err);
	if (gb_value_type(args) != GB_ARRAY || (call->of_promise && gb_value_count(args)))
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox sent a malformed call");
	/* From here on the pool is for the answer, which has its own limit. */
	gb_values_extend(call->values, run->bridge.call_bytes * VALUES_FACTOR);
	if (run->on_call)
		GB_CALL_BACK(run->engine, run->on_call(run, call, run->data));
	else
		gb_call_throw(
		    call, gb_value_error(call->values, "TypeError", "this host does not answer calls", NULL));
	return true;
}

static bool on_call_decoded(
    struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *args, struct gb_err *err) {
	return release_if_failed(decoding->call, take_call(run, decoding->call, args, err));
}

static bool receive_call(
    struct gb_run *run, struct gb_call *call, struct gb_cbor_reader in, struct gb_err *err) {
	const struct gb_decoding decoding = {.in = in,
	    .limits = limits_of(run),
	    .pool = call->values,
	    .then = on_call_decoded,
	    .drop = drop_call,
	    .call = call};
	if (use_grant(&run->bridge, call->function, &call->of_promise))
		return gb_run_decode(run, &decoding, err);
	release_call(call);
	return gb_fail(err, GB_EFORMAT, 0, "the sandbox called a function that it was not given");
}

bool gb_bridge_on_call(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	uint32_t id, function;
	if (!read_u32(&in, &id) || !read_u32(&in, &function))
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox sent a malformed call");
	if (!within_limits(&run->bridge, frame->n, err))
		return false;
	struct gb_call *call = make_call(run, id, function, frame->n);
	if (!call)
		return gb_fail(err, GB_ENOMEM, 0, "a call");
	return function == GB_WIRE_REPORT ? receive_report(run, call, in, err)
					  : receive_call(run, call, in, err);
}

struct gb_run *gb_call_run(const struct gb_call *call) {
	return call->run;
}

uint32_t gb_call_function(const struct gb_call *call) {
	return call->function;
}

const struct gb_value *gb_call_args(const struct gb_call *call) {
	return call->args;
}

struct gb_values *gb_call_values(struct gb_call *call) {
	return call->values;
}

/* --- frames to the sandbox --- */

/* The outbox size after one more frame of maximum size. */
static size_t max_after_frame(const struct gb_run *run) {
	return run->outbox.len + run->bridge.call_bytes + GB_WIRE_CALL_SLACK;
}

/* Append a frame that ends with @value, or leave the outbox unchanged. */
static bool write_frame(struct gb_run *run, enum gb_frame_type type, uint32_t id, uint32_t second,
    const struct gb_value *value, struct gb_err *err) {
	struct gb_buf *out = &run->outbox;
	const struct gb_grants grants = gb_bridge_grants(&run->bridge);
	size_t before = out->len, max = out->max, mine = max_after_frame(run);
	out->max = mine < max ? mine : max;
	size_t mark = gb_frame_begin(out, type);
	gb_cbor_unsigned(out, id);
	gb_cbor_unsigned(out, second);
	bool ok = !value || gb_value_encode(out, value, &grants, err);
	gb_frame_end(out, mark);
	if (gb_buf_failed(out))
		ok = mine <= max
			 ? gb_fail(err, GB_ELIMIT, 0, "the value is larger than the limit of %llu bytes",
			       (unsigned long long)run->bridge.call_bytes)
			 : gb_fail(err, GB_ELIMIT, 0, "too much waits for the run already");
	if (!ok)
		out->len = before;
	out->failed = false;
	out->max = max;
	return ok;
}

static void fail_outbox_full(struct gb_run *run) {
	gb_run_fail(run, GB_TERMINATED, "LimitError", GB_CODE_BRIDGE,
	    "the host has more to say to the run than it takes");
}

/* Answer with an error of our own. */
static void throw_text(struct gb_call *call, const char *name, const char *message) {
	gb_auto_values struct gb_values *values = gb_values_create(0);
	const struct gb_value *error = values ? gb_value_error(values, name, message, NULL) : NULL;
	if (error && write_frame(call->run, GB_FRAME_ANSWER, call->id, GB_WIRE_THROWN, error, NULL))
		gb_run_send(call->run);
	else
		fail_outbox_full(call->run);
}

static bool answer(struct gb_call *call, enum gb_wire_answer how, const struct gb_value *value) {
	struct gb_err err = {0};
	bool ok = value || !gb_values_failed(call->values) ||
		  gb_fail(&err, GB_ELIMIT, 0, "the value is larger than the pool of its call");
	if (!value)
		value = gb_value_undefined(call->values);
	if (ok && write_frame(call->run, GB_FRAME_ANSWER, call->id, how, value, &err)) {
		gb_run_send(call->run);
		return true;
	}
	/* Do not queue further small errors for a run that does not read. */
	if (max_after_frame(call->run) > call->run->outbox.max)
		fail_outbox_full(call->run);
	else
		throw_text(call, "SerializationError", err.message);
	return false;
}

static bool answer_and_release(struct gb_call *call, enum gb_wire_answer how, const struct gb_value *value) {
	bool ok = !call->run || answer(call, how, value);
	release_call(call);
	return ok;
}

void gb_call_promise(struct gb_call *call) {
	if (!call->run || call->promised)
		return;
	call->promised = true;
	if (write_frame(call->run, GB_FRAME_ANSWER, call->id, GB_WIRE_PROMISED, NULL, NULL))
		gb_run_send(call->run);
	else
		fail_outbox_full(call->run);
}

bool gb_call_return(struct gb_call *call, const struct gb_value *value) {
	return answer_and_release(call, GB_WIRE_RETURNED, value);
}

bool gb_call_throw(struct gb_call *call, const struct gb_value *thrown) {
	return answer_and_release(call, GB_WIRE_THROWN, thrown);
}

/* --- calls from the host --- */

bool gb_run_call(struct gb_run *run, uint32_t function, const struct gb_value *args, gb_answered on_answer,
    void *data, struct gb_err *err) {
	if (run->settled)
		return gb_fail_field(err, GB_EINVAL, "run", "has ended");
	if (args && gb_value_type(args) != GB_ARRAY)
		return gb_fail_field(err, GB_EINVAL, "args", "must be an array");
	struct host_call *q = calloc(1, sizeof *q);
	gb_auto_values struct gb_values *values = args ? NULL : gb_values_create(0);
	if (!args && values)
		args = gb_value_array(values);
	if (!q || !args) {
		free(q);
		return gb_fail(err, GB_ENOMEM, 0, "a call");
	}
	uint32_t id = run->bridge.next_question++;
	if (!write_frame(run, GB_FRAME_CALL, id, function, args, err)) {
		free(q);
		return gb_wrap_field(err, "args");
	}
	*q = (struct host_call){.id = id, .on_answer = on_answer, .data = data};
	gb_list_append(&run->bridge.asking, &q->link);
	gb_run_send(run);
	return true;
}

static struct host_call *find_host_call(struct gb_bridge *bridge, uint32_t id) {
	gb_list_each(struct host_call, q, &bridge->asking, link) if (q->id == id) return q;
	return NULL;
}

static void drop_answer(const struct gb_decoding *decoding) {
	gb_values_destroy(decoding->pool);
}

static bool on_answer_decoded(struct gb_run *run, const struct gb_decoding *decoding,
    const struct gb_value *value, struct gb_err *err) {
	struct host_call *q = find_host_call(&run->bridge, decoding->answer.id);
	if (!value || !q) {
		drop_answer(decoding);
		return gb_wrap(err, "the sandbox sent an answer");
	}
	gb_list_remove(&q->link);
	run->bridge.answer = decoding->pool;
	GB_CALL_BACK(run->engine, q->on_answer(run, value, decoding->answer.thrown, q->data));
	gb_values_destroy(gb_run_take_answer(run));
	free(q);
	return true;
}

struct gb_values *gb_run_take_answer(struct gb_run *run) {
	return gb_take_pointer(&run->bridge.answer);
}

bool gb_bridge_on_answer(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	uint32_t id, how;
	if (!read_u32(&in, &id) || !read_u32(&in, &how) || how > GB_WIRE_THROWN)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox sent a malformed answer");
	struct host_call *q = find_host_call(&run->bridge, id);
	if (!q)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox answered what it was not asked");
	if (frame->n > run->bridge.call_bytes + GB_WIRE_CALL_SLACK)
		return gb_fail(err, GB_EFORMAT, 0, "the sandbox gave a larger answer than it may");
	const struct gb_decoding decoding = {.in = in,
	    .limits = limits_of(run),
	    .pool = make_pool(frame->n),
	    .then = on_answer_decoded,
	    .drop = drop_answer,
	    .answer = {id, how == GB_WIRE_THROWN}};
	return decoding.pool ? gb_run_decode(run, &decoding, err) : gb_fail(err, GB_ENOMEM, 0, "an answer");
}
