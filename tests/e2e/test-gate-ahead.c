/* Events of a run are delivered after a record of the run is on the disk. */
#include "e2e/gate.h"
#include "gate/agent_run.h"

struct listener {
	struct site *site;
	struct gb_agent_run *run;
	unsigned n_events, n_unrecorded, n_done, n_out_of_order;
	bool ends_it; /* at the first event */
	unsigned next;
	enum gb_status status;
	char message[200];
};

/* Reads the log from the disk, like another process. */
static void on_event(struct listener *listener) {
	struct seen seen = records(listener->site);
	listener->n_events++;
	listener->n_unrecorded += seen.n + seen.n_begun == 0;
	listener->n_out_of_order += listener->n_done != 0;
	if (listener->ends_it && listener->n_events == 1)
		gb_agent_run_terminate(listener->run, "seen enough");
}

static void on_log(struct gb_agent_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)log;
	on_event(data);
}

static void on_output(struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)stream, (void)bytes, (void)n;
	on_event(data);
}

static void on_display(struct gb_agent_run *run, const struct gb_value *display, void *data) {
	(void)run, (void)display;
	on_event(data);
}

static void on_prompt(struct gb_agent_run *run, const char *prompt, void *data) {
	(void)run;
	if (prompt)
		on_event(data);
}

static void on_done(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	(void)run;
	struct listener *listener = data;
	listener->n_done++;
	listener->status = result->status;
	snprintf(listener->message, sizeof listener->message, "%s", result->error.message);
}

static bool submit_to(
    struct listener *listener, enum gb_language language, const char *source, bool session) {
	struct gb_err err = {0};
	struct gb_gate_request request = {
	    .face = GB_FACE_EXECUTE_CODE,
	    .conversation = "c",
	    .persistent = session,
	    .waits_for_input = session,
	    .run = {.source = source, .language = language},
	    .on_log = on_log,
	    .on_output = on_output,
	    .on_display = on_display,
	    .on_prompt = on_prompt,
	    .on_done = on_done,
	    .data = listener,
	};
	bool ok = CHECK(gb_gate_submit(listener->site->gate, &request, &listener->run, &err));
	site_settle(listener->site);
	return ok;
}

static void finish(struct listener *listener) {
	struct gb_err err = {0};
	while (!listener->n_done && CHECK(gb_gate_turn(listener->site->gate, 20000, &err)))
		;
	gb_agent_run_destroy(listener->run);
}

static void check_recorded_first(enum gb_language language, const char *source, bool session) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct listener listener = {.site = &site, .ends_it = true};
	if (!submit_to(&listener, language, source, session))
		return;
	finish(&listener);
	CHECK(listener.n_events > 0);
	CHECK_INT(listener.n_unrecorded, 0);
	CHECK_INT(listener.n_out_of_order, 0);
	struct seen seen = records(&site);
	CHECK_INT(seen.n, 1);
	CHECK_INT(seen.n_begun, 1);
	CHECK(seen.was_begun);
}

TEST(log_is_delivered_after_the_begin_record) {
	check_recorded_first(GB_JAVASCRIPT, "console.log(1); for (;;);", false);
}

TEST(output_is_delivered_after_the_begin_record) {
	check_recorded_first(GB_PYTHON, "print(1, flush=True)\nwhile True: pass", false);
	check_recorded_first(GB_SHELL, "echo 1; while :; do :; done", false);
	check_recorded_first(GB_SHELL, "echo 1; while :; do :; done", true);
}

TEST(display_is_delivered_after_the_begin_record) {
	check_recorded_first(GB_PYTHON, "display(1)\nwhile True: pass", false);
}

TEST(prompt_is_delivered_after_the_begin_record) {
	check_recorded_first(GB_SHELL, "read -p '? ' x", true);
}

/* Dispatch the engine until the run has settled, without gb_gate_work. */
static void settle(struct listener *listener) {
	struct gb_err err = {0};
	while (listener->run->state == GB_AGENT_RUN_RUNNING && CHECK(gb_engine_dispatch(engine, 1000, &err)))
		;
}

