/* For all texts, no way of printing them writes a terminal control sequence, the output does not depend on how
 * the text is split, and JSON reads back unchanged. The first byte is the size of the pieces. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "cli/glyph.h"
#include "cli/untrusted.h"
#include "glovebox/value.h"
#include "value/json.h"
#include "value/wtf8.h"

struct printed {
	char *text;
	size_t n;
};

static void check_safe(const struct printed *out, const char *allowed) {
	ALWAYS(gb_wtf8_scan(out->text, out->n) == GB_WTF8_UTF8);
	for (size_t at = 0, length; at < out->n; at += length) {
		uint32_t code;
		length = gb_wtf8_decode(out->text + at, &code);
		ALWAYS(!gb_wtf8_is_unsafe(code) || (code && code < 0x80 && strchr(allowed, (int)code)));
	}
}

/* @from: the first line that must be indented. */
static void check_lines(const struct printed *out, unsigned from) {
	struct gb_str rest = {out->text, out->n}, line;
	for (unsigned i = 0; rest.n; i++) {
		gb_str_cut(&rest, '\n', &line);
		ALWAYS(i < from || line.n == 0 || line.p[0] == ' ' || line.p[0] == '\t');
	}
}

static struct printed print(void (*printer)(FILE *, const char *, size_t), const char *text, size_t n) {
	struct printed out = {0};
	FILE *to = open_memstream(&out.text, &out.n);
	ALWAYS(to);
	printer(to, text, n);
	fclose(to);
	return out;
}

static size_t piece;

static void print_pieces(FILE *to, const char *text, size_t n) {
	struct untrusted stream = {0};
	for (size_t at = 0; at < n; at += piece)
		untrusted_feed(&stream, to, text + at, piece < n - at ? piece : n - at);
	untrusted_end(&stream, to);
}

static void check_json(const char *text, size_t n) {
	gb_auto_buf struct gb_buf mended, json;
	gb_buf_init(&mended, SIZE_MAX);
	gb_buf_init(&json, SIZE_MAX);
	gb_wtf8_mend(&mended, text, n);
	gb_json_append_string(&json, gb_buf_str(&mended));
	const struct printed out = {json.data, json.len};
	check_safe(&out, "");
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	const struct gb_value *value = gb_value_from_json(pool, json.data, json.len, &err);
	size_t n_back = 0;
	const char *back = value ? gb_value_bytes(value, &n_back) : NULL;
	ALWAYS(back && n_back == mended.len && (n_back == 0 || memcmp(back, mended.data, n_back) == 0));
	gb_values_destroy(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	piece = data[0] % 7 + 1;
	struct printed whole = print(print_untrusted, text, size - 1),
		       pieces = print(print_pieces, text, size - 1),
		       message = print(print_message, text, size - 1),
		       block = print(print_block, text, size - 1), name = print(print_name, text, size - 1);
	ALWAYS(whole.n == pieces.n && memcmp(whole.text, pieces.text, whole.n) == 0);
	check_safe(&whole, "\n\t");
	check_safe(&message, "\n\t");
	check_safe(&block, "\n\t");
	check_safe(&name, "");
	check_lines(&message, 1);
	check_lines(&block, 0);
	check_json(text, size - 1);
	free(whole.text);
	free(pieces.text);
	free(message.text);
	free(block.text);
	free(name.text);
	return 0;
}
