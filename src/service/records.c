/* Reading the audit log, on a thread. */
#include <stdio.h>
#include <stdlib.h>

#include "service/execution.h"
#include "store/audit.h"
#include "store/state.h"

enum { RECORD_MAX = 256 << 20 };

struct reading {
	struct gb_work work;
	char dir[GB_STATE_PATH], run[33];
	struct gb_buf json; /* empty: there is no record */
	bool ok;
	struct gb_err err;
	gb_service_record done;
	void *data;
};

static bool visit(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct reading *reading = data;
	gb_audit_json(&reading->json, seq, hash, record);
	return false;
}

static enum gb_work_end run(struct gb_work *work, void *data) {
	struct reading *reading = gb_container(struct reading, work, work);
	const struct gb_audit_filter filter = {.run = reading->run, .newest_first = true, .limit = 1};
	(void)data;
	reading->ok = gb_audit_each(reading->dir, &filter, visit, reading, &reading->err);
	return GB_WORK_DONE;
}

static void on_done(struct gb_work *work) {
	struct reading *reading = gb_container(struct reading, work, work);
	if (reading->ok && gb_buf_failed(&reading->json))
		reading->ok = gb_fail(&reading->err, GB_ELIMIT, 0, "the record is too large");
	reading->done(gb_buf_str(&reading->json), reading->ok ? NULL : &reading->err, reading->data);
	gb_buf_finish(&reading->json);
	free(reading);
}

bool gb_service_read_record(struct gb_service *service, const char *execution, gb_service_record done,
    void *data, struct gb_err *err) {
	const struct gb_config *config = service->config;
	struct reading *reading = calloc(1, sizeof *reading);
	if (!reading)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	reading->done = done;
	reading->data = data;
	reading->work = (struct gb_work){.run = run, .done = on_done};
	gb_copy_text(reading->run, sizeof reading->run, gb_str_from(execution));
	gb_buf_init(&reading->json, RECORD_MAX);
	bool ok = gb_state_choose(
	    *config->audit.directory ? config->audit.directory : config->state_dir, reading->dir, err);
	if (ok && gb_service_work(service, &reading->work, 0))
		return true;
	free(reading);
	return ok ? gb_fail(err, GB_EBUSY, 0, "too much other work waits; try again later") : false;
}
