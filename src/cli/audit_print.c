#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/audit.h"
#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/untrusted.h"
#include "value/json.h"
#include "value/text.h"

enum {
	LINE_MAX_BYTES = 128 << 20, /* a record as JSON: escaping can make code six times as long */
};

static int fail(const struct gb_err *err) {
	report_error(&command_audit, "%s", err->message);
	return EXIT_CODE_FAILED;
}

/* Also detects that the output was not written completely: closed pipe, full disk. */
static int finish_output(bool ok, const struct gb_err *err) {
	if (!ok)
		return fail(err);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	report_error(&command_audit, "not everything could be written to standard output");
	return EXIT_CODE_FAILED;
}

/* --- lists --- */

/* State of printing the records that pass the request's filter. */
struct listing {
	const struct audit_request *request;
	struct audit_begun begun;
	uint64_t listed, limit; /* 0: none */
	bool failed;
};

/* Unfinished runs are selected here, so the limit is counted here. */
static bool load(struct listing *listing, struct gb_audit_filter *ret_filter, struct gb_err *err) {
	*ret_filter = listing->request->filter;
	if (listing->request->unfinished) {
		listing->limit = ret_filter->limit;
		ret_filter->limit = 0;
	}
	return audit_begun_load(&listing->begun, listing->request->dir, ret_filter, err);
}

static bool is_wanted(const struct listing *listing, const struct gb_audit_record *record) {
	return !listing->request->unfinished || audit_is_unfinished(&listing->begun, record);
}

static bool goes_on(const struct listing *listing) {
	return !ferror(stdout) && !listing->failed && (!listing->limit || listing->listed < listing->limit);
}

static struct gb_str status_of(const struct listing *listing, const struct gb_audit_record *record) {
	if (gb_str_eq(record->kind, GB_STR("code_execution")))
		return record->status;
	if (!gb_str_eq(record->kind, GB_STR("execution_begin")))
		return record->kind;
	return audit_is_unfinished(&listing->begun, record) ? GB_STR("unfinished") : GB_STR("begun");
}

static enum style status_style(struct gb_str status) {
	if (gb_str_eq(status, GB_STR("success")) || status.n == 0)
		return status.n ? GREEN : PLAIN;
	if (gb_str_eq(status, GB_STR("begun")) || gb_str_eq(status, GB_STR("prune")))
		return DIM;
	return gb_str_eq(status, GB_STR("denied")) ? YELLOW : RED;
}

static struct gb_str format_duration(char text[32], uint64_t ns) {
	double ms = (double)ns / 1e6;
	int n = ms < 1000 ? snprintf(text, 32, "%.2f ms", ms) : snprintf(text, 32, "%.2f s", ms / 1000);
	return (struct gb_str){text, (size_t)n};
}

static const struct {
	const char *title;
	unsigned width;
} columns[] = {{"record", 7}, {"recorded", 24}, {"runtime", 8}, {"status", 10}, {"decision", 10},
    {"took", 10}, {"code", CELL_WIDTH_MAX}};

static void print_titles(void) {
	for (size_t i = 0; i < GB_COUNT(columns); i++)
		print_cell(BOLD, gb_str_from(columns[i].title), columns[i].width);
	putchar('\n');
}

static bool list_one(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct listing *listing = data;
	if (!is_wanted(listing, record))
		return true;
	char number[24], time[GB_DATE_TEXT], duration[32];
	if (listing->listed++ == 0)
		print_titles();
	int n = snprintf(number, sizeof number, "%llu", (unsigned long long)seq);
	bool is_run = gb_str_eq(record->kind, GB_STR("code_execution")) ||
		      gb_str_eq(record->kind, GB_STR("code_input"));
	print_cell(PLAIN, (struct gb_str){number, (size_t)n},
	    columns[0].width > (unsigned)n ? columns[0].width : (unsigned)n);
	print_cell(DIM, format_time(time, record->time_ms), columns[1].width);
	print_cell(PLAIN, record->runtime, columns[2].width);
	struct gb_str status = status_of(listing, record);
	print_cell(status_style(status), status, columns[3].width);
	print_cell(PLAIN, record->decision, columns[4].width);
	print_cell(
	    PLAIN, is_run ? format_duration(duration, record->duration_ns) : GB_STR(""), columns[5].width);
	print_cell(PLAIN, record->code.p ? record->code : record->note, columns[6].width);
	putchar('\n');
	return goes_on(listing);
}

