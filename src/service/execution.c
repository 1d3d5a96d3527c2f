/* The life cycle of an execution. */
#include "service/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "base/io.h"
#include "engine/limits.h"
#include "engine/manager.h"
#include "gate/faces.h"
#include "glovebox/errors.h"
#include "limits/limits.h"

enum {
	WAITING_MAX = 10000,
	WAITING_BYTES_MAX = 256 << 20,
	/* The gate limits running and waiting requests; this limits all requests without a result, also refused ones. */
	AGENTS_MAX = 1024,
	DONE_BYTES_MAX = 64 << 20, /* memory of kept results; above it the oldest are freed early */
	EVENTS_MAX = 4096,         /* kept events of an execution */
};

static void make_id(char id[33]) {
	uint8_t bytes[16];
	while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		continue;
	for (size_t i = 0; i < 2 * sizeof bytes; i++)
		id[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
	id[32] = '\0';
}

/* --- create and free --- */

static void on_submitter_event(struct gb_subscription *subscription, const struct gb_event *event) {
	struct gb_execution *execution = gb_container(struct gb_execution, submitter, subscription);
	if (execution->submission.on_event)
		execution->submission.on_event(execution, event, execution->submission.data);
}

struct gb_execution *gb_execution_create(struct gb_service *service, const struct gb_submission *submission) {
	struct gb_execution *execution = calloc(1, sizeof *execution);
	if (!execution)
		return NULL;
	execution->service = service;
	execution->submission = *submission;
	/* The contents of the request are borrowed during the submission only. */
	execution->submission.request = (struct gb_gate_request){.face = submission->request.face};
	execution->in_session = submission->request.session || submission->request.persistent;
	gb_list_init(&execution->link);
	gb_list_init(&execution->waiting);
	struct gb_events_limits replay = service->options.replay;
	if (service->options.keeps_by_settings)
		replay = (struct gb_events_limits){
		    .bytes = service->config->service.replay_bytes, .count = EVENTS_MAX};
	replay.count = GB_OR(replay.count, 1); /* the result */
	gb_events_init(&execution->events, &replay);
	execution->submitter.on_event = on_submitter_event;
	return execution;
}

static void end_masking(struct gb_execution *execution) {
	if (!execution->masked)
		return;
	struct gb_filter *filter = execution->masked->filter;
	gb_masked_finish(execution->masked);
	free(execution->masked);
	gb_filter_destroy(filter);
	execution->masked = NULL;
}

void gb_execution_destroy(struct gb_execution *execution) {
	gb_events_finish(&execution->events);
	gb_list_remove(&execution->link);
	gb_list_remove(&execution->waiting);
	gb_run_destroy(execution->run);
	gb_agent_run_destroy(execution->agent_run);
	end_masking(execution);
	free(execution);
}

/* --- the end --- */

size_t gb_execution_memory(const struct gb_execution *execution) {
	return execution->bytes;
}

static void stop_waiting(struct gb_execution *execution) {
	if (gb_list_empty(&execution->waiting))
		return;
	gb_list_remove(&execution->waiting);
	execution->service->n_waiting--;
	execution->service->waiting_bytes -= execution->run->outbox.len;
}

static size_t memory_of(const struct gb_execution *execution) {
	size_t n = execution->run ? gb_run_memory(execution->run) : 0;
	n += execution->agent_run ? gb_agent_run_memory(execution->agent_run) : 0;
	return n + (execution->masked ? gb_masked_memory(execution->masked) : 0);
}

/* The execution is done. The contents of @result must live as long as the execution, which is freed between turns:
 * callbacks of its events may be on the stack now. */
static void finish(struct gb_execution *execution, const struct gb_result *result) {
	struct gb_service *service = execution->service;
	execution->result = *result;
	execution->phase = GB_EXECUTION_DONE;
	execution->done_at = gb_now_ns();
	gb_list_remove(&execution->link);
	gb_list_append(&service->done, &execution->link);
	service->n_done++;
	execution->bytes = memory_of(execution);
	service->done_bytes += execution->bytes;
	service->room = true;
	gb_events_add(
	    &execution->events, &(struct gb_event){.kind = GB_EVENT_FINISHED, .result = &execution->result});
}

/* The callback of an event may end the run, and then this is called from inside an earlier call. */
void gb_execution_finish_masked(struct gb_execution *execution) {
	struct gb_result clean;
	if (execution->phase == GB_EXECUTION_DONE || execution->service->ending)
		return;
	gb_output_end(execution);
	gb_masked_tell(execution->masked, gb_run_result(execution->run), &clean);
	finish(execution, &clean);
}

/* Until its result is masked, the execution stays in its phase. */
static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	struct gb_execution *execution = data;
	bool was_waiting = !gb_list_empty(&execution->waiting);
	(void)run;
	stop_waiting(execution);
	execution->service->n_running -= !was_waiting && !*execution->target;
	execution->service->room = true;
	execution->settled = true;
	if (execution->masked) {
		gb_masked_put_end(execution->masked, result);
		gb_output_on_progress(execution->masked, execution);
	} else {
		gb_output_end(execution);
		finish(execution, result);
	}
}

