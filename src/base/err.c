#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void reset(struct gb_err *err, enum gb_err_code code, const char *field) {
	err->code = code;
	err->sys_errno = 0;
	err->detail = 0;
	snprintf(err->field, sizeof err->field, "%s", field);
}

/* Prepend @context and ": " to the message, and move the offset of the detail by the same length. */
static void prepend(struct gb_err *err, const char *context) {
	char whole[2 * GB_ERR_MESSAGE_MAX + 4];
	snprintf(whole, sizeof whole, "%s: %s", context, err->message);
	memcpy(err->message, whole, sizeof err->message - 1);
	err->message[sizeof err->message - 1] = '\0';
	size_t detail = err->detail + strlen(context) + 2, n = strlen(err->message);
	err->detail = (unsigned)(*err->field ? detail < n ? detail : n : 0);
}

bool gb_fail(struct gb_err *err, enum gb_err_code code, int sys_errno, const char *format, ...) {
	if (!err)
		return false;
	char text[GB_ERR_MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);

	reset(err, code, "");
	err->sys_errno = sys_errno;
	if (sys_errno) {
		const char *description = strerrordesc_np(sys_errno);
		snprintf(err->message, sizeof err->message, "%.380s: %.90s", text,
		    description ? description : "unknown error");
	} else {
		memcpy(err->message, text, sizeof text);
	}
	return false;
}

bool gb_fail_field(struct gb_err *err, enum gb_err_code code, const char *field, const char *format, ...) {
	if (!err)
		return false;
	char text[GB_ERR_MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);

	reset(err, code, field);
	memcpy(err->message, text, sizeof text);
	prepend(err, err->field);
	return false;
}

bool gb_wrap(struct gb_err *err, const char *format, ...) {
	if (!err)
		return false;
	char context[GB_ERR_MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(context, sizeof context, format, ap);
	va_end(ap);
	prepend(err, context);
	return false;
}

bool gb_wrap_field(struct gb_err *err, const char *field) {
	if (!err)
		return false;
	snprintf(err->field, sizeof err->field, "%s", field);
	err->detail = 0;
	prepend(err, err->field);
	return false;
}
