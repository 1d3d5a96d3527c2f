/*
 * The options that name the code and its limits, for every command that runs code:
 *
 *	static const struct flag flags[] = {CODE_FLAGS, LIMIT_FLAGS {"purpose", ...}, {0}};
 *	...
 *	struct code_flags code = {.command = self, .options = &options, .values = values};
 *	bool ok;
 *	if (code_flags_take(&code, flag, value, &ok))		// in the handler: it was one of them
 *		return ok;
 *	...
 *	if (!code_flags_load(&code)) ...			// reported
 *	code_flags_finish(&code);
 */
#ifndef GB_CLI_CODE_FLAGS_H
#define GB_CLI_CODE_FLAGS_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "glovebox/glovebox.h"

struct code_flags {
	const struct command *command;
	struct gb_run_options *options; /* receives source, filename, fn, args, limits */
	struct gb_values *values;       /* for args */
	const char *file;               /* "-" is standard input; or NULL */
	const char *code;               /* of -e; or NULL */
	const char *language;           /* of -l; or NULL */
	bool json;
	struct gb_buf source;
};

#define CODE_FLAGS                                                                                           \
	{"eval", 'e', "CODE", "run CODE instead of a file", FLAG_EMPTY, NULL}, {                             \
		"json", 0, NULL, "print the complete result as one JSON object, and nothing else", 0, NULL   \
	}
#define LANGUAGE_FLAG                                                                                        \
	{                                                                                                    \
		"language", 'l', LANGUAGE_ARGUMENT,                                                          \
		    "the language of the code; default: by the file's ending, else typescript", 0, NULL      \
	}
#define ARGS_FLAG                                                                                            \
	{ "args", 0, "JSON", "an array: the arguments of the function, or a script's parameters", 0, NULL }

/* An option for each limit of glovebox/fields.h that has one; each is followed by a comma. */
#define LIMIT_FLAGS      GB_LIMIT_FIELDS(LIMIT_FLAG_ROW)
#define LIMIT_HELP_MS    "TIME", "250ms, 5s or 2m: "
#define LIMIT_HELP_BYTES "SIZE", "32M or 1G: "
#define LIMIT_HELP_COUNT "N", ""
#define LIMIT_NO_FLAG(flag, unit, doc)
#define LIMIT_FLAG(flag, unit, doc) {(flag), 0, LIMIT_HELP_##unit doc, 0, NULL},
#define LIMIT_FLAG_ROW(                                                                                      \
    member, width, json, place, unit, fallback, least, most, has_flag, flag, enforcer, agents, doc)          \
	LIMIT_##has_flag(flag, unit, doc)

/* Handle @flag if it is one of these; returns whether it is. *ret_ok is false if its value is invalid, which
 * is reported. */
bool code_flags_take(struct code_flags *code, const struct flag *flag, const char *value, bool *ret_ok);
/* Handle an operand, which names a file. Reports an error if code was already given. */
bool code_flags_take_file(struct code_flags *code, const char *file);
/* The language: by -l, by the file's ending, else TypeScript. Reports an unknown one. */
bool code_flags_choose_language(const struct code_flags *code, enum gb_language *ret);
/* Read the code: options->source, and options->filename if it has one. */
bool code_flags_load(struct code_flags *code);
void code_flags_finish(struct code_flags *code);

#endif