TEST(run_that_ends_before_any_delivery_has_one_record) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct listener listener = {.site = &site};
	submit_to(&listener, GB_JAVASCRIPT, "console.log(1); console.log(2); export default 3", false);
	settle(&listener);
	CHECK_INT(listener.n_events, 0);
	finish(&listener);
	CHECK_INT(listener.n_events, 2);
	CHECK_INT(listener.n_unrecorded, 0);
	CHECK_INT(listener.n_out_of_order, 0);
	struct seen seen = records(&site);
	CHECK_INT(seen.n, 1);
	CHECK_INT(seen.n_begun, 0);
	CHECK(!seen.was_begun);
}

/* --- more than is held back --- */

enum { MANY = 5000 };

static void on_counted_log(struct gb_agent_run *run, const struct gb_log *log, void *data) {
	(void)run;
	struct listener *listener = data;
	listener->n_out_of_order += gb_value_as_number(gb_value_at(log->args, 0)) != listener->next++;
	if (listener->next == 1)
		on_event(listener);
}

TEST(events_beyond_the_cap_are_delivered_in_order_after_the_record) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct listener listener = {.site = &site};
	struct gb_err err = {0};
	struct gb_gate_request request = {
	    .face = GB_FACE_EXECUTE_CODE,
	    .run = {.source = "for (let i = 0; i < 5000; i++) console.log(i)", .language = GB_JAVASCRIPT},
	    .on_log = on_counted_log,
	    .on_done = on_done,
	    .data = &listener,
	};
	CHECK(gb_gate_submit(site.gate, &request, &listener.run, &err));
	site_settle(&site);
	settle(&listener);
	/* gb_gate_work did not run: the record was queued because the cap was reached, and nothing was
	 * delivered before it is on the disk. */
	CHECK_INT(listener.run->ahead, GB_AHEAD_QUEUED);
	CHECK_INT(listener.next, 0);
	finish(&listener);
	CHECK_INT(listener.n_unrecorded, 0);
	CHECK_INT(listener.next, MANY);
	CHECK_INT(listener.n_out_of_order, 0);
	CHECK_INT(records(&site).n_begun, 1);
	CHECK_INT(records(&site).n, 1);
}

/* --- a log that cannot be written --- */

static void move_log(const struct site *site, bool away) {
	char here[FOLDER + 40], aside[FOLDER + 60];
	snprintf(here, sizeof here, "%s/audit.db", site->folder);
	snprintf(aside, sizeof aside, "%s.aside", here);
	CHECK(rename(away ? here : aside, away ? aside : here) == 0);
}

static void check_nothing_told(enum gb_language language, const char *source, bool session) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct listener listener = {.site = &site};
	struct gb_err err = {0};
	submit_to(&listener, language, source, session);
	move_log(&site, true);
	while (gb_gate_turn(site.gate, 20000, &err))
		;
	CHECK(strstr(err.message, "removed or replaced"));
	/* The run is ended, although it would not end by itself. */
	settle(&listener);
	CHECK_INT(listener.n_events, 0);
	CHECK_INT(listener.n_done, 0);
	move_log(&site, false);
	finish(&listener);
	CHECK_INT(listener.n_unrecorded, 0);
	CHECK_INT(listener.n_out_of_order, 0);
	CHECK(listener.status != GB_SUCCESS);
	CHECK_INT(records(&site).n, 1);
	CHECK_INT(records(&site).n_begun, 1);
}

TEST(no_event_is_delivered_if_the_begin_record_fails) {
	check_nothing_told(GB_JAVASCRIPT, "console.log(1); for (;;);", false);
	check_nothing_told(GB_PYTHON, "print(1, flush=True)\nwhile True: pass", true);
}

TEST(no_event_is_delivered_beyond_the_cap_if_the_begin_record_fails) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct listener listener = {.site = &site};
	struct gb_err err = {0};
	submit_to(&listener, GB_JAVASCRIPT, "for (;;) console.log(1)", false);
	move_log(&site, true);
	while (listener.run->state == GB_AGENT_RUN_RUNNING)
		gb_gate_turn(site.gate, 20000, &err);
	CHECK(strstr(err.message, "removed or replaced"));
	CHECK_INT(listener.n_events, 0);
	CHECK_INT(listener.n_done, 0);
	move_log(&site, false);
	listener.ends_it = false;
	finish(&listener);
	CHECK_INT(listener.n_unrecorded, 0);
	CHECK_INT(listener.n_out_of_order, 0);
	CHECK(strstr(listener.message, "cannot be written"));
	CHECK_INT(records(&site).n, 1);
}
