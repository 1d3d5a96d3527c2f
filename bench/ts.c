/*
 * The cost of erasing types, compared to compiling the same text with quickjs-ng, in the same run.
 *
 *	bench-ts FILE...	TypeScript; the types of each file are erased, and the rest is compiled
 *
 * Prints, for each file and for all, the best of many rounds and the ratio of erasing to compiling.
 */
#include <fcntl.h>
#include <quickjs.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ts/erase.h"

enum { SOURCE_MAX = 64 << 20, ROUNDS_MIN = 5, BENCH_NS = 100000000 };

static uint64_t erase_ns(const struct gb_buf *source, struct gb_ts_output *out, struct gb_ts_error *error) {
	uint64_t start = gb_now_ns();
	bool ok = gb_ts_erase(source->data, source->len, out, error);
	return ok ? gb_now_ns() - start : 0;
}

/* Every import resolves to an empty module: enough to compile. */
static int on_init(JSContext *ctx, JSModuleDef *module) {
	return 0;
}
static JSModuleDef *on_load(JSContext *ctx, const char *name, void *data) {
	return JS_NewCModule(ctx, name, on_init);
}

/* In a context that is kept, as in the worker. 0 if the engine rejects the code. */
static uint64_t compile_ns(JSContext *ctx, const struct gb_ts_output *out) {
	uint64_t start = gb_now_ns();
	JSValue code =
	    JS_Eval(ctx, out->text.data, out->text.len, "m", JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
	uint64_t ns = gb_now_ns() - start;
	if (JS_IsException(code)) {
		JS_FreeValue(ctx, JS_GetException(ctx));
		return 0;
	}
	JS_FreeValue(ctx, code);
	return ns;
}

static bool load(const char *file, struct gb_buf *source) {
	gb_auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && gb_read_to_end(fd, file, source, NULL) && gb_buf_c_str(source);
}

struct totals {
	double bytes, erase, compile;
	unsigned files, skipped;
};

static void measure(const char *file, struct totals *totals) {
	gb_auto_buf struct gb_buf source;
	gb_buf_init(&source, SOURCE_MAX);
	struct gb_ts_output out;
	struct gb_ts_error error;
	gb_ts_output_init(&out, (size_t)SOURCE_MAX * 4);
	uint64_t best_erase = UINT64_MAX, best_compile = UINT64_MAX, begin = gb_now_ns();
	bool ok = load(file, &source);
	for (unsigned round = 0; ok && (round < ROUNDS_MIN || gb_now_ns() - begin < BENCH_NS / 10); round++) {
		JSRuntime *runtime = JS_NewRuntime();
		JSContext *ctx = JS_NewContext(runtime);
		JS_SetModuleLoaderFunc(runtime, NULL, on_load, NULL);
		uint64_t erased = erase_ns(&source, &out, &error),
			 compiled = erased ? compile_ns(ctx, &out) : 0;
		JS_FreeContext(ctx);
		JS_FreeRuntime(runtime);
		ok = compiled != 0;
		best_erase = erased < best_erase ? erased : best_erase;
		best_compile = compiled < best_compile ? compiled : best_compile;
	}
	gb_ts_output_finish(&out);
	if (!ok) {
		totals->skipped++;
		return;
	}
	totals->files++;
	totals->bytes += (double)source.len;
	totals->erase += (double)best_erase;
	totals->compile += (double)best_compile;
	printf("%9zu bytes  erase %9.4f ms  compile %9.4f ms  %5.1f %%  %s\n", source.len,
	    (double)best_erase / 1e6, (double)best_compile / 1e6,
	    100.0 * (double)best_erase / (double)best_compile, file);
}

int main(int argc, char **argv) {
	struct totals totals = {0};
	for (int i = 1; i < argc; i++)
		measure(argv[i], &totals);
	if (!totals.files) {
		fprintf(stderr, "bench-ts: no files that quickjs-ng can compile after erasing\n");
		return 1;
	}
	printf("%u files, %.1f KB: erase %.3f ms (%.1f MB/s), compile %.3f ms (%.1f MB/s): %.1f %% of "
	       "compiling; %u "
	       "skipped\n",
	    totals.files, totals.bytes / 1024, totals.erase / 1e6, totals.bytes / totals.erase * 1e3,
	    totals.compile / 1e6, totals.bytes / totals.compile * 1e3, 100 * totals.erase / totals.compile,
	    totals.skipped);
	return 0;
}
