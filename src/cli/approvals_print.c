#include <time.h>

#include "base/cleanup.h"
#include "cli/approvals.h"
#include "cli/cells.h"
#include "cli/listing.h"
#include "cli/untrusted.h"

enum { LABEL_WIDTH = 14, JSON_LINE_MAX = 256 << 20, SHORT_ID_LENGTH = 8 };

int approvals_finish_output(void) {
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	report_error(&command_approvals, "not everything could be written to standard output");
	return EXIT_CODE_FAILED;
}

static enum style state_style(enum gb_approval_state state) {
	static const enum style styles[] = {[GB_APPROVAL_PENDING] = YELLOW,
	    [GB_APPROVAL_APPROVED] = GREEN,
	    [GB_APPROVAL_DENIED] = RED,
	    [GB_APPROVAL_EXPIRED] = RED,
	    [GB_APPROVAL_WITHDRAWN] = DIM};
	return styles[state];
}

static struct gb_str format_time_left(char text[32], const struct gb_approval *approval) {
	long long left = approval->expires_ms / 1000 - (long long)time(NULL);
	if (approval->state != GB_APPROVAL_PENDING || left < 0)
		return GB_STR("");
	int n =
	    left < 120 ? snprintf(text, 32, "in %lld s", left) : snprintf(text, 32, "in %lld min", left / 60);
	return (struct gb_str){text, (size_t)n};
}

void approvals_print_standing(const struct gb_standing *standing) {
	char time[GB_DATE_TEXT];
	struct gb_str at = format_time(time, standing->decided_ms);
	print_styled(stdout, state_style(standing->state), "%s%s", gb_approval_state_name(standing->state),
	    standing->trusts ? ", and the session is trusted," : "");
	if (*standing->decider) {
		fputs(" by ", stdout);
		print_name(stdout, standing->decider, strlen(standing->decider));
	}
	printf(" at %.*s", GB_STR_ARG(at));
	if (*standing->reason) {
		fputs(": ", stdout);
		print_name(stdout, standing->reason, strlen(standing->reason));
	}
	putchar('\n');
}

/* --- JSON --- */

struct output {
	uint64_t n_rows;
	bool out_of_memory;
};

static bool print_json(void *data, struct gb_approval *approval) {
	struct output *output = data;
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, JSON_LINE_MAX);
	gb_approval_json(&line, approval);
	gb_buf_append_char(&line, '\n');
	output->out_of_memory = gb_buf_failed(&line);
	return !output->out_of_memory && fwrite(line.data, 1, line.len, stdout) == line.len;
}

/* --- list of approvals --- */

static const struct {
	const char *title;
	unsigned width;
} columns[] = {{"id", SHORT_ID_LENGTH}, {"state", 9}, {"asked", 24}, {"expires", 10}, {"runtime", 8},
    {"conversation", 16}, {"purpose", 24}, {"code", CELL_WIDTH_MAX}};

static bool print_row(void *data, struct gb_approval *approval) {
	struct output *output = data;
	char time[GB_DATE_TEXT], left[32];
	const struct gb_approval_request *request = &approval->request;
	struct gb_str cells[] = {{approval->id, SHORT_ID_LENGTH},
	    gb_str_from(gb_approval_state_name(approval->state)), format_time(time, approval->created_ms),
	    format_time_left(left, approval), request->runtime, request->conversation, request->purpose,
	    request->code};
	_Static_assert(GB_COUNT(cells) == GB_COUNT(columns), "a cell for each column");
	for (size_t i = 0; output->n_rows == 0 && i < GB_COUNT(columns); i++)
		print_cell(BOLD, gb_str_from(columns[i].title), columns[i].width);
	if (output->n_rows++ == 0)
		putchar('\n');
	for (size_t i = 0; i < GB_COUNT(columns); i++)
		print_cell(i == 1 ? state_style(approval->state) : PLAIN, cells[i], columns[i].width);
	putchar('\n');
	return !ferror(stdout);
}

int approvals_list(struct gb_approvals *approvals, const struct approvals_request *request) {
	struct gb_approval_filter filter = request->filter;
	struct output output = {0};
	struct gb_err err = {0};
	filter.pending_only = !request->all;
	filter.newest_first = request->all;
	if (!gb_approvals_each(approvals, &filter, request->json ? print_json : print_row, &output, &err))
		return approvals_fail(&err);
	if (output.out_of_memory) {
		report_error(&command_approvals, "memory is out");
		return EXIT_CODE_FAILED;
	}
	if (!request->json && output.n_rows == 0)
		fprintf(stderr, request->all ? "no such approvals\n" : "no approvals are pending\n");
	return approvals_finish_output();
}

