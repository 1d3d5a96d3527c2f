#include "unit/audit-checks.h"

/* --- normal operation --- */

TEST(an_empty_log_is_whole) {
	auto_folder char folder[FOLDER];
	struct gb_err err = {0};
	folder_create(folder);
	CHECK(make_log(folder, 0, 1, &err));
	CHECK_STR(err.message, "");
	CHECK_REPORT(folder, GB_AUDIT_WHOLE, 0);
}

TEST(records_are_numbered_and_persistent) {
	auto_folder char folder[FOLDER];
	struct gb_err err = {0};
	folder_create(folder);
	for (unsigned i = 0; i < 3; i++)
		CHECK(make_log(folder, 300, 7, &err));
	CHECK_STR(err.message, "");
	struct gb_audit_report report = verified(folder);
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
	CHECK_INT(report.records, 900);
	CHECK_INT(report.head.seq, 900);
	CHECK(report.key_compared);
}

TEST(files_are_accessible_by_the_owner_only) {
	auto_folder char folder[FOLDER];
	struct stat st;
	folder_create(folder);
	CHECK(make_log(folder, 1, 1, NULL));
	static const char *const names[] = {"audit.db", "audit.key", "audit.head"};
	for (size_t i = 0; i < GB_COUNT(names); i++)
		CHECK(stat(file_in(folder, names[i]), &st) == 0 && (st.st_mode & 0777) == 0600);
}

static void on_recorded(void *data, uint64_t seq) {
	*(uint64_t *)data = seq;
}

TEST(callback_runs_after_the_record_is_written) {
	auto_folder char folder[FOLDER];
	struct gb_err err = {0};
	struct gb_audit *audit;
	struct gb_audit_ticket ticket;
	uint64_t seq = 0;
	struct gb_audit_record record = a_record("run", "1");
	folder_create(folder);
	CHECK(gb_audit_open(folder, NULL, &audit, &err));
	CHECK(gb_audit_begin(audit, &record, &ticket, &err));
	CHECK(gb_audit_finish(audit, &ticket, &record, on_recorded, &seq, &err));
	CHECK_INT(seq, 0);
	CHECK_INT(gb_audit_pending(audit), 1);
	CHECK_INT(verified(folder).records, 0);
	CHECK(gb_audit_commit(audit, &err));
	CHECK_INT(seq, 1);
	CHECK_INT(verified(folder).records, 1);
	CHECK(gb_audit_close(audit, &err));
}

TEST(unfinished_run_is_reported) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_ticket one, two;
	uint64_t seq = 0;
	struct gb_audit_record record = a_record("run", "1");
	folder_create(folder);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	CHECK(gb_audit_begin_ahead(audit, &record, on_recorded, &seq, &one, NULL));
	CHECK(gb_audit_begin_ahead(audit, &record, on_recorded, &seq, &two, NULL));
	CHECK(gb_audit_commit(audit, NULL));
	CHECK_INT(seq, 2);
	CHECK(gb_audit_finish(audit, &one, &record, NULL, NULL, NULL));
	CHECK(gb_audit_close(audit, NULL));
	CHECK_INT(verified(folder).unfinished, 1);
}

TEST(write_leaves_callbacks_to_the_next_commit) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_ticket ticket;
	uint64_t begun = 0, ended = 0;
	struct gb_audit_record record = a_record("run", "1");
	folder_create(folder);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	CHECK(gb_audit_begin(audit, &record, &ticket, NULL));
	CHECK(gb_audit_ahead(audit, &ticket, &record, on_recorded, &begun, NULL));
	CHECK(gb_audit_write(audit, NULL));
	CHECK_INT(begun, 0);
	CHECK_INT(verified(folder).unfinished, 1);
	CHECK_INT(gb_audit_pending(audit), 1);
	CHECK(gb_audit_finish(audit, &ticket, &record, on_recorded, &ended, NULL));
	CHECK(gb_audit_commit(audit, NULL));
	CHECK_INT(begun, 1);
	CHECK_INT(ended, 2);
	CHECK(gb_audit_close(audit, NULL));
	CHECK_INT(verified(folder).records, 2);
	CHECK_INT(verified(folder).unfinished, 0);
}

static void append_another(void *data, uint64_t seq) {
	struct gb_audit_record record = a_record("another", "1");
	if (seq < 5)
		CHECK(gb_audit_append(data, &record, append_another, data, NULL));
}

