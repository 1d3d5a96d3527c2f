/*
 * Attack the sandbox: a probe in each kind of room attempts what each layer forbids.
 *
 * With all layers raised, the first layer that refuses an attempt hides the others. So in an empty room,
 * where layers can be raised one by one, each is also observed alone, and the same attempt is made without
 * it.
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
#include "sandbox/linux/cause.h"
#include "sandbox/linux/cell_end.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/inside/room.h"
#include "sandbox/linux/oneshot.h"
#include "sandbox/linux/port.h"

enum { PROBE_TIMEOUT_MS = 20000 };

/* Size of /box and /tmp of a probe. */
#define BOX_BYTES (64ull << 20)

/* Objects of the host that the probe tries to reach. */
struct targets {
	int listener;
	int shm_id;
	pid_t victim;
	char port[8], shm[16], pid[16], host_name[160], file[40];
};

struct room {
	struct gb_plan *plan; /* NULL: it could not be made */
	struct gb_room_finding finding;
};

struct gb_observer {
	struct gb_observer_options options;
	char *probe;
	struct gb_port *port;
	struct targets targets;
	struct room rooms[GB_ROOMS];
	struct gb_plan empty; /* plan of an empty room; may lack a layer */
	struct gb_machine machine;
	size_t next; /* index of the next check */
};

struct check {
	enum gb_layer layer;
	unsigned needs;               /* other layers that raising or observing this one requires */
	const char *attempt;          /* description for the user */
	const char *probes[GB_ROOMS]; /* request to the probe; NULL: the same as in the previous room */
	size_t targets;               /* offset of the request's argument in struct targets, or SIZE_MAX */
	const char *remedy;
	bool optional;
};

#define TARGET(member) .targets = offsetof(struct targets, member)
#define NO_TARGET      .targets = SIZE_MAX

/* The numbers of descriptors and processes are above the limits of each room. */
static const struct check checks[GB_LAYER_COUNT] = {
    {GB_LAYER_USER, 0, "become root of the host", {"become-root"}, NO_TARGET,
	.remedy = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
		  "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces > 0"},
    {GB_LAYER_PID, GB_LAYER_USER, "see a process of the host", {"see-process"}, TARGET(pid),
	.remedy = "needs CONFIG_PID_NS"},
    {GB_LAYER_NET, GB_LAYER_USER, "connect to a host port", {"connect"}, TARGET(port),
	.remedy = "needs CONFIG_NET_NS"},
    {GB_LAYER_IPC, GB_LAYER_USER, "attach host shared memory", {"shared-memory"}, TARGET(shm),
	.remedy = "needs CONFIG_IPC_NS"},
    {GB_LAYER_UTS, GB_LAYER_USER, "learn the host's name", {"host-name"}, TARGET(host_name),
	.remedy = "needs CONFIG_UTS_NS"},
    {GB_LAYER_MOUNT, GB_LAYER_USER, "open a file of the host", {"open-file"}, TARGET(file),
	.remedy = "in a container, let it mount tmpfs in a user namespace (AppArmor, masked /proc)"},
    {GB_LAYER_RLIMIT, 0, "use up descriptors", {"descriptors 64", "descriptors 300", "descriptors 1100"},
	NO_TARGET, .remedy = "setrlimit must work"},
    {GB_LAYER_CAPS, GB_LAYER_USER, "use a capability (chroot)", {"capability"}, NO_TARGET,
	.remedy = "capset and securebits must work"},
    {GB_LAYER_LANDLOCK, 0, "open what no rule admits", {"open-folder /", "open-file " GB_ROOM_CANARY},
	NO_TARGET, .remedy = "needs Linux 5.13 and landlock in the kernel's lsm= list"},
    {GB_LAYER_SECCOMP, 0, "make an unlisted call (ptrace)", {"trace"}, NO_TARGET,
	.remedy = "needs CONFIG_SECCOMP_FILTER"},
    {GB_LAYER_CGROUP, 0, "start too many processes", {"fork 100", "fork 100", "fork 300"}, NO_TARGET,
	.remedy = "delegate a control group with memory and pids (systemd: Delegate=yes); without it each "
		  "run's own limits hold, but not a limit on all of them together",
	.optional = true},
};

