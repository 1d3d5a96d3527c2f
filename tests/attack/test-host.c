/* Settings of a zygote that the host makes, because the zygote itself cannot. */
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/zygote.h"
#include "tap.h"

enum { TIMEOUT_MS = 600000 };

static void set_core_limit(struct gb_plan *plan, uint64_t limit) {
	for (uint32_t i = 0; i < plan->n_rlimits; i++)
		if (plan->rlimits[i].resource == RLIMIT_CORE)
			plan->rlimits[i].limit = limit;
}

/* Start a zygote and wait until its wall is up. */
static bool start_zygote(struct gb_zygote *zygote, unsigned layers) {
	static struct gb_plan plan;
	struct gb_err err = {0};
	bool ok = gb_plan_init(&plan, &err);
	plan.layers = layers;
	set_core_limit(&plan, 1);
	ok = ok && gb_zygote_spawn(zygote, &plan, getenv("GB_ATTACK_WORKER"), NULL, &err);
	if (!CHECK(ok)) {
		tap_quote("", err.message);
		return false;
	}
	struct pollfd ready = {.fd = zygote->control, .events = POLLIN};
	struct gb_notice notice = {0};
	int pidfd = -1;
	CHECK_INT(poll(&ready, 1, TIMEOUT_MS), 1);
	CHECK(gb_zygote_next(zygote, &notice, &pidfd) == GB_ZYGOTE_NOTICE);
	CHECK_INT(notice.kind, GB_NOTICE_READY);
	return true;
}

static int oom_score(pid_t pid) {
	char path[64], text[16] = "";
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? (int)strtol(text, NULL, 10) : -9999;
}

TEST(zygotes_have_the_highest_oom_score) {
	struct gb_zygote zygote;
	int before = oom_score(getpid());
	if (!start_zygote(&zygote, GB_LAYER_ALL))
		return;
	CHECK_INT(oom_score(zygote.pid), 1000);
	CHECK_INT(oom_score(getpid()), before);
	gb_zygote_finish(&zygote);
}

static uint64_t dump_filter(pid_t pid) {
	char path[64], text[32] = "";
	snprintf(path, sizeof path, "/proc/%d/coredump_filter", (int)pid);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? strtoull(text, NULL, 16) : 0;
}

/* The host runs on a moment before its child has memory of its own. What it sets for the child must not reach
 * itself, and must reach the child, however the two are scheduled. */
TEST(settings_for_many_zygotes_do_not_change_the_host) {
	enum { MANY = 100 };
	int score = oom_score(getpid());
	uint64_t filter = dump_filter(getpid());
	for (int i = 0; i < MANY; i++) {
		struct gb_zygote zygote;
		if (!start_zygote(&zygote, GB_LAYER_ALL))
			return;
		CHECK_INT(oom_score(zygote.pid), 1000);
		CHECK(dump_filter(zygote.pid) == 0);
		CHECK_INT(oom_score(getpid()), score);
		CHECK(dump_filter(getpid()) == filter);
		gb_zygote_finish(&zygote);
	}
}

/* In a child, since a hard limit cannot be raised again by an ordinary user. */
static int core_limit_behind(unsigned layers, rlim_t own) {
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct rlimit seen = {99, 99};
		struct gb_zygote zygote;
		bool ok =
		    setrlimit(RLIMIT_CORE, &(struct rlimit){own, own}) == 0 && start_zygote(&zygote, layers);
		ok = ok && prlimit(zygote.pid, RLIMIT_CORE, NULL, &seen) == 0;
		if (ok)
			gb_zygote_finish(&zygote);
		_exit(ok ? (int)seen.rlim_max : 99);
	}
	int status;
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool can_raise_limits(void) {
	pid_t pid = fork();
	if (pid == 0)
		_exit(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) == 0 &&
			      setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1}) == 0
			  ? 0
			  : 1);
	int status;
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

TEST(privileged_host_sets_a_core_limit_above_its_own) {
	/* Without CAP_SYS_RESOURCE it does not change. */
	CHECK_INT(core_limit_behind(GB_LAYER_ALL, 0), can_raise_limits() ? 1 : 0);
	CHECK_INT(core_limit_behind(GB_LAYER_ALL & ~GB_LAYER_RLIMIT, 0), 0);
	struct rlimit own = {0};
	if (getrlimit(RLIMIT_CORE, &own) != 0 || own.rlim_max < 7)
		return;
	/* A higher one becomes 1 without any privilege. */
	CHECK_INT(core_limit_behind(GB_LAYER_ALL, 7), 1);
	CHECK_INT(core_limit_behind(GB_LAYER_ALL & ~GB_LAYER_RLIMIT, 7), 7);
}
