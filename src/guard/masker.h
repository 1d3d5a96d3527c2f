/*
 * Masks values and texts of one run, for masked.c: on the thread of the event loop, or beside it with a fork of the
 * filter. Internal to masked.c, which decides what is masked where.
 */
#ifndef GB_GUARD_MASKER_H
#define GB_GUARD_MASKER_H

#include "base/arena.h"
#include "base/str.h"
#include "glovebox/glovebox.h"
#include "guard/secrets.h"

struct gb_masker {
	struct gb_filter *filter;
	struct gb_values *values; /* of the masked values; used by one masker at a time */
	struct gb_arena texts;
	bool failed; /* memory was exhausted */
};

void gb_masker_init(struct gb_masker *masker, struct gb_filter *filter, struct gb_values *values);
void gb_masker_finish(struct gb_masker *masker);

/* NULL if memory is out, or @value is NULL. */
const struct gb_value *gb_masker_value(struct gb_masker *masker, const struct gb_value *value);
/* A whole text. */
struct gb_str gb_masker_text(struct gb_masker *masker, const char *text, size_t n);
/* A truncated text: an end that may be a part of a secret is dropped. */
struct gb_str gb_masker_cut_text(struct gb_masker *masker, const char *text, size_t n);
/* All fields of @result except logs and streams, in place. */
void gb_masker_result(struct gb_masker *masker, struct gb_result *result);

/* About how many bytes there are to look at, with a few for each value. Takes little time for any value: one of very
 * many values counts as GB_MASKER_MANY. */
#define GB_MASKER_MANY ((size_t)1 << 30)
size_t gb_masker_size(const struct gb_value *value);
/* The same for what gb_masker_result masks. */
size_t gb_masker_result_size(const struct gb_result *result);

#endif