/* --- objects of the host --- */

/* Readable by all users, so that only the sandbox can refuse it. */
static bool make_file(struct targets *targets, struct gb_err *err) {
	snprintf(targets->file, sizeof targets->file, "/tmp/glovebox-doctor.XXXXXX");
	gb_auto_fd int fd = mkstemp(targets->file);
	if (fd < 0)
		targets->file[0] = '\0';
	return (fd >= 0 && fchmod(fd, 0644) == 0) ||
	       gb_fail(err, GB_ESYSTEM, errno, "make a file in /tmp for the sandbox to reach for");
}

/* A process of the host with a pid that no process in a sandbox has. Pids in a sandbox are small. */
static bool make_target_process(struct targets *targets, struct gb_err *err) {
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
			targets->victim = pid;
			return true;
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static bool make_targets(struct targets *targets, struct gb_err *err) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof address;
	targets->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (targets->listener < 0 || bind(targets->listener, (struct sockaddr *)&address, n) != 0 ||
	    listen(targets->listener, 8) != 0 ||
	    getsockname(targets->listener, (struct sockaddr *)&address, &n) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "listen on loopback");
	targets->shm_id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
	if (targets->shm_id < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "shmget");
	if (!make_file(targets, err) || !make_target_process(targets, err))
		return false;
	struct utsname name;
	uname(&name);
	snprintf(targets->host_name, sizeof targets->host_name, "%s %s", name.nodename, name.domainname);
	snprintf(targets->port, sizeof targets->port, "%u", ntohs(address.sin_port));
	snprintf(targets->shm, sizeof targets->shm, "%d", targets->shm_id);
	snprintf(targets->pid, sizeof targets->pid, "%d", (int)targets->victim);
	return true;
}

static void remove_targets(struct targets *targets) {
	gb_close_fd(&targets->listener);
	if (targets->shm_id >= 0)
		shmctl(targets->shm_id, IPC_RMID, NULL);
	if (targets->file[0])
		unlink(targets->file);
	if (targets->victim > 0) {
		kill(targets->victim, SIGKILL);
		waitpid(targets->victim, NULL, 0);
	}
}

/* --- causes --- */

static void copy_cause(const struct gb_cause *cause, struct gb_finding_cause *ret) {
	snprintf(ret->name, sizeof ret->name, "%s", cause->name);
	snprintf(ret->text, sizeof ret->text, "%s", cause->text);
	snprintf(ret->remedy, sizeof ret->remedy, "%s", cause->remedy);
}

/* The message of an error has its cause at the end: a finding tells it apart. */
static void copy_trouble(const struct gb_err *err, char *ret) {
	const char *cause = strstr(err->message, GB_CAUSE_MARK);
	snprintf(ret, GB_ERR_MESSAGE_MAX, "%.*s", cause ? (int)(cause - err->message) : -1, err->message);
}

static void find_cause(const struct gb_observer *observer, struct gb_layer_finding *finding) {
	struct gb_cause cause;
	if (finding->verdict != GB_OBSERVED &&
	    gb_cause_find(&observer->machine, checks[observer->next - 1].layer, &cause))
		copy_cause(&cause, &finding->cause);
}

/* Rooms with programs are the only ones with a /proc. */
static void find_lack(struct gb_observer *observer) {
	struct gb_cause cause;
	struct gb_room_finding *finding = &observer->rooms[GB_ROOM_PROGRAMS].finding;
	if (finding->verdict != GB_ABSENT && gb_cause_find_proc(&observer->machine, &cause))
		copy_cause(&cause, &finding->lacks);
}

/* --- rooms --- */

