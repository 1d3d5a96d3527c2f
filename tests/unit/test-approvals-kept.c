/* Stored approvals: lookup by id, lists, JSON, and a modified database. */
#include "approvals-fixture.h"

/* --- ids and lists --- */

TEST(unique_prefix_of_an_id_is_resolved) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "1");
	char id[GB_APPROVAL_ID], prefix[GB_APPROVAL_ID];
	struct gb_err err = {0};
	snprintf(prefix, sizeof prefix, "%.6s", ticket.id);
	CHECK(gb_approval_resolve(fixture.approvals, prefix, id, &err));
	CHECK_STR(id, ticket.id);
	CHECK(gb_approval_resolve(fixture.approvals, ticket.id, id, &err));
	CHECK(!gb_approval_resolve(fixture.approvals, "", id, &err) && err.code == GB_EINVAL);
	CHECK(!gb_approval_resolve(fixture.approvals, "123", id, &err) && err.code == GB_EINVAL);
	CHECK(!gb_approval_resolve(fixture.approvals, "%%%%", id, &err) && err.code == GB_EINVAL);
	prefix[5] = prefix[5] == '0' ? '1' : '0';
	CHECK(!gb_approval_resolve(fixture.approvals, prefix, id, &err) && err.code == GB_ENOENT);
	gb_approvals_close(fixture.approvals);
	sqlite3 *db;
	CHECK_INT(sqlite3_open(file_in(fixture.folder, "approvals.db"), &db), SQLITE_OK);
	sqlite3_exec(db, "UPDATE approval SET id = 'abcd0000000000000000000000000000'", NULL, NULL, NULL);
	sqlite3_close(db);
	fixture.approvals = open_in(fixture.folder, plain);
	submit(fixture.approvals, "2");
	sqlite3_open(file_in(fixture.folder, "approvals.db"), &db);
	sqlite3_exec(db, "UPDATE approval SET id = 'abcd1000000000000000000000000000' WHERE seq = 2", NULL,
	    NULL, NULL);
	sqlite3_close(db);
	CHECK(!gb_approval_resolve(fixture.approvals, "abcd", id, &err) && err.code == GB_EINVAL);
	CHECK(strstr(err.message, "several") != NULL);
	CHECK(gb_approval_resolve(fixture.approvals, "abcd1", id, &err));
}

TEST(lists_are_filtered_by_their_fields) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	submit_and_deny(fixture.approvals, "1");
	submit(fixture.approvals, "2");
	struct gb_approval_request request = a_request("3");
	struct gb_approval_ticket ticket;
	request.conversation = GB_STR("other"), request.runtime = GB_STR("js");
	CHECK(gb_approval_submit(fixture.approvals, &request, &ticket, NULL));
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){0}), 3);
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){.newest_first = true}), 3);
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){.limit = 2}), 2);
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){.pending_only = true}), 2);
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){.conversation = "other"}), 1);
	CHECK_INT(count_all(fixture.approvals,
		      (struct gb_approval_filter){.session = "session-1", .runtime = "python"}),
	    2);
}

TEST(approval_as_json) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	gb_auto_approval struct gb_approval *approval = NULL;
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, 1 << 20);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "a\x1b\"b");
	decide(fixture.approvals, &ticket, GB_TRUST);
	CHECK(gb_approval_get(fixture.approvals, ticket.id, &approval, NULL));
	gb_approval_json(&json, approval);
	static const char *const parts[] = {"\"state\":\"approved\",\"trusts\":true,\"used\":false",
	    "\"code\":\"a\\u001b\\\"b\",\"inputs\":{\"n\":1},\"permissions\":{\"network\":[]}",
	    "\"createdAt\":\"2001-09-09T01:46:40.000Z\"",
	    "\"usedAt\":null,\"decidedBy\":\"ann\",\"reason\":\"because\"}"};
	for (size_t i = 0; i < GB_COUNT(parts); i++)
		if (!CHECK(strstr(gb_buf_c_str(&json), parts[i]) != NULL))
			printf("# no %s in %s\n", parts[i], json.data);
}

/* --- a modified database --- */

TEST(modified_code_is_neither_read_nor_usable) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "print(1)");
	gb_auto_approval struct gb_approval *approval = NULL;
	struct gb_approval_request request = a_request("print(2)");
	struct gb_err err = {0};
	enum gb_use used;
	sqlite3 *db;
	decide(fixture.approvals, &ticket, GB_APPROVE);
	sqlite3_open(file_in(fixture.folder, "approvals.db"), &db);
	CHECK_INT(sqlite3_exec(db, "UPDATE approval SET code = CAST('print(2)' AS BLOB)", NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	CHECK(!gb_approval_get(fixture.approvals, ticket.id, &approval, &err) && err.code == GB_EFORMAT);
	CHECK(!gb_approval_use(fixture.approvals, ticket.id, &request, &used, &err));
}

TEST(database_with_a_modified_schema_is_rejected) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approvals *again;
	struct gb_err err = {0};
	sqlite3 *db;
	sqlite3_open(file_in(fixture.folder, "approvals.db"), &db);
	sqlite3_exec(db, "CREATE TRIGGER t AFTER INSERT ON approval BEGIN UPDATE approval SET state = 1; END",
	    NULL, NULL, NULL);
	sqlite3_close(db);
	CHECK(!gb_approvals_open(fixture.folder, NULL, &again, &err) && err.code == GB_EFORMAT);
}

TEST(read_only_handle_creates_and_changes_nothing) {
	auto_folder char folder[FOLDER];
	struct gb_approvals *approvals;
	struct gb_approvals_options options = {.read_only = true, .now_ms = fake_clock};
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(!gb_approvals_open(folder, &options, &approvals, &err) && err.code == GB_ENOENT);
	struct gb_approvals *writer = open_in(folder, plain);
	struct gb_approval_ticket ticket = submit(writer, "1");
	CHECK(gb_approvals_open(folder, &options, &approvals, &err));
	CHECK_INT(state_of(approvals, ticket.id), GB_APPROVAL_PENDING);
	struct gb_decision decision = a_decision(GB_APPROVE, &ticket.hash, "ann");
	struct gb_standing standing;
	CHECK(!gb_approval_decide(approvals, ticket.id, &decision, &standing, &err) && err.code == GB_EINVAL);
	gb_approvals_close(approvals);
	gb_approvals_close(writer);
}
