/*
 * Attack our own walls: a process in each kind of room attempts what each layer forbids.
 *
 * Behind the whole wall a layer that refuses earlier hides those behind it. So in an empty room, where layers
 * can be raised one by one, each is also observed alone, and the same attempt is made without it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/doctor.h"
#include "engine/engine.h"
#include "engine/workers.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/inside/room.h"
#include "sandbox/linux/oneshot.h"

enum { PROBE_TIMEOUT_MS = 20000 };

#define BAIT(member) .bait = offsetof(struct bait, member)
#define NO_BAIT      .bait = SIZE_MAX

/* The counts of descriptors and processes are above what each room allows. */
const struct check checks[GB_LAYER_COUNT] = {
    {GB_LAYER_USER, 0, "become root of the host", {"become-root"}, NO_BAIT,
	.remedy = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
		  "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces > 0"},
    {GB_LAYER_PID, GB_LAYER_USER, "see a process of the host", {"see-process"}, BAIT(pid),
	.remedy = "needs CONFIG_PID_NS"},
    {GB_LAYER_NET, GB_LAYER_USER, "connect to a host port", {"connect"}, BAIT(port),
	.remedy = "needs CONFIG_NET_NS"},
    {GB_LAYER_IPC, GB_LAYER_USER, "attach host shared memory", {"shared-memory"}, BAIT(shm),
	.remedy = "needs CONFIG_IPC_NS"},
    {GB_LAYER_UTS, GB_LAYER_USER, "learn the host's name", {"host-name"}, BAIT(host_name),
	.remedy = "needs CONFIG_UTS_NS"},
    {GB_LAYER_MOUNT, GB_LAYER_USER, "open a file of the host", {"open-file"}, BAIT(file),
	.remedy = "in a container, let it mount tmpfs in a user namespace (AppArmor, masked /proc)"},
    {GB_LAYER_RLIMIT, 0, "use up descriptors", {"descriptors 64", "descriptors 300", "descriptors 1100"},
	NO_BAIT, .remedy = "setrlimit must work"},
    {GB_LAYER_CAPS, GB_LAYER_USER, "use a capability (chroot)", {"capability"}, NO_BAIT,
	.remedy = "capset and securebits must work"},
    {GB_LAYER_LANDLOCK, 0, "open what no rule admits", {"open-folder /", "open-file " GB_ROOM_CANARY},
	NO_BAIT, .remedy = "needs Linux 5.13 and landlock in the kernel's lsm= list"},
    {GB_LAYER_SECCOMP, 0, "make an unlisted call (ptrace)", {"trace"}, NO_BAIT,
	.remedy = "needs CONFIG_SECCOMP_FILTER"},
    {GB_LAYER_CGROUP, 0, "start too many processes", {"fork 100", "fork 100", "fork 300"}, NO_BAIT,
	.remedy = "delegate a control group with memory and pids (systemd: Delegate=yes); without it each "
		  "run's own limits hold, but not a limit on all of them together",
	.optional = true},
};

const char *room_name(size_t room) {
	static const char *const names[DOCTOR_ROOMS] = {"none", "files", "programs"};
	return names[room];
}

const char *verdict_name(enum verdict verdict) {
	static const char *const names[] = {"observed", "absent", "missing"};
	return names[verdict];
}

/* --- bait --- */

/* Not readable by root alone: it must be the wall that refuses it. */
static bool make_file(struct bait *bait, struct gb_err *err) {
	snprintf(bait->file, sizeof bait->file, "/tmp/glovebox-doctor.XXXXXX");
	gb_auto_fd int fd = mkstemp(bait->file);
	if (fd < 0)
		bait->file[0] = '\0';
	return (fd >= 0 && fchmod(fd, 0644) == 0) ||
	       gb_fail(err, GB_ESYSTEM, errno, "make a file in /tmp for the sandbox to reach for");
}

