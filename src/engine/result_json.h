/* The common JSON form of a result, for embedding into larger objects. */
#ifndef GB_ENGINE_RESULT_JSON_H
#define GB_ENGINE_RESULT_JSON_H

#include "base/buf.h"
#include "glovebox/glovebox.h"

/* Append one JSON object to @out. Ids of shared values are unique within it, from 0. */
bool gb_result_write_json(struct gb_buf *out, const struct gb_result *result, struct gb_err *err);

#endif
