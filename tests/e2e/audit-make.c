/*
 * Logs for audit.sh.
 *
 *	audit-make DIR append N: N runs; every third fails, in Python; the last has terminal escapes in its code
 *	audit-make DIR begin N: N runs with a record of their beginning; every second has one of its end
 *	audit-make DIR sql SQL: changes the database without the key, like an attacker
 */
#include "audit.h"

static bool append(struct gb_audit *audit, unsigned n, struct gb_err *err) {
	for (unsigned i = 1; i <= n; i++) {
		char id[32];
		snprintf(id, sizeof id, "run-%u", i);
		struct gb_audit_record record =
		    a_record(id, i == n ? "'\x1b[31mred\x07'\nsecond line" : "export default 1");
		if (i % 3 == 0) {
			record.runtime = GB_STR("python");
			record.status = GB_STR("error");
			record.session_id = GB_STR("session-2");
		}
		if (!gb_audit_append(audit, &record, NULL, NULL, err))
			return false;
	}
	return true;
}

static bool begin(struct gb_audit *audit, unsigned n, struct gb_err *err) {
	for (unsigned i = 1; i <= n; i++) {
		char id[32];
		snprintf(id, sizeof id, "begun-%u", i);
		struct gb_audit_record intent = a_record(id, "export default 2"), record = intent;
		struct gb_audit_ticket ticket;
		intent.status = (struct gb_str){0};
		if (!gb_audit_begin_ahead(audit, &intent, NULL, NULL, &ticket, err))
			return false;
		if (i % 2 == 0 && !gb_audit_finish(audit, &ticket, &record, NULL, NULL, err))
			return false;
	}
	return true;
}

int main(int argc, char **argv) {
	struct gb_audit *audit;
	struct gb_err err = {0};
	if (argc != 4)
		return 2;
	if (strcmp(argv[2], "sql") == 0)
		return !tamper(argv[1], argv[3]);
	if (!gb_audit_open(argv[1], NULL, &audit, &err))
		fprintf(stderr, "%s\n", err.message);
	else if ((strcmp(argv[2], "begin") == 0 ? begin : append)(
		     audit, (unsigned)strtoul(argv[3], NULL, 10), &err) &&
		 gb_audit_close(audit, &err))
		return 0;
	return 1;
}
