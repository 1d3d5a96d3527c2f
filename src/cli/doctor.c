/*
 * Attack our own walls, on this kernel, as this user, and say which layer was seen to hold.
 *
 * Each layer is looked at three times by the same attempt: behind the whole wall, behind this layer alone,
 * and with the layer absent. A layer counts as observed if it denied the attempt on its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "engine/workers.h"
#include "glovebox/glovebox.h"
#include "sandbox/cgroup.h"
#include "sandbox/oneshot.h"
#include "sandbox/plan.h"

enum { PROBE_TIMEOUT_MS = 5000 };

/* What exists outside for the probe to reach for. */
struct bait {
	int listener;
	int shm_id;
	char port[8], shm[16], pid[16], host_name[sizeof((struct utsname){0}).nodename];
};

struct check {
	enum gb_layer layer;
	unsigned needs;      /* layers without which this one cannot be raised, or cannot be told apart */
	const char *attempt; /* for people */
	const char *probe;
	size_t argument; /* offset in struct bait, or SIZE_MAX */
	const char *fixed;
	const char *remedy;
	bool optional;
};

#define BAIT(member) .argument = offsetof(struct bait, member)
#define NO_BAIT      .argument = SIZE_MAX

static const struct check checks[] = {
    {GB_LAYER_USER, 0, "become root of the host", "become-root", NO_BAIT,
	.remedy = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
		  "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces > 0"},
    {GB_LAYER_PID, GB_LAYER_USER, "see a process of the host", "see-process", BAIT(pid),
	.remedy = "needs CONFIG_PID_NS"},
    {GB_LAYER_NET, GB_LAYER_USER, "connect to a port of the host", "connect", BAIT(port),
	.remedy = "needs CONFIG_NET_NS"},
    {GB_LAYER_IPC, GB_LAYER_USER, "attach shared memory of the host", "shared-memory", BAIT(shm),
	.remedy = "needs CONFIG_IPC_NS"},
    {GB_LAYER_UTS, GB_LAYER_USER, "learn the host's name", "host-name", BAIT(host_name),
	.remedy = "needs CONFIG_UTS_NS"},
    {GB_LAYER_MOUNT, GB_LAYER_USER, "open /etc/passwd", "open-file", NO_BAIT, .fixed = "/etc/passwd",
	.remedy = "in a container, let it mount tmpfs in a user namespace (AppArmor, masked /proc)"},
    {GB_LAYER_RLIMIT, 0, "use up file descriptors", "descriptors", NO_BAIT, .remedy = "setrlimit must work"},
    {GB_LAYER_CAPS, GB_LAYER_USER, "use a capability (chroot)", "capability", NO_BAIT,
	.remedy = "capset and securebits must work"},
    {GB_LAYER_LANDLOCK, 0, "open the root folder", "open-folder", NO_BAIT, .fixed = "/",
	.remedy = "needs Linux 5.13 and landlock in the kernel's lsm= list"},
    {GB_LAYER_SECCOMP, 0, "make a system call off the list (ptrace)", "trace", NO_BAIT,
	.remedy = "needs CONFIG_SECCOMP_FILTER"},
    {GB_LAYER_CGROUP, 0, "start more processes than allowed", "fork", NO_BAIT,
	.remedy = "delegate a control group with memory and pids (systemd: Delegate=yes); without it each "
		  "run's own "
		  "limits hold, but not a limit on all of them together",
	.optional = true},
};

/* How an attempt ended: "allowed", an errno's name, or what else happened. */
typedef char outcome[64];

struct finding {
	outcome whole, alone, without;
	char trouble[GB_ERR_MESSAGE_MAX]; /* the layer could not be raised */
};

static bool is_denied(const char *how) {
	return *how && strcmp(how, "allowed") != 0;
}

static bool holds(const struct finding *finding) {
	return is_denied(finding->whole) && is_denied(finding->alone);
}

/* --- bait --- */

static bool lay_bait(struct bait *bait, struct gb_err *err) {
	*bait = (struct bait){.listener = -1, .shm_id = -1};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof address;
	bait->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bait->listener < 0 || bind(bait->listener, (struct sockaddr *)&address, n) != 0 ||
	    listen(bait->listener, 8) != 0 ||
	    getsockname(bait->listener, (struct sockaddr *)&address, &n) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "listen on loopback");
	bait->shm_id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
	if (bait->shm_id < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "shmget");
	struct utsname name;
	uname(&name);
	snprintf(bait->host_name, sizeof bait->host_name, "%s", name.nodename);
	snprintf(bait->port, sizeof bait->port, "%u", ntohs(address.sin_port));
	snprintf(bait->shm, sizeof bait->shm, "%d", bait->shm_id);
	snprintf(bait->pid, sizeof bait->pid, "%d", (int)getpid());
	return true;
}

