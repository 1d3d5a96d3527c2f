#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool gb_fail(struct gb_err *err, enum gb_err_code code, int sys_errno, const char *format, ...) {
	if (!err)
		return false;
	char text[GB_ERR_MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);

	err->code = code;
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

bool gb_wrap(struct gb_err *err, const char *format, ...) {
	if (!err)
		return false;
	char context[GB_ERR_MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(context, sizeof context, format, ap);
	va_end(ap);

	char whole[2 * GB_ERR_MESSAGE_MAX + 4];
	snprintf(whole, sizeof whole, "%s: %s", context, err->message);
	memcpy(err->message, whole, sizeof err->message - 1);
	err->message[sizeof err->message - 1] = '\0';
	return false;
}
