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
#include "sandbox/protocol.h"
#include "value/cbor.h"
#include "value/frame.h"

enum { MESSAGE_MAX = 64 << 20, MANY = 1000000 };

static int host;
static struct gb_buf out;

static void flush(void) {
	if (!gb_write_all(host, out.data, out.len))
		_exit(0);
	gb_buf_clear(&out);
}

__attribute__((noreturn)) static void stay(void) {
	for (int word = 0;;)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* --- well-formed messages --- */

static void begin_result(void) {
	gb_cbor_unsigned(&out, 0);
	gb_cbor_unsigned(&out, 1000);
	gb_cbor_simple(&out, GB_SIMPLE_FALSE);
	gb_cbor_simple(&out, GB_SIMPLE_NULL);
}

static void result(void) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	begin_result();
	gb_cbor_unsigned(&out, 42);
	gb_frame_end(&out, mark);
}

/* One that has a bit of everything, to be cut and bent. */
static void rich_value(void) {
	gb_cbor_array(&out, 5);
	gb_cbor_object(&out, 1);
	gb_cbor_string(&out, "key", 3);
	gb_cbor_float(&out, 0.5);
	gb_cbor_tag(&out, GB_CBOR_MAP);
	gb_cbor_object(&out, 1);
	gb_cbor_unsigned(&out, 1);
	gb_cbor_tag(&out, GB_CBOR_REFERENCE);
	gb_cbor_unsigned(&out, 0);
	gb_cbor_tag(&out, GB_CBOR_ERROR);
	gb_cbor_array(&out, 3);
	gb_cbor_string(&out, "Error", 5);
	gb_cbor_string(&out, "no", 2);
	gb_cbor_simple(&out, GB_SIMPLE_NULL);
	gb_cbor_tag(&out, GB_CBOR_VIEW);
	gb_cbor_array(&out, 4);
	gb_cbor_unsigned(&out, 1);
	gb_cbor_unsigned(&out, 1);
	gb_cbor_unsigned(&out, 2);
	gb_cbor_bytes(&out, "abcd", 4);
	gb_cbor_tag(&out, GB_CBOR_BIGINT);
	gb_cbor_bytes(&out, "\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 9);
}

static void rich_result(void) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	begin_result();
	rich_value();
	gb_frame_end(&out, mark);
}

static void rich_log(void) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_LOG);
	gb_cbor_unsigned(&out, 2);
	gb_cbor_float(&out, 1e12);
	rich_value();
	gb_frame_end(&out, mark);
}

static void rich_error(void) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	gb_cbor_unsigned(&out, 1);
	gb_cbor_unsigned(&out, 1000);
	gb_cbor_simple(&out, GB_SIMPLE_TRUE);
	gb_cbor_array(&out, 8);
	for (int i = 0; i < 6; i++)
		gb_cbor_string(&out, "text", 4);
	gb_cbor_unsigned(&out, 1);
	gb_cbor_unsigned(&out, 2);
	gb_frame_end(&out, mark);
}

static void tiny_log(void) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_LOG);
	gb_cbor_unsigned(&out, 0);
	gb_cbor_float(&out, 0);
	gb_cbor_array(&out, 0);
	gb_frame_end(&out, mark);
}

/* --- behaviours --- */

static void be_ok(long n) {
	(void)n;
	result();
	flush();
}

static void be_silent(long n) {
	(void)n;
	stay();
}

