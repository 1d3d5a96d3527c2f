/*
 * What is said about a message that was not accepted.
 *
 *	struct gb_complaint complaint = {0};
 *	return gb_complain(gb_blame(&complaint, "options.globals"), "invalid", "must be an object");
 */
#ifndef GB_SERVER_COMPLAINT_H
#define GB_SERVER_COMPLAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Plain data. */
struct gb_complaint {
	const char *code;
	char field[160]; /* "options.execute.args"; empty if it is about no field */
	char message[640];
	char about[40]; /* the message's type, as far as it is known */
	bool has_run, has_call, has_request;
	uint64_t run, call, request;
};

/* Name the field that is to blame; returns the complaint. */
struct gb_complaint *gb_blame(struct gb_complaint *complaint, const char *field);
/* Fill in code and message, with the field before it, and return false. */
bool gb_complain(struct gb_complaint *complaint, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Append ',"about":…' and all else that is known, as fields of a JSON object. */
void gb_complaint_write(struct gb_buf *out, const struct gb_complaint *complaint);

/* Append ',"key":"text"'. Of a text that was cut within a character only the ASCII is said. */
void gb_write_text(struct gb_buf *out, const char *key, const char *text);

#endif
