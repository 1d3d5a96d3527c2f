/*
 * What the audit log says about one execution, and its one form as bytes.
 *
 *	struct gb_audit_record record = {
 *	    .kind = GB_STR("code_execution"), .run_id = gb_str_from(id), .code = source, ...
 *	};
 *
 * Plain data that borrows its texts. What is not known is left zero and is not written. Texts that are longer
 * than their maximum are cut and named in .cut; bytes that are no text are mended. The caller hands in what
 * may be kept: secrets are masked before, not here.
 *
 * As bytes: a CBOR map from field numbers (the index in gb_audit_fields) to values, ascending, without what
 * is zero or absent. Every record has one encoding and what is not one is refused, so decode and encode are
 * inverse.
 */
#ifndef GB_STORE_RECORD_H
#define GB_STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
	GB_HASH_BYTES = 32,
	GB_AUDIT_CODE_MAX = 16 << 20, /* of .code */
	GB_AUDIT_TEXT_MAX = 16 << 10, /* of any other text */
	GB_AUDIT_SUMMARY_CHARS = 500, /* of .output_summary */
	GB_AUDIT_BODY_MAX = 17 << 20, /* of a record as bytes */
};

struct gb_hash {
	uint8_t bytes[GB_HASH_BYTES];
};

struct gb_audit_hash {
	bool is_set;
	struct gb_hash hash;
};

struct gb_audit_number {
	bool is_set;
	int64_t number; /* of at most 53 bits */
};

struct gb_audit_record {
	int64_t time_ms;    /* wall clock when it was recorded; the log sets it. Not ordered: seq is */
	struct gb_str kind; /* "code_execution", "code_input", "execution_begin", "prune" */
	struct gb_str run_id, session_id, conversation_id;
	struct gb_str runtime, runtime_version;
	struct gb_str status, error_code; /* as in a result */
	struct gb_audit_number exit_code;
	bool timed_out, truncated;       /* its output was */
	int64_t started_ms, finished_ms; /* wall clock */
	uint64_t duration_ns, memory_bytes;

	/* What was wanted. */
	struct gb_str tier, purpose, expected_output;
	struct gb_str trace; /* JSON */
	struct gb_str code;
	uint64_t input_bytes; /* of all that went in, whatever is kept of it */
	struct gb_audit_hash input_hash;
	uint64_t masked_input; /* how many secrets were masked in .code */

	/* What came out. */
	struct gb_str output_summary;
	uint64_t output_bytes;
	struct gb_audit_hash output_hash;
	uint64_t masked_output;

	/* Under what. */
	struct gb_str limits, permissions; /* JSON */
	struct gb_str layers;              /* JSON: those of the wall that were up */
	struct gb_str decision;            /* "auto", "user", "trusted_session", "denied", "expired" */
	struct gb_str decided_by;          /* user id */

	bool was_begun;     /* an "execution_begin" of the same run stands before it; the log sets it */
	struct gb_str note; /* in records of the log itself: what was done to it */
	uint64_t cut;       /* bit i: field i was cut; the encoder sets it */
};

enum gb_audit_type {
	GB_AUDIT_TEXT,
	GB_AUDIT_JSON,  /* text that others wrote as JSON */
	GB_AUDIT_TIME,  /* int64_t, milliseconds since 1970 */
	GB_AUDIT_COUNT, /* uint64_t */
	GB_AUDIT_NANOSECONDS,
	GB_AUDIT_NUMBER, /* struct gb_audit_number */
	GB_AUDIT_HASH,   /* struct gb_audit_hash */
	GB_AUDIT_FLAG,   /* bool */
	GB_AUDIT_CUT,
};

struct gb_audit_field {
	const char *name;  /* as JSON says it */
	const char *label; /* for people */
	enum gb_audit_type type;
	size_t offset;
};

/* The one table: encoding, JSON and what is shown come from it. New fields are added at its end. */
extern const struct gb_audit_field gb_audit_fields[];
extern const size_t gb_audit_n_fields;

/* Where @record keeps @field; of the type that the field says. */
static inline const void *gb_audit_at(
    const struct gb_audit_record *record, const struct gb_audit_field *field) {
	return (const char *)record + field->offset;
}

/* Is it known? @at is where a record keeps it. */
bool gb_audit_is_present(const struct gb_audit_field *field, const void *at);

/* Append the bytes of @record to @out, which may then have failed. */
void gb_audit_encode(struct gb_buf *out, const struct gb_audit_record *record);
/* The other way; texts then point into @bytes. False if they are not what gb_audit_encode writes. */
bool gb_audit_decode(const void *bytes, size_t n, struct gb_audit_record *ret_record);

/* One JSON object on one line. Texts that should be JSON and are not are strings. */
void gb_audit_json(
    struct gb_buf *out, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record);
/* "a1b2…", zero-terminated. */
void gb_hash_format(char text[2 * GB_HASH_BYTES + 1], const struct gb_hash *hash);

#endif
