#include <math.h>

#include "../hex.h"
#include "../lend.h"
#include "../table.h"
#include "../tap.h"
#include "base/cleanup.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/wtf8.h"

static void encode_to_hex(const struct gb_value *value, struct gb_buf *ret_hex) {
	gb_auto_buf struct gb_buf out;
	struct gb_err err = {0};
	gb_buf_init(&out, 1 << 20);
	CHECK(gb_value_encode(&out, value, &grant_all, &err));
	CHECK_STR(err.message, "");
	gb_buf_clear(ret_hex);
	hex_write(ret_hex, out.data, out.len);
}

/* The caller creates and destroys the pool. */
static struct gb_value *decode_hex(struct gb_values *pool, const char *hex, struct gb_err *err) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, 1 << 20);
	hex_read(&bytes, hex);
	char *copy = exact_copy(bytes.data, bytes.len);
	struct gb_value *value = gb_value_decode(pool, copy, bytes.len, &admit_all, err);
	free(copy);
	return value;
}

static void without_spaces(const char *text, struct gb_buf *ret) {
	gb_buf_clear(ret);
	for (; *text; text++)
		if (*text != ' ')
			gb_buf_append_char(ret, *text);
}

static void check_value(const struct record *record) {
	gb_auto_buf struct gb_buf hex, expected;
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	const char *json = record_get(record, "json");
	gb_buf_init(&hex, 1 << 16);
	gb_buf_init(&expected, 1 << 16);
	without_spaces(record_get(record, "cbor"), &expected);

	struct gb_value *value = gb_value_from_json(pool, json, strlen(json), &err);
	CHECK_STR(err.message, "");
	encode_to_hex(value, &hex);
	CHECK_STR(gb_buf_c_str(&hex), gb_buf_c_str(&expected));

	value = decode_hex(pool, gb_buf_c_str(&expected), &err);
	CHECK_STR(err.message, "");
	encode_to_hex(value, &hex);
	CHECK_STR(gb_buf_c_str(&hex), gb_buf_c_str(&expected));
	gb_values_destroy(pool);
}

TEST(every_kind_of_value_has_one_encoding) {
	CHECK(table_each("values.txt", check_value) > 80);
}

static void check_error(const struct record *record) {
	struct gb_err err = {0};
	struct gb_values *pool = gb_values_create(0);
	CHECK(!decode_hex(pool, record_get(record, "cbor"), &err));
	if (!CHECK_STR(err.message, record_get(record, "err")))
		printf("#   line %u\n", record->line);
	CHECK_INT(err.code, GB_EFORMAT);
	gb_values_destroy(pool);
}

TEST(errors_report_what_is_wrong_and_where) {
	CHECK(table_each("cbor-errors.txt", check_error) > 40);
}

static void check_truncated(const struct record *record) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, 1 << 16);
	hex_read(&bytes, record_get(record, "cbor"));
	for (size_t n = 0; n < bytes.len; n++) {
		struct gb_values *pool = gb_values_create(0);
		char *copy = exact_copy(bytes.data, n);
		struct gb_err err = {0};
		CHECK(!gb_value_decode(pool, copy, n, &admit_all, &err));
		free(copy);
		CHECK_INT(err.code, GB_EFORMAT);
		gb_values_destroy(pool);
	}
}

TEST(truncated_input_is_rejected) {
	table_each("values.txt", check_truncated);
}

static void check_changed(const struct record *record) {
	gb_auto_buf struct gb_buf bytes, again;
	gb_buf_init(&bytes, 1 << 16);
	gb_buf_init(&again, 1 << 16);
	hex_read(&bytes, record_get(record, "cbor"));
	for (size_t i = 0; i < bytes.len; i++) {
		char original = bytes.data[i];
		for (unsigned change = 1; change < 256; change++) {
			struct gb_values *pool = gb_values_create(0);
			bytes.data[i] = (char)(original ^ (char)change);
			struct gb_value *value =
			    gb_value_decode(pool, bytes.data, bytes.len, &admit_all, NULL);
			gb_buf_clear(&again);
			/* Accepted input is the only encoding of its value, except for NaNs and dates. */
			if (value && gb_value_encode(&again, value, &grant_all, NULL) &&
			    again.len != bytes.len)
				CHECK(again.len == bytes.len);
			gb_values_destroy(pool);
		}
		bytes.data[i] = original;
	}
}