/* A process of the host with a number that no process in a sandbox has. Those are small. */
static bool make_victim(struct bait *bait, struct gb_err *err) {
	enum { BEYOND_SANDBOXES = 16 };
	for (;;) {
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		if (pid < 0)
			return gb_fail(err, GB_ESYSTEM, errno, "fork");
		if (pid > BEYOND_SANDBOXES) {
			bait->victim = pid;
			return true;
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

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
	if (!make_file(bait, err) || !make_victim(bait, err))
		return false;
	struct utsname name;
	uname(&name);
	snprintf(bait->host_name, sizeof bait->host_name, "%s %s", name.nodename, name.domainname);
	snprintf(bait->port, sizeof bait->port, "%u", ntohs(address.sin_port));
	snprintf(bait->shm, sizeof bait->shm, "%d", bait->shm_id);
	snprintf(bait->pid, sizeof bait->pid, "%d", (int)bait->victim);
	return true;
}

static void take_bait_in(struct bait *bait) {
	gb_close_fd(&bait->listener);
	if (bait->shm_id >= 0)
		shmctl(bait->shm_id, IPC_RMID, NULL);
	if (bait->file[0])
		unlink(bait->file);
	if (bait->victim > 0) {
		kill(bait->victim, SIGKILL);
		waitpid(bait->victim, NULL, 0);
	}
}

/* --- rooms --- */

/* The plan of the first runtime in that room that is installed: the engine's own, but for a filter whose
 * refusals can be told from others. */
static void plan_room(struct room *room, const enum gb_runtime *users, size_t n) {
	/* A probe has no control group of its own. */
	static struct gb_engine defaults = {.has_no_cgroup = true};
	struct gb_err err = {0};
	bool planned = false;
	for (size_t i = 0; i < n && !planned; i++)
		planned = gb_runtime_plan(&defaults, users[i], &room->plan, &err);
	const struct gb_seccomp_options filter = {
	    .room = room->plan.room, .cookie = room->plan.contents.cookie, .denied_errno = GB_SECCOMP_MARK};
	/* Also of a plan that lacks a layer: its others are still observed one by one. */
	bool marked = gb_seccomp_filter(&room->plan.filter, &filter, planned ? &err : NULL) && planned;
	room->verdict = marked ? OBSERVED : !planned && err.code == GB_ENOENT ? ABSENT : MISSING;
	if (!marked)
		snprintf(room->trouble, sizeof room->trouble, "%s", err.message);
}

bool layers_begin(struct layers *layers, struct gb_err *err) {
	static const enum gb_runtime js[] = {GB_RUNTIME_JS}, python[] = {GB_RUNTIME_PYTHON},
				     programs[] = {GB_RUNTIME_SHELL, GB_RUNTIME_NODE, GB_RUNTIME_DENO};
	plan_room(&layers->rooms[0], js, GB_COUNT(js));
	plan_room(&layers->rooms[1], python, GB_COUNT(python));
	plan_room(&layers->rooms[2], programs, GB_COUNT(programs));
	return lay_bait(&layers->bait, err) &&
	       gb_worker_find(NULL, "glovebox-probe", layers->probe, sizeof layers->probe, err);
}

void layers_end(struct layers *layers) {
	take_bait_in(&layers->bait);
}

/* --- attempts --- */

/* A cell that ended without an answer has not attempted anything. */
static bool fail_silence(const struct gb_oneshot_answer *answer, struct gb_err *err) {
	char why[256];
	const struct gb_cell_end end = {.fate = GB_CELL_EXITED, .wait_status = answer->wait_status};
	if (answer->timed_out)
		return gb_fail(err, GB_EWALL, 0, "the probe did not answer in time");
	if (answer->wait_status == -1)
		return gb_fail(err, GB_EWALL, 0, "the zygote died");
	gb_cell_describe_exit(&end, why, sizeof why);
	return gb_fail(err, GB_EWALL, 0, "%s", why);
}

static bool ask(struct layers *layers, size_t room, unsigned which, const char *question, char *ret_outcome,
    struct gb_err *err) {
	snprintf(ret_outcome, sizeof(outcome), "%s", "");
	struct gb_plan plan = layers->rooms[room].plan;
	plan.layers = which;
	struct gb_oneshot_answer answer;
	gb_buf_init(&answer.bytes, sizeof(outcome) - 1);
	bool ok = gb_oneshot(&plan, layers->probe, question, PROBE_TIMEOUT_MS, &answer, err);
	const char *said = gb_buf_c_str(&answer.bytes);
	if (ok && said && *said)
		snprintf(ret_outcome, sizeof(outcome), "%s", said);
	else if (ok)
		ok = fail_silence(&answer, err);
	gb_buf_finish(&answer.bytes);
	return ok;
}

void layers_raise(struct layers *layers, size_t which) {
	struct room *room = &layers->rooms[which];
	struct gb_err err = {0};
	outcome ignored;
	layers->on_progress(room_name(which), layers->data);
	if (room->verdict != OBSERVED || ask(layers, which, GB_LAYER_ALL, "nothing", ignored, &err))
		return;
	room->verdict = MISSING;
	snprintf(room->trouble, sizeof room->trouble, "%s", err.message);
}

/* True if what the layer forbids was refused. */
static bool attempt(struct layers *layers, const struct check *check, size_t room, unsigned which,
    char *ret_outcome, struct gb_err *err) {
	char question[256];
	const char *argument = check->bait == SIZE_MAX ? "" : (char *)&layers->bait + check->bait;
	size_t probe = room;
	while (probe > 0 && !check->probes[probe])
		probe--;
	snprintf(question, sizeof question, "%s%s%s", check->probes[probe], *argument ? " " : "", argument);
	return ask(layers, room, which, question, ret_outcome, err) && strcmp(ret_outcome, "allowed") != 0;
}

static bool observe_rooms(
    struct layers *layers, const struct check *check, struct finding *ret, struct gb_err *err) {
	bool all = true;
	for (size_t i = 0; i < DOCTOR_ROOMS; i++) {
		/* One whose wall cannot be raised says nothing about single layers. */
		struct room *room = &layers->rooms[i];
		if (room->verdict == ABSENT || *room->trouble)
			continue;
		char what[80];
		snprintf(what, sizeof what, "%s room: %s", room_name(i), gb_layer_name(check->layer));
		layers->on_progress(what, layers->data);
		if (attempt(layers, check, i, GB_LAYER_ALL, ret->rooms[i], err))
			continue;
		all = false;
		if (!check->optional)
			room->verdict = MISSING;
	}
	return all;
}

void layers_observe(struct layers *layers, const struct check *check, struct finding *ret) {
	struct gb_err err = {0};
	*ret = (struct finding){0};
	bool refused = observe_rooms(layers, check, ret, &err);
	refused = attempt(layers, check, 0, check->layer | check->needs, ret->alone, &err) && refused;
	outcome without;
	if (!err.code && (attempt(layers, check, 0, check->needs, without, &err) || !err.code))
		memcpy(ret->without, without, sizeof without);
	/* Behind the other layers the attempt fails without a control group, too. */
	struct gb_cgroup *group = NULL;
	if (check->layer == GB_LAYER_CGROUP)
		refused =
		    gb_cgroup_create(&(struct gb_cgroup_limits){.memory_bytes = 64 << 20, .processes = 16},
			&group, &err) &&
		    refused;
	gb_cgroup_destroy(group);
	ret->verdict = refused && !err.code ? OBSERVED : check->optional ? ABSENT : MISSING;
	snprintf(ret->trouble, sizeof ret->trouble, "%s", err.message);
}
