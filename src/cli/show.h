/* What a run said and gave, shown to a person or a program: the same for 'run' and for sessions. */
#ifndef GB_CLI_SHOW_H
#define GB_CLI_SHOW_H

#include "cli/cli.h"
#include "glovebox/glovebox.h"
#include "guard/secrets.h"

struct shown {
	const struct command *command;
	struct gb_str source;     /* for excerpts */
	struct gb_filter *filter; /* code in which it finds a secret is not shown; or NULL */
	const char *out;          /* a folder for what the program shows, or NULL */
	const char *json;         /* print this, the result's JSON, and nothing else; or NULL */
};

/* A console call, and a piece of output, as they happen. */
void show_log(enum gb_log_level level, const struct gb_value *args);
void show_output(int stream, const char *bytes, size_t n);

/* The end; returns the exit status. */
int show_result(const struct shown *shown, const struct gb_result *result);

/* A run that never began, in the shape of one that did if @json. */
int show_refusal(const struct command *command, bool json, const char *code, const char *message);

#endif
