/* Evaluates every linked attack: see attack.h. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attack.h"
#include "base/cleanup.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/oneshot.h"
#include "tap.h"

enum { TIMEOUT_MS = 20000 };

/* These layers need a user namespace. */
enum {
	NEEDS_USER = GB_LAYER_PID | GB_LAYER_NET | GB_LAYER_IPC | GB_LAYER_UTS | GB_LAYER_MOUNT |
		     GB_LAYER_RLIMIT | GB_LAYER_CAPS,
};

enum verdict { WORKED, DENIED, UNCLEAR };

struct outcome {
	enum verdict verdict;
	char detail[100]; /* the errno's name, or the signal's, or what was unclear */
};

static struct {
	struct gb_plan plan;
	struct gb_plan files, programs;
	struct gb_seccomp marked; /* the same filter, with an answer that only it gives */
	int landlock_abi;
	bool ready;
} wall;

static bool prepare_wall(void) {
	struct gb_err err = {0};
	struct gb_landlock_rights rights;
	static const char *const paths[] = {"/usr/lib", "/usr/share/zoneinfo", "/dev/null", NULL},
				 *const program_paths[] = {"/dev/null", "/dev/tty", NULL};
	if (!wall.ready)
		wall.ready =
		    gb_plan_init(&wall.plan, &err) &&
		    gb_plan_init_room(&wall.files,
			&(struct gb_room_options){.room = GB_ROOM_FILES, .box_bytes = 16 << 20}, &err) &&
		    gb_plan_add_paths(&wall.files, paths, &err) &&
		    gb_plan_init_room(&wall.programs,
			&(struct gb_room_options){.room = GB_ROOM_PROGRAMS, .box_bytes = 16 << 20}, &err) &&
		    gb_plan_add_paths(&wall.programs, program_paths, &err) &&
		    gb_plan_add_program(&wall.programs, "/usr", NULL, &err) &&
		    gb_seccomp_filter(&wall.marked,
			&(struct gb_seccomp_options){.room = GB_ROOM_NONE, .denied_errno = GB_SECCOMP_MARK},
			&err) &&
		    gb_landlock_rights(&rights, &wall.landlock_abi, &err);
	if (!CHECK(wall.ready))
		tap_quote("", err.message);
	return wall.ready;
}

static void remove_dir(const char *path) {
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));)
		if (unlinkat(dirfd(dir), entry->d_name, 0) != 0)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	closedir(dir);
	rmdir(path);
}

static void strike(const struct attack *attack, struct stage *stage) {
	if (attack->strike)
		attack->strike(stage);
	for (unsigned i = 0; i < stage->n_fds; i++)
		close(stage->fds[i]);
	if (stage->victim > 0) {
		kill(stage->victim, SIGKILL);
		waitpid(stage->victim, NULL, 0);
	}
	if (stage->dir[0])
		remove_dir(stage->dir);
}

static void read_outcome(const struct attack *attack, struct gb_oneshot_answer *answer, struct outcome *ret) {
	const char *text = gb_buf_c_str(&answer->bytes);
	int status = answer->wait_status;
	*ret = (struct outcome){.verdict = UNCLEAR};
	if (text && sscanf(text, " denied %99s", ret->detail) == 1) {
		ret->verdict = DENIED;
	} else if (text && sscanf(text, " done %99s", ret->detail) == 1) {
		ret->verdict = WORKED;
	} else if (answer->timed_out) {
		snprintf(ret->detail, sizeof ret->detail, "no answer in time");
	} else if (status == -1) {
		/* Here only the cell can have killed its zygote. */
		ret->verdict = WORKED;
		snprintf(ret->detail, sizeof ret->detail, "the zygote died");
	} else if (WIFSIGNALED(status)) {
		ret->verdict = WTERMSIG(status) == attack->signal ? DENIED : UNCLEAR;
		snprintf(ret->detail, sizeof ret->detail, "SIG%s", sigabbrev_np(WTERMSIG(status)));
	} else {
		snprintf(ret->detail, sizeof ret->detail, "exit status %d", WEXITSTATUS(status));
	}
}

/* Run the probe behind @plan. False, and the test has failed, if that was not possible. */
static bool perform_behind(
    const struct attack *attack, const struct gb_plan *plan, bool careless, struct outcome *ret) {
	struct stage stage = {0};
	if (attack->set && !CHECK(attack->set(&stage))) {
		printf("#   could not be prepared: %s\n", strerror(errno));
		strike(attack, &stage);
		return false;
	}
	char question[200];
	snprintf(question, sizeof question, "%s %s", attack->name,
	    attack->precaution && careless ? "careless" : stage.argument);
	struct gb_oneshot_answer answer;
	struct gb_err err = {0};
	gb_buf_init(&answer.bytes, 4096);
	bool ok = gb_oneshot(plan, getenv("GB_ATTACK_WORKER"), question, TIMEOUT_MS, &answer, &err);
	if (CHECK(ok))
		read_outcome(attack, &answer, ret);
	else
		tap_quote("", err.message);
	gb_buf_finish(&answer.bytes);
	strike(attack, &stage);
	return ok;
}

