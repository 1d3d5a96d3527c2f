/* Bytes that decode are the only encoding of their value, and the value survives all other formats. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "lend.h"
#include "value/cbor.h"
#include "value/codec.h"

static void check_again(const void *bytes, size_t n, const struct gb_buf *expected) {
	struct gb_values *pool = gb_values_create(0);
	gb_auto_buf struct gb_buf again;
	gb_buf_init(&again, 64 << 20);
	struct gb_value *value = gb_value_decode(pool, bytes, n, &admit_all, NULL);
	ALWAYS(value && gb_value_encode(&again, value, &grant_all, NULL));
	ALWAYS(again.len == expected->len && memcmp(again.data, expected->data, again.len) == 0);
	gb_values_destroy(pool);
}

static void check_json(const struct gb_value *value, const struct gb_buf *expected) {
	size_t n = 0;
	struct gb_err err = {0};
	gb_auto_free char *json = gb_value_to_json(value, 0, &n, &err);
	if (!json) {
		ALWAYS(err.code == GB_ELIMIT); /* it nests deeper as text */
		return;
	}
	struct gb_values *pool = gb_values_create(0);
	gb_auto_buf struct gb_buf again;
	gb_buf_init(&again, 64 << 20);
	struct gb_value *from_json = gb_value_from_json(pool, json, n, &err);
	ALWAYS(from_json || err.code == GB_ELIMIT);
	if (from_json) {
		ALWAYS(gb_value_encode(&again, from_json, &grant_all, NULL));
		ALWAYS(again.len == expected->len && memcmp(again.data, expected->data, again.len) == 0);
	}
	gb_values_destroy(pool);
}

static void check_inspect(const struct gb_value *value) {
	for (size_t max = 20; max <= 20000; max *= 10) {
		gb_auto_free char *shown = gb_value_inspect(value, max);
		ALWAYS(shown && strlen(shown) <= max + strlen("…"));
		for (const char *c = shown; *c; c++)
			ALWAYS((uint8_t)*c >= 0x20 || *c == '\n' || *c == '\t');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_cbor_reader in = gb_cbor_reader(data, size);
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 64 << 20);
	bool skipped = gb_cbor_skip(&in, 4000);
	struct gb_value *value = gb_value_decode(pool, data, size, &admit_all, &err);
	ALWAYS(!value == (err.code != GB_OK));
	if (value) {
		ALWAYS(skipped && in.at == in.end);
		ALWAYS(gb_value_encode(&out, value, &grant_all, NULL));
		/* Only the bits of NaNs and of invalid dates may change. */
		ALWAYS(out.len == size);
		check_again(out.data, out.len, &out);
		check_json(value, &out);
		check_inspect(value);
	}
	gb_values_destroy(pool);
	return 0;
}
