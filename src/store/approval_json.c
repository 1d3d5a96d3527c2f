#include "base/cleanup.h"
#include "store/approvals.h"
#include "value/json.h"
#include "value/text.h"

/* Parse and write again, so that the output is always one valid value on one line. */
static void append_json(struct gb_buf *out, struct gb_str text) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *value = gb_value_from_json(pool, text.p, text.n, NULL);
	size_t n = 0;
	gb_auto_free char *json = value ? gb_value_to_json(value, 0, &n, NULL) : NULL;
	if (json)
		gb_buf_append(out, json, n);
	else
		gb_json_append_string(out, text);
	gb_values_destroy(pool);
}

static void append_text(struct gb_buf *out, const char *name, struct gb_str text, bool is_json) {
	gb_buf_printf(out, ",\"%s\":", name);
	if (text.n == 0)
		gb_buf_printf(out, "null");
	else if (is_json)
		append_json(out, text);
	else
		gb_json_append_string(out, text);
}

static void append_time(struct gb_buf *out, const char *name, int64_t ms) {
	char text[GB_DATE_TEXT];
	gb_buf_printf(out, ",\"%s\":", name);
	if (ms <= 0 || ms > 8640000000000000)
		gb_buf_printf(out, "null");
	else
		gb_buf_printf(out, "\"%.*s\"", (int)gb_date_format(text, (double)ms), text);
}

void gb_approval_json(struct gb_buf *out, struct gb_approval *approval) {
	char hash[2 * GB_HASH_BYTES + 1];
	gb_hash_format(hash, &approval->hash);
	gb_buf_printf(out, "{\"id\":\"%s\",\"state\":\"%s\",\"trusts\":%s,\"used\":%s,\"hash\":\"%s\"",
	    approval->id, gb_approval_state_name(approval->state), approval->trusts ? "true" : "false",
	    approval->used_ms ? "true" : "false", hash);
	for (size_t i = 0; i < gb_approval_n_fields; i++) {
		const struct gb_approval_field *field = &gb_approval_fields[i];
		if (field->json)
			append_text(
			    out, field->json, *gb_approval_text(&approval->request, field), field->is_json);
	}
	append_time(out, "createdAt", approval->created_ms);
	append_time(out, "expiresAt", approval->expires_ms);
	append_time(out, "decidedAt", approval->decided_ms);
	append_time(out, "usedAt", approval->used_ms);
	append_text(out, "decidedBy", approval->decider, false);
	append_text(out, "reason", approval->reason, false);
	gb_buf_append_char(out, '}');
}
