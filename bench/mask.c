/*
 * The cost of the secrets filter.
 *
 *	bench-mask FILE...	plain text, which is repeated to 4 MiB
 *
 * Prints, best of several rounds: the time to create a filter; throughput in chunks of 64 KiB with all
 * patterns, with registered values too, and of memcpy; the cost of a small output, and of a value; and
 * throughput for hostile texts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "guard/secrets.h"

enum { TEXT = 4 << 20, CHUNK = 64 << 10, ROUNDS = 25, SMALL_TIMES = 5000 };

/* CPU time of this thread, on which other load of the machine has less influence. */
static uint64_t cpu_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double feed_seconds(struct gb_filter *filter, const char *text, size_t n, struct gb_buf *out) {
	struct gb_mask *stream = gb_mask_create(filter);
	double best = 1e9;
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = cpu_ns();
		for (size_t at = 0; at < n; at += CHUNK) {
			gb_mask_feed(stream, text + at, n - at < CHUNK ? n - at : CHUNK, out);
			out->len = 0;
		}
		gb_mask_end(stream, out);
		out->len = 0;
		double seconds = (double)(cpu_ns() - begin) / 1e9;
		best = seconds < best ? seconds : best;
	}
	gb_mask_destroy(stream);
	return best;
}

static double copy_seconds(const char *text, size_t n, struct gb_buf *out) {
	double best = 1e9;
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = cpu_ns();
		for (size_t at = 0; at < n; at += CHUNK) {
			out->len = 0;
			gb_buf_append(out, text + at, n - at < CHUNK ? n - at : CHUNK);
		}
		double seconds = (double)(cpu_ns() - begin) / 1e9;
		best = seconds < best ? seconds : best;
	}
	return best;
}

static double small_ns(struct gb_filter *filter, const char *text, size_t n, struct gb_buf *out) {
	struct gb_mask *stream = gb_mask_create(filter);
	double best = 1e18;
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = cpu_ns();
		for (unsigned i = 0; i < SMALL_TIMES; i++) {
			gb_mask_feed(stream, text + i * 64, n, out);
			gb_mask_end(stream, out);
			out->len = 0;
		}
		double ns = (double)(cpu_ns() - begin) / SMALL_TIMES;
		best = ns < best ? ns : best;
	}
	gb_mask_destroy(stream);
	return best;
}

static double value_ns(struct gb_filter *filter) {
	struct gb_values *pool = gb_values_create(0);
	static const char json[] =
	    "{\"rows\":[{\"name\":\"first\",\"n\":1},{\"name\":\"second\",\"n\":2}],\"ok\":true}";
	struct gb_value *value = gb_value_from_json(pool, json, sizeof json - 1, NULL);
	const struct gb_value *masked;
	double best = 1e18;
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = cpu_ns();
		for (unsigned i = 0; i < SMALL_TIMES; i++)
			gb_mask_value(filter, value, pool, &masked, NULL);
		double ns = (double)(cpu_ns() - begin) / SMALL_TIMES;
		best = ns < best ? ns : best;
	}
	gb_values_destroy(pool);
	return best;
}

static double ready_ms(void) {
	double best = 1e9;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct gb_filter *filter = gb_filter_create();
		uint64_t begin = cpu_ns();
		gb_filter_longest(filter);
		double ms = (double)(cpu_ns() - begin) / 1e6;
		best = ms < best ? ms : best;
		gb_filter_destroy(filter);
	}
	return best;
}

static void register_some(struct gb_filter *filter, unsigned count) {
	uint64_t state = 88172645463325252;
	for (unsigned i = 0; i < count; i++) {
		char name[32], value[33] = "";
		snprintf(name, sizeof name, "SECRET_%u", i);
		for (unsigned j = 0; j < 32; j++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			value[j] =
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[state >> 58];
		}
		gb_secrets_add(filter, name, value, 32, NULL);
	}
}

/* Texts that repeat the beginning of a secret. */
static const char *const hostile[] = {"AKIA", "AKIAAKIAAKIAAKI.", "password=\"", "mysql -pa ", "curl ",
    "pw=", "eyJ", "sk-ant-api03-", "-----BEGIN RSA PRIVATE KEY-----\n",
    "://a:", "ghp_0123456789012345678901234567890.", "0123456789abcdef", "aA1+"};

static void measure_hostile(struct gb_filter *filter, char *text, struct gb_buf *out) {
	size_t n = TEXT / 8;
	for (size_t i = 0; i < GB_COUNT(hostile); i++) {
		size_t unit = strlen(hostile[i]);
		for (size_t at = 0; at < n; at++)
			text[at] = hostile[i][at % unit];
		printf("hostile %-34.*s %8.3f GB/s\n", (int)strcspn(hostile[i], "\n"), hostile[i],
		    (double)n / feed_seconds(filter, text, n, out) / 1e9);
	}
}

static size_t load(int argc, char **argv, char *text) {
	gb_auto_buf struct gb_buf all;
	gb_buf_init(&all, TEXT);
	for (int i = 1; i < argc; i++) {
		gb_auto_fd int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || !gb_read_to_end(fd, argv[i], &all, NULL))
			return 0;
	}
	for (size_t at = 0; all.len && at < TEXT; at++)
		text[at] = all.data[at % all.len];
	return all.len;
}

int main(int argc, char **argv) {
	gb_auto_free char *text = malloc(TEXT);
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 20);
	size_t n = text ? load(argc, argv, text) : 0;
	if (!n) {
		fprintf(
		    stderr, "usage: bench-mask FILE...\nThe files are plain text, at most 4 MiB in total.\n");
		return 1;
	}
	struct gb_filter *filter = gb_filter_create();
	printf("ready                %8.3f ms\n", ready_ms());
	printf("longest held back    %8zu bytes\n", gb_filter_longest(filter));
	printf("memcpy               %8.2f GB/s\n", TEXT / copy_seconds(text, TEXT, &out) / 1e9);
	printf("patterns             %8.2f GB/s  (%zu bytes of text, repeated)\n",
	    TEXT / feed_seconds(filter, text, TEXT, &out) / 1e9, n);
	printf("64 bytes, and end    %8.0f ns\n", small_ns(filter, text, 64, &out));
	printf("4 KiB, and end       %8.0f ns\n", small_ns(filter, text, 4096, &out));
	printf("a small value        %8.0f ns\n", value_ns(filter));
	register_some(filter, 20);
	printf("with 20 values       %8.2f GB/s\n", TEXT / feed_seconds(filter, text, TEXT, &out) / 1e9);
	printf("64 bytes, and end    %8.0f ns\n", small_ns(filter, text, 64, &out));
	register_some(filter, 480);
	printf("with 500 values      %8.2f GB/s\n", TEXT / feed_seconds(filter, text, TEXT, &out) / 1e9);
	gb_filter_destroy(filter);
	filter = gb_filter_create();
	measure_hostile(filter, text, &out);
	gb_filter_destroy(filter);
	return 0;
}
