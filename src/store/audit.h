/*
 * The audit log: a record of every execution, each linked to the previous one by its hash, under signed
 * marks.
 *
 *	gb_audit_open(dir, NULL, &audit, &err);
 *
 *	struct gb_audit_ticket ticket;
 *	if (!gb_audit_begin(audit, &record, &ticket, &err))		// cannot be recorded:
 *		reject(err.message);					//   must not run
 *	...run it...
 *	gb_audit_finish(audit, &ticket, &record, on_recorded, run, &err);
 *	...at the end of each iteration of the event loop...
 *	gb_audit_commit(audit, &err);					// one fsync for all
 *
 *	static void on_recorded(void *run, uint64_t seq) { return_result(run); }
 *
 *	gb_audit_close(audit, &err);
 *
 * Two guarantees:
 *
 * 1. No result is returned without its record. The caller returns a result in the callback of
 * gb_audit_finish, which gb_audit_commit calls after the transaction with the record is on the disk. A failed
 * commit loses nothing: the records stay queued with their callbacks, and the next commit tries again.
 *
 * 2. A run that cannot be recorded does not start. gb_audit_begin fails while an earlier record waits for a
 * commit that failed, while the log is read-only, missing, or not the one that was opened, while the queue is
 * full, and when the disk is full: it reserves the bytes that the record will need in an unnamed file, and
 * releases them to the file system if a commit finds the disk full. If the host is killed between begin and
 * commit, the run is killed with it. No result was returned, and the log does not show that the run began.
 *
 * A caller that returns anything of a run before its end (output as it is written) queues an
 * "execution_begin" record with gb_audit_ahead first, and returns it after the commit of that record. For
 * runs with effects outside the sandbox, gb_audit_begin_ahead queues that record before the run; the caller
 * starts the run in the callback. Either costs a second record and an fsync.
 *
 * Group commit: gb_audit_commit blocks for one fsync while the sandboxes keep running; the runs that end
 * meanwhile form the next group. A handle belongs to one thread; the gate has one for its stores
 * (store/worker.h). Several processes may open the same log: each group is one
 * transaction that continues the chain where the last transaction of any process ended.
 *
 * What is and is not detected by gb_audit_verify: docs/AUDIT.md.
 */
#ifndef GB_STORE_AUDIT_H
#define GB_STORE_AUDIT_H

#include "store/chain.h"
#include "store/record.h"

enum {
	GB_AUDIT_CHECKPOINT_EVERY = 256,  /* records */
	GB_AUDIT_QUEUE_RECORDS = 1 << 16, /* maximum number that wait for a commit */
	GB_AUDIT_QUEUE_BYTES = 256 << 20, /* maximum size of these and of all tickets */
};

struct gb_audit;

struct gb_audit_options {
	uint64_t keep_ms;    /* records older than this are pruned; 0: none */
	uint64_t keep_bytes; /* the oldest are pruned while the file is larger; 0: none */
	unsigned busy_ms;    /* how long a commit waits for other processes: see store/db.h */
	bool prunes_later; /* do not prune at opening and in commits: the caller calls gb_audit_prune_some */
	int64_t (*now_ms)(void); /* the wall clock; NULL: the system's */
};

/* Open the log in @dir, or create one: folder, database, key. @options may be NULL. Fails if the log is not
 * the one that the key signed; then nothing can be recorded, and gb_audit_verify reports details. */
bool gb_audit_open(
    const char *dir, const struct gb_audit_options *options, struct gb_audit **ret_audit, struct gb_err *err);
/* Commit, sign a checkpoint and release everything, also on failure: then the callbacks of records that could
 * not be written are called with 0. */
bool gb_audit_close(struct gb_audit *audit, struct gb_err *err);

/* Change the retention: see the options. */
void gb_audit_keep(struct gb_audit *audit, uint64_t keep_ms, uint64_t keep_bytes);
/* Change .busy_ms of the options. */
void gb_audit_set_busy(struct gb_audit *audit, unsigned busy_ms);

/* @seq is the record's number, from 1; 0 if it was not written (only from gb_audit_close). */
typedef void (*gb_audit_done)(void *data, uint64_t seq);

/* A reservation to record one execution. Plain data; released by gb_audit_finish or gb_audit_cancel. */
struct gb_audit_ticket {
	size_t bytes;
	bool was_begun;
};

/* @intent holds the fields known so far. Commits first if the last commit failed, so it may run callbacks. */
bool gb_audit_begin(struct gb_audit *audit, const struct gb_audit_record *intent,
    struct gb_audit_ticket *ret_ticket, struct gb_err *err);
/* The same in two steps: how many bytes a record that begins as @intent may need, and their reservation. */
size_t gb_audit_needed(const struct gb_audit_record *intent);
bool gb_audit_reserve(
    struct gb_audit *audit, size_t bytes, struct gb_audit_ticket *ret_ticket, struct gb_err *err);
/* Like gb_audit_begin, and queue @intent as an "execution_begin": @done is called when it is on the disk. */
bool gb_audit_begin_ahead(struct gb_audit *audit, const struct gb_audit_record *intent, gb_audit_done done,
    void *data, struct gb_audit_ticket *ret_ticket, struct gb_err *err);
/* Queue @intent as the "execution_begin" of a run that has a ticket. @done may be NULL. On failure the ticket
 * stays valid. */
bool gb_audit_ahead(struct gb_audit *audit, struct gb_audit_ticket *ticket,
    const struct gb_audit_record *intent, gb_audit_done done, void *data, struct gb_err *err);
