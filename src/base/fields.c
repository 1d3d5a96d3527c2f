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

/* --- requests --- */

#define OPTION_FLAG(name)    (name)
#define OPTION_NO_FLAG(name) NULL
#define AGENTS_CALLER        false
#define AGENTS_AGENT         true

#define IN_EXECUTE_OPTIONS   false
#define IN_EXECUTE_EXECUTE   true
#define IN_CONTRACT_CONTRACT true
#define IN_CONTRACT_GLOVEBOX false
#define IS_SETTING_SETTING   true
#define IS_SETTING_JOB       false
#define IS_SETTING_HOST      false

#define REQUEST(kind_, member_, json_, place_, origin_, scope_, needs_, job_, agents_, has_flag_, flag_,     \
    argument_, help_, doc_)                                                                                  \
	{.kind = GB_REQUEST_##kind_,                                                                         \
	    .member = #member_,                                                                              \
	    .json = (json_),                                                                                 \
	    .in_execute = IN_EXECUTE_##place_,                                                               \
	    .in_contract = IN_CONTRACT_##origin_,                                                            \
	    .scope = GB_SCOPE_##scope_,                                                                      \
	    .need = GB_NEED_##needs_,                                                                        \
	    .is_setting = IS_SETTING_##job_,                                                                 \
	    .for_agents = AGENTS_##agents_,                                                                  \
	    .flag = OPTION_##has_flag_(flag_),                                                               \
	    .doc = (doc_),                                                                                   \
	    .offset = offsetof(struct gb_run_options, member_)},

const struct gb_request_field gb_request_fields[] = {GB_REQUEST_FIELDS(REQUEST)};
const size_t gb_request_fields_count = GB_COUNT(gb_request_fields);

const char *gb_request_kind_name(enum gb_request_kind kind) {
	static const char *const names[] = {
	    [GB_REQUEST_LANGUAGE] = "language",
	    [GB_REQUEST_TEXT] = "text",
	    [GB_REQUEST_INPUT] = "input",
	    [GB_REQUEST_FLAG] = "flag",
	    [GB_REQUEST_ARGS] = "args",
	    [GB_REQUEST_NAMES] = "names",
	    [GB_REQUEST_VARIABLES] = "variables",
	    [GB_REQUEST_IMPORTS] = "imports",
	    [GB_REQUEST_SOURCES] = "sources",
	    [GB_REQUEST_FILES] = "files",
	};
	return names[kind];
}

const char *gb_request_scope_name(enum gb_request_scope scope) {
	static const char *const names[] = {
	    [GB_SCOPE_ANY] = "any", [GB_SCOPE_NEW] = "new", [GB_SCOPE_SESSION] = "session"};
	return names[scope];
}

const struct gb_request_field *gb_request_by_flag(const char *flag) {
	for (size_t i = 0; i < gb_request_fields_count; i++)
		if (gb_request_fields[i].flag && strcmp(gb_request_fields[i].flag, flag) == 0)
			return &gb_request_fields[i];
	return NULL;
}

const char *gb_request_text(const struct gb_request_field *field, const struct gb_run_options *options) {
	bool is_text = field->kind == GB_REQUEST_TEXT || field->kind == GB_REQUEST_INPUT;
	return is_text ? *(const char **)gb_request_member(field, options) : NULL;
}

const struct gb_value *gb_request_value(
    const struct gb_request_field *field, const struct gb_run_options *options) {
	switch (field->kind) {
	case GB_REQUEST_LANGUAGE:
	case GB_REQUEST_TEXT:
	case GB_REQUEST_INPUT:
	case GB_REQUEST_FLAG:
		return NULL;
	default:
		return *(const struct gb_value **)gb_request_member(field, options);
	}
}

bool gb_request_has(const struct gb_request_field *field, const struct gb_run_options *options) {
	if (field->kind == GB_REQUEST_FLAG)
		return *(bool *)gb_request_member(field, options);
	return gb_request_text(field, options) || gb_request_value(field, options);
}

/* --- what agents state about their requests --- */

#define CHOICES_ID(member)
#define CHOICES_TEXT(member)
#define CHOICES_JSON(member)
#define CHOICES_SESSION(member)
#define CHOICES_CHOICE(member)                                                                               \
	static const char *const member##_choices[] = {GB_AGENT_##member##_CHOICES, NULL};
#define CHOICES(kind, member, ...) CHOICES_##kind(member)
GB_AGENT_FIELDS(CHOICES)

#define CHOICES_OF_ID(member)      NULL
#define CHOICES_OF_TEXT(member)    NULL
#define CHOICES_OF_JSON(member)    NULL
#define CHOICES_OF_SESSION(member) NULL
#define CHOICES_OF_CHOICE(member)  member##_choices

#define AGENT(kind_, member_, json_, max_, inputs_, has_flag_, flag_, argument_, help_, doc_)                \
	{.kind = GB_AGENT_##kind_,                                                                           \
	    .member = #member_,                                                                              \
	    .json = (json_),                                                                                 \
	    .inputs = GB_INPUTS_##inputs_,                                                                   \
	    .flag = OPTION_##has_flag_(flag_),                                                               \
	    .doc = (doc_),                                                                                   \
	    .choices = CHOICES_OF_##kind_(member_)},

const struct gb_agent_field gb_agent_fields[] = {GB_AGENT_FIELDS(AGENT)};
const size_t gb_agent_fields_count = GB_COUNT(gb_agent_fields);

const char *gb_agent_kind_name(enum gb_agent_kind kind) {
	static const char *const names[] = {[GB_AGENT_ID] = "id",
	    [GB_AGENT_TEXT] = "text",
	    [GB_AGENT_JSON] = "json",
	    [GB_AGENT_SESSION] = "session",
	    [GB_AGENT_CHOICE] = "choice"};
	return names[kind];
}

/* --- limits --- */

#define PLACE_LIMITS(name)  NULL
#define PLACE_OPTIONS(name) (name)
#define SENT_HOST           false
#define SENT_WORKER         true

#define LIMIT(member_, width_, json_, place_, contract_, unit_, fallback_, least_, most_, has_flag_, flag_,  \
    enforcer_, agents_, doc_)                                                                                \
	{.member = #member_,                                                                                 \
	    .json = (json_),                                                                                 \
	    .unit = GB_LIMIT_##unit_,                                                                        \
	    .option = OPTION_##has_flag_(flag_),                                                             \
	    .fallback = (fallback_),                                                                         \
	    .min = (least_),                                                                                 \
	    .max = (most_),                                                                                  \
	    .contract = PLACE_##place_(contract_),                                                           \
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
