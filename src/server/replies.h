/*
 * What we say to a client, one line each: docs/PROTOCOL.md. A line that cannot be written (a value that nests
 * deeper than JSON may, or that is longer than a line may be) is not begun; these then return false, and @err
 * says why.
 */
#ifndef GB_SERVER_REPLIES_H
#define GB_SERVER_REPLIES_H

#include "glovebox/glovebox.h"
#include "server/complaint.h"
#include "server/lines.h"

/* Whose call it is. */
struct gb_call_name {
	uint64_t run, call;
};

void gb_reply_hello(struct gb_lines *lines);
void gb_reply_error(struct gb_lines *lines, const struct gb_complaint *complaint);
/* Arguments that cannot be written are replaced by a text that says so. */
void gb_reply_log(struct gb_lines *lines, uint64_t run, const struct gb_log *log);
bool gb_reply_report(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, struct gb_err *err);
bool gb_reply_call(struct gb_lines *lines, struct gb_call_name name, uint32_t function,
    const struct gb_value *args, struct gb_err *err);
/* An answer that cannot be written is thrown instead. */
void gb_reply_answer(
    struct gb_lines *lines, struct gb_call_name name, const struct gb_value *value, bool thrown);
void gb_reply_ended(struct gb_lines *lines, struct gb_call_name name);
/* A result that cannot be written becomes a failure that says so. */
void gb_reply_result(struct gb_lines *lines, uint64_t run, const struct gb_result *result);

#endif
