/* Executions of tool calls. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "glovebox/errors.h"
#include "mcp/conversation.h"

/* --- the latest output of sessions --- */

void gb_mcp_kept_free(struct gb_mcp *mcp, struct gb_mcp_kept *kept) {
	gb_list_remove(&kept->link);
	mcp->n_kept--;
	gb_buf_finish(&kept->text);
	free(kept);
}

static struct gb_mcp_kept *find_kept(struct gb_mcp *mcp, const char *session) {
	gb_list_each(struct gb_mcp_kept, kept, &mcp->kept, link) {
		if (strcmp(kept->session, session) == 0)
			return kept;
	}
	struct gb_mcp_kept *kept = calloc(1, sizeof *kept);
	if (!kept)
		return NULL;
	struct gb_mcp_kept *oldest = gb_list_first(struct gb_mcp_kept, &mcp->kept, link);
	if (mcp->n_kept == GB_MCP_OUTPUTS_MAX && oldest)
		gb_mcp_kept_free(mcp, oldest);
	gb_copy_text(kept->session, sizeof kept->session, gb_str_from(session));
	gb_buf_init(&kept->text, (size_t)2 * GB_MCP_OUTPUT_KEPT);
	gb_list_append(&mcp->kept, &kept->link);
	mcp->n_kept++;
	return kept;
}

static void keep(struct gb_mcp_run *run, struct gb_str text) {
	struct gb_mcp_kept *kept = *run->session ? find_kept(run->mcp, run->session) : NULL;
	if (!kept)
		return;
	if (text.n > GB_MCP_OUTPUT_KEPT)
		text = (struct gb_str){text.p + text.n - GB_MCP_OUTPUT_KEPT, GB_MCP_OUTPUT_KEPT};
	if (kept->text.len + text.n > kept->text.max)
		gb_buf_consume(&kept->text, kept->text.len - GB_MCP_OUTPUT_KEPT);
	gb_buf_append_str(&kept->text, text);
}

/* --- records --- */

void gb_mcp_record_free(struct gb_mcp *mcp, struct gb_mcp_record *record) {
	gb_list_remove(&record->link);
	mcp->n_records--;
	free(record);
}

static void note_record(struct gb_mcp_run *run, const struct gb_result *result) {
	struct gb_mcp *mcp = run->mcp;
	struct gb_mcp_record *record = calloc(1, sizeof *record);
	if (!record)
		return;
	struct gb_mcp_record *oldest = gb_list_first(struct gb_mcp_record, &mcp->records, link);
	if (mcp->n_records == GB_MCP_RECORDS_MAX && oldest)
		gb_mcp_record_free(mcp, oldest);
	gb_copy_text(record->id, sizeof record->id, gb_str_from(gb_execution_id(run->execution)));
	record->language = run->language;
	record->status = gb_status_name(result->status);
	gb_list_append(&mcp->records, &record->link);
	mcp->n_records++;
}

/* --- create and free --- */

void gb_mcp_run_free(struct gb_mcp_run *run) {
	if (run->request)
		run->request->run = NULL;
	gb_execution_release(run->execution);
	gb_list_remove(&run->link);
	run->mcp->n_runs--;
	gb_buf_finish(&run->streams[0]);
	gb_buf_finish(&run->streams[1]);
	gb_buf_finish(&run->final);
	free(run->prompt);
	free(run->path);
	free(run->shown);
	free(run);
}

/* Make room: drop the oldest result that no call has fetched. */
static void drop_ended(struct gb_mcp *mcp) {
	gb_list_each(struct gb_mcp_run, run, &mcp->runs, link) {
		if (run->execution || run->request)
			continue;
		gb_mcp_run_free(run);
		return;
	}
}

