#include "hostile.h"

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/protocol.h"
#include "value/cbor.h"
#include "value/frame.h"

enum { MESSAGE_MAX = 64 << 20, MANY = 1000000 };

static int host;
struct gb_buf hostile_out;

void hostile_flush(void) {
	if (!gb_write_all(host, hostile_out.data, hostile_out.len))
		_exit(0);
	gb_buf_clear(&hostile_out);
}

__attribute__((noreturn)) void hostile_stay(void) {
	for (int word = 0;;)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* --- well-formed messages --- */

static void begin_result(void) {
	gb_cbor_unsigned(&hostile_out, 0);
	gb_cbor_unsigned(&hostile_out, 1000);
	gb_cbor_simple(&hostile_out, GB_SIMPLE_FALSE);
	gb_cbor_simple(&hostile_out, GB_SIMPLE_NULL);
}

void hostile_result(void) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_RESULT);
	begin_result();
	gb_cbor_unsigned(&hostile_out, 42);
	gb_frame_end(&hostile_out, mark);
}

/* A message with items of every kind, to be truncated and corrupted. */
static void rich_value(void) {
	gb_cbor_array(&hostile_out, 5);
	gb_cbor_object(&hostile_out, 1);
	gb_cbor_string(&hostile_out, "key", 3);
	gb_cbor_float(&hostile_out, 0.5);
	gb_cbor_tag(&hostile_out, GB_CBOR_MAP);
	gb_cbor_object(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_cbor_tag(&hostile_out, GB_CBOR_REFERENCE);
	gb_cbor_unsigned(&hostile_out, 0);
	gb_cbor_tag(&hostile_out, GB_CBOR_ERROR);
	gb_cbor_array(&hostile_out, 3);
	gb_cbor_string(&hostile_out, "Error", 5);
	gb_cbor_string(&hostile_out, "no", 2);
	gb_cbor_simple(&hostile_out, GB_SIMPLE_NULL);
	gb_cbor_tag(&hostile_out, GB_CBOR_VIEW);
	gb_cbor_array(&hostile_out, 4);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 2);
	gb_cbor_bytes(&hostile_out, "abcd", 4);
	gb_cbor_tag(&hostile_out, GB_CBOR_BIGINT);
	gb_cbor_bytes(&hostile_out, "\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 9);
}

static void rich_result(void) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_RESULT);
	begin_result();
	rich_value();
	gb_frame_end(&hostile_out, mark);
}

static void rich_log(void) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_LOG);
	gb_cbor_unsigned(&hostile_out, 2);
	gb_cbor_float(&hostile_out, 1e12);
	rich_value();
	gb_frame_end(&hostile_out, mark);
}

static void rich_error(void) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_RESULT);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 1000);
	gb_cbor_simple(&hostile_out, GB_SIMPLE_TRUE);
	gb_cbor_array(&hostile_out, 8);
	for (int i = 0; i < 6; i++)
		gb_cbor_string(&hostile_out, "text", 4);
	gb_cbor_unsigned(&hostile_out, 1);
	gb_cbor_unsigned(&hostile_out, 2);
	gb_frame_end(&hostile_out, mark);
}

static void tiny_log(void) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_LOG);
	gb_cbor_unsigned(&hostile_out, 0);
	gb_cbor_float(&hostile_out, 0);
	gb_cbor_array(&hostile_out, 0);
	gb_frame_end(&hostile_out, mark);
}

/* --- behaviours --- */

static void be_ok(long n) {
	(void)n;
	hostile_result();
	hostile_flush();
}

static void be_silent(long n) {
	(void)n;
	hostile_stay();
}

