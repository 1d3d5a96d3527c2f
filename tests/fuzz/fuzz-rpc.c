/* Each line of a client is a message or gives an error message, which is one line of JSON. */
#include "fuzz.h"

#include <string.h>

#include "server/messages.h"

static void check_rejection(const struct gb_rejection *rejection) {
	gb_auto_buf struct gb_buf line;
	ALWAYS(rejection->code && *rejection->message);
	gb_buf_init(&line, 1 << 16);
	gb_buf_printf(&line, "{\"type\":\"error\"");
	gb_rejection_write(&line, rejection);
	gb_buf_append_char(&line, '}');
	ALWAYS(!gb_buf_failed(&line) && !memchr(line.data, '\n', line.len));
	struct gb_values *pool = gb_values_create(0);
	const struct gb_value *read = gb_value_from_json(pool, line.data, line.len, NULL);
	ALWAYS(gb_value_get(read, "code") && gb_value_get(read, "message"));
	gb_values_destroy(pool);
}

static void check_message(const struct gb_message *message) {
	ALWAYS(message->run <= GB_WHOLE_MAX && message->call <= GB_WHOLE_MAX);
	if (message->type == GB_MESSAGE_RUN)
		ALWAYS(message->source.p && message->source.p[message->source.n] == '\0');
	if (message->type == GB_MESSAGE_ANSWER)
		ALWAYS(!!message->returned + !!message->thrown + message->promise == 1);
	ALWAYS(message->request <= GB_WHOLE_MAX);
	if (message->type == GB_MESSAGE_SESSION_SEND)
		ALWAYS(message->session && message->text.p);
	if (message->type == GB_MESSAGE_SESSION_UPDATE)
		ALWAYS(!message->trusted || gb_value_type(message->trusted) == GB_BOOLEAN);
	if (message->type == GB_MESSAGE_CALL)
		ALWAYS(!message->args || gb_value_type(message->args) == GB_ARRAY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *line = (const char *)data;
	struct gb_values *pool = gb_values_create(gb_message_memory(size));
	struct gb_message message;
	struct gb_rejection rejection, seen = {.code = "invalid", .message = "x"};
	if (gb_message_read(pool, line, size, &message, &rejection))
		check_message(&message);
	else
		check_rejection(&rejection);
	gb_message_peek(line, size, &seen);
	check_rejection(&seen);
	gb_values_destroy(pool);
	return 0;
}
