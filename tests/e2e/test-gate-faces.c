/* Faces at the gate: which are admitted, when a person is asked, and which cost energy. */
#include "e2e/gate.h"

/* A request that waits without need is denied soon, so that the test fails and does not hang. */
#define ASKING_BRIEFLY ASKING "approvals.timeout: 2s\n"
#define CHARGING       "agent: {enabled: true, autoApprove: true}\nenergy.rechargePerHour: 0\n"

static struct gb_gate_request through(enum gb_face face) {
	struct gb_gate_request request = python("1");
	request.face = face;
	if (face == GB_FACE_CORE_EXECUTE)
		request.run = (struct gb_run_options){.source = "return 1", .language = GB_JAVASCRIPT};
	return request;
}

static double level(const struct site *site) {
	struct gb_energy_state state = {0};
	struct gb_err err = {0};
	CHECK(gb_energy_look(site->folder, NULL, &state, &err));
	return state.level;
}

/* --- requests that no face can make --- */

static void check_rejected(struct site *site, struct gb_gate_request request, const char *message) {
	struct gb_agent_run *run = NULL;
	struct gb_err err = {0};
	CHECK(!gb_gate_submit(site->gate, &request, &run, &err));
	CHECK_INT(err.code, GB_EINVAL);
	CHECK_STR(err.message, message);
	CHECK_INT(records(site).n, 0);
}

TEST(run_code_does_not_go_through_the_gate) {
	auto_site struct site site = site_make(OPEN_TO_ALL);
	check_rejected(&site, through(GB_FACE_RUN_CODE), "face: 'run_code' does not go through the gate");
	check_rejected(&site, through(GB_FACE_COUNT), "face: '?' does not go through the gate");
}

TEST(javascript_fetches_in_the_network_tier_only) {
	auto_site struct site site = site_make(OPEN_TO_ALL "network.allowlist: [api.example.com]\n");
	struct gb_gate_request request = through(GB_FACE_CORE_EXECUTE);
	request.run.source = "return typeof fetch";
	struct heard heard = ask(&site, request);
	CHECK_STR(heard.value, "\"\\\"undefined\\\"\"");
	request.tier = GB_TIER_NETWORK;
	heard = ask(&site, request);
	CHECK_STR(heard.value, "\"\\\"function\\\"\"");
}

/* --- approval --- */

TEST(every_face_asks_by_default) {
	auto_site struct site site = site_make(ASKING);
	for (unsigned face = GB_FACE_CORE_EXECUTE; face < GB_FACE_COUNT; face++) {
		struct heard heard;
		CHECK(submit(&site, through((enum gb_face)face), &heard));
		CHECK_INT(heard.n_pending, 1);
		decide(&site, heard.approval, GB_APPROVE);
		wait_for(&site, &heard);
		CHECK_INT(heard.status, GB_SUCCESS);
		CHECK_STR(records(&site).decision, "user");
	}
}

TEST(owner_waives_approval_by_face) {
	auto_site struct site site = site_make(ASKING_BRIEFLY "approvals.waive: [actions]\n");
	struct heard heard = ask(&site, through(GB_FACE_ACTIONS));
	CHECK_INT(heard.status, GB_SUCCESS);
	CHECK_INT(heard.n_pending, 0);
	CHECK_STR(records(&site).decision, "auto");
	CHECK(submit(&site, through(GB_FACE_EXECUTE_CODE), &heard));
	CHECK_INT(heard.n_pending, 1);
	gb_agent_run_terminate(heard.run, NULL);
	wait_for(&site, &heard);
}

TEST(waiting_request_runs_when_its_face_is_waived) {
	auto_site struct site site = site_make(ASKING_BRIEFLY);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("6 * 7"), &heard));
	CHECK_INT(heard.n_pending, 1);
	CHECK(site_configure(&site, ASKING_BRIEFLY "approvals.waive: [execute_code]\n", &err));
	wait_for(&site, &heard);
	CHECK_STR(heard.value, "42");
	CHECK_STR(records(&site).decision, "auto");
}

TEST(waived_approval_does_not_waive_masking) {
	auto_site struct site site = site_make(ASKING_BRIEFLY "approvals.waive: [execute_code]\n");
	struct heard heard = ask(&site, python("print('ghp_' + '0123456789abcdefghijABCDEFGHIJ012345')"));
	CHECK_STR(heard.output, "***\n");
	CHECK_INT(records(&site).masked_output, 1);
}

TEST(embedder_decides_where_it_may) {
	auto_site struct site site = site_make(ASKING_BRIEFLY);
	static const enum gb_face faces[] = {GB_FACE_EXECUTOR, GB_FACE_ACTIONS};
	for (size_t i = 0; i < GB_COUNT(faces); i++) {
		struct gb_gate_request request = through(faces[i]);
		request.embedder_decides = true;
		struct heard heard = ask(&site, request);
		CHECK_INT(heard.status, GB_SUCCESS);
		CHECK_INT(heard.n_pending, 0);
		CHECK_INT(records(&site).n, i + 1);
		CHECK_STR(records(&site).decision, "embedder");
	}
}

