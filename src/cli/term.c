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

void print_styled(FILE *to, enum style style, const char *format, ...) {
	static const char *const codes[] = {"", "1", "2", "31", "32", "33"};
	bool coloured = style != PLAIN && wants_colours(to);
	if (coloured)
		fprintf(to, "\033[%sm", codes[style]);
	va_list ap;
	va_start(ap, format);
	vfprintf(to, format, ap);
	va_end(ap);
	if (coloured)
		fputs("\033[0m", to);
}

void print_json_string(FILE *to, const char *s) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 1 << 20);
	gb_json_append_string(&text, gb_str_from(s));
	fwrite(text.data, 1, text.len, to);
}
