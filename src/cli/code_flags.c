#include "cli/code_flags.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "cli/paths.h"

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

static bool take_args(struct code_flags *code, const char *json) {
	struct gb_err err = {0};
	const struct gb_value *args = gb_value_from_json(code->values, json, strlen(json), &err);
	if (!args)
		return report_error(code->command, "--args: %s", err.message);
	if (gb_value_type(args) != GB_ARRAY)
		return report_error(code->command, "--args: must be an array, like '[1, \"x\"]'");
	code->options->args = args;
	return true;
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
	*ret_ok = true;
	if (limit)
		*ret_ok = take_limit(code, limit, value);
	else if (strcmp(flag->name, "eval") == 0)
		*ret_ok = take_code(code, NULL, value);
	else if (strcmp(flag->name, "args") == 0)
		*ret_ok = take_args(code, value);
	else if (strcmp(flag->name, "language") == 0)
		code->language = value;
	else if (strcmp(flag->name, "fn") == 0)
		code->options->fn = value;
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
