/*
 * The secrets filter: all output of a sandbox passes through it before it is shown or stored.
 *
 *	struct gb_filter *filter = gb_filter_create();
 *	gb_secrets_add(filter, "DATABASE", value, n, &err);	// in addition to the known kinds
 *
 *	struct gb_mask *stream = gb_mask_create(filter);	// one for each stream of bytes
 *	gb_mask_feed(stream, bytes, n, &out);			// appends to out what is safe to show by now
 *	gb_mask_feed(stream, more, m, &out);
 *	gb_mask_end(stream, &out);				// the rest; the stream may be used again
 *
 *	gb_mask_value(filter, result, pool, &masked, &err);	// the same for values
 *
 * Secrets become "***". The output does not depend on how a stream was split into pieces. A
 * byte is held back only while it may still become part of a match, and never longer than gb_filter_longest()
 * bytes.
 *
 * A filter and its streams belong to one thread at a time; another thread uses a fork. Nothing here
 * logs. When memory is exhausted a
 * stream has no further output, and @out has failed: bytes that could not be checked are not shown.
 */
#ifndef GB_GUARD_SECRETS_H
#define GB_GUARD_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "glovebox/value.h"

enum {
	GB_SECRET_MIN = 6,            /* bytes of a value: shorter ones would be found everywhere */
	GB_SECRET_MAX = 16 << 10,     /* of one value */
	GB_SECRETS_MAX = 1000,        /* values */
	GB_SECRETS_BYTES = 128 << 10, /* of all values together */
	GB_SECRET_NAME_MAX = 100,
};

#define GB_SECRET_VARIABLE "GLOVEBOX_SECRET_"

struct gb_filter;
struct gb_mask;

/* With all the patterns of secrets_patterns.c; they are compiled when the first bytes come. NULL without
 * memory. */
struct gb_filter *gb_filter_create(void);
/* Without the patterns: it finds only added values and patterns. */
struct gb_filter *gb_filter_create_bare(void);
/* Add a reference; each owner calls gb_filter_destroy. */
struct gb_filter *gb_filter_ref(struct gb_filter *filter);
/* After its streams. The last owner erases the values. NULL is fine. */
void gb_filter_destroy(struct gb_filter *filter);
/* Whether @filter is not among the @known ones, in which case it is noted there, as far as there is room. For adding a
 * value once to each of the filters that several runs share. */
enum { GB_FILTERS_MAX = 16 };
bool gb_filters_note(struct gb_filter *known[GB_FILTERS_MAX], struct gb_filter *filter);
/* A view of @filter as it is now, for another thread: it finds the same, counts on its own, and shares what is only
 * read. Secrets that are added to @filter later are not known to it; patterns cannot be added while there is a fork.
 * It is made and joined on the filter's own thread. NULL without memory. */
struct gb_filter *gb_filter_fork(struct gb_filter *filter);
/* Whether something was added to the filter since. */
bool gb_filter_is_outdated(const struct gb_filter *fork);
/* Add its counts to those of the filter, and destroy it. gb_filter_destroy does the latter only. */
void gb_filter_join(struct gb_filter *fork);
/* True if there is anything to search for. */
bool gb_filter_is_empty(const struct gb_filter *filter);

/* Look for @value too, also in base64, hex, and as addresses and JSON spell it. Copies what it needs. Streams
 * that are open look for it from their next byte on. */
bool gb_secrets_add(
    struct gb_filter *filter, const char *name, const void *value, size_t n, struct gb_err *err);
/* Every GLOVEBOX_SECRET_<NAME> of @environment (as in environ). */
bool gb_secrets_add_environment(struct gb_filter *filter, char **environment, struct gb_err *err);
/* Whether a secret may be called @name and have a value of @n bytes. */
bool gb_secret_check(const char *name, size_t n, struct gb_err *err);

/* One more pattern; the language is that of secrets_regex.h. A bad one is refused with what is wrong and
 * where. */
bool gb_secret_patterns_add(
    struct gb_filter *filter, const char *name, const char *pattern, struct gb_err *err);

/* The most bytes that a stream can hold back. */
size_t gb_filter_longest(struct gb_filter *filter);
/* How many times each kind was masked. False when there is no kind @index. */
bool gb_filter_count(
    const struct gb_filter *filter, size_t index, const char **ret_name, uint64_t *ret_count);

/* The sum over all kinds. */
uint64_t gb_filter_total(const struct gb_filter *filter);

struct gb_mask *gb_mask_create(struct gb_filter *filter);
void gb_mask_destroy(struct gb_mask *stream);

void gb_mask_feed(struct gb_mask *stream, const void *bytes, size_t n, struct gb_buf *out);
void gb_mask_end(struct gb_mask *stream, struct gb_buf *out);
/* For callers that keep the order of several streams. gb_mask_add only takes input; of @out only the failure is set.
 * gb_mask_release appends the output of at most @max bytes of input, as far as they are decided; with @last no input
 * follows, and all are. A masked place is released as a whole, also beyond @max. Returns the number of bytes of input
 * that were released. */
void gb_mask_add(struct gb_mask *stream, const void *bytes, size_t n, struct gb_buf *out);
size_t gb_mask_release(struct gb_mask *stream, size_t max, bool last, struct gb_buf *out);
/* Instead of gb_mask_end, for a truncated stream: an end that may be a part of a secret is dropped. */
void gb_mask_cut(struct gb_mask *stream, struct gb_buf *out);
/* A whole text, appended to @out without its secrets. */
void gb_mask_text(struct gb_filter *filter, struct gb_str text, struct gb_buf *out);
/* Go on with @filter: a fork of the stream's filter, or the filter of which its fork was used. */
void gb_mask_use(struct gb_mask *stream, struct gb_filter *filter);
/* The number of bytes that are held back now. */
size_t gb_mask_held(const struct gb_mask *stream);

/*
 * *ret_value is @value with every text, key and byte array masked; it is @value itself if there was nothing
 * to mask, else a copy in @pool that has its sharing and cycles. Buffers keep their length: each byte becomes
 * '*'. A key that was masked gets a number if another was before it.
 */
bool gb_mask_value(struct gb_filter *filter, const struct gb_value *value, struct gb_values *pool,
    const struct gb_value **ret_value, struct gb_err *err);

#endif
