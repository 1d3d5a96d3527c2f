/*
 * The output of a terminal, for tests that wait for a text.
 *
 * Output after the awaited text is kept: a program's output may arrive in one piece or in
 * several.
 */
#ifndef GB_TESTS_SCREEN_H
#define GB_TESTS_SCREEN_H

#include "tap.h"

struct screen {
	char text[65536]; /* zero-terminated */
	size_t n, seen;   /* bytes in text; the part that has been matched */
};

/* Append output; only the end is kept. */
static inline void screen_scroll(struct screen *screen) {
	size_t gone = screen->n - sizeof screen->text / 2;
	screen->n -= gone;
	screen->seen -= screen->seen < gone ? screen->seen : gone;
	memmove(screen->text, screen->text + gone, screen->n);
}

static inline void screen_add(struct screen *screen, const char *bytes, size_t n) {
	for (size_t i = 0; i < n; i++) {
		if (screen->n == sizeof screen->text - 1)
			screen_scroll(screen);
		/* A zero byte would end the searched text. */
		screen->text[screen->n++] = bytes[i] ? bytes[i] : '?';
	}
	screen->text[screen->n] = '\0';
}

/* Whether @text occurs after the matched part; if so, the matched part is extended by it. */
static inline bool screen_shows(struct screen *screen, const char *text) {
	const char *found = strstr(screen->text + screen->seen, text);
	if (found)
		screen->seen = (size_t)(found - screen->text) + strlen(text);
	return found != NULL;
}

/* Check, after the timeout of a wait, that the text is there; else print the output. */
static inline bool screen_check(const struct screen *screen, const char *text, bool shown) {
	if (!CHECK(shown)) {
		tap_quote("missing: ", text);
		tap_quote("there is: ", screen->text + screen->seen);
	}
	return shown;
}

#endif
