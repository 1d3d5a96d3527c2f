#include "store/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "value/cbor.h"
#include "value/wtf8.h"

#define FIELD(member, json, label, kind)                                                                     \
	{ json, label, kind, offsetof(struct gb_audit_record, member) }

const struct gb_audit_field gb_audit_fields[] = {
    FIELD(time_ms, "time", "recorded", GB_AUDIT_TIME),
    FIELD(kind, "type", "kind", GB_AUDIT_TEXT),
    FIELD(run_id, "runId", "run", GB_AUDIT_TEXT),
    FIELD(session_id, "sessionId", "session", GB_AUDIT_TEXT),
    FIELD(conversation_id, "conversationId", "conversation", GB_AUDIT_TEXT),
    FIELD(runtime, "runtime", "runtime", GB_AUDIT_TEXT),
    FIELD(runtime_version, "runtimeVersion", "its version", GB_AUDIT_TEXT),
    FIELD(status, "status", "status", GB_AUDIT_TEXT),
    FIELD(error_code, "errorCode", "error code", GB_AUDIT_TEXT),
    FIELD(exit_code, "exitCode", "exit code", GB_AUDIT_NUMBER),
    FIELD(timed_out, "timedOut", "timed out", GB_AUDIT_FLAG),
    FIELD(truncated, "truncated", "output truncated", GB_AUDIT_FLAG),
    FIELD(started_ms, "startedAt", "started", GB_AUDIT_TIME),
    FIELD(finished_ms, "finishedAt", "finished", GB_AUDIT_TIME),
    FIELD(duration_ns, "duration", "duration", GB_AUDIT_NANOSECONDS),
    FIELD(memory_bytes, "memoryUsedBytes", "memory", GB_AUDIT_COUNT),
    FIELD(tier, "tier", "tier", GB_AUDIT_TEXT),
    FIELD(purpose, "purpose", "purpose", GB_AUDIT_TEXT),
    FIELD(expected_output, "expectedOutput", "expected output", GB_AUDIT_TEXT),
    FIELD(trace, "trace", "trace", GB_AUDIT_JSON),
    FIELD(code, "inputCode", "code", GB_AUDIT_TEXT),
    FIELD(input_bytes, "inputBytes", "input bytes", GB_AUDIT_COUNT),
    FIELD(input_hash, "inputHash", "input hash", GB_AUDIT_HASH),
    FIELD(masked_input, "maskedInput", "masked in input", GB_AUDIT_COUNT),
    FIELD(output_summary, "outputSummary", "output", GB_AUDIT_TEXT),
    FIELD(output_bytes, "outputBytes", "output bytes", GB_AUDIT_COUNT),
    FIELD(output_hash, "outputHash", "output hash", GB_AUDIT_HASH),
    FIELD(masked_output, "maskedOutput", "masked in output", GB_AUDIT_COUNT),
    FIELD(limits, "limits", "limits", GB_AUDIT_JSON),
    FIELD(permissions, "permissions", "permissions", GB_AUDIT_JSON),
    FIELD(layers, "layers", "layers", GB_AUDIT_JSON),
    FIELD(decision, "decision", "decision", GB_AUDIT_TEXT),
    FIELD(decided_by, "approvedBy", "decided by", GB_AUDIT_TEXT),
    FIELD(was_begun, "begun", "begun before", GB_AUDIT_FLAG),
    FIELD(note, "note", "note", GB_AUDIT_TEXT),
    FIELD(cut, "cut", "cut short", GB_AUDIT_CUT),
    FIELD(face, "face", "face", GB_AUDIT_TEXT),
    FIELD(intent, "intent", "intent", GB_AUDIT_TEXT),
    FIELD(network, "network", "network", GB_AUDIT_JSON),
};
const size_t gb_audit_n_fields = GB_COUNT(gb_audit_fields);
_Static_assert(GB_COUNT(gb_audit_fields) <= 64, "a bit for each field");

/* --- encoding --- */

static bool is_text(const struct gb_audit_field *field) {
	return field->type == GB_AUDIT_TEXT || field->type == GB_AUDIT_JSON;
}

bool gb_audit_is_present(const struct gb_audit_field *field, const void *at) {
	switch (field->type) {
	case GB_AUDIT_TEXT:
	case GB_AUDIT_JSON:
		return ((const struct gb_str *)at)->p != NULL;
	case GB_AUDIT_TIME:
		return *(const int64_t *)at != 0;
	case GB_AUDIT_COUNT:
	case GB_AUDIT_NANOSECONDS:
	case GB_AUDIT_CUT:
		return *(const uint64_t *)at != 0;
	case GB_AUDIT_NUMBER:
		return ((const struct gb_audit_number *)at)->is_set;
	case GB_AUDIT_HASH:
		return ((const struct gb_audit_hash *)at)->is_set;
	case GB_AUDIT_FLAG:
		return *(const bool *)at;
	}
	return false;
}

