#include "server/rejection.h"

#include <stdarg.h>
#include <stdio.h>

#include "value/json.h"
#include "value/wtf8.h"

struct gb_rejection *gb_rejection_at(struct gb_rejection *rejection, const char *field) {
	gb_copy_text(rejection->field, sizeof rejection->field, gb_str_from(field));
	return rejection;
}

bool gb_reject(struct gb_rejection *rejection, const char *code, const char *format, ...) {
	rejection->code = code;
	size_t n = 0;
	if (*rejection->field)
		n = (size_t)snprintf(rejection->message, sizeof rejection->message, "%s: ", rejection->field);
	va_list ap;
	va_start(ap, format);
	vsnprintf(rejection->message + n, sizeof rejection->message - n, format, ap);
	va_end(ap);
	return false;
}

void gb_write_text(struct gb_buf *out, const char *key, const char *text) {
	char plain[sizeof((struct gb_rejection){0}).message];
	if (gb_wtf8_scan(text, strlen(text)) == GB_WTF8_INVALID) {
		gb_copy_text(plain, sizeof plain, gb_str_from(text));
		for (char *c = plain; *c; c++)
			if ((unsigned char)*c >= 0x80)
				*c = '?';
		text = plain;
	}
	gb_buf_printf(out, ",\"%s\":", key);
	gb_json_append_string(out, gb_str_from(text));
}

void gb_rejection_write(struct gb_buf *out, const struct gb_rejection *rejection) {
	if (*rejection->about)
		gb_write_text(out, "about", rejection->about);
	if (rejection->has_run)
		gb_buf_printf(out, ",\"run\":%llu", (unsigned long long)rejection->run);
	if (rejection->has_call)
		gb_buf_printf(out, ",\"call\":%llu", (unsigned long long)rejection->call);
	if (rejection->has_request)
		gb_buf_printf(out, ",\"request\":%llu", (unsigned long long)rejection->request);
	gb_write_text(out, "code", rejection->code);
	if (*rejection->field)
		gb_write_text(out, "field", rejection->field);
	gb_write_text(out, "message", rejection->message);
}
