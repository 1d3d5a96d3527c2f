/*
 * System calls that report success and do nothing: a process inherits the seccomp filters of the environment
 * that it was started in, and SECCOMP_RET_ERRNO with errno 0 makes a call return 0. Each call that raises a
 * part of the wall is faked in a child process, which then creates an engine and runs code in each kind of
 * room. The code must not run.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "glovebox/glovebox.h"
#include "sandbox/linux/oneshot.h"
#include "sandbox/linux/protocol.h"
#include "tap.h"

enum { TIMEOUT_MS = 200000, TEXT_BYTES = 512 };

/* Kinds of rooms, by the language that runs in them. */
enum { JS = 1, PYTHON = 2, SHELL = 4, ALL_ROOMS = 7 };

static const struct room {
	const char *name;
	unsigned bit;
	enum gb_language language;
	const char *source;
} rooms[] = {
    {"none", JS, GB_JAVASCRIPT, "export default 6*7"},
    {"files", PYTHON, GB_PYTHON, "6*7"},
    {"programs", SHELL, GB_SHELL, "exit 0"},
};

struct fake {
	const char *name;
	long nr;
	/* Only calls whose argument is this value, or differs from it. */
	enum { EVERY_CALL, IF_EQUAL, IF_DIFFERENT } condition;
	unsigned arg;
	uint32_t value;
	/* Rooms in which the faked call changes nothing that protects anything, and why. There code must run.
	 */
	unsigned harmless;
	const char *why;
	/* Where this is true code may run, too. */
	bool (*harmless_if)(void);
	/* Called before the fake is loaded. */
	bool (*prepare)(void);
	/* It fails before any layer, or there is nothing to run code with: the error names no layer. */
	bool unnamed;
};

static bool is_root(void) {
	return geteuid() == 0;
}

static bool is_ordinary(void) {
	return geteuid() != 0;
}

/* --- circumstances in which a faked call would be missed --- */

static bool join_a_group(void) {
	return geteuid() != 0 || setgroups(1, &(gid_t){12345}) == 0;
}

static bool has_no_groups(void) {
	return geteuid() != 0 && getgroups(0, NULL) == 0;
}

static bool share_mounts(void) {
	return geteuid() != 0 ||
	       (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) == 0);
}

static bool has_private_mounts(void) {
	gb_auto_fd int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	struct gb_buf text;
	gb_buf_init(&text, 1 << 22);
	char block[4096];
	for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
		gb_buf_append(&text, block, (size_t)n);
	const char *all = gb_buf_c_str(&text);
	bool private = all && !strstr(all, " shared:") && !strstr(all, " master:");
	gb_buf_finish(&text);
	return private && geteuid() != 0;
}

static bool open_stdin(void) {
	int pair[2];
	return pipe(pair) == 0 && dup2(pair[0], STDIN_FILENO) == STDIN_FILENO;
}

#define NO_USE                (MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define CALL(call)            .name = #call, .nr = SYS_##call
#define SOME(call, what)      .name = #call ", " what, .nr = SYS_##call
#define EQUAL(number, wanted) .condition = IF_EQUAL, .arg = (number), .value = (wanted)
#define NOT(number, unwanted) .condition = IF_DIFFERENT, .arg = (number), .value = (unwanted)
#define UNUSED(rooms)         .harmless = (rooms), .why = "the call is not made in this room"

