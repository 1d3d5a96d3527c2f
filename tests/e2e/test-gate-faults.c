/* The gate under faults: failed writes, changed rules, destructive callbacks. */
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/io.h"
#include "e2e/gate.h"

/* --- the audit log is missing for a while --- */

struct aside {
	char here[FOLDER + 40], away[FOLDER + 60];
};

static struct aside put_log_aside(const struct site *site) {
	struct aside aside;
	snprintf(aside.here, sizeof aside.here, "%s/audit.db", site->folder);
	snprintf(aside.away, sizeof aside.away, "%s.aside", aside.here);
	CHECK(rename(aside.here, aside.away) == 0);
	return aside;
}

static void put_log_back(const struct aside *aside) {
	CHECK(rename(aside->away, aside->here) == 0);
}

static void done_and_gone(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	heard_done(run, result, data);
	((struct heard *)data)->run = NULL;
	gb_agent_run_destroy(run);
}

TEST(callback_may_destroy_its_run_while_decisions_are_processed) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard first, second = {0};
	CHECK(submit(&site, python("1"), &first));
	struct gb_gate_request request = python("2");
	request.on_pending = heard_pending;
	request.on_done = done_and_gone;
	request.data = &second;
	CHECK(gb_gate_submit(site.gate, &request, &second.run, &err));
	site_settle(&site);
	decide(&site, second.approval, GB_APPROVE);
	while (second.run->state != GB_AGENT_RUN_RUNNING && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	struct aside aside = put_log_aside(&site);
	uint64_t tried;
	do
		tried = gb_now_ns();
	while (gb_gate_turn(site.gate, -1, &err));
	put_log_back(&aside);
	/* The record of the second is not yet written when the first, which is earlier in the list, is
	 * admitted: writing is retried after a second. */
	decide(&site, first.approval, GB_APPROVE);
	CHECK(gb_gate_work(site.gate, &err));
	CHECK(!second.n_done || gb_now_ns() - tried >= 1000000000);
	while (!second.n_done)
		CHECK(gb_gate_turn(site.gate, -1, &err));
	CHECK_INT(second.status, GB_SUCCESS);
	wait_for(&site, &first);
	CHECK_STR(first.code, "audit");
}

/* --- a disk that cannot be written --- */

static void limit_files(rlim_t bytes) {
	struct rlimit limit;
	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = bytes;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

TEST(failed_expiry_is_retried_later) {
	auto_site struct site site = site_make(ASKING "approvals.timeout: 1s\n");
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("1"), &heard));
	while (gb_gate_timeout(site.gate) > 1)
		usleep(10000);
	limit_files(1);
	usleep(2000);
	CHECK(gb_gate_work(site.gate, &err));
	while (!site.gate->next_look && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	CHECK(gb_gate_timeout(site.gate) > 1);
	limit_files(RLIM_INFINITY);
	CHECK_INT(heard.n_done, 0);
	wait_for(&site, &heard);
	CHECK_STR(heard.code, "not_approved");
}

/* --- secrets --- */

static bool see_code(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	keep_str(data, 200, record->code);
	return true;
}

TEST(refusal_with_agents_disabled_is_masked_in_the_record) {
	auto_site struct site site = site_make(OPEN_TO_ALL "secrets.patterns: ['horse-[0-9]+']\n");
	struct gb_err err = {0};
	char code[200] = "";
	CHECK(site_configure(&site, "agent.enabled: false\nsecrets.patterns: ['horse-[0-9]+']\n", &err));
	CHECK_STR(ask(&site, python("print('horse-77')")).code, "disabled");
	CHECK(gb_audit_each(site.folder, &(struct gb_audit_filter){0}, see_code, code, &err));
	CHECK_STR(code, "print('***')");
}

TEST(waiting_request_is_masked_by_the_rules_under_which_it_runs) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("print('horse-' + '77')"), &heard));
	CHECK(site_configure(&site, ASKING "secrets.patterns: ['horse-[0-9]+']\n", &err));
	/* The secrets filter is part of the policy, so a person is asked again. */
	CHECK_INT(heard.n_pending, 2);
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.output, "***\n");
}

TEST(displays_are_masked_with_a_small_output_limit) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request =
	    python("class C:\n  def _repr_html_(self): return 'x' * 200000 + ' ghp_' + "
		   "'0123456789abcdefghijABCDEFGHIJ012345'\ndisplay(C())\n42");
	request.run.output_bytes = request.run.result_bytes = 1024;
	struct heard heard = ask(&site, request);
	CHECK_STR(heard.code, "");
	CHECK_STR(heard.value, "42");
	CHECK_INT(heard.n_displays, 1);
}