static void take_bait_in(struct bait *bait) {
	gb_close_fd(&bait->listener);
	if (bait->shm_id >= 0)
		shmctl(bait->shm_id, IPC_RMID, NULL);
}

/* --- looking --- */

struct doctor {
	struct gb_plan plan;
	struct bait bait;
	char probe[PATH_MAX];
	bool json;
};

static bool attempt(struct doctor *doctor, const struct check *check, unsigned layers, char *ret_outcome,
    struct gb_err *err) {
	char question[256];
	const char *argument = check->fixed                  ? check->fixed
			       : check->argument != SIZE_MAX ? (char *)&doctor->bait + check->argument
							     : "";
	snprintf(question, sizeof question, "%s %s", check->probe, argument);
	struct gb_plan plan = doctor->plan;
	plan.layers = layers;
	struct gb_oneshot_answer answer;
	gb_buf_init(&answer.bytes, sizeof(outcome) - 1);
	bool ok = gb_oneshot(&plan, doctor->probe, question, PROBE_TIMEOUT_MS, &answer, err);
	const char *said = gb_buf_c_str(&answer.bytes);
	snprintf(ret_outcome, sizeof(outcome), "%s", said && *said ? said : "killed");
	gb_buf_finish(&answer.bytes);
	return ok;
}

static void look_at(struct doctor *doctor, const struct check *check, struct finding *ret) {
	struct gb_err err = {0};
	bool ok = attempt(doctor, check, GB_LAYER_ALL, ret->whole, &err) &&
		  attempt(doctor, check, check->layer | check->needs, ret->alone, &err) &&
		  attempt(doctor, check, check->needs, ret->without, &err);
	if (!ok)
		snprintf(ret->trouble, sizeof ret->trouble, "%s", err.message);
	/* Without a control group to be had, this one is told apart here: the rest of the wall denies too. */
	struct gb_cgroup *group = NULL;
	if (check->layer == GB_LAYER_CGROUP &&
	    !gb_cgroup_create(&(struct gb_cgroup_limits){.memory_bytes = 64 << 20, .processes = 16}, &group, &err))
		snprintf(ret->trouble, sizeof ret->trouble, "%s", err.message);
	gb_cgroup_destroy(group);
}

/* --- saying --- */

static const char *verdict(const struct check *check, const struct finding *finding) {
	if (!*finding->trouble && holds(finding))
		return "observed";
	return check->optional ? "absent" : "missing";
}

static void say(const struct check *check, const struct finding *finding) {
	const char *word = verdict(check, finding);
	bool good = strcmp(word, "observed") == 0;
	printf("  ");
	print_styled(stdout, good ? GREEN : check->optional ? YELLOW : RED, "%-8s", word);
	printf("  %-17s  %-40s  %-8s  %-12s  %s\n", gb_layer_name(check->layer), check->attempt,
	    *finding->whole ? finding->whole : "-", *finding->alone ? finding->alone : "-",
	    *finding->without ? finding->without : "-");
	if (*finding->trouble)
		printf("            why: %s\n", finding->trouble);
	if (!good)
		printf("            what to do: %s\n", check->remedy);
}

static void say_json(const struct check *check, const struct finding *finding, bool first) {
	printf("%s{\"layer\":\"%s\",\"verdict\":\"%s\",\"optional\":%s,\"attempt\":", first ? "" : ",",
	    gb_layer_name(check->layer), verdict(check, finding), check->optional ? "true" : "false");
	print_json_string(stdout, check->attempt);
	printf(",\"wholeWall\":\"%s\",\"thisLayerAlone\":\"%s\",\"withoutIt\":\"%s\"", finding->whole,
	    finding->alone, finding->without);
	if (*finding->trouble) {
		printf(",\"why\":");
		print_json_string(stdout, finding->trouble);
	}
	if (strcmp(verdict(check, finding), "observed") != 0) {
		printf(",\"remedy\":");
		print_json_string(stdout, check->remedy);
	}
	printf("}");
}

