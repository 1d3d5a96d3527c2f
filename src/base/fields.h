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

enum gb_limit_unit { GB_LIMIT_MS, GB_LIMIT_BYTES, GB_LIMIT_COUNT };

struct gb_limit_field {
	const char *member; /* of struct gb_run_options */
	const char *json;
	enum gb_limit_unit unit;
	const char *option; /* of the command line; NULL: none */
	uint64_t fallback;  /* 0: the language's own */
	uint64_t min, max;  /* what the engine accepts */
	bool in_options;    /* a 'run' message has it in 'options' */
	bool is_sent;       /* the worker enforces it */
	bool for_agents;    /* agents can ask for it */
	const char *doc;    /* one line of Markdown */
	size_t offset;      /* in struct gb_run_options */
	unsigned width;     /* of the member, in bits */
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
