/*
 * What a person's run says: shown as it comes, without its secrets.
 *
 *	struct spoken spoken;
 *	spoken_begin(&spoken, filter, quiet, &options, &err);	// sets the callbacks of options
 *	... gb_run_start, gb_run_wait ...
 *	show(spoken_end(&spoken, result));
 *	spoken_finish(&spoken);
 */
#ifndef GB_CLI_SPOKEN_H
#define GB_CLI_SPOKEN_H

#include "guard/masked.h"

struct spoken {
	bool quiet; /* the result tells all */
	struct gb_masked masked;
	struct gb_result clean;
};

/* @filter, which stays the caller's, may be NULL. The run's limits must be set. */
bool spoken_begin(struct spoken *spoken, struct gb_filter *filter, bool quiet, struct gb_run_options *options,
    struct gb_err *err);
/* What was held back is shown; the result without its secrets, which lives until the end. */
const struct gb_result *spoken_end(struct spoken *spoken, const struct gb_result *result);
void spoken_finish(struct spoken *spoken);

#endif
