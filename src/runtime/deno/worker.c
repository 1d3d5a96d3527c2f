/* glovebox-deno: one Deno program. The other files here run inside Deno. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "deno_bootstrap.h"
#include "egress/protocol.h"
#include "runtime/program/keeper.h"
#include "runtime/program/places.h"
#include "runtime/program/settings.h"
#include "runtime/program/v8.h"
#include "sandbox/worker.h"
#include "value/json.h"

#define DIR "/tmp/.glovebox"

enum { PIPE_BYTES = 1 << 20, LATER_MAX = 1 << 30, TEXT_MAX = 1 << 20, SOON_MS = 5 };

static struct {
	struct gb_keeper keeper;
	uint64_t memory; /* memory limit that the program was started with; 0: not started */
	int later;
	struct gb_buf to_later; /* not yet written to the pipe `later` */
	uint64_t next_waited;   /* number of the next call that can block the code; see is_waited_for() */
} worker = {.later = -1};

static void must(bool ok) {
	if (!ok)
		_exit(1);
}

/* --- frames from the host --- */

static void feed_later(void) {
	ssize_t n = worker.to_later.len ? write(worker.later, worker.to_later.data, worker.to_later.len) : 0;
	if (n > 0)
		gb_buf_consume(&worker.to_later, (size_t)n);
	worker.keeper.n_deferred = worker.to_later.len;
}

/* True for an answer that the code blocks on. Blocking calls have increasing even numbers, and at most one is
 * open. A second answer to the same call settles a promise and goes to `later`. */
static bool is_waited_for(const struct gb_frame *frame) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item call;
	if (frame->type != GB_FRAME_ANSWER || !gb_cbor_next(&in, &call) || call.kind != GB_CBOR_UNSIGNED ||
	    call.argument % 2 || call.argument < worker.next_waited)
		return false;
	worker.next_waited = call.argument + 2;
	return true;
}

static void on_frame(struct gb_keeper *keeper, const struct gb_frame *frame) {
	struct gb_buf *to = is_waited_for(frame) ? &keeper->to_program : &worker.to_later;
	gb_frame_append(to, frame->type, frame->payload, frame->n);
	must(!gb_buf_failed(to));
	feed_later();
}

/* --- the program --- */

static int open_pipe(const char *path) {
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	must(fd >= 0);
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* best effort: the kernel may not allow that size */
	return fd;
}

static void write_file(const char *path, const void *bytes, size_t n) {
	gb_auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && gb_write_all(fd, bytes, n));
}

static void make_files(void) {
	static const char *const pipes[] = {DIR "/in", DIR "/later", DIR "/out"};
	must(mkdir(DIR, 0700) == 0 || errno == EEXIST);
	for (size_t i = 0; i < GB_COUNT(pipes); i++) {
		unlink(pipes[i]);
		must(mkfifo(pipes[i], 0600) == 0);
	}
	write_file(DIR "/main.mjs", gb_deno_bootstrap, sizeof gb_deno_bootstrap);
}

/* {"imports":{"tools":"./import-0.mjs"}} maps the host's imports to files. False if there are none. */
static bool write_import_map(const struct gb_job *job) {
	struct gb_cbor_reader in = job->values;
	struct gb_cbor_item imports, name;
	if (!gb_cbor_next(&in, &imports) || imports.kind != GB_CBOR_OBJECT || imports.argument == 0)
		return false;
	gb_auto_buf struct gb_buf map;
	gb_buf_init(&map, TEXT_MAX);
	gb_buf_printf(&map, "{\"imports\":{");
	for (uint64_t i = 0; i < imports.argument; i++) {
		must(gb_cbor_next(&in, &name) && name.kind == GB_CBOR_TEXT);
		gb_buf_printf(&map, i ? "," : "");
		gb_json_append_string(&map, (struct gb_str){(const char *)name.bytes, name.argument});
		gb_buf_printf(&map, ":\"./import-%llu.mjs\"", (unsigned long long)i);
		must(gb_cbor_skip(&in, 1000));
	}
	gb_buf_printf(&map, "}}");
	must(!gb_buf_failed(&map));
	write_file(DIR "/imports.json", map.data, map.len);
	return true;
}

enum { ENVIRONMENT_MAX = 8 + GB_EGRESS_SECRETS_MAX };

/* Variables with placeholders of secrets: "NAME=value", and the option that lets code read them. False if there are
 * none. */
static bool write_variables(struct gb_cbor_reader secrets, struct gb_buf *option, const char **environment) {
	static char texts[GB_EGRESS_SECRETS_MAX][256];
	struct gb_str name, value;
	uint64_t left = gb_settings_count(&secrets);
	size_t n = 0;
	gb_buf_printf(option, "--allow-env=");
	while (n < GB_COUNT(texts) && gb_settings_next_variable(&secrets, &left, &name, &value)) {
		gb_buf_printf(option, n ? "," : "");
		gb_buf_append_str(option, name);
		snprintf(texts[n], sizeof texts[n], "%.*s=%.*s", (int)name.n, name.p, (int)value.n, value.p);
		environment[n] = texts[n];
		n++;
	}
	environment[n] = NULL;
	return n;
}