TEST(any_changed_byte_is_rejected_or_changes_the_value) {
	table_each("values.txt", check_changed);
}

static void check_small_pools(const struct record *record) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, 1 << 16);
	hex_read(&bytes, record_get(record, "cbor"));
	bool done = false;
	for (size_t max = 1; !done && max < 4096; max += 8) {
		struct gb_values *pool = gb_values_create(max);
		struct gb_err err = {0};
		done = gb_value_decode(pool, bytes.data, bytes.len, &admit_all, &err) != NULL;
		CHECK_INT(err.code, done ? GB_OK : GB_ELIMIT);
		CHECK(gb_values_failed(pool) == !done);
		gb_values_destroy(pool);
	}
	CHECK(done);
}

TEST(pool_of_any_size_suffices_or_fails_cleanly) {
	table_each("values.txt", check_small_pools);
}

static void check_small_buffers(const struct record *record) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, 1 << 16);
	hex_read(&bytes, record_get(record, "cbor"));
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *value = gb_value_decode(pool, bytes.data, bytes.len, &admit_all, NULL);
	for (size_t max = 0; max <= bytes.len; max++) {
		gb_auto_buf struct gb_buf out;
		struct gb_err err = {0};
		gb_buf_init(&out, max);
		CHECK(gb_value_encode(&out, value, &grant_all, &err) == (max == bytes.len));
		CHECK_INT(err.code, max == bytes.len ? GB_OK : GB_ELIMIT);
	}
	gb_values_destroy(pool);
}

TEST(too_small_output_buffer_fails) {
	table_each("values.txt", check_small_buffers);
}

TEST(depth_is_bounded_in_both_directions) {
	for (size_t depth = 1999; depth <= 2001; depth++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_value *value = gb_value_array(pool);
		gb_auto_buf struct gb_buf out, bytes;
		struct gb_err err = {0};
		gb_buf_init(&out, 1 << 16);
		gb_buf_init(&bytes, 1 << 16);
		for (size_t i = 1; i < depth; i++) {
			struct gb_value *outer = gb_value_array(pool);
			gb_value_push(outer, value);
			value = outer;
			gb_cbor_array(&bytes, 1);
		}
		gb_cbor_array(&bytes, 0);
		CHECK(gb_value_encode(&out, value, NULL, &err) == (depth <= 2000));
		CHECK(!!gb_value_decode(pool, bytes.data, bytes.len, NULL, &err) == (depth <= 2000));
		if (depth > 2000)
			CHECK_STR(err.message, "value is nested deeper than 2000 levels at byte 2000");
		gb_values_destroy(pool);
	}
}

TEST(depth_and_items_can_be_limited_further) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	const char nested[] = "\x81\x81\x81\x00";
	CHECK(gb_value_decode(
	    pool, nested, 4, &(struct gb_decode_limits){.max_depth = 3, .max_items = 4}, &err));
	CHECK(!gb_value_decode(
	    pool, nested, 4, &(struct gb_decode_limits){.max_depth = 2, .max_items = 4}, &err));
	CHECK_INT(err.code, GB_ELIMIT);
	CHECK(!gb_value_decode(
	    pool, nested, 4, &(struct gb_decode_limits){.max_depth = 3, .max_items = 3}, &err));
	CHECK_STR(err.message, "more than 3 values");
	gb_values_destroy(pool);
}

/* Each nested array claims as many elements as there are bytes left: without a shared count the claims would
 * add up to thousands of times the input. */
TEST(claimed_counts_of_nested_arrays_are_limited_in_total) {
	const size_t N = 60000;
	gb_auto_free char *bytes = malloc(N);
	for (size_t i = 0; i + 3 <= N; i += 3) {
		size_t claim = N - i - 3;
		bytes[i] = (char)0x99;
		bytes[i + 1] = (char)(claim >> 8);
		bytes[i + 2] = (char)claim;
	}
	struct gb_values *pool = gb_values_create(N * 64);
	struct gb_err err = {0};
	CHECK(!gb_value_decode(pool, bytes, N, NULL, &err));
	CHECK_STR(err.message, "malformed or truncated CBOR at byte 3");
	CHECK(!gb_values_failed(pool));
	gb_values_destroy(pool);
}

