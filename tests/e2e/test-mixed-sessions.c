/* A hundred sessions of all languages at once: each keeps its own state, and the death of a session, a zygote
 * or the host ends exactly the sessions that depend on it. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "e2e/left-behind.h"
#include "engine/manager.h"
#include "sandbox/linux/shard.h"

#ifdef __SANITIZE_ADDRESS__ /* each session takes ten times the memory */
enum { MANY = 40 };
#else
enum { MANY = 100 };
#endif
enum { WAIT_MAX_S = 60, EXTRA = 20, DEAR = 5 };

/* How a language stores a number, returns it, and loops forever. */
static const struct kind {
	enum gb_language language;
	unsigned per_ten; /* share of the sessions, except the expensive ones */
	const char *set, *get, *loop;
} kinds[] = {
    {GB_JAVASCRIPT, 4, "globalThis.mine = %d; 0", "mine", "for (;;);"},
    {GB_PYTHON, 3, "mine = %d", "mine", "while True: pass"},
    {GB_SHELL, 3, "mine=%d", "echo $mine", "while :; do :; done"},
    {GB_NODE, 0, "globalThis.mine = %d; 0", "globalThis.mine", "for (;;);"},
};
enum { JS, PYTHON, SHELL, NODE };

struct one {
	const struct kind *kind;
	char name[16];
	struct gb_run *run;
	pid_t pid, zygote; /* of the cell */
	bool dead;
	const char *why; /* part of the expected reason */
};

struct crowd {
	struct gb_engine *engine;
	struct gb_manager *manager;
	struct one all[MANY + EXTRA];
	int n;
};

/* --- actions --- */

static bool open_one(struct crowd *crowd, const struct kind *kind) {
	struct one *one = &crowd->all[crowd->n];
	struct gb_session_info info;
	struct gb_err err = {0};
	*one = (struct one){.kind = kind};
	snprintf(one->name, sizeof one->name, "s%d", crowd->n);
	const struct gb_session_asked asked = {.language = kind->language, .name = one->name};
	bool ok = gb_manager_open(crowd->manager, &asked, &info, &err);
	if (!ok)
		printf("#   %s: %s\n", gb_language_name(kind->language), err.message);
	crowd->n += ok;
	return ok;
}

static void begin(struct crowd *crowd, struct one *one, const char *source) {
	struct gb_err err = {0};
	const struct gb_run_options options = {.source = source, .timeout_ms = GB_NO_TIMEOUT};
	one->run = NULL;
	if (!CHECK(gb_manager_execute(crowd->manager, one->name, &options, &one->run, &err)))
		printf("#   %s\n", err.message);
}

/* The number that the run returned; -1 if none. */
static int number_of(struct one *one) {
	const struct gb_result *result = one->run ? gb_run_wait(one->run) : NULL;
	int number = -1;
	if (result && result->status == GB_SUCCESS)
		number = one->kind == &kinds[SHELL] ? atoi(result->stdout_text)
						    : (int)gb_value_as_number(result->value);
	else if (result)
		printf("#   %s: %s\n", one->name, result->error.message);
	gb_run_destroy(one->run);
	one->run = NULL;
	return number;
}

/* Concurrently in all sessions. */
static void keep_numbers(struct crowd *crowd, int from) {
	for (int i = from; i < crowd->n; i++) {
		char source[64];
		snprintf(source, sizeof source, crowd->all[i].kind->set, 1000 + i);
		begin(crowd, &crowd->all[i], source);
	}
	for (int i = from; i < crowd->n; i++)
		CHECK(number_of(&crowd->all[i]) != -1);
}

static void check_dead(struct crowd *crowd, const struct one *one) {
	struct gb_session_info info;
	time_t deadline = time(NULL) + WAIT_MAX_S;
	struct gb_err err = {0};
	while (CHECK(gb_manager_get(crowd->manager, one->name, &info, &err)) &&
	       info.state != GB_SESSION_TERMINATED && time(NULL) < deadline)
		gb_engine_dispatch(crowd->engine, 20, NULL);
	CHECK_STR(gb_session_state_name(info.state), "terminated");
	if (!CHECK(*info.reason && strstr(info.reason, one->why)))
		printf("#   %s (%s): %s\n", one->name, gb_language_name(info.language), info.reason);
}