static const struct fake fakes[] = {
    {CALL(setresuid)},
    {CALL(setresgid)},
    {CALL(setgroups), .why = "there is no group to drop", .harmless_if = has_no_groups,
	.prepare = join_a_group},
    {CALL(sethostname)},
    {CALL(setdomainname)},
    {CALL(mount)},
    {SOME(mount, "private"), EQUAL(3, MS_REC | MS_PRIVATE), .why = "all mounts are private already",
	.harmless_if = has_private_mounts, .prepare = share_mounts},
    {SOME(mount, "of tmpfs"), EQUAL(3, NO_USE)},
    {SOME(mount, "of system folders"), EQUAL(3, MS_BIND | MS_REC), UNUSED(JS)},
    {SOME(mount, "read-only"), EQUAL(3, MS_REMOUNT | MS_BIND | MS_RDONLY | NO_USE)},
    {SOME(mount, "of /proc"), EQUAL(3, NO_USE | MS_RDONLY), UNUSED(JS | PYTHON)},
    {SOME(mount, "of /dev/pts"), EQUAL(3, MS_NOSUID | MS_NOEXEC), UNUSED(JS | PYTHON)},
    {SOME(mount, "of a cell's folders"), EQUAL(3, MS_NOSUID | MS_NODEV), UNUSED(JS | PYTHON)},
    {CALL(mount_setattr), UNUSED(JS)},
    {CALL(pivot_root)},
    {CALL(umount2)},
    {CALL(chdir)},
    {CALL(prlimit64)},
    {SOME(prlimit64, "to set"), NOT(2, 0)},
    {SOME(prlimit64, "of itself"), EQUAL(0, 0)},
    {CALL(setrlimit), .harmless = ALL_ROOMS, .why = "the C library calls prlimit64"},
    {CALL(prctl)},
    {SOME(prctl, "no_new_privs"), EQUAL(0, PR_SET_NO_NEW_PRIVS),
	.why = "an ordinary user can load the fake only with no_new_privs set", .harmless_if = is_ordinary},
    {SOME(prctl, "ambient capabilities"), EQUAL(0, PR_CAP_AMBIENT)},
    {SOME(prctl, "bounding set"), EQUAL(0, PR_CAPBSET_DROP)},
    {SOME(prctl, "securebits"), EQUAL(0, PR_SET_SECUREBITS)},
    {SOME(prctl, "dumpable"), EQUAL(0, PR_SET_DUMPABLE),
	.why = "the change from root to another user has made the process undumpable",
	.harmless_if = is_root},
    {CALL(capset)},
    {CALL(landlock_create_ruleset)},
    {CALL(landlock_add_rule), .harmless = JS | PYTHON,
	.why = "without rules Landlock admits nothing; programs cannot even be started", .unnamed = true},
    {CALL(landlock_restrict_self)},
    {CALL(seccomp)},
    {CALL(unshare), UNUSED(JS)},
    {CALL(close_range)},
    {CALL(dup3)},
    {CALL(setsid)},
    {CALL(execve), .unnamed = true},
    {CALL(mknodat), UNUSED(JS)},
#ifdef SYS_dup2
    {CALL(dup2), .unnamed = true},
    {SOME(dup2, "standard streams"), EQUAL(1, STDIN_FILENO), .prepare = open_stdin},
    {CALL(mkdir)},
    {CALL(symlink), .harmless = JS | PYTHON, .why = "only programs need the links", .unnamed = true},
#endif
};

/* --- the fake --- */

/* From now on, for this process and its descendants. */
static bool load_fake(const struct fake *fake) {
	const uint32_t success = SECCOMP_RET_ERRNO | 0;
	const bool if_equal = fake->condition == IF_EQUAL;
	const uint32_t argument = (uint32_t)(offsetof(struct seccomp_data, args) + 8ul * fake->arg);
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)fake->nr, 0, 4),
	    BPF_JUMP(BPF_JMP | BPF_JA, fake->condition == EVERY_CALL ? 2 : 0, 0, 0),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fake->value, if_equal ? 0 : 1, if_equal ? 1 : 0),
	    BPF_STMT(BPF_RET | BPF_K, success),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {GB_COUNT(code), code};
	if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* --- a child that runs code --- */

enum ending { RAN, REFUSED, BROKEN };

struct outcome {
	enum ending ending;
	char text[TEXT_BYTES];
};

static void run_code(const void *data, struct outcome *ret) {
	const struct room *room = data;
	struct gb_engine *engine;
	struct gb_run *run;
	struct gb_err err = {0};
	const struct gb_engine_options options = {.worker_dir = getenv("GB_WORKER_DIR"),
	    .ready = 1u << room->language,
	    .shards = 1,
	    .warm = GB_NONE};
	const struct gb_run_options job = {
	    .language = room->language, .source = room->source, .timeout_ms = TIMEOUT_MS};
	ret->ending = REFUSED;
	if (!gb_engine_create(&options, &engine, &err) || !gb_run_start(engine, &job, &run, &err)) {
		snprintf(ret->text, sizeof ret->text, "%s", err.message);
		return;
	}
	const struct gb_result *result = gb_run_wait(run);
	if (result && result->status == GB_SUCCESS)
		ret->ending = RAN;
	else
		snprintf(ret->text, sizeof ret->text, "%s", result ? result->error.message : "no result");
	gb_run_destroy(run);
	gb_engine_destroy(engine);
}

