/*
 * The audit log: a record of every execution, each linked to the one before, under signed marks.
 *
 *	gb_audit_open(dir, NULL, &audit, &err);
 *
 *	struct gb_audit_ticket ticket;
 *	if (!gb_audit_begin(audit, &record, &ticket, &err))		// cannot be recorded:
 *		refuse(err.message);					//   is not run
 *	...run it...
 *	gb_audit_finish(audit, &ticket, &record, on_recorded, run, &err);
 *	...at the end of each turn of the event loop...
 *	gb_audit_commit(audit, &err);					// one fsync for all
 *
 *	static void on_recorded(void *run, uint64_t seq) { give_out_result(run); }
 *
 *	gb_audit_close(audit, &err);
 *
 * Two promises, and what they rest on:
 *
 * 1. No result is given out whose record is missing. A result leaves in the callback of gb_audit_finish,
 * which comes from gb_audit_commit, after the transaction that holds the record is on the disk. A commit that
 * fails loses nothing: what was to be written stays queued, its callbacks are still to come, and the next
 * commit tries again.
 *
 * 2. What cannot be recorded is not run. gb_audit_begin fails while an earlier record waits for a commit that
 * failed, while the log is read-only, gone, or another than the one that was opened, while the queue is full,
 * and when the disk has no room: it sets aside the bytes that the record will need, in a file without a name,
 * and gives them back to the file system if a commit finds the disk full. If the
 * host is killed between begin and commit, the run dies with it. No result was returned, and the log does not
 * show that the run was begun.
 *
 * A caller that returns anything of a run before its end (output as it is written) queues an
 * "execution_begin" record with gb_audit_ahead first, and returns it after the commit of that record. For runs
 * with effects outside of the wall, gb_audit_begin_ahead queues that record before the run; the caller starts
 * the run in the callback. Either costs a second record and an fsync.
 *
 * Group commit without threads: gb_audit_commit blocks for one fsync, sandboxes run on meanwhile, and all
 * that have ended by then are the next group. Several processes may have the same log open: each group is one
 * transaction that begins where the last one of any process ended.
 *
 * What is and is not detected by gb_audit_verify: docs/AUDIT.md.
 */
#ifndef GB_STORE_AUDIT_H
#define GB_STORE_AUDIT_H

#include "store/chain.h"
#include "store/record.h"

enum {
	GB_AUDIT_CHECKPOINT_EVERY = 256,  /* records */
	GB_AUDIT_QUEUE_RECORDS = 1 << 16, /* that wait for a commit, at most */
	GB_AUDIT_QUEUE_BYTES = 256 << 20, /* of theirs and of all tickets */
};

struct gb_audit;

struct gb_audit_options {
	uint64_t keep_ms;        /* records older than this are pruned; 0: none */
	uint64_t keep_bytes;     /* the oldest are pruned when the file holds more; 0: none */
	unsigned busy_ms;        /* how long a commit waits for other processes; 0: ten seconds */
	int64_t (*now_ms)(void); /* the wall clock; NULL: the system's */
};

/* Open the log in @dir, or begin one: the folder, the database, the key. @options may be NULL. Fails if the
 * log is not the one that the key signed; then nothing can be recorded, and gb_audit_verify tells more. */
bool gb_audit_open(
    const char *dir, const struct gb_audit_options *options, struct gb_audit **ret_audit, struct gb_err *err);
/* Commit, sign a checkpoint and release everything, also on failure: callbacks of what could not be written
 * are then called with 0. */
bool gb_audit_close(struct gb_audit *audit, struct gb_err *err);

/* What is kept from now on: see the options. */
void gb_audit_keep(struct gb_audit *audit, uint64_t keep_ms, uint64_t keep_bytes);

/* @seq is the record's number, from 1; 0 if it was never written (from gb_audit_close only). */
typedef void (*gb_audit_done)(void *data, uint64_t seq);

/* The right to record one execution. Plain data; ends with gb_audit_finish or gb_audit_cancel. */
struct gb_audit_ticket {
	size_t bytes;
	bool was_begun;
};

/* @intent is what is known so far. Commits first if the last commit failed, so callbacks may come from here.
 */
bool gb_audit_begin(struct gb_audit *audit, const struct gb_audit_record *intent,
    struct gb_audit_ticket *ret_ticket, struct gb_err *err);
/* The same, and write @intent as an "execution_begin": @done is called when it is on the disk. */
bool gb_audit_begin_ahead(struct gb_audit *audit, const struct gb_audit_record *intent, gb_audit_done done,
    void *data, struct gb_audit_ticket *ret_ticket, struct gb_err *err);
/* Queue @intent as an "execution_begin" of a run that has a ticket already. @done may be NULL. On failure the
 * ticket is still good. */
bool gb_audit_ahead(struct gb_audit *audit, struct gb_audit_ticket *ticket,
    const struct gb_audit_record *intent, gb_audit_done done, void *data, struct gb_err *err);
