/* Accepted JSON has one written form, indented or not, and survives CBOR. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "lend.h"
#include "value/codec.h"

static void check_text(const char *json, size_t n, const char *expected, size_t expected_n) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	size_t again_n = 0;
	struct gb_value *value = gb_value_from_json(pool, json, n, &err);
	ALWAYS(value || err.code == GB_ELIMIT);
	if (value) {
		gb_auto_free char *again = gb_value_to_json(value, 0, &again_n, NULL);
		ALWAYS(again && again_n == expected_n && memcmp(again, expected, again_n) == 0);
	}
	gb_values_destroy(pool);
}

static void check_cbor(const struct gb_value *value, const char *expected, size_t expected_n) {
	struct gb_values *pool = gb_values_create(0);
	gb_auto_buf struct gb_buf bytes;
	size_t n = 0;
	gb_buf_init(&bytes, 64 << 20);
	ALWAYS(gb_value_encode(&bytes, value, &grant_all, NULL));
	struct gb_value *again = gb_value_decode(pool, bytes.data, bytes.len, &admit_all, NULL);
	gb_auto_free char *json = gb_value_to_json(again, 0, &n, NULL);
	ALWAYS(json && n == expected_n && memcmp(json, expected, n) == 0);
	gb_values_destroy(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	size_t n = 0, indented_n = 0;
	struct gb_value *value = gb_value_from_json(pool, (const char *)data, size, &err);
	ALWAYS(!value == (err.code != GB_OK));
	gb_auto_free char *json = value ? gb_value_to_json(value, 0, &n, &err) : NULL;
	if (json) {
		gb_auto_free char *indented = gb_value_to_json(value, 1, &indented_n, NULL);
		gb_auto_free char *shown = gb_value_inspect(value, 1000);
		ALWAYS(indented && shown);
		check_text(json, n, json, n);
		check_text(indented, indented_n, json, n);
		check_cbor(value, json, n);
	} else {
		/* Forward references can make a graph deeper than its text. */
		ALWAYS(err.code == GB_EFORMAT || err.code == GB_ELIMIT);
	}
	gb_values_destroy(pool);
	return 0;
}
