#include "runtime/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/wire.h"
#include "value/frame.h"

enum { VALUES_DEPTH = 1000 };

static void *allocate(size_t count, size_t size) {
	void *memory = calloc(count ? count : 1, size);
	if (!memory)
		_exit(1);
	return memory;
}

/* Read a text; .p is NULL for null. */
static struct gb_job_text read_text(struct gb_cbor_reader *in) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || (item.kind == GB_CBOR_TAG && !gb_cbor_next(in, &item)))
		_exit(1);
	if (item.kind == GB_CBOR_SIMPLE)
		return (struct gb_job_text){NULL, 0};
	if (item.kind != GB_CBOR_TEXT && item.kind != GB_CBOR_BYTES)
		_exit(1);
	struct gb_job_text copy = {allocate(item.argument + 1, 1), item.argument};
	memcpy(copy.p, item.bytes, copy.n);
	return copy;
}

static struct gb_job_text read_required_text(struct gb_cbor_reader *in) {
	struct gb_job_text text = read_text(in);
	if (!text.p)
		_exit(1);
	return text;
}

static uint64_t read_number(struct gb_cbor_reader *in) {
	struct gb_cbor_item item;
	if (!gb_cbor_next(in, &item) || item.kind != GB_CBOR_UNSIGNED)
		_exit(1);
	return item.argument;
}

static void read_modules(struct gb_job *job, struct gb_cbor_reader *in) {
	job->n_modules = read_number(in);
	if (job->n_modules > (size_t)(in->end - in->at))
		_exit(1);
	if (job->n_modules)
		job->modules = allocate(job->n_modules, sizeof *job->modules);
	for (size_t i = 0; i < job->n_modules; i++) {
		job->modules[i].name = read_required_text(in);
		job->modules[i].source = read_required_text(in);
	}
}

void gb_job_parse(struct gb_job *job, uint8_t *bytes, size_t n) {
	struct gb_cbor_reader in = gb_cbor_reader(bytes, n);
	*job = (struct gb_job){.bytes = bytes, .n = n};
	job->source = read_required_text(&in);
	job->filename = read_required_text(&in);
	job->export_name = read_text(&in);
	uint64_t *const numbers[] = {&job->flags, &job->memory, &job->output, &job->result, &job->report,
	    &job->call, &job->calls, &job->in_flight, &job->cpu_seconds};
	for (size_t i = 0; i < GB_COUNT(numbers); i++)
		*numbers[i] = read_number(&in);
	read_modules(job, &in);
	job->values = in;
}

/* The first item of the setting @name; *ret_in is behind it. */
static bool find_setting(
    const struct gb_job *job, const char *name, struct gb_cbor_reader *ret_in, struct gb_cbor_item *ret) {
	struct gb_cbor_reader in = job->values;
	struct gb_cbor_item item, key;
	for (int i = 0; i < 3; i++) /* imports, globals, arguments */
		if (!gb_cbor_skip(&in, VALUES_DEPTH))
			return false;
	if (!gb_cbor_next(&in, &item) || item.kind != GB_CBOR_OBJECT)
		return false;
	for (uint64_t i = 0; i < item.argument; i++) {
		if (!gb_cbor_next(&in, &key) || key.kind != GB_CBOR_TEXT)
			return false;
		if (key.argument == strlen(name) && memcmp(key.bytes, name, key.argument) == 0) {
			const bool found = gb_cbor_next(&in, ret);
			*ret_in = in;
			return found;
		}
		if (!gb_cbor_skip(&in, VALUES_DEPTH))
			return false;
	}
	return false;
}

bool gb_job_setting(const struct gb_job *job, const char *name) {
	struct gb_cbor_item flag;
	struct gb_cbor_reader in;
	return find_setting(job, name, &in, &flag) && flag.kind == GB_CBOR_SIMPLE &&
	       flag.argument == GB_SIMPLE_TRUE;
}

struct gb_str gb_job_text_setting(const struct gb_job *job, const char *name) {
	struct gb_cbor_item text;
	struct gb_cbor_reader in;
	return find_setting(job, name, &in, &text) && text.kind == GB_CBOR_TEXT
		   ? (struct gb_str){(const char *)text.bytes, text.argument}
		   : (struct gb_str){NULL, 0};
}

uint64_t gb_job_object_setting(const struct gb_job *job, const char *name, struct gb_cbor_reader *ret) {
	struct gb_cbor_item object;
	return find_setting(job, name, ret, &object) && object.kind == GB_CBOR_OBJECT ? object.argument : 0;
}

void gb_job_write_bare(struct gb_buf *out, const char *source, const char *filename) {
	enum { NUMBERS = 9, FLAGS = 0, RESULT = 3, ENOUGH = 4096 };
	gb_cbor_string(out, source, strlen(source));
	gb_cbor_string(out, filename, strlen(filename));
	gb_cbor_simple(out, GB_SIMPLE_NULL);
	for (unsigned i = 0; i < NUMBERS; i++)
		gb_cbor_unsigned(out, i == FLAGS ? GB_JOB_TYPESCRIPT : i == RESULT ? ENOUGH : 0);
	gb_cbor_unsigned(out, 0);
	gb_cbor_object(out, 0);
	gb_cbor_object(out, 0);
	gb_cbor_array(out, 0);
	gb_cbor_object(out, 0);
}

void gb_job_finish(struct gb_job *job) {
	free(job->source.p);
	free(job->filename.p);
	free(job->export_name.p);
	for (size_t i = 0; i < job->n_modules; i++) {
		free(job->modules[i].name.p);
		free(job->modules[i].source.p);
	}
	free(job->modules);
}

/* Read the head separately. The kernel may complete the read of a worker that was killed while it waited. If
 * that read covered the whole job, the host could not know that no code has run. With the rest still unread,
 * the host can give the job to another worker. */
void gb_job_read(int fd, struct gb_job *ret_job) {
	uint8_t head[GB_FRAME_HEAD];
	ssize_t got;
	do
		got = read(fd, head, sizeof head);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		_exit(0);
	if (!gb_read_all(fd, head + got, sizeof head - (size_t)got))
		_exit(1);
	uint32_t length =
	    (uint32_t)head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
	if (length == 0 || head[4] != GB_FRAME_JOB)
		_exit(1);
	size_t n = length - 1;
	uint8_t *bytes = allocate(n + 1, 1);
	if (!gb_read_all(fd, bytes, n))
		_exit(1);
	gb_job_parse(ret_job, bytes, n);
}