/* Dead sessions have a reason, all others their own number. */
static void check_all(struct crowd *crowd) {
	unsigned alive = 0;
	for (int i = 0; i < crowd->n; i++)
		if (crowd->all[i].dead)
			check_dead(crowd, &crowd->all[i]);
	for (int i = 0; i < crowd->n; i++)
		if (!crowd->all[i].dead)
			begin(crowd, &crowd->all[i], crowd->all[i].kind->get);
	for (int i = 0; i < crowd->n; i++) {
		if (crowd->all[i].dead)
			continue;
		alive++;
		if (!CHECK_INT(number_of(&crowd->all[i]), 1000 + i))
			printf("#   %s\n", gb_language_name(crowd->all[i].kind->language));
	}
	CHECK_INT((int)gb_manager_count(crowd->manager), (int)alive);
}

/* --- process ids --- */

static struct gb_cell *cell_of(struct crowd *crowd, const struct one *one) {
	struct gb_err err = {0};
	struct gb_record *record = gb_record_find_alive(crowd->manager, one->name, &err);
	return record ? record->session->cell : NULL;
}

static void find_process(struct crowd *crowd, struct one *one) {
	struct gb_cell *cell = cell_of(crowd, one);
	/* The pid arrives with the zygote's reply, after dispatching; the cell may have answered before
	 * that. */
	for (int i = 0; cell && cell->pidfd < 0 && i < 6000; i++, gb_engine_dispatch(crowd->engine, 10, NULL))
		gb_shard_read_notices_for(cell);
	CHECK(cell && cell->pidfd >= 0);
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", cell ? cell->pidfd : -1);
	FILE *file = fopen(path, "re");
	for (char line[100]; file && fgets(line, sizeof line, file);)
		sscanf(line, "Pid: %d", &one->pid);
	if (file)
		fclose(file);
	one->zygote = one->pid ? parent_of(one->pid) : 0;
	CHECK(one->pid > 1 && one->zygote > 1);
}

static struct one *any(struct crowd *crowd, const struct kind *kind) {
	for (int i = 0; i < crowd->n; i++)
		if (crowd->all[i].kind == kind && !crowd->all[i].dead)
			return &crowd->all[i];
	return NULL;
}

static bool open_crowd(struct crowd *crowd) {
	struct gb_err err = {0};
	const struct gb_manager_options options = {.max_sessions = MANY + EXTRA, .max_ended = MANY + EXTRA};
	crowd->n = 0;
	crowd->engine = engine_with((struct gb_engine_options){.shards = 2, .warm = GB_NONE});
	if (!CHECK(crowd->engine && gb_manager_create(crowd->engine, &options, &crowd->manager, &err)))
		return false;
	bool has_node = true;
	for (int i = 0; i < DEAR && has_node; i++)
		has_node = open_one(crowd, &kinds[NODE]);
	for (unsigned turn = 0; crowd->n < MANY; turn = (turn + 1) % 10) {
		unsigned up_to = 0, which = 0;
		while (turn >= (up_to += kinds[which].per_ten))
			which++;
		if (!CHECK(open_one(crowd, &kinds[which])))
			return false;
	}
	keep_numbers(crowd, 0);
	for (int i = 0; i < crowd->n; i++)
		find_process(crowd, &crowd->all[i]);
	return true;
}

static void close_crowd(struct crowd *crowd) {
	gb_manager_destroy(crowd->manager);
	gb_engine_destroy(crowd->engine);
}

static void mourn(struct one *one, const char *why) {
	one->dead = true;
	one->why = why;
}

/* --- the tests --- */

static struct crowd crowd;

