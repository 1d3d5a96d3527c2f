/* The summary of a run's output in its audit record: the beginning of the output, then of the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "gate/agent_run.h"

/* One character more than is kept shows that there is more. */
enum { BYTES_MAX = GB_SUMMARY_BYTES + 4 };

/* How many bytes of @text are kept. */
static size_t kept_bytes(struct gb_str text) {
	size_t n = 0, chars = 0;
	for (; n < text.n && n < GB_SUMMARY_BYTES; n++)
		if (((unsigned char)text.p[n] & 0xc0) != 0x80 && chars++ == GB_SUMMARY_CHARS)
			break;
	return n;
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

void gb_summary_display(struct gb_summary *summary, const struct gb_value *display) {
	static const char first[] = "[display: ", next[] = ", ", last[] = "]\n";
	if (is_full(summary))
		return;
	if (summary->n && summary->text[summary->n - 1] != '\n')
		add(summary, "\n", 1);
	for (size_t i = 0; i < gb_value_count(display) && !is_full(summary); i++) {
		size_t n = 0;
		const char *type = gb_value_bytes(gb_value_key_at(display, i), &n);
		add(summary, i ? next : first, i ? sizeof next - 1 : sizeof first - 1);
		if (type)
			add(summary, type, n < BYTES_MAX ? n : BYTES_MAX);
	}
	if (!is_full(summary))
		add(summary, last, sizeof last - 1);
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
	const struct gb_str parts[] = {
	    {error->name, error->name_bytes ? error->name_bytes : strlen(error->name)}, GB_STR(": "),
	    {error->message, error->message_bytes ? error->message_bytes : strlen(error->message)}};
	size_t n = 0;
	for (size_t i = 0; i < GB_COUNT(parts); i++) {
		size_t more = parts[i].n < BYTES_MAX - n ? parts[i].n : BYTES_MAX - n;
		memcpy(ret + n, parts[i].p, more);
		n += more;
	}
	return (struct gb_str){ret, n};
}

struct gb_str gb_summary_end(
    struct gb_summary *summary, const struct gb_result *result, struct gb_str json, bool *ret_cut) {
	char error[BYTES_MAX];
	struct gb_str value =
	    result->status == GB_SUCCESS ? find_result(result, json) : describe_error(&result->error, error);
	struct gb_str text = {summary->text, summary->n};
	size_t n = kept_bytes(text), n_value = kept_bytes(value);
	*ret_cut = n < text.n || n_value < value.n;
	summary->n = n;
	if (value.n && n && summary->text[n - 1] != '\n')
		add(summary, "\n", 1);
	add(summary, value.p, n_value);
	return (struct gb_str){summary->text, summary->n};
}
