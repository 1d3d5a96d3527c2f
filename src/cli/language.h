/* What code is written in, as the command line says. */
#ifndef GB_CLI_LANGUAGE_H
#define GB_CLI_LANGUAGE_H

#include "cli/cli.h"
#include "glovebox/languages.h"

/* A flag with this argument has the languages listed below the options of --help. */
#define LANGUAGE_ARGUMENT "LANG"

/* @name (of -l) if it is not NULL; else by the ending of @file; else, with code that has no file (NULL, or
 * "-"), TypeScript. Complains of a name or an ending that is not in the table. */
bool language_choose(
    const struct command *command, const char *name, const char *file, enum gb_language *ret);

/* One line for each: name, aliases, file endings, what it is. */
void language_print_all(FILE *to);

#endif