struct gb_audit_record *gb_audit_copy(const struct gb_audit_record *record) {
	size_t n = 0;
	for (size_t i = 0; i < gb_audit_n_fields; i++)
		if (is_text(&gb_audit_fields[i]))
			n += ((const struct gb_str *)gb_audit_at(record, &gb_audit_fields[i]))->n;
	struct gb_audit_record *copy = malloc(sizeof *copy + n);
	if (!copy)
		return NULL;
	*copy = *record;
	char *end = (char *)(copy + 1);
	for (size_t i = 0; i < gb_audit_n_fields; i++) {
		struct gb_str *text = (struct gb_str *)((char *)copy + gb_audit_fields[i].offset);
		if (!is_text(&gb_audit_fields[i]) || !text->p)
			continue;
		memcpy(end, text->p, text->n);
		text->p = end;
		end += text->n;
	}
	return copy;
}

size_t gb_audit_text_max(const struct gb_audit_field *field) {
	switch (field->offset) {
	case offsetof(struct gb_audit_record, code):
		return GB_AUDIT_CODE_MAX;
	case offsetof(struct gb_audit_record, network):
		return GB_AUDIT_NETWORK_MAX;
	default:
		return GB_AUDIT_TEXT_MAX;
	}
}

/* The length of @text after truncation to whole characters. */
static size_t kept_length(const struct gb_audit_field *field, struct gb_str text) {
	size_t n = text.n;
	if (field->offset == offsetof(struct gb_audit_record, output_summary)) {
		size_t chars = 0;
		for (n = 0; n < text.n; n++)
			if (((unsigned char)text.p[n] & 0xc0) != 0x80 && chars++ == GB_AUDIT_SUMMARY_CHARS)
				break;
	}
	if (n > gb_audit_text_max(field))
		n = gb_audit_text_max(field);
	for (int i = 0; i < 3 && n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

static void truncate_text(struct gb_str *text, size_t index, uint64_t *cut) {
	size_t kept = kept_length(&gb_audit_fields[index], *text);
	if (kept < text->n)
		*cut |= UINT64_C(1) << index;
	text->n = kept;
}

/* Truncate the texts of @record to their maximum and replace invalid UTF-8. Changed texts are copied to
 * @scratch. */
static void sanitize_texts(struct gb_audit_record *record, struct gb_buf *scratch) {
	size_t repaired[GB_COUNT(gb_audit_fields)];
	struct gb_str *texts[GB_COUNT(gb_audit_fields)] = {0};
	for (size_t i = 0; i < GB_COUNT(gb_audit_fields); i++) {
		struct gb_str *text = (struct gb_str *)((char *)record + gb_audit_fields[i].offset);
		if (!is_text(&gb_audit_fields[i]))
			continue;
		truncate_text(text, i, &record->cut);
		if (gb_wtf8_scan(text->p, text->n) != GB_WTF8_INVALID)
			continue;
		repaired[i] = scratch->len;
		gb_wtf8_mend(scratch, text->p, text->n);
		text->n = scratch->len - repaired[i];
		texts[i] = text;
	}
	for (size_t i = 0; i < GB_COUNT(gb_audit_fields); i++)
		if (texts[i]) { /* set pointers last: the buffer no longer moves */
			texts[i]->p = scratch->data + repaired[i];
			truncate_text(texts[i], i, &record->cut);
		}
}

/* Integers are limited to 53 bits; valid values are smaller. */
static double clamp(int64_t number) {
	const int64_t most = INT64_C(0x1fffffffffffff);
	return (double)(number > most ? most : number < -most ? -most : number);
}

static void encode_field(struct gb_buf *out, const struct gb_audit_field *field, const void *at) {
	switch (field->type) {
	case GB_AUDIT_TEXT:
	case GB_AUDIT_JSON:
		gb_cbor_string(out, ((const struct gb_str *)at)->p, ((const struct gb_str *)at)->n);
		break;
	case GB_AUDIT_TIME:
		gb_cbor_number(out, clamp(*(const int64_t *)at));
		break;
	case GB_AUDIT_COUNT:
	case GB_AUDIT_NANOSECONDS:
	case GB_AUDIT_CUT:
		gb_cbor_unsigned(out, *(const uint64_t *)at);
		break;
	case GB_AUDIT_NUMBER:
		gb_cbor_number(out, clamp(((const struct gb_audit_number *)at)->number));
		break;
	case GB_AUDIT_HASH:
		gb_cbor_bytes(out, ((const struct gb_audit_hash *)at)->hash.bytes, GB_HASH_BYTES);
		break;
	case GB_AUDIT_FLAG:
		gb_cbor_simple(out, GB_SIMPLE_TRUE);
		break;
	}
}

void gb_audit_encode(struct gb_buf *out, const struct gb_audit_record *original) {
	struct gb_audit_record record = *original;
	gb_auto_buf struct gb_buf scratch;
	gb_buf_init(&scratch, 4 * (size_t)GB_AUDIT_BODY_MAX);
	sanitize_texts(&record, &scratch);
	if (gb_buf_failed(&scratch)) {
		out->failed = true;
		return;
	}
	size_t count = 0;
	for (size_t i = 0; i < gb_audit_n_fields; i++)
		count += gb_audit_is_present(&gb_audit_fields[i], gb_audit_at(&record, &gb_audit_fields[i]));
	gb_cbor_object(out, count);
	for (size_t i = 0; i < gb_audit_n_fields; i++) {
		const struct gb_audit_field *field = &gb_audit_fields[i];
		if (!gb_audit_is_present(field, gb_audit_at(&record, field)))
			continue;
		gb_cbor_unsigned(out, i);
		encode_field(out, field, gb_audit_at(&record, field));
	}
}

/* --- decoding --- */

static bool decode_text(const struct gb_audit_field *field, struct gb_cbor_reader *in, struct gb_str *ret) {
	struct gb_cbor_item item;
	enum gb_wtf8 expected = GB_WTF8_UTF8;
	if (!gb_cbor_next(in, &item))
		return false;
	if (item.kind == GB_CBOR_TAG) {
		expected = GB_WTF8_SURROGATES;
		if (item.argument != GB_CBOR_WTF8 || !gb_cbor_next(in, &item) || item.kind != GB_CBOR_BYTES)
			return false;
	} else if (item.kind != GB_CBOR_TEXT) {
		return false;
	}
	struct gb_str text = {(const char *)item.bytes, item.argument};
	if (gb_wtf8_scan(text.p, text.n) != expected || kept_length(field, text) != text.n)
		return false;
	*ret = text;
	return true;
}

/* Integers of at most 53 bits, as gb_cbor_number writes them. */
static bool decode_integer(struct gb_cbor_reader *in, int64_t *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || (item.kind != GB_CBOR_UNSIGNED && item.kind != GB_CBOR_NEGATIVE) ||
	    item.number > 0x1fffffffffffffp0 || item.number < -0x1fffffffffffffp0)
		return false;
	*ret = (int64_t)item.number;
	return true;
}

static bool decode_count(struct gb_cbor_reader *in, uint64_t *ret) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_UNSIGNED || item.argument == 0)
		return false;
	*ret = item.argument;
	return true;
}