static struct gb_mcp_run *create(struct gb_mcp_request *request, enum gb_mcp_form form) {
	struct gb_mcp *mcp = request->mcp;
	if (mcp->n_runs == GB_MCP_RUNS_MAX)
		drop_ended(mcp);
	struct gb_mcp_run *run = mcp->n_runs < GB_MCP_RUNS_MAX ? calloc(1, sizeof *run) : NULL;
	if (!run)
		return NULL;
	run->mcp = mcp;
	run->form = form;
	run->began = gb_now_ns();
	gb_buf_init(&run->streams[0], GB_MCP_MESSAGE_MAX / 4);
	gb_buf_init(&run->streams[1], GB_MCP_MESSAGE_MAX / 4);
	gb_buf_init(&run->final, GB_MCP_MESSAGE_MAX);
	gb_list_append(&mcp->runs, &run->link);
	mcp->n_runs++;
	return run;
}

struct gb_mcp_run *gb_mcp_run_in(struct gb_mcp *mcp, const char *session) {
	gb_list_each(struct gb_mcp_run, run, &mcp->runs, link) {
		/* A run whose code waits has no request, or one that has typed an answer. */
		if (!run->is_input && strcmp(run->session, session) == 0 &&
		    (run->n_prompts || !run->execution))
			return run;
	}
	return NULL;
}

/* --- events --- */

static void note_session(struct gb_mcp_run *run) {
	if (run->execution && !*run->session)
		gb_copy_text(
		    run->session, sizeof run->session, gb_str_from(gb_execution_session(run->execution)));
}

static void take_output(struct gb_mcp_run *run, int stream, struct gb_str text) {
	gb_buf_append_str(&run->streams[stream == 2], text);
	keep(run, text);
	if (run->request)
		gb_mcp_report(run->request, text);
}

/* As 'glovebox run' shows it. */
static void take_log(struct gb_mcp_run *run, const struct gb_log *log) {
	enum { SHOWN_MAX = 1 << 20 };
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, GB_MCP_MESSAGE_MAX / 4);
	for (size_t i = 0; i < gb_value_count(log->args); i++) {
		const struct gb_value *value = gb_value_at(log->args, i);
		gb_auto_free char *text = NULL;
		struct gb_str part = {0};
		if (gb_value_type(value) == GB_STRING)
			part.p = gb_value_bytes(value, &part.n);
		else if ((text = gb_value_inspect(value, SHOWN_MAX)))
			part = gb_str_from(text);
		if (i)
			gb_buf_append_char(&line, ' ');
		gb_buf_append_str(&line, part);
	}
	gb_buf_append_char(&line, '\n');
	bool is_error = log->level == GB_LOG_WARN || log->level == GB_LOG_ERROR;
	if (!gb_buf_failed(&line))
		take_output(run, is_error ? 2 : 1, gb_buf_str(&line));
}

void gb_mcp_run_reply_waiting(struct gb_mcp_run *run) {
	gb_mcp_run_reply(run, NULL);
}

static void on_prompt(struct gb_mcp_run *run, struct gb_str prompt) {
	char *copy = strndup(prompt.p ? prompt.p : "", prompt.n);
	free(run->prompt);
	run->prompt = copy;
	run->waits = true;
	run->n_prompts++;
	if (run->request)
		gb_mcp_run_reply_waiting(run);
}

/* Keep the result for a later call. */
static void keep_result(struct gb_mcp_run *run, const struct gb_result *result) {
	gb_mcp_run_keep(run, result);
	run->waits = false;
	gb_execution_release(run->execution);
	run->execution = NULL;
}

/* A decision came from elsewhere, while a modern client asks its user: its next call continues with @run. */
static void pass_state(struct gb_mcp_run *input, struct gb_mcp_run *run) {
	memcpy(run->state, input->state, sizeof run->state);
	memcpy(run->digest, input->digest, sizeof run->digest);
	run->waits = run->waits && run->n_prompts > input->n_prompts;
	gb_mcp_run_free(input);
}

