/* The result of an execution, as JSON. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "mcp/conversation.h"
#include "value/json.h"
#include "value/text.h"
#include "value/wtf8.h"

enum { VALUE_MAX = 64 << 10, FILES_LISTED_MAX = 200 };

/* --- further content: images and files --- */

struct content {
	struct gb_buf out;
	size_t left; /* bytes of files that may still be embedded */
	const char *session;
};

static void add_image(struct content *content, struct gb_str type, const struct gb_value *value) {
	struct gb_str bytes;
	bytes.p = gb_value_bytes(value, &bytes.n);
	if (!bytes.p || type.n < 6 || memcmp(type.p, "image/", 6) != 0 || gb_value_type(value) == GB_STRING)
		return;
	gb_buf_printf(&content->out, ",{\"type\":\"image\",\"mimeType\":");
	gb_json_append_bytes(&content->out, type);
	gb_buf_printf(&content->out, ",\"data\":\"");
	gb_base64_append(&content->out, bytes.p, bytes.n);
	gb_buf_printf(&content->out, "\"}");
}

static void add_displays(struct content *content, const struct gb_result *result) {
	for (size_t i = 0; i < result->n_displays; i++)
		for (size_t k = 0; k < gb_value_count(result->displays[i]); k++) {
			struct gb_str type;
			type.p = gb_value_bytes(gb_value_key_at(result->displays[i], k), &type.n);
			if (type.p)
				add_image(content, type, gb_value_at(result->displays[i], k));
		}
}

static bool is_text(struct gb_str bytes) {
	return !memchr(bytes.p, '\0', bytes.n) && gb_wtf8_scan(bytes.p, bytes.n) == GB_WTF8_UTF8;
}

static void append_uri(struct gb_buf *out, const char *session, struct gb_str path) {
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	gb_buf_printf(out, "\"glovebox://sessions/%s/files/", *session ? session : "none");
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] && strchr(plain, path.p[i]))
			gb_buf_append_char(out, path.p[i]);
		else
			gb_buf_printf(out, "%%%02X", (unsigned char)path.p[i]);
	gb_buf_append_char(out, '"');
}

static void add_file(struct content *content, struct gb_str path, struct gb_str bytes) {
	struct gb_buf *out = &content->out;
	if (bytes.n > content->left)
		return;
	content->left -= bytes.n;
	gb_buf_printf(out, ",{\"type\":\"resource\",\"resource\":{\"uri\":");
	append_uri(out, content->session, path);
	if (is_text(bytes)) {
		gb_buf_printf(out, ",\"mimeType\":\"text/plain\"");
		gb_mcp_text(out, "text", bytes);
	} else {
		gb_buf_printf(out, ",\"mimeType\":\"application/octet-stream\",\"blob\":\"");
		gb_base64_append(out, bytes.p, bytes.n);
		gb_buf_append_char(out, '"');
	}
	gb_buf_printf(out, "}}");
}

static void write_files(struct gb_buf *out, struct content *content, const struct gb_value *files) {
	if (!gb_value_count(files))
		return;
	gb_mcp_key(out, "files");
	gb_buf_append_char(out, '[');
	for (size_t i = 0; i < gb_value_count(files); i++) {
		struct gb_str path, bytes;
		path.p = gb_value_bytes(gb_value_key_at(files, i), &path.n);
		bytes.p = gb_value_bytes(gb_value_at(files, i), &bytes.n);
		if (!path.p || !bytes.p || i >= FILES_LISTED_MAX)
			continue;
		gb_buf_printf(out, "%s{\"path\":", i ? "," : "");
		gb_json_append_bytes(out, path);
		gb_buf_printf(out, ",\"bytes\":%zu}", bytes.n);
		add_file(content, path, bytes);
	}
	gb_buf_append_char(out, ']');
}

/* --- the result --- */

static struct gb_str error_text(const char *text, size_t n) {
	return (struct gb_str){text ? text : "", text ? (n ? n : strlen(text)) : 0};
}

