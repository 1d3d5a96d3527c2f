/*
 * Results are the last line of a run. Long ones are written as JSON on a thread of the service, so that they do not
 * delay other clients; the execution is kept until then. Lines of other runs may overtake them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "server/replies.h"
#include "server/rpc.h"

struct writing {
	struct gb_work work;
	struct gb_list link;      /* in the client's list */
	struct gb_client *client; /* NULL: it was destroyed */
	struct gb_execution *execution;
	size_t bytes;
	/* For the thread. The result belongs to the execution, and is not changed any more. */
	uint64_t run;
	char session[33];
	const struct gb_result *result;
	struct gb_buf line;
};

static const char *session_of(const struct gb_execution *execution) {
	return gb_execution_is_agent(execution) ? gb_execution_session(execution) : "";
}

static enum gb_work_end write_line(struct gb_work *work, void *data) {
	struct writing *writing = gb_container(struct writing, work, work);
	(void)data;
	gb_reply_write_result(&writing->line, writing->run, writing->session, writing->result);
	return GB_WORK_DONE;
}

static void on_written(struct gb_work *work) {
	struct writing *writing = gb_container(struct writing, work, work);
	struct gb_client *client = writing->client;
	if (client) {
		gb_list_remove(&writing->link);
		client->results_bytes -= writing->bytes;
		gb_lines_add(&client->lines, &writing->line);
		gb_lines_flush(&client->lines);
	}
	gb_execution_release(writing->execution);
	gb_buf_finish(&writing->line);
	free(writing);
}

static struct writing *create(struct gb_rpc_run *run, const struct gb_result *result) {
	struct writing *writing = calloc(1, sizeof *writing);
	if (!writing)
		return NULL;
	writing->work.run = write_line;
	writing->work.done = on_written;
	writing->client = run->client;
	writing->execution = run->execution;
	writing->bytes = gb_execution_memory(run->execution);
	writing->run = run->entry.number;
	memcpy(writing->session, session_of(run->execution), strlen(session_of(run->execution)) + 1);
	writing->result = result;
	gb_buf_init(&writing->line, run->client->lines.line_max + 1);
	return writing;
}

static bool write_on_thread(struct gb_rpc_run *run, const struct gb_result *result) {
	struct gb_client *client = run->client;
	size_t bytes = gb_execution_memory(run->execution);
	struct writing *writing = bytes >= GB_SERVICE_LONG ? create(run, result) : NULL;
	if (!writing || !gb_service_work(client->server->service, &writing->work, bytes)) {
		free(writing);
		return false;
	}
	gb_list_append(&client->results, &writing->link);
	client->results_bytes += bytes;
	return true;
}

void gb_rpc_send_result(struct gb_rpc_run *run, const struct gb_result *result) {
	struct gb_lines *lines = &run->client->lines;
	if (write_on_thread(run, result))
		return;
	gb_reply_write_result(gb_lines_begin(lines), run->entry.number, session_of(run->execution), result);
	gb_lines_commit(lines);
	/* Send before the sandbox is destroyed, which takes longer. */
	if (!gb_execution_is_agent(run->execution))
		gb_lines_flush(lines);
	gb_execution_release(run->execution);
}

void gb_rpc_drop_results(struct gb_client *client) {
	gb_list_each(struct writing, writing, &client->results, link) {
		gb_list_remove(&writing->link);
		writing->client = NULL;
	}
}