TEST(a_callback_may_append) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	folder_create(folder);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	append_another(audit, 0);
	CHECK(gb_audit_close(audit, NULL)); /* also writes what the callbacks append */
	CHECK_INT(verified(folder).records, 5);
}

TEST(too_many_tickets_are_rejected) {
	auto_folder char folder[FOLDER];
	struct gb_err err = {0};
	struct gb_audit *audit;
	struct gb_audit_ticket tickets[32];
	unsigned n = 0;
	folder_create(folder);
	CHECK(gb_audit_open(folder, NULL, &audit, NULL));
	char *code = calloc(1, GB_AUDIT_CODE_MAX);
	struct gb_audit_record record = a_record("run", "");
	record.code = (struct gb_str){code, GB_AUDIT_CODE_MAX};
	while (n < 32 && gb_audit_begin(audit, &record, &tickets[n], &err))
		n++;
	CHECK(n > 10 && n < 32);
	CHECK_INT(err.code, GB_EBUSY);
	CHECK(strstr(err.message, "not run, since it could not be recorded") != NULL);
	gb_audit_cancel(audit, &tickets[0]);
	CHECK(gb_audit_begin(audit, &record, &tickets[0], &err));
	CHECK(gb_audit_close(audit, NULL));
	free(code);
}

/* --- reading --- */

static int64_t clock_ms;
static int64_t fake_clock(void) {
	return clock_ms;
}

TEST(records_are_filtered_by_their_fields) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_options options = {.now_ms = fake_clock};
	folder_create(folder);
	CHECK(gb_audit_open(folder, &options, &audit, NULL));
	for (unsigned i = 1; i <= 100; i++) {
		struct gb_audit_record record = a_record("r", "1");
		clock_ms = i * 1000;
		if (i % 10 == 0)
			record.session_id = GB_STR("other"), record.status = GB_STR("error");
		if (i % 4 == 0)
			record.conversation_id = GB_STR("talk"), record.runtime = GB_STR("python");
		if (i == 77)
			record.run_id = GB_STR("seventy-seven");
		CHECK(gb_audit_append(audit, &record, NULL, NULL, NULL));
	}
	CHECK(gb_audit_close(audit, NULL));
	CHECK_INT(read_records(folder, (struct gb_audit_filter){0}).n, 100);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.session = "other"}).n, 10);
	CHECK_INT(
	    read_records(folder, (struct gb_audit_filter){.status = "error", .runtime = "python"}).n, 5);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.conversation = "talk"}).n, 25);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.from_ms = 11000, .to_ms = 21000}).n, 10);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.limit = 3}).last, 3);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.limit = 3, .newest_first = true}).last, 98);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.run = "seventy-seven"}).last, 77);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.seq = 42}).last, 42);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){.seq = 101}).n, 0);
}

TEST(exported_json_contains_the_recorded_fields) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_options options = {.now_ms = fake_clock};
	struct gb_audit_record record = a_record("r\"1", "let s = '\xff\xed\xa0\x80'\n");
	char output[2 * GB_AUDIT_SUMMARY_CHARS + 200];
	folder_create(folder);
	clock_ms = 1000;
	for (size_t i = 0; i < sizeof output; i += 2)
		memcpy(output + i, "\xc3\xa4", 2);
	record.output_summary = (struct gb_str){output, sizeof output};
	record.exit_code = (struct gb_audit_number){true, -11};
	record.permissions = GB_STR("[not\njson");
	record.decision = GB_STR("denied");
	record.started_ms = 5;
	record.masked_output = 2;
	gb_hash_bytes("", 0, &record.input_hash.hash);
	record.input_hash.is_set = true;
	CHECK(gb_audit_open(folder, &options, &audit, NULL));
	CHECK(gb_audit_append(audit, &record, NULL, NULL, NULL));
	CHECK(gb_audit_close(audit, NULL));
	struct records records = read_records(folder, (struct gb_audit_filter){0});
	static const char *const parts[] = {"{\"seq\":1,\"time\":\"1970-01-01T00:00:01.000Z\",\"type\":"
					    "\"code_execution\",\"runId\":\"r\\\"1\",",
	    "\"exitCode\":-11,\"timedOut\":false,",
	    "\"startedAt\":\"1970-01-01T00:00:00.005Z\",\"finishedAt\":null,\"duration\":0.41,",
	    "\"limits\":{\"timeoutMs\":5000},\"permissions\":\"[not\\njson\",", "\"maskedOutput\":2,",
	    "\"decision\":\"denied\",\"approvedBy\":null,",
	    "\"inputHash\":\"0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8\"",
	    "\"cut\":[\"outputSummary\"]", "\"approved\":false,\"hash\":\""};
	for (size_t i = 0; i < GB_COUNT(parts); i++)
		if (!CHECK(strstr(records.json, parts[i]) != NULL))
			printf("# no %s in %s\n", parts[i], records.json);
	const char *summary = strstr(records.json, "\"outputSummary\":\"");
	CHECK(summary && strchr(summary + 17, '"') - (summary + 17) == 2 * GB_AUDIT_SUMMARY_CHARS);
	CHECK(strchr(records.json, '\n') == NULL);
}

