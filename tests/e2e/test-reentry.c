/*
 * Every function of the public interface that uses an engine is called from every callback. Events are not
 * dispatched there, nothing is used after it was freed (run this under AddressSanitizer), and the engine works
 * afterwards. Not tested: what the headers forbid, and the functions of value.h, which do not use an engine.
 */
#include <glovebox/errors.h>
#include <glovebox/sessions.h>

#include "base/cleanup.h"
#include "e2e/engine.h"
#include "tap.h"
#include "value/codec.h"

static struct gb_engine *engine;

__attribute__((constructor)) static void set_up(void) {
	engine = engine_with((struct gb_engine_options){
	    .shards = 1, .warm = 1, .ready = 1u << GB_JAVASCRIPT | 1u << GB_PYTHON | 1u << GB_SHELL});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

/* --- the objects of one scenario --- */

/* The callback from which the function is called. */
enum place {
	ON_LOG,
	ON_CALL,
	ON_REPORT,
	ON_ANSWER,
	ON_OUTPUT,
	ON_DISPLAY,
	ON_AWAITING,
	ON_SETTLED,
	ON_SETTLED_IN_SESSION,
	ON_SETTLED_BY_TERMINATE,
	ON_SHOWN,
	ON_MANAGER_AWAITING,
	ON_MANAGER_ENDED,
	ON_MANAGER_BYTES,
	ON_MANAGER_END,
	PLACES,
};

static const char *const place_names[PLACES] = {"on_log", "on_call", "on_report", "on_answer", "on_output",
    "on_display", "on_awaiting", "on_settled", "on_settled in a session", "on_settled of gb_run_terminate",
    "gb_shown", "the manager's on_awaiting", "the manager's on_ended", "an attachment's on_bytes",
    "an attachment's on_end"};

struct world {
	enum place place;
	const struct act *act;
	unsigned n_acts;
	struct gb_run *run;         /* the run whose callbacks are tested; NULL once destroyed */
	struct gb_session *session; /* its session, or NULL */
	struct gb_manager *manager; /* or NULL; then the session is "it" */
	struct gb_run *other;       /* waits for kept_call */
	struct gb_call *kept_call;
	struct gb_run *started[4]; /* by acts */
	size_t n_started;
};

static struct world world;

/* --- acts --- */

struct act {
	const char *name;
	void (*act)(void);
	unsigned forbidden; /* places, as bits */
};

static const struct gb_run_options short_run = {.source = "export default 1"};

static void keep_started(struct gb_run *run) {
	if (run && world.n_started < 4)
		world.started[world.n_started++] = run;
	else
		gb_run_destroy(run);
}

static void engine_create(void) {
	struct gb_engine *mine = engine_with((struct gb_engine_options){.shards = 1, .warm = GB_NONE});
	struct gb_run *run = mine ? start(mine, short_run) : NULL;
	/* Events of another engine may be dispatched. */
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	CHECK(result && result->status == GB_SUCCESS);
	gb_run_destroy(run);
	gb_engine_destroy(mine);
}

static void engine_destroy(void) {
	gb_engine_destroy(engine);
}

static void engine_getters(void) {
	const char *layers[4];
	CHECK(gb_engine_layers(engine, GB_JAVASCRIPT, layers, 4) > 4);
	CHECK(*gb_engine_version(engine, GB_PYTHON));
	CHECK(gb_engine_fd(engine) >= 0);
	gb_engine_ask_version(engine, GB_SHELL);
	gb_engine_await_version(engine, GB_SHELL);
}

static void engine_dispatch(void) {
	struct gb_err err = {0};
	CHECK(!gb_engine_dispatch(engine, 0, &err));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK(strstr(err.message, "callback"));
	CHECK(!gb_engine_dispatch(engine, -1, NULL));
}

static void run_start(void) {
	keep_started(start(engine, short_run));
	keep_started(start(engine, (struct gb_run_options){.language = GB_PYTHON, .source = "1"}));
}

static void run_terminate(void) {
	if (world.run)
		gb_run_terminate(world.run, "from a callback");
}

static void run_terminate_other(void) {
	gb_run_terminate(world.other, NULL);
}

static void run_getters(void) {
	struct gb_run *const runs[] = {world.run, world.other};
	for (size_t i = 0; i < GB_COUNT(runs); i++)
		if (runs[i]) {
			CHECK(strlen(gb_run_id(runs[i])) == 32);
			gb_run_data(runs[i]);
			gb_run_begun(runs[i]);
			CHECK(!gb_run_result(runs[i]) == !gb_run_settled(runs[i]));
		}
}

static void run_wait(void) {
	if (world.run)
		CHECK(gb_run_wait(world.run) == gb_run_result(world.run));
	CHECK(gb_run_wait(world.other) == gb_run_result(world.other));
}

static void run_destroy(void) {
	gb_run_destroy(world.run);
	world.run = NULL;
}

static void run_destroy_other(void) {
	gb_run_destroy(world.other);
	world.other = NULL;
}

static void run_interrupt(void) {
	if (world.run)
		gb_run_interrupt(world.run);
	CHECK(!gb_run_interrupt(world.other));
}

static void ignore_answer(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)run, (void)value, (void)thrown, (void)data;
}

