#include "cli/masked_output.h"

#include "base/cleanup.h"
#include "cli/show.h"

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct masked_output *output = data;
	if (output->masked.filter)
		log = gb_masked_log(&output->masked, log);
	if (log && !output->quiet)
		show_log(log->level, log->args);
}

static void show_clean(const struct masked_output *output, int stream, struct gb_str clean) {
	if (clean.n && !output->quiet)
		show_output(stream, clean.p, clean.n);
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct masked_output *output = data;
	struct gb_str clean = {bytes, n};
	if (output->masked.filter)
		clean = gb_masked_feed(&output->masked, stream, bytes, n);
	show_clean(output, stream, clean);
}

bool masked_output_begin(struct masked_output *output, struct gb_filter *filter, bool quiet,
    struct gb_run_options *options, struct gb_err *err) {
	*output = (struct masked_output){.quiet = quiet};
	if (filter && !gb_masked_init(&output->masked, filter, gb_masked_output_max(options),
			  gb_masked_value_max(options)))
		return gb_fail(err, GB_ENOMEM, 0, "there is no memory to mask what it says");
	if (filter || !quiet) {
		options->on_log = on_log;
		options->on_output = on_output;
		options->data = output;
	}
	return true;
}

const struct gb_result *masked_output_end(struct masked_output *output, const struct gb_result *result) {
	if (!output->masked.filter)
		return result;
	for (int stream = 1; stream <= 2; stream++)
		show_clean(output, stream, gb_masked_end(&output->masked, stream, result));
	gb_masked_tell(&output->masked, result, &output->clean);
	return &output->clean;
}

void masked_output_finish(struct masked_output *output) {
	if (output->masked.filter)
		gb_masked_finish(&output->masked);
}
