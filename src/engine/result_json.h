/* The common JSON form of a result, for embedding into larger objects, and the way back. */
#ifndef GB_ENGINE_RESULT_JSON_H
#define GB_ENGINE_RESULT_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "glovebox/glovebox.h"

/* Append one JSON object to @out. Ids of shared values are unique within it, from 0. */
bool gb_result_write_json(struct gb_buf *out, const struct gb_result *result, struct gb_err *err);

/* Read such an object, which came as a message. Values and texts are those of @object, lists are in @lists.
 * A field that is missing or of another type is empty; an absent result is NULL, also on success. Fails only
 * if @lists is full. */
bool gb_result_read_json(
    const struct gb_value *object, struct gb_arena *lists, struct gb_result *ret, struct gb_err *err);

#endif