/* Finish with a result that says why the code was not run. */
static void refuse(struct gb_execution *execution, const struct gb_err *err) {
	const char *code = err->code == GB_EWALL    ? GB_CODE_WALL
			   : err->code == GB_ENOENT ? GB_CODE_RUNTIME_DISABLED
						    : GB_CODE_REFUSED;
	stop_waiting(execution);
	snprintf(execution->refusal, sizeof execution->refusal, "%s", err->message);
	const struct gb_result result =
	    gb_result_instead(GB_DENIED, "DeniedError", code, execution->refusal, NULL);
	finish(execution, &result);
}

static bool may_be_freed(const struct gb_execution *execution, uint64_t now) {
	const struct gb_service *service = execution->service;
	bool by_settings = service->options.keeps_by_settings;
	unsigned most = by_settings ? service->config->service.keep_results : service->options.keep_results;
	uint64_t ms = by_settings ? service->config->service.keep_ms : service->options.keep_ms;
	return execution->released && !execution->events.n_subscriptions &&
	       (service->n_done > most || service->done_bytes > DONE_BYTES_MAX ||
		   now - execution->done_at >= ms * 1000000);
}

int gb_executions_expire(struct gb_service *service) {
	if (!service->n_done)
		return -1;
	uint64_t now = gb_now_ns();
	gb_list_each(struct gb_execution, execution, &service->done, link) {
		if (may_be_freed(execution, now)) {
			service->n_done--;
			service->done_bytes -= execution->bytes;
			gb_execution_destroy(execution);
		}
	}
	return service->n_done ? 1000 : -1;
}

void gb_executions_abandon_masking(struct gb_service *service) {
	gb_list_each(struct gb_execution, execution, &service->executions, link) {
		if (execution->masked)
			gb_masked_abandon(execution->masked);
	}
}

void gb_executions_finish(struct gb_service *service) {
	struct gb_list *lists[] = {&service->executions, &service->done};
	for (size_t i = 0; i < GB_COUNT(lists); i++)
		gb_list_each(struct gb_execution, execution, lists[i], link) {
			stop_waiting(execution);
			gb_execution_destroy(execution);
		}
}

/* --- a caller's code --- */

static void throw(struct gb_call * call, const char *message) {
	gb_call_throw(call, gb_value_error(gb_call_values(call), "RangeError", message, NULL));
}

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (execution->released || !execution->submission.on_call)
		throw(call,
		    execution->released ? "the client has disconnected" : "there is no function to call");
	else
		execution->submission.on_call(execution, call, execution->submission.data);
}

/* @value is masked. The run may have settled meanwhile; its calls must be answered all the same. */
static void deliver_report(
    struct gb_execution *execution, const struct gb_value *value, struct gb_call *call) {
	if (!value) {
		throw(call, "the host is out of memory");
		return;
	}
	gb_events_add(&execution->events, &(struct gb_event){.kind = GB_EVENT_REPORT, .value = value});
	if (!execution->released && execution->submission.on_report)
		execution->submission.on_report(execution, value, call, execution->submission.data);
	else
		gb_call_return(call, NULL);
}

static void on_report_masked(struct gb_masked *masked, const struct gb_value *clean, void *call, void *data) {
	gb_output_on_progress(masked, data); /* what the code said before */
	deliver_report(data, clean, call);
}