static void run_call(void) {
	if (world.run)
		gb_run_call(world.run, 1, NULL, ignore_answer, NULL, NULL);
	gb_run_call(world.other, 1, NULL, ignore_answer, NULL, NULL);
}

static void call_promise(void) {
	if (world.kept_call)
		gb_call_promise(world.kept_call);
}

static void call_return(void) {
	if (!world.kept_call)
		return;
	CHECK(gb_call_run(world.kept_call) == world.other);
	CHECK_INT(gb_call_function(world.kept_call), 1);
	CHECK(gb_call_args(world.kept_call));
	gb_call_return(world.kept_call, gb_value_number(gb_call_values(world.kept_call), 1));
	world.kept_call = NULL;
}

static void call_throw(void) {
	if (world.kept_call)
		gb_call_throw(
		    world.kept_call, gb_value_error(gb_call_values(world.kept_call), "E", "m", NULL));
	world.kept_call = NULL;
}

static void result_to_json(void) {
	const struct gb_result *result = world.run ? gb_run_result(world.run) : NULL;
	gb_auto_free char *json = result ? gb_result_to_json(result, NULL, NULL) : NULL;
	CHECK(!result == !json);
}

static void session_open(void) {
	static const enum gb_language languages[] = {GB_JAVASCRIPT, GB_PYTHON, GB_SHELL};
	for (size_t i = 0; i < GB_COUNT(languages); i++) {
		struct gb_session *session = NULL;
		struct gb_run *run = NULL;
		if (!CHECK(gb_session_open(engine, languages[i], NULL, &session, NULL)))
			continue;
		CHECK(gb_run_start(
		    engine, &(struct gb_run_options){.session = session, .source = "1"}, &run, NULL));
		/* Ends the run, too. */
		gb_session_close(session);
	}
}

static void session_close(void) {
	if (!world.session)
		return;
	bool settled = world.run && gb_run_settled(world.run);
	gb_session_close(world.session);
	world.session = NULL;
	if (!settled)
		world.run = NULL;
}

static void session_getters(void) {
	if (!world.session)
		return;
	gb_session_state(world.session);
	gb_session_reason(world.session);
	gb_session_prompt(world.session);
}

static void session_send(void) {
	if (world.session)
		gb_session_send(world.session, "text\n", 5, NULL);
}

static void ignore_shown(struct gb_session *session, const char *bytes, size_t n, void *data) {
	(void)session, (void)bytes, (void)n, (void)data;
}

static void session_attach(void) {
	if (world.session)
		gb_session_attach(world.session, ignore_shown, NULL, NULL);
}

static void session_detach(void) {
	if (world.session)
		gb_session_detach(world.session);
}

static void session_hold(void) {
	if (!world.session)
		return;
	gb_session_hold(world.session, true);
	gb_session_hold(world.session, false);
}

