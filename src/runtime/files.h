/*
 * The files of a run: input files are written to /box before the run; files that the run created or changed
 * there are sent afterwards. All of this happens inside the sandbox: the host never opens a file that
 * untrusted code created.
 *
 *	struct gb_files files = {0};
 *	if (!gb_files_place(&files, &job, why, sizeof why)) ...
 *	... the run ...
 *	gb_files_send(&files, limit, post);
 *	... the next run in the same box ...
 */
#ifndef GB_RUNTIME_FILES_H
#define GB_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "runtime/job.h"

/* The state of the box at the last call, to detect changes. Zero-initialised: the box is empty. */
struct gb_files {
	struct gb_files_mark {
		ino_t inode;
		off_t size;
		struct timespec changed;
	} * marks;
	size_t n, cap;
	/* Paths of the "take" setting of the present run: sent even if they have not changed. */
	char **taken;
	size_t n_taken;
};

/* Note the paths of the "take" setting. Write the input files from the "files" setting: an object that maps paths
 * to text or bytes. Files that exist afterwards do not count as created by the run. On failure returns false and
 * sets @why. */
bool gb_files_place(struct gb_files *files, const struct gb_job *job, char *why, size_t n_why);

/* Pass each new or changed file to @post as a FILE frame, at most @max_bytes in total, and record the new
 * state of the box. Returns false if files were left out. */
bool gb_files_send(struct gb_files *files, uint64_t max_bytes, void (*post)(const void *frame, size_t n));

void gb_files_finish(struct gb_files *files);

#endif
