/* The gate while another process keeps a database locked, and while a large log is pruned. */
#include "e2e/gate.h"
#include "locker.h"

/* Every database is used: calls of a turn, energy, approvals of the face "actions", records. */
#define USES_ALL                                                                                             \
	"agent: {enabled: true}\n"                                                                           \
	"approvals: {waive: [execute_code, core_execute]}\n"                                                 \
	"energy: {faces: [core_execute]}\n"

static bool open_with_limit(struct site *site, const char *yaml, unsigned busy_ms) {
	struct gb_err err = {0};
	const struct gb_config *config = settings(site->folder, yaml, &err);
	const struct gb_gate_options options = {.config = config, .engine = engine, .busy_ms = busy_ms};
	bool ok = config && gb_gate_open(&options, &site->gate, &err);
	gb_config_unref(config);
	if (!ok)
		printf("# %s\n", err.message);
	return ok;
}

/* Submit, and do not wait. */
static struct gb_agent_run *submit_only(
    struct site *site, struct gb_gate_request request, struct heard *heard) {
	struct gb_err err = {0};
	*heard = (struct heard){.status = GB_TERMINATED};
	request.transport = "test";
	request.on_pending = heard_pending;
	request.on_output = heard_output;
	request.on_done = heard_done;
	request.data = heard;
	CHECK(gb_gate_submit(site->gate, &request, &heard->run, &err));
	return heard->run;
}

/* A request that uses @database and no other, except the audit log. */
static struct gb_gate_request request_using(const char *database) {
	struct gb_gate_request request = python("6 * 7");
	if (strcmp(database, "turns.db") == 0)
		request.turn = "t";
	else if (strcmp(database, "energy.db") == 0)
		request.face = GB_FACE_CORE_EXECUTE,
		request.run = (struct gb_run_options){.source = "return 6 * 7", .language = GB_JAVASCRIPT};
	else if (strcmp(database, "approvals.db") == 0)
		request.face = GB_FACE_ACTIONS;
	return request;
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	*(bool *)data = result->status == GB_SUCCESS;
}

/* A run that does not go through the gate must end while the gate waits for a database. */
static void check_engine_runs(struct site *site) {
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	bool ok = false;
	const struct gb_run_options options = {
	    .source = "export default 1", .on_settled = on_settled, .data = &ok};
	CHECK(gb_run_start(engine, &options, &run, &err));
	while (run && !gb_run_settled(run) && CHECK(gb_gate_turn(site->gate, 20000, &err)))
		;
	CHECK(ok);
	gb_run_destroy(run);
}

static void check_lock(const char *database) {
	auto_locker struct locker locker = locker_start();
	auto_site struct site site = {.gate = NULL};
	struct heard blocked, other;
	folder_create(site.folder);
	CHECK(open_with_limit(&site, USES_ALL, 60000));
	CHECK(locker_lock(&locker, file_in(site.folder, database)));
	submit_only(&site, request_using(database), &blocked);
	check_engine_runs(&site);
	/* A request that does not need the database. */
	if (strcmp(database, "audit.db") != 0) {
		submit_only(&site, python("1 + 1"), &other);
		wait_for(&site, &other);
		CHECK_STR(other.value, "2");
	}
	check_engine_runs(&site);
	CHECK(!gb_agent_run_done(blocked.run));
	CHECK_INT(blocked.n_pending, 0);
	CHECK(locker_release(&locker));
	if (strcmp(database, "approvals.db") == 0) {
		struct gb_err err = {0};
		while (!blocked.n_pending && CHECK(gb_gate_turn(site.gate, 20000, &err)))
			;
		decide(&site, blocked.approval, GB_APPROVE);
	}
	wait_for(&site, &blocked);
	CHECK_INT(blocked.status, GB_SUCCESS);
	/* core_execute returns text. */
	CHECK_STR(blocked.value, strcmp(database, "energy.db") == 0 ? "\"42\"" : "42");
}

TEST(lock_on_the_calls_of_turns_delays_only_requests_with_a_turn) {
	check_lock("turns.db");
}

TEST(lock_on_energy_delays_only_requests_that_are_charged) {
	check_lock("energy.db");
}

TEST(lock_on_approvals_delays_only_requests_that_need_approval) {
	check_lock("approvals.db");
}

TEST(lock_on_the_audit_log_delays_only_requests_of_agents) {
	check_lock("audit.db");
}

/* --- locks that last longer than the limit --- */

static struct heard ask_while_locked(const char *database, unsigned busy_ms, unsigned *ret_failures) {
	auto_locker struct locker locker = locker_start();
	auto_site struct site site = {.gate = NULL};
	struct gb_err err = {0};
	struct heard heard;
	folder_create(site.folder);
	CHECK(open_with_limit(&site, USES_ALL, busy_ms));
	CHECK(locker_lock(&locker, file_in(site.folder, database)));
	submit_only(&site, request_using(database), &heard);
	*ret_failures = 0;
	while (!gb_agent_run_done(heard.run))
		if (!gb_gate_turn(site.gate, 20000, &err) && ++*ret_failures == 1) {
			CHECK(strstr(err.message, "another process keeps"));
			CHECK_INT(heard.n_done, 0);
			CHECK(locker_release(&locker));
		}
	gb_agent_run_destroy(heard.run);
	return heard;
}