static bool perform(
    const struct attack *attack, unsigned layers, bool marked, bool careless, struct outcome *ret) {
	struct gb_plan plan = wall.plan;
	plan.layers = layers;
	if (marked)
		plan.filter = wall.marked;
	return perform_behind(attack, &plan, careless, ret);
}

static void print_layers(unsigned layers) {
	if (layers == GB_LAYER_ALL)
		printf(" the full wall");
	for (unsigned i = 0; i < GB_LAYER_COUNT && layers != GB_LAYER_ALL; i++)
		if (layers & 1u << i)
			printf(" [%s]", gb_layer_name((enum gb_layer)(1u << i)));
	puts(layers ? "" : " no wall");
}

static void explain(const struct attack *attack, unsigned layers, const struct outcome *outcome) {
	static const char *const words[] = {[WORKED] = "worked", [DENIED] = "denied", [UNCLEAR] = "unclear"};
	printf("#   %s: %s (%s) behind", attack->name, words[outcome->verdict], outcome->detail);
	print_layers(layers);
}

static bool is_kernels_own_answer(const struct attack *attack, const struct outcome *outcome) {
	for (unsigned i = 0; i < ATTACK_MAX_KERNEL_SAYS && attack->kernel_says[i]; i++) {
		const char *name = strerrorname_np(attack->kernel_says[i]);
		if (outcome->verdict == DENIED && name && strcmp(name, outcome->detail) == 0)
			return true;
	}
	return false;
}

static void expect_works(const struct attack *attack, unsigned layers) {
	struct outcome outcome;
	if (!perform(attack, layers, true, true, &outcome))
		return;
	bool works = outcome.verdict == WORKED || is_kernels_own_answer(attack, &outcome);
	if (!CHECK(works && "the attack works where the wall is not"))
		explain(attack, layers, &outcome);
}

static void expect_denied(const struct attack *attack, unsigned layers, enum gb_layer by) {
	struct outcome outcome;
	bool marked = by == GB_LAYER_SECCOMP;
	if (!perform(attack, layers, marked, false, &outcome))
		return;
	bool denied = outcome.verdict == DENIED;
	if (by != GB_LAYER_ALL)
		denied = denied && !is_kernels_own_answer(attack, &outcome);
	if (marked && attack->signal != SIGSYS) {
		char marker[16];
		snprintf(marker, sizeof marker, "%d", GB_SECCOMP_MARK);
		denied = denied && strcmp(outcome.detail, marker) == 0;
	}
	if (!CHECK(denied && "the attack is denied"))
		explain(attack, layers, &outcome);
}

static void judge_layer(const struct attack *attack, enum gb_layer layer) {
	if (layer == GB_LAYER_LANDLOCK && wall.landlock_abi < attack->landlock_abi) {
		printf("# %s: not known to this kernel's Landlock\n", attack->name);
		return;
	}
	unsigned base = attack->control | (layer & NEEDS_USER ? GB_LAYER_USER : 0u);
	expect_denied(attack, base | layer, layer);
	if (base != attack->control)
		expect_works(attack, base);
}

static void expect_denied_in_room(const struct attack *attack, const struct gb_plan *plan, bool allowed) {
	struct outcome outcome;
	if (!perform_behind(attack, plan, false, &outcome))
		return;
	if (!CHECK((outcome.verdict == DENIED) == !allowed)) {
		printf("#   in %s room\n", plan->room == GB_ROOM_FILES ? "the files" : "the programs");
		explain(attack, GB_LAYER_ALL, &outcome);
	}
}

static bool has_cgroup(struct gb_err *err) {
	struct gb_cgroup *group = NULL;
	bool has = gb_cgroup_create(
	    &(struct gb_cgroup_limits){.memory_bytes = 1 << 20, .processes = 1}, &group, err);
	gb_cgroup_destroy(group);
	return has;
}

static void judge(void) {
	const struct attack *attack = tap.data;
#ifdef __SANITIZE_ADDRESS__
	if (attack->sanitizer_allows)
		SKIP("sanitizer build: its filter allows this");
#endif
	static struct gb_err err;
	if ((attack->layers & GB_LAYER_CGROUP) && !has_cgroup(&err))
		SKIP(err.message);
	if (!prepare_wall())
		return;
	expect_works(attack, attack->control);
	for (unsigned i = 0; i < GB_LAYER_COUNT; i++)
		if (attack->layers & 1u << i)
			judge_layer(attack, (enum gb_layer)(1u << i));
	expect_denied(attack, GB_LAYER_ALL, GB_LAYER_ALL);
	expect_denied_in_room(attack, &wall.files, attack->files_allow);
	expect_denied_in_room(attack, &wall.programs, attack->files_allow || attack->programs_allow);
}

__attribute__((constructor)) static void add_attacks(void) {
	for (const struct attack *const *a = __start_attacks; a < __stop_attacks; a++)
		tap_add((*a)->name, judge, *a);
}

TEST(attack_worker_exists) {
	const char *path = getenv("GB_ATTACK_WORKER");
	CHECK(path && access(path, X_OK) == 0);
}
