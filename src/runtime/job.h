/*
 * Read the JOB frame in a worker. The host wrote it, so malformed input ends the process.
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
#include "base/str.h"
#include "value/cbor.h"

/* A NUL-terminated text. */
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
	struct gb_job_text export_name; /* p is NULL: no export was requested */
	uint64_t flags;
	uint64_t memory, output, result, report, call, calls, in_flight, cpu_seconds;
	struct gb_job_module *modules;
	size_t n_modules;
	struct gb_cbor_reader values; /* imports, globals, arguments, settings */
};

/* Wait for the job. On end of stream the process exits: the host has discarded an unused cell. */
void gb_job_read(int fd, struct gb_job *ret_job);

/* Parse a job from bytes already read. */
void gb_job_parse(struct gb_job *job, uint8_t *bytes, size_t n);
/* True if the settings contain @name with the value true. */
bool gb_job_setting(const struct gb_job *job, const char *name);
/* The text of the setting @name, in the bytes of the job; .p is NULL if it has none. */
struct gb_str gb_job_text_setting(const struct gb_job *job, const char *name);
/* The object of the setting @name: *ret is at its first key. Returns how many entries it has. */
uint64_t gb_job_object_setting(const struct gb_job *job, const char *name, struct gb_cbor_reader *ret);
/* Free the texts. */
void gb_job_finish(struct gb_job *job);

/* Append the payload of a TypeScript job that runs @source without any inputs. */
void gb_job_write_bare(struct gb_buf *out, const char *source, const char *filename);

#endif
