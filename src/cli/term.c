#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "value/json.h"

static bool wants_colours(FILE *to) {
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(fileno(to)) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

const char *style_begin(FILE *to, enum style style) {
	static const char *const codes[] = {
	    "", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"};
	return wants_colours(to) ? codes[style] : "";
}

const char *style_end(FILE *to, enum style style) {
	return style != PLAIN && wants_colours(to) ? "\033[0m" : "";
}

void print_styled(FILE *to, enum style style, const char *format, ...) {
	fputs(style_begin(to, style), to);
	va_list ap;
	va_start(ap, format);
	vfprintf(to, format, ap);
	va_end(ap);
	fputs(style_end(to, style), to);
}

void print_json_string(FILE *to, const char *s) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, SIZE_MAX);
	gb_json_append_bytes(&text, gb_str_from(s));
	fwrite(text.data, 1, text.len, to);
}