/* --- the log --- */

static bool see_size(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	size_t *sizes = data;
	sizes[0] = record->code.n;
	sizes[1] = record->input_bytes;
	sizes[2] = record->cut != 0;
	return true;
}

TEST(code_refused_for_its_length_is_cut_in_the_record) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.maxCodeSize: 1K\n");
	struct gb_err err = {0};
	size_t sizes[3] = {0};
	char longer[200000];
	memset(longer, '#', sizeof longer);
	longer[sizeof longer - 1] = '\0';
	CHECK_STR(ask(&site, python(longer)).code, "code_size");
	CHECK(gb_audit_each(site.folder, &(struct gb_audit_filter){0}, see_size, sizes, &err));
	CHECK_INT(sizes[0], 1024);
	CHECK(sizes[1] >= sizeof longer - 1);
	CHECK_INT(sizes[2], 1);
}

TEST(run_with_a_result_that_is_too_large_is_recorded) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	struct gb_gate_request request = python("'\\1' * (180 << 20)"); /* six times as large as JSON */
	request.run.result_bytes = 256 << 20;
	request.run.memory_bytes = (uint64_t)4 << 30;
	struct heard heard = ask(&site, request);
	CHECK_INT(heard.status, GB_FAILURE);
	CHECK_STR(heard.code, "result_size");
	CHECK_STR(records(&site).status, "error");
	CHECK_STR(records(&site).decision, "auto");
}

/* --- other rules --- */

TEST(trust_ends_when_agents_are_disabled) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	struct gb_gate_request request = python("1");
	request.conversation = "c";
	CHECK(submit(&site, request, &heard));
	decide(&site, heard.approval, GB_TRUST);
	wait_for(&site, &heard);
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	CHECK(site_configure(&site, "agent.enabled: false\n", &err));
	CHECK(site_configure(&site, ASKING, &err));
	CHECK(submit(&site, request, &heard));
	CHECK_INT(heard.n_pending, 1);
	gb_agent_run_destroy(heard.run);
}

static void check_opens_after(const char *folder, const char *yaml) {
	auto_site struct site site = site_make("agent.enabled: false\n");
	struct gb_err err = {0};
	const struct gb_config *config = settings(folder ? folder : site.folder, yaml, &err);
	CHECK(!site_configure_by(&site, config, &err));
	gb_config_unref(config);
	if (!CHECK(site_configure(&site, OPEN_TO_ALL, &err)))
		printf("# %s\n", err.message);
	CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
}

TEST(gate_that_failed_to_open_can_open_another_folder) {
	check_opens_after("/proc/nowhere", OPEN_TO_ALL);
	check_opens_after(NULL, OPEN_TO_ALL "audit.directory: /proc/nowhere\n");
}

TEST(approvals_are_watched_after_a_failed_attempt) {
	auto_site struct site site = site_make("energy: {enabled: false}\n");
	struct gb_err err = {0};
	struct heard heard;
	char bell[FOLDER + 40];
	snprintf(bell, sizeof bell, "%s/approvals.bell", site.folder);
	CHECK(mkdir(bell, 0700) == 0);
	CHECK(!site_configure(&site, ASKING, &err));
	CHECK(rmdir(bell) == 0);
	CHECK(site_configure(&site, ASKING, &err));
	CHECK(submit(&site, python("6 * 7"), &heard));
	CHECK(gb_gate_work(site.gate, &err));
	decide(&site, heard.approval, GB_APPROVE);
	struct pollfd ready = {.fd = gb_gate_fd(site.gate), .events = POLLIN};
	CHECK_INT(poll(&ready, 1, 20000), 1);
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "42");
}

TEST(waiting_request_is_restricted_by_the_present_rules_only) {
	auto_site struct site site = site_make(ASKING "python: {restricted: true, allowedModules: [math]}\n");
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("import json; 42"), &heard));
	CHECK(site_configure(&site, ASKING, &err));
	CHECK_INT(heard.n_pending, 2);
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "42");
}

TEST(request_for_an_unknown_session_is_not_counted_as_a_call) {
	auto_site struct site site = site_make(OPEN_TO_ALL "agent.callsPerTurn: 1\n");
	struct gb_gate_request request = python("1");
	request.conversation = "c";
	request.turn = "t";
	request.session = "nothing";
	CHECK_STR(ask(&site, request).code, "unknown_session");
	request.session = NULL;
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	CHECK_STR(ask(&site, request).code, "calls_per_turn");
}

