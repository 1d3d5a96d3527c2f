/* A worker that makes forbidden calls and sends answers without questions. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "glovebox/value.h"
#include "hostile.h"
#include "runtime/wire.h"
#include "value/cbor.h"
#include "value/frame.h"

enum { GRANTED = 1, GRANTED_PROMISE = 3 };

static size_t begin_call(uint64_t function) {
	static uint32_t next;
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_CALL);
	gb_cbor_unsigned(&hostile_out, next++);
	gb_cbor_unsigned(&hostile_out, function);
	return mark;
}

static void call(uint64_t function) {
	size_t mark = begin_call(function);
	gb_cbor_array(&hostile_out, 0);
	gb_frame_end(&hostile_out, mark);
}

/* With a text of @n bytes. */
static void heavy_call(size_t n) {
	gb_auto_free char *text = calloc(n, 1);
	size_t mark = begin_call(GRANTED);
	gb_cbor_array(&hostile_out, 1);
	gb_cbor_string(&hostile_out, text, n);
	gb_frame_end(&hostile_out, mark);
}

static void callable(uint64_t tag, uint64_t side, uint64_t id) {
	gb_cbor_tag(&hostile_out, tag);
	gb_cbor_array(&hostile_out, tag == GB_CBOR_FUNCTION ? 3 : 2);
	gb_cbor_unsigned(&hostile_out, side);
	gb_cbor_unsigned(&hostile_out, id);
	if (tag == GB_CBOR_FUNCTION)
		gb_cbor_simple(&hostile_out, GB_SIMPLE_NULL);
}

/* Lends function 0, and says so in a call: the host then calls it, as its question 0. */
static void lend(void) {
	size_t mark = begin_call(GRANTED);
	gb_cbor_array(&hostile_out, 2);
	callable(GB_CBOR_FUNCTION, GB_SANDBOX, 0);
	callable(GB_CBOR_FUNCTION, GB_HOST, GRANTED);
	gb_frame_end(&hostile_out, mark);
}

static void answer(uint64_t question, uint64_t how) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_ANSWER);
	gb_cbor_unsigned(&hostile_out, question);
	gb_cbor_unsigned(&hostile_out, how);
	gb_cbor_unsigned(&hostile_out, 7);
	gb_frame_end(&hostile_out, mark);
}

static void send_and_end(void) {
	hostile_result();
	hostile_flush();
	hostile_stay();
}

/* --- calls --- */

static void call_function(long n) {
	call((uint64_t)n);
	send_and_end();
}

static void call_often(long n) {
	for (long i = 0; i < n; i++)
		call(GRANTED);
	send_and_end();
}

static void call_promise_often(long n) {
	for (long i = 0; i < n; i++)
		call(GRANTED_PROMISE);
	send_and_end();
}

