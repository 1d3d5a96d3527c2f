#include "soak/killer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack/processes.h"

const char *const target_names[N_TARGETS] = {"zygotes", "cells", "keepers", "programs"};

/* Maximum time between two kills, in microseconds. */
enum { PAUSE_US = 15000, SUCCESSES_BETWEEN = 4 };

/* --- in the killer's process --- */

static pid_t pick(const struct processes *from) {
	return from->n ? from->pids[(size_t)random() % from->n] : 0;
}

static bool read_stat(pid_t pid, char name[32], pid_t *ret_parent) {
	char path[64], text[512] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file)
		fclose(file);
	text[n] = '\0';
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	if (!begin || !end || end - begin > 31)
		return false;
	snprintf(name, 32, "%.*s", (int)(end - begin - 1), begin + 1);
	return sscanf(end, ") %*c %d", ret_parent) == 1;
}

/* The language of a zygote or of a cell; GB_LANGUAGES if it is neither. */
static unsigned language_of(pid_t pid) {
	static const struct {
		const char *program;
		enum gb_language language;
	} programs[] = {{"glovebox-js", GB_JAVASCRIPT}, {"glovebox-python", GB_PYTHON},
	    {"glovebox-shell", GB_SHELL}, {"glovebox-node", GB_NODE}, {"glovebox-deno", GB_DENO}};
	char name[32];
	pid_t parent;
	if (read_stat(pid, name, &parent))
		for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
			if (strcmp(name, programs[i].program) == 0)
				return programs[i].language;
	return GB_LANGUAGES;
}

/* Check after opening the pidfd that the process belongs to the engine: the pid may have been reused. */
static bool kill_surely(pid_t pid, pid_t engine) {
	char name[32];
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	pid_t up = pid;
	while (fd >= 0 && up > 1 && up != engine && up != getpid())
		if (!read_stat(up, name, &up))
			up = 0;
	bool killed = fd >= 0 && up == engine && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
	if (fd >= 0)
		close(fd);
	return killed;
}

/* Find one of the wanted kind; 0 if there is none just now. */
static pid_t find_target(enum target wanted, pid_t engine, enum target *ret) {
	struct processes list;
	processes_children(engine, &list);
	pid_t zygote = pick(&list);
	unsigned language = zygote ? language_of(zygote) : GB_LANGUAGES;
	*ret = wanted;
	if (language == GB_LANGUAGES || wanted == TARGET_ZYGOTE)
		return language == GB_LANGUAGES ? 0 : zygote;
	bool programs = language != GB_JAVASCRIPT && language != GB_PYTHON;
	processes_children(zygote, &list);
	pid_t cell = pick(&list);
	*ret = programs ? TARGET_KEEPER : TARGET_CELL;
	if (!cell || wanted != TARGET_PROGRAM || !programs)
		return cell;
	processes_descendants(cell, &list);
	*ret = TARGET_PROGRAM;
	return pick(&list);
}

static bool may_kill_zygote(const struct killer_shared *shared, pid_t zygote, unsigned *at_last) {
	unsigned language = language_of(zygote);
	if (language == GB_LANGUAGES || shared->successes[language] < at_last[language] + SUCCESSES_BETWEEN)
		return false;
	at_last[language] = shared->successes[language];
	return true;
}

__attribute__((noreturn)) static void be_killer(struct killer_shared *shared, pid_t engine, unsigned kills) {
	unsigned at_last[GB_LANGUAGES] = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!shared->go)
		usleep(1000);
	for (unsigned n = 0; n < kills;) {
		enum target target;
		long drawn = random() % 10;
		pid_t pid = find_target(drawn < 2   ? TARGET_ZYGOTE
					: drawn < 7 ? TARGET_CELL
						    : TARGET_PROGRAM,
		    engine, &target);
		bool may = pid && (target != TARGET_ZYGOTE || may_kill_zygote(shared, pid, at_last));
		if (may && kill_surely(pid, engine)) {
			shared->kills[target]++;
			n++;
		}
		usleep((useconds_t)(random() % PAUSE_US));
	}
	_exit(0);
}

/* --- in the engine's process --- */

bool killer_start(struct killer *killer, unsigned seed, unsigned kills) {
	pid_t engine = getpid();
	killer->shared =
	    mmap(NULL, sizeof *killer->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (killer->shared == MAP_FAILED)
		return false;
	fflush(stdout);
	killer->pid = fork();
	if (killer->pid == 0) {
		srandom(seed);
		be_killer(killer->shared, engine, kills);
	}
	return killer->pid > 0;
}

void killer_go(struct killer *killer) {
	killer->shared->go = true;
}

bool killer_works(struct killer *killer) {
	if (killer->pid && waitpid(killer->pid, NULL, WNOHANG) == killer->pid)
		killer->pid = 0;
	return killer->pid;
}

void killer_finish(struct killer *killer) {
	if (killer->pid) {
		kill(killer->pid, SIGKILL);
		waitpid(killer->pid, NULL, 0);
		killer->pid = 0;
	}
	munmap(killer->shared, sizeof *killer->shared);
}
