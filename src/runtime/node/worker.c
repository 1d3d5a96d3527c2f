/* glovebox-node: one Node.js program, or a session. The other files here run inside Node.js. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node_bootstrap.h"
#include "runtime/program/keeper.h"
#include "runtime/program/places.h"
#include "runtime/program/settings.h"
#include "runtime/program/v8.h"
#include "sandbox/worker.h"

static struct {
	struct gb_keeper keeper;
	uint64_t memory; /* memory limit that the program was started with; 0: not started */
	bool used;
	bool watching;       /* SIGINT does not kill the program */
	bool interrupt_sent; /* an INTERRUPT frame was sent for the current job */
	bool signalled;      /* a SIGINT was sent because the frame had no effect */
} worker;

/* Reads the bootstrap from the channel: a length, then the source. In a block, since top-level declarations
 * would be visible to all programs. */
static const char loader[] = "{const v=require('vm'),f=require('fs'),"
			     "r=b=>{for(let n=0;n<b.length;){const k=f.readSync(3,b,n,b.length-n,null);"
			     "if(!k)process.reallyExit(0);n+=k}return b};"
			     "new v.Script(r(Buffer.alloc(r(Buffer.alloc(4)).readUInt32LE(0))).toString(),"
			     "{filename:'glovebox:bootstrap'}).runInThisContext()(require)}";

static void write_bootstrap(struct gb_buf *out) {
	const uint32_t n = sizeof gb_node_bootstrap;
	const uint8_t head[] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
	gb_buf_append(out, head, sizeof head);
	gb_buf_append(out, gb_node_bootstrap, n);
}

/* Several times: the first executions only let V8 find out which code to keep. */
static void write_priming(struct gb_buf *out) {
	static const char script[] =
	    "const p = require('path'); console.log('prime', [p.join('a', 'b')], {a: 1.5});\n"
	    "class A { b() { return `${this}` } } [1, 2.5, null].map(n => n)";
	static const char module[] = "import u from 'node:util'; console.log(u.inspect({})); await 1;\n"
				     "export default {a: [1], b: 'c', d: new Map()}";
	static const char *const sources[] = {script, module, script, script};
	gb_v8_write_priming(out, sources, GB_COUNT(sources));
}

static void start(uint64_t memory, bool prime) {
	static char old[48], young[48];
	static const char *const argv[] = {"node", "--no-warnings", "--no-addons",
	    "--experimental-vm-modules", "--expose-internals", old, young, "-e", loader, NULL};
	static const char *const envp[] = {"HOME=/box", "TMPDIR=/tmp", "TZ=UTC", "LANG=C.UTF-8", NULL};
	struct gb_v8_heap heap = gb_v8_heap(memory);
	snprintf(old, sizeof old, "--max-old-space-size=%u", heap.old);
	snprintf(young, sizeof young, "--max-semi-space-size=%u", heap.semi);
	gb_keeper_start(
	    &worker.keeper, &(struct gb_program){
				.path = GB_PROGRAM_DIR "/node", .argv = argv, .envp = envp, .channel = true});
	worker.memory = memory;
	worker.used = worker.watching = worker.signalled = false;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 20);
	write_bootstrap(&out);
	if (prime)
		write_priming(&out);
	if (gb_buf_failed(&out))
		_exit(1);
	gb_v8_send(worker.keeper.to_channel, &out);
}

/* Heap limits are fixed when the heap is created, and top-level declarations of a session cannot be
 * removed. */
static void start_as_needed(const struct gb_job *job, const struct gb_settings *settings) {
	uint64_t memory = job->memory ? job->memory : GB_V8_DEFAULT_MEMORY;
	bool fresh = worker.memory && !(settings->reset && worker.used) &&
		     (worker.memory == memory || (worker.used && settings->session));
	if (fresh)
		return;
	if (worker.memory)
		gb_keeper_stop(&worker.keeper);
	start(memory, false);
}

/* --- interrupts --- */

/* Code that waits receives frames, code that runs receives only signals. A signal cannot be assigned to a
 * job, so it is sent only to code that has not read frames for a while and is unlikely to end just then. */
static void on_interrupt(struct gb_keeper *keeper) {
	if (worker.interrupt_sent && worker.watching && keeper->pid) {
		kill(keeper->pid, SIGINT);
		worker.signalled = true;
	}
	gb_frame_append(&keeper->to_program, GB_V8_INTERRUPT, NULL, 0);
	worker.interrupt_sent = true;
}

/* Before the next job: make the program wait for a late signal, so that it does not hit that job. */
static void reset_interrupts(struct gb_keeper *keeper) {
	if (worker.signalled)
		gb_frame_append(&keeper->to_program, GB_V8_SIGNALLED, NULL, 0);
	worker.interrupt_sent = worker.signalled = false;
}

static bool on_program_frame(struct gb_keeper *keeper, const struct gb_frame *frame) {
	if (frame->type == GB_V8_READY)
		gb_v8_limit_data(keeper, worker.memory);
	else if (frame->type == GB_V8_WATCHING)
		worker.watching = true;
	else
		return false;
	return true;
}

/* --- a run --- */

static void run(struct gb_job *job) {
	char why[300];
	struct gb_keeper *keeper = &worker.keeper;
	reset_interrupts(keeper);
	if (!gb_keeper_begin(keeper, job, 0, why, sizeof why)) {
		const struct gb_failure failure = {.name = "OSError", .message = why};
		gb_keeper_fail(keeper, job, GB_WIRE_ERROR, &failure);
		return;
	}
	worker.used = true;
	gb_keeper_serve(keeper);
	if (gb_v8_died_of_memory(keeper))
		keeper->out_of_memory = true;
	gb_keeper_end_unused(keeper, false);
	gb_keeper_settle(keeper, job);
}

/* --- the three functions of a worker --- */

static void set_up(void) {
	gb_keeper_init(&worker.keeper);
	worker.keeper.on_interrupt = on_interrupt;
	worker.keeper.on_program_frame = on_program_frame;
}

static bool init(const char *profile) {
	(void)profile;
	return true;
}

static void prime(void) {
	set_up();
	start(GB_V8_DEFAULT_MEMORY, true);
}

static void serve(int fd) {
	struct gb_settings settings;
	if (!worker.memory)
		set_up();
	do {
		struct gb_job job;
		gb_keeper_next_job(&worker.keeper, fd, &job);
		if (job.flags & GB_JOB_VERSION)
			gb_keeper_report_version(&worker.keeper, &job, GB_PROGRAM_DIR "/node");
		gb_settings_read(&job, &settings);
		start_as_needed(&job, &settings);
		run(&job);
		gb_job_finish(&job);
		free(job.bytes);
	} while (settings.session && worker.keeper.pid);
	if (!settings.session)
		gb_keeper_finish(&worker.keeper);
}

int main(void) {
	static const struct gb_worker node = {
	    .init = init, .prime = prime, .serve = serve, .holds_interrupts = true};
	return gb_zygote_main(&node);
}
