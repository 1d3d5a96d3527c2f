/* Finds which of the runs that have begun have a record of their end. */
#include <stdlib.h>
#include <string.h>

#include "cli/audit.h"

enum { BEGUN_MAX = 1 << 20, FIRST = 16 };

struct audit_begun_run {
	char id[33];
	bool ended;
};

static int compare(const void *a, const void *b) {
	return strcmp(((const struct audit_begun_run *)a)->id, ((const struct audit_begun_run *)b)->id);
}

static bool is_begin(const struct gb_audit_record *record) {
	return gb_str_eq(record->kind, GB_STR("execution_begin"));
}

static struct audit_begun_run *find(const struct audit_begun *begun, const struct gb_audit_record *record) {
	struct audit_begun_run wanted;
	if (record->run_id.n >= sizeof wanted.id)
		return NULL;
	snprintf(wanted.id, sizeof wanted.id, "%.*s", GB_STR_ARG(record->run_id));
	return begun->n ? bsearch(&wanted, begun->runs, begun->n, sizeof wanted, compare) : NULL;
}

static bool collect(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct audit_begun *begun = data;
	(void)hash;
	if (!is_begin(record) || record->run_id.n >= sizeof begun->runs->id)
		return true;
	if (begun->n == begun->cap) {
		size_t cap = begun->cap ? begun->cap * 2 : FIRST;
		struct audit_begun_run *runs =
		    cap <= BEGUN_MAX ? reallocarray(begun->runs, cap, sizeof *runs) : NULL;
		if (!runs)
			return !(begun->failed = true);
		begun->runs = runs;
		begun->cap = cap;
	}
	struct audit_begun_run *run = &begun->runs[begun->n++];
	snprintf(run->id, sizeof run->id, "%.*s", GB_STR_ARG(record->run_id));
	run->ended = false;
	begun->oldest = !begun->oldest || seq < begun->oldest ? seq : begun->oldest;
	return true;
}

/* Called from the newest record back to the oldest beginning. */
static bool note_end(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record) {
	struct audit_begun *begun = data;
	(void)hash;
	struct audit_begun_run *run = record->was_begun ? find(begun, record) : NULL;
	if (run)
		run->ended = true;
	return seq > begun->oldest;
}

bool audit_begun_load(
    struct audit_begun *begun, const char *dir, const struct gb_audit_filter *filter, struct gb_err *err) {
	*begun = (struct audit_begun){0};
	if (!gb_audit_each(dir, filter, collect, begun, err))
		return false;
	if (begun->failed)
		return gb_fail(err, GB_ELIMIT, 0, "too many records for one list; choose fewer with --limit");
	if (!begun->n)
		return true;
	qsort(begun->runs, begun->n, sizeof *begun->runs, compare);
	return gb_audit_each(dir, &(struct gb_audit_filter){.newest_first = true}, note_end, begun, err);
}

bool audit_is_unfinished(const struct audit_begun *begun, const struct gb_audit_record *record) {
	const struct audit_begun_run *run = is_begin(record) ? find(begun, record) : NULL;
	return run && !run->ended;
}

void audit_begun_finish(struct audit_begun *begun) {
	free(begun->runs);
	*begun = (struct audit_begun){0};
}
