/* Targets of attacks, on the host. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "attack.h"

enum { NOBODY = 65534 };

bool stage_dir(struct stage *stage) {
	snprintf(stage->dir, sizeof stage->dir, "/tmp/glovebox-attack.XXXXXX");
	if (!mkdtemp(stage->dir)) {
		stage->dir[0] = '\0';
		return false;
	}
	snprintf(stage->argument, sizeof stage->argument, "%s", stage->dir);
	return chmod(stage->dir, 0777) == 0;
}

bool stage_victim(struct stage *stage) {
	int pair[2];
	if (pipe2(pair, O_CLOEXEC) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		bool ok = geteuid() != 0 ||
			  (setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
		/* Changing the user has made it non-dumpable: undo that, for other processes of the user. */
		ok = ok && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
		if (!ok || write(pair[1], "+", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pair[1]);
	char ready;
	bool ok = pid > 0 && read(pair[0], &ready, 1) == 1;
	close(pair[0]);
	stage->victim = pid;
	snprintf(stage->argument, sizeof stage->argument, "%d", (int)pid);
	return ok;
}
