#include "cli/masked_output.h"

#include "base/cleanup.h"
#include "cli/show.h"

static void show_masked(struct masked_output *output) {
	struct gb_masked *masked = &output->masked;
	struct gb_masked_event event;
	while (gb_masked_next(masked, &event)) {
		if (output->quiet)
			continue;
		if (event.kind == GB_MASKED_LOG)
			show_log(masked->logs[event.at].level, masked->logs[event.at].args);
		else if (event.kind == GB_MASKED_OUTPUT)
			show_output(event.stream, gb_masked_output(masked, &event).p, event.n);
	}
}

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct masked_output *output = data;
	if (output->masked.filter) {
		gb_masked_put_log(&output->masked, log);
		show_masked(output);
	} else if (!output->quiet) {
		show_log(log->level, log->args);
	}
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct masked_output *output = data;
	if (output->masked.filter) {
		gb_masked_put_output(&output->masked, stream, bytes, n);
		show_masked(output);
	} else if (!output->quiet) {
		show_output(stream, bytes, n);
	}
}

bool masked_output_begin(struct masked_output *output, struct gb_filter *filter, bool quiet,
    struct gb_run_options *options, struct gb_err *err) {
	*output = (struct masked_output){.quiet = quiet};
	if (filter && !gb_masked_init(&output->masked, filter, gb_masked_output_max(options),
			  gb_masked_value_max(options)))
		return gb_fail(err, GB_ENOMEM, 0, "out of memory while preparing to mask the output");
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
	gb_masked_put_end(&output->masked, result);
	show_masked(output);
	gb_masked_tell(&output->masked, result, &output->clean);
	return &output->clean;
}

void masked_output_finish(struct masked_output *output) {
	if (output->masked.filter)
		gb_masked_finish(&output->masked);
}
