/*
 * What a terminal has shown, for tests that wait until it shows something.
 *
 * What came behind the text that was waited for is kept: whether a program's words arrive together or one by
 * one is nobody's promise.
 */
#ifndef GB_TESTS_SCREEN_H
#define GB_TESTS_SCREEN_H

#include "tap.h"

struct screen {
	char text[65536]; /* zero-terminated */
	size_t n, seen;   /* in it; of that, looked at */
};

/* Only the end of what it has shown remains. */
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
		/* A zero would end what is looked at. */
		screen->text[screen->n++] = bytes[i] ? bytes[i] : '?';
	}
	screen->text[screen->n] = '\0';
}

/* Is @text there, behind what was looked at? Then it has been looked at too. */
static inline bool screen_shows(struct screen *screen, const char *text) {
	const char *found = strstr(screen->text + screen->seen, text);
	if (found)
		screen->seen = (size_t)(found - screen->text) + strlen(text);
	return found != NULL;
}

/* After all patience: it must be there. */
static inline bool screen_check(const struct screen *screen, const char *text, bool shown) {
	if (!CHECK(shown)) {
		tap_quote("missing: ", text);
		tap_quote("there is: ", screen->text + screen->seen);
	}
	return shown;
}

#endif
