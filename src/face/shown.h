/* The text of a call of console. */
#ifndef GB_FACE_SHOWN_H
#define GB_FACE_SHOWN_H

#include "base/buf.h"
#include "glovebox/value.h"

enum { GB_SHOWN_MAX = 1 << 20 }; /* of one value that is no text */

/* Append the arguments of a call of console, as it shows them. */
void gb_shown_append(struct gb_buf *out, const struct gb_value *args);

#endif
