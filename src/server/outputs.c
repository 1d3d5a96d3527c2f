/* Sends the output and displays of a run to its client while it runs. */
#include "server/replies.h"
#include "server/rpc.h"

/* The number of bytes at the end of @bytes that begin an incomplete character. */
static size_t unfinished(const char *bytes, size_t n) {
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)bytes[n - back];
		if (c < 0x80)
			return 0;
		if (c >= 0xc0) {
			size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
			return back < length ? back : 0;
		}
	}
	return 0;
}

static void send_text(struct gb_rpc_run *run, int stream, const char *bytes, size_t n) {
	if (n)
		gb_reply_output(&run->client->lines, run->entry.number, stream, bytes, n);
}

/* Sends complete characters only; keeps the rest for the next call. */
void gb_rpc_send_output(struct gb_rpc_run *run, int stream, const char *bytes, size_t n) {
	struct gb_rpc_tail *tail = &run->tails[stream - 1];
	gb_auto_buf struct gb_buf joined;
	gb_buf_init(&joined, n + sizeof tail->bytes);
	if (tail->n) {
		gb_buf_append(&joined, tail->bytes, tail->n);
		gb_buf_append(&joined, bytes, n);
		if (gb_buf_failed(&joined))
			return;
		bytes = joined.data;
		n = joined.len;
	}
	tail->n = (unsigned char)unfinished(bytes, n);
	memcpy(tail->bytes, bytes + n - tail->n, tail->n);
	send_text(run, stream, bytes, n - tail->n);
}

static void send_masked(struct gb_rpc_run *run) {
	struct gb_masked_event event;
	while (gb_masked_next(run->masked, &event)) {
		if (!run->client)
			continue;
		struct gb_lines *lines = &run->client->lines;
		switch (event.kind) {
		case GB_MASKED_OUTPUT:
			gb_rpc_send_output(
			    run, event.stream, gb_masked_output(run->masked, &event).p, event.n);
			break;
		case GB_MASKED_LOG:
			gb_reply_log(lines, run->entry.number, &run->masked->logs[event.at]);
			break;
		case GB_MASKED_DISPLAY:
			gb_reply_display(lines, run->entry.number, event.display);
			break;
		}
	}
}

void gb_rpc_on_log(struct gb_run *engine_run, const struct gb_log *log, void *data) {
	struct gb_rpc_run *run = data;
	if (run->masked) {
		gb_masked_put_log(run->masked, log);
		send_masked(run);
	} else if (run->client) {
		gb_reply_log(&run->client->lines, run->entry.number, log);
	}
}

void gb_rpc_on_output(struct gb_run *engine_run, int stream, const char *bytes, size_t n, void *data) {
	struct gb_rpc_run *run = data;
	if (run->masked) {
		gb_masked_put_output(run->masked, stream, bytes, n);
		send_masked(run);
	} else if (run->client) {
		gb_rpc_send_output(run, stream, bytes, n);
	}
}

void gb_rpc_on_display(struct gb_run *engine_run, const struct gb_value *display, void *data) {
	struct gb_rpc_run *run = data;
	if (run->masked) {
		gb_masked_put_display(run->masked, display);
		send_masked(run);
	} else if (run->client) {
		gb_reply_display(&run->client->lines, run->entry.number, display);
	}
}

void gb_rpc_end_outputs(struct gb_rpc_run *run, const struct gb_result *result) {
	if (run->masked) {
		gb_masked_put_end(run->masked, result);
		send_masked(run);
	}
	for (int stream = 1; stream <= 2; stream++) {
		struct gb_rpc_tail *tail = &run->tails[stream - 1];
		send_text(run, stream, tail->bytes, tail->n);
		tail->n = 0;
	}
}
