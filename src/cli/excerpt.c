#include <string.h>

#include "cli/untrusted.h"

enum { SHOWN_MAX = 200 };

/* Print spaces as wide as @text: tabs stay, and a character of several bytes counts once. */
static void print_pad(FILE *to, const char *text, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\t')
			fputc('\t', to);
		else if (((unsigned char)text[i] & 0xc0) != 0x80)
			fputc(' ', to);
}

void print_excerpt(FILE *to, struct gb_str source, unsigned line, unsigned column) {
	struct gb_str rest = source, text = {0};
	for (unsigned i = 0; i < line; i++)
		if (!gb_str_cut(&rest, '\n', &text) && i + 1 < line)
			return;
	if (text.n && text.p[text.n - 1] == '\r')
		text.n--;
	if (!line || !column || text.n > SHOWN_MAX || column > text.n + 1)
		return;
	fputs("  ", to);
	print_untrusted(to, text.p, text.n);
	fputs("\n  ", to);
	print_pad(to, text.p, column - 1);
	print_styled(to, RED, "^\n");
}
