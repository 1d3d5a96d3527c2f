/*
 * What the commands share: one table of commands, one way to declare flags, one way to speak to a person.
 */
#ifndef GB_CLI_CLI_H
#define GB_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/str.h"
#include "glovebox/err.h"

/* What a caller's script can rely on. */
enum {
	EXIT_OK = 0,
	EXIT_CODE_FAILED = 1,
	EXIT_BAD_USE = 2,
	EXIT_REFUSED = 3,
	EXIT_TIMEOUT = 124,
};

struct command {
	const char *name;
	const char *synopsis; /* what follows the name */
	const char *summary;  /* one line */
	const char *details;  /* for --help */
	const struct flag *flags;
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_run, command_session, command_session_host, command_stdio,
    command_ts_strip, command_audit, command_approvals, command_execute, command_energy, command_secrets,
    command_config, command_prompt, command_doctor, command_bench, command_version;

/* --- flags (options.c) --- */

enum flag_traits {
	FLAG_REPEATS = 1, /* each value counts; others are refused the second time */
	FLAG_EMPTY = 2,   /* "" is a value */
	FLAG_PATH = 4,    /* any bytes; other values are UTF-8 */
};

struct flag {
	const char *name;     /* "timeout"; NULL ends the table */
	char short_name;      /* or 0 */
	const char *argument; /* "MS"; NULL if it takes none */
	const char *help;
	unsigned traits;     /* enum flag_traits */
	const char *actions; /* " list show ": those that it has an effect on; NULL: all */
};

/* Called for each flag, in order; @flag is NULL for an operand. False stops the parsing: the callee has said
 * why. */
typedef bool (*flag_handler)(const struct flag *flag, const char *value, void *data);

enum parsed { PARSED, PARSED_HELP, PARSED_BAD };

/* --help is known everywhere and answered here. */
enum parsed parse_flags(
    const struct command *command, int argc, char **argv, flag_handler handler, void *data);

/* After parse_flags: refuse flags that have no effect on @action. */
bool check_action_flags(const struct command *command, const char *action);

/* "glovebox run: …" on stderr, as print_message prints it: parts of it may be untrusted. Returns false, for
 * handlers. */
bool report_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Complain of @err. Where its field is what a flag of @command sets, the flag is named instead; returns
 * whether it is. */
bool report_flag_error(const struct command *command, const struct gb_err *err);
/* The same for an error of the server: @message is "@field: @detail", or about no field. */
bool report_field_error(
    const struct command *command, const char *field, const char *detail, const char *message);

void print_help(const struct command *command, FILE *to);

/* --- colours (term.c) --- */

enum style { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, CYAN };

/* @text in @style, if @to is a terminal that wants colours. */
void print_styled(FILE *to, enum style style, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What stands around text in @style; "" where there are no colours. */
const char *style_begin(FILE *to, enum style style);
const char *style_end(FILE *to, enum style style);

/* @s between quotes, as JSON; with replacement characters for bytes that are not UTF-8. */
void print_json_string(FILE *to, const char *s);

/* --- source code (excerpt.c); other text of the code is printed by untrusted.h --- */

/* A line of @source with a caret below the column (in bytes). Nothing if it is too long to be read. */
void print_excerpt(FILE *to, struct gb_str source, unsigned line, unsigned column);

#endif
