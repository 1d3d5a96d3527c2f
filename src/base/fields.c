#include "base/fields.h"

#include <string.h>

#include "base/cleanup.h"

/* --- results --- */

#define AT(member)      offsetof(struct gb_result, member)
#define OPTIONAL_ALWAYS false
#define OPTIONAL_IF_SET true
#define FIELD(kind_, json_, when_, doc_)                                                                     \
	.kind = GB_RESULT_##kind_, .json = (json_), .optional = OPTIONAL_##when_, .doc = (doc_)

#define ROW(kind, member, json, when, doc) {FIELD(kind, json, when, doc), .offset = AT(member)},
#define LIST(kind, member, json, when, doc)                                                                  \
	{FIELD(kind, json, when, doc), .offset = AT(member), .n_offset = AT(n_##member)},
#define STREAM(kind, member, json, when, doc)                                                                \
	{FIELD(kind, json, when, doc), .offset = AT(member##_text), .n_offset = AT(member##_bytes)},

const struct gb_result_field gb_result_fields[] = {GB_RESULT_FIELDS(ROW, LIST, STREAM)};
const size_t gb_result_fields_count = GB_COUNT(gb_result_fields);

const char *gb_result_kind_name(enum gb_result_kind kind) {
	static const char *const names[] = {
	    [GB_RESULT_ID] = "id",
	    [GB_RESULT_STATUS] = "status",
	    [GB_RESULT_VALUE] = "value",
	    [GB_RESULT_VALUES] = "values",
	    [GB_RESULT_DISPLAYS] = "displays",
	    [GB_RESULT_FILES] = "files",
	    [GB_RESULT_LOGS] = "logs",
	    [GB_RESULT_OUTPUT] = "output",
	    [GB_RESULT_TEXT] = "text",
	    [GB_RESULT_FLAG] = "flag",
	    [GB_RESULT_INTEGER] = "integer",
	    [GB_RESULT_COUNT] = "count",
	    [GB_RESULT_MS] = "ms",
	    [GB_RESULT_ERROR] = "error",
	};
	return names[kind];
}

/* How many bytes of a field describe the run itself, rather than what its code said; 0: none. */
static size_t fact_size(enum gb_result_kind kind) {
	switch (kind) {
	case GB_RESULT_ID:
		return sizeof((struct gb_result *)0)->run_id;
	case GB_RESULT_FLAG:
		return sizeof(bool);
	case GB_RESULT_COUNT:
		return sizeof(uint64_t);
	case GB_RESULT_MS:
		return sizeof(double);
	default:
		return 0;
	}
}

struct gb_result gb_result_instead(enum gb_status status, const char *name, const char *code,
    const char *message, const struct gb_result *of) {
	struct gb_result result = {0};
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		void *to = gb_result_member(field, &result);
		if (field->kind == GB_RESULT_TEXT || field->kind == GB_RESULT_OUTPUT)
			*(const char **)to = "";
		else if (of)
			memcpy(to, (const char *)of + field->offset, fact_size(field->kind));
	}
	result.status = status;
	result.exit_code = status == GB_SUCCESS ? 0 : 1;
	result.error = (struct gb_run_error){
	    .name = name, .message = message, .code = code, .stack = "", .specifier = "", .filename = ""};
	return result;
}

/* --- limits --- */

#define PLACE_LIMITS         false
#define PLACE_OPTIONS        true
#define SENT_HOST            false
#define SENT_WORKER          true
#define AGENTS_CALLER        false
#define AGENTS_AGENT         true
#define OPTION_FLAG(name)    (name)
#define OPTION_NO_FLAG(name) NULL

#define LIMIT(member_, width_, json_, place_, unit_, fallback_, least_, most_, has_flag_, flag_, enforcer_,  \
    agents_, doc_)                                                                                           \
	{.member = #member_,                                                                                 \
	    .json = (json_),                                                                                 \
	    .unit = GB_LIMIT_##unit_,                                                                        \
	    .option = OPTION_##has_flag_(flag_),                                                             \
	    .fallback = (fallback_),                                                                         \
	    .min = (least_),                                                                                 \
	    .max = (most_),                                                                                  \
	    .in_options = PLACE_##place_,                                                                    \
	    .is_sent = SENT_##enforcer_,                                                                     \
	    .for_agents = AGENTS_##agents_,                                                                  \
	    .doc = (doc_),                                                                                   \
	    .offset = offsetof(struct gb_run_options, member_),                                              \
	    .width = (width_)},

const struct gb_limit_field gb_limit_fields[] = {GB_LIMIT_FIELDS(LIMIT)};
const size_t gb_limit_fields_count = GB_COUNT(gb_limit_fields);

const char *gb_limit_unit_name(enum gb_limit_unit unit) {
	static const char *const names[] = {
	    [GB_LIMIT_MS] = "ms", [GB_LIMIT_BYTES] = "bytes", [GB_LIMIT_COUNT] = "count"};
	return names[unit];
}

const struct gb_limit_field *gb_limit_by_option(const char *option) {
	for (size_t i = 0; i < gb_limit_fields_count; i++)
		if (gb_limit_fields[i].option && strcmp(gb_limit_fields[i].option, option) == 0)
			return &gb_limit_fields[i];
	return NULL;
}

uint64_t gb_limit_get(const struct gb_limit_field *field, const struct gb_run_options *options) {
	const char *at = (const char *)options + field->offset;
	uint64_t wide;
	uint32_t narrow;
	if (field->width == 32) {
		memcpy(&narrow, at, sizeof narrow);
		return narrow;
	}
	memcpy(&wide, at, sizeof wide);
	return wide;
}

void gb_limit_set(const struct gb_limit_field *field, struct gb_run_options *options, uint64_t value) {
	char *at = (char *)options + field->offset;
	uint32_t narrow = (uint32_t)value;
	if (field->width == 32)
		memcpy(at, &narrow, sizeof narrow);
	else
		memcpy(at, &value, sizeof value);
}
