/* The summary of a run's output in its audit record: the beginning of the output, then of the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gate/agent_run.h"

/* Characters that are reserved for the result or the error. */
enum { RESULT_CHARS = 100, BYTES_MAX = GB_SUMMARY_BYTES };

/* The number of bytes of the first @chars characters of @text. */
static size_t bytes_of(struct gb_str text, size_t chars) {
	size_t n = 0;
	for (; n < text.n; n++)
		if (((unsigned char)text.p[n] & 0xc0) != 0x80 && chars-- == 0)
			break;
	return n < BYTES_MAX ? n : BYTES_MAX;
}

static size_t count_chars(struct gb_str text) {
	size_t chars = 0;
	for (size_t i = 0; i < text.n; i++)
		chars += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	return chars;
}

static bool is_full(const struct gb_summary *summary) {
	return summary->n >= BYTES_MAX;
}

/* Append as much as there is room for. */
static void add(struct gb_summary *summary, const char *bytes, size_t n) {
	size_t room = sizeof summary->text - summary->n;
	n = n < room ? n : room;
	memcpy(summary->text + summary->n, bytes, n);
	summary->n += n;
}

void gb_summary_output(struct gb_summary *summary, struct gb_str text) {
	if (!is_full(summary))
		add(summary, text.p, text.n < BYTES_MAX ? text.n : BYTES_MAX);
}

void gb_summary_log(struct gb_summary *summary, const struct gb_log *log) {
	for (size_t i = 0; i < gb_value_count(log->args) && !is_full(summary); i++) {
		gb_auto_free char *text = gb_value_inspect(gb_value_at(log->args, i), BYTES_MAX);
		if (i)
			add(summary, " ", 1);
		if (text)
			add(summary, text, strlen(text));
	}
	if (!is_full(summary))
		add(summary, "\n", 1);
}

/* The first value in @text, which begins with JSON. */
static struct gb_str first_value(struct gb_str text) {
	unsigned depth = 0;
	bool quoted = false;
	size_t n = 0;
	for (; n < text.n && n < BYTES_MAX; n++) {
		char c = text.p[n];
		if (quoted && c == '\\')
			n++;
		else if (c == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (!depth && (c == ',' || c == '}'))
			break;
		else if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
	}
	return (struct gb_str){text.p, n < text.n ? n : text.n};
}

/* The part of @json that is the result value. */
static struct gb_str find_result(const struct gb_result *result, struct gb_str json) {
	static const char key[] = ",\"result\":";
	enum gb_type type = result->value ? gb_value_type(result->value) : GB_UNDEFINED;
	if (type == GB_UNDEFINED || type == GB_NULL)
		return GB_STR("");
	const char *at = memmem(json.p, json.n, key, sizeof key - 1);
	if (!at)
		return GB_STR("");
	at += sizeof key - 1;
	return first_value((struct gb_str){at, (size_t)(json.p + json.n - at)});
}

/* "TypeError: x is not a function" */
static struct gb_str describe_error(const struct gb_run_error *error, char ret[BYTES_MAX]) {
	int n = snprintf(ret, BYTES_MAX, "%s: %s", error->name, error->message);
	return (struct gb_str){ret, n < 0 ? 0 : n < BYTES_MAX ? (size_t)n : BYTES_MAX - 1};
}

struct gb_str gb_summary_end(
    struct gb_summary *summary, const struct gb_result *result, struct gb_str json, bool *ret_cut) {
	char error[BYTES_MAX];
	struct gb_str value =
	    result->status == GB_SUCCESS ? find_result(result, json) : describe_error(&result->error, error);
	struct gb_str text = {summary->text, summary->n};
	*ret_cut = false;
	if (!value.n)
		return text;
	size_t for_value = count_chars(value);
	for_value = for_value < RESULT_CHARS ? for_value : RESULT_CHARS;
	/* Minus one for the newline between them. */
	size_t n = bytes_of(text, GB_AUDIT_SUMMARY_CHARS - 1 - for_value);
	*ret_cut = n < summary->n;
	summary->n = n;
	if (n && summary->text[n - 1] != '\n')
		add(summary, "\n", 1);
	add(summary, value.p, value.n);
	return (struct gb_str){summary->text, summary->n};
}
