/*
 * Why a message of a client was rejected, to be sent to the client as an error.
 *
 *	struct gb_rejection rejection = {0};
 *	return gb_reject(gb_rejection_at(&rejection, "options.globals"), "invalid", "must be an object");
 */
#ifndef GB_SERVER_REJECTION_H
#define GB_SERVER_REJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Plain data. */
struct gb_rejection {
	const char *code;
	char field[160]; /* "options.execute.args"; empty if no field is at fault */
	char message[640];
	char about[40]; /* the message's type; empty if it is not known */
	bool has_run, has_call, has_request;
	uint64_t run, call, request;
};

/* Set the field that is at fault; returns @rejection. */
struct gb_rejection *gb_rejection_at(struct gb_rejection *rejection, const char *field);
/* Set the code and the message, which begins with the field. Returns false. */
bool gb_reject(struct gb_rejection *rejection, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Append ',"about":…' and all other known members, as fields of a JSON object. */
void gb_rejection_write(struct gb_buf *out, const struct gb_rejection *rejection);

/* Append ',"key":"text"'. If @text was cut within a character, all characters that are not ASCII become
 * '?'. */
void gb_write_text(struct gb_buf *out, const char *key, const char *text);

#endif