static void kill_one_of_each(void) {
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct one *asked = any(&crowd, &kinds[i]);
		if (!asked)
			continue;
		CHECK(gb_manager_kill(crowd.manager, asked->name, "killed by name", NULL));
		mourn(asked, "killed by name");
		/* One that executes, and one that is idle. */
		struct one *busy = any(&crowd, &kinds[i]);
		begin(&crowd, busy, busy->kind->loop);
		gb_engine_dispatch(crowd.engine, 50, NULL);
		CHECK(busy->pid > 1 && kill(busy->pid, SIGKILL) == 0);
		const struct gb_result *result = busy->run ? gb_run_wait(busy->run) : NULL;
		CHECK(result && strstr(result->error.message, "signal 9"));
		gb_run_destroy(busy->run);
		busy->run = NULL;
		mourn(busy, "signal 9 (SIGKILL)");
		struct one *idle = any(&crowd, &kinds[i]);
		CHECK(idle->pid > 1 && kill(idle->pid, SIGKILL) == 0);
		mourn(idle, "signal 9 (SIGKILL)");
	}
}

/* With one core a language has one zygote, and all its sessions end with it. */
static bool one_core(void) {
	cpu_set_t cpus;
	return sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1;
}

/* Only the sessions of one zygote end, not those of other zygotes of the language. */
static void kill_zygote_of(const struct kind *kind) {
	struct one *one = any(&crowd, kind);
	pid_t zygote = one ? one->zygote : 0;
	int n = 0;
	if (!CHECK(zygote > 1 && kill(zygote, SIGKILL) == 0))
		return;
	for (int i = 0; i < crowd.n; i++) {
		if (crowd.all[i].zygote != zygote || crowd.all[i].dead)
			continue;
		CHECK(crowd.all[i].kind == kind);
		mourn(&crowd.all[i], "zygote");
		n++;
	}
	CHECK(n > 0 && (any(&crowd, kind) || one_core()));
	printf("# %d sessions of one zygote, %s\n", n, gb_language_name(kind->language));
}

TEST(sessions_keep_their_own_state_and_die_alone) {
	struct census before = take_census();
	if (!open_crowd(&crowd))
		return;
	CHECK_INT((int)gb_manager_count(crowd.manager), MANY);
	check_all(&crowd);
	kill_one_of_each();
	check_all(&crowd);
	for (size_t i = JS; i <= SHELL; i++) {
		kill_zygote_of(&kinds[i]);
		check_all(&crowd);
	}
	/* New sessions can be opened in their place. */
	int n = crowd.n;
	for (size_t i = JS; i <= SHELL; i++)
		CHECK(open_one(&crowd, &kinds[i]) && open_one(&crowd, &kinds[i]));
	keep_numbers(&crowd, n);
	check_all(&crowd);
	close_crowd(&crowd);
	struct census after = take_census();
	check_same(&before, &after);
}

__attribute__((noreturn)) static void be_host(int ready) {
	bool ok = open_crowd(&crowd) && tap.failures == 0;
	for (size_t i = JS; ok && i <= SHELL; i++) {
		struct one *busy = any(&crowd, &kinds[i]);
		begin(&crowd, busy, busy->kind->loop);
		gb_engine_dispatch(crowd.engine, 20, NULL);
	}
	(void)!write(ready, ok ? "y" : "n", 1);
	for (;;)
		pause();
}

/* The number of remaining descendants of this process, after reaping exited ones. */
static unsigned reap(void) {
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		continue;
	return count_descendants(getpid());
}

TEST(no_process_outlives_the_host) {
	int pair[2];
	char word = 0;
	struct census before = take_census();
	/* Orphans of the host are reparented to this process instead of init, so that they can be counted. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!CHECK(pipe(pair) == 0))
		return;
	fflush(stdout);
	pid_t host = fork();
	if (host == 0)
		be_host(pair[1]);
	close(pair[1]);
	CHECK(read(pair[0], &word, 1) == 1 && word == 'y');
	close(pair[0]);
	CHECK(count_descendants(host) > MANY);
	CHECK(kill(host, SIGKILL) == 0);
	CHECK(waitpid(host, NULL, 0) == host);
	time_t deadline = time(NULL) + WAIT_MAX_S;
	while (reap() > before.descendants && time(NULL) < deadline)
		usleep(20000);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	struct census after = take_census();
	check_same(&before, &after);
}
