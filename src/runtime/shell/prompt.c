#include "runtime/shell/prompt.h"

#include <string.h>

#include "base/cleanup.h"
#include "value/wtf8.h"

enum { ESCAPE = 0x1b, BELL = 7, DELETE = 0x7f };

void gb_prompt_clear(struct gb_prompt *prompt) {
	prompt->n = 0;
}

void gb_prompt_feed(struct gb_prompt *prompt, const char *bytes, size_t n) {
	const char *end = n ? memrchr(bytes, '\n', n) : NULL;
	if (end) {
		prompt->n = 0;
		n -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	if (n >= sizeof prompt->line) {
		bytes += n - sizeof prompt->line;
		n = sizeof prompt->line;
		prompt->n = 0;
	} else if (n > sizeof prompt->line - prompt->n) {
		size_t gone = n - (sizeof prompt->line - prompt->n);
		memmove(prompt->line, prompt->line + gone, prompt->n - gone);
		prompt->n -= gone;
	}
	if (n)
		memcpy(prompt->line + prompt->n, bytes, n);
	prompt->n += n;
}

/* End of the escape sequence at @at: two bytes, a control sequence, or a string such as a title. */
static size_t skip_escape(const char *bytes, size_t at, size_t n) {
	if (++at == n)
		return n;
	char kind = bytes[at++];
	if (kind == '[') {
		while (at < n && (unsigned char)bytes[at] < 0x40)
			at++;
		return at < n ? at + 1 : n;
	}
	if (kind == ']' || kind == 'P' || kind == '_' || kind == '^') {
		while (at < n && bytes[at] != BELL && bytes[at] != ESCAPE)
			at++;
		if (at + 1 < n && bytes[at] == ESCAPE)
			at++;
		return at < n ? at + 1 : n;
	}
	/* A character set selection has one more byte. */
	return kind >= 0x20 && kind < 0x30 && at < n ? at + 1 : at;
}

static size_t last_character(const char *text, size_t n) {
	while (n > 0 && ((unsigned char)text[--n] & 0xc0) == 0x80)
		;
	return n;
}

/* A carriage return restarts the line. The rest of a longer earlier line is dropped: programs usually erase
 * it. */
static size_t render(const struct gb_prompt *prompt, char *text) {
	size_t n = 0;
	for (size_t i = 0; i < prompt->n;) {
		char c = prompt->line[i];
		if (c == ESCAPE) {
			i = skip_escape(prompt->line, i, prompt->n);
			continue;
		}
		i++;
		if (c == '\r' && i < prompt->n)
			n = 0;
		else if (c == '\b')
			n = last_character(text, n);
		else if (c == '\t')
			text[n++] = ' ';
		else if ((unsigned char)c >= ' ' && c != DELETE)
			text[n++] = c;
	}
	return n;
}

/* A truncated line may begin with the tail of a secret, which redaction would miss: skip the first word, or
 * half of the text if that is one word. */
static size_t skip_word(const char *text, size_t n) {
	for (size_t i = 0; i < n / 2; i++)
		if (text[i] == ' ')
			return i + 1;
	return n / 2;
}

size_t gb_prompt_text(const struct gb_prompt *prompt, char *text, size_t max) {
	char whole[GB_PROMPT_LINE_MAX];
	size_t n = render(prompt, whole), from = n > max ? n - max : 0;
	if (from || prompt->n == sizeof prompt->line)
		from += skip_word(whole + from, n - from);
	while (from < n && ((unsigned char)whole[from] & 0xc0) == 0x80)
		from++;
	n -= from;
	memcpy(text, whole + from, n);
	if (gb_wtf8_scan(text, n) != GB_WTF8_UTF8)
		for (size_t i = 0; i < n; i++)
			if (text[i] & 0x80)
				text[i] = '?';
	return n;
}

bool gb_prompt_asks(const char *text, size_t n) {
	while (n > 0 && text[n - 1] == ' ')
		n--;
	return n > 0 && strchr("?:>$#])%", text[n - 1]);
}