static void check_refused(const char *database, const char *code) {
	unsigned failures;
	struct heard heard = ask_while_locked(database, 50, &failures);
	CHECK_INT(failures, 0);
	CHECK_INT(heard.status, GB_DENIED);
	CHECK_STR(heard.code, code);
	CHECK(strstr(heard.message, "another process keeps"));
}

TEST(request_is_refused_when_a_lock_lasts_too_long) {
	check_refused("turns.db", "calls_per_turn");
	check_refused("energy.db", "energy");
	check_refused("approvals.db", "not_approved");
}

TEST(result_is_withheld_while_the_audit_log_is_locked) {
	unsigned failures;
	struct heard heard = ask_while_locked("audit.db", 50, &failures);
	CHECK(failures >= 1);
	CHECK_INT(heard.status, GB_SUCCESS);
}

/* --- requests that are stopped or changed while they wait for a database --- */

TEST(request_that_waits_for_a_database_can_be_withdrawn) {
	static const char *const databases[] = {"turns.db", "energy.db", "approvals.db"};
	for (size_t i = 0; i < GB_COUNT(databases); i++) {
		auto_locker struct locker locker = locker_start();
		auto_site struct site site = {.gate = NULL};
		struct heard heard, gone;
		folder_create(site.folder);
		CHECK(open_with_limit(&site, USES_ALL, 60000));
		CHECK(locker_lock(&locker, file_in(site.folder, databases[i])));
		submit_only(&site, request_using(databases[i]), &heard);
		submit_only(&site, request_using(databases[i]), &gone);
		gb_agent_run_terminate(heard.run, "not needed");
		gb_agent_run_destroy(gone.run);
		CHECK(!gb_agent_run_done(heard.run));
		CHECK(locker_release(&locker));
		wait_for(&site, &heard);
		CHECK_STR(heard.code, "withdrawn");
		CHECK_STR(heard.message, "not needed");
		CHECK_INT(heard.n_pending, 0);
		gb_gate_close(site.gate);
		site.gate = NULL;
		CHECK_INT(gone.n_done, 0);
		CHECK_INT(records(&site).n, 2);
	}
}