static void session_resize(void) {
	if (world.session)
		gb_session_resize(world.session, 100, 30, NULL);
}

static void session_run(void) {
	struct gb_run *run = NULL;
	if (world.session)
		gb_run_start(
		    engine, &(struct gb_run_options){.session = world.session, .source = "1"}, &run, NULL);
	keep_started(run);
}

/* --- acts on managers --- */

static void manager_create(void) {
	struct gb_manager *manager = NULL;
	struct gb_session_info info;
	struct gb_run *run = NULL;
	if (!CHECK(gb_manager_create(engine, NULL, &manager, NULL)))
		return;
	CHECK(gb_manager_open(
	    manager, &(struct gb_session_asked){.language = GB_JAVASCRIPT, .name = "a"}, &info, NULL));
	CHECK(gb_manager_execute(manager, "a", &(struct gb_run_options){.source = "1"}, &run, NULL));
	keep_started(run);
	gb_manager_destroy(manager);
}

static void manager_configure(void) {
	if (world.manager)
		gb_manager_configure(world.manager, &(struct gb_manager_options){.max_queue = 3});
}

static void manager_open(void) {
	struct gb_session_info info;
	bool found;
	const struct gb_session_asked asked = {.language = GB_PYTHON, .conversation = "c"};
	if (!world.manager)
		return;
	CHECK(gb_manager_open(world.manager, &asked, &info, NULL));
	CHECK(gb_manager_get_or_create(world.manager, &asked, &info, NULL));
	CHECK(gb_manager_find(world.manager, &asked, &found, &info, NULL) && found);
	CHECK_INT(gb_manager_cleanup(world.manager, "c", NULL), 1);
}

static void manager_execute(void) {
	struct gb_run *run = NULL;
	if (world.manager)
		gb_manager_execute(
		    world.manager, "it", &(struct gb_run_options){.source = "echo again"}, &run, NULL);
	keep_started(run);
}

static void manager_interrupt(void) {
	if (world.manager)
		gb_manager_interrupt(world.manager, "it", NULL);
}

static void manager_send(void) {
	if (world.manager)
		gb_manager_send(world.manager, "it", "text\n", 5, NULL);
}

static void ignore_bytes(struct gb_manager *manager, const char *bytes, size_t n, void *data) {
	(void)manager, (void)bytes, (void)n, (void)data;
}

static void ignore_end(struct gb_manager *manager, const char *reason, bool ended, void *data) {
	(void)manager, (void)reason, (void)ended, (void)data;
}

static void manager_attach(void) {
	const struct gb_attachment attachment = {.on_bytes = ignore_bytes, .on_end = ignore_end};
	if (world.manager)
		gb_manager_attach(world.manager, "it", &attachment, true, NULL);
}

static void manager_detach(void) {
	if (world.manager)
		gb_manager_detach(world.manager, "it", NULL);
}

static void manager_hold(void) {
	if (!world.manager)
		return;
	gb_manager_hold(world.manager, "it", true, NULL);
	gb_manager_hold(world.manager, "it", false, NULL);
}

static void manager_resize(void) {
	if (world.manager)
		gb_manager_resize(world.manager, "it", 90, 20, NULL);
}

static void manager_getters(void) {
	struct gb_session_info info;
	if (!world.manager)
		return;
	CHECK(gb_manager_get(world.manager, "it", &info, NULL));
	CHECK(gb_manager_at(world.manager, NULL, 0, &info));
	gb_manager_count(world.manager);
	gb_manager_trust(world.manager, "it", true, NULL);
	gb_manager_add_tokens(world.manager, "it", 5, NULL);
}

static void manager_kill(void) {
	if (world.manager)
		CHECK(gb_manager_kill(world.manager, "it", "from a callback", NULL));
}

#define BIT(place) (1u << (place))
/* Forbidden by the headers: the manager's on_ended must not call the manager; on_bytes of an attachment and gb_shown
 * must not end the session. */
