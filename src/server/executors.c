/* Code of the client's agent that calls tools of the client: the messages 'executor' and 'tool_answer'. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

enum { RESULT_SLACK = 1024, HOSTS_MAX = 64 << 10 };

/* --- from the code to the client --- */

static void on_call(
    struct gb_executor *executor, uint64_t call, struct gb_str name, struct gb_str params, void *data) {
	struct gb_rpc_run *run = data;
	const struct gb_call_name id = {run->entry.number, call};
	struct gb_err err = {0};
	if (!gb_reply_tool_call(&run->client->lines, id, name, params, &err))
		gb_executor_throw(executor, call, gb_str_from(err.message));
}

static void on_output(struct gb_executor *executor, struct gb_str text, void *data) {
	struct gb_rpc_run *run = data;
	(void)executor;
	gb_reply_executor_text(&run->client->lines, run->entry.number, "executor_output", text);
}

static void on_debug(struct gb_executor *executor, struct gb_str message, void *data) {
	struct gb_rpc_run *run = data;
	(void)executor;
	gb_reply_executor_text(&run->client->lines, run->entry.number, "executor_debug", message);
}

static void on_pending(struct gb_executor *executor, struct gb_str approval, int64_t expires_ms, void *data) {
	struct gb_rpc_run *run = data;
	(void)executor;
	gb_reply_pending(&run->client->lines, run->entry.number, approval, expires_ms);
}

static void on_done(struct gb_executor *executor, const struct gb_executor_result *result, void *data) {
	struct gb_rpc_run *run = data;
	gb_auto_buf struct gb_buf json;
	(void)executor;
	gb_buf_init(&json, 8 * (result->output.n + result->error.n) + RESULT_SLACK);
	gb_executor_write(result, &json);
	gb_reply_executor_result(&run->client->lines, run->entry.number, gb_buf_str(&json));
	gb_rpc_forget(run);
}

/* --- from the client --- */

static void reply_refusal(
    struct gb_client *client, const struct gb_message *message, const struct gb_err *err) {
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, 64 << 10);
	gb_executor_refuse(err, &json);
	gb_reply_executor_result(&client->lines, message->run, gb_buf_str(&json));
}

static bool read_tool_calls(const struct gb_value *value, uint32_t *ret, struct gb_rejection *rejection) {
	uint64_t n = 0;
	if (!value)
		return true;
	if (!gb_read_whole(value, &n) || n >= GB_NONE)
		return gb_reject(
		    gb_rejection_at(rejection, "maxToolCalls"), GB_CODE_INVALID, "must be a whole number");
	*ret = n ? (uint32_t)n : GB_NONE;
	return true;
}

/* The hosts in one text. */
static bool read_hosts(const struct gb_value *hosts, struct gb_buf *out, struct gb_rejection *rejection) {
	gb_buf_init(out, HOSTS_MAX);
	for (size_t i = 0; i < gb_value_count(hosts); i++) {
		struct gb_str host = gb_read_str(gb_value_at(hosts, i));
		if (!host.n || memchr(host.p, ',', host.n) || memchr(host.p, '\0', host.n))
			return gb_reject(gb_rejection_at(rejection, "net"), GB_CODE_INVALID,
			    "must be an array of hosts, such as api.example.com");
		gb_buf_append(out, ",", i > 0);
		gb_buf_append_str(out, host);
	}
	return gb_buf_c_str(out) ||
	       gb_reject(gb_rejection_at(rejection, "net"), GB_CODE_INVALID, "has too many hosts");
}

bool gb_rpc_handle_executor(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_submission unused;
	struct gb_err err = {0};
	struct gb_executor_request request = {.code = message->source,
	    .tools = message->tools,
	    .stubs = message->stubs,
	    .language = message->options.language,
	    .timeout_ms = message->options.timeout_ms,
	    .max_code_bytes = message->max_code_bytes,
	    .max_output_bytes = message->options.output_bytes,
	    .workdir = message->options.workdir,
	    .purpose = message->purpose,
	    .conversation = message->conversation,
	    .turn = message->turn,
	    .transport = "sdk",
	    .embedder_decides = client->decides & 1u << GB_FACE_EXECUTOR,
	    .on_call = on_call,
	    .on_output = on_output,
	    .on_debug = on_debug,
	    .on_pending = on_pending,
	    .on_done = on_done};
	gb_auto_buf struct gb_buf net = {0};
	if (!read_tool_calls(message->max_tool_calls, &request.max_tool_calls, rejection) ||
	    !read_hosts(message->options.net, &net, rejection))
		return false;
	request.hosts = net.data;
	struct gb_rpc_run *run = gb_rpc_new_run(client, message, &unused, rejection);
	if (!run)
		return false;
	request.data = run;
	if (!gb_executor_start(&client->submits, &request, &run->executor, &err)) {
		gb_rpc_free_run(run);
		reply_refusal(client, message, &err);
		return true;
	}
	run->execution = gb_executor_execution(run->executor);
	if (gb_table_add(&client->runs, &run->entry))
		return true;
	gb_executor_release(run->executor);
	gb_rpc_free_run(run);
	return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
}

bool gb_rpc_tool_answer(
    struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection) {
	if (!run->executor)
		return gb_reject(
		    gb_rejection_at(rejection, "run"), GB_CODE_INVALID, "is not of an 'executor'");
	if (message->error.p && message->answer.p)
		return gb_reject(gb_rejection_at(rejection, "error"), GB_CODE_INVALID,
		    "result and error exclude each other");
	bool found = message->error.p ? gb_executor_throw(run->executor, message->call, message->error)
				      : gb_executor_return(run->executor, message->call, message->answer);
	return found || gb_reject(rejection, GB_CODE_UNKNOWN_CALL, "no call %llu waits for an answer",
			    (unsigned long long)message->call);
}
