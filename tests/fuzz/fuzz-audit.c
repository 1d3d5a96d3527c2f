/* A record has exactly one encoding, and can be shown as one line of JSON. */
#include "fuzz.h"

#include <string.h>

#include "glovebox/value.h"
#include "store/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_audit_record record;
	if (!gb_audit_decode(data, size, &record))
		return 0;
	gb_auto_buf struct gb_buf bytes, json;
	gb_buf_init(&bytes, GB_AUDIT_BODY_MAX);
	gb_buf_init(&json, 64 << 20);
	gb_audit_encode(&bytes, &record);
	ALWAYS(!gb_buf_failed(&bytes) && bytes.len == size && memcmp(bytes.data, data, size) == 0);

	struct gb_hash hash = {{0}};
	gb_audit_json(&json, 7, &hash, &record);
	ALWAYS(!gb_buf_failed(&json) && !memchr(json.data, '\n', json.len));
	/* Whether texts that should be JSON are: each is read with its own numbering of what is shared. */
	if (record.trace.p || record.limits.p || record.permissions.p || record.layers.p)
		return 0;
	struct gb_values *pool = gb_values_create(64 << 20);
	ALWAYS(gb_value_from_json(pool, json.data, json.len, NULL) != NULL);
	gb_values_destroy(pool);
	return 0;
}