/* --- callbacks that end or destroy their run --- */

enum deed { DESTROY, TERMINATE, DISABLE, CHANGE };
enum moment { PENDING, LOG, OUTPUT, LAST_OUTPUT, DISPLAY, PROMPT, DONE, MOMENTS };

struct rogue {
	struct site *site;
	enum deed deed;
	struct gb_agent_run *run; /* NULL after it was destroyed */
	bool did;
	struct configured configured;
};

/* From inside a callback, where the gate must not be turned. */
static void change_rules(struct rogue *rogue, const char *yaml) {
	struct gb_err err = {0};
	const struct gb_config *config = settings(rogue->site->folder, yaml, &err);
	CHECK(gb_gate_configure(rogue->site->gate, config, on_configured, &rogue->configured, &err));
	gb_config_unref(config);
}

static void misbehave(struct gb_agent_run *run, struct rogue *rogue) {
	if (rogue->did)
		return;
	rogue->did = true;
	rogue->run = rogue->deed == DESTROY ? NULL : run;
	if (rogue->deed == DESTROY)
		gb_agent_run_destroy(run);
	else if (rogue->deed == TERMINATE)
		gb_agent_run_terminate(run, "enough");
	else
		change_rules(rogue,
		    rogue->deed == DISABLE ? "agent.enabled: false\n" : ASKING "python.restricted: true\n");
}

static void at_pending(struct gb_agent_run *run, const char *approval, int64_t expires_ms, void *data) {
	misbehave(run, data);
}

static void at_log(struct gb_agent_run *run, const struct gb_log *log, void *data) {
	misbehave(run, data);
}

static void at_output(struct gb_agent_run *run, int stream, const char *bytes, size_t n, void *data) {
	misbehave(run, data);
}

static void at_display(struct gb_agent_run *run, const struct gb_value *display, void *data) {
	misbehave(run, data);
}

static void at_prompt(struct gb_agent_run *run, const char *prompt, void *data) {
	misbehave(run, data);
}

static void at_done(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	misbehave(run, data);
}

static struct gb_gate_request request_for(enum moment moment, struct rogue *rogue, bool session) {
	static const struct {
		enum gb_language language;
		const char *source;
	} codes[MOMENTS] = {
	    [PENDING] = {GB_PYTHON, "1"},
	    [LOG] = {GB_JAVASCRIPT, "console.log(1); console.log(2)"},
	    [OUTPUT] = {GB_PYTHON, "print(1, flush=True)\nprint(2)"},
	    [LAST_OUTPUT] = {GB_PYTHON, "print('ghp_', end='')"}, /* held back until the end */
	    [DISPLAY] = {GB_PYTHON, "display(1)\ndisplay(2)"},
	    [PROMPT] = {GB_SHELL, "printf '? '; read x"},
	    [DONE] = {GB_PYTHON, "1"},
	};
	return (struct gb_gate_request){
	    .face = GB_FACE_EXECUTE_CODE,
	    .conversation = "c",
	    .persistent = session || moment == PROMPT,
	    .run = {.source = codes[moment].source, .language = codes[moment].language},
	    .on_pending = moment == PENDING ? at_pending : NULL,
	    .on_log = moment == LOG ? at_log : NULL,
	    .on_output = moment == OUTPUT || moment == LAST_OUTPUT ? at_output : NULL,
	    .on_display = moment == DISPLAY ? at_display : NULL,
	    .on_prompt = moment == PROMPT ? at_prompt : NULL,
	    .on_done = moment == DONE ? at_done : NULL,
	    .data = rogue,
	};
}

static void check_rogue(enum moment moment, enum deed deed, bool session) {
	auto_site struct site site = site_make(moment == PENDING ? ASKING : OPEN_TO_ALL);
	struct rogue rogue = {.site = &site, .deed = deed};
	struct gb_gate_request request = request_for(moment, &rogue, session);
	struct gb_agent_run *run;
	struct gb_err err = {0};
	CHECK(gb_gate_submit(site.gate, &request, &run, &err));
	while (!rogue.did && CHECK(gb_gate_turn(site.gate, 20000, &err)))
		;
	gb_agent_run_destroy(rogue.run);
	gb_gate_close(site.gate);
	site.gate = NULL;
	CHECK_INT(records(&site).n, 1);
}

TEST(callbacks_may_end_and_destroy_their_run) {
	for (int i = 0; i < MOMENTS * 8; i++)
		check_rogue((enum moment)(i / 8), (enum deed)(i % 4), i % 8 >= 4);
}
