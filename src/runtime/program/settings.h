/*
 * What a job says beside its source: the settings object, and its arguments.
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
	bool session, reset, restricted;
	struct gb_str input;           /* for the standard input; p is NULL: none was given */
	struct gb_cbor_reader args;    /* stands at the array */
	struct gb_cbor_reader net;     /* the same; at is NULL: not given */
	struct gb_cbor_reader modules; /* "allowedModules" */
};

/* Everything points into the job. The host wrote it, so what is malformed ends the process. */
void gb_settings_read(const struct gb_job *job, struct gb_settings *ret);

/* Go through an array of texts: @list stands at one, or before the first item that is left. */
bool gb_settings_next(struct gb_cbor_reader *list, uint64_t *left, struct gb_str *ret);
/* How many texts are in the array that @list stands at; moves it to the first. 0 if it was not given. */
uint64_t gb_settings_count(struct gb_cbor_reader *list);

#endif
