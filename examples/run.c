/* A complete embedding of Glovebox: run a line of JavaScript in a sandbox and print its result.
 *	cc run.c $(pkg-config --cflags --libs glovebox) -o run && ./run 'export default 6*7' */
#include <glovebox/glovebox.h>
#include <stdio.h>
#include <stdlib.h>

/* The library finds its workers itself. A program that contains the library, because it is linked statically, names their
 * folder: -DWORKER_DIR="\"$(pkg-config --variable=workerdir glovebox)\"" */
#ifndef WORKER_DIR
#define WORKER_DIR NULL
#endif

int main(int argc, char **argv) {
	struct gb_err err = {0};
	struct gb_engine *engine;
	const struct gb_engine_options engine_options = {.worker_dir = WORKER_DIR};
	if (!gb_engine_create(&engine_options, &engine, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 3;
	}
	struct gb_run *run;
	struct gb_run_options options = {
	    .source = argc > 1 ? argv[1] : "export default 6*7", .timeout_ms = 2000};
	if (!gb_run_start(engine, &options, &run, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	const struct gb_result *result = gb_run_wait(run);
	if (!result) {
		fprintf(stderr, "the engine failed\n");
		return 3;
	}
	char *text = gb_value_inspect(result->value, 4096);
	printf("%s: %s\n", gb_status_name(result->status),
	    result->status == GB_SUCCESS ? text : result->error.message);
	free(text);
	gb_run_destroy(run);
	gb_engine_destroy(engine);
	return 0;
}
