/*
 * The JOB frame, as the worker reads it. The host wrote it, so what is malformed ends the process.
 *
 *	struct gb_job job;
 *	gb_job_read(fd, &job);
 */
#ifndef GB_RUNTIME_JOB_H
#define GB_RUNTIME_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/cbor.h"

/* A text with a zero after its end. */
struct gb_job_text {
	char *p;
	size_t n;
};

struct gb_job_module {
	struct gb_job_text name;
	struct gb_job_text source;
};

struct gb_job {
	uint8_t *bytes; /* the frame's payload; the values below point into it, the texts are copies */
	size_t n;
	struct gb_job_text source;
	struct gb_job_text filename;
	struct gb_job_text export_name; /* p is NULL: none was named */
	uint64_t flags;
	uint64_t memory, output, result, report, call, calls, in_flight, cpu_seconds;
	struct gb_job_module *modules;
	size_t n_modules;
	struct gb_cbor_reader values; /* imports, globals, arguments, settings */
};

/* Wait for the job. The end of the stream instead is the host letting go of a cell that it did not need. */
void gb_job_read(int fd, struct gb_job *ret_job);

/* The same from bytes that are there. */
void gb_job_parse(struct gb_job *job, uint8_t *bytes, size_t n);
/* Whether the settings have @name, and say true. */
bool gb_job_setting(const struct gb_job *job, const char *name);
/* Forget the texts. */
void gb_job_finish(struct gb_job *job);

/* A job that runs @source, TypeScript where that is asked, and is given nothing else; as a payload. */
void gb_job_write_bare(struct gb_buf *out, const char *source, const char *filename);

#endif
