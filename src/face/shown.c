#include "face/shown.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "value/inspect.h"

enum { SHOWN_MAX = GB_SHOWN_MAX };

void gb_shown_append(struct gb_buf *out, const struct gb_value *args) {
	for (size_t i = 0; i < gb_value_count(args); i++) {
		const struct gb_value *value = gb_value_at(args, i);
		size_t n = 0;
		const char *text = gb_value_type(value) == GB_STRING ? gb_value_bytes(value, &n) : NULL;
		gb_auto_free char *shown = text ? NULL : gb_value_inspect(value, SHOWN_MAX);
		gb_buf_append(out, " ", i > 0);
		if (text)
			gb_buf_append(out, text, n);
		else
			gb_buf_printf(out, "%s", shown ? shown : "?");
	}
}