static void be_busy(long n) {
	(void)n;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void answer_twice(long n) {
	(void)n;
	hostile_result();
	rich_error();
	hostile_flush();
}

static void answer_and_linger(long n) {
	(void)n;
	hostile_result();
	hostile_flush();
	be_busy(0);
}

static void flood_logs(long n) {
	(void)n;
	for (;;) {
		while (hostile_out.len < 60000)
			tiny_log();
		hostile_flush();
	}
}

static void flood_after_result(long n) {
	(void)n;
	hostile_result();
	flood_logs(0);
}

/* A frame of @n bytes, or as many of them as are wanted of it. */
static void flood_one_frame(long n) {
	const unsigned char head[] = {
	    (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)(n >> 16), (unsigned char)(n >> 24)};
	static const char zeros[60000] = {0};
	gb_buf_append(&hostile_out, head, sizeof head);
	gb_buf_append(&hostile_out, &(char){GB_FRAME_LOG}, 1);
	for (;;) {
		gb_buf_append(&hostile_out, zeros, sizeof zeros);
		hostile_flush();
	}
}

static void send_length(long n) {
	const uint32_t length = (uint32_t)n;
	gb_buf_append(&hostile_out, &length, sizeof length);
	gb_buf_append(&hostile_out, "\2", 1);
	hostile_flush();
	hostile_stay();
}

static void send_type(long n) {
	gb_frame_append(&hostile_out, (uint8_t)n, "\0", 1);
	hostile_flush();
	hostile_stay();
}

/* The length is right, but the body is cut after @n bytes. */
void hostile_send_cut(long n) {
	size_t whole = hostile_out.len - GB_FRAME_HEAD;
	if (n < 0 || (size_t)n >= whole)
		_exit(3); /* there is no more to cut */
	uint32_t length = (uint32_t)n + 1;
	memcpy(hostile_out.data, &length, sizeof length);
	hostile_out.len = GB_FRAME_HEAD + (size_t)n;
	hostile_flush();
	hostile_stay();
}

static void cut_result(long n) {
	rich_result();
	hostile_send_cut(n);
}

static void cut_error(long n) {
	rich_error();
	hostile_send_cut(n);
}

static void cut_log(long n) {
	rich_log();
	hostile_send_cut(n);
}

/* Flip each bit of the payload once. The outcome is not known, but there must be one. */
void hostile_send_bent(long n) {
	size_t byte = GB_FRAME_HEAD + (size_t)n / 8;
	if (byte >= hostile_out.len)
		_exit(3);
	hostile_out.data[byte] ^= (char)(1 << n % 8);
	hostile_flush();
	_exit(0);
}

static void bend_result(long n) {
	rich_result();
	hostile_send_bent(n);
}

static void bend_error(long n) {
	rich_error();
	hostile_send_bent(n);
}

static void bend_log(long n) {
	rich_log();
	hostile_send_bent(n);
}

/* A result whose value is @n copies of @bytes. */
static void send_value(const char *bytes, size_t n_bytes, long n) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_RESULT);
	begin_result();
	for (long i = 0; i < n; i++)
		gb_buf_append(&hostile_out, bytes, n_bytes);
	gb_frame_end(&hostile_out, mark);
	hostile_flush();
	hostile_stay();
}

static void nest_arrays(long n) {
	send_value("\x81", 1, n);
}

static void nest_maps(long n) {
	send_value("\xd9\x01\x03\xa1", 4, n);
}

static void nest_tags(long n) {
	send_value("\xd9\x01\x11", 3, n);
}

/* Heads that announce items which do not follow: arrays, maps, texts, bytes, at several lengths. */
static void announce(long n) {
	static const unsigned char majors[] = {0x40, 0x60, 0x80, 0xa0};
	static const unsigned char lengths[][8] = {{0, 0, 0, 1, 0, 0, 0, 0},
	    {0x7f, 255, 255, 255, 255, 255, 255, 255}, {255, 255, 255, 255, 255, 255, 255, 255}};
	unsigned char head[9] = {(unsigned char)(majors[n % 4] | 27)};
	memcpy(head + 1, lengths[n / 4 % 3], 8);
	send_value((const char *)head, sizeof head, 1);
}

/* The largest value that the result's limit lets through, out of the smallest items. */
static void many_items(long n) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_RESULT);
	begin_result();
	gb_cbor_array(&hostile_out, (uint64_t)n);
	for (long i = 0; i < n; i++)
		gb_buf_append(&hostile_out, "\x80", 1);
	gb_frame_end(&hostile_out, mark);
	hostile_flush();
	hostile_stay();
}

static void trail(long n) {
	size_t mark = gb_frame_begin(&hostile_out, GB_FRAME_RESULT);
	begin_result();
	for (long i = 0; i <= n; i++)
		gb_cbor_unsigned(&hostile_out, 42);
	gb_frame_end(&hostile_out, mark);
	hostile_flush();
	hostile_stay();
}