TEST(memory_is_a_constant_factor_of_the_input) {
	static const uint8_t items[] = {0x00, 0x40, 0x60, 0x80, 0xa0, 0xf6};
	const size_t N = 100000;
	for (size_t k = 0; k < sizeof items; k++) {
		gb_auto_buf struct gb_buf bytes;
		gb_buf_init(&bytes, N + 8);
		gb_cbor_array(&bytes, N);
		for (size_t i = 0; i < N; i++)
			gb_buf_append(&bytes, &items[k], 1);
		struct gb_values *pool = gb_values_create(N * 64);
		CHECK(gb_value_decode(pool, bytes.data, bytes.len, NULL, NULL));
		gb_values_destroy(pool);
	}
}

TEST(duplicate_keys_are_found_among_many) {
	for (unsigned twice = 0; twice < 2; twice++) {
		gb_auto_buf struct gb_buf bytes;
		struct gb_values *pool = gb_values_create(0);
		struct gb_err err = {0};
		enum { N = 100000 };
		gb_buf_init(&bytes, 4 << 20);
		gb_cbor_object(&bytes, N);
		for (unsigned i = 0; i < N; i++) {
			char key[16];
			int n = snprintf(key, sizeof key, "k%u", i == N - 1 && twice ? 77 : i);
			gb_cbor_string(&bytes, key, (size_t)n);
			gb_cbor_unsigned(&bytes, i);
		}
		CHECK((gb_value_decode(pool, bytes.data, bytes.len, NULL, &err) == NULL) == twice);
		CHECK_STR(err.message, twice ? "object at byte 0 has the key \"k77\" twice" : "");
		gb_values_destroy(pool);
	}
}

TEST(a_message_shows_no_control_characters_of_the_input) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	CHECK(!decode_hex(pool, "a2 631b5b41 01 631b5b41 02", &err));
	CHECK_STR(err.message, "object at byte 0 has the key \"?[A\" twice");
	gb_values_destroy(pool);
}

TEST(references_decode_to_the_same_value) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *value = decode_hex(pool, "83 da00474202840100024201 02 d81d02 d81d00", NULL);
	size_t offset, length;
	CHECK_INT(gb_value_count(value), 3);
	CHECK(gb_value_view_buffer(gb_value_at(value, 0), &offset, &length) == gb_value_at(value, 1));
	CHECK(gb_value_at(value, 2) == value);
	gb_values_destroy(pool);
}

TEST(nan_is_normalised) {
	struct gb_cbor_reader in = gb_cbor_reader("\xfb\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	struct gb_cbor_item item;
	uint64_t bits;
	CHECK(gb_cbor_next(&in, &item));
	memcpy(&bits, &item.number, sizeof bits);
	CHECK_INT(bits, 0x7ff8000000000000);
}

TEST(null_pointer_and_hole_are_rejected) {
	gb_auto_buf struct gb_buf out;
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	gb_buf_init(&out, 100);
	CHECK(!gb_value_encode(&out, NULL, NULL, &err));
	CHECK_STR(err.message, "no value to encode");
	CHECK(!gb_value_encode(&out, gb_value_hole(pool), NULL, &err));
	CHECK_STR(err.message, "a hole cannot be encoded");
	gb_values_destroy(pool);
}

TEST(every_first_byte_is_accepted_or_rejected) {
	for (unsigned byte = 0; byte < 256; byte++) {
		uint8_t bytes[64] = {(uint8_t)byte};
		memset(bytes + 1, 'a', sizeof bytes - 1);
		struct gb_cbor_reader in = gb_cbor_reader(bytes, sizeof bytes);
		struct gb_cbor_item item;
		unsigned major = byte >> 5, info = byte & 31;
		bool is_number = major == 0 || major == 1 || major == 6;
		bool expected = major == 7 ? info == 16 || (info >= 20 && info <= 23) || info == 27
					   : info <= (is_number ? 27 : 23);
		if (!CHECK(gb_cbor_next(&in, &item) == expected))
			printf("#   byte %02x\n", byte);
		if (!expected)
			CHECK(in.at == bytes);
	}
}

TEST(skip_skips_whole_items) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, 100);
	hex_read(&bytes, "82 a1 6161 c2 4101 f6 07");
	struct gb_cbor_reader in = gb_cbor_reader(bytes.data, bytes.len), copy = in;
	struct gb_cbor_item item;
	CHECK(gb_cbor_skip(&in, 3));
	CHECK(gb_cbor_next(&in, &item));
	CHECK_INT(item.argument, 7);
	CHECK(!gb_cbor_next(&in, &item));
	CHECK(!gb_cbor_skip(&copy, 2));
	in = gb_cbor_reader("\x82\x01", 2);
	CHECK(!gb_cbor_skip(&in, 3));
}