static void on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (!execution->masked) {
		deliver_report(execution, value, call);
		return;
	}
	gb_masked_put_report(execution->masked, value, on_report_masked, call);
	gb_output_on_progress(execution->masked, execution);
}

static void add_prompt(struct gb_execution *execution, struct gb_str prompt) {
	gb_events_add(&execution->events, &(struct gb_event){.kind = GB_EVENT_PROMPT, .text = prompt});
}

static void on_prompt_masked(
    struct gb_masked *masked, const struct gb_value *none, void *prompt, void *data) {
	(void)none;
	gb_output_on_progress(masked, data);
	if (!((struct gb_execution *)data)->settled)
		add_prompt(data, gb_str_from(prompt));
}

void gb_execution_on_awaiting(
    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data) {
	struct gb_execution *execution = gb_run_data(run);
	(void)manager, (void)data;
	if (!execution)
		return;
	struct gb_str prompt = gb_str_from(info->prompt);
	if (execution->masked && gb_masked_is_busy(execution->masked)) {
		/* The prompt follows the output before it. */
		const char *kept = gb_masked_text(execution->masked, prompt.p, prompt.n).p;
		gb_masked_put_mark(execution->masked, on_prompt_masked, (void *)kept);
		return;
	}
	gb_auto_buf struct gb_buf clean;
	gb_buf_init(&clean, 64 << 10);
	if (execution->service->filter) {
		gb_mask_text(execution->service->filter, prompt, &clean);
		prompt = gb_buf_str(&clean);
	}
	add_prompt(execution, prompt);
}

/* Apply the limits of the settings. The service's own timeout, if there is one, replaces that of the settings. */
static bool limit(const struct gb_service *service, struct gb_run_options *options, struct gb_err *err) {
	uint64_t requested_ms = options->timeout_ms, max_ms = service->options.timeout_ms;
	if (max_ms)
		options->timeout_ms = 0;
	if (!gb_limits_check_net(service->config, options->net, err) ||
	    !gb_limits_check_workdir(service->config, options->workdir, err) ||
	    (service->options.strict && !gb_limits_check(service->config, options, err)))
		return false;
	gb_limits_apply(service->config, service->options.default_timeout_ms, options);
	if (max_ms)
		options->timeout_ms = requested_ms && requested_ms < max_ms ? requested_ms : max_ms;
	return true;
}

/* Mask all output with the current filter. */
static bool begin_masking(
    struct gb_execution *execution, const struct gb_run_options *options, struct gb_err *err) {
	struct gb_filter *filter = execution->service->filter;
	if (!filter)
		return true;
	execution->masked = calloc(1, sizeof *execution->masked);
	if (execution->masked && gb_masked_init(execution->masked, gb_filter_ref(filter),
				     gb_masked_output_max(options), gb_masked_value_max(options))) {
		gb_masked_use_threads(
		    execution->masked, &(struct gb_masked_threads){.work = gb_service_work_for,
					   .work_data = execution->service,
					   .on_progress = gb_output_on_progress,
					   .data = execution});
		return true;
	}
	return gb_fail(err, GB_ENOMEM, 0, "out of memory for masking the output");
}

/* A run in a session has the session's language. A session that does not exist is reported by
 * gb_manager_execute. */
static void use_session(struct gb_execution *execution, const char *session, struct gb_run_options *options) {
	struct gb_session_info info;
	if (!session || !gb_manager_get(execution->service->manager, session, &info, NULL))
		return;
	options->language = info.language;
	memcpy(execution->session, info.id, sizeof execution->session);
}

static void note_started(struct gb_execution *execution) {
	execution->phase = GB_EXECUTION_RUNNING;
	/* A run in a session has the session's sandbox, or waits for it. */
	execution->service->n_running += !*execution->target;
	gb_events_add(&execution->events, &(struct gb_event){.kind = GB_EVENT_STARTED});
}

enum launched { LAUNCHED, NO_ROOM, FAILED };

