/* glovebox-shell: one script, one bash. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/program/keeper.h"
#include "runtime/program/places.h"
#include "runtime/program/settings.h"
#include "sandbox/inside/zygote.h"

enum { SCRIPT_FD = 9, GO_FD = 8 };

static struct {
	struct gb_keeper keeper;
	int script, go;
	bool started;
} worker;

/* Waits for a byte, then reads the script; neither descriptor is the script's. */
static const char wait_and_run[] = "IFS= read -r -d '' -u 8 _ || exit; exec 8<&-\n"
				   "builtin eval 'builtin . /dev/fd/9' 9<&9\n";

static void start(void) {
	static const char *const argv[] = {"bash", "--noprofile", "--norc", "-c", wait_and_run, "bash", NULL};
	static const char *const envp[] = {
	    "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/box", "USER=box", "LANG=C.UTF-8", "TERM=dumb", NULL};
	int ends[2];
	gb_keeper_init(&worker.keeper);
	worker.script = memfd_create("script", MFD_CLOEXEC);
	if (worker.script < 0 || pipe2(ends, O_CLOEXEC) != 0)
		_exit(1);
	worker.go = ends[1];
	gb_keeper_start(&worker.keeper, &(struct gb_program){.path = GB_PROGRAM_DIR "/bash",
					    .argv = argv,
					    .envp = envp,
					    .extra = {{ends[0], GO_FD}, {worker.script, SCRIPT_FD}}});
	close(ends[0]);
	worker.started = true;
}

static bool init(const char *profile) {
	(void)profile;
	return true;
}

static void prime(void) {
	start();
}

static void serve(int fd) {
	struct gb_job job;
	char why[300];
	if (!worker.started)
		start();
	gb_keeper_next_job(&worker.keeper, fd, &job);
	if (!gb_keeper_begin(&worker.keeper, &job, 0, why, sizeof why)) {
		const struct gb_failure failure = {.name = "OSError", .message = why};
		gb_keeper_fail(&worker.keeper, &job, GB_WIRE_ERROR, &failure);
	} else {
		if (!gb_write_all(worker.script, job.source.p, job.source.n) ||
		    lseek(worker.script, 0, SEEK_SET) != 0 || !gb_write_all(worker.go, "", 1))
			_exit(1);
		gb_keeper_serve(&worker.keeper);
		gb_keeper_settle(&worker.keeper, &job);
	}
	gb_keeper_finish(&worker.keeper);
}

int main(void) {
	static const struct gb_worker shell = {.init = init, .prime = prime, .serve = serve};
	return gb_zygote_main(&shell);
}