static void write_error(struct gb_buf *out, const struct gb_run_error *error) {
	gb_mcp_key(out, "error");
	gb_buf_append_char(out, '{');
	gb_mcp_text(out, "name", error_text(error->name, error->name_bytes));
	gb_mcp_text(out, "message", error_text(error->message, error->message_bytes));
	if (error->code && *error->code)
		gb_mcp_text(out, "code", gb_str_from(error->code));
	if (error->stack && *error->stack)
		gb_mcp_text(out, "stack", error_text(error->stack, error->stack_bytes));
	gb_buf_append_char(out, '}');
}

static void write_outcome(struct gb_buf *out, const struct gb_mcp_run *run, const struct gb_result *result) {
	bool ended = result && result->status != GB_TERMINATED;
	bool cut = (result && result->truncated) || gb_buf_failed(&run->streams[0]) ||
		   gb_buf_failed(&run->streams[1]);
	gb_mcp_key(out, "exitCode");
	if (ended)
		gb_buf_printf(out, "%d", result->exit_code);
	else
		gb_buf_printf(out, "null");
	gb_buf_printf(out, ",\"timedOut\":%s,\"truncated\":%s",
	    result && result->timed_out ? "true" : "false", cut ? "true" : "false");
}

static void write_denials(struct gb_buf *out, const struct gb_result *result) {
	if (!gb_value_count(result->denials))
		return;
	size_t n = 0;
	gb_auto_free char *json = gb_value_to_json(result->denials, 0, &n, NULL);
	if (!json)
		return;
	gb_mcp_key(out, "denials");
	gb_buf_append(out, json, n);
}

static void write_value(struct gb_buf *out, const struct gb_result *result) {
	if (result->status != GB_SUCCESS || gb_value_type(result->value) == GB_UNDEFINED)
		return;
	gb_auto_free char *text = gb_value_inspect(result->value, VALUE_MAX);
	gb_mcp_text(out, "value", gb_str_from(text ? text : "?"));
}

static double elapsed_ms(const struct gb_mcp_run *run, const struct gb_result *result);

static void write_result(
    struct gb_mcp_run *run, const struct gb_result *result, struct gb_buf *out, struct content *content) {
	gb_buf_append_char(out, '{');
	gb_mcp_text(out, "stdout", gb_buf_str(&run->streams[0]));
	gb_mcp_text(out, "stderr", gb_buf_str(&run->streams[1]));
	write_outcome(out, run, result);
	gb_mcp_key(out, "duration");
	gb_buf_printf(out, "%.3f", elapsed_ms(run, result));
	if (*run->session)
		gb_mcp_text(out, "sessionId", gb_str_from(run->session));
	if (!result) {
		gb_mcp_key(out, "awaitingInput");
		gb_buf_append_char(out, '{');
		gb_mcp_text(out, "prompt", gb_str_from(run->prompt ? run->prompt : ""));
		gb_buf_append_char(out, '}');
	} else {
		write_value(out, result);
		if (result->status != GB_SUCCESS)
			write_error(out, &result->error);
		write_files(out, content, result->files);
		write_denials(out, result);
		add_displays(content, result);
	}
	gb_buf_append_char(out, '}');
	/* What was reported is not reported again. */
	gb_buf_finish(&run->streams[0]);
	gb_buf_finish(&run->streams[1]);
}

/* Of code that waits: the time so far, which includes the wait for a decision. */
static double elapsed_ms(const struct gb_mcp_run *run, const struct gb_result *result) {
	if (result)
		return result->duration_ms;
	return (double)(gb_now_ns() - run->began) / 1e6;
}

/* --- files --- */

/* The only file of the result. */
static struct gb_str taken_file(const struct gb_result *result, const char *path) {
	struct gb_str bytes = {0};
	const struct gb_value *file = result && result->files ? gb_value_get(result->files, path) : NULL;
	if (file && !(bytes.p = gb_value_bytes(file, &bytes.n)))
		bytes.p = "";
	return bytes;
}

static bool write_file(const struct gb_mcp_run *run, const struct gb_result *result, struct gb_buf *out) {
	struct gb_str bytes = taken_file(result, run->path);
	if (!bytes.p)
		return false;
	bool text = is_text(bytes);
	gb_buf_append_char(out, '{');
	gb_mcp_text(out, "path", gb_str_from(run->path));
	gb_mcp_key(out, "content");
	if (text) {
		gb_json_append_bytes(out, bytes);
	} else {
		gb_buf_append_char(out, '"');
		gb_base64_append(out, bytes.p, bytes.n);
		gb_buf_append_char(out, '"');
	}
	gb_buf_printf(out, ",\"encoding\":\"%s\",\"bytes\":%zu}", text ? "utf8" : "base64", bytes.n);
	return true;
}

