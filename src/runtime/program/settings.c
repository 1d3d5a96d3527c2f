#include "runtime/program/settings.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/wire.h"

enum { DEPTH_MAX = 1000 };

static void must(bool ok) {
	if (!ok)
		_exit(1);
}

static bool is_true(struct gb_cbor_reader at) {
	struct gb_cbor_item item;
	return gb_cbor_next(&at, &item) && item.kind == GB_CBOR_SIMPLE && item.argument == GB_SIMPLE_TRUE;
}

/* A text, or the WTF-8 bytes of a text with lone surrogates. */
static struct gb_str text_at(struct gb_cbor_reader *at) {
	struct gb_cbor_item item;
	must(gb_cbor_next(at, &item) && (item.kind != GB_CBOR_TAG || gb_cbor_next(at, &item)) &&
	     (item.kind == GB_CBOR_TEXT || item.kind == GB_CBOR_BYTES));
	return (struct gb_str){(const char *)item.bytes, item.argument};
}

static void read_setting(struct gb_settings *settings, struct gb_str key, struct gb_cbor_reader value) {
	const struct {
		const char *name;
		bool *flag;
		struct gb_cbor_reader *list;
	} known[] = {
	    {"session", &settings->session, NULL},
	    {"reset", &settings->reset, NULL},
	    {"restricted", &settings->restricted, NULL},
	    {GB_SETTING_READ_ONLY, &settings->read_only, NULL},
	    {"net", NULL, &settings->net},
	    {"allowedModules", NULL, &settings->modules},
	    {GB_SETTING_SECRETS, NULL, &settings->secrets},
	};
	if (gb_str_eq(key, GB_STR("stdin")))
		settings->input = text_at(&value);
	for (size_t i = 0; i < GB_COUNT(known); i++) {
		if (!gb_str_eq(key, gb_str_from(known[i].name)))
			continue;
		if (known[i].flag)
			*known[i].flag = is_true(value);
		else
			*known[i].list = value;
	}
}

void gb_settings_read(const struct gb_job *job, struct gb_settings *ret) {
	struct gb_cbor_reader in = job->values;
	struct gb_cbor_item object;
	*ret = (struct gb_settings){0};
	for (int i = 0; i < 2; i++) /* imports, globals */
		must(gb_cbor_skip(&in, DEPTH_MAX));
	ret->args = in;
	must(gb_cbor_skip(&in, DEPTH_MAX) && gb_cbor_next(&in, &object) && object.kind == GB_CBOR_OBJECT);
	for (uint64_t i = 0; i < object.argument; i++) {
		struct gb_str key = text_at(&in);
		read_setting(ret, key, in);
		must(gb_cbor_skip(&in, DEPTH_MAX));
	}
}

uint64_t gb_settings_count(struct gb_cbor_reader *list) {
	struct gb_cbor_item item;
	if (!list->at)
		return 0;
	must(gb_cbor_next(list, &item) && (item.kind == GB_CBOR_ARRAY || item.kind == GB_CBOR_OBJECT));
	return item.argument;
}

bool gb_settings_next(struct gb_cbor_reader *list, uint64_t *left, struct gb_str *ret) {
	if (*left == 0)
		return false;
	--*left;
	*ret = text_at(list);
	return true;
}

bool gb_settings_next_variable(
    struct gb_cbor_reader *object, uint64_t *left, struct gb_str *ret_name, struct gb_str *ret_value) {
	if (!gb_settings_next(object, left, ret_name))
		return false;
	*ret_value = text_at(object);
	return true;
}