/* The text was typed: the call now waits for the run that reads it. */
static void end_input(struct gb_mcp_run *input, const struct gb_result *result) {
	struct gb_mcp_request *request = input->request;
	struct gb_mcp_run *run = gb_mcp_run_in(input->mcp, input->session);
	bool typed = result->status == GB_SUCCESS && run;
	if (!request && typed) {
		pass_state(input, run);
		return;
	}
	if (!request) {
		keep_result(input, result);
		return;
	}
	if (!typed) {
		gb_mcp_run_reply(input, result);
		gb_mcp_run_free(input);
		return;
	}
	unsigned answered = input->n_prompts;
	gb_mcp_run_free(input);
	run->request = request;
	request->run = run;
	if (!run->execution) {
		gb_mcp_reply(request, gb_buf_str(&run->final), (struct gb_str){"", 0}, run->final_failed);
		run->request = NULL;
		gb_mcp_run_free(run);
	} else if (run->n_prompts > answered) {
		gb_mcp_run_reply_waiting(run);
	} else {
		run->waits = false;
	}
}

static void on_finished(struct gb_mcp_run *run, const struct gb_result *result) {
	note_session(run);
	/* The record of a refused request has no id to find it by. */
	if (result->status != GB_DENIED)
		note_record(run, result);
	*run->approval = '\0';
	if (run->is_input) {
		end_input(run, result);
	} else if (run->request) {
		gb_mcp_run_reply(run, result);
		gb_mcp_run_free(run);
	} else if (run->n_prompts || *run->state) {
		/* It waited for input, or for a decision: a later call gets the result. */
		keep_result(run, result);
	} else {
		gb_mcp_run_free(run);
	}
}

static void on_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	struct gb_mcp_run *run = data;
	(void)execution;
	note_session(run);
	if (event->kind != GB_EVENT_PENDING && event->kind != GB_EVENT_FINISHED)
		*run->approval = '\0';
	switch (event->kind) {
	case GB_EVENT_PENDING:
		gb_mcp_ask(run, event->text);
		break;
	case GB_EVENT_OUTPUT:
		take_output(run, event->stream, event->text);
		break;
	case GB_EVENT_LOG:
		take_log(run, &event->log);
		break;
	case GB_EVENT_PROMPT:
		on_prompt(run, event->text);
		break;
	case GB_EVENT_FINISHED:
		on_finished(run, event->result);
		break;
	case GB_EVENT_STARTED:
	case GB_EVENT_DISPLAY: /* the result has them */
	case GB_EVENT_REPORT:
	case GB_EVENT_LOST:
		break;
	}
}

/* --- start and cancel --- */

struct gb_mcp_run *gb_mcp_run_start(
    struct gb_mcp_request *request, const struct gb_gate_request *gate, enum gb_mcp_form form) {
	struct gb_mcp_run *run = create(request, form);
	struct gb_submission submission = {.request = *gate, .on_event = on_event, .data = run};
	struct gb_err err = {0};
	submission.request.face = GB_FACE_EXECUTE_CODE;
	submission.request.transport = "mcp";
	if (!run) {
		gb_mcp_refuse(
		    request, "too many executions wait for input or for a decision; end some sessions");
		return NULL;
	}
	run->language = gate->run.language;
	run->is_input = gate->is_input;
	if (gate->session)
		gb_copy_text(run->session, sizeof run->session, gb_str_from(gate->session));
	gb_mcp_bind(run, gate);
	if (!gb_service_submit(&request->mcp->client, &submission, &run->execution, &err)) {
		gb_mcp_run_free(run);
		gb_mcp_refuse(request, "%s", err.message);
		return NULL;
	}
	run->request = request;
	request->run = run;
	return run;
}

void gb_mcp_cancel(struct gb_mcp_request *request) {
	struct gb_mcp_run *run = request->run;
	/* Releasing interrupts the code, withdraws a request that waits, and keeps the session. */
	if (run)
		gb_mcp_run_free(run);
	gb_mcp_request_free(request);
}