static void be_busy(long n) {
	(void)n;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void answer_twice(long n) {
	(void)n;
	result();
	rich_error();
	flush();
}

static void answer_and_linger(long n) {
	(void)n;
	result();
	flush();
	be_busy(0);
}

static void flood_logs(long n) {
	(void)n;
	for (;;) {
		while (out.len < 60000)
			tiny_log();
		flush();
	}
}

static void flood_after_result(long n) {
	(void)n;
	result();
	flood_logs(0);
}

/* A frame of @n bytes, or as many of them as are wanted of it. */
static void flood_one_frame(long n) {
	const unsigned char head[] = {
	    (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)(n >> 16), (unsigned char)(n >> 24)};
	static const char zeros[60000] = {0};
	gb_buf_append(&out, head, sizeof head);
	gb_buf_append(&out, &(char){GB_FRAME_LOG}, 1);
	for (;;) {
		gb_buf_append(&out, zeros, sizeof zeros);
		flush();
	}
}

static void send_length(long n) {
	const uint32_t length = (uint32_t)n;
	gb_buf_append(&out, &length, sizeof length);
	gb_buf_append(&out, "\2", 1);
	flush();
	stay();
}

static void send_type(long n) {
	gb_frame_append(&out, (uint8_t)n, "\0", 1);
	flush();
	stay();
}

/* The length is right, but what it spans is cut after @n bytes. */
static void send_cut(void (*message)(void), long n) {
	message();
	size_t whole = out.len - GB_FRAME_HEAD;
	if (n < 0 || (size_t)n >= whole)
		_exit(3); /* there is no more to cut */
	uint32_t length = (uint32_t)n + 1;
	memcpy(out.data, &length, sizeof length);
	out.len = GB_FRAME_HEAD + (size_t)n;
	flush();
	stay();
}

static void cut_result(long n) {
	send_cut(rich_result, n);
}

static void cut_error(long n) {
	send_cut(rich_error, n);
}

static void cut_log(long n) {
	send_cut(rich_log, n);
}

/* Every bit of the payload, wrong once. What comes out is anybody's guess, but something has to. */
static void send_bent(void (*message)(void), long n) {
	message();
	size_t byte = GB_FRAME_HEAD + (size_t)n / 8;
	if (byte >= out.len)
		_exit(3);
	out.data[byte] ^= (char)(1 << n % 8);
	flush();
	_exit(0);
}

static void bend_result(long n) {
	send_bent(rich_result, n);
}

static void bend_error(long n) {
	send_bent(rich_error, n);
}

static void bend_log(long n) {
	send_bent(rich_log, n);
}

/* A result whose value is @n copies of @bytes. */
static void send_value(const char *bytes, size_t n_bytes, long n) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	begin_result();
	for (long i = 0; i < n; i++)
		gb_buf_append(&out, bytes, n_bytes);
	gb_frame_end(&out, mark);
	flush();
	stay();
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

/* Heads that announce what is not there: arrays, maps, texts, bytes, at several lengths. */
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
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	begin_result();
	gb_cbor_array(&out, (uint64_t)n);
	for (long i = 0; i < n; i++)
		gb_buf_append(&out, "\x80", 1);
	gb_frame_end(&out, mark);
	flush();
	stay();
}

static void trail(long n) {
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	begin_result();
	for (long i = 0; i <= n; i++)
		gb_cbor_unsigned(&out, 42);
	gb_frame_end(&out, mark);
	flush();
	stay();
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
	gb_frame_append(&out, messages[n].type, messages[n].bytes, messages[n].n);
	flush();
	stay();
}

static void many_logs(long n) {
	for (long i = 0; i < n; i++) {
		tiny_log();
		if (out.len > 60000)
			flush();
	}
	result();
	flush();
}

static void close_and_live(long n) {
	(void)n;
	close(host);
	stay();
}

static void drip(long n) {
	(void)n;
	tiny_log();
	result();
	struct gb_buf whole = out;
	for (size_t i = 0; i < whole.len; i++)
		if (!gb_write_all(host, whole.data + i, 1))
			return;
}

static void half_a_frame(long n) {
	(void)n;
	result();
	out.len /= 2;
	flush();
}

/* After @n milliseconds. */
static void exit_later(long n) {
	int word = 0;
	const struct timespec time = {n / 1000, n % 1000 * 1000000};
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0);
	_exit(0);
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

static const struct {
	const char *name;
	void (*behave)(long n);
} behaviours[] = {
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
    {"exit-later", exit_later},
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
		stay();
	memcpy(name, source.bytes, source.argument);
	name[source.argument] = '\0';
	char *space = strchr(name, ' ');
	if (space) {
		*space = '\0';
		number = atol(space + 1);
	}
	host = fd;
	gb_buf_init(&out, MESSAGE_MAX);
	for (size_t i = 0; i < GB_COUNT(behaviours); i++)
		if (strcmp(behaviours[i].name, name) == 0)
			behaviours[i].behave(number);
}