/* A real run, by the way that every run takes. */
static bool try_a_run(char *ret_text, size_t n) {
	struct gb_engine *engine;
	struct gb_run *run;
	struct gb_err err = {0};
	const struct gb_engine_options options = {.shards = 1, .warm = GB_NONE};
	if (!gb_engine_create(&options, &engine, &err)) {
		snprintf(ret_text, n, "%s", err.message);
		return false;
	}
	bool ok = false;
	if (gb_run_start(engine, &(struct gb_run_options){.source = "export default 6*7"}, &run, &err)) {
		const struct gb_result *result = gb_run_wait(run);
		ok = result && result->status == GB_SUCCESS && gb_value_as_number(result->value) == 42;
		snprintf(ret_text, n, "%s",
		    ok       ? "6*7 is 42"
		    : result ? result->error.message
			     : "could not wait");
		gb_run_destroy(run);
	} else {
		snprintf(ret_text, n, "%s", err.message);
	}
	gb_engine_destroy(engine);
	return ok;
}

static void say_where(struct doctor *doctor) {
	struct utsname name;
	struct gb_landlock_rights rights;
	int abi = 0;
	uname(&name);
	(void)gb_landlock_rights(&rights, &abi, NULL);
	if (doctor->json) {
		printf("{\"kernel\":");
		print_json_string(stdout, name.release);
		printf(",\"uid\":%u,\"landlockAbi\":%d,\"layers\":[", geteuid(), abi);
		return;
	}
	printf("Linux %s, user %u, Landlock ABI %d\n\n", name.release, geteuid(), abi);
	print_styled(stdout, DIM, "  %-8s  %-17s  %-40s  %-8s  %-12s  %s\n", "", "layer",
	    "what was tried from inside", "wall", "layer alone", "without it");
}

static int examine(struct doctor *doctor) {
	unsigned missing = 0;
	say_where(doctor);
	for (size_t i = 0; i < GB_COUNT(checks); i++) {
		struct finding finding = {0};
		look_at(doctor, &checks[i], &finding);
		missing += strcmp(verdict(&checks[i], &finding), "missing") == 0;
		if (doctor->json)
			say_json(&checks[i], &finding, i == 0);
		else
			say(&checks[i], &finding);
		fflush(stdout);
	}
	char text[GB_ERR_MESSAGE_MAX];
	bool runs = try_a_run(text, sizeof text);
	if (doctor->json) {
		printf("],\"run\":{\"ok\":%s,\"text\":", runs ? "true" : "false");
		print_json_string(stdout, text);
		printf("},\"ok\":%s}\n", runs && !missing ? "true" : "false");
	} else {
		printf("\n");
		print_styled(stdout, runs ? GREEN : RED, "  %s", runs ? "observed" : "missing ");
		printf("  a real run: %s\n\n", text);
		if (runs && !missing)
			printf("The wall stands.\n");
		else
			printf("Runs are refused until what is missing is there.\n");
	}
	return runs && !missing ? EXIT_OK : EXIT_REFUSED;
}

static const struct flag flags[] = {
    {"json", 0, NULL, "one JSON object"},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	if (!flag)
		return complain(&command_doctor, "takes no operand, but got '%s'", value);
	((struct doctor *)data)->json = true;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct doctor doctor = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &doctor);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	struct gb_err err = {0};
	if (!gb_worker_find(NULL, "glovebox-probe", doctor.probe, sizeof doctor.probe, &err) ||
	    !gb_plan_init(&doctor.plan, &err) ||
	    !gb_seccomp_filter(&doctor.plan.filter,
		&(struct gb_seccomp_options){.room = GB_ROOM_EMPTY, .denied_errno = GB_SECCOMP_MARK}, &err) ||
	    !lay_bait(&doctor.bait, &err)) {
		complain(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	int status = examine(&doctor);
	take_bait_in(&doctor.bait);
	return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[--json]",
    .summary = "attack our own walls on this machine and say which layer held",
    .details = "For each layer of the wall, a sandboxed process tries what the layer forbids: behind the "
	       "whole wall,\n"
	       "behind this layer alone, and without it. A layer is 'observed' if it was seen to deny.\n"
	       "\n"
	       "Exit status: 0 every layer was observed, 3 a layer is missing and runs are refused. A "
	       "control group is\n"
	       "the one layer that may be absent.",
    .flags = flags,
    .run = run,
};
