/* For all code, tokens cover it without gaps, none of it is in the first column, no line is too long, and the
 * listing has no terminal control sequence. The first byte selects the language. */
#include "fuzz.h"

#include <string.h>

#include "cli/listing.h"
#include "value/wtf8.h"

enum { COLUMNS = 40 };

static void check_tokens(enum gb_syntax syntax, struct gb_str code) {
	struct highlight highlight = {.code = code, .syntax = syntax};
	for (size_t at = 0, end; at < code.n; at = end) {
		highlight_next(&highlight, &end);
		ALWAYS(end > at && end <= code.n);
	}
}

static void check_line(const char *line, size_t n) {
	size_t characters = 0;
	ALWAYS(n >= 6 && strchr(" 0123456789", line[0]));
	ALWAYS(memchr(line, '|', n) || memchr(line, '>', n));
	for (size_t i = 0, length; i < n; i += length, characters++) {
		uint32_t code;
		length = gb_wtf8_decode(line + i, &code);
		ALWAYS(!gb_wtf8_is_unsafe(code));
	}
	ALWAYS(characters <= COLUMNS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *out = NULL;
	size_t n = 0;
	if (size == 0)
		return 0;
	struct gb_str code = {(const char *)data + 1, size - 1};
	struct listing listing = {.columns = COLUMNS, .has_numbers = true, .syntax = data[0] % 4};
	check_tokens(listing.syntax, code);
	listing.to = open_memstream(&out, &n);
	ALWAYS(listing.to);
	print_listing(&listing, code, NULL);
	fclose(listing.to);
	ALWAYS(n > 0 && out[n - 1] == '\n' && gb_wtf8_scan(out, n) != GB_WTF8_INVALID);
	for (const char *line = out, *end; line < out + n; line = end + 1) {
		end = memchr(line, '\n', (size_t)(out + n - line));
		check_line(line, (size_t)(end - line));
	}
	free(out);
	return 0;
}
