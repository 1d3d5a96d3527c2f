/* Runs erased text in quickjs-ng: checks its values and the positions of its errors. */
#include <quickjs.h>

#include "../table.h"
#include "../tap.h"
#include "../ts.h"
#include "base/cleanup.h"

/* A module that was erased and evaluated. */
struct evaluation {
	JSRuntime *runtime;
	JSContext *ctx;
	struct gb_ts_output output;
	struct gb_ts_error error;
	JSValue module; /* its namespace, or an exception */
};

static JSValue run_module(JSContext *ctx, const char *text, size_t n) {
	JSValue code = JS_Eval(ctx, text, n, "m", JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
	if (JS_IsException(code))
		return code;
	JSModuleDef *module = JS_VALUE_GET_PTR(code);
	JSValue promise = JS_EvalFunction(ctx, code);
	JSContext *job;
	while (JS_ExecutePendingJob(JS_GetRuntime(ctx), &job) > 0)
		;
	if (JS_IsException(promise))
		return promise;
	if (JS_PromiseState(ctx, promise) == JS_PROMISE_REJECTED) {
		JS_Throw(ctx, JS_PromiseResult(ctx, promise));
		JS_FreeValue(ctx, promise);
		return JS_EXCEPTION;
	}
	JS_FreeValue(ctx, promise);
	return JS_GetModuleNamespace(ctx, module);
}

static bool evaluate(const char *source, struct evaluation *e) {
	gb_ts_output_init(&e->output, 1 << 20);
	e->runtime = JS_NewRuntime();
	e->ctx = JS_NewContext(e->runtime);
	e->module = JS_UNDEFINED;
	if (!gb_ts_erase(source, strlen(source), &e->output, &e->error)) {
		printf("#   %u:%u: %s\n", e->error.line, e->error.column, e->error.message);
		return false;
	}
	e->module = run_module(e->ctx, e->output.text.data, e->output.text.len);
	return true;
}

static void evaluation_finish(struct evaluation *e) {
	JS_FreeValue(e->ctx, e->module);
	JS_FreeContext(e->ctx);
	JS_FreeRuntime(e->runtime);
	gb_ts_output_finish(&e->output);
}

/* The message and stack of the exception; the caller frees it. */
static char *take_stack(JSContext *ctx) {
	JSValue error = JS_GetException(ctx), stack = JS_GetPropertyStr(ctx, error, "stack");
	const char *text = JS_ToCString(ctx, stack), *message = JS_ToCString(ctx, error);
	char *copy = NULL;
	if (text && message && asprintf(&copy, "%s\n%s", message, text) < 0)
		copy = NULL;
	JS_FreeCString(ctx, text);
	JS_FreeCString(ctx, message);
	JS_FreeValue(ctx, stack);
	JS_FreeValue(ctx, error);
	return copy;
}

static void check_value(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in"));
	struct evaluation e;
	if (CHECK(evaluate(in, &e)) && !CHECK(!JS_IsException(e.module))) {
		gb_auto_free char *stack = take_stack(e.ctx);
		printf("#   line %u: %s\n#   %s\n", record->line, stack, e.output.text.data);
	} else {
		JSValue value = JS_GetPropertyStr(e.ctx, e.module, "default"),
			json = JS_JSONStringify(e.ctx, value, JS_UNDEFINED, JS_UNDEFINED);
		const char *text = JS_ToCString(e.ctx, json);
		if (!CHECK_STR(text, record_get(record, "value")))
			printf("#   line %u\n", record->line);
		JS_FreeCString(e.ctx, text);
		JS_FreeValue(e.ctx, json);
		JS_FreeValue(e.ctx, value);
	}
	evaluation_finish(&e);
}

TEST(enums_have_the_values_of_typescript) {
	CHECK(table_each("ts/enums.txt", check_value) > 50);
}

TEST(namespaces_have_the_values_of_typescript) {
	CHECK(table_each("ts/namespaces.txt", check_value) > 60);
}

TEST(other_code_has_the_values_of_typescript) {
	CHECK(table_each("ts/values.txt", check_value) > 40);
}

static void check_position(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in"));
	struct evaluation e;
	if (CHECK(evaluate(in, &e)) && CHECK(JS_IsException(e.module))) {
		gb_auto_free char *stack = take_stack(e.ctx);
		unsigned line = 0, column = 0;
		char at[32];
		const char *place = stack ? strstr(stack, "m:") : NULL;
		while (place && sscanf(place, "m:%u:%u", &line, &column) != 2)
			place = strstr(place + 1, "m:");
		gb_ts_map(&e.output, &line, &column);
		snprintf(at, sizeof at, "%u:%u", line, column);
		if (!CHECK_STR(at, record_get(record, "at")))
			printf("#   line %u: %s\n", record->line, stack);
	}
	evaluation_finish(&e);
}

TEST(error_positions_map_to_the_source) {
	CHECK(table_each("ts/positions.txt", check_position) > 45);
}

/* Every position of the output maps to a position of the source. */
static void check_map(const struct record *record) {
	gb_auto_free char *in = unescape(record_get(record, "in"));
	struct gb_ts_output output;
	struct gb_ts_error error;
	gb_ts_output_init(&output, 1 << 20);
	if (CHECK(gb_ts_erase(in, strlen(in), &output, &error))) {
		unsigned line, column, last = 1;
		size_t n = output.text.len;
		for (size_t i = 0; i < n; i++) {
			gb_ts_locate(output.text.data, n, i, &line, &column);
			unsigned source_line = line;
			gb_ts_map(&output, &source_line, &column);
			CHECK(source_line == line && column >= 1);
			CHECK(line != last || i == 0 || column <= strlen(in) + 1);
			last = line;
		}
	}
	gb_ts_output_finish(&output);
}

TEST(every_position_maps_into_the_source) {
	CHECK(table_each("ts/enums.txt", check_map) > 0);
	CHECK(table_each("ts/namespaces.txt", check_map) > 0);
	CHECK(table_each("ts/positions.txt", check_map) > 0);
}