/* Replace the filter by one whose refusals have a distinct errno. */
static bool mark_filter(struct gb_plan *plan, struct gb_err *err) {
	const struct gb_seccomp_options filter = {
	    .room = plan->room, .cookie = plan->contents.cookie, .denied_errno = GB_SECCOMP_MARK};
	return gb_seccomp_filter(&plan->filter, &filter, err);
}

/* The plan that the engine uses for a runtime in that room, except for the filter's errno. */
static void plan_room(struct gb_observer *observer, enum gb_room which) {
	struct room *room = &observer->rooms[which];
	struct gb_err err = {0};
	if (!observer->options.plan(observer->port, which, &room->plan, &err))
		room->finding.verdict = err.code == GB_ENOENT ? GB_ABSENT : GB_MISSING;
	else if (!mark_filter(room->plan, &err))
		room->finding.verdict = GB_MISSING;
	if (room->finding.verdict != GB_OBSERVED)
		snprintf(room->finding.trouble, sizeof room->finding.trouble, "%s", err.message);
}

/* --- attempts --- */

/* A cell that ended without an answer did not make the attempt. */
static bool fail_without_answer(const struct gb_oneshot_answer *answer, struct gb_err *err) {
	struct gb_cell_end end;
	if (answer->timed_out)
		return gb_fail(err, GB_EWALL, 0, "the probe did not answer in time");
	if (answer->wait_status == -1)
		return gb_fail(err, GB_EWALL, 0, "the zygote died");
	gb_cell_end_by_status(answer->wait_status, &end);
	return gb_fail(err, GB_EWALL, 0, "%s", end.text);
}

static bool ask(const struct gb_observer *observer, const struct gb_plan *behind, unsigned layers,
    const char *question, char *ret_outcome, struct gb_err *err) {
	snprintf(ret_outcome, sizeof(gb_outcome), "%s", "");
	struct gb_plan plan = *behind;
	plan.layers = layers;
	struct gb_oneshot_answer answer;
	gb_buf_init(&answer.bytes, sizeof(gb_outcome) - 1);
	bool ok = gb_oneshot(&plan, observer->probe, question, PROBE_TIMEOUT_MS, &answer, err);
	const char *said = gb_buf_c_str(&answer.bytes);
	if (ok && said && *said)
		snprintf(ret_outcome, sizeof(gb_outcome), "%s", said);
	else if (ok)
		ok = fail_without_answer(&answer, err);
	gb_buf_finish(&answer.bytes);
	return ok;
}

/* Raise all layers of a room once. */
static void raise_room(struct gb_observer *observer, enum gb_room which) {
	struct room *room = &observer->rooms[which];
	struct gb_err err = {0};
	gb_outcome ignored;
	observer->options.on_progress(which, NULL, observer->options.data);
	if (room->finding.verdict != GB_OBSERVED ||
	    ask(observer, room->plan, GB_LAYER_ALL, "nothing", ignored, &err))
		return;
	room->finding.verdict = GB_MISSING;
	copy_trouble(&err, room->finding.trouble);
}

/* True if the attempt was refused. */
static bool attempt(const struct gb_observer *observer, const struct check *check, const struct gb_plan *plan,
    unsigned layers, char *ret_outcome, struct gb_err *err) {
	char question[256];
	const char *argument =
	    check->targets == SIZE_MAX ? "" : (const char *)&observer->targets + check->targets;
	size_t probe = plan->room;
	while (probe > 0 && !check->probes[probe])
		probe--;
	snprintf(question, sizeof question, "%s%s%s", check->probes[probe], *argument ? " " : "", argument);
	return ask(observer, plan, layers, question, ret_outcome, err) && strcmp(ret_outcome, "allowed") != 0;
}