/* --- clocks and retention --- */

TEST(clock_set_back_loses_no_records) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_options options = {.now_ms = fake_clock};
	folder_create(folder);
	CHECK(gb_audit_open(folder, &options, &audit, NULL));
	static const int64_t times[] = {5000, 6000, 1000, 0, -500, INT64_MIN, INT64_MAX, 7000};
	for (size_t i = 0; i < GB_COUNT(times); i++) {
		clock_ms = times[i];
		CHECK(append_many(audit, 1, 1, 1, NULL));
	}
	CHECK(gb_audit_close(audit, NULL));
	struct gb_audit_report report = verified(folder);
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
	CHECK_INT(report.records, GB_COUNT(times));
	CHECK_INT(report.clock_back, 5);
	CHECK_INT(read_records(folder, (struct gb_audit_filter){0}).last, GB_COUNT(times));
}

TEST(old_records_are_pruned_and_the_rest_verifies) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_options options = {.now_ms = fake_clock, .keep_ms = 1000000};
	uint64_t pruned = 0;
	folder_create(folder);
	clock_ms = 1000;
	CHECK(gb_audit_open(folder, &options, &audit, NULL));
	CHECK(append_many(audit, 1, 700, 50, NULL));
	clock_ms = 900000;
	CHECK(append_many(audit, 701, 100, 50, NULL));
	clock_ms = 1500000;
	CHECK(gb_audit_prune(audit, &pruned, NULL));
	CHECK_INT(pruned, 512); /* whole spans between checkpoints */
	CHECK(append_many(audit, 801, 300, 50, NULL));
	CHECK(gb_audit_close(audit, NULL));
	struct gb_audit_report report = verified(folder);
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
	CHECK_INT(report.pruned, 512);
	CHECK_INT(report.records, 589); /* including the record about the pruning */
	CHECK(strstr(read_records(folder, (struct gb_audit_filter){.seq = 801}).json,
		  "512 records pruned, up to record 512") != NULL);

	/* Faked pruning is detected: further than signed, or less far. */
	CHECK(tamper(folder, "DELETE FROM audit_record WHERE seq <= 520"));
	CHECK_REPORT(folder, GB_AUDIT_REMOVED, 513);
	CHECK(tamper(folder,
	    "UPDATE audit_start SET seq = 520, hash = (SELECT hash FROM audit_record WHERE seq = 521)"));
	CHECK_REPORT(folder, GB_AUDIT_MARK, 0);
	CHECK(tamper(folder, "DELETE FROM audit_start"));
	CHECK_REPORT(folder, GB_AUDIT_REMOVED, 1);
}

TEST(too_large_file_is_pruned) {
	auto_folder char folder[FOLDER];
	struct gb_audit *audit;
	struct gb_audit_options options = {.keep_bytes = 1 << 20};
	struct stat st;
	folder_create(folder);
	CHECK(gb_audit_open(folder, &options, &audit, NULL));
	CHECK(append_many(audit, 1, 30000, 500, NULL));
	CHECK(gb_audit_close(audit, NULL));
	struct gb_audit_report report = verified(folder);
	CHECK_INT(report.problem, GB_AUDIT_WHOLE);
	CHECK_INT(report.records + report.pruned, report.head.seq);
	CHECK(report.head.seq > 30000 && report.records > 1000);
	CHECK(stat(file_in(folder, "audit.db"), &st) == 0 && st.st_size < 3 << 20);
}
