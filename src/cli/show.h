/* Shows the output and result of a run, for 'run', 'execute' and sessions. */
#ifndef GB_CLI_SHOW_H
#define GB_CLI_SHOW_H

#include "cli/cli.h"
#include "glovebox/glovebox.h"
#include "guard/secrets.h"

struct shown {
	const struct command *command;
	struct gb_str source;                /* for excerpts */
	struct gb_filter *filter;            /* code that contains a secret is not quoted; or NULL */
	const char *out;                     /* a folder for files and displays, or NULL */
	const char *json;                    /* print this, the result's JSON, and nothing else; or NULL */
	const struct gb_run_options *limits; /* language and limits, for a message; 0: a limit is not known */
	bool is_agent;                       /* agent.maxOutputSize limits the output, too */
};

/* Show a console call, or a piece of output. */
void show_log(enum gb_log_level level, const struct gb_value *args);
void show_output(int stream, const char *bytes, size_t n);

/* Show the result. Returns the exit status. */
int show_result(const struct shown *shown, const struct gb_result *result);

/* Whether masking would change @text. */
bool show_has_secrets(struct gb_filter *filter, struct gb_str text);

/* Show why a run was refused; with @json as the JSON of a result. */
int show_refusal(const struct command *command, bool json, const char *code, const char *message);

#endif
