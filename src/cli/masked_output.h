/*
 * Shows the output of a run while it runs, with secrets masked.
 *
 *	struct masked_output output;
 *	masked_output_begin(&output, filter, quiet, &options, &err);	// sets the callbacks of options
 *	... gb_run_start, gb_run_wait ...
 *	show(masked_output_end(&output, result));
 *	masked_output_finish(&output);
 */
#ifndef GB_CLI_MASKED_OUTPUT_H
#define GB_CLI_MASKED_OUTPUT_H

#include "guard/masked.h"

struct masked_output {
	bool quiet; /* show nothing before the result */
	struct gb_masked masked;
	struct gb_result clean;
};

/* @filter may be NULL and stays owned by the caller. The run's limits must be set. */
bool masked_output_begin(struct masked_output *output, struct gb_filter *filter, bool quiet,
    struct gb_run_options *options, struct gb_err *err);
/* Show the output that was held back. Returns the result with secrets masked, valid until
 * masked_output_finish. */
const struct gb_result *masked_output_end(struct masked_output *output, const struct gb_result *result);
void masked_output_finish(struct masked_output *output);

#endif
