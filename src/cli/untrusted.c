#include "cli/untrusted.h"

#include <string.h>
#include <unistd.h>

#include "cli/glyph.h"
#include "value/wtf8.h"

enum { INDENT = 2 };

static bool is_printable(uint32_t code) {
	return code == '\n' || code == '\t' || !gb_wtf8_is_unsafe(code);
}

/* Print @text; with @may_hold except an incomplete character at its end, whose length is returned. */
static size_t print_safe(FILE *to, const char *text, size_t n, bool may_hold) {
	size_t at = 0, plain = 0;
	if (n == 0)
		return 0;
	while (at < n) {
		uint32_t code = 0;
		size_t length = gb_wtf8_next(text + at, n - at, &code);
		if (length && is_printable(code)) {
			at += length;
			continue;
		}
		fwrite(text + plain, 1, at - plain, to);
		if (!length && may_hold && gb_wtf8_is_cut(text + at, n - at))
			return n - at;
		fputc('?', to);
		plain = at += length ? length : 1;
	}
	fwrite(text + plain, 1, at - plain, to);
	return 0;
}

/* Complete and print the held character. Returns how many bytes of @bytes were used. */
static size_t complete_held(struct untrusted *stream, FILE *to, const char *bytes, size_t n) {
	size_t taken = 0;
	while (stream->n && taken < n) {
		/* A byte that does not continue the character belongs to the next one. */
		if (((unsigned char)bytes[taken] & 0xc0) != 0x80) {
			untrusted_end(stream, to);
			break;
		}
		stream->held[stream->n++] = bytes[taken++];
		size_t left = print_safe(to, stream->held, stream->n, true);
		stream->n = left == stream->n ? left : 0;
	}
	return taken;
}

void untrusted_feed(struct untrusted *stream, FILE *to, const char *bytes, size_t n) {
	size_t taken = complete_held(stream, to, bytes, n);
	if (taken == n)
		return;
	stream->n = print_safe(to, bytes + taken, n - taken, true);
	memcpy(stream->held, bytes + n - stream->n, stream->n);
}

void untrusted_end(struct untrusted *stream, FILE *to) {
	print_safe(to, stream->held, stream->n, false);
	stream->n = 0;
}

void print_untrusted(FILE *to, const char *text, size_t n) {
	print_safe(to, text, n, false);
}

void print_untrusted_styled(FILE *to, enum style style, const char *text, size_t n) {
	fputs(style_begin(to, style), to);
	print_untrusted(to, text, n);
	fputs(style_end(to, style), to);
}

/* Print a line, indented unless it already is or @is_first. */
static void print_line(FILE *to, struct gb_str line, bool is_first) {
	if (!is_first && line.n && line.p[0] != ' ' && line.p[0] != '\t')
		fprintf(to, "%*s", INDENT, "");
	print_untrusted(to, line.p, line.n);
}

void print_message(FILE *to, const char *text, size_t n) {
	struct gb_str rest = {n ? text : "", n}, line;
	for (bool is_first = true, more = true; more; is_first = false) {
		more = gb_str_cut(&rest, '\n', &line);
		print_line(to, line, is_first);
		if (more)
			fputc('\n', to);
	}
}

void print_block(FILE *to, const char *text, size_t n) {
	struct gb_str rest = {text, n}, line;
	while (rest.n) {
		gb_str_cut(&rest, '\n', &line);
		print_line(to, line, false);
		fputc('\n', to);
	}
}

void print_name(FILE *to, const char *text, size_t n) {
	for (size_t at = 0; at < n;) {
		struct glyph glyph = glyph_first(text + at, n - at);
		fputs(glyph.text, to);
		at += glyph.bytes;
	}
}

void print_name_padded(FILE *to, enum style style, const char *text, unsigned width) {
	size_t n = strlen(text), used = 0;
	for (size_t at = 0; at < n;) {
		struct glyph glyph = glyph_first(text + at, n - at);
		used += glyph.width;
		at += glyph.bytes;
	}
	fputs(style_begin(to, style), to);
	print_name(to, text, n);
	fputs(style_end(to, style), to);
	fprintf(to, "%*s", used < width ? (int)(width - used) : 0, "");
}

void print_data(FILE *to, const char *bytes, size_t n) {
	if (isatty(fileno(to)))
		print_untrusted(to, bytes, n);
	else
		fwrite(bytes, 1, n, to);
}