int audit_list(const struct audit_request *request) {
	struct gb_err err = {0};
	struct listing listing = {.request = request};
	struct gb_audit_filter filter;
	bool ok =
	    load(&listing, &filter, &err) && gb_audit_each(request->dir, &filter, list_one, &listing, &err);
	if (ok && listing.listed == 0)
		fprintf(stderr, "no such records\n");
	audit_begun_finish(&listing.begun);
	return finish_output(ok, &err);
}

/* --- JSON --- */

static bool export_one(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct listing *listing = data;
	if (!is_wanted(listing, record))
		return true;
	listing->listed++;
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, LINE_MAX_BYTES);
	gb_audit_json(&line, seq, hash, record);
	gb_buf_append_char(&line, '\n');
	listing->failed = gb_buf_failed(&line);
	return !listing->failed && fwrite(line.data, 1, line.len, stdout) == line.len && goes_on(listing);
}

/* Unfinished runs are only searched for if they are selected. */
int audit_export(const struct audit_request *request) {
	struct gb_err err = {.message = "memory is out"};
	struct listing listing = {.request = request};
	struct gb_audit_filter filter = request->filter;
	bool ok = (!request->unfinished || load(&listing, &filter, &err)) &&
		  gb_audit_each(request->dir, &filter, export_one, &listing, &err);
	audit_begun_finish(&listing.begun);
	return finish_output(ok && !listing.failed, &err);
}

/* --- one record --- */

static void print_label(const char *label) {
	print_styled(stdout, DIM, "%-18s", label);
}

/* Lines are indented: code must not be able to look like another field of its record. */
static void print_text(struct gb_str text) {
	struct gb_str line;
	bool is_long = memchr(text.p, '\n', text.n) || text.n > 100;
	if (is_long)
		putchar('\n');
	do {
		gb_str_cut(&text, '\n', &line);
		fputs(is_long ? "    " : "", stdout);
		print_untrusted(stdout, line.p, line.n);
		putchar('\n');
	} while (text.n);
}

static void print_cut(uint64_t cut) {
	for (size_t i = 0; i < gb_audit_n_fields; i++)
		if (cut >> i & 1)
			printf("%s ", gb_audit_fields[i].label);
	putchar('\n');
}

static void print_number(const struct gb_value *one, const char *key, const char *before, const char *after) {
	const struct gb_value *number = gb_value_get(one, key);
	if (number)
		printf("%s%.0f%s", before, gb_value_as_number(number), after);
}

static void print_part(const struct gb_value *one, const char *key, const char *before) {
	size_t n = 0;
	const char *text = gb_value_bytes(gb_value_get(one, key), &n);
	if (!text)
		return;
	fputs(before, stdout);
	print_untrusted(stdout, text, n);
}

/* One attempt to reach a host on each line. */
static bool print_network(struct gb_str json) {
	struct gb_values *pool = gb_values_create(8 << 20);
	const struct gb_value *all = pool ? gb_value_from_json(pool, json.p, json.n, NULL) : NULL;
	const struct gb_value *list = gb_value_type(all) == GB_OBJECT ? gb_value_get(all, "list") : NULL;
	const bool ok = gb_value_type(list) == GB_ARRAY;
	if (ok)
		putchar('\n');
	for (size_t i = 0; ok && i < gb_value_count(list); i++) {
		const struct gb_value *one = gb_value_at(list, i);
		char time[GB_DATE_TEXT];
		struct gb_str when =
		    format_time(time, (int64_t)gb_value_as_number(gb_value_get(one, "time")));
		printf("    %.*s", GB_STR_ARG(when));
		print_part(one, "verdict", " ");
		print_part(one, "host", " ");
		print_number(one, "port", ":", "");
		print_part(one, "method", ", ");
		print_part(one, "path", " ");
		print_number(one, "status", ", status ", "");
		print_number(one, "sent", ", sent ", "");
		print_number(one, "received", ", received ", "");
		print_number(one, "durationMs", ", ", " ms");
		print_part(one, "rule", ", rule ");
		print_part(one, "reason", ": ");
		putchar('\n');
	}
	if (ok && gb_value_as_number(gb_value_get(all, "dropped")) > 0)
		print_number(all, "dropped", "    and ", " more, not recorded\n");
	gb_values_destroy(pool);
	return ok;
}