/* Queue the record. On failure (memory) the ticket is still good. */
bool gb_audit_finish(struct gb_audit *audit, struct gb_audit_ticket *ticket,
    const struct gb_audit_record *record, gb_audit_done done, void *data, struct gb_err *err);
/* Nothing was run. */
void gb_audit_cancel(struct gb_audit *audit, struct gb_audit_ticket *ticket);

/* Queue a record of something else. @done may be NULL. */
bool gb_audit_append(struct gb_audit *audit, const struct gb_audit_record *record, gb_audit_done done,
    void *data, struct gb_err *err);

/* Write what is queued, in one transaction; then the callbacks, in order, which may begin and append. */
bool gb_audit_commit(struct gb_audit *audit, struct gb_err *err);
/* Write what is queued, and leave the callbacks to the next gb_audit_commit: for callers in whose place no
 * callback may be called. */
bool gb_audit_write(struct gb_audit *audit, struct gb_err *err);
/* How many records wait, for the disk or for their callbacks. */
size_t gb_audit_pending(const struct gb_audit *audit);

/* The newest record that this process knows of. To be kept elsewhere: see gb_audit_expected. */
void gb_audit_head(const struct gb_audit *audit, uint64_t *ret_seq, struct gb_hash *ret_hash);

/* Prune by the options now, and not only now and then; *ret_pruned is how many records went. (prune.c) */
bool gb_audit_prune(struct gb_audit *audit, uint64_t *ret_pruned, struct gb_err *err);

/* *ret_exists: is there a log in @dir, or a part of one? Fails if that cannot be told. (reader.c) */
bool gb_audit_exists(const char *dir, bool *ret_exists, struct gb_err *err);

/* --- verification (verify.c) --- */

enum gb_audit_problem {
	GB_AUDIT_WHOLE,
	GB_AUDIT_CHANGED,    /* a record's bytes are not those that were written */
	GB_AUDIT_REMOVED,    /* a record is missing, with others after it */
	GB_AUDIT_SWAPPED,    /* two records have changed places */
	GB_AUDIT_TAIL_CUT,   /* the newest records are missing */
	GB_AUDIT_ADDED,      /* records that were never signed */
	GB_AUDIT_KEY,        /* another key than the one that the log was begun with, or none to compare */
	GB_AUDIT_CHECKPOINT, /* a checkpoint is missing, changed, or of another chain */
	GB_AUDIT_MARK,       /* the head or the start is missing or changed */
	GB_AUDIT_DAMAGED,    /* the file cannot be read on */
	GB_AUDIT_UNEXPECTED, /* not what the caller has noted elsewhere */
};

const char *gb_audit_problem_name(enum gb_audit_problem problem);

/* What was noted elsewhere, out of reach of whoever can write the log. */
struct gb_audit_expected {
	bool has_key, has_head;
	uint8_t public_key[GB_PUBLIC_KEY_BYTES];
	uint64_t seq; /* a record that was the head once, and its hash */
	struct gb_hash hash;
};

struct gb_audit_report {
	enum gb_audit_problem problem;
	uint64_t seq;        /* the first bad record, 0 if it is none in particular */
	char message[300];   /* why, in words */
	uint64_t records;    /* that were seen to be good */
	uint64_t pruned;     /* records 1 to this one were pruned */
	uint64_t unfinished; /* begun ahead, without an end: under way, or lost with their host */
	uint64_t clock_back; /* how often a record is older than the one before it */
	bool key_compared;   /* with the key file; if not, that is a problem unless a key is expected */
	int64_t first_ms, last_ms;
	struct gb_mark head;
	uint8_t public_key[GB_PUBLIC_KEY_BYTES];
};

/* Called now and then. */
typedef void (*gb_audit_progress)(void *data, uint64_t done, uint64_t all);

/* Examine the log in @dir, also while others append to it. Memory does not grow with it. False if it could
 * not be examined (there is none, or it may not be read); otherwise the report says how it is. @expected and
 * @progress may be NULL. */
bool gb_audit_verify(const char *dir, const struct gb_audit_expected *expected, gb_audit_progress progress,
    void *data, struct gb_audit_report *ret_report, struct gb_err *err);

/* --- reading (reader.c) --- */

struct gb_audit_filter {
	int64_t from_ms, to_ms; /* time of recording: at or after, before; 0: any */
	const char *session, *conversation, *runtime, *status, *run; /* NULL: any */
	uint64_t seq;                                                /* only this one; 0: any */
	uint64_t limit;                                              /* 0: none */
	bool newest_first;
};

/* False stops. @record lives as long as the call. */
typedef bool (*gb_audit_visit)(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record);

/* Visit the records that pass @filter. Does not verify: what it reads is what the file says. */
bool gb_audit_each(const char *dir, const struct gb_audit_filter *filter, gb_audit_visit visit, void *data,
    struct gb_err *err);

#endif