static void call_promise_with(long n) {
	(void)n;
	size_t mark = begin_call(GRANTED_PROMISE);
	gb_cbor_array(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

static void call_with_bytes(long n) {
	heavy_call((size_t)n);
	send_and_end();
}

static void call_heavily(long n) {
	for (long i = 0; i < n; i++)
		heavy_call(900);
	send_and_end();
}

static void call_with_items(long n) {
	size_t mark = begin_call(GRANTED);
	gb_cbor_array(&hostile_out, (uint64_t)n);
	for (long i = 0; i < n; i++)
		gb_buf_append(&hostile_out, "\x80", 1);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

static void call_nested(long n) {
	size_t mark = begin_call(GRANTED);
	for (long i = 0; i < n; i++)
		gb_cbor_array(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

static void call_after_result(long n) {
	hostile_result();
	for (long i = 0; i < n; i++)
		call(GRANTED);
	answer(0, GB_WIRE_RETURNED);
	hostile_flush();
	hostile_stay();
}

/* And never read the replies. */
static void flood_calls(long n) {
	for (;;) {
		while (hostile_out.len < 60000)
			heavy_call((size_t)n);
		hostile_flush();
	}
}

/* --- answers --- */

static void answer_question(long n) {
	lend();
	answer(0, (uint64_t)n);
	send_and_end();
}

static void answer_nobody(long n) {
	lend();
	answer((uint64_t)n, GB_WIRE_RETURNED);
	send_and_end();
}

static void answer_again(long n) {
	(void)n;
	lend();
	answer(0, GB_WIRE_RETURNED);
	answer(0, GB_WIRE_RETURNED);
	send_and_end();
}

static void answer_largely(long n) {
	lend();
	gb_auto_free char *text = calloc((size_t)n, 1);
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_ANSWER);
	gb_cbor_unsigned(&hostile_out, 0);
	gb_cbor_unsigned(&hostile_out, GB_WIRE_RETURNED);
	gb_cbor_string(&hostile_out, text, (size_t)n);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

/* --- malformed --- */

static void cut_call(long n) {
	lend();
	hostile_send_cut(n);
}

static void bend_call(long n) {
	lend();
	hostile_send_bent(n);
}

static void cut_answer(long n) {
	lend();
	hostile_flush();
	answer(0, GB_WIRE_RETURNED);
	hostile_send_cut(n);
}

static void bend_answer(long n) {
	lend();
	hostile_flush();
	answer(0, GB_WIRE_RETURNED);
	hostile_send_bent(n);
}

static void wrong_calls(long n) {
	static const struct {
		uint8_t type;
		const char *bytes;
		size_t n;
	} messages[] = {
	    {GB_FRAME_CALL, "\x20\x01\x80", 3},                  /* a negative number */
	    {GB_FRAME_CALL, "\x00\x60\x80", 3},                  /* the function is a text */
	    {GB_FRAME_CALL, "\x00\x1b\0\0\0\1\0\0\0\1\x80", 11}, /* its low bits are granted */
	    {GB_FRAME_CALL, "\x1b\0\0\0\1\0\0\0\0\x01\x80", 11}, /* the same of the call */
	    {GB_FRAME_CALL, "\x00\x01\xa0", 3},                  /* the arguments are an object */
	    {GB_FRAME_CALL, "\x00\x01\x05", 3},                  /* a number */
	    {GB_FRAME_CALL, "\x00\x01\x80\x80", 4},              /* there are two of them */
	    {GB_FRAME_CALL, "\x00\x01\x81", 3},                  /* one is missing */
	    {GB_FRAME_CALL, "\x00\x01\x81\xd9\x01\x01\x05", 7},  /* a reference to nothing */
	    {GB_FRAME_ANSWER, "\x00\x00", 2},                    /* no value */
	    {GB_FRAME_ANSWER, "\x20\x00\x07", 3},                /* a negative number */
	    {GB_FRAME_ANSWER, "\x00\xf6\x07", 3},                /* how is null */
	};
	if ((size_t)n >= GB_COUNT(messages))
		_exit(3);
	gb_frame_append(&hostile_out, messages[n].type, messages[n].bytes, messages[n].n);
	send_and_end();
}

/* Functions and promises where none may be, or with numbers that were never given out. */
static void forge(long n) {
	static const struct {
		uint8_t type;
		uint64_t tag, side, id;
	} forged[] = {
	    {GB_FRAME_RESULT, GB_CBOR_FUNCTION, GB_HOST, GRANTED},
	    {GB_FRAME_RESULT, GB_CBOR_FUNCTION, GB_SANDBOX, 0},
	    {GB_FRAME_RESULT, GB_CBOR_PROMISE, GB_SANDBOX, 0},
	    {GB_FRAME_LOG, GB_CBOR_FUNCTION, GB_HOST, GRANTED},
	    {GB_FRAME_CALL, GB_CBOR_FUNCTION, GB_HOST, 2},
	    {GB_FRAME_CALL, GB_CBOR_PROMISE, GB_HOST, 2},
	    {GB_FRAME_CALL, GB_CBOR_FUNCTION, GB_HOST, UINT32_MAX},
	    {GB_FRAME_CALL, GB_CBOR_FUNCTION, GB_HOST, UINT32_MAX + 1ull + GRANTED},
	    {GB_FRAME_CALL, GB_CBOR_FUNCTION, GB_SANDBOX, GB_WIRE_LENT_MAX},
	    {GB_FRAME_CALL, GB_CBOR_PROMISE, GB_SANDBOX, UINT32_MAX},
	    {GB_FRAME_CALL, GB_CBOR_FUNCTION, 2, 0},
	};
	if ((size_t)n >= GB_COUNT(forged))
		_exit(3);
	size_t mark = forged[n].type == GB_FRAME_CALL ? begin_call(GRANTED)
						      : gb_frame_begin(&hostile_out, forged[n].type);
	if (forged[n].type == GB_FRAME_RESULT)
		gb_buf_append(&hostile_out, "\x00\x00\xf4\xf6", 4);
	if (forged[n].type == GB_FRAME_LOG) {
		gb_cbor_unsigned(&hostile_out, 0);
		gb_cbor_float(&hostile_out, 0);
	}
	gb_cbor_array(&hostile_out, 1);
	callable(forged[n].tag, forged[n].side, forged[n].id);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

static void forge_report(long n) {
	(void)n;
	size_t mark = begin_call(GB_WIRE_REPORT);
	gb_cbor_array(&hostile_out, 1);
	callable(GB_CBOR_FUNCTION, GB_HOST, GRANTED);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

static void report_bytes(long n) {
	gb_auto_free char *text = calloc((size_t)n, 1);
	size_t mark = begin_call(GB_WIRE_REPORT);
	gb_cbor_array(&hostile_out, 1);
	gb_cbor_string(&hostile_out, text, (size_t)n);
	gb_frame_end(&hostile_out, mark);
	send_and_end();
}

const struct hostile_behaviour hostile_bridge_behaviours[] = {
    {"call", call_function},
    {"call-often", call_often},
    {"call-promise-often", call_promise_often},
    {"call-promise-with", call_promise_with},
    {"call-with-bytes", call_with_bytes},
    {"call-heavily", call_heavily},
    {"call-with-items", call_with_items},
    {"call-nested", call_nested},
    {"call-after-result", call_after_result},
    {"flood-calls", flood_calls},
    {"answer", answer_question},
    {"answer-nobody", answer_nobody},
    {"answer-again", answer_again},
    {"answer-largely", answer_largely},
    {"cut-call", cut_call},
    {"bend-call", bend_call},
    {"cut-answer", cut_answer},
    {"bend-answer", bend_answer},
    {"wrong-calls", wrong_calls},
    {"forge", forge},
    {"forge-report", forge_report},
    {"report-bytes", report_bytes},
    {NULL, NULL},
};
