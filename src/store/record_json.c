#include "base/cleanup.h"
#include "store/record.h"
#include "value/json.h"
#include "value/text.h"

void gb_hash_format(char text[2 * GB_HASH_BYTES + 1], const struct gb_hash *hash) {
	for (size_t i = 0; i < GB_HASH_BYTES; i++) {
		text[2 * i] = "0123456789abcdef"[hash->bytes[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[hash->bytes[i] & 15];
	}
	text[2 * (size_t)GB_HASH_BYTES] = '\0';
}

static void write_hash(struct gb_buf *out, const struct gb_hash *hash) {
	char text[2 * GB_HASH_BYTES + 1];
	gb_hash_format(text, hash);
	gb_buf_printf(out, "\"%s\"", text);
}

/* Parse and write again, so that the output is always one valid value on one line. */
static bool write_json(struct gb_buf *out, struct gb_str text) {
	struct gb_values *pool = gb_values_create(1 << 20);
	struct gb_value *value = gb_value_from_json(pool, text.p, text.n, NULL);
	size_t n = 0;
	gb_auto_free char *json = value ? gb_value_to_json(value, 0, &n, NULL) : NULL;
	if (json)
		gb_buf_append(out, json, n);
	gb_values_destroy(pool);
	return json != NULL;
}

static void write_time(struct gb_buf *out, int64_t milliseconds) {
	char text[GB_DATE_TEXT];
	/* Beyond the range of a JavaScript Date the clock was wrong: write the number as it is. */
	if (milliseconds < -8640000000000000 || milliseconds > 8640000000000000) {
		gb_buf_printf(out, "%lld", (long long)milliseconds);
		return;
	}
	size_t n = gb_date_format(text, (double)milliseconds);
	gb_buf_append_char(out, '"');
	gb_buf_append(out, text, n);
	gb_buf_append_char(out, '"');
}

static void write_cut(struct gb_buf *out, uint64_t cut) {
	const char *before = "[";
	for (size_t i = 0; i < gb_audit_n_fields; i++)
		if (cut >> i & 1) {
			gb_buf_printf(out, "%s\"%s\"", before, gb_audit_fields[i].name);
			before = ",";
		}
	gb_buf_printf(out, "%s]", cut ? "" : "[");
}

static void write_number(struct gb_buf *out, double number) {
	char text[GB_NUMBER_TEXT];
	gb_buf_append(out, text, gb_number_format(text, number));
}

static void write_value(struct gb_buf *out, const struct gb_audit_field *field, const void *at) {
	const struct gb_str *text = at;
	const struct gb_audit_number *number = at;
	const struct gb_audit_hash *hash = at;
	switch (field->type) {
	case GB_AUDIT_JSON:
		if (text->p && write_json(out, *text))
			break;
		/* fall through */
	case GB_AUDIT_TEXT:
		if (text->p)
			gb_json_append_string(out, *text);
		else
			gb_buf_printf(out, "null");
		break;
	case GB_AUDIT_TIME:
		if (*(const int64_t *)at)
			write_time(out, *(const int64_t *)at);
		else
			gb_buf_printf(out, "null");
		break;
	case GB_AUDIT_COUNT:
		gb_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
		break;
	case GB_AUDIT_NANOSECONDS:
		write_number(out, (double)*(const uint64_t *)at / 1e6);
		break;
	case GB_AUDIT_NUMBER:
		if (number->is_set)
			gb_buf_printf(out, "%lld", (long long)number->number);
		else
			gb_buf_printf(out, "null");
		break;
	case GB_AUDIT_HASH:
		if (hash->is_set)
			write_hash(out, &hash->hash);
		else
			gb_buf_printf(out, "null");
		break;
	case GB_AUDIT_FLAG:
		gb_buf_printf(out, *(const bool *)at ? "true" : "false");
		break;
	case GB_AUDIT_CUT:
		write_cut(out, *(const uint64_t *)at);
		break;
	}
}

static bool is_approved(const struct gb_audit_record *record) {
	static const char *const yes[] = {"auto", "user", "trusted_session", "embedder", "not_needed"};
	for (size_t i = 0; i < GB_COUNT(yes); i++)
		if (gb_str_eq(record->decision, gb_str_from(yes[i])))
			return true;
	return false;
}

void gb_audit_json(
    struct gb_buf *out, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	gb_buf_printf(out, "{\"seq\":%llu", (unsigned long long)seq);
	for (size_t i = 0; i < gb_audit_n_fields; i++) {
		gb_buf_printf(out, ",\"%s\":", gb_audit_fields[i].name);
		write_value(out, &gb_audit_fields[i], gb_audit_at(record, &gb_audit_fields[i]));
	}
	gb_buf_printf(out, ",\"approved\":%s,\"hash\":", is_approved(record) ? "true" : "false");
	write_hash(out, hash);
	gb_buf_append_char(out, '}');
}
