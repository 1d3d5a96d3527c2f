#include <time.h>

#include "../hex.h"
#include "../table.h"
#include "../tap.h"
#include "../ts.h"
#include "base/cleanup.h"

/* Erase an exact copy of @source, so that a sanitizer detects a read beyond its end. */
static bool erase(const char *source, struct gb_ts_output *out, struct gb_ts_error *error) {
	size_t n = strlen(source);
	char *copy = exact_copy(source, n + 1);
	bool ok = gb_ts_erase(copy, n, out, error);
	free(copy);
	return ok;
}

static void check_out(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in")),
			  *out = unescape(record_get(record, "out"));
	struct gb_ts_output output;
	struct gb_ts_error error;
	gb_ts_output_init(&output, 1 << 20);
	bool ok = erase(in, &output, &error);
	if (!CHECK(ok))
		printf("#   line %u: %u:%u: %s\n", record->line, error.line, error.column, error.message);
	else if (!CHECK_STR(output.text.data, out))
		printf("#   line %u\n", record->line);
	gb_ts_output_finish(&output);
}

TEST(types_are_erased) {
	CHECK(table_each("ts/types.txt", check_out) > 110);
}

TEST(expressions_keep_their_meaning) {
	CHECK(table_each("ts/expressions.txt", check_out) > 200);
}

TEST(typescript_syntax_of_classes_is_erased) {
	CHECK(table_each("ts/classes.txt", check_out) > 70);
}

TEST(imports_and_exports_of_types_are_erased) {
	CHECK(table_each("ts/modules.txt", check_out) > 140);
}

