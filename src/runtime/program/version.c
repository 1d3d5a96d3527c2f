/* Query the version of the program in a sandbox, like any other run. */
#include "runtime/program/keeper.h"

void gb_keeper_report_version(struct gb_keeper *keeper, const struct gb_job *job, const char *path) {
	const char *const argv[] = {path, "--version", NULL};
	static const char *const envp[] = {"PATH=/usr/bin:/bin", "HOME=/box", "LC_ALL=C", NULL};
	char why[300];
	if (keeper->pid)
		gb_keeper_stop(keeper);
	gb_keeper_start(keeper, &(struct gb_program){.path = path, .argv = argv, .envp = envp});
	if (gb_keeper_begin(keeper, job, 0, why, sizeof why))
		gb_keeper_serve(keeper);
	gb_keeper_settle(keeper, job);
	gb_keeper_finish(keeper);
}