TEST(rules_that_change_while_a_request_waits_for_a_database_apply_to_it) {
	auto_locker struct locker locker = locker_start();
	auto_site struct site site = {.gate = NULL};
	struct heard heard;
	struct gb_err err = {0};
	folder_create(site.folder);
	CHECK(open_with_limit(&site, USES_ALL, 60000));
	CHECK(locker_lock(&locker, file_in(site.folder, "turns.db")));
	submit_only(&site, request_using("turns.db"), &heard);
	struct configured configured = {0};
	const struct gb_config *config = settings(site.folder, USES_ALL "python.restricted: true\n", &err);
	CHECK(gb_gate_configure(site.gate, config, on_configured, &configured, &err));
	gb_config_unref(config);
	while (!configured.is_done && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	CHECK(configured.ok);
	CHECK(locker_release(&locker));
	wait_for(&site, &heard);
	CHECK_INT(heard.status, GB_SUCCESS);
	CHECK(strstr(records(&site).limits, "\"restricted\":true"));
}

TEST(change_of_the_rules_does_not_wait_for_a_lock) {
	auto_locker struct locker locker = locker_start();
	auto_site struct site site = {.gate = NULL};
	struct gb_err err = {0};
	struct configured configured = {0};
	folder_create(site.folder);
	CHECK(open_with_limit(&site, USES_ALL, 60000));
	CHECK(locker_lock(&locker, file_in(site.folder, "energy.db")));
	const struct gb_config *config = settings(site.folder, USES_ALL "python.restricted: true\n", &err);
	CHECK(gb_gate_configure(site.gate, config, on_configured, &configured, &err));
	gb_config_unref(config);
	check_engine_runs(&site);
	CHECK(!configured.is_done);
	CHECK(locker_release(&locker));
	while (!configured.is_done && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	CHECK(configured.ok);
}

/* --- prompts of sessions --- */

static bool awaits_input(struct site *site, const char *session) {
	struct gb_session_info info;
	struct gb_err err = {0};
	return gb_manager_get(gb_gate_sessions(site->gate), session, &info, &err) &&
	       info.state == GB_SESSION_AWAITING_INPUT;
}

TEST(prompt_of_a_session_is_held_until_the_run_is_recorded) {
	auto_locker struct locker locker = locker_start();
	auto_site struct site site = {.gate = NULL};
	struct gb_gate_request request = {.face = GB_FACE_EXECUTE_CODE,
	    .conversation = "c",
	    .persistent = true,
	    .waits_for_input = true,
	    .on_prompt = heard_prompt,
	    .run = {.source = "read -p 'a? ' x", .language = GB_SHELL}};
	struct heard heard;
	struct gb_err err = {0};
	folder_create(site.folder);
	CHECK(open_with_limit(&site, USES_ALL, 60000));
	CHECK(locker_lock(&locker, file_in(site.folder, "audit.db")));
	submit_only(&site, request, &heard);
	while (!awaits_input(&site, gb_agent_run_session(heard.run)) &&
	       CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	check_engine_runs(&site);
	CHECK(gb_gate_holds_prompt(site.gate, gb_agent_run_session(heard.run)));
	CHECK_STR(heard.prompt, "");
	CHECK(locker_release(&locker));
	while (!*heard.prompt && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	CHECK_STR(heard.prompt, "a? ");
	CHECK(!gb_gate_holds_prompt(site.gate, gb_agent_run_session(heard.run)));
	CHECK_INT(records(&site).n_begun, 1);
	gb_agent_run_terminate(heard.run, NULL);
	wait_for(&site, &heard);
}

/* --- the order of records --- */

enum { REQUESTS = 60 };

struct order {
	unsigned n;
	char codes[REQUESTS][100];
};

struct ordered {
	struct order *order;
	char source[100];
};

static void on_ordered_done(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	struct ordered *ordered = data;
	struct order *order = ordered->order;
	snprintf(order->codes[order->n++], 100, "%s", ordered->source);
}

static bool see_order(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct order *order = data;
	if (order->n < REQUESTS)
		keep_str(order->codes[order->n], 100, record->code);
	order->n++;
	return true;
}

/* Runs of several lengths and refusals, all at once. */
TEST(records_are_in_the_order_in_which_results_are_reported) {
	auto_site struct site site = site_make(
	    "energy: {enabled: false}\nagent: {enabled: true, autoApprove: true, maxConcurrentRuns: 100, "
	    "maxConcurrentRunsPerTransport: 100}\n");
	static struct order reported, recorded;
	static struct ordered requests[REQUESTS];
	struct gb_agent_run *runs[REQUESTS];
	struct gb_err err = {0};
	for (unsigned i = 0; i < REQUESTS; i++) {
		requests[i].order = &reported;
		snprintf(requests[i].source, sizeof requests[i].source,
		    i % 3 == 0 ? "process.exit(%u)" : "for (let i = 0; i < 1e%u; i++); export default %u",
		    i % 3 == 0 ? i : i % 6, i);
		struct gb_gate_request request = {.face = GB_FACE_EXECUTE_CODE,
		    .run = {.source = requests[i].source, .language = GB_JAVASCRIPT},
		    .on_done = on_ordered_done,
		    .data = &requests[i]};
		CHECK(gb_gate_submit(site.gate, &request, &runs[i], &err));
	}
	while (reported.n < REQUESTS && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	CHECK(gb_audit_each(site.folder, &(struct gb_audit_filter){0}, see_order, &recorded, &err));
	CHECK_INT(recorded.n, REQUESTS);
	for (unsigned i = 0; i < REQUESTS; i++) {
		if (strcmp(recorded.codes[i], reported.codes[i]) != 0)
			CHECK_STR(recorded.codes[i], reported.codes[i]);
		gb_agent_run_destroy(runs[i]);
	}
}

/* --- pruning --- */

enum { OLD_RECORDS = 100000 };

static int64_t long_ago(void) {
	return 1000000000000;
}

static void write_old_records(const char *folder) {
	struct gb_audit *audit = NULL;
	struct gb_err err = {0};
	const struct gb_audit_options options = {.now_ms = long_ago};
	const struct gb_audit_record record = a_record("old", "export default 1");
	CHECK(gb_audit_open(folder, &options, &audit, &err));
	for (unsigned i = 0; i < OLD_RECORDS; i++) {
		if (!gb_audit_append(audit, &record, NULL, NULL, &err) ||
		    (i % 1000 == 999 && !gb_audit_commit(audit, &err)))
			abort();
	}
	CHECK(gb_audit_close(audit, &err));
}

static long long count_records(const char *folder) {
	sqlite3 *db = NULL;
	sqlite3_stmt *count = NULL;
	long long n = -1;
	CHECK(sqlite3_open_v2(file_in(folder, "audit.db"), &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	if (CHECK(
		sqlite3_prepare_v2(db, "SELECT count(*) FROM audit_record", -1, &count, NULL) == SQLITE_OK) &&
	    CHECK(sqlite3_step(count) == SQLITE_ROW))
		n = sqlite3_column_int64(count, 0);
	sqlite3_finalize(count);
	sqlite3_close(db);
	return n;
}

TEST(requests_and_runs_go_on_while_a_large_log_is_pruned) {
	auto_site struct site site = {.gate = NULL};
	unsigned n_during = 0;
	folder_create(site.folder);
	write_old_records(site.folder);
	CHECK(site_open(&site, OPEN_TO_ALL));
	do {
		CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
		check_engine_runs(&site);
		n_during++;
	} while (count_records(site.folder) > 1000);
	printf("# %u requests and runs during the pruning\n", n_during);
	CHECK(n_during > 1);
	struct gb_audit_report report = verified(site.folder);
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
	CHECK(report.pruned > OLD_RECORDS - 1000);
}