/* With the requirements of @job; without one, with the usual defaults. */
static void start(uint64_t memory, const struct gb_job *job, struct gb_settings *settings) {
	static const char *const usual[] = {"DENO_DIR=/tmp/.deno", "DENO_NO_UPDATE_CHECK=1", "HOME=/box",
	    /* So that Deno finds a program, and denies it, instead of not finding it. */
	    "PATH=/usr/bin:/bin", "NO_COLOR=1", "TZ=UTC", "LANG=C.UTF-8", NULL};
	const char *envp[ENVIRONMENT_MAX];
	gb_auto_buf struct gb_buf allowed;
	char v8[80];
	gb_buf_init(&allowed, TEXT_MAX);
	memcpy(envp, usual, sizeof usual);
	struct gb_v8_heap heap = gb_v8_heap(memory);
	snprintf(v8, sizeof v8, "--v8-flags=--max-old-space-size=%u,--max-semi-space-size=%u", heap.old,
	    heap.semi);
	const char *argv[24] = {"deno", "run", "--quiet", "--no-prompt", "--no-remote", "--no-npm",
	    "--no-lock", "--allow-read=/box,/tmp", "--allow-write=/box,/tmp", "--deny-run", "--deny-env",
	    "--deny-ffi", "--deny-sys", v8};
	enum { ENV_OPTION = 10 };
	size_t n = 14;
	make_files();
	/* The network decides about hosts: see docs/NETWORK.md. */
	if (gb_worker_has_network())
		argv[n++] = "--allow-net";
	if (settings && write_variables(settings->secrets, &allowed, envp + GB_COUNT(usual) - 1)) {
		argv[ENV_OPTION] = gb_buf_c_str(&allowed);
		must(argv[ENV_OPTION]);
	}
	if (job && write_import_map(job))
		argv[n++] = "--import-map=" DIR "/imports.json";
	argv[n++] = "--no-config";
	argv[n++] = DIR "/main.mjs";
	if (gb_worker_has_workdir())
		argv[n++] = "workdir";
	gb_keeper_start(
	    &worker.keeper, &(struct gb_program){.path = GB_PROGRAM_DIR "/deno", .argv = argv, .envp = envp});
	worker.keeper.channel = open_pipe(DIR "/out");
	worker.keeper.to_channel = open_pipe(DIR "/in");
	gb_close_fd(&worker.later);
	worker.later = open_pipe(DIR "/later");
	worker.memory = memory;
}

static void start_as_needed(const struct gb_job *job, struct gb_settings *settings) {
	struct gb_cbor_reader in = job->values;
	struct gb_cbor_item imports;
	uint64_t memory = job->memory ? job->memory : GB_V8_DEFAULT_MEMORY;
	bool special = (gb_cbor_next(&in, &imports) && imports.kind == GB_CBOR_OBJECT && imports.argument) ||
		       settings->secrets.at;
	if (worker.memory == memory && !special)
		return;
	if (worker.memory)
		gb_keeper_stop(&worker.keeper);
	start(memory, job, settings);
}

/* --- a run --- */

static void run(const struct gb_job *job) {
	char why[300];
	struct gb_keeper *keeper = &worker.keeper;
	if (!gb_keeper_begin(keeper, job, 0, why, sizeof why)) {
		const struct gb_failure failure = {.name = "OSError", .message = why};
		gb_keeper_fail(keeper, job, GB_WIRE_ERROR, &failure);
		return;
	}
	while (gb_keeper_turn(keeper, worker.to_later.len ? SOON_MS : -1))
		feed_later();
	if (gb_v8_died_of_memory(keeper))
		keeper->out_of_memory = true;
	int unread = 0;
	gb_keeper_end_unused(keeper, ioctl(keeper->to_channel, FIONREAD, &unread) == 0 && unread > 0);
	gb_keeper_settle(keeper, job);
}

/* --- the three functions of a worker --- */

static void set_up(void) {
	gb_keeper_init(&worker.keeper);
	gb_buf_init(&worker.to_later, LATER_MAX);
	worker.keeper.on_frame = on_frame;
}

static bool init(const char *profile) {
	(void)profile;
	return true;
}

static void prime(void) {
	static const char *const sources[] = {"const a: number[] = [1, 2.5]; console.log('prime', a, {a}); "
					      "await 1; export default {a, m: new Map()}",
	    "enum E { A } console.log(E); export default [1]"};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TEXT_MAX);
	set_up();
	start(GB_V8_DEFAULT_MEMORY, NULL, NULL);
	gb_v8_write_priming(&out, sources, GB_COUNT(sources));
	must(!gb_buf_failed(&out));
	gb_v8_send(worker.keeper.to_channel, &out);
}

static void serve(int fd) {
	struct gb_job job;
	struct gb_settings settings;
	if (!worker.memory)
		set_up();
	gb_keeper_next_job(&worker.keeper, fd, &job);
	if (job.flags & GB_JOB_VERSION)
		gb_keeper_report_version(&worker.keeper, &job, GB_PROGRAM_DIR "/deno");
	gb_settings_read(&job, &settings);
	start_as_needed(&job, &settings);
	run(&job);
	gb_keeper_finish(&worker.keeper);
}

int main(void) {
	static const struct gb_worker deno = {.init = init, .prime = prime, .serve = serve};
	return gb_zygote_main(&deno);
}
