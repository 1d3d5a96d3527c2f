/* Shared by the tests of the audit log: a check of the verification report, and reading records. */
#ifndef GB_TESTS_UNIT_AUDIT_CHECKS_H
#define GB_TESTS_UNIT_AUDIT_CHECKS_H

#include "audit.h"
#include "tap.h"

static inline void show_report(const struct gb_audit_report *report) {
	printf("# %s, record %llu: %s\n", gb_audit_problem_name(report->problem),
	    (unsigned long long)report->seq, report->message);
}

#define CHECK_REPORT(folder, expected_problem, expected_seq)                                                 \
	do {                                                                                                 \
		struct gb_audit_report report_ = verified(folder);                                           \
		bool same_ = CHECK_INT(report_.problem, expected_problem);                                   \
		if (!CHECK_INT(report_.seq, expected_seq) || !same_)                                         \
			show_report(&report_);                                                               \
	} while (0)

struct records {
	unsigned n;
	uint64_t last;
	char json[4096];
};

static inline bool count_record(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct records *records = data;
	gb_auto_buf struct gb_buf json;
	gb_buf_init(&json, sizeof records->json - 1);
	records->n++;
	records->last = seq;
	gb_audit_json(&json, seq, hash, record);
	const char *text = gb_buf_c_str(&json);
	snprintf(records->json, sizeof records->json, "%s", text ? text : "");
	return true;
}

static inline struct records read_records(const char *folder, struct gb_audit_filter filter) {
	struct records records = {0};
	CHECK(gb_audit_each(folder, &filter, count_record, &records, NULL));
	return records;
}

#endif
