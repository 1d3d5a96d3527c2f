/*
 * The settings object and the arguments of a job.
 *
 *	struct gb_settings settings;
 *	gb_settings_read(&job, &settings);
 */
#ifndef GB_RUNTIME_PROGRAM_SETTINGS_H
#define GB_RUNTIME_PROGRAM_SETTINGS_H

#include <stdbool.h>

#include "base/str.h"
#include "runtime/job.h"

struct gb_settings {
	bool session, reset, restricted, read_only;
	struct gb_str input;           /* for standard input; p is NULL: none */
	struct gb_cbor_reader args;    /* positioned at the array */
	struct gb_cbor_reader net;     /* likewise; at is NULL: not set */
	struct gb_cbor_reader modules; /* "allowedModules" */
	struct gb_cbor_reader secrets; /* positioned at the object of variables */
};

/* The result points into the job. The host wrote the job, so malformed input ends the process. */
void gb_settings_read(const struct gb_job *job, struct gb_settings *ret);

/* Iterate over an array of texts: @list is at the next item, *left items remain. */
bool gb_settings_next(struct gb_cbor_reader *list, uint64_t *left, struct gb_str *ret);
/* The same for an object of texts: at its first name after gb_settings_count. */
bool gb_settings_next_variable(
    struct gb_cbor_reader *object, uint64_t *left, struct gb_str *ret_name, struct gb_str *ret_value);
/* Number of texts in the array at @list; advances @list to the first item. 0 if the list is not set. */
uint64_t gb_settings_count(struct gb_cbor_reader *list);

#endif