static enum launched launch(struct gb_execution *execution, struct gb_err *err) {
	struct gb_service *service = execution->service;
	if (service->n_running >= service->max_runs)
		return NO_ROOM;
	if (!gb_run_launch(execution->run, err))
		return err->code == GB_EBUSY ? NO_ROOM : FAILED;
	stop_waiting(execution);
	note_started(execution);
	return LAUNCHED;
}

static bool wait_for_room(
    struct gb_service_client *client, struct gb_execution *execution, struct gb_err *err) {
	struct gb_service *service = execution->service;
	size_t n = execution->run->outbox.len;
	if (service->n_waiting == WAITING_MAX || n > WAITING_BYTES_MAX - service->waiting_bytes)
		return gb_fail(err, GB_EBUSY, 0,
		    "%u runs with %zu bytes are already waiting; submit it again when some have ended",
		    service->n_waiting, service->waiting_bytes);
	gb_list_append(&client->waiting, &execution->waiting);
	service->n_waiting++;
	service->waiting_bytes += n;
	return true;
}

static bool start_or_wait(
    struct gb_service_client *client, struct gb_execution *execution, struct gb_err *err) {
	struct gb_err why = {0};
	enum launched launched = execution->service->n_waiting ? NO_ROOM : launch(execution, &why);
	if (launched == NO_ROOM)
		return wait_for_room(client, execution, err);
	if (launched == FAILED && err)
		*err = why;
	return launched == LAUNCHED;
}

bool gb_execution_create_run(struct gb_execution *execution, const struct gb_gate_request *request,
    struct gb_run_options *ret_options, struct gb_err *err) {
	struct gb_service *service = execution->service;
	struct gb_run_options options = request->run;
	options.on_log = gb_output_on_log;
	options.on_output = gb_output_on_output;
	options.on_display = gb_output_on_display;
	options.on_call = on_call;
	options.on_report = on_report;
	options.on_awaiting = NULL;
	options.on_settled = on_settled;
	options.data = execution;
	use_session(execution, request->session, &options);
	if (!limit(service, &options, err) || !begin_masking(execution, &options, err))
		return false;
	if (request->session) {
		if (!gb_manager_create_run(service->manager, request->session, &options, &execution->run,
			execution->target, err))
			return false;
	} else if (!(execution->run = gb_run_create(service->engine, &options, err))) {
		return false;
	}
	*ret_options = options;
	return true;
}

bool gb_execution_begin_run(
    struct gb_service_client *client, struct gb_execution *execution, struct gb_err *err) {
	if (!*execution->target) {
		if (!start_or_wait(client, execution, err))
			return false;
	} else if (gb_manager_begin_run(
		       execution->service->manager, execution->target, execution->run, err)) {
		note_started(execution);
	} else {
		return false;
	}
	memcpy(execution->id, gb_run_id(execution->run), sizeof execution->id);
	return true;
}

static bool submit_run(struct gb_service_client *client, struct gb_execution *execution,
    const struct gb_gate_request *request, struct gb_err *err) {
	struct gb_run_options options;
	return gb_execution_create_run(execution, request, &options, err) &&
	       gb_run_encode(execution->run, &options, err) && gb_execution_begin_run(client, execution, err);
}

bool gb_execution_start_waiting(struct gb_service_client *client) {
	struct gb_execution *execution = gb_list_first(struct gb_execution, &client->waiting, waiting);
	struct gb_err err = {0};
	enum launched launched = launch(execution, &err);
	if (launched == FAILED)
		refuse(execution, &err);
	return launched != NO_ROOM;
}

/* --- an agent's code --- */

static void on_pending(struct gb_agent_run *run, const char *approval, int64_t expires_ms, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	gb_events_add(&execution->events,
	    &(struct gb_event){
		.kind = GB_EVENT_PENDING, .text = gb_str_from(approval), .expires_ms = expires_ms});
}

static void note_agent_started(struct gb_execution *execution) {
	if (execution->phase != GB_EXECUTION_WAITING)
		return;
	execution->phase = GB_EXECUTION_RUNNING;
	gb_execution_announce_session(execution);
	gb_events_add(&execution->events, &(struct gb_event){.kind = GB_EVENT_STARTED});
}