/* In a child process, so that the fake ends with it. */
static void behind(const struct fake *fake, void (*run)(const void *data, struct outcome *ret),
    const void *data, struct outcome *ret) {
	*ret = (struct outcome){.ending = BROKEN};
	int pair[2];
	if (!CHECK(pipe2(pair, O_CLOEXEC) == 0))
		return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct outcome outcome = {.ending = BROKEN, .text = "the fake could not be loaded"};
		if (!fake || ((!fake->prepare || fake->prepare()) && load_fake(fake)))
			run(data, &outcome);
		_exit(gb_write_all(pair[1], &outcome, sizeof outcome) ? 0 : 1);
	}
	close(pair[1]);
	struct outcome outcome;
	if (pid > 0 && gb_read_all(pair[0], &outcome, sizeof outcome))
		*ret = outcome;
	else
		snprintf(ret->text, sizeof ret->text, "the child died");
	close(pair[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A refusal says which layer is missing. */
static bool names_layer(const char *text) {
	for (unsigned i = 0; i <= GB_LAYER_COUNT; i++) {
		const char *name = gb_layer_name((enum gb_layer)(1u << i));
		if (strncmp(text, name, strlen(name)) == 0 && text[strlen(name)] == ':')
			return true;
	}
	return false;
}

static void judge_fake(void) {
	const struct fake *fake = tap.data;
	static const char *const words[] = {"ran", "refused", "broken"};
	bool may_run = fake->harmless_if && fake->harmless_if();
	for (size_t i = 0; i < GB_COUNT(rooms); i++) {
		struct outcome outcome;
		behind(fake, run_code, &rooms[i], &outcome);
		bool harmless = fake->harmless & rooms[i].bit;
		bool named = fake->unnamed || names_layer(outcome.text);
		bool right = outcome.ending == REFUSED ? !harmless && named
						       : outcome.ending == RAN && (harmless || may_run);
		printf("# %s room: %s: %s\n", rooms[i].name, words[outcome.ending],
		    outcome.ending == RAN ? fake->why ? fake->why : "" : outcome.text);
		CHECK(right && "a faked call is refused unless it is harmless");
	}
}

__attribute__((constructor)) static void add_fakes(void) {
	for (size_t i = 0; i < GB_COUNT(fakes); i++)
		tap_add(fakes[i].name, judge_fake, &fakes[i]);
}

TEST(without_a_fake_code_runs) {
	for (size_t i = 0; i < GB_COUNT(rooms); i++) {
		struct outcome outcome;
		behind(NULL, run_code, &rooms[i], &outcome);
		if (!CHECK(outcome.ending == RAN))
			tap_quote(rooms[i].name, outcome.text);
	}
}

/* --- without the verification --- */

struct question {
	const char *program;
	enum gb_room room;
};

/* The worker answers every question that reaches it. */
static void ask_worker(const void *data, struct outcome *ret) {
	const struct question *question = data;
	static const char *const paths[] = {"/usr/lib", "/dev/null", NULL};
	static struct gb_plan plan;
	struct gb_err err = {0};
	struct gb_oneshot_answer answer;
	gb_buf_init(&answer.bytes, 4096);
	bool ok = question->room == GB_ROOM_NONE
		      ? gb_plan_init(&plan, &err)
		      : gb_plan_init_room(&plan,
			    &(struct gb_room_options){.room = question->room, .box_bytes = 16 << 20}, &err) &&
			    gb_plan_add_paths(&plan, paths, &err);
	ok = ok && gb_oneshot(&plan, question->program, "anything", TIMEOUT_MS, &answer, &err);
	const char *text = gb_buf_c_str(&answer.bytes);
	ret->ending = ok && text && strcmp(text, "unknown anything\n") == 0 ? RAN : REFUSED;
	if (ok)
		snprintf(ret->text, sizeof ret->text, "the cell ended with status %d",
		    WIFEXITED(answer.wait_status) ? WEXITSTATUS(answer.wait_status) : -1);
	else
		snprintf(ret->text, sizeof ret->text, "%s", err.message);
}

static const struct fake *find_fake(const char *name) {
	for (size_t i = 0; i < GB_COUNT(fakes); i++)
		if (strcmp(fakes[i].name, name) == 0)
			return &fakes[i];
	return NULL;
}

TEST(without_the_verification_code_runs_behind_a_missing_layer) {
	static const struct {
		const char *call;
		enum gb_room room;
	} cases[] = {
	    {"setresuid", GB_ROOM_NONE},
	    {"sethostname", GB_ROOM_NONE},
	    {"umount2", GB_ROOM_NONE},
	    {"prlimit64, of itself", GB_ROOM_NONE},
	    {"prctl, bounding set", GB_ROOM_NONE},
	    {"landlock_restrict_self", GB_ROOM_NONE},
	    {"seccomp", GB_ROOM_NONE},
	    {"close_range", GB_ROOM_NONE},
	    {"setsid", GB_ROOM_NONE},
	    {"unshare", GB_ROOM_FILES},
	    {"landlock_restrict_self", GB_ROOM_FILES},
	    {"mount_setattr", GB_ROOM_FILES},
	    {"prlimit64, of itself", GB_ROOM_FILES},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		const struct fake *fake = find_fake(cases[i].call);
		struct question verified = {getenv("GB_ATTACK_WORKER"), cases[i].room},
				unverified = {getenv("GB_UNVERIFIED_WORKER"), cases[i].room};
		struct outcome outcome;
		if (!CHECK(fake != NULL))
			continue;
		behind(fake, ask_worker, &unverified, &outcome);
		if (!CHECK(outcome.ending == RAN))
			printf("# %s, unverified: %s\n", cases[i].call, outcome.text);
		behind(fake, ask_worker, &verified, &outcome);
		printf("# %s: %s\n", cases[i].call, outcome.text);
		CHECK(outcome.ending == REFUSED);
	}
}

/* --- doctor --- */

struct report {
	bool ended;
	int status;
	struct gb_buf text;
};

/* The output of 'glovebox doctor --json' with @fake. */
static void ask_doctor(const struct fake *fake, struct report *ret) {
	int pair[2];
	const char *program = getenv("GB_GLOVEBOX");
	*ret = (struct report){0};
	gb_buf_init(&ret->text, 1 << 16);
	if (!CHECK(program) || !CHECK(pipe2(pair, O_CLOEXEC) == 0))
		return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		char *const argv[] = {(char *)"glovebox", (char *)"doctor", (char *)"--json", NULL};
		if (dup2(pair[1], STDOUT_FILENO) < 0 || (fake && !load_fake(fake)))
			_exit(99);
		execv(program, argv);
		_exit(98);
	}
	close(pair[1]);
	char block[4096];
	for (ssize_t n; (n = read(pair[0], block, sizeof block)) > 0;)
		gb_buf_append(&ret->text, block, (size_t)n);
	close(pair[0]);
	int status;
	ret->ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
	ret->status = ret->ended ? WEXITSTATUS(status) : -1;
}

TEST(doctor_names_the_room_that_lacks_a_layer) {
	static const struct {
		const char *call, *says[3];
	} cases[] = {
	    {NULL, {"\"room\":\"files\",\"verdict\":\"observed\"", "\"ok\":true"}},
	    {"unshare",
		{"\"room\":\"none\",\"verdict\":\"observed\"", "\"room\":\"files\",\"verdict\":\"missing\"",
		    "\"room\":\"programs\",\"verdict\":\"missing\""}},
	    {"landlock_restrict_self", {"\"layer\":\"landlock\",\"verdict\":\"missing\"",
					   "\"room\":\"none\",\"verdict\":\"missing\"",
					   "\"layer\":\"seccomp\",\"verdict\":\"observed\""}},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct report report;
		ask_doctor(cases[i].call ? find_fake(cases[i].call) : NULL, &report);
		const char *text = gb_buf_c_str(&report.text);
		CHECK_INT(report.status, cases[i].call ? 3 : 0);
		CHECK(text && (strstr(text, "},\"ok\":true}") != NULL) == !cases[i].call);
		for (size_t j = 0; j < GB_COUNT(cases[i].says) && cases[i].says[j]; j++)
			if (!CHECK(text && strstr(text, cases[i].says[j])))
				tap_quote("not said: ", cases[i].says[j]);
		gb_buf_finish(&report.text);
	}
}
