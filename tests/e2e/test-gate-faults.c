/* The gate when things happen at the wrong moment. */
#include "e2e/gate.h"

/* --- the log is gone for a while --- */

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

static void done_and_gone(struct gb_pass *pass, const struct gb_result *result, void *data) {
	heard_done(pass, result, data);
	((struct heard *)data)->pass = NULL;
	gb_pass_destroy(pass);
}

TEST(who_is_told_meanwhile_may_leave) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard first, second = {0};
	CHECK(submit(&site, python("1"), &first));
	struct gb_gate_request request = python("2");
	request.on_pending = heard_pending;
	request.on_done = done_and_gone;
	request.data = &second;
	CHECK(gb_gate_submit(site.gate, &request, &second.pass, &err));
	decide(&site, second.approval, GB_APPROVE);
	CHECK(gb_gate_work(site.gate, &err));
	struct aside aside = put_log_aside(&site);
	while (gb_gate_turn(site.gate, -1, &err))
		;
	put_log_back(&aside);
	/* The record of the second is still to be written when the first, which stands before it, is let in.
	 */
	decide(&site, first.approval, GB_APPROVE);
	CHECK(gb_gate_work(site.gate, &err));
	CHECK_INT(second.n_done, 0);
	while (!second.n_done)
		CHECK(gb_gate_turn(site.gate, -1, &err));
	CHECK_INT(second.status, GB_SUCCESS);
	wait_for(&site, &first);
	CHECK_STR(first.code, "audit");
}

/* --- secrets --- */

static bool see_code(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	keep_str(data, 200, record->code);
	return true;
}

TEST(what_is_refused_where_agents_are_disabled_is_recorded_masked) {
	auto_site struct site site = site_make(OPEN_TO_ALL "secrets.patterns: ['horse-[0-9]+']\n");
	struct gb_err err = {0};
	char code[200] = "";
	CHECK(site_configure(&site, "agent.enabled: false\nsecrets.patterns: ['horse-[0-9]+']\n", &err));
	CHECK_STR(ask(&site, python("print('horse-77')")).code, "disabled");
	CHECK(gb_audit_each(site.folder, &(struct gb_audit_filter){0}, see_code, code, &err));
	CHECK_STR(code, "print('***')");
}

TEST(what_waits_is_masked_by_the_rules_of_when_it_runs) {
	auto_site struct site site = site_make(ASKING);
	struct gb_err err = {0};
	struct heard heard;
	CHECK(submit(&site, python("print('horse-' + '77')"), &heard));
	CHECK(site_configure(&site, ASKING "secrets.patterns: ['horse-[0-9]+']\n", &err));
	CHECK_INT(heard.n_pending, 1);
	decide(&site, heard.approval, GB_APPROVE);
	wait_for(&site, &heard);
	CHECK_STR(heard.output, "***\n");
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
	gb_pass_destroy(heard.pass);
}
