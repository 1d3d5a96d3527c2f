/*
 * A small test framework with TAP output.
 *
 *	#include "tap.h"
 *
 *	TEST(cut_without_separator_takes_everything) {
 *		CHECK(gb_str_cut(&rest, '=', &head) == false);
 *		CHECK_STR(text, "expected");
 *		CHECK_INT(count, 3);
 *		if (!kernel_has_landlock)
 *			SKIP("no Landlock");
 *	}
 *
 * This is a complete file: tests register themselves, and main() is here. A failed check is reported and the
 * test continues. The exit status is 1 if any check failed.
 */
#ifndef GB_TESTS_TAP_H
#define GB_TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAP_MAX_TESTS = 1000, TAP_MAX_REPORTS = 10 };

static struct tap {
	struct {
		const char *name;
		void (*run)(void);
		const void *data;
	} tests[TAP_MAX_TESTS];
	unsigned n;
	const void *data;  /* of the running test, if it was added with data */
	unsigned failures; /* of the running test; later ones are only counted */
	const char *skipped;
} tap;

/* Adds a test from a table; must be called in a constructor. */
static inline void tap_add(const char *name, void (*run)(void), const void *data) {
	if (tap.n == TAP_MAX_TESTS)
		abort();
	tap.tests[tap.n].name = name;
	tap.tests[tap.n].run = run;
	tap.tests[tap.n++].data = data;
}

/* Prints the text on one line, escaped, so that it cannot be parsed as TAP. */
static inline void tap_quote(const char *label, const char *text) {
	printf("#   %s", label);
	for (; text && *text; text++)
		if ((unsigned char)*text < 0x20)
			printf("\\x%02x", (unsigned)(unsigned char)*text);
		else
			putchar(*text);
	puts(text ? "" : "NULL");
}

static inline bool tap_check(bool ok, const char *file, int line, const char *what) {
	if (!ok && ++tap.failures <= TAP_MAX_REPORTS)
		printf("# %s:%d: %s\n", file, line, what);
	return ok;
}

static inline bool tap_check_str(const char *a, const char *e, const char *file, int line, const char *what) {
	bool ok = a && e ? strcmp(a, e) == 0 : a == e;
	if (!tap_check(ok, file, line, what) && tap.failures <= TAP_MAX_REPORTS) {
		tap_quote("actual:   ", a);
		tap_quote("expected: ", e);
	}
	return ok;
}

static inline bool tap_check_int(long long a, long long e, const char *file, int line, const char *what) {
	if (!tap_check(a == e, file, line, what) && tap.failures <= TAP_MAX_REPORTS)
		printf("#   actual:   %lld\n#   expected: %lld\n", a, e);
	return a == e;
}

#define TEST(name)                                                                                           \
	static void test_##name(void);                                                                       \
	__attribute__((constructor)) static void tap_register_##name(void) {                                 \
		tap_add(#name, test_##name, NULL);                                                           \
	}                                                                                                    \
	static void test_##name(void)

/* Each check is an expression: true if it passed. */
#define CHECK(condition) tap_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_STR(actual, expected)                                                                          \
	tap_check_str((actual), (expected), __FILE__, __LINE__, #actual " is " #expected)
#define CHECK_INT(actual, expected)                                                                          \
	tap_check_int(                                                                                       \
	    (long long)(actual), (long long)(expected), __FILE__, __LINE__, #actual " is " #expected)

/* Skips the rest of the test. */
#define SKIP(reason)                                                                                         \
	do {                                                                                                 \
		tap.skipped = (reason);                                                                      \
		return;                                                                                      \
	} while (0)

int main(void) {
	bool any = false;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%u\n", tap.n);
	for (unsigned i = 0; i < tap.n; i++) {
		tap.failures = 0;
		tap.skipped = NULL;
		tap.data = tap.tests[i].data;
		tap.tests[i].run();
		if (tap.failures > TAP_MAX_REPORTS)
			printf("# %u checks failed\n", tap.failures);
		printf("%sok %u - ", tap.failures ? "not " : "", i + 1);
		for (const char *c = tap.tests[i].name; *c; c++)
			putchar(*c == '_' ? ' ' : *c);
		printf("%s%s\n", tap.skipped ? " # SKIP " : "", tap.skipped ? tap.skipped : "");
		any |= tap.failures > 0;
	}
	return any;
}

#endif
