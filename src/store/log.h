/* Internal header of the audit log: its files, struct gb_audit, and functions that read and write records and
 * marks (struct gb_mark: a signed position in the chain). */
#ifndef GB_STORE_LOG_H
#define GB_STORE_LOG_H

#include <sys/types.h>

#include "store/audit.h"
#include "store/db.h"
#include "store/state.h"

#define GB_AUDIT_DB        "audit.db"
#define GB_AUDIT_KEY_FILE  "audit.key"
#define GB_AUDIT_KEY_NEW   "audit.key.new"
#define GB_AUDIT_HEAD_FILE "audit.head"
#define GB_AUDIT_LOCK      "audit.lock"

enum { GB_AUDIT_PATH = GB_STATE_PATH + 32 };

struct gb_audit_entry {
	size_t at, n; /* offset and length of the record in gb_audit.bodies */
	gb_audit_done done;
	void *data;
	uint64_t seq; /* assigned when it is written */
};

struct gb_audit {
	struct gb_audit_options options;
	struct gb_db *db;
	char path[GB_AUDIT_PATH]; /* of the database */
	dev_t dev;                /* of the database file when it was opened */
	ino_t ino;
	int dir, head_file, reserve; /* descriptors; the space of .reserve is freed when the disk is full */
	struct gb_chain chain;
	struct gb_key key;
	bool has_head;
	struct gb_mark head;  /* the last head that this process wrote or checked */
	uint64_t opened_at;   /* seq of the head when the log was opened */
	uint64_t since_prune; /* number of records */
	bool was_pruned;      /* since it was opened */

	struct gb_audit_entry *entries; /* the queue */
	size_t n_entries, cap_entries;
	size_t n_written;      /* number of entries on the disk whose callbacks have not run */
	struct gb_buf bodies;  /* the encoded records of the queue */
	size_t ticket_bytes;   /* total of the open tickets */
	size_t reserved_bytes; /* size of .reserve */
	bool must_retry;       /* the last commit failed */
	bool head_file_is_old; /* the last write of the head file failed */
	uint64_t checked_ns;   /* when the database was last found at .path */

	sqlite3_stmt *insert_record, *insert_checkpoint, *set_head, *get_head;
};

extern const struct gb_db_options gb_audit_db_options; /* read-only */

/* Read a mark from columns 0 to 3 of a row: seq, hash, time, signature. False if the mark is invalid. */
bool gb_mark_from_row(sqlite3_stmt *stmt, struct gb_mark *ret_mark);
void gb_mark_to_row(sqlite3_stmt *stmt, const struct gb_mark *mark);
/* Read the only row of @table ("audit_head", "audit_start"). *ret_is_present is false if there is none. */
bool gb_log_read_mark(
    struct gb_db *db, const char *table, struct gb_mark *ret_mark, bool *ret_is_present, struct gb_err *err);
bool gb_log_read_chain(
    struct gb_db *db, struct gb_chain *ret_chain, bool *ret_is_present, struct gb_err *err);
/* Read the hash stored with record @seq. */
bool gb_log_read_hash(
    struct gb_db *db, uint64_t seq, struct gb_hash *ret_hash, bool *ret_is_present, struct gb_err *err);
/* Copy a blob column to @ret. False if it does not have exactly @n bytes. */
bool gb_log_blob(sqlite3_stmt *stmt, int column, void *ret, size_t n);

/* Read and write the head file, which is beside the database. */
bool gb_head_file_read(int fd, const struct gb_chain *chain, struct gb_mark *ret_mark, struct gb_err *err);
bool gb_head_file_write(int fd, struct gb_mark mark, const struct gb_chain *chain, const struct gb_key *key);

/* Within a transaction: read the head. Fails unless it is signed by the key, continues the head that this
 * process knows, and matches the newest record. */
bool gb_log_trusted_head(struct gb_audit *audit, struct gb_mark *ret_head, struct gb_err *err);
/* Append a record after @head, with a checkpoint when one is due, and update @head. */
bool gb_log_insert(
    struct gb_audit *audit, struct gb_mark *head, const void *body, size_t n, struct gb_err *err);
/* Sign and write @head. */
bool gb_log_write_head(struct gb_audit *audit, struct gb_mark *head, struct gb_err *err);
bool gb_log_write_checkpoint(struct gb_audit *audit, const struct gb_mark *at, struct gb_err *err);
/* Call after the commit: remember @head and write it to the head file. */
void gb_log_set_head(struct gb_audit *audit, const struct gb_mark *head);

int64_t gb_audit_now(const struct gb_audit *audit);

#endif
