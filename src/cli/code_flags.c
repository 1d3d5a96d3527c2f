#include "cli/code_flags.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "cli/copies.h"
#include "cli/paths.h"
#include "egress/rules.h"

static bool take_code(struct code_flags *code, const char *file, const char *text) {
	if (code->file || code->code)
		return report_error(code->command,
		    "one piece of code at a time: a FILE, or - for standard input, or -e CODE");
	code->file = file;
	code->code = text;
	return true;
}

bool code_flags_take_file(struct code_flags *code, const char *file) {
	return take_code(code, file, NULL);
}

/* --- fields of the request --- */

static bool take_args(struct code_flags *code, const struct gb_request_field *field, const char *json) {
	struct gb_err err = {0};
	const struct gb_value *args = gb_value_from_json(code->values, json, strlen(json), &err);
	if (!args)
		return report_error(code->command, "--%s: %s", field->flag, err.message);
	if (gb_value_type(args) != GB_ARRAY)
		return report_error(code->command, "--%s: must be an array, like '[1, \"x\"]'", field->flag);
	*(const struct gb_value **)gb_request_member(field, code->options) = args;
	return true;
}

/* The object or array of a field that an option adds to, which is created at the first. */
static struct gb_value *collection(struct code_flags *code, const struct gb_request_field *field,
    struct gb_value *(*create)(struct gb_values *values)) {
	struct gb_value **member = gb_request_member(field, code->options);
	if (!*member)
		*member = create(code->values);
	return *member;
}

static bool take_variable(struct code_flags *code, const struct gb_request_field *field, const char *text) {
	struct gb_str json = gb_str_from(text), name;
	struct gb_value *variables = collection(code, field, gb_value_object);
	if (!gb_str_cut(&json, '=', &name))
		return report_error(code->command, "--%s: '%s' is not NAME=JSON", field->flag, text);
	struct gb_err err = {0};
	struct gb_value *value = gb_value_from_json(code->values, json.p, json.n, &err);
	if (!value)
		return report_error(
		    code->command, "--%s %.*s: %s", field->flag, GB_STR_ARG(name), err.message);
	for (size_t i = 0; i < gb_value_count(variables); i++) {
		size_t n;
		const char *other = gb_value_bytes(gb_value_key_at(variables, i), &n);
		if (n == name.n && memcmp(other, name.p, n) == 0)
			return report_error(
			    code->command, "--%s: '%.*s' is given twice", field->flag, GB_STR_ARG(name));
	}
	return gb_value_put(variables, gb_value_string(code->values, name.p, name.n), value) ||
	       report_error(code->command, "--%s: too large, or a name that is not UTF-8", field->flag);
}

static bool take_copy(struct code_flags *code, const struct gb_request_field *field, const char *path) {
	char prefix[32];
	snprintf(prefix, sizeof prefix, "--%s: ", field->flag);
	const struct copies copies = {.command = code->command,
	    .prefix = prefix,
	    .values = code->values,
	    .files = collection(code, field, gb_value_object)};
	return copies_add(&copies, path);
}

/* One name, or several with commas between. */
static bool take_names(struct code_flags *code, const struct gb_request_field *field, const char *text) {
	struct gb_value *names = collection(code, field, gb_value_array);
	for (struct gb_str rest = gb_str_from(text), name; rest.n;) {
		gb_host_rule_cut(&rest, &name);
		if (!name.n || !gb_value_push(names, gb_value_string(code->values, name.p, name.n)))
			return report_error(code->command,
			    "--%s: '%s' is not a name, or names with commas between", field->flag, text);
	}
	return true;
}

static bool take_request_field(
    struct code_flags *code, const struct gb_request_field *field, const char *value) {
	switch (field->kind) {
	case GB_REQUEST_LANGUAGE:
		code->language = value;
		return true;
	case GB_REQUEST_TEXT:
	case GB_REQUEST_INPUT:
		*(const char **)gb_request_member(field, code->options) = value;
		return true;
	case GB_REQUEST_FLAG:
		*(bool *)gb_request_member(field, code->options) = true;
		return true;
	case GB_REQUEST_ARGS:
		return take_args(code, field, value);
	case GB_REQUEST_VARIABLES:
		return take_variable(code, field, value);
	case GB_REQUEST_FILES:
		return take_copy(code, field, value);
	case GB_REQUEST_NAMES:
		return take_names(code, field, value);
	case GB_REQUEST_IMPORTS:
	case GB_REQUEST_SOURCES:
		break; /* have no options */
	}
	return false;
}

static bool take_limit(struct code_flags *code, const struct gb_limit_field *limit, const char *value) {
	static const struct {
		bool (*parse)(const char *text, uint64_t *ret);
		const char *wanted;
	} units[] = {
	    [GB_LIMIT_MS] = {gb_str_parse_duration_ms, "a time like 250ms, 5s or 2m"},
	    [GB_LIMIT_BYTES] = {gb_str_parse_size, "a size like 32M or 1G"},
	    [GB_LIMIT_COUNT] = {gb_str_parse_size, "a whole number"},
	};
	uint64_t number = 0;
	if (!units[limit->unit].parse(value, &number) || !number)
		return report_error(
		    code->command, "--%s: '%s' is not %s", limit->option, value, units[limit->unit].wanted);
	if (number > limit->max)
		return report_error(code->command, "--%s: '%s' is more than %llu", limit->option, value,
		    (unsigned long long)limit->max);
	gb_limit_set(limit, code->options, number);
	return true;
}

bool code_flags_take(struct code_flags *code, const struct flag *flag, const char *value, bool *ret_ok) {
	const struct gb_limit_field *limit = gb_limit_by_option(flag->name);
	const struct gb_request_field *field = gb_request_by_flag(flag->name);
	*ret_ok = true;
	if (limit)
		*ret_ok = take_limit(code, limit, value);
	else if (field)
		*ret_ok = take_request_field(code, field, value);
	else if (strcmp(flag->name, "eval") == 0)
		*ret_ok = take_code(code, NULL, value);
	else if (strcmp(flag->name, "json") == 0)
		code->json = true;
	else
		return false;
	return true;
}

bool code_flags_choose_language(const struct code_flags *code, enum gb_language *ret) {
	return language_choose(code->command, code->language, code->file, ret);
}

bool code_flags_load(struct code_flags *code) {
	gb_buf_init(&code->source, GB_SOURCE_MAX);
	if (code->code) {
		gb_buf_append(&code->source, code->code, strlen(code->code));
	} else {
		if (!read_path(code->command, "", code->file, &code->source))
			return false;
		code->options->filename = strcmp(code->file, "-") == 0 ? "<stdin>" : code->file;
	}
	code->options->source = gb_buf_c_str(&code->source);
	code->options->source_bytes = code->source.len;
	return code->options->source ||
	       report_error(code->command, "the code is larger than %u bytes", GB_SOURCE_MAX);
}

void code_flags_finish(struct code_flags *code) {
	gb_buf_finish(&code->source);
}
