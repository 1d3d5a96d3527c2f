/* The language of code on the command line. */
#ifndef GB_CLI_LANGUAGE_H
#define GB_CLI_LANGUAGE_H

#include "cli/cli.h"
#include "glovebox/languages.h"

/* If a flag has this argument, --help lists the languages below the options. */
#define LANGUAGE_ARGUMENT "LANG"

/* @name (of -l) if it is not NULL; else by the ending of @file; else, with code that has no file (NULL, or
 * "-"), TypeScript. Reports a name or an ending that is not in the table. */
bool language_choose(
    const struct command *command, const char *name, const char *file, enum gb_language *ret);

/* Print a line for each language: name, aliases, file endings, description. */
void language_print_all(FILE *to);

#endif