/* The listing is a text of lines "SIZE PATH". */
static bool write_listing(const struct gb_result *result, struct gb_buf *out) {
	struct gb_str rest = taken_file(result, "."), line, size;
	if (!rest.p)
		return false;
	bool cut = false;
	const char *comma = "";
	gb_buf_printf(out, "{\"files\":[");
	while (rest.n && gb_str_cut(&rest, '\n', &line)) {
		if (!gb_str_cut(&line, ' ', &size)) {
			cut = true;
			break;
		}
		gb_buf_printf(out, "%s{\"path\":", comma);
		gb_json_append_bytes(out, line);
		gb_buf_printf(out, ",\"bytes\":%.*s}", GB_STR_ARG(size));
		comma = ",";
	}
	gb_buf_printf(out, "],\"truncated\":%s}", cut ? "true" : "false");
	return true;
}

static void write_written(const struct gb_mcp_run *run, struct gb_buf *out) {
	gb_buf_append_char(out, '{');
	gb_mcp_text(out, "path", gb_str_from(run->path ? run->path : ""));
	gb_buf_printf(out, ",\"bytes\":%zu}", run->bytes);
}

/* --- replying --- */

/* Hints of the table of errors are about options of commands, which the model does not have. */
static void reply_refusal(struct gb_mcp_run *run, const struct gb_result *result) {
	struct gb_mcp_request *request = run->request;
	const struct gb_run_error *error = &result->error;
	run->request = NULL;
	request->run = NULL;
	gb_mcp_refuse(
	    request, "%s: %s", result->status == GB_DENIED ? "refused" : error->name, error->message);
}

static bool write_form(
    struct gb_mcp_run *run, const struct gb_result *result, struct gb_buf *json, struct content *content) {
	switch (run->form) {
	case GB_MCP_FORM_FILE:
		return write_file(run, result, json);
	case GB_MCP_FORM_LISTING:
		return write_listing(result, json);
	case GB_MCP_FORM_WRITTEN:
		write_written(run, json);
		return true;
	default:
		write_result(run, result, json, content);
		return true;
	}
}

static void reply_written(struct gb_mcp_run *run, struct gb_buf *json, struct content *content, bool failed) {
	struct gb_mcp_request *request = run->request;
	run->request = NULL;
	request->run = NULL;
	if (gb_buf_failed(json) || gb_buf_failed(&content->out))
		gb_mcp_refuse(request, "the result is too large");
	else
		gb_mcp_reply(request, gb_buf_str(json), gb_buf_str(&content->out), failed);
}

void gb_mcp_run_reply(struct gb_mcp_run *run, const struct gb_result *result) {
	bool failed = result && result->status != GB_SUCCESS;
	if (failed && (result->status == GB_DENIED || run->form != GB_MCP_FORM_RESULT || run->is_input)) {
		reply_refusal(run, result);
		return;
	}
	struct content content = {.left = GB_MCP_EMBEDDED_MAX, .session = run->session};
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, GB_MCP_MESSAGE_MAX / 2);
	gb_buf_init(&content.out, GB_MCP_MESSAGE_MAX / 2);
	if (write_form(run, result, &json, &content)) {
		reply_written(run, &json, &content, failed);
	} else {
		struct gb_mcp_request *request = run->request;
		run->request = NULL;
		request->run = NULL;
		gb_mcp_refuse(request,
		    "there is no file '%s' in the working directory, or it is larger than a result may be",
		    run->path ? run->path : "");
	}
	gb_buf_finish(&content.out);
}

void gb_mcp_run_keep(struct gb_mcp_run *run, const struct gb_result *result) {
	struct content content = {.left = 0, .session = run->session};
	gb_buf_init(&content.out, 0);
	write_result(run, result, &run->final, &content);
	gb_buf_finish(&content.out);
	run->final_failed = result->status != GB_SUCCESS;
}
