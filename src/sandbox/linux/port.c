#include "sandbox/linux/port.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/plan.h"

/* Allowance for kernel memory of the processes of a cell with programs. */
#define CELL_OVERHEAD (16ull << 20)

bool gb_port_create(const struct gb_port_options *options, struct gb_port **ret, struct gb_err *err) {
	struct gb_port *port = calloc(1, sizeof *port);
	if (!port)
		return gb_fail(err, GB_ENOMEM, 0, "the sandbox");
	port->options = *options;
	*ret = port;
	return true;
}

void gb_port_destroy(struct gb_port *port) {
	if (!port)
		return;
	gb_cgroup_destroy(port->cgroup);
	free(port);
}

/* --- the control group of all cells --- */

static uint64_t three_quarters_of_memory(void) {
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
}

/* The one optional layer. A single run of the command line skips it, since joining a group can take
 * milliseconds, unless it runs programs, whose memory only a group can limit precisely. */
static void make_cgroup(struct gb_port *port, enum gb_room room) {
	const struct gb_port_options *options = &port->options;
	if (port->cgroup || port->has_no_cgroup || (options->max_cells == 1 && room != GB_ROOM_PROGRAMS))
		return;
	const struct gb_cgroup_limits limits = {
	    .memory_bytes = options->memory_bytes ? options->memory_bytes : three_quarters_of_memory(),
	    .processes = options->max_processes,
	    .cells = true,
	    /* The cell's files, which count as memory, and kernel memory of its processes. The keeper
	     * excludes these and ends the run earlier. */
	    .cell_extra_bytes = 2 * options->box_bytes + GB_SHM_BYTES + CELL_OVERHEAD,
	};
	port->has_no_cgroup = !gb_cgroup_create(&limits, &port->cgroup, NULL);
}

/* --- plans --- */

#ifdef __aarch64__
#define LOADER "/lib/ld-linux-aarch64.so.1"
#else
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#endif

/* Shared libraries, the symbolic links to them, and devices. */
static const char *const file_paths[] = {"/usr/lib", "/usr/lib64", "/etc/alternatives", "/etc/ld.so.cache",
    "/dev/null", "/dev/urandom", "/dev/random", NULL};

/* What Debian's packages of Java have below /etc and no Java program starts without. Not the whole folder: it may
 * have passwords of a management interface. */
#define JAVA(version) "/etc/java-" version "-openjdk/security", "/etc/java-" version "-openjdk/net.properties"

/* Files that programs commonly read: libraries and the non-secret configuration of the machine. */
static const char *const program_paths[] = {"/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime",
    "/etc/mime.types", "/etc/ssl/certs", "/etc/terminfo", "/dev/null", "/dev/full", "/dev/random",
    "/dev/urandom", "/dev/tty", JAVA("17"), JAVA("21"), JAVA("25"), NULL};

/* A dynamically linked program is started through the loader, which must be executable as well. */
static bool add_programs(struct gb_plan *plan, bool all_programs, struct gb_err *err) {
	char loader[PATH_MAX];
	return gb_plan_share(plan, "/usr", NULL, all_programs ? GB_SHARE_EXECUTE : GB_SHARE_READ, err) &&
	       (!realpath(LOADER, loader) || gb_plan_add_program(plan, loader, NULL, err));
}

/* Without control groups seccomp rejects shared mappings of /dev/zero. Mount another device in its place that
 * gives the same bytes and cannot be mapped. */
static bool add_dev_zero(struct gb_plan *plan, struct gb_err *err) {
	return gb_plan_add_path(plan, plan->grouped ? "/dev/zero" : "/dev/full", "/dev/zero", err);
}

static bool fill_plan(const struct gb_port *port, const struct gb_plan_options *options, struct gb_plan *plan,
    struct gb_err *err) {
	const bool programs = options->room == GB_ROOM_PROGRAMS;
	const struct gb_room_options room = {.room = options->room,
	    .box_bytes = port->options.box_bytes,
	    .grouped = gb_cgroup_has_cells(port->cgroup),
	    .network = options->network,
	    .bare = options->bare,
	    .workdir = options->workdir};
	if (options->room == GB_ROOM_NONE)
		return options->network ? gb_plan_init_fetching(plan, err) : gb_plan_init(plan, err);
	if (options->bare)
		return gb_plan_init_room(plan, &room, err);
	return gb_plan_init_room(plan, &room, err) &&
	       gb_plan_add_paths(plan, programs ? program_paths : file_paths, err) &&
	       (!programs || add_programs(plan, options->all_programs, err)) && add_dev_zero(plan, err);
}

