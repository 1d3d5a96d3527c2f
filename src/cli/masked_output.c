#include "cli/masked_output.h"

#include "base/cleanup.h"
#include "cli/show.h"

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	struct spoken *spoken = data;
	if (spoken->masked.filter)
		log = gb_masked_log(&spoken->masked, log);
	if (log && !spoken->quiet)
		show_log(log->level, log->args);
}

static void show_clean(const struct spoken *spoken, int stream, const struct gb_buf *out) {
	if (out->len && !gb_buf_failed(out) && !spoken->quiet)
		show_output(stream, out->data, out->len);
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	struct spoken *spoken = data;
	if (!spoken->masked.filter) {
		show_output(stream, bytes, n);
		return;
	}
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, n + GB_MASKED_HELD);
	gb_masked_feed(&spoken->masked, stream, bytes, n, &out);
	show_clean(spoken, stream, &out);
}

bool spoken_begin(struct spoken *spoken, struct gb_filter *filter, bool quiet, struct gb_run_options *options,
    struct gb_err *err) {
	*spoken = (struct spoken){.quiet = quiet};
	if (filter && !gb_masked_init(&spoken->masked, filter, gb_masked_output_max(options),
			  gb_masked_value_max(options)))
		return gb_fail(err, GB_ENOMEM, 0, "there is no memory to mask what it says");
	if (filter || !quiet) {
		options->on_log = on_log;
		options->on_output = on_output;
		options->data = spoken;
	}
	return true;
}

const struct gb_result *spoken_end(struct spoken *spoken, const struct gb_result *result) {
	if (!spoken->masked.filter)
		return result;
	for (int stream = 1; stream <= 2; stream++) {
		gb_auto_buf struct gb_buf out;
		gb_buf_init(&out, GB_MASKED_HELD);
		gb_masked_end(&spoken->masked, stream, result, &out);
		show_clean(spoken, stream, &out);
	}
	gb_masked_tell(&spoken->masked, result, &spoken->clean);
	return &spoken->clean;
}

void spoken_finish(struct spoken *spoken) {
	if (spoken->masked.filter)
		gb_masked_finish(&spoken->masked);
}