/* Queue the record. On failure (out of memory) the ticket stays valid. */
bool gb_audit_finish(struct gb_audit *audit, struct gb_audit_ticket *ticket,
    const struct gb_audit_record *record, gb_audit_done done, void *data, struct gb_err *err);
/* Release the ticket of a run that did not start. */
void gb_audit_cancel(struct gb_audit *audit, struct gb_audit_ticket *ticket);

/* Queue a record of anything else. @done may be NULL. */
bool gb_audit_append(struct gb_audit *audit, const struct gb_audit_record *record, gb_audit_done done,
    void *data, struct gb_err *err);

/* Write the queue in one transaction, then run the callbacks in order; these may begin and append. */
bool gb_audit_commit(struct gb_audit *audit, struct gb_err *err);
/* Write the queue, and leave the callbacks to the next gb_audit_commit: for callers that cannot run callbacks
 * now. */
bool gb_audit_write(struct gb_audit *audit, struct gb_err *err);
/* The number of queued records, including those written whose callbacks have not run. */
size_t gb_audit_pending(const struct gb_audit *audit);

/* The newest record known to this process. To be stored elsewhere: see gb_audit_expected. */
void gb_audit_head(const struct gb_audit *audit, uint64_t *ret_seq, struct gb_hash *ret_hash);

/* Prune now, instead of periodically; *ret_pruned is the number of deleted records. (prune.c) */
bool gb_audit_prune(struct gb_audit *audit, uint64_t *ret_pruned, struct gb_err *err);
/* Whether the log was just opened, or has had many records since it was pruned. */
bool gb_audit_is_prune_due(const struct gb_audit *audit);
/* Prune a bounded number of records, in one short transaction. *ret_more: there may be more to prune. */
bool gb_audit_prune_some(struct gb_audit *audit, bool *ret_more, struct gb_err *err);

/* *ret_exists: whether @dir contains a log or a part of one. Fails if this cannot be determined.
 * (reader.c) */
bool gb_audit_exists(const char *dir, bool *ret_exists, struct gb_err *err);

/* --- verification (verify.c) --- */

enum gb_audit_problem {
	GB_AUDIT_WHOLE,
	GB_AUDIT_CHANGED,    /* a record does not match its hash */
	GB_AUDIT_REMOVED,    /* a record is missing, and later ones exist */
	GB_AUDIT_SWAPPED,    /* two records have changed places */
	GB_AUDIT_TAIL_CUT,   /* the newest records are missing */
	GB_AUDIT_ADDED,      /* there are records that were never signed */
	GB_AUDIT_KEY,        /* not the key that the log was begun with, or no key to compare */
	GB_AUDIT_CHECKPOINT, /* a checkpoint is missing, changed, or of another chain */
	GB_AUDIT_MARK,       /* the head or the start is missing or changed */
	GB_AUDIT_DAMAGED,    /* the rest of the file cannot be read */
	GB_AUDIT_UNEXPECTED, /* does not match what the caller stored elsewhere */
};

const char *gb_audit_problem_name(enum gb_audit_problem problem);

/* Values stored elsewhere, out of reach of processes that can write the log. */
struct gb_audit_expected {
	bool has_key, has_head;
	uint8_t public_key[GB_PUBLIC_KEY_BYTES];
	uint64_t seq; /* a record that was once the head, and its hash */
	struct gb_hash hash;
};

struct gb_audit_report {
	enum gb_audit_problem problem;
	uint64_t seq;        /* the first bad record, 0 if not about a record */
	char message[300];   /* describes the problem */
	uint64_t records;    /* number of good records */
	uint64_t pruned;     /* records 1 to this one were pruned */
	uint64_t unfinished; /* begun without an end: still running, or lost with their host */
	uint64_t clock_back; /* number of records older than the previous one */
	bool key_compared;   /* with the key file; otherwise a problem, unless a key is expected */
	int64_t first_ms, last_ms;
	struct gb_mark head;
	uint8_t public_key[GB_PUBLIC_KEY_BYTES];
};

/* Called periodically. */
typedef void (*gb_audit_progress)(void *data, uint64_t done, uint64_t all);

/* Verify the log in @dir, also while other processes append to it, in constant memory. False if it could not
 * be examined (missing or unreadable); otherwise the result is in the report. @expected and @progress may be
 * NULL. */
bool gb_audit_verify(const char *dir, const struct gb_audit_expected *expected, gb_audit_progress progress,
    void *data, struct gb_audit_report *ret_report, struct gb_err *err);

/* --- reading (reader.c) --- */

struct gb_audit_filter {
	int64_t from_ms, to_ms; /* time of recording: at or after, before; 0: any */
	const char *session, *conversation, *runtime, *status, *run; /* NULL: any */
	const char *host; /* with an attempt to reach it; NULL: any */
	uint64_t seq;     /* only this one; 0: any */
	uint64_t limit;   /* 0: none */
	bool newest_first;
};

/* Return false to stop. @record is valid during the call. */
typedef bool (*gb_audit_visit)(
    void *data, uint64_t seq, const struct gb_hash *hash, const struct gb_audit_record *record);

/* Visit the records that match @filter. Does not verify: it returns what the file contains. */
bool gb_audit_each(const char *dir, const struct gb_audit_filter *filter, gb_audit_visit visit, void *data,
    struct gb_err *err);

#endif
