/* Lookups in the table of languages (glovebox/languages.h), for callers with borrowed text or a buffer. */
#ifndef GB_BASE_LANGUAGE_H
#define GB_BASE_LANGUAGE_H

#include "base/buf.h"
#include "base/str.h"
#include "glovebox/languages.h"

/* As gb_language_find. */
bool gb_language_find_str(struct gb_str name, enum gb_language *ret);
/* "typescript (ts), python (py, python3), …": for errors about a name that is not in the table. */
void gb_language_write_names(struct gb_buf *out);
/* ".ts, .mts (typescript), …": for errors about a file's ending. */
void gb_language_write_endings(struct gb_buf *out);

#endif