/* Right items in wrong places. */
static void wrong_types(long n) {
	static const struct {
		uint8_t type;
		const char *bytes;
		size_t n;
	} messages[] = {
	    {GB_FRAME_RESULT, "\x60\x00\xf4\xf6\x00", 5},       /* the status is a text */
	    {GB_FRAME_RESULT, "\x04\x00\xf4\xf6\x00", 5},       /* there is no such status */
	    {GB_FRAME_RESULT, "\x20\x00\xf4\xf6\x00", 5},       /* it is negative */
	    {GB_FRAME_RESULT, "\x00\xf6\xf4\xf6\x00", 5},       /* the memory is null */
	    {GB_FRAME_RESULT, "\x00\x00\xf6\xf6\x00", 5},       /* truncated is null */
	    {GB_FRAME_RESULT, "\x00\x00\xf4\x80\x00", 5},       /* an error, but success */
	    {GB_FRAME_RESULT, "\x01\x00\xf4\xf6", 4},           /* no error, but no success */
	    {GB_FRAME_RESULT, "\x01\x00\xf4\x80", 4},           /* an error of no fields */
	    {GB_FRAME_LOG, "\x05\xfb\0\0\0\0\0\0\0\0\x80", 11}, /* there is no such level */
	    {GB_FRAME_LOG, "\x00\x00\x80", 3},                  /* the time is no float */
	    {GB_FRAME_LOG, "\x00\xfb\0\0\0\0\0\0\0\0\x00", 11}, /* the arguments are a number */
	    {GB_FRAME_LOG, "\x00\xfb\0\0\0\0\0\0\0\0\xa0", 11}, /* the arguments are an object */
	};
	if ((size_t)n >= GB_COUNT(messages))
		_exit(3);
	gb_frame_append(&hostile_out, messages[n].type, messages[n].bytes, messages[n].n);
	hostile_flush();
	hostile_stay();
}

static void many_logs(long n) {
	for (long i = 0; i < n; i++) {
		tiny_log();
		if (hostile_out.len > 60000)
			hostile_flush();
	}
	hostile_result();
	hostile_flush();
}

static void close_and_live(long n) {
	(void)n;
	close(host);
	hostile_stay();
}

static void drip(long n) {
	(void)n;
	tiny_log();
	hostile_result();
	struct gb_buf whole = hostile_out;
	for (size_t i = 0; i < whole.len; i++)
		if (!gb_write_all(host, whole.data + i, 1))
			return;
}

static void half_a_frame(long n) {
	(void)n;
	hostile_result();
	hostile_out.len /= 2;
	hostile_flush();
}

static void exit_with(long n) {
	_exit((int)n);
}

static void crash(long n) {
	volatile int *volatile nowhere = NULL;
	switch (n) {
	case 0:
		*nowhere = 1;
		break;
	case 1:
		__builtin_trap();
	case 2:
		abort(); /* which cannot send the signal, and finds another way */
#ifdef __x86_64__
	case 3:
		__asm__ volatile("int3");
		break;
	case 4:
		__asm__ volatile("int $0x80" ::"a"(20) : "memory");
		break;
#endif
	}
	_exit(3);
}

static void use_up_cpu(long n) {
	setrlimit(RLIMIT_CPU, &(struct rlimit){(rlim_t)n, (rlim_t)n + 1});
	be_busy(0);
}

static const struct hostile_behaviour behaviours[] = {
    {"ok", be_ok},
    {"silent", be_silent},
    {"busy", be_busy},
    {"twice", answer_twice},
    {"linger", answer_and_linger},
    {"flood-logs", flood_logs},
    {"flood-after-result", flood_after_result},
    {"flood-one-frame", flood_one_frame},
    {"length", send_length},
    {"type", send_type},
    {"cut-result", cut_result},
    {"cut-error", cut_error},
    {"cut-log", cut_log},
    {"bend-result", bend_result},
    {"bend-error", bend_error},
    {"bend-log", bend_log},
    {"nest-arrays", nest_arrays},
    {"nest-maps", nest_maps},
    {"nest-tags", nest_tags},
    {"announce", announce},
    {"many-items", many_items},
    {"trail", trail},
    {"wrong-types", wrong_types},
    {"many-logs", many_logs},
    {"close-and-live", close_and_live},
    {"drip", drip},
    {"half-a-frame", half_a_frame},
    {"exit", exit_with},
    {"crash", crash},
    {"use-up-cpu", use_up_cpu},
};

void hostile_serve(int fd, const char *head, size_t n) {
	struct gb_cbor_reader in = gb_cbor_reader(head + GB_FRAME_HEAD, n - GB_FRAME_HEAD);
	struct gb_cbor_item source;
	char name[64];
	long number = 0;
	/* A source that is not in the first bytes is none of ours: the rest of it is never read. */
	if (!gb_cbor_next(&in, &source) || source.argument >= sizeof name)
		hostile_stay();
	memcpy(name, source.bytes, source.argument);
	name[source.argument] = '\0';
	char *space = strchr(name, ' ');
	if (space) {
		*space = '\0';
		number = atol(space + 1);
	}
	host = fd;
	gb_buf_init(&hostile_out, MESSAGE_MAX);
	for (size_t i = 0; i < GB_COUNT(behaviours); i++)
		if (strcmp(behaviours[i].name, name) == 0)
			behaviours[i].behave(number);
	for (const struct hostile_behaviour *b = hostile_bridge_behaviours; b->name; b++)
		if (strcmp(b->name, name) == 0)
			b->behave(number);
}