TEST(embedder_does_not_decide_on_other_faces) {
	auto_site struct site site = site_make(ASKING);
	struct gb_gate_request request = through(GB_FACE_EXECUTE_CODE);
	request.embedder_decides = true;
	check_rejected(&site, request,
	    "embedder_decides: the embedding program cannot decide on requests of face 'execute_code'");
	request = through(GB_FACE_CORE_EXECUTE);
	request.embedder_decides = true;
	check_rejected(&site, request,
	    "embedder_decides: the embedding program cannot decide on requests of face 'core_execute'");
}

TEST(embedder_that_decides_does_not_enable_agents) {
	auto_site struct site site = site_make("agent.enabled: false\n");
	struct gb_gate_request request = through(GB_FACE_ACTIONS);
	request.embedder_decides = true;
	CHECK_STR(ask(&site, request).code, "disabled");
	/* The stores are not open. */
	request.embedder_enables = true;
	CHECK_STR(ask(&site, request).code, "disabled");
}

static void serve_embedder(struct site *site, const char *yaml) {
	struct gb_err err = {0};
	struct configured served = {0};
	const struct gb_config *config = settings(site->folder, yaml, &err);
	if (!CHECK(gb_gate_serve_embedder(site->gate, config, on_configured, &served, &err)))
		printf("# %s\n", err.message);
	while (!served.is_done && CHECK(gb_gate_turn(site->gate, 20000, &err)))
		;
	CHECK(served.ok);
	gb_config_unref(config);
}

TEST(embedder_enables_its_own_face_only) {
	auto_site struct site site = site_make("agent.enabled: false\n");
	serve_embedder(&site, "agent.enabled: false\n");
	struct gb_gate_request request = through(GB_FACE_ACTIONS);
	CHECK_STR(ask(&site, request).code, "disabled");
	request.embedder_enables = request.embedder_decides = true;
	CHECK_INT(ask(&site, request).status, GB_SUCCESS);
	CHECK_STR(records(&site).decision, "embedder");
	CHECK_STR(ask(&site, through(GB_FACE_EXECUTE_CODE)).code, "disabled");
	request = through(GB_FACE_EXECUTOR);
	request.embedder_enables = true;
	struct gb_agent_run *run = NULL;
	struct gb_err err = {0};
	CHECK(!gb_gate_submit(site.gate, &request, &run, &err));
	CHECK_STR(err.message, "embedder_enables: the embedding program cannot enable the face 'executor'");
}

TEST(owner_can_refuse_actions) {
	auto_site struct site site =
	    site_make("agent: {enabled: true, autoApprove: true}\nactions.enabled: false\n");
	CHECK_STR(ask(&site, through(GB_FACE_ACTIONS)).code, "disabled");
	CHECK_INT(ask(&site, through(GB_FACE_EXECUTE_CODE)).status, GB_SUCCESS);
}

TEST(face_and_transport_are_shown_with_the_approval) {
	auto_site struct site site = site_make(ASKING);
	struct gb_approvals *approvals = NULL;
	struct gb_approval *approval = NULL;
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, through(GB_FACE_EXECUTE_CODE), &heard));
	if (CHECK(gb_approvals_open(site.folder, NULL, &approvals, &err) &&
		  gb_approval_get(approvals, heard.approval, &approval, &err)))
		CHECK(gb_str_eq(approval->request.face, GB_STR("execute_code (test)")));
	gb_approval_destroy(approval);
	gb_approvals_close(approvals);
	gb_agent_run_terminate(heard.run, NULL);
	wait_for(&site, &heard);
}

/* --- energy --- */

TEST(ordinary_runs_cost_no_energy) {
	auto_site struct site site = site_make(CHARGING);
	for (int i = 0; i < 40; i++)
		CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
	CHECK(level(&site) == 1);
}

TEST(faces_of_the_setting_cost_energy) {
	auto_site struct site site = site_make(CHARGING "energy.faces: [execute_code]\n");
	for (int i = 0; i < 18; i++)
		CHECK_INT(ask(&site, python("1")).status, GB_SUCCESS);
	CHECK_STR(ask(&site, python("1")).code, "energy");
	CHECK_INT(ask(&site, through(GB_FACE_CORE_EXECUTE)).status, GB_SUCCESS);
}

TEST(core_execute_costs_energy_by_default) {
	auto_site struct site site = site_make(CHARGING);
	CHECK_INT(ask(&site, through(GB_FACE_CORE_EXECUTE)).status, GB_SUCCESS);
	CHECK(level(&site) > 0.94 && level(&site) < 0.96);
	CHECK_INT(ask(&site, through(GB_FACE_ACTIONS)).status, GB_SUCCESS);
	CHECK(level(&site) > 0.94 && level(&site) < 0.96);
}