enum { NO_MANAGER = BIT(ON_MANAGER_ENDED), KEEPS_SESSION = BIT(ON_MANAGER_BYTES) | BIT(ON_SHOWN) };

static const struct act acts[] = {
    {"gb_engine_create", engine_create, 0},
    {"gb_engine_destroy", engine_destroy, 0},
    {"gb_engine_layers, version, ask_version, await_version, fd", engine_getters, 0},
    {"gb_engine_dispatch", engine_dispatch, 0},
    {"gb_run_start", run_start, 0},
    /* Ends the session. */
    {"gb_run_terminate", run_terminate, KEEPS_SESSION},
    {"gb_run_terminate of another run", run_terminate_other, 0},
    {"gb_run_id, data, begun, settled, result", run_getters, 0},
    {"gb_run_wait", run_wait, 0},
    {"gb_run_destroy", run_destroy, KEEPS_SESSION},
    {"gb_run_destroy of another run", run_destroy_other, 0},
    {"gb_run_interrupt", run_interrupt, 0},
    {"gb_run_call", run_call, 0},
    {"gb_call_promise", call_promise, 0},
    {"gb_call_return", call_return, 0},
    {"gb_call_throw", call_throw, 0},
    {"gb_result_to_json", result_to_json, 0},
    {"gb_session_open", session_open, 0},
    {"gb_session_close", session_close, KEEPS_SESSION},
    {"gb_session_state, reason, prompt", session_getters, 0},
    {"gb_session_send", session_send, 0},
    {"gb_session_attach", session_attach, 0},
    {"gb_session_detach", session_detach, 0},
    {"gb_session_hold", session_hold, 0},
    {"gb_session_resize", session_resize, 0},
    {"gb_run_start in the session", session_run, 0},
    {"gb_manager_create, destroy", manager_create, 0},
    {"gb_manager_configure", manager_configure, NO_MANAGER},
    {"gb_manager_open, get_or_create, find, cleanup", manager_open, NO_MANAGER | BIT(ON_MANAGER_BYTES)},
    {"gb_manager_execute", manager_execute, NO_MANAGER},
    {"gb_manager_interrupt", manager_interrupt, NO_MANAGER},
    {"gb_manager_send", manager_send, NO_MANAGER},
    {"gb_manager_attach", manager_attach, NO_MANAGER},
    {"gb_manager_detach", manager_detach, NO_MANAGER},
    {"gb_manager_hold", manager_hold, NO_MANAGER},
    {"gb_manager_resize", manager_resize, NO_MANAGER},
    {"gb_manager_get, at, count, trust, add_tokens", manager_getters, NO_MANAGER},
    {"gb_manager_kill", manager_kill, NO_MANAGER | BIT(ON_MANAGER_BYTES)},
};

/* --- callbacks --- */

/* Call the function once, if @place is the callback that is tested. */
static void act_in(enum place place) {
	if (place != world.place || world.n_acts)
		return;
	world.n_acts++;
	world.act->act();
}

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)data;
	act_in(ON_LOG);
	CHECK(gb_value_type(log->args) == GB_ARRAY);
}

static void on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)data;
	CHECK((stream == 1 || stream == 2) && bytes && n);
	act_in(ON_OUTPUT);
}

static void on_display(struct gb_run *run, const struct gb_value *display, void *data) {
	(void)run, (void)data;
	act_in(ON_DISPLAY);
	/* Lives as long as the run. */
	if (world.run)
		CHECK(gb_value_type(display) == GB_OBJECT);
}

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	(void)run, (void)data;
	act_in(ON_CALL);
	gb_call_return(call, NULL);
}

static void on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data) {
	(void)run, (void)value, (void)data;
	act_in(ON_REPORT);
	gb_call_return(call, NULL);
}

static void on_answer(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)run, (void)value, (void)thrown, (void)data;
	act_in(ON_ANSWER);
}