TEST(the_last_expression_of_a_program_is_its_value) {
	static const struct {
		const char *source, *typescript,
		    *javascript; /* expected output; NULL: as the source, has_value is false */
	} cases[] = {
	    {"6*7", "export default(0,6*7)", "export default(0,6*7)"},
	    {"let a = 1\na, b; ;\n", "let a = 1\nexport default(0,a, b); ;\n",
		"let a = 1\nexport default(0,a, b); ;\n"},
	    {"f();{}g()", "f();{}export default(0,g())", "f();{}export default(0,g())"},
	    {"a: 1", NULL, NULL},
	    {"{ 1 }", NULL, NULL},
	    {"if (a) b", NULL, NULL},
	    {"6*7; let x", NULL, NULL},
	    {"export let x; 1", NULL, NULL},
	    {"() => { 1 }", "export default(0,() => { 1 })", "export default(0,() => { 1 })"},
	    {"x as T", "export default(0,x     )", "export default(0,x as T)"},
	    {"6*7 }", NULL, NULL}, /* a syntax error, which the engine reports */
	    {"", NULL, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int typescript = 0; typescript < 2; typescript++) {
			const char *expected = typescript ? cases[i].typescript : cases[i].javascript;
			struct gb_ts_output output;
			struct gb_ts_error error;
			gb_ts_output_init(&output, 1 << 20);
			size_t n = strlen(cases[i].source);
			char *copy = exact_copy(cases[i].source, n + 1);
			bool ok = gb_ts_erase_program(copy, n, typescript, &output, &error);
			CHECK(output.has_value == (expected != NULL));
			if (ok || !typescript)
				CHECK_STR(output.text.data, expected ? expected : cases[i].source);
			gb_ts_output_finish(&output);
			free(copy);
		}
}

TEST(erased_text_does_not_join_statements) {
	CHECK(table_each("ts/semicolons.txt", check_out) > 60);
}

static void check_error(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in"));
	struct gb_ts_output output;
	struct gb_ts_error error = {0};
	char message[GB_TS_MESSAGE_MAX + 30];
	gb_ts_output_init(&output, 1 << 20);
	CHECK(!erase(in, &output, &error));
	snprintf(message, sizeof message, "%u:%u: %s", error.line, error.column, error.message);
	if (!CHECK_STR(message, record_get(record, "err")))
		printf("#   line %u\n", record->line);
	CHECK(output.text.len == 0 && !output.imports);
	gb_ts_output_finish(&output);
}

TEST(errors_report_what_was_expected_and_where) {
	CHECK(table_each("ts/errors.txt", check_error) > 160);
}

/* Truncated text is rejected or accepted, but never read beyond its end. */
static void check_truncated(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in"));
	struct gb_ts_output output;
	struct gb_ts_error error;
	gb_ts_output_init(&output, 1 << 20);
	for (size_t n = strlen(in); n-- > 0;) {
		in[n] = '\0';
		if (!erase(in, &output, &error))
			CHECK(error.line >= 1 && error.column >= 1 && *error.message);
		gb_ts_find_imports(in, n, &output);
	}
	gb_ts_output_finish(&output);
}

TEST(truncated_text_is_handled_at_every_length) {
	CHECK(table_each("ts/types.txt", check_truncated) > 0);
	CHECK(table_each("ts/expressions.txt", check_truncated) > 0);
	CHECK(table_each("ts/classes.txt", check_truncated) > 0);
	CHECK(table_each("ts/modules.txt", check_truncated) > 0);
	CHECK(table_each("ts/enums.txt", check_truncated) > 0);
	CHECK(table_each("ts/namespaces.txt", check_truncated) > 0);
}

/* --- imports --- */

/* Append a description of all imports found, such as "import "x" 1:1 a 1:8; ...": kind, specifier and its place, then
 * each name and its place. */
static void describe(const char *source, const struct gb_ts_output *out, struct gb_buf *to) {
	static const char *const kinds[] = {"import", "export", "dynamic"};
	size_t n = strlen(source);
	unsigned line, column;
	for (size_t i = 0; i < out->n_imports; i++) {
		const struct gb_ts_import *import = &out->imports[i];
		gb_ts_locate(source, n, import->specifier, &line, &column);
		gb_buf_printf(to, "%s%s %.*s %u:%u", i ? "; " : "", kinds[import->kind], (int)import->length,
		    source + import->specifier, line, column);
		for (size_t j = 0; j < import->n_names; j++) {
			const struct gb_ts_name *name = &out->names[import->first_name + j];
			gb_ts_locate(source, n, name->start, &line, &column);
			gb_buf_printf(to, " %s%.*s %u:%u", name->is_default ? "default as " : "",
			    (int)name->length, source + name->start, line, column);
		}
	}
}

static void check_imports(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in"));
	gb_auto_buf struct gb_buf found;
	struct gb_ts_output output;
	struct gb_ts_error error;
	gb_buf_init(&found, 1 << 16);
	gb_ts_output_init(&output, 1 << 20);
	if (record_get(record, "js"))
		gb_ts_find_imports(in, strlen(in), &output);
	else
		CHECK(gb_ts_erase(in, strlen(in), &output, &error));
	describe(in, &output, &found);
	const char *expected = record_get(record, record_get(record, "js") ? "js" : "imports");
	/* A single backslash stands for an empty text, because each line of the table must have a value. */
	if (!CHECK_STR(gb_buf_c_str(&found), strcmp(expected, "\\") == 0 ? "" : expected))
		printf("#   line %u\n", record->line);
	gb_ts_output_finish(&output);
}

TEST(imports_of_a_module_are_listed) {
	CHECK(table_each("ts/imports.txt", check_imports) > 15);
}

/* --- hostile text --- */

/* CPU time of this thread, independent of other load. */
static double cpu_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double erase_ms(const char *source, size_t n, bool *ret_ok, struct gb_ts_error *error) {
	struct gb_ts_output output;
	gb_ts_output_init(&output, 1 << 28);
	double start = cpu_ms();
	*ret_ok = gb_ts_erase(source, n, &output, error);
	double ms = cpu_ms() - start;
	gb_ts_output_finish(&output);
	return ms;
}

static void repeat(struct gb_buf *to, const char *text, unsigned times) {
	for (unsigned i = 0; i < times; i++)
		gb_buf_append(to, text, strlen(text));
}

/* For each size n, erase the text: before, n times open, middle, n times close (fields of the record). */
static void check_hostile(const struct record *record) {
	static const unsigned sizes[] = {10, 30, 100, 1000, 10000, 100000};
	const char *open = record_get(record, "open"), *close = record_get(record, "close");
	for (size_t i = 0; i < GB_COUNT(sizes); i++) {
		gb_auto_buf struct gb_buf source;
		struct gb_ts_error error = {0};
		bool ok;
		gb_buf_init(&source, 8 << 20);
		repeat(&source, record_get(record, "before"), 1);
		repeat(&source, open, sizes[i]);
		repeat(&source, record_get(record, "middle"), 1);
		if (close)
			repeat(&source, close, sizes[i]);
		if (!CHECK(gb_buf_c_str(&source)))
			return;
		double ms = erase_ms(source.data, source.len, &ok, &error);
		/* Generous, for sanitizers and slow machines; exponential time would still exceed it. */
		if (!CHECK(ms < 3000) || !CHECK(ok || *error.message))
			printf("#   line %u, %u times: %.1f ms\n", record->line, sizes[i], ms);
	}
}

TEST(hostile_nesting_and_ambiguity_are_bounded) {
	CHECK(table_each("ts/hostile.txt", check_hostile) > 40);
}

TEST(time_is_linear) {
	static const char unit[] =
	    "export function f<T>(a: T, b?: { c: string }[]): T | null { return a as T; }\n";
	double per_byte[2];
	for (unsigned i = 0; i < 2; i++) {
		gb_auto_buf struct gb_buf source;
		struct gb_ts_error error;
		bool ok;
		gb_buf_init(&source, 16 << 20);
		repeat(&source, unit, i ? 130000 : 1300);
		CHECK(gb_buf_c_str(&source));
		double best = 1e9;
		for (unsigned repetition = 0; repetition < 5; repetition++) {
			double ms = erase_ms(source.data, source.len, &ok, &error);
			best = ms < best ? ms : best;
		}
		CHECK(ok);
		per_byte[i] = best / (double)source.len;
	}
	/* The factor of 8 allows for cache misses: ten megabytes do not fit into the caches. */
	CHECK(per_byte[1] < per_byte[0] * 8);
}

TEST(output_has_a_maximum) {
	struct gb_ts_output output;
	struct gb_ts_error error = {0};
	gb_ts_output_init(&output, 10);
	CHECK(!gb_ts_erase("let a: number = 1", 17, &output, &error));
	CHECK_STR(error.message, "the generated JavaScript is too long");
	gb_ts_output_finish(&output);
}

TEST(an_output_can_be_reused) {
	struct gb_ts_output output;
	struct gb_ts_error error;
	gb_ts_output_init(&output, 1000);
	CHECK(erase("enum E { A }", &output, &error));
	CHECK(erase("let a: 1", &output, &error));
	CHECK_STR(output.text.data, "let a   ");
	CHECK(!erase("let a:", &output, &error));
	CHECK(erase("", &output, &error));
	CHECK_STR(output.text.data, "");
	gb_ts_output_finish(&output);
}
