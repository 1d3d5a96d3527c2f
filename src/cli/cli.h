/*
 * Shared by all commands: the commands, the declaration of flags, errors and colours.
 */
#ifndef GB_CLI_CLI_H
#define GB_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/nearest.h"
#include "base/str.h"
#include "glovebox/err.h"

/* Exit statuses. */
enum {
	EXIT_OK = 0,
	EXIT_CODE_FAILED = 1,
	EXIT_BAD_USE = 2,
	EXIT_REFUSED = 3,
	EXIT_TIMEOUT = 124,
};

/* An action of a command, selected by its first operand. */
struct action {
	const char *name;     /* NULL ends the table */
	const char *operands; /* follow the name in --help; or "" */
	const char *details;  /* for --help */
};

struct command {
	const char *name;     /* of a subcommand: "session exec" */
	const char *synopsis; /* follows the name in --help */
	const char *summary;  /* one line */
	const char *details;  /* for --help */
	const struct flag *flags;
	const struct action *actions;          /* or NULL: it has no actions */
	const struct command *const *commands; /* its subcommands, up to NULL; or NULL: it has none */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_run, command_session, command_session_host, command_stdio,
    command_ts_strip, command_audit, command_approvals, command_execute, command_executor, command_energy,
    command_secrets, command_config, command_prompt, command_mcp, command_doctor, command_bench, command_tool,
    command_stubs, command_version, command_complete;

/* --- the list of commands (commands.c) --- */

/* Both end with NULL. Hidden commands are called by other parts of Glovebox. */
extern const struct command *const all_commands[], *const hidden_commands[];

/* The command with the last word @word, or NULL. */
const struct command *find_command(const struct command *const *commands, const char *word);
/* The last word of its name: "exec" of "session exec". */
const char *command_word(const struct command *command);

/* --- flags (options.c) --- */

enum flag_traits {
	FLAG_REPEATS = 1, /* may be given several times; other flags are refused the second time */
	FLAG_EMPTY = 2,   /* may be "" */
	FLAG_PATH = 4,    /* any bytes; other values must be UTF-8 */
	FLAG_REFUSED =
	    8, /* not listed: an option of a related command, and its help is why it is refused here */
};

struct flag {
	const char *name;     /* "timeout"; NULL ends the table */
	char short_name;      /* or 0 */
	const char *argument; /* "MS"; NULL if it takes none */
	const char *help;
	unsigned traits;     /* enum flag_traits */
	const char *actions; /* " list show ": the actions that it has an effect on; NULL: all */
};

/* Called for each flag, in order; @flag is NULL for an operand. If it returns false, parsing stops, and it
 * must have reported the error. */
typedef bool (*flag_handler)(const struct flag *flag, const char *value, void *data);

enum parsed { PARSED, PARSED_HELP, PARSED_BAD };

/* Handles --help for every command and action, and refuses an unknown action. */
enum parsed parse_flags(
    const struct command *command, int argc, char **argv, flag_handler handler, void *data);

/* The flag that @text ("--name", "--name=value", "-x" or "-xvalue") names, or NULL. *ret_value is NULL if @text has no
 * value. */
const struct flag *find_flag(const struct command *command, const char *text, const char **ret_value);
/* The action with this name, or NULL. */
const struct action *find_action(const struct command *command, const char *name);
/* Whether @flag has an effect on @action; NULL is any. False if it is always refused. */
bool has_effect(const struct flag *flag, const char *action);

/* After parse_flags: refuse flags that have no effect on @action. */
bool check_action_flags(const struct command *command, const char *action);

/* Print "glovebox run: …" on stderr with print_message: parts of the text may be untrusted. With --json the
 * message is kept, and usage_end prints it. Returns false, for handlers. */
bool report_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Report @err. If a flag of @command sets its field, the message names the flag instead. Returns whether it
 * does. */
bool report_flag_error(const struct command *command, const struct gb_err *err);
/* The same for an error of the server: @message is "@field: @detail", or names no field. */
bool report_field_error(
    const struct command *command, const char *field, const char *detail, const char *message);

/* The same for a message that is no error. */
void report_warning(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "; did you mean 'x'?" or "", for an error about the word @given. */
const char *suggestion(const struct gb_nearest *nearest);
/* Report that @parent has no command @name, which stands before @argv, and return the exit status. */
int refuse_command(const struct command *parent, const char *name, int argc, char **argv);
/* From now on, keep errors for usage_end. */
void usage_as_json(void);
/* At the end of the program: print the errors that were kept, as JSON on stdout if @status is EXIT_BAD_USE. */
void usage_end(int status);

void print_help(const struct command *command, FILE *to);

/* --- manual pages (manual.c) --- */

enum { MANUAL_NAME = 64 };

/* "glovebox-session-exec" for "session exec", "glovebox" for NULL. */
void manual_name(const struct command *command, char ret[MANUAL_NAME]);
/* At the end of --help: name the manual page, if it is installed in the tree of this program. */
void manual_refer(const struct command *command, FILE *to);

/* --- colours (term.c) --- */

enum style { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, CYAN };

/* Print in @style, if @to is a terminal with colours. */
void print_styled(FILE *to, enum style style, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The escape sequences around text in @style; "" if there are no colours. */
const char *style_begin(FILE *to, enum style style);
const char *style_end(FILE *to, enum style style);

/* Print @s as a JSON string; bytes that are not UTF-8 become replacement characters. */
void print_json_string(FILE *to, const char *s);

/* --- source code (excerpt.c); other text of the code is printed by untrusted.h --- */

/* Print a line of @source with a caret below the column (in bytes). Prints nothing if the line is too
 * long. */
void print_excerpt(FILE *to, struct gb_str source, unsigned line, unsigned column);

#endif