/* --- one approval --- */

static void print_field(const char *label, struct gb_str text) {
	struct listing listing = {.to = stdout, .indent = LABEL_WIDTH};
	if (text.n == 0)
		return;
	print_styled(stdout, DIM, "%-*s", LABEL_WIDTH, label);
	print_listing(&listing, text, NULL);
}

static void print_times(const struct gb_approval *approval) {
	char time[GB_DATE_TEXT], left[32];
	print_field("asked", format_time(time, approval->created_ms));
	struct gb_str at = format_time(time, approval->expires_ms), in = format_time_left(left, approval);
	print_styled(stdout, DIM, "%-*s", LABEL_WIDTH, "expires");
	printf("%.*s%s%.*s%s\n", GB_STR_ARG(at), in.n ? " (" : "", GB_STR_ARG(in), in.n ? ")" : "");
}

static void print_decision(const struct gb_approval *approval) {
	char time[GB_DATE_TEXT];
	if (approval->trusts)
		print_field("trusts", GB_STR("its session"));
	print_field("decided by", approval->decider);
	if (approval->decided_ms)
		print_field("decided", format_time(time, approval->decided_ms));
	print_field("reason", approval->reason);
	if (approval->used_ms)
		print_field("used", format_time(time, approval->used_ms));
}

static void warn_about_characters(const struct listing_seen *seen) {
	if (seen->deceptive)
		print_styled(stdout, RED,
		    "%zu characters that cannot be seen, or that change how others are shown, stand there as "
		    "numbers; the first in line %zu.\n",
		    seen->deceptive, seen->first_deceptive);
	if (seen->non_ascii)
		print_styled(stdout, YELLOW,
		    "%zu characters are not ASCII and may look like others; the first in line %zu.\n",
		    seen->non_ascii, seen->first_non_ascii);
}

void approvals_print(struct gb_approval *approval) {
	const struct gb_approval_request *request = &approval->request;
	struct listing listing = {
	    .to = stdout, .has_numbers = true, .syntax = highlight_syntax(request->runtime)};
	struct listing_seen seen;
	char hash[2 * GB_HASH_BYTES + 1];
	gb_hash_format(hash, &approval->hash);
	print_field("approval", gb_str_from(approval->id));
	print_styled(stdout, DIM, "%-*s", LABEL_WIDTH, "state");
	print_styled(stdout, state_style(approval->state), "%s\n", gb_approval_state_name(approval->state));
	print_field("runtime", request->runtime);
	print_field("session", request->session);
	print_field("conversation", request->conversation);
	print_field("through", request->face);
	print_field("purpose", request->purpose);
	print_field("permissions", request->permissions.n ? request->permissions : GB_STR("none"));
	print_field("limits", request->limits);
	print_field("policy", request->policy);
	/* The gate writes the inputs as a JSON array of arguments or, for text that is typed into a session,
	 * as an object that begins with the prompt. */
	static const char prompt[] = "{\"prompt\":";
	bool is_typed =
	    request->inputs.n > strlen(prompt) && memcmp(request->inputs.p, prompt, strlen(prompt)) == 0;
	print_field(is_typed ? "answers" : "inputs", request->inputs);
	print_times(approval);
	print_decision(approval);
	print_field("hash", gb_str_from(hash));
	putchar('\n');
	if (is_typed) {
		print_styled(stdout, BOLD,
		    "This text is typed into the session, in which a program waits for input:\n");
		listing.syntax = GB_SYNTAX_NONE;
	}
	print_listing(&listing, request->code, &seen);
	warn_about_characters(&seen);
}

int approvals_show(struct gb_approvals *approvals, const struct approvals_request *request) {
	char id[GB_APPROVAL_ID];
	gb_auto_approval struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	struct output output = {0};
	if (!gb_approval_resolve(approvals, request->id, id, &err) ||
	    !gb_approval_get(approvals, id, &approval, &err))
		return approvals_fail(&err);
	if (!request->json)
		approvals_print(approval);
	else
		print_json(&output, approval);
	if (output.out_of_memory)
		report_error(&command_approvals, "memory is out");
	int status = approvals_finish_output();
	return output.out_of_memory ? EXIT_CODE_FAILED : status;
}
