#include "egress/echo.h"

#include <string.h>

enum { WINDOW = GB_ECHO_FORM_MAX + 4096 };

/* The bytes that were held, then new ones. */
struct window {
	size_t n;
	char bytes[WINDOW];
	bool masked[WINDOW];
};

static void mark(struct window *window, struct gb_str form) {
	const char *at = window->bytes, *end = window->bytes + window->n;
	if (!form.n)
		return;
	while ((at = memmem(at, (size_t)(end - at), form.p, form.n))) {
		memset(window->masked + (at - window->bytes), true, form.n);
		at++;
	}
}

/* How many of the last bytes may be the beginning of a form. */
static size_t undecided(const struct window *window, const struct gb_str *forms, size_t n_forms) {
	size_t most = 0;
	for (size_t i = 0; i < n_forms; i++) {
		const size_t longest = forms[i].n ? forms[i].n - 1 : 0;
		for (size_t n = longest < window->n ? longest : window->n; n > most; n--)
			if (memcmp(window->bytes + window->n - n, forms[i].p, n) == 0)
				most = n;
	}
	return most;
}

static void emit(struct window *window, size_t n, struct gb_buf *out) {
	for (size_t i = 0; i < n; i++)
		if (window->masked[i])
			window->bytes[i] = '*';
	gb_buf_append(out, window->bytes, n);
}

static void feed_part(struct gb_echo *echo, const char *bytes, size_t n, struct gb_buf *out) {
	struct window window;
	memcpy(window.bytes, echo->held, echo->n_held);
	memcpy(window.masked, echo->masked, echo->n_held * sizeof *echo->masked);
	memcpy(window.bytes + echo->n_held, bytes, n);
	memset(window.masked + echo->n_held, false, n * sizeof *window.masked);
	window.n = echo->n_held + n;
	for (size_t i = 0; i < echo->n_forms; i++)
		mark(&window, echo->forms[i]);
	const size_t kept = undecided(&window, echo->forms, echo->n_forms), done = window.n - kept;
	echo->n_held = kept;
	memcpy(echo->held, window.bytes + done, kept);
	memcpy(echo->masked, window.masked + done, kept * sizeof *echo->masked);
	emit(&window, done, out);
}

void gb_echo_feed(struct gb_echo *echo, const char *bytes, size_t n, struct gb_buf *out) {
	while (n) {
		const size_t part = n < WINDOW - GB_ECHO_FORM_MAX ? n : WINDOW - GB_ECHO_FORM_MAX;
		feed_part(echo, bytes, part, out);
		bytes += part;
		n -= part;
	}
}

void gb_echo_end(struct gb_echo *echo, struct gb_buf *out) {
	for (size_t i = 0; i < echo->n_held; i++)
		gb_buf_append_char(out, echo->masked[i] ? '*' : echo->held[i]);
	echo->n_held = 0;
}

void gb_echo_mask(const struct gb_str *forms, size_t n_forms, char *text, size_t n) {
	struct gb_echo echo = {.forms = forms, .n_forms = n_forms};
	struct gb_buf out;
	gb_buf_init(&out, n);
	gb_echo_feed(&echo, text, n, &out);
	gb_echo_end(&echo, &out);
	if (gb_buf_failed(&out))
		memset(text, '*', n);
	else if (n)
		memcpy(text, out.data, n);
	gb_buf_finish(&out);
}