/* The network of a cell has these addresses, so that code can use them. */
static bool add_addresses(struct gb_plan *plan, const struct gb_plan_options *options, struct gb_err *err) {
	if (options->n_addresses > GB_HOST_ADDRESSES_MAX)
		return gb_fail(err, GB_ELIMIT, 0, "%zu addresses in an allowlist are more than %d",
		    options->n_addresses, GB_HOST_ADDRESSES_MAX);
	for (size_t i = 0; i < options->n_addresses; i++) {
		struct gb_plan_address *address = &plan->addresses[plan->n_addresses++];
		address->is_six = options->addresses[i].kind == GB_HOST_IPV6;
		memcpy(address->bytes, options->addresses[i].address, sizeof address->bytes);
	}
	return true;
}

bool gb_plan_create(struct gb_port *port, const struct gb_plan_options *options, struct gb_plan **ret_plan,
    struct gb_err *err) {
	const char *profile = options->profile ? options->profile : "";
	if (strlen(profile) >= GB_PROFILE_BYTES)
		return gb_fail(err, GB_EINVAL, 0, "the profile of a worker is too long");
	gb_auto_free struct gb_plan *plan = malloc(sizeof *plan);
	if (!plan)
		return gb_fail(err, GB_ENOMEM, 0, "the plan of a sandbox");
	make_cgroup(port, options->room);
	if (!fill_plan(port, options, plan, err) || !add_addresses(plan, options, err))
		return false;
	memcpy(plan->profile, profile, strlen(profile) + 1);
	*ret_plan = gb_take_pointer(&plan);
	return true;
}

void gb_plan_destroy(struct gb_plan *plan) {
	free(plan);
}

bool gb_plan_share(
    struct gb_plan *plan, const char *from, const char *to, enum gb_share how, struct gb_err *err) {
	return how == GB_SHARE_EXECUTE ? gb_plan_add_program(plan, from, to, err)
				       : gb_plan_add_path(plan, from, to, err);
}

bool gb_plan_work_in(struct gb_plan *plan, int fd, bool writable, struct gb_err *err) {
	return gb_plan_set_workdir(plan, fd, writable, err);
}

/* --- facts --- */

__attribute__((format(printf, 4, 5))) static void add_fact(
    struct gb_port_facts *facts, const char *name, bool is_number, const char *format, ...) {
	struct gb_port_fact *fact = &facts->facts[facts->n_facts++];
	va_list args;
	fact->name = name;
	fact->is_number = is_number;
	va_start(args, format);
	vsnprintf(fact->text, sizeof fact->text, format, args);
	va_end(args);
}

void gb_port_about(struct gb_port_facts *ret) {
	struct utsname name;
	struct gb_landlock_rights rights;
	int abi = 0;
	uname(&name);
	(void)gb_landlock_rights(&rights, &abi, NULL);
	*ret = (struct gb_port_facts){0};
	snprintf(
	    ret->text, sizeof ret->text, "Linux %s, user %u, Landlock ABI %d", name.release, geteuid(), abi);
	add_fact(ret, "kernel", false, "%s", name.release);
	add_fact(ret, "uid", true, "%u", geteuid());
	add_fact(ret, "landlockAbi", true, "%d", abi);
}

/* docs/THREATS.md has the whole table. */
static const char *const not_bounded[] = {
    "memory of all cells together",
    "memory that programs allocate between two measurements, 20 ms apart, below the run's memory and 1 GiB "
    "for each process",
    "epoll watches and pages in pipes of a single cell: the kernel counts them for all cells of the user "
    "together",
};

void gb_port_limits(struct gb_port_facts *ret) {
	struct gb_cgroup *group = NULL;
	const struct gb_cgroup_limits limits = {.memory_bytes = 64 << 20, .processes = 64, .cells = true};
	const int version = gb_cgroup_create(&limits, &group, NULL) ? gb_cgroup_version(group) : 0;
	gb_cgroup_destroy(group);
	*ret = (struct gb_port_facts){
	    .not_bounded = not_bounded, .n_not_bounded = version ? 0 : GB_COUNT(not_bounded)};
	if (version)
		snprintf(ret->text, sizeof ret->text,
		    "Cells with programs have control groups of their own (version %d).", version);
	else
		snprintf(ret->text, sizeof ret->text,
		    "Cells with programs have no control groups of their own. Not bounded without them:");
	add_fact(ret, "cgroupVersion", true, "%d", version);
}
