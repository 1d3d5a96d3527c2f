/* Give sandboxed code two host functions: one that answers at once, and one that answers later.
 *	cc bridge.c $(pkg-config --cflags --libs glovebox) -o bridge && ./bridge */
#include <glovebox/glovebox.h>
#include <stdio.h>
#include <stdlib.h>

enum { ADD, FETCH };

static struct gb_call *waiting;

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	const struct gb_value *args = gb_call_args(call);
	if (gb_call_function(call) == ADD) {
		double sum =
		    gb_value_as_number(gb_value_at(args, 0)) + gb_value_as_number(gb_value_at(args, 1));
		gb_call_return(call, gb_value_number(gb_call_values(call), sum));
		return;
	}
	gb_call_promise(call); /* the code continues with a promise */
	waiting = call;
}

int main(void) {
	struct gb_err err = {0};
	struct gb_engine *engine;
	struct gb_run *run;
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *globals = gb_value_object(pool), *imports = gb_value_object(pool);
	struct gb_value *net = gb_value_object(pool);
	gb_value_put_key(globals, "add", gb_value_function(pool, ADD, "add"));
	gb_value_put_key(net, "fetchText", gb_value_function(pool, FETCH, "fetchText"));
	gb_value_put_key(imports, "net", net);
	const struct gb_run_options options = {
	    .source = "import { fetchText } from 'net';\n"
		      "const page = fetchText('/index');\n"
		      "export default [add(1, 2), await page];",
	    .globals = globals,
	    .imports = imports,
	    .on_call = on_call,
	};
	if (!gb_engine_create(NULL, &engine, &err) || !gb_run_start(engine, &options, &run, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 3;
	}
	while (!gb_run_settled(run) && gb_engine_dispatch(engine, waiting ? 0 : -1, &err)) {
		if (!waiting)
			continue;
		gb_call_return(waiting, gb_value_string(gb_call_values(waiting), "hello", 5));
		waiting = NULL;
	}
	char *json = gb_result_to_json(gb_run_result(run), NULL, &err);
	puts(json ? json : err.message);
	free(json);
	gb_run_destroy(run);
	gb_engine_destroy(engine);
	gb_values_destroy(pool);
	return 0;
}