TEST(counts_of_open_containers_are_added_up) {
	struct gb_cbor_reader in = gb_cbor_reader("\x82\x82\x01\x02\x03", 5);
	struct gb_cbor_item item;
	for (unsigned i = 0; i < 5; i++)
		CHECK(gb_cbor_next(&in, &item));
	CHECK_INT(in.pending, 0);
	in = gb_cbor_reader("\x82\x83\x01\x02\x03", 5);
	CHECK(gb_cbor_next(&in, &item));
	CHECK(!gb_cbor_next(&in, &item));
}

TEST(empty_input_has_no_item) {
	struct gb_cbor_reader in = gb_cbor_reader(NULL, 0);
	struct gb_cbor_item item;
	CHECK(!gb_cbor_next(&in, &item));
	CHECK(!gb_cbor_skip(&in, 1));
}

static bool reject_seven(void *data, enum gb_type type, uint32_t id) {
	(void)data, (void)type;
	return id != 7;
}

static bool admit_own(void *data, enum gb_side side, uint32_t id) {
	(void)data;
	return side == GB_SANDBOX && id < 10;
}

TEST(functions_are_encoded_only_if_granted) {
	struct gb_values *pool = gb_values_create(0);
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 100);
	struct gb_err err = {0};
	const struct gb_grants grants = {.grant = reject_seven};
	CHECK(!gb_value_encode(&out, gb_value_function(pool, 6, "f"), NULL, &err));
	CHECK_STR(err.message, "a function is not allowed here");
	CHECK(!gb_value_encode(&out, gb_value_promise(pool, 6), NULL, &err));
	CHECK_STR(err.message, "a promise is not allowed here");
	CHECK(gb_value_encode(&out, gb_value_function(pool, 6, "f"), &grants, &err));
	CHECK(!gb_value_encode(&out, gb_value_function(pool, 7, "f"), &grants, &err));
	gb_values_destroy(pool);
}

TEST(functions_are_decoded_only_if_admitted) {
	static const struct {
		uint8_t bytes[16];
		size_t n;
		bool ok;
	} cases[] = {
	    {{0xda, 0, 0x47, 0x42, 5, 0x83, 1, 9, 0xf6}, 9, true},
	    {{0xda, 0, 0x47, 0x42, 5, 0x83, 1, 10, 0xf6}, 9, false}, /* unknown id */
	    {{0xda, 0, 0x47, 0x42, 5, 0x83, 0, 9, 0xf6}, 9, false},  /* of the host */
	    {{0xda, 0, 0x47, 0x42, 5, 0x83, 2, 9, 0xf6}, 9, false},  /* invalid side */
	    {{0xda, 0, 0x47, 0x42, 5, 0x82, 1, 9}, 8, false},        /* name missing */
	    {{0xda, 0, 0x47, 0x42, 5, 0x83, 1, 9, 1}, 9, false},     /* name of the wrong type */
	    {{0xda, 0, 0x47, 0x42, 6, 0x82, 1, 9}, 8, true},
	    {{0xda, 0, 0x47, 0x42, 6, 0x83, 1, 9, 0xf6}, 9, false},
	    {{0xda, 0, 0x47, 0x42, 6, 0x82, 1, 0x20}, 8, false}, /* negative id */
	};
	const struct gb_decode_limits own = {.max_depth = 5, .max_items = 5, .admits = admit_own};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gb_values *pool = gb_values_create(0);
		enum gb_side side = GB_HOST;
		uint32_t id = 0;
		struct gb_value *value = gb_value_decode(pool, cases[i].bytes, cases[i].n, &own, NULL);
		if (!CHECK(!!value == cases[i].ok))
			printf("#   case %zu\n", i);
		CHECK(gb_value_as_callable(value, &side, &id) == cases[i].ok);
		CHECK(!cases[i].ok || (side == GB_SANDBOX && id == 9));
		CHECK(!gb_value_decode(pool, cases[i].bytes, cases[i].n, NULL, NULL));
		gb_values_destroy(pool);
	}
}