static void on_agent_log(struct gb_agent_run *run, const struct gb_log *log, void *data) {
	(void)run;
	note_agent_started(data);
	gb_events_add(
	    &((struct gb_execution *)data)->events, &(struct gb_event){.kind = GB_EVENT_LOG, .log = *log});
}

static void on_agent_output(struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run;
	note_agent_started(data);
	gb_output_append(data, stream, bytes, n);
}

static void on_agent_display(struct gb_agent_run *run, const struct gb_value *display, void *data) {
	(void)run;
	note_agent_started(data);
	gb_events_add(&((struct gb_execution *)data)->events,
	    &(struct gb_event){.kind = GB_EVENT_DISPLAY, .value = display});
}

static void on_agent_prompt(struct gb_agent_run *run, const char *prompt, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (!prompt)
		return;
	note_agent_started(execution);
	gb_events_add(
	    &execution->events, &(struct gb_event){.kind = GB_EVENT_PROMPT, .text = gb_str_from(prompt)});
}

static void on_agent_call(struct gb_agent_run *run, struct gb_call *call, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	note_agent_started(execution);
	if (execution->released || !execution->submission.on_call)
		throw(call,
		    execution->released ? "the client has disconnected" : "there is no function to call");
	else
		execution->submission.on_call(execution, call, execution->submission.data);
}

static void on_asked(struct gb_agent_run *run, bool approved, const char *reason, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	if (!execution->released)
		execution->asked(approved, reason, execution->asked_data);
}

bool gb_execution_ask(struct gb_execution *execution, struct gb_str tool, struct gb_str params,
    gb_execution_asked then, void *data, struct gb_err *err) {
	if (!execution->agent_run)
		return gb_fail(err, GB_EINVAL, 0, "only calls of agents need approval");
	if (!gb_agent_run_ask(execution->agent_run, tool, params, on_asked, execution, err))
		return false;
	execution->asked = then;
	execution->asked_data = data;
	return true;
}

static void on_agent_done(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	struct gb_execution *execution = data;
	(void)run;
	execution->service->n_agents--;
	/* For a run without output, this is the first sign that it has started. */
	if (result->status != GB_DENIED)
		note_agent_started(execution);
	gb_execution_announce_session(execution);
	gb_output_end(execution);
	finish(execution, result);
}

static bool submit_agent(
    struct gb_execution *execution, const struct gb_gate_request *given, struct gb_err *err) {
	struct gb_service *service = execution->service;
	struct gb_gate_request request = *given;
	request.on_pending = on_pending;
	request.on_log = execution->submission.quiet ? NULL : on_agent_log;
	request.on_output = execution->submission.quiet ? NULL : on_agent_output;
	request.on_display = execution->submission.quiet ? NULL : on_agent_display;
	request.on_prompt = on_agent_prompt;
	request.on_call = gb_face_rules(request.face)->with_tools ? on_agent_call : NULL;
	request.on_done = on_agent_done;
	request.data = execution;
	request.run.run_id = execution->id;
	make_id(execution->id);
	if (!service->gate)
		return gb_fail(err, GB_EINVAL, 0, "this server does not accept requests of agents");
	if (service->n_agents >= AGENTS_MAX)
		return gb_fail(err, GB_EBUSY, 0,
		    "%u requests of agents have no reply yet, which is the limit", service->n_agents);
	if (!gb_gate_submit(service->gate, &request, &execution->agent_run, err))
		return false;
	service->n_agents++;
	return true;
}

/* --- both --- */

void gb_execution_announce(struct gb_execution *execution) {
	gb_list_append(&execution->service->executions, &execution->link);
	/* Only later events: no callback may be called before the caller has the execution. */
	gb_events_subscribe(&execution->events, &execution->submitter, execution->events.last);
	gb_execution_call_watches(execution, "");
	if (execution->run)
		gb_execution_announce_session(execution);
}

bool gb_service_submit(struct gb_service_client *client, const struct gb_submission *submission,
    struct gb_execution **ret, struct gb_err *err) {
	struct gb_service *service = client->service;
	struct gb_execution *execution = gb_execution_create(service, submission);
	if (!execution)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	bool is_run = submission->request.face == GB_FACE_RUN_CODE;
	if (!(is_run ? submit_run(client, execution, &submission->request, err)
		     : submit_agent(execution, &submission->request, err))) {
		gb_execution_destroy(execution);
		return false;
	}
	gb_execution_announce(execution);
	*ret = execution;
	return true;
}