static void print_field(const struct gb_audit_field *field, const void *at) {
	char text[2 * GB_HASH_BYTES + 1];
	struct gb_str said;
	switch (field->type) {
	case GB_AUDIT_JSON:
		if (strcmp(field->name, "network") == 0 && print_network(*(const struct gb_str *)at))
			break;
		/* fall through */
	case GB_AUDIT_TEXT:
		print_text(*(const struct gb_str *)at);
		break;
	case GB_AUDIT_TIME:
		said = format_time(text, *(const int64_t *)at);
		printf("%.*s\n", GB_STR_ARG(said));
		break;
	case GB_AUDIT_COUNT:
		printf("%llu\n", (unsigned long long)*(const uint64_t *)at);
		break;
	case GB_AUDIT_NANOSECONDS:
		said = format_duration(text, *(const uint64_t *)at);
		printf("%.*s\n", GB_STR_ARG(said));
		break;
	case GB_AUDIT_NUMBER:
		printf("%lld\n", (long long)((const struct gb_audit_number *)at)->number);
		break;
	case GB_AUDIT_HASH:
		gb_hash_format(text, &((const struct gb_audit_hash *)at)->hash);
		puts(text);
		break;
	case GB_AUDIT_FLAG:
		puts("yes");
		break;
	case GB_AUDIT_CUT:
		print_cut(*(const uint64_t *)at);
		break;
	}
}

static bool show_one(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	char text[2 * GB_HASH_BYTES + 1];
	struct listing *listing = data;
	if (listing->listed++)
		putchar('\n');
	gb_hash_format(text, hash);
	print_label("record");
	print_styled(stdout, BOLD, "%llu\n", (unsigned long long)seq);
	for (size_t i = 0; i < gb_audit_n_fields; i++) {
		const struct gb_audit_field *field = &gb_audit_fields[i];
		if (!gb_audit_is_present(field, gb_audit_at(record, field)))
			continue;
		print_label(field->label);
		print_field(field, gb_audit_at(record, field));
	}
	if (audit_is_unfinished(&listing->begun, record)) {
		print_label("status");
		puts("unfinished: the run is active, or was lost with its host");
	}
	print_label("hash");
	puts(text);
	return goes_on(listing);
}

int audit_show(const struct audit_request *request) {
	struct gb_err err = {.message = "memory is out"};
	struct listing listing = {.request = request};
	struct gb_audit_filter filter;
	bool ok = load(&listing, &filter, &err) &&
		  gb_audit_each(request->dir, &filter, request->json ? export_one : show_one, &listing, &err);
	audit_begun_finish(&listing.begun);
	if (ok && listing.listed == 0) {
		report_error(&command_audit,
		    "there is no record '%s'; 'glovebox audit list' shows the records", request->id);
		return EXIT_CODE_FAILED;
	}
	return finish_output(ok && !listing.failed, &err);
}

/* --- verification --- */

static void on_progress(void *data, uint64_t done, uint64_t all) {
	fprintf(stderr, "\r%llu of %llu records", (unsigned long long)done, (unsigned long long)all);
}

static void format_key(char text[2 * GB_HASH_BYTES + 1], const struct gb_audit_report *report) {
	struct gb_hash key;
	_Static_assert(sizeof key.bytes == sizeof report->public_key, "a key is printed as a hash is");
	memcpy(key.bytes, report->public_key, sizeof key.bytes);
	gb_hash_format(text, &key);
}

