/*
 * A record of the audit log about one execution, and its encoding.
 *
 *	struct gb_audit_record record = {
 *	    .kind = GB_STR("code_execution"), .run_id = gb_str_from(id), .code = source, ...
 *	};
 *
 * Plain data that borrows its texts. Unknown fields are zero and are not written. Texts that are longer than
 * their maximum are truncated and listed in .cut; invalid UTF-8 is replaced. Secrets must be masked by the
 * caller: everything in the record is stored.
 *
 * The encoding is a CBOR map from field numbers (the index in gb_audit_fields) to values, ascending, without
 * zero or absent fields. Every record has exactly one encoding and any other is rejected, so decode and
 * encode are inverse.
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
	GB_AUDIT_CODE_MAX = 16 << 20,    /* of .code */
	GB_AUDIT_TEXT_MAX = 16 << 10,    /* of any other text */
	GB_AUDIT_NETWORK_MAX = 64 << 10, /* of .network */
	GB_AUDIT_SUMMARY_CHARS = 1001,   /* of .output_summary: 500 of output, a newline, 500 of the result */
	GB_AUDIT_BODY_MAX = 17 << 20,    /* of an encoded record */
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
	int64_t time_ms;    /* wall clock when recorded; set by the log. Not ordered, unlike seq */
	struct gb_str kind; /* "code_execution", "code_input", "execution_begin", "prune" */
	struct gb_str run_id, session_id, conversation_id;
	struct gb_str runtime, runtime_version;
	struct gb_str status, error_code; /* as in a result */
	struct gb_audit_number exit_code;
	bool timed_out, truncated;       /* truncated: of its output */
	int64_t started_ms, finished_ms; /* wall clock */
	uint64_t duration_ns, memory_bytes;

	/* The request. */
	struct gb_str tier, purpose, expected_output;
	struct gb_str trace; /* JSON */
	struct gb_str code;
	uint64_t input_bytes; /* of the whole input, even if only a part is stored */
	struct gb_audit_hash input_hash;
	uint64_t masked_input; /* number of secrets masked in .code */

	/* The output. */
	struct gb_str output_summary;
	uint64_t output_bytes;
	struct gb_audit_hash output_hash;
	uint64_t masked_output;

	/* The rules it ran under. */
	struct gb_str limits, permissions; /* JSON */
	struct gb_str layers;              /* JSON: the active sandbox layers */
	struct gb_str
	    decision; /* "auto", "user", "trusted_session", "embedder", "not_needed", "denied", "expired" */
	struct gb_str decided_by; /* user id */

	bool was_begun;     /* an "execution_begin" of the same run precedes it; set by the log */
	struct gb_str note; /* in records about the log itself: what was done */
	uint64_t cut;       /* bit i: field i was truncated; set by the encoder */
	struct gb_str face,
	    intent;            /* the contract through which the request came; "RUN_CODE" for core.execute */
	struct gb_str network; /* JSON: attempts to reach hosts */
};

enum gb_audit_type {
	GB_AUDIT_TEXT,
	GB_AUDIT_JSON,  /* text that should be JSON */
	GB_AUDIT_TIME,  /* int64_t, milliseconds since 1970 */
	GB_AUDIT_COUNT, /* uint64_t */
	GB_AUDIT_NANOSECONDS,
	GB_AUDIT_NUMBER, /* struct gb_audit_number */
	GB_AUDIT_HASH,   /* struct gb_audit_hash */
	GB_AUDIT_FLAG,   /* bool */
	GB_AUDIT_CUT,
};

struct gb_audit_field {
	const char *name;  /* in JSON */
	const char *label; /* for people */
	enum gb_audit_type type;
	size_t offset;
};

/* The encoding, JSON and display are driven by this table. New fields are appended. */
extern const struct gb_audit_field gb_audit_fields[];
extern const size_t gb_audit_n_fields;

/* A pointer to @field in @record; its type depends on the field. */
static inline const void *gb_audit_at(
    const struct gb_audit_record *record, const struct gb_audit_field *field) {
	return (const char *)record + field->offset;
}

/* The maximum length of a text. */
size_t gb_audit_text_max(const struct gb_audit_field *field);

/* Whether the field is set; @at points to it in a record. */
bool gb_audit_is_present(const struct gb_audit_field *field, const void *at);

/* A copy that owns its texts, in one block: release it with free(). NULL: no memory. */
struct gb_audit_record *gb_audit_copy(const struct gb_audit_record *record);

/* Append the bytes of @record to @out, which may then have failed. */
void gb_audit_encode(struct gb_buf *out, const struct gb_audit_record *record);
/* Decode a record; its texts point into @bytes. False if @bytes are not the output of gb_audit_encode. */
bool gb_audit_decode(const void *bytes, size_t n, struct gb_audit_record *ret_record);

/* One JSON object on one line. Invalid JSON texts are written as strings. */
void gb_audit_json(
    struct gb_buf *out, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record);
/* "a1b2…", zero-terminated. */
void gb_hash_format(char text[2 * GB_HASH_BYTES + 1], const struct gb_hash *hash);

#endif
