/* Tools that the client's agent calls: the message 'tool' and its answer. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "face/actions.h"
#include "gate/faces.h"
#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

static void reply_refusal(struct gb_client *client, const struct gb_message *message,
    const struct gb_tool *tool, const struct gb_err *err) {
	gb_auto_buf struct gb_buf output;
	gb_buf_init(&output, GB_TOOL_OUTPUT_MAX);
	tool->refuse(err, &output);
	gb_reply_tool_result(&client->lines, message->run, gb_buf_str(&output));
}

void gb_rpc_reply_tool(struct gb_rpc_run *run, const struct gb_result *result) {
	struct gb_client *client = run->client;
	const struct gb_config *config = gb_service_config(client->server->service);
	gb_auto_buf struct gb_buf output;
	gb_buf_init(&output, GB_TOOL_OUTPUT_MAX);
	run->tool->answer(&run->tool_call, result, gb_execution_timeout_ms(run->execution), config, &output);
	gb_reply_tool_result(&client->lines, run->entry.number, gb_buf_str(&output));
}

/* The embedding program decides on its face, unless it wants a person to be asked. */
static void apply_decision(const struct gb_rpc_run *run, struct gb_gate_request *request) {
	const enum gb_face face = request->face;
	bool decides = run->client->decides & 1u << face;
	request->embedder_enables = decides && gb_face_embedder_may_enable(face);
	request->embedder_decides = decides && !run->tool_call.asks_person;
}

static bool submit(struct gb_rpc_run *run, const struct gb_message *message, struct gb_submission *submission,
    struct gb_execution **ret, struct gb_err *err) {
	submission->request.transport = "sdk";
	submission->quiet = true; /* the output of a tool is its value */
	if (!run->tool->read(message->arguments, &run->tool_call, &submission->request, err))
		return false;
	apply_decision(run, &submission->request);
	return gb_service_submit(&run->client->submits, submission, ret, err);
}

/* What the tool knows of its client. */
static bool prepare_call(struct gb_client *client, struct gb_tool_call *call) {
	struct gb_service *service = client->server->service;
	if (!client->sandboxes && !(client->sandboxes = gb_sandboxes_create(service)))
		return false;
	call->config = gb_service_config(service);
	call->sandboxes = client->sandboxes;
	call->is_enabled = gb_service_has_agents(service) || client->decides & 1u << GB_FACE_ACTIONS;
	return true;
}

/* Calls that run no code. */
static bool answer_at_once(
    struct gb_client *client, const struct gb_message *message, struct gb_rpc_run *run) {
	gb_auto_buf struct gb_buf output;
	gb_buf_init(&output, GB_TOOL_OUTPUT_MAX);
	if (!run->tool->act || !run->tool->act(message->arguments, &run->tool_call, &output))
		return false;
	gb_reply_tool_result(&client->lines, message->run, gb_buf_str(&output));
	return true;
}

bool gb_rpc_handle_tool(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	const struct gb_tool *tool = gb_tool_find(message->name);
	struct gb_submission submission;
	struct gb_execution *execution;
	struct gb_err err = {0};
	if (!tool)
		return gb_reject(gb_rejection_at(rejection, "name"), GB_CODE_INVALID, "there is no tool '%s'",
		    message->name);
	struct gb_rpc_run *run = gb_rpc_new_run(client, message, &submission, rejection);
	if (!run)
		return false;
	run->tool = tool;
	if (!prepare_call(client, &run->tool_call)) {
		gb_rpc_free_run(run);
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	}
	if (answer_at_once(client, message, run)) {
		gb_rpc_free_run(run);
		return true;
	}
	if (submit(run, message, &submission, &execution, &err)) {
		if (gb_rpc_add_run(run, execution, rejection))
			return true;
		gb_rpc_free_run(run);
		return false;
	}
	gb_rpc_free_run(run);
	reply_refusal(client, message, tool, &err);
	return true;
}
