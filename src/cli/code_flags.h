/*
 * The options that name the code, the fields of its request and its limits, for every command that runs code:
 *
 *	static const struct flag flags[] = {CODE_FLAGS, LANGUAGE_FLAG, RUN_FLAGS LIMIT_FLAGS {"out", ...}, {0}};
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

/* The size of the pool for the values of all fields. */
enum { CODE_VALUES_MAX = 64 << 20 };

struct code_flags {
	const struct command *command;
	struct gb_run_options *options; /* receives source, filename, the fields of the request, limits */
	struct gb_values *values;       /* for values of fields; see CODE_VALUES_MAX */
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
/* An option for each field of a request (glovebox/fields.h) that has one; each is followed by a comma. Of a new
 * sandbox (RUN_FLAGS), of a session (SESSION_FLAGS), of an agent (AGENT_FLAGS). */
#define RUN_FLAGS     GB_REQUEST_FIELDS(RUN_FLAG_ROW)
#define SESSION_FLAGS GB_REQUEST_FIELDS(SESSION_FLAG_ROW)
#define AGENT_FLAGS   GB_REQUEST_FIELDS(AGENT_FLAG_ROW)

#define REQUEST_TRAITS_TEXT      0
#define REQUEST_TRAITS_INPUT     FLAG_EMPTY
#define REQUEST_TRAITS_FLAG      0
#define REQUEST_TRAITS_ARGS      0
#define REQUEST_TRAITS_VARIABLES FLAG_REPEATS
#define REQUEST_TRAITS_NAMES     FLAG_REPEATS
#define REQUEST_TRAITS_FILES     (FLAG_REPEATS | FLAG_PATH)

#define REQUEST_NO_FLAG(kind, flag, argument, help)
#define REQUEST_FLAG(kind, flag, argument, help)          REQUEST_FLAG_##kind(kind, flag, argument, help)
#define REQUEST_FLAG_LANGUAGE(kind, flag, argument, help) /* LANGUAGE_FLAG */
#define REQUEST_FLAG_TEXT                                 REQUEST_FLAG_ROW
#define REQUEST_FLAG_INPUT                                REQUEST_FLAG_ROW
#define REQUEST_FLAG_FLAG                                 REQUEST_FLAG_ROW
#define REQUEST_FLAG_ARGS                                 REQUEST_FLAG_ROW
#define REQUEST_FLAG_VARIABLES                            REQUEST_FLAG_ROW
#define REQUEST_FLAG_NAMES                                REQUEST_FLAG_ROW
#define REQUEST_FLAG_FILES                                REQUEST_FLAG_ROW
#define REQUEST_FLAG_ROW(kind, flag, argument, help)      {(flag), 0, argument, help, REQUEST_TRAITS_##kind, NULL},

#define RUN_SCOPE_ANY(has_flag, ...)     REQUEST_##has_flag(__VA_ARGS__)
#define RUN_SCOPE_NEW(has_flag, ...)     REQUEST_##has_flag(__VA_ARGS__)
#define RUN_SCOPE_SESSION(has_flag, ...) /* a new sandbox has no earlier definitions */
#define RUN_FLAG_ROW(                                                                                        \
    kind, member, json, place, origin, scope, needs, job, agents, has_flag, flag, argument, help, doc)       \
	RUN_SCOPE_##scope(has_flag, kind, flag, argument, help)

#define SESSION_SCOPE_ANY(has_flag, ...)     REQUEST_##has_flag(__VA_ARGS__)
#define SESSION_SCOPE_NEW(has_flag, ...)     /* fixed when the session was opened */
#define SESSION_SCOPE_SESSION(has_flag, ...) REQUEST_##has_flag(__VA_ARGS__)
#define SESSION_FLAG_ROW(                                                                                    \
    kind, member, json, place, origin, scope, needs, job, agents, has_flag, flag, argument, help, doc)       \
	SESSION_SCOPE_##scope(has_flag, kind, flag, argument, help)

#define AGENT_MAY_AGENT(has_flag, ...)  REQUEST_##has_flag(__VA_ARGS__)
#define AGENT_MAY_CALLER(has_flag, ...) /* not for agents */
#define AGENT_FLAG_ROW(                                                                                      \
    kind, member, json, place, origin, scope, needs, job, agents, has_flag, flag, argument, help, doc)       \
	AGENT_MAY_##agents(has_flag, kind, flag, argument, help)

/* An option for each limit of glovebox/fields.h that has one; each is followed by a comma. */
#define LIMIT_FLAGS      GB_LIMIT_FIELDS(LIMIT_FLAG_ROW)
#define LIMIT_HELP_MS    "TIME", "250ms, 5s or 2m: "
#define LIMIT_HELP_BYTES "SIZE", "32M or 1G: "
#define LIMIT_HELP_COUNT "N", ""
#define LIMIT_NO_FLAG(flag, unit, doc)
#define LIMIT_FLAG(flag, unit, doc) {(flag), 0, LIMIT_HELP_##unit doc, 0, NULL},
#define LIMIT_FLAG_ROW(member, width, json, place, contract, unit, fallback, least, most, has_flag, flag,    \
    enforcer, agents, doc)                                                                                   \
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
