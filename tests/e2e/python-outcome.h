/* The outcome of a Python job, from a bare worker or through the engine, for comparison with the
 * tables. */
#ifndef GB_TESTS_PYTHON_OUTCOME_H
#define GB_TESTS_PYTHON_OUTCOME_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "glovebox/value.h"
#include "runtime/wire.h"

struct outcome {
	struct gb_buf out, err;
	struct gb_buf both;     /* in order: "1:" or "2:" before each change of stream */
	struct gb_buf displays; /* JSON, one per line; bytes only as their length */
	struct gb_buf reports;  /* JSON, one per line */
	struct gb_buf logs;     /* level and arguments as JSON, one per line */
	int last_stream;
	int exit_code; /* -1: none */
	unsigned n_output_frames;
	enum gb_wire_status status;
	uint64_t peak;
	bool truncated, ended;
	char *error[GB_WIRE_ERROR_TEXTS]; /* name, message, stack, code, specifier, filename */
	unsigned line, column;
	struct gb_values *pool;
	struct gb_value *value;
};

static inline void outcome_init(struct outcome *outcome) {
	*outcome = (struct outcome){.exit_code = -1, .pool = gb_values_create(0)};
	struct gb_buf *const bufs[] = {&outcome->out, &outcome->err, &outcome->both, &outcome->displays,
	    &outcome->reports, &outcome->logs};
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		gb_buf_init(bufs[i], SIZE_MAX);
}

static inline void outcome_finish(struct outcome *outcome) {
	gb_buf_finish(&outcome->out);
	gb_buf_finish(&outcome->err);
	gb_buf_finish(&outcome->both);
	gb_buf_finish(&outcome->displays);
	gb_buf_finish(&outcome->reports);
	gb_buf_finish(&outcome->logs);
	for (unsigned i = 0; i < GB_WIRE_ERROR_TEXTS; i++)
		free(outcome->error[i]);
	gb_values_destroy(outcome->pool);
}

/* Record output. */
static inline void outcome_hear(struct outcome *outcome, int stream, const char *bytes, size_t n) {
	gb_buf_append(stream == 1 ? &outcome->out : &outcome->err, bytes, n);
	if (stream != outcome->last_stream)
		gb_buf_printf(&outcome->both, "%d:", stream);
	outcome->last_stream = stream;
	gb_buf_append(&outcome->both, bytes, n);
}

/* Record a display. */
static inline void outcome_show(struct outcome *outcome, const struct gb_value *forms) {
	for (size_t i = 0; i < gb_value_count(forms); i++) {
		const struct gb_value *form = gb_value_at(forms, i);
		size_t n = 0;
		const char *bytes = gb_value_bytes(form, &n);
		gb_buf_printf(&outcome->displays, "%s%s=", i ? " " : "",
		    gb_value_bytes(gb_value_key_at(forms, i), NULL));
		if (gb_value_type(form) == GB_STRING)
			gb_buf_printf(&outcome->displays, "%.*s", (int)n, bytes);
		else
			gb_buf_printf(&outcome->displays, "<%.3s>", n > 3 ? bytes + 1 : "");
	}
	gb_buf_printf(&outcome->displays, "\n");
}

#endif
