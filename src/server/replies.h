/*
 * What we say to a client, one line each: docs/PROTOCOL.md. A line that cannot be written (a value that nests
 * deeper than JSON may, or that is longer than a line may be) is not begun; these then return false, and @err
 * says why.
 */
#ifndef GB_SERVER_REPLIES_H
#define GB_SERVER_REPLIES_H

#include "glovebox/sessions.h"
#include "guard/secrets.h"
#include "server/complaint.h"
#include "server/lines.h"

/* Whose call it is. */
struct gb_call_name {
	uint64_t run, call;
};

/* @agent: requests of agents are taken. */
void gb_reply_hello(struct gb_lines *lines, bool agent);
void gb_reply_error(struct gb_lines *lines, const struct gb_complaint *complaint);
/* Arguments that cannot be written are replaced by a text that says so. */
void gb_reply_log(struct gb_lines *lines, uint64_t run, const struct gb_log *log);
/* Bytes that are no UTF-8 are replaced. */
void gb_reply_output(struct gb_lines *lines, uint64_t run, int stream, const char *bytes, size_t n);
/* Of one that cannot be written nothing is said; it is in the result. */
void gb_reply_display(struct gb_lines *lines, uint64_t run, const struct gb_value *display);
/* It waits for a person. */
void gb_reply_pending(struct gb_lines *lines, uint64_t run, const char *approval, int64_t expires_ms);
/* The session that it runs in awaits input, after @prompt. That is masked, here and below, unless @filter is
 * NULL. */
void gb_reply_prompt(
    struct gb_lines *lines, uint64_t run, const char *session, const char *prompt, struct gb_filter *filter);
void gb_reply_session(struct gb_lines *lines, uint64_t request, const struct gb_session_info *session,
    struct gb_filter *filter);
void gb_reply_sessions(struct gb_lines *lines, uint64_t request, struct gb_manager *manager,
    const char *conversation, struct gb_filter *filter);
/* What the terminal of a session shows, as bytes; that nobody of this client's is there any more. */
void gb_reply_terminal(struct gb_lines *lines, const char *session, const char *bytes, size_t n);
void gb_reply_detached(
    struct gb_lines *lines, const char *session, const char *reason, bool ended, struct gb_filter *filter);
/* On requests of which faces the client decides itself: a set of 1 << face. */
void gb_reply_embedder(struct gb_lines *lines, uint64_t request, unsigned faces);
void gb_reply_secret(struct gb_lines *lines, uint64_t request);
void gb_reply_cleaned(struct gb_lines *lines, uint64_t request, unsigned count);
bool gb_reply_report(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, struct gb_err *err);
bool gb_reply_call(struct gb_lines *lines, struct gb_call_name name, uint32_t function,
    const struct gb_value *args, struct gb_err *err);
/* An answer that cannot be written is thrown instead. */
void gb_reply_answer(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, bool thrown);
void gb_reply_ended(struct gb_lines *lines, struct gb_call_name name);
/* A result that cannot be written becomes a failure that says so. @session is an agent's, or empty. */
void gb_reply_result(
    struct gb_lines *lines, uint64_t run, const char *session, const struct gb_result *result);

#endif
