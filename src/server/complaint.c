#include "server/complaint.h"

#include <stdarg.h>
#include <stdio.h>

#include "value/json.h"
#include "value/wtf8.h"

struct gb_complaint *gb_blame(struct gb_complaint *complaint, const char *field) {
	gb_copy_text(complaint->field, sizeof complaint->field, gb_str_from(field));
	return complaint;
}

bool gb_complain(struct gb_complaint *complaint, const char *code, const char *format, ...) {
	complaint->code = code;
	size_t n = 0;
	if (*complaint->field)
		n = (size_t)snprintf(complaint->message, sizeof complaint->message, "%s: ", complaint->field);
	va_list ap;
	va_start(ap, format);
	vsnprintf(complaint->message + n, sizeof complaint->message - n, format, ap);
	va_end(ap);
	return false;
}

void gb_write_text(struct gb_buf *out, const char *key, const char *text) {
	char plain[sizeof((struct gb_complaint){0}).message];
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

void gb_complaint_write(struct gb_buf *out, const struct gb_complaint *complaint) {
	if (*complaint->about)
		gb_write_text(out, "about", complaint->about);
	if (complaint->has_run)
		gb_buf_printf(out, ",\"run\":%llu", (unsigned long long)complaint->run);
	if (complaint->has_call)
		gb_buf_printf(out, ",\"call\":%llu", (unsigned long long)complaint->call);
	if (complaint->has_request)
		gb_buf_printf(out, ",\"request\":%llu", (unsigned long long)complaint->request);
	gb_write_text(out, "code", complaint->code);
	if (*complaint->field)
		gb_write_text(out, "field", complaint->field);
	gb_write_text(out, "message", complaint->message);
}
