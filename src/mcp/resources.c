/* Resources: the latest output of each session, and the audit records of this conversation. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "mcp/conversation.h"
#include "value/json.h"

#define SESSIONS "glovebox://sessions/"
#define OUTPUT   "/output"
#define RECORDS  "glovebox://executions/"

enum { LIST_TTL_MS = 0 };

void gb_mcp_list_resources(struct gb_mcp_request *request) {
	struct gb_mcp *mcp = request->mcp;
	struct gb_buf *out = gb_mcp_begin(request);
	const char *comma = "";
	gb_mcp_key(out, "resources");
	gb_buf_append_char(out, '[');
	gb_list_each(struct gb_mcp_kept, kept, &mcp->kept, link) {
		gb_buf_printf(out,
		    "%s{\"uri\":\"" SESSIONS "%s" OUTPUT "\",\"name\":\"output-%s\",\"title\":\"Output of "
		    "session %s\",\"mimeType\":\"text/plain\",\"size\":%zu}",
		    comma, kept->session, kept->session, kept->session, kept->text.len);
		comma = ",";
	}
	gb_list_each(struct gb_mcp_record, record, &mcp->records, link) {
		gb_buf_printf(out,
		    "%s{\"uri\":\"" RECORDS "%s\",\"name\":\"execution-%s\",\"title\":\"Audit record: %s, "
		    "%s\",\"mimeType\":\"application/json\"}",
		    comma, record->id, record->id, gb_language_name(record->language), record->status);
		comma = ",";
	}
	gb_mcp_extend(mcp, "resources/list", out);
	gb_buf_append_char(out, ']');
	gb_mcp_cacheable(request, out, LIST_TTL_MS);
	gb_mcp_end(request);
}

void gb_mcp_list_templates(struct gb_mcp_request *request) {
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_key(out, "resourceTemplates");
	gb_buf_printf(out,
	    "[{\"uriTemplate\":\"" SESSIONS "{sessionId}" OUTPUT "\",\"name\":\"session-output\",\"title\":"
	    "\"Latest output of a session\",\"mimeType\":\"text/plain\"},{\"uriTemplate\":\"" RECORDS
	    "{executionId}\",\"name\":\"audit-record\",\"title\":\"Audit record of an "
	    "execution\",\"mimeType\":"
	    "\"application/json\"}");
	gb_mcp_extend(request->mcp, "resources/templates/list", out);
	gb_buf_append_char(out, ']');
	gb_mcp_cacheable(request, out, LIST_TTL_MS);
	gb_mcp_end(request);
}

/* --- reading --- */

static void reply_text(
    struct gb_mcp_request *request, const char *uri, const char *type, struct gb_str text) {
	struct gb_buf *out = gb_mcp_begin(request);
	gb_mcp_key(out, "contents");
	gb_buf_printf(out, "[{\"uri\":");
	gb_json_append_string(out, gb_str_from(uri));
	gb_mcp_text(out, "mimeType", gb_str_from(type));
	gb_mcp_text(out, "text", text);
	gb_buf_printf(out, "}]");
	gb_mcp_cacheable(request, out, LIST_TTL_MS);
	gb_mcp_end(request);
}

static void reply_unknown(struct gb_mcp_request *request, const char *uri) {
	struct gb_jsonrpc_failure failure = {0};
	gb_auto_buf struct gb_buf data;
	gb_buf_init(&data, sizeof failure.data - 1);
	gb_buf_printf(&data, "{\"uri\":");
	gb_json_append_string(&data, gb_str_from(uri));
	gb_buf_append_char(&data, '}');
	const char *text = gb_buf_c_str(&data);
	if (text)
		memcpy(failure.data, text, data.len + 1);
	gb_jsonrpc_fail(&failure,
	    request->era == GB_MCP_MODERN ? GB_JSONRPC_INVALID_PARAMS : GB_JSONRPC_NO_RESOURCE,
	    "there is no such resource in this conversation");
	gb_mcp_fail_with(request, &failure);
}

static bool starts_with(const char *text, const char *start) {
	return strncmp(text, start, strlen(start)) == 0;
}

static struct gb_mcp_kept *find_output(struct gb_mcp *mcp, const char *uri) {
	gb_list_each(struct gb_mcp_kept, kept, &mcp->kept, link) {
		const char *rest = uri + strlen(SESSIONS);
		if (starts_with(uri, SESSIONS) && starts_with(rest, kept->session) &&
		    strcmp(rest + strlen(kept->session), OUTPUT) == 0)
			return kept;
	}
	return NULL;
}

static struct gb_mcp_record *find_record(struct gb_mcp *mcp, const char *uri) {
	gb_list_each(struct gb_mcp_record, record, &mcp->records, link) {
		if (starts_with(uri, RECORDS) && strcmp(uri + strlen(RECORDS), record->id) == 0)
			return record;
	}
	return NULL;
}

/* The log is read on a thread. The request may have been cancelled meanwhile. */
static void on_record(struct gb_str json, const struct gb_err *err, void *data) {
	struct gb_mcp_reading *reading = data;
	struct gb_mcp_request *request = reading->request;
	char uri[sizeof RECORDS + 33];
	if (request) {
		request->reading = NULL;
		snprintf(uri, sizeof uri, RECORDS "%s", reading->id);
		if (err)
			gb_mcp_fail(request, GB_JSONRPC_INTERNAL, "%s", err->message);
		else if (!json.n)
			reply_unknown(request, uri);
		else
			reply_text(request, uri, "application/json", json);
	}
	free(reading);
}

static void read_record(struct gb_mcp_request *request, const struct gb_mcp_record *record) {
	struct gb_err err = {0};
	struct gb_mcp_reading *reading = calloc(1, sizeof *reading);
	if (reading) {
		memcpy(reading->id, record->id, sizeof reading->id);
		reading->request = request;
		request->reading = reading;
		if (gb_service_read_record(request->mcp->service, record->id, on_record, reading, &err))
			return;
		request->reading = NULL;
		free(reading);
	}
	gb_mcp_fail(request, GB_JSONRPC_INTERNAL, "%s", err.code ? err.message : "out of memory");
}

void gb_mcp_read_resource(struct gb_mcp_request *request, const struct gb_value *params) {
	const char *uri = gb_jsonrpc_text(gb_value_get(params, "uri"));
	if (!uri) {
		gb_mcp_fail(request, GB_JSONRPC_INVALID_PARAMS, "uri must be a text");
		return;
	}
	struct gb_mcp_kept *kept = find_output(request->mcp, uri);
	struct gb_mcp_record *record = find_record(request->mcp, uri);
	if (kept)
		reply_text(request, uri, "text/plain", gb_buf_str(&kept->text));
	else if (record)
		read_record(request, record);
	else
		reply_unknown(request, uri);
}