const char *gb_execution_id(const struct gb_execution *execution) {
	return execution->id;
}

const char *gb_execution_state(const struct gb_execution *execution) {
	static const char *const names[] = {[GB_EXECUTION_WAITING] = "waiting",
	    [GB_EXECUTION_RUNNING] = "running",
	    [GB_EXECUTION_DONE] = "done"};
	return names[execution->phase];
}

bool gb_execution_is_agent(const struct gb_execution *execution) {
	return execution->agent_run;
}

bool gb_execution_is_in_session(const struct gb_execution *execution) {
	return execution->in_session && execution->run && gb_run_begun(execution->run);
}

const char *gb_execution_session(const struct gb_execution *execution) {
	return execution->agent_run ? gb_agent_run_session(execution->agent_run) : execution->session;
}

uint64_t gb_execution_timeout_ms(const struct gb_execution *execution) {
	return execution->agent_run ? gb_agent_run_timeout_ms(execution->agent_run) : 0;
}

const struct gb_result *gb_execution_result(const struct gb_execution *execution) {
	return execution->phase == GB_EXECUTION_DONE ? &execution->result : NULL;
}

struct gb_run *gb_execution_run(const struct gb_execution *execution) {
	return execution->phase == GB_EXECUTION_RUNNING ? execution->run : NULL;
}

void gb_execution_terminate(struct gb_execution *execution, const char *reason) {
	if (execution->phase == GB_EXECUTION_DONE)
		return;
	if (execution->agent_run)
		gb_agent_run_terminate(execution->agent_run, reason);
	else
		gb_run_terminate(execution->run, reason);
}

bool gb_execution_interrupt(struct gb_execution *execution, struct gb_err *err) {
	if (execution->phase == GB_EXECUTION_DONE)
		return true;
	if (execution->agent_run)
		gb_agent_run_terminate(execution->agent_run, NULL);
	else if (!execution->in_session)
		return gb_fail_field(err, GB_EINVAL, "run", "is not in a session; only 'terminate' stops it");
	else if (!gb_run_begun(execution->run))
		gb_run_terminate(execution->run, "interrupted before it began");
	else
		gb_run_interrupt(execution->run);
	return true;
}

bool gb_execution_decide(struct gb_execution *execution, enum gb_approval_verdict verdict,
    const char *decider, const char *reason) {
	return execution->agent_run && gb_agent_run_decide(execution->agent_run, verdict, decider, reason);
}

void gb_execution_hold(struct gb_execution *execution, bool held) {
	/* Not for agents: their output is bounded by their limits, and buffered by the gate already. */
	if (execution->run && !execution->settled)
		gb_run_pause(execution->run, held);
}

void gb_execution_release(struct gb_execution *execution) {
	if (!execution || execution->released)
		return;
	execution->released = true;
	execution->submission.on_event = NULL;
	gb_subscription_end(&execution->submitter);
	gb_execution_hold(execution, false);
	if (execution->phase == GB_EXECUTION_DONE)
		return;
	/* A session outlives its clients: interrupt its execution instead of ending the session. */
	if (execution->in_session)
		gb_execution_interrupt(execution, NULL);
	else
		gb_execution_terminate(execution, "the client has disconnected");
}

struct gb_events *gb_execution_events(struct gb_execution *execution) {
	return &execution->events;
}

struct gb_execution *gb_service_next(struct gb_service *service, const struct gb_execution *execution) {
	struct gb_list *next = execution ? execution->link.next : service->done.next;
	if (next == &service->done)
		next = service->executions.next;
	return next == &service->executions ? NULL : gb_container(struct gb_execution, link, next);
}

struct gb_execution *gb_service_find(struct gb_service *service, const char *id) {
	struct gb_list *lists[] = {&service->executions, &service->done};
	for (size_t k = 0; k < GB_COUNT(lists); k++)
		gb_list_each(struct gb_execution, execution, lists[k], link) {
			if (strcmp(execution->id, id) == 0)
				return execution;
		}
	return NULL;
}
