/* Erased code keeps its lines, every position maps back into the source, and an error has a position. */
#include "fuzz.h"

#include <string.h>

#include "ts/erase.h"

static unsigned count_lines(const char *text, size_t n) {
	unsigned line, column;
	gb_ts_locate(text, n, n, &line, &column);
	return line;
}

static void check_map(const char *source, size_t n, const struct gb_ts_output *out) {
	unsigned line, column, last_line, last_column;
	gb_ts_locate(source, n, n, &last_line, &last_column);
	for (size_t at = 0; at < out->text.len; at += 1 + out->text.len / 64) {
		gb_ts_locate(out->text.data, out->text.len, at, &line, &column);
		unsigned source_line = line;
		gb_ts_map(out, &source_line, &column);
		ALWAYS(source_line == line && line <= last_line);
		ALWAYS(column >= 1 && column <= n + 1);
	}
}

static void check_imports(size_t n, const struct gb_ts_output *out) {
	for (size_t i = 0; i < out->n_imports; i++) {
		const struct gb_ts_import *import = &out->imports[i];
		ALWAYS(import->length >= 2 && import->specifier + import->length <= n);
		ALWAYS(import->first_name + import->n_names <= out->n_names);
	}
	for (size_t i = 0; i < out->n_names; i++)
		ALWAYS(out->names[i].length > 0 && out->names[i].start + out->names[i].length <= n);
}

/* Code of a session: the same, and the declared names are parts of it. */
static void check_session(const char *source, size_t size, bool typescript, struct gb_ts_output *out) {
	struct gb_ts_error error = {0};
	if (!gb_ts_erase_session(source, size, typescript, out, &error)) {
		ALWAYS(error.line >= 1 && error.column >= 1 && *error.message);
		return;
	}
	ALWAYS(out->text.data[out->text.len] == '\0' && out->text.len >= size);
	ALWAYS(count_lines(out->text.data, out->text.len) == count_lines(source, size));
	check_map(source, size, out);
	for (size_t i = 0; i < out->n_declared; i++)
		ALWAYS(
		    out->declared[i].length > 0 && out->declared[i].start + out->declared[i].length <= size);
}

/* Code whose last expression is its value: the same, and a value makes it longer. */
static void check_program(const char *source, size_t size, bool typescript, struct gb_ts_output *out) {
	struct gb_ts_error error = {0};
	if (!gb_ts_erase_program(source, size, typescript, out, &error)) {
		ALWAYS(error.line >= 1 && error.column >= 1 && *error.message && !out->has_value);
		return;
	}
	ALWAYS(out->text.data[out->text.len] == '\0' && out->text.len >= size + out->has_value);
	ALWAYS(count_lines(out->text.data, out->text.len) == count_lines(source, size));
	check_map(source, size, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_ts_output out;
	struct gb_ts_error error = {0};
	char *source = malloc(size + 1);
	if (!source)
		return 0;
	memcpy(source, data, size);
	source[size] = '\0';
	gb_ts_output_init(&out, 64 << 20);
	if (gb_ts_erase(source, size, &out, &error)) {
		ALWAYS(out.text.data[out.text.len] == '\0' && out.text.len >= size);
		ALWAYS(count_lines(out.text.data, out.text.len) == count_lines(source, size));
		check_map(source, size, &out);
		check_imports(size, &out);
	} else {
		ALWAYS(error.line >= 1 && error.column >= 1 && *error.message);
		ALWAYS(error.line <= count_lines(source, size));
	}
	check_session(source, size, true, &out);
	check_session(source, size, false, &out);
	check_program(source, size, true, &out);
	check_program(source, size, false, &out);
	gb_ts_find_imports(source, size, &out);
	check_imports(size, &out);
	gb_ts_output_finish(&out);
	free(source);
	return 0;
}
