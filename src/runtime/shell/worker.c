/* glovebox-shell: bash, for one script or for a session. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "glovebox/errors.h"
#include "runtime/program/post.h"
#include "runtime/shell/commands.h"
#include "runtime/shell/shell.h"
#include "sandbox/worker.h"

enum { PRIME_BYTES = 4096 };
#define UNUSED_BYTES (1ull << 30)

static struct {
	struct gb_keeper keeper;
	bool primed;
} worker;

static bool init(const char *profile) {
	(void)profile;
	return true;
}

/* Start the shell; meanwhile process a job without running it, to page in the code and memory of this
 * process. */
static void prime(void) {
	gb_keeper_init(&worker.keeper);
	gb_oneshot_start(&worker.keeper);
	gb_auto_buf struct gb_buf frame, script;
	struct gb_job job;
	struct gb_settings settings;
	gb_buf_init(&frame, PRIME_BYTES);
	gb_buf_init(&script, PRIME_BYTES);
	gb_job_write_bare(&frame, "echo", "<prime>");
	gb_job_parse(&job, (uint8_t *)frame.data, frame.len);
	gb_settings_read(&job, &settings);
	(void)gb_files_place(&worker.keeper.files, &job, NULL, 0);
	gb_script_set_arguments(&script, &job);
	gb_script_append(&script, &job);
	gb_post_open(-1, PRIME_BYTES);
	gb_post_output(1, script.data, script.len);
	gb_post_discard();
	gb_job_finish(&job);
	worker.primed = true;
}

bool gb_shell_admits(struct gb_keeper *keeper, const struct gb_job *job, const struct gb_settings *settings) {
	struct gb_refusal refusal;
	char message[400];
	const enum gb_refused_mode mode =
	    gb_worker_has_network() ? GB_REFUSED_RESTRICTED_NETWORK : GB_REFUSED_RESTRICTED;
	if (!settings->restricted ||
	    gb_commands_check((struct gb_str){job->source.p, job->source.n}, mode, NULL, 0, &refusal))
		return true;
	snprintf(message, sizeof message, "'%s' %s, which this shell refuses. %s", refusal.word,
	    refusal.reason, refusal.instead);
	const struct gb_failure failure = {.name = "RestrictedError",
	    .message = message,
	    .code = GB_CODE_RESTRICTED,
	    .filename = job->filename.p,
	    .line = refusal.line};
	gb_keeper_fail(keeper, job, GB_WIRE_ERROR, &failure);
	return false;
}

uint64_t gb_shell_data_limit(const struct gb_job *job) {
	return job->memory ? job->memory + UNUSED_BYTES : 0;
}

/* A session begins with its first job, or earlier when a client attaches. */
static bool is_session(const struct gb_job *job) {
	struct gb_settings settings;
	gb_settings_read(job, &settings);
	return settings.session;
}

static void serve(int fd) {
	struct gb_keeper *keeper = &worker.keeper;
	struct gb_job job;
	if (!worker.primed)
		gb_keeper_init(keeper);
	keeper->on_frame = gb_console_on_frame;
	gb_keeper_next_job(keeper, fd, &job);
	if (job.flags & GB_JOB_VERSION)
		gb_keeper_report_version(keeper, &job, GB_SHELL_PROGRAM);
	while (is_session(&job)) {
		gb_console_run(keeper, &job);
		gb_job_finish(&job);
		free(job.bytes);
		gb_keeper_next_job(keeper, fd, &job);
	}
	if (!worker.primed)
		gb_oneshot_start(keeper);
	gb_oneshot_run(keeper, &job);
	gb_keeper_finish(keeper);
}

int main(void) {
	static const struct gb_worker shell = {
	    .init = init, .prime = prime, .serve = serve, .holds_interrupts = true};
	return gb_zygote_main(&shell);
}