static bool decode_field(const struct gb_audit_field *field, struct gb_cbor_reader *in, void *at) {
	struct gb_cbor_item item;
	switch (field->type) {
	case GB_AUDIT_TEXT:
	case GB_AUDIT_JSON:
		return decode_text(field, in, at);
	case GB_AUDIT_TIME:
		return decode_integer(in, at) && *(int64_t *)at != 0;
	case GB_AUDIT_COUNT:
	case GB_AUDIT_NANOSECONDS:
		return decode_count(in, at);
	case GB_AUDIT_CUT:
		return decode_count(in, at) && *(uint64_t *)at >> gb_audit_n_fields == 0;
	case GB_AUDIT_NUMBER:
		((struct gb_audit_number *)at)->is_set = true;
		return decode_integer(in, &((struct gb_audit_number *)at)->number);
	case GB_AUDIT_HASH:
		if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_BYTES || item.argument != GB_HASH_BYTES)
			return false;
		((struct gb_audit_hash *)at)->is_set = true;
		memcpy(((struct gb_audit_hash *)at)->hash.bytes, item.bytes, GB_HASH_BYTES);
		return true;
	case GB_AUDIT_FLAG:
		*(bool *)at = true;
		return gb_cbor_next(in, &item) && item.kind == GB_CBOR_SIMPLE &&
		       item.argument == GB_SIMPLE_TRUE;
	}
	return false;
}

bool gb_audit_decode(const void *bytes, size_t n, struct gb_audit_record *ret_record) {
	struct gb_audit_record record = {0};
	struct gb_cbor_reader in = gb_cbor_reader(bytes, n);
	struct gb_cbor_item head, key;
	if (n > GB_AUDIT_BODY_MAX || !gb_cbor_next(&in, &head) || head.kind != GB_CBOR_OBJECT)
		return false;
	uint64_t next = 0;
	for (uint64_t i = 0; i < head.argument; i++) {
		if (!gb_cbor_next(&in, &key) || key.kind != GB_CBOR_UNSIGNED || key.argument < next ||
		    key.argument >= gb_audit_n_fields)
			return false;
		const struct gb_audit_field *field = &gb_audit_fields[key.argument];
		if (!decode_field(field, &in, (char *)&record + field->offset))
			return false;
		next = key.argument + 1;
	}
	if (in.at != in.end)
		return false;
	*ret_record = record;
	return true;
}
