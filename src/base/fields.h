/*
 * The rows of glovebox/fields.h as arrays, for code that treats all fields alike.
 *
 *	for (size_t i = 0; i < gb_limit_fields_count; i++)
 *		if (!gb_limit_get(&gb_limit_fields[i], options)) ... its default applies ...
 */
#ifndef GB_BASE_FIELDS_H
#define GB_BASE_FIELDS_H

#include "base/str.h"
#include "glovebox/glovebox.h"

enum gb_result_kind {
	GB_RESULT_ID,
	GB_RESULT_STATUS,
	GB_RESULT_VALUE,
	GB_RESULT_VALUES,
	GB_RESULT_DISPLAYS,
	GB_RESULT_FILES,
	GB_RESULT_LOGS,
	GB_RESULT_OUTPUT,
	GB_RESULT_TEXT,
	GB_RESULT_FLAG,
	GB_RESULT_INTEGER,
	GB_RESULT_COUNT,
	GB_RESULT_MS,
	GB_RESULT_ERROR,
};

struct gb_result_field {
	enum gb_result_kind kind;
	const char *json;
	bool optional;   /* left out of the JSON where it is not set */
	const char *doc; /* one line of Markdown */
	size_t offset;   /* in struct gb_result */
	size_t n_offset; /* of the count or length, for kinds that have one */
};

extern const struct gb_result_field gb_result_fields[];
extern const size_t gb_result_fields_count;

/* "value", "flag": for programs that read the table. */
const char *gb_result_kind_name(enum gb_result_kind kind);

/* The member of @result that @field describes, and its count or length. */
static inline void *gb_result_member(const struct gb_result_field *field, struct gb_result *result) {
	return (char *)result + field->offset;
}
static inline size_t *gb_result_length(const struct gb_result_field *field, struct gb_result *result) {
	return (size_t *)(void *)((char *)result + field->n_offset);
}

/* A result that replaces a run's own, because the code was not run or its result cannot be given: no values,
 * no output, @message as its error. Texts are borrowed. @of may be NULL; otherwise its id, flags, durations
 * and counts are kept. */
struct gb_result gb_result_instead(enum gb_status status, const char *name, const char *code,
    const char *message, const struct gb_result *of);

/* --- requests --- */

enum gb_request_kind {
	GB_REQUEST_LANGUAGE,
	GB_REQUEST_TEXT,
	GB_REQUEST_INPUT,
	GB_REQUEST_FLAG,
	GB_REQUEST_ARGS,
	GB_REQUEST_NAMES,
	GB_REQUEST_VARIABLES,
	GB_REQUEST_IMPORTS,
	GB_REQUEST_SOURCES,
	GB_REQUEST_FILES,
};

enum gb_request_scope { GB_SCOPE_ANY, GB_SCOPE_NEW, GB_SCOPE_SESSION };

/* What a language must have for a field to have an effect. */
enum gb_need {
	GB_NEED_EVERY, /* nothing: every language */
	GB_NEED_MODULES,
	GB_NEED_BOX,
	GB_NEED_PROFILES,
	GB_NEED_RESTRICTED,
	GB_NEED_ALLOWLIST,
	GB_NEED_NET,
	GB_NEED_SESSIONS,
};

struct gb_request_field {
	enum gb_request_kind kind;
	const char *member; /* of struct gb_run_options */
	const char *json;
	bool in_execute;  /* a 'run' message has it in options.execute */
	bool in_contract; /* an option of runCode */
	enum gb_request_scope scope;
	enum gb_need need;
	bool is_setting;  /* sent among the settings of a job */
	bool for_agents;  /* an 'execute' message can have it */
	const char *flag; /* of the command line; NULL: none */
	const char *doc;  /* one line of Markdown */
	size_t offset;    /* in struct gb_run_options */
};

extern const struct gb_request_field gb_request_fields[];
extern const size_t gb_request_fields_count;

/* "text", "names": for programs that read the table. */
const char *gb_request_kind_name(enum gb_request_kind kind);
/* "any", "new", "session". */
const char *gb_request_scope_name(enum gb_request_scope scope);
/* NULL if no field has this flag on the command line. */
const struct gb_request_field *gb_request_by_flag(const char *flag);
/* Whether @options have a value for @field. False for the language, which always has one. */
bool gb_request_has(const struct gb_request_field *field, const struct gb_run_options *options);
/* The member of @options that @field describes. */
static inline void *gb_request_member(
    const struct gb_request_field *field, const struct gb_run_options *options) {
	return (char *)(uintptr_t)options + field->offset;
}
/* The value of a field whose kind is a text, or NULL. */
const char *gb_request_text(const struct gb_request_field *field, const struct gb_run_options *options);
/* The value of a field whose kind is a struct gb_value, or NULL. */
const struct gb_value *gb_request_value(
    const struct gb_request_field *field, const struct gb_run_options *options);

/* --- what agents state about their requests --- */

enum gb_agent_kind { GB_AGENT_ID, GB_AGENT_TEXT, GB_AGENT_JSON, GB_AGENT_SESSION, GB_AGENT_CHOICE };
enum gb_agent_inputs { GB_INPUTS_NONE, GB_INPUTS_OPTIONAL, GB_INPUTS_REQUIRED };

struct gb_agent_field {
	enum gb_agent_kind kind;
	const char *member, *json;
	enum gb_agent_inputs inputs;
	const char *flag;           /* of the command line; NULL: none */
	const char *doc;            /* one line of Markdown */
	const char *const *choices; /* of a CHOICE; NULL ends them */
};

extern const struct gb_agent_field gb_agent_fields[];
extern const size_t gb_agent_fields_count;

/* "id", "text", "json", "session", "choice". */
const char *gb_agent_kind_name(enum gb_agent_kind kind);

/* --- limits --- */

enum gb_limit_unit { GB_LIMIT_MS, GB_LIMIT_BYTES, GB_LIMIT_COUNT };

struct gb_limit_field {
	const char *member; /* of struct gb_run_options */
	const char *json;
	enum gb_limit_unit unit;
	const char *option;   /* of the command line; NULL: none */
	uint64_t fallback;    /* 0: the language's own */
	uint64_t min, max;    /* what the engine accepts */
	const char *contract; /* its name in the 'options' of a 'run' message; NULL: it is in 'limits' */
	bool is_sent;         /* the worker enforces it */
	bool for_agents;      /* agents can ask for it */
	const char *doc;      /* one line of Markdown */
	size_t offset;        /* in struct gb_run_options */
	unsigned width;       /* of the member, in bits */
};

extern const struct gb_limit_field gb_limit_fields[];
extern const size_t gb_limit_fields_count;

/* "ms", "bytes", "count". */
const char *gb_limit_unit_name(enum gb_limit_unit unit);
/* NULL if no limit has this option on the command line. */
const struct gb_limit_field *gb_limit_by_option(const char *option);
/* What @options ask for; 0: the default. */
uint64_t gb_limit_get(const struct gb_limit_field *field, const struct gb_run_options *options);
/* @value must not be greater than the field's maximum. */
void gb_limit_set(const struct gb_limit_field *field, struct gb_run_options *options, uint64_t value);

#endif