static void call_argument(struct gb_run *run, struct gb_call *call, void *data) {
	(void)data;
	enum gb_side side;
	uint32_t id;
	CHECK(gb_value_as_callable(gb_value_at(gb_call_args(call), 0), &side, &id));
	CHECK(gb_run_call(run, id, NULL, on_answer, NULL, NULL));
	gb_call_return(call, NULL);
}

static void on_awaiting(struct gb_run *run, const char *prompt, void *data) {
	(void)run, (void)data;
	if (prompt)
		act_in(ON_AWAITING);
	/* The function may have ended the run, or sent its input. */
	if (prompt && world.session && gb_session_state(world.session) == GB_SESSION_AWAITING_INPUT)
		gb_session_send(world.session, "typed\n", 6, NULL);
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result, (void)data;
	act_in(ON_SETTLED);
}

static void on_settled_in_session(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result, (void)data;
	act_in(ON_SETTLED_IN_SESSION);
}

static void on_settled_by_terminate(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)result, (void)data;
	act_in(ON_SETTLED_BY_TERMINATE);
}

static void on_shown(struct gb_session *session, const char *bytes, size_t n, void *data) {
	(void)session, (void)bytes, (void)n, (void)data;
	act_in(ON_SHOWN);
}

static void on_manager_awaiting(
    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data) {
	(void)info, (void)run, (void)data;
	act_in(ON_MANAGER_AWAITING);
	gb_manager_send(manager, "it", "typed\n", 6, NULL);
}

static void on_manager_ended(struct gb_manager *manager, const struct gb_session_info *info, void *data) {
	(void)manager, (void)data;
	CHECK(*info->reason);
	act_in(ON_MANAGER_ENDED);
}

static void on_manager_bytes(struct gb_manager *manager, const char *bytes, size_t n, void *data) {
	(void)manager, (void)bytes, (void)n, (void)data;
	act_in(ON_MANAGER_BYTES);
}

static void on_manager_end(struct gb_manager *manager, const char *reason, bool ended, void *data) {
	(void)manager, (void)reason, (void)ended, (void)data;
	act_in(ON_MANAGER_END);
}

/* --- scenarios --- */

static const struct gb_value *function_f(struct gb_values *values) {
	struct gb_value *globals = gb_value_object(values);
	gb_value_put_key(globals, "f", gb_value_function(values, 1, "f"));
	return globals;
}

static void keep_call(struct gb_run *run, struct gb_call *call, void *data) {
	(void)run, (void)data;
	world.kept_call = call;
}

static void start_other(struct gb_values *values) {
	world.other = start(engine,
	    (struct gb_run_options){.source = "f()", .globals = function_f(values), .on_call = keep_call});
	while (world.other && !world.kept_call && gb_engine_dispatch(engine, -1, NULL))
		;
}

static struct gb_run_options run_of(enum place place, struct gb_values *values) {
	struct gb_run_options options = {.source = "console.log(1); f(); report(2); console.log(3)",
	    .globals = function_f(values),
	    .report = true,
	    .on_log = on_log,
	    .on_call = on_call,
	    .on_report = on_report,
	    .on_settled = on_settled};
	if (place == ON_ANSWER) {
		options.source = "await new Promise(done => f(done))";
		options.on_call = call_argument;
	} else if (place == ON_SETTLED_BY_TERMINATE) {
		options.source = "for (;;);";
		options.on_settled = on_settled_by_terminate;
	} else if (place == ON_OUTPUT || place == ON_DISPLAY) {
		options = (struct gb_run_options){.language = GB_PYTHON,
		    .source = "print(1, flush=True); display({'text/plain': 'x'}, raw=True); print(2)",
		    .on_output = on_output,
		    .on_display = on_display};
	}
	return options;
}

static void run_alone(enum place place, struct gb_values *values) {
	world.run = start(engine, run_of(place, values));
	if (place == ON_SETTLED_BY_TERMINATE && world.run)
		gb_run_terminate(world.run, "from outside");
}

