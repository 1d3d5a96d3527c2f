/*
 * The messages to a client, one line each: docs/PROTOCOL.md. If a line cannot be written (a value is nested
 * too deeply or too long for a line), nothing is sent; functions that return bool then return false and set
 * @err.
 */
#ifndef GB_SERVER_REPLIES_H
#define GB_SERVER_REPLIES_H

#include "glovebox/sessions.h"
#include "guard/secrets.h"
#include "server/lines.h"
#include "server/rejection.h"
#include "service/service.h"

struct gb_gate;

/* Identifies a call. */
struct gb_call_name {
	uint64_t run, call;
};

/* @agent: requests of agents are accepted. */
void gb_reply_hello(struct gb_lines *lines, bool agent);
void gb_reply_error(struct gb_lines *lines, const struct gb_rejection *rejection);
/* Arguments that cannot be written are replaced by a text that says so. */
void gb_reply_log(struct gb_lines *lines, uint64_t run, const struct gb_log *log);
/* Invalid UTF-8 is replaced. */
void gb_reply_output(struct gb_lines *lines, uint64_t run, int stream, const char *bytes, size_t n);
/* A display that cannot be written is not sent; it is in the result. */
void gb_reply_display(struct gb_lines *lines, uint64_t run, const struct gb_value *display);
/* The run waits for approval. */
void gb_reply_tool_result(struct gb_lines *lines, uint64_t run, struct gb_str output);
void gb_reply_pending(struct gb_lines *lines, uint64_t run, struct gb_str approval, int64_t expires_ms);
/* Of an executor: a call of a tool, with its parameters as JSON text; a text; the result, which is JSON. */
bool gb_reply_tool_call(struct gb_lines *lines, struct gb_call_name name, struct gb_str tool,
    struct gb_str params, struct gb_err *err);
void gb_reply_executor_text(struct gb_lines *lines, uint64_t run, const char *type, struct gb_str text);
void gb_reply_executor_result(struct gb_lines *lines, uint64_t run, struct gb_str json);
/* The session that it runs in awaits input, after @prompt. */
void gb_reply_prompt(struct gb_lines *lines, uint64_t run, const char *session, struct gb_str prompt);
/* Here and below, prompts are masked unless @filter is NULL. */
/* Sessions of agents have a @gate, others NULL. A prompt that the gate holds back is not shown: its session
 * is shown as executing. */
void gb_reply_session(struct gb_lines *lines, uint64_t request, const struct gb_session_info *session,
    const struct gb_gate *gate, struct gb_filter *filter);
void gb_reply_sessions(struct gb_lines *lines, uint64_t request, struct gb_manager *manager,
    const char *conversation, const struct gb_gate *gate, struct gb_filter *filter);
/* Output of a session's terminal, as bytes; and a message that this client was detached from it. */
void gb_reply_terminal(struct gb_lines *lines, const char *session, const char *bytes, size_t n);
void gb_reply_detached(
    struct gb_lines *lines, const char *session, const char *reason, bool ended, struct gb_filter *filter);
/* On requests of which faces the client decides itself: a set of 1 << face. */
void gb_reply_embedder(struct gb_lines *lines, uint64_t request, unsigned faces);
void gb_reply_secret(struct gb_lines *lines, uint64_t request);
void gb_reply_cleaned(struct gb_lines *lines, uint64_t request, unsigned count);
/* Executions of all clients. */
void gb_reply_executions(struct gb_lines *lines, uint64_t request, struct gb_service *service);
void gb_reply_execution(struct gb_lines *lines, uint64_t request, const struct gb_execution *execution);
/* @type is "subscribed" or "unsubscribed". */
void gb_reply_subscribed(struct gb_lines *lines, const char *type, uint64_t request);
/* A subscription to many has missed @n executions. */
void gb_reply_missed(struct gb_lines *lines, uint64_t subscription, uint64_t n);
/* An event of an execution, for a subscription. */
void gb_reply_event(struct gb_lines *lines, uint64_t subscription, const struct gb_execution *execution,
    const struct gb_event *event);
bool gb_reply_report(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, struct gb_err *err);
bool gb_reply_call(struct gb_lines *lines, struct gb_call_name name, uint32_t function,
    const struct gb_value *args, struct gb_err *err);
/* If the answer cannot be written, an error is thrown instead. */
void gb_reply_answer(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, bool thrown);
void gb_reply_ended(struct gb_lines *lines, struct gb_call_name name);
/* Write the line of a result, with its newline, to the end of @out, whose maximum is that of a line; on any thread. A
 * result that cannot be written is replaced by a failure that says so. @session is the session of an agent, or
 * empty. */
void gb_reply_write_result(
    struct gb_buf *out, uint64_t run, const char *session, const struct gb_result *result);

#endif
