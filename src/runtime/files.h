/*
 * The files of a run: what it is given is put into /box before it begins; what it has made or changed there
 * is sent when it has ended. All of that happens inside: the host never opens what code has made.
 *
 *	struct gb_files files = {0};
 *	if (!gb_files_place(&files, &job, why, sizeof why)) ...
 *	... the run ...
 *	gb_files_send(&files, limit, post);
 *	... the next run of the same box ...
 */
#ifndef GB_RUNTIME_FILES_H
#define GB_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "runtime/job.h"

/* What was there when it was last looked at, to tell what has changed. Starts zeroed: the box is empty. */
struct gb_files {
	struct gb_files_mark {
		ino_t inode;
		off_t size;
		struct timespec changed;
	} * marks;
	size_t n, cap;
};

/* Write what the job's settings say under "files": an object, path to text or bytes. What is in the box then
 * is not new. False, and @why, if that cannot be done. */
bool gb_files_place(struct gb_files *files, const struct gb_job *job, char *why, size_t n_why);

/* Give each file that is not as it was to @post, as a FILE frame: at most @max_bytes together. What is in the
 * box then is not new any more. False if there was more. */
bool gb_files_send(struct gb_files *files, uint64_t max_bytes, void (*post)(const void *frame, size_t n));

void gb_files_finish(struct gb_files *files);

#endif