static void run_in_session(enum place place) {
	const bool js = place == ON_SETTLED_IN_SESSION;
	CHECK(gb_session_open(engine, js ? GB_JAVASCRIPT : GB_SHELL, NULL, &world.session, NULL));
	if (place == ON_SHOWN)
		CHECK(gb_session_attach(world.session, on_shown, NULL, NULL));
	world.run = start(engine, (struct gb_run_options){.session = world.session,
				      .source = js ? "1" : "read -p 'name? ' x; echo $x",
				      .on_awaiting = on_awaiting,
				      .on_settled = on_settled_in_session});
}

static void run_managed(enum place place) {
	const struct gb_manager_options options = {
	    .on_awaiting = on_manager_awaiting, .on_ended = on_manager_ended};
	const struct gb_attachment attachment = {.on_bytes = on_manager_bytes, .on_end = on_manager_end};
	struct gb_session_info info;
	CHECK(gb_manager_create(engine, &options, &world.manager, NULL));
	CHECK(gb_manager_open(
	    world.manager, &(struct gb_session_asked){.language = GB_SHELL, .name = "it"}, &info, NULL));
	if (place == ON_MANAGER_BYTES || place == ON_MANAGER_END)
		CHECK(gb_manager_attach(world.manager, "it", &attachment, false, NULL));
	const bool ends = place == ON_MANAGER_ENDED || place == ON_MANAGER_END;
	const struct gb_run_options run = {.source = ends ? "exit" : "read -p 'name? ' x; echo $x"};
	CHECK(gb_manager_execute(world.manager, "it", &run, &world.run, NULL));
}

static bool is_over(void) {
	return world.n_acts && (!world.run || gb_run_settled(world.run));
}

static void check_engine(void) {
	struct gb_run *run = start(engine, short_run);
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	CHECK(result && result->status == GB_SUCCESS);
	gb_run_destroy(run);
}

static void clean_up(void) {
	for (size_t i = 0; i < world.n_started; i++)
		gb_run_destroy(world.started[i]);
	gb_run_destroy(world.run);
	gb_session_close(world.session);
	gb_manager_destroy(world.manager);
	gb_run_destroy(world.other);
	if (world.kept_call)
		gb_call_return(world.kept_call, NULL);
	gb_engine_dispatch(engine, 0, NULL);
}

static void check_act(enum place place, const struct act *act) {
	gb_auto_values struct gb_values *values = gb_values_create(0);
	world = (struct world){.place = place, .act = act};
	start_other(values);
	if (place >= ON_MANAGER_AWAITING)
		run_managed(place);
	else if (place == ON_SHOWN || place == ON_AWAITING || place == ON_SETTLED_IN_SESSION)
		run_in_session(place);
	else
		run_alone(place, values);
	/* After some functions the program still waits for input: end it. */
	for (int i = 0; i < 3000 && !is_over(); i++) {
		gb_engine_dispatch(engine, 10, NULL);
		if (world.n_acts && world.run && i > 20)
			gb_run_terminate(world.run, "it waits");
	}
	if (!CHECK_INT(world.n_acts, 1))
		printf("#   in %s: %s\n", place_names[place], act->name);
	clean_up();
	check_engine();
}

static void check_place(enum place place) {
	for (size_t i = 0; i < GB_COUNT(acts); i++)
		if (!(acts[i].forbidden & BIT(place)))
			check_act(place, &acts[i]);
}

TEST(functions_may_be_called_from_callbacks_of_a_run) {
	for (enum place place = ON_LOG; place <= ON_ANSWER; place++)
		check_place(place);
	check_place(ON_SETTLED);
	check_place(ON_SETTLED_BY_TERMINATE);
}

TEST(functions_may_be_called_from_output_callbacks) {
	check_place(ON_OUTPUT);
	check_place(ON_DISPLAY);
}

TEST(functions_may_be_called_from_callbacks_in_a_session) {
	check_place(ON_AWAITING);
	check_place(ON_SETTLED_IN_SESSION);
	check_place(ON_SHOWN);
}

TEST(functions_may_be_called_from_callbacks_of_a_manager) {
	for (enum place place = ON_MANAGER_AWAITING; place < PLACES; place++)
		check_place(place);
}
