/* Code that the command line runs in a session for itself: nothing of it is shown. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/session.h"
#include "value/json.h"

enum { QUERY_MS = 2000 };

static bool send_query(struct session_client *client, const char *session, struct gb_str source) {
	gb_auto_buf struct gb_buf line;
	session_line(&line, "run");
	gb_buf_printf(&line, ",\"run\":1");
	session_line_text(&line, "session", session);
	gb_buf_printf(&line, ",\"source\":");
	gb_json_append_string(&line, source);
	gb_buf_printf(&line, ",\"options\":{\"report\":false},\"limits\":{\"timeoutMs\":%d}", QUERY_MS);
	return session_send_line(client, &line);
}

static void append_text(struct gb_buf *to, const struct gb_value *value) {
	size_t n = 0;
	const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, &n) : NULL;
	gb_buf_append(to, text ? text : "", n);
}

/* Returns whether it was the last message. */
static bool take_message(const struct gb_value *message, struct gb_buf *ret, bool *ret_ok) {
	const char *type = session_text(message, "type");
	const struct gb_value *result = gb_value_get(message, "result");
	if (strcmp(type, "output") == 0)
		append_text(ret, gb_value_get(message, "text"));
	else if (strcmp(type, "result") == 0)
		append_text(ret, gb_value_get(result, "result"));
	*ret_ok = strcmp(session_text(result, "status"), "success") == 0;
	return strcmp(type, "result") == 0 || strcmp(type, "error") == 0;
}

bool session_query(
    const struct command *command, const char *session, struct gb_str source, struct gb_buf *ret) {
	struct session_client client;
	const struct gb_value *message;
	bool ok = false;
	if (session_reach(&client, command, NULL) != REACHED)
		return false;
	if (send_query(&client, session, source))
		do
			message = session_receive(&client);
		while (message && !take_message(message, ret, &ok));
	session_leave(&client);
	return ok && !gb_buf_failed(ret);
}