static bool observe_rooms(struct gb_observer *observer, const struct check *check,
    struct gb_layer_finding *ret, struct gb_err *err) {
	bool all = true;
	for (size_t i = 0; i < GB_ROOMS; i++) {
		/* A room whose wall cannot be raised gives no information about single layers. */
		struct room *room = &observer->rooms[i];
		if (room->finding.verdict == GB_ABSENT || *room->finding.trouble)
			continue;
		observer->options.on_progress(
		    (enum gb_room)i, gb_layer_name(check->layer), observer->options.data);
		if (attempt(observer, check, room->plan, GB_LAYER_ALL, ret->rooms[i], err))
			continue;
		all = false;
		if (!check->optional)
			room->finding.verdict = GB_MISSING;
	}
	return all;
}

/* The other layers refuse the attempt as well, so check separately that a control group can be created. */
static bool has_cgroup(struct gb_err *err) {
	struct gb_cgroup *group = NULL;
	bool has = gb_cgroup_create(
	    &(struct gb_cgroup_limits){.memory_bytes = 64 << 20, .processes = 16}, &group, err);
	gb_cgroup_destroy(group);
	return has;
}

bool gb_observer_next(struct gb_observer *observer, struct gb_layer_finding *ret) {
	struct gb_err err = {0};
	gb_outcome without;
	if (observer->next == GB_COUNT(checks))
		return false;
	for (int room = 0; observer->next == 0 && room < GB_ROOMS; room++)
		raise_room(observer, (enum gb_room)room);
	const struct check *check = &checks[observer->next++];
	*ret = (struct gb_layer_finding){.layer = gb_layer_name(check->layer),
	    .attempt = check->attempt,
	    .remedy = check->remedy,
	    .optional = check->optional};
	bool refused = observe_rooms(observer, check, ret, &err);
	const struct gb_plan *empty = &observer->empty;
	refused = attempt(observer, check, empty, check->layer | check->needs, ret->alone, &err) && refused;
	if (!err.code && (attempt(observer, check, empty, check->needs, without, &err) || !err.code))
		memcpy(ret->without, without, sizeof without);
	if (check->layer == GB_LAYER_CGROUP)
		refused = has_cgroup(&err) && refused;
	ret->verdict = refused && !err.code ? GB_OBSERVED : check->optional ? GB_ABSENT : GB_MISSING;
	copy_trouble(&err, ret->trouble);
	find_cause(observer, ret);
	return true;
}

/* --- create and destroy --- */

static bool begin(struct gb_observer *observer, struct gb_err *err) {
	if (!gb_port_create(&(struct gb_port_options){.box_bytes = BOX_BYTES}, &observer->port, err))
		return false;
	/* Probes run one at a time and have no control groups of their own. */
	observer->port->has_no_cgroup = true;
	if (!(observer->probe = strdup(observer->options.probe)))
		return gb_fail(err, GB_ENOMEM, 0, "the probe");
	for (int room = 0; room < GB_ROOMS; room++)
		plan_room(observer, (enum gb_room)room);
	/* Continue if the plan lacks a layer: the others are still observed one by one. */
	(void)gb_plan_init(&observer->empty, NULL);
	(void)mark_filter(&observer->empty, NULL);
	gb_machine_look_closely(&observer->machine);
	find_lack(observer);
	return make_targets(&observer->targets, err);
}

bool gb_observer_create(
    const struct gb_observer_options *options, struct gb_observer **ret, struct gb_err *err) {
	struct gb_observer *observer = calloc(1, sizeof *observer);
	if (!observer)
		return gb_fail(err, GB_ENOMEM, 0, "the observer");
	observer->options = *options;
	observer->targets = (struct targets){.listener = -1, .shm_id = -1};
	if (!begin(observer, err)) {
		gb_observer_destroy(observer);
		return false;
	}
	*ret = observer;
	return true;
}

void gb_observer_destroy(struct gb_observer *observer) {
	if (!observer)
		return;
	remove_targets(&observer->targets);
	for (size_t i = 0; i < GB_ROOMS; i++)
		gb_plan_destroy(observer->rooms[i].plan);
	gb_port_destroy(observer->port);
	free(observer->probe);
	free(observer);
}

const struct gb_room_finding *gb_observer_room(const struct gb_observer *observer, enum gb_room room) {
	return &observer->rooms[room].finding;
}
