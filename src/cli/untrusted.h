/*
 * Prints untrusted text: text that comes from code, an agent or a file of a project.
 *
 * A terminal interprets control characters (ESC, the C1 range, backspace, carriage return), and characters
 * that change the direction of text or end lines can misrepresent the text. None of them is printed, whether
 * in UTF-8 or as single bytes; bytes that are not UTF-8 are not printed either. This applies to all streams,
 * since log files are read in a terminal later.
 *
 *	print_untrusted		text of several lines: '?' for each, line feeds and tabs stay
 *	print_message		a message: the same, and no line but the first begins in the first column
 *	print_block		the same for a stack trace: no line at all does
 *	print_name		names and paths: one line, with each by its number, <U+000A>
 *
 * The output of a program comes in pieces that may end within a character: struct untrusted keeps that.
 */
#ifndef GB_CLI_UNTRUSTED_H
#define GB_CLI_UNTRUSTED_H

#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"

/* Zero-initialise. */
struct untrusted {
	char held[4]; /* an incomplete character */
	size_t n;
};

void untrusted_feed(struct untrusted *stream, FILE *to, const char *bytes, size_t n);
/* The stream has ended: print the incomplete character as invalid. */
void untrusted_end(struct untrusted *stream, FILE *to);

void print_untrusted(FILE *to, const char *text, size_t n);
void print_untrusted_styled(FILE *to, enum style style, const char *text, size_t n);
void print_message(FILE *to, const char *text, size_t n);
/* Ends its last line. Prints nothing if there is no text. */
void print_block(FILE *to, const char *text, size_t n);
void print_name(FILE *to, const char *text, size_t n);
/* The same, with spaces up to @width columns. */
void print_name_padded(FILE *to, enum style style, const char *text, unsigned width);

/* Print data (translated code, JSON, a prompt): unchanged, except to a terminal. */
void print_data(FILE *to, const char *bytes, size_t n);

#endif
