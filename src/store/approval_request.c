#include <sodium.h>

#include "base/cleanup.h"
#include "glovebox/value.h"
#include "store/approval_parts.h"
#include "value/wtf8.h"

#define FIELD(member, json_name, max_bytes, bound, json_text)                                                \
	{ #member, json_name, offsetof(struct gb_approval_request, member), max_bytes, bound, json_text }

/* In the order of the columns. The order and the flags of the bound fields are part of the hash. */
const struct gb_approval_field gb_approval_fields[] = {
    FIELD(token, NULL, GB_APPROVAL_NAME_MAX, false, false),
    FIELD(face, "face", GB_APPROVAL_NAME_MAX, false, false),
    FIELD(purpose, "purpose", GB_APPROVAL_PURPOSE_MAX, false, false),
    FIELD(runtime, "runtime", GB_APPROVAL_NAME_MAX, true, false),
    FIELD(session, "sessionId", GB_APPROVAL_NAME_MAX, true, false),
    FIELD(conversation, "conversationId", GB_APPROVAL_NAME_MAX, true, false),
    FIELD(policy, "policy", GB_APPROVAL_NAME_MAX, true, false),
    FIELD(code, "code", GB_APPROVAL_BYTES_MAX, true, false),
    FIELD(inputs, "inputs", GB_APPROVAL_BYTES_MAX, true, true),
    FIELD(permissions, "permissions", GB_APPROVAL_JSON_MAX, true, true),
    FIELD(limits, "limits", GB_APPROVAL_JSON_MAX, true, true),
};
const size_t gb_approval_n_fields = GB_COUNT(gb_approval_fields);

static struct gb_str text_of(
    const struct gb_approval_request *request, const struct gb_approval_field *field) {
	return *(const struct gb_str *)((const char *)request + field->offset);
}

void gb_approval_hash(const struct gb_approval_request *request, struct gb_hash *ret_hash) {
	static const char domain[] = "glovebox approval 1";
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, sizeof ret_hash->bytes);
	crypto_generichash_update(&state, (const uint8_t *)domain, sizeof domain);
	for (size_t i = 0; i < GB_COUNT(gb_approval_fields); i++) {
		struct gb_str text = text_of(request, &gb_approval_fields[i]);
		uint8_t length[8];
		if (!gb_approval_fields[i].is_bound)
			continue;
		for (unsigned j = 0; j < 8; j++)
			length[j] = (uint8_t)((uint64_t)text.n >> 8 * (7 - j));
		crypto_generichash_update(&state, length, sizeof length);
		crypto_generichash_update(&state, (const uint8_t *)text.p, text.n);
	}
	crypto_generichash_final(&state, ret_hash->bytes, sizeof ret_hash->bytes);
}

bool gb_approval_check_text(const char *name, struct gb_str text, size_t max, struct gb_err *err) {
	if (text.n > max)
		return gb_fail(err, GB_ELIMIT, 0, "%s: has %zu bytes; the maximum is %zu", name, text.n, max);
	if (gb_wtf8_scan(text.p, text.n) == GB_WTF8_INVALID)
		return gb_fail(err, GB_EINVAL, 0, "%s: is not text; it must be UTF-8", name);
	return true;
}

static size_t max_of(const struct gb_approvals *approvals, const struct gb_approval_field *field) {
	size_t max = field->max;
	if (field->offset == offsetof(struct gb_approval_request, code))
		max = approvals->options.max_code;
	if (field->offset == offsetof(struct gb_approval_request, inputs))
		max = approvals->options.max_inputs;
	return max < field->max ? max : field->max;
}

static bool check_json(const char *name, struct gb_str text, struct gb_err *err) {
	if (text.n == 0)
		return true;
	struct gb_values *pool = gb_values_create(0);
	bool ok = gb_value_from_json(pool, text.p, text.n, err) != NULL;
	gb_values_destroy(pool);
	return ok || gb_wrap(err, "%s: is not JSON", name);
}

bool gb_approval_check(
    const struct gb_approvals *approvals, const struct gb_approval_request *request, struct gb_err *err) {
	for (size_t i = 0; i < GB_COUNT(gb_approval_fields); i++) {
		const struct gb_approval_field *field = &gb_approval_fields[i];
		struct gb_str text = text_of(request, field);
		if (!gb_approval_check_text(field->name, text, max_of(approvals, field), err) ||
		    (field->is_json && !check_json(field->name, text, err)))
			return false;
	}
	if (request->runtime.n == 0)
		return gb_fail(
		    err, GB_EINVAL, 0, "runtime: is missing; the approver must see what would run");
	if (request->code.n == 0)
		return gb_fail(err, GB_EINVAL, 0, "code: is empty; there is nothing to approve");
	return true;
}
