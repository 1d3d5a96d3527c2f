/* glovebox-shell: a script that bash runs once, or a session with a bash of its own. */
#include <unistd.h>

#include "runtime/shell/shell.h"
#include "sandbox/inside/zygote.h"

static struct {
	struct gb_keeper keeper;
	bool primed;
} worker;

static bool init(const char *profile) {
	(void)profile;
	return true;
}

static void prime(void) {
	gb_keeper_init(&worker.keeper);
	gb_oneshot_start(&worker.keeper);
	worker.primed = true;
}

static void serve(int fd) {
	struct gb_keeper *keeper = &worker.keeper;
	struct gb_job job;
	if (!worker.primed)
		gb_keeper_init(keeper);
	gb_keeper_next_job(keeper, fd, &job);
	if (!worker.primed)
		gb_oneshot_start(keeper);
	gb_oneshot_run(keeper, &job);
	gb_keeper_finish(keeper);
}

int main(void) {
	static const struct gb_worker shell = {.init = init, .prime = prime, .serve = serve};
	return gb_zygote_main(&shell);
}
