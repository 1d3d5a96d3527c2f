#include "cli/show.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "cli/display.h"
#include "cli/untrusted.h"
#include "config/values.h"
#include "engine/engine.h"
#include "glovebox/errors.h"

enum { SHOWN_MAX = 1 << 20 };

void show_log(enum gb_log_level level, const struct gb_value *args) {
	FILE *to = level == GB_LOG_WARN || level == GB_LOG_ERROR ? stderr : stdout;
	for (size_t i = 0; i < gb_value_count(args); i++) {
		gb_auto_free char *text = gb_value_inspect(gb_value_at(args, i), SHOWN_MAX);
		fprintf(to, "%s%s", i ? " " : "", text ? text : "?");
	}
	fputc('\n', to);
	fflush(to);
}

/* Pieces of output may end within a character. */
static struct untrusted streams[2];

void show_output(int stream, const char *bytes, size_t n) {
	FILE *to = stream == 2 ? stderr : stdout;
	/* Output is passed on unchanged, except to a terminal, which it must not control. */
	if (isatty(fileno(to)))
		untrusted_feed(&streams[stream == 2], to, bytes, n);
	else
		fwrite(bytes, 1, n, to);
	fflush(to);
}

static void end_output(void) {
	untrusted_end(&streams[0], stdout);
	untrusted_end(&streams[1], stderr);
}

bool show_has_secrets(struct gb_filter *filter, struct gb_str text) {
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, text.n + 1);
	gb_mask_text(filter, text, &clean);
	return gb_buf_failed(&clean) || !gb_str_eq(gb_buf_str(&clean), text);
}

/* @n is 0 unless there are zeros in @text. */
static size_t length_of(const char *text, size_t n) {
	return n ? n : strlen(text);
}

static void show_hint(const char *code) {
	const char *hint = gb_error_hint(code);
	if (hint)
		fprintf(stderr, "hint: %s\n", hint);
}

static void show_failure(const struct shown *shown, const struct gb_result *result) {
	const struct gb_run_error *error = &result->error;
	print_styled(stderr, RED, "%s", gb_status_name(result->status));
	fputs(": ", stderr);
	if (result->status == GB_FAILURE || result->status == GB_LINK_ERROR) {
		print_message(stderr, error->name, length_of(error->name, error->name_bytes));
		fputs(": ", stderr);
	}
	print_message(stderr, error->message, length_of(error->message, error->message_bytes));
	fputc('\n', stderr);
	if (error->line && !(shown->filter && show_has_secrets(shown->filter, shown->source)))
		print_excerpt(stderr, shown->source, error->line, error->column);
	print_block(stderr, error->stack, length_of(error->stack, error->stack_bytes));
	show_hint(error->code);
}

/* The program has ended itself with a status, after its own message. */
static bool is_exit(const struct gb_result *result) {
	const char *code = result->error.code;
	return result->status == GB_FAILURE && code &&
	       (strcmp(code, GB_CODE_EXIT) == 0 || strcmp(code, GB_CODE_EXIT_CODE) == 0);
}

/* Writes "" for 0. */
static const char *write_limit(struct gb_buf *out, uint64_t bytes) {
	gb_buf_init(out, 64);
	if (!bytes)
		return "";
	gb_buf_printf(out, "%s", ", ");
	gb_config_write_size(out, bytes);
	const char *text = gb_buf_c_str(out);
	return text ? text : "";
}

/* The result does not have which of them was exceeded. */
static void show_cut(const struct shown *shown) {
	const struct gb_run_options *limits = shown->limits;
	const char *section = gb_language_infos[limits->language].section;
	gb_auto_buf struct gb_buf output, files;
	fprintf(stderr, "glovebox %s: ", shown->command->name);
	print_styled(stderr, YELLOW, "the output was cut");
	fprintf(stderr, " at its limit%s (settings limits.%s.output, limits.%s.maxOutput%s)",
	    write_limit(&output, limits->output_bytes), section, section,
	    shown->is_agent ? ", agent.maxOutputSize" : "");
	const char *of_files = write_limit(&files, limits->result_bytes);
	if (gb_language_has(limits->language, GB_NEED_BOX))
		fprintf(stderr, ", or the files at theirs%s (limits.%s.result)", of_files, section);
	fputc('\n', stderr);
}

static void show_value(const struct shown *shown, const struct gb_result *result) {
	if (result->status != GB_SUCCESS) {
		if (!is_exit(result))
			show_failure(shown, result);
	} else if (gb_value_type(result->value) != GB_UNDEFINED && !displays_include_value(result)) {
		gb_auto_free char *text = gb_value_inspect(result->value, SHOWN_MAX);
		puts(text ? text : "?");
	}
	if (result->truncated)
		show_cut(shown);
}

static int exit_status(const struct gb_result *result) {
	if (result->timed_out)
		return EXIT_TIMEOUT;
	if (result->status == GB_DENIED)
		return EXIT_REFUSED;
	if (result->status == GB_SUCCESS)
		return EXIT_OK;
	bool is_own = result->status == GB_FAILURE && result->exit_code > 0 && result->exit_code <= 255;
	return is_own ? result->exit_code : EXIT_CODE_FAILED;
}

/* On stderr, since it is not output of the code. */
static void show_denials(const struct gb_value *denials) {
	for (size_t i = 0; i < gb_value_count(denials); i++) {
		const struct gb_value *denial = gb_value_at(denials, i);
		const char *kind = gb_value_bytes(gb_value_get(denial, "kind"), NULL);
		const char *texts[3];
		if (!kind || strcmp(kind, "network") != 0)
			continue; /* it is the error, which is shown already */
		static const char *const keys[] = {"host", "reason", "remedy"};
		for (size_t k = 0; k < GB_COUNT(keys); k++) {
			const char *text = gb_value_bytes(gb_value_get(denial, keys[k]), NULL);
			texts[k] = text ? text : "";
		}
		const double port = gb_value_as_number(gb_value_get(denial, "port"));
		print_styled(stderr, YELLOW, "glovebox: no connection to ");
		print_message(stderr, texts[0], strlen(texts[0]));
		if (port > 0)
			fprintf(stderr, ":%.0f", port);
		fputs(": ", stderr);
		print_message(stderr, texts[1], strlen(texts[1]));
		fputs("\nhint: ", stderr);
		print_message(stderr, texts[2], strlen(texts[2]));
		fputc('\n', stderr);
	}
}

int show_result(const struct shown *shown, const struct gb_result *result) {
	struct gb_err err = {0};
	end_output();
	if (shown->out && !displays_write(result, shown->out, &err)) {
		report_error(shown->command, "--out: %s", err.message);
		return EXIT_CODE_FAILED;
	}
	if (shown->json) {
		puts(shown->json);
		return exit_status(result);
	}
	if (!shown->out)
		displays_show(result);
	show_value(shown, result);
	show_denials(result->denials);
	return exit_status(result);
}

/* With --json a refusal has the form of a result. */
int show_refusal(const struct command *command, bool json, const char *code, const char *message) {
	end_output();
	if (json) {
		const struct gb_result refusal = gb_result_instead(GB_DENIED, "Denied", code, message, NULL);
		gb_auto_free char *text = gb_result_to_json(&refusal, NULL, NULL);
		puts(text ? text : "");
	} else {
		report_error(command, "refused: %s", message);
		show_hint(code);
	}
	return EXIT_REFUSED;
}