static void print_report_json(const struct gb_audit_report *report) {
	char key[2 * GB_HASH_BYTES + 1], head[2 * GB_HASH_BYTES + 1];
	format_key(key, report);
	gb_hash_format(head, &report->head.hash);
	printf("{\"whole\":%s,\"problem\":", report->problem == GB_AUDIT_WHOLE ? "true" : "false");
	print_json_string(stdout, gb_audit_problem_name(report->problem));
	printf(",\"record\":");
	if (report->seq)
		printf("%llu", (unsigned long long)report->seq);
	else
		printf("null");
	printf(",\"message\":");
	print_json_string(stdout, report->message);
	printf(",\"records\":%llu,\"pruned\":%llu,\"unfinished\":%llu,\"clockBack\":%llu,\"keyCompared\":%s,"
	       "\"key\":\"%s\","
	       "\"head\":\"%llu:%s\"}\n",
	    (unsigned long long)report->records, (unsigned long long)report->pruned,
	    (unsigned long long)report->unfinished, (unsigned long long)report->clock_back,
	    report->key_compared ? "true" : "false", key, (unsigned long long)report->head.seq, head);
}

void audit_verify_nothing(void) {
	puts("{\"whole\":true,\"problem\":\"whole\",\"record\":null,\"message\":\"nothing has been recorded "
	     "yet\",\"records\":0,\"pruned\":0,\"unfinished\":0,\"clockBack\":0,\"keyCompared\":false,"
	     "\"key\":null,\"head\":null}");
}

static void print_notes(const struct gb_audit_report *report) {
	if (report->pruned)
		printf("Records 1 to %llu were pruned, as a signed mark says.\n",
		    (unsigned long long)report->pruned);
	if (report->unfinished)
		printf("Unfinished runs: %llu. They have begun and have no record of their end: active, or "
		       "lost with their "
		       "host.\n",
		    (unsigned long long)report->unfinished);
	if (report->clock_back)
		printf("The clock went backwards %llu times; the records' numbers give their order.\n",
		    (unsigned long long)report->clock_back);
	if (!report->key_compared)
		printf("The key file could not be read; the key is the one that --expect-key names.\n");
}

static void print_report(const struct gb_audit_report *report) {
	char text[2 * GB_HASH_BYTES + 1], first[GB_DATE_TEXT], last[GB_DATE_TEXT];
	if (report->problem != GB_AUDIT_WHOLE) {
		print_styled(stdout, RED, "The audit log is not whole: ");
		print_untrusted(stdout, report->message, strlen(report->message));
		printf(".\n%llu records before that are good.\n", (unsigned long long)report->records);
		return;
	}
	print_styled(stdout, GREEN, "The audit log is whole: ");
	printf("%llu records", (unsigned long long)report->records);
	struct gb_str from = format_time(first, report->first_ms), to = format_time(last, report->last_ms);
	if (report->records)
		printf(", %.*s to %.*s", GB_STR_ARG(from), GB_STR_ARG(to));
	puts(".");
	print_notes(report);
	format_key(text, report);
	print_label("key");
	puts(text);
	gb_hash_format(text, &report->head.hash);
	print_label("head");
	printf("%llu:%s\n", (unsigned long long)report->head.seq, text);
}

int audit_verify(const struct audit_request *request) {
	struct gb_err err = {0};
	struct gb_audit_report report;
	bool terminal = isatty(STDERR_FILENO);
	bool ok = gb_audit_verify(
	    request->dir, &request->expected, terminal ? on_progress : NULL, NULL, &report, &err);
	if (terminal)
		fputs("\r\033[K", stderr);
	if (!ok)
		return fail(&err);
	if (request->json)
		print_report_json(&report);
	else
		print_report(&report);
	int status = finish_output(true, &err);
	return report.problem == GB_AUDIT_WHOLE ? status : EXIT_CODE_FAILED;
}
