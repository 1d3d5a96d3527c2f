/* The table of runtimes: worker program and kind of room. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/workers.h"
#include "runtime/program/places.h"

/* Paths that Debian's Python reads, beyond those of every program: time zones, fonts, settings. */
static const char *const python_paths[] = {"/usr/share/zoneinfo", "/usr/share/matplotlib", "/usr/share/fonts",
    "/usr/share/python3", "/etc/matplotlibrc", "/etc/fonts", NULL};

/* What clients of TLS read, in a room without /etc. */
static const char *const network_paths[] = {
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/usr/share/ca-certificates", NULL};

static const struct runtime {
	const char *worker;
	const char *profile;
	enum gb_room room;
	const char *const *paths; /* readable paths of its own, or NULL */
	const char *program;      /* name of the program to run; mounted in GB_PROGRAM_DIR */
	bool all_programs;        /* all programs in /usr may be executed too */
	unsigned warm;            /* default number of warm cells */
	unsigned prime_ms;        /* time until its program waits for a job; 0: none */
	bool is_single;           /* has one cell, which is not prepared */
} runtimes[GB_RUNTIME_PROFILES] = {
    [GB_RUNTIME_JS] = {"glovebox-js", "", GB_ROOM_NONE, NULL, .warm = DEFAULT_WARM},
    [GB_RUNTIME_PYTHON] = {"glovebox-python", "stdlib", GB_ROOM_FILES, python_paths, .warm = DEFAULT_WARM},
    [GB_RUNTIME_PYTHON_DATA] = {"glovebox-python", "data", GB_ROOM_FILES, python_paths, .warm = DEFAULT_WARM},
    [GB_RUNTIME_SHELL] = {"glovebox-shell", "", GB_ROOM_PROGRAMS, NULL, "bash", .all_programs = true,
	.warm = DEFAULT_WARM, .prime_ms = 5},
    [GB_RUNTIME_NODE] = {"glovebox-node", "", GB_ROOM_PROGRAMS, NULL, "node", .warm = 2, .prime_ms = 300},
    [GB_RUNTIME_DENO] = {"glovebox-deno", "", GB_ROOM_PROGRAMS, NULL, "deno", .warm = 1, .prime_ms = 500},
    [GB_RUNTIME_SHELL_VERSION] = {"glovebox-shell", "", GB_ROOM_PROGRAMS, NULL, "bash", .is_single = true},
    [GB_RUNTIME_NODE_VERSION] = {"glovebox-node", "", GB_ROOM_PROGRAMS, NULL, "node", .is_single = true},
    [GB_RUNTIME_DENO_VERSION] = {"glovebox-deno", "", GB_ROOM_PROGRAMS, NULL, "deno", .is_single = true},
};

static bool is_word(const char *text, const char *more) {
	for (const char *c = text; *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') &&
		    *c != '_' && !strchr(more, *c))
			return false;
	return *text;
}

bool gb_runtimes_init(struct gb_engine *engine, const struct gb_engine_options *options, struct gb_err *err) {
	if (options->n_python_profiles > GB_COUNT(engine->profiles))
		return gb_fail_field(err, GB_ELIMIT, "python_profiles", "%zu are more than %zu",
		    options->n_python_profiles, GB_COUNT(engine->profiles));
	for (size_t i = 0; i < options->n_python_profiles; i++) {
		const struct gb_python_profile *given = &options->python_profiles[i];
		struct gb_profile *profile = &engine->profiles[i];
		const char *name = given->name ? given->name : "",
			   *modules = given->modules ? given->modules : "";
		enum gb_runtime taken;
		if (!is_word(name, "-") || strlen(name) >= sizeof profile->name ||
		    gb_runtime_find(engine, GB_PYTHON, name, &taken, NULL))
			return gb_fail_field(err, GB_EINVAL, "python_profiles",
			    "'%s' must be a word of at most %zu letters that is not taken", name,
			    sizeof profile->name - 1);
		int n = snprintf(profile->text, sizeof profile->text, "%s:%s", name, modules);
		if ((*modules && !is_word(modules, ".,")) || n < 0 || (size_t)n >= sizeof profile->text)
			return gb_fail_field(err, GB_EINVAL, "python_profiles",
			    "the modules of '%s' must be names with commas between them, "
			    "%zu "
			    "bytes at most",
			    name, sizeof profile->text - strlen(name) - 2);
		memcpy(profile->name, name, strlen(name) + 1);
	}
	return true;
}

/* Built-in profiles, then the caller's own. */
static bool find_profile(const struct gb_engine *engine, const char *name, enum gb_runtime *ret) {
	for (int i = GB_RUNTIME_PYTHON; i <= GB_RUNTIME_PYTHON_DATA; i++)
		if (strcmp(name, runtimes[i].profile) == 0) {
			*ret = (enum gb_runtime)i;
			return true;
		}
	for (size_t i = 0; i < GB_COUNT(engine->profiles); i++)
		if (*name && strcmp(name, engine->profiles[i].name) == 0) {
			*ret = (enum gb_runtime)(GB_RUNTIME_PROFILES + i);
			return true;
		}
	return false;
}

bool gb_runtime_find(const struct gb_engine *engine, enum gb_language language, const char *profile,
    enum gb_runtime *ret, struct gb_err *err) {
	static const enum gb_runtime of[GB_LANGUAGES] = {[GB_TYPESCRIPT] = GB_RUNTIME_JS,
	    [GB_JAVASCRIPT] = GB_RUNTIME_JS,
	    [GB_PYTHON] = GB_RUNTIME_PYTHON,
	    [GB_SHELL] = GB_RUNTIME_SHELL,
	    [GB_NODE] = GB_RUNTIME_NODE,
	    [GB_DENO] = GB_RUNTIME_DENO};
	if ((unsigned)language >= GB_LANGUAGES)
		return gb_fail_field(err, GB_EINVAL, "language", "%d is not a language", (int)language);
	*ret = of[language];
	if (language != GB_PYTHON)
		return !profile ||
		       gb_fail_field(err, GB_EINVAL, "profile", "%s has none", gb_language_name(language));
	return !profile || find_profile(engine, profile, ret) ||
	       gb_fail_field(err, GB_EINVAL, "profile",
		   "there is no '%s'; there are stdlib, data and those that the engine was given", profile);
}

/* Sandboxes of root run as an unprivileged user, which cannot access files of root. */
static bool check_packages(const char *folder, struct gb_err *err) {
	char path[PATH_MAX + 1], shown[PATH_MAX + 1];
	struct stat st;
	if (!realpath(folder, path) || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return gb_fail_field(err, GB_EINVAL, "node_packages", "'%s' is no folder", folder);
	memcpy(shown, path, sizeof path);
	memcpy(path + strlen(path), "/", 2);
	for (char *slash = path; geteuid() == 0 && slash; slash = strchr(slash + 1, '/')) {
		char kept = slash[1];
		slash[1] = '\0';
		bool open = stat(path, &st) == 0 && (st.st_mode & S_IXOTH);
		slash[1] = kept;
		if (!open)
			return gb_fail_field(err, GB_EINVAL, "node_packages",
			    "sandboxes run as the user 'nobody' and cannot read '%s': give "
			    "other users access to it and to the folders above it (chmod o+rx)",
			    shown);
	}
	return true;
}

static bool find_program(
    const struct gb_engine *engine, const struct runtime *runtime, char *ret, size_t n, struct gb_err *err) {
	const char *chosen = strcmp(runtime->program, "bash") == 0   ? engine->shell
			     : strcmp(runtime->program, "node") == 0 ? engine->node
								     : engine->deno;
	return gb_program_find(chosen, runtime->program, ret, n, err);
}

/* Share the machine's program under the name that the worker expects. */
static bool add_program(
    const struct gb_engine *engine, const struct runtime *runtime, struct gb_plan *plan, struct gb_err *err) {
	char found[PATH_MAX], place[64];
	if (!find_program(engine, runtime, found, sizeof found, err))
		return false;
	snprintf(place, sizeof place, GB_PROGRAM_DIR "/%s", runtime->program);
	bool packages = engine->node_packages && strcmp(runtime->program, "node") == 0;
	if (packages && !check_packages(engine->node_packages, err))
		return false;
	return gb_plan_share(plan, found, place, GB_SHARE_EXECUTE, err) &&
	       (!packages || gb_plan_share(plan, engine->node_packages, GB_PACKAGES_DIR, GB_SHARE_READ, err));
}

static bool add_paths(struct gb_plan *plan, const char *const *paths, struct gb_err *err) {
	for (size_t i = 0; paths && paths[i]; i++)
		if (!gb_plan_share(plan, paths[i], NULL, GB_SHARE_READ, err))
			return false;
	return true;
}

/* Python's entry for a profile of the caller. */
static const struct runtime *find_runtime(const struct gb_engine *engine, enum gb_runtime which) {
	which = gb_workplace_of(engine, which) % GB_RUNTIME_NETWORK;
	return &runtimes[which >= GB_RUNTIME_PROFILES ? GB_RUNTIME_PYTHON : which];
}

bool gb_runtime_is_same(const struct gb_engine *engine, enum gb_runtime a, enum gb_runtime b) {
	return strcmp(find_runtime(engine, a)->worker, find_runtime(engine, b)->worker) == 0;
}

bool gb_runtime_worker(
    const struct gb_engine *engine, enum gb_runtime which, char *ret, size_t n, struct gb_err *err) {
	return gb_worker_find(engine->worker_dir, find_runtime(engine, which)->worker, ret, n, err);
}

bool gb_engine_has_language(const struct gb_engine *engine, enum gb_language language) {
	char path[PATH_MAX];
	enum gb_runtime which = GB_RUNTIME_JS;
	struct gb_err err;
	if (!gb_runtime_find(engine, language, NULL, &which, &err) ||
	    !gb_runtime_worker(engine, which, path, sizeof path, &err))
		return false;
	const struct runtime *runtime = find_runtime(engine, which);
	return !runtime->program || find_program(engine, runtime, path, sizeof path, &err);
}

bool gb_runtime_plan(
    struct gb_engine *engine, enum gb_runtime which, struct gb_plan **ret, struct gb_err *err) {
	const struct runtime *runtime = find_runtime(engine, which);
	const struct gb_workdir *workdir = gb_workplace_dir(engine, which);
	const bool network = gb_workplace_of(engine, which) >= GB_RUNTIME_NETWORK;
	const enum gb_runtime plain = gb_workplace_of(engine, which) % GB_RUNTIME_NETWORK;
	const bool bare = runtime->room == GB_ROOM_NONE;
	const struct gb_plan_options options = {
	    .room = workdir && bare ? GB_ROOM_FILES : runtime->room,
	    .bare = workdir && bare,
	    .workdir = workdir,
	    .profile = plain < GB_RUNTIME_PROFILES ? runtime->profile
						   : engine->profiles[plain - GB_RUNTIME_PROFILES].text,
	    .all_programs = runtime->all_programs,
	    .network = network,
	    .addresses = engine->addresses,
	    .n_addresses = network && !bare ? engine->n_addresses : 0,
	};
	struct gb_plan *plan;
	if (!gb_plan_create(engine->port, &options, &plan, err))
		return false;
	if (!add_paths(plan, runtime->paths, err) ||
	    (network && !bare && !add_paths(plan, network_paths, err)) ||
	    (workdir && !gb_plan_work_in(plan, workdir->fd, workdir->writable, err)) ||
	    (runtime->program && !add_program(engine, runtime, plan, err))) {
		gb_plan_destroy(plan);
		return false;
	}
	*ret = plan;
	return true;
}

bool gb_runtime_start_behind(
    struct gb_engine *engine, enum gb_runtime which, const struct gb_plan *plan, struct gb_err *err) {
	const struct gb_engine_options *options = &engine->options;
	const struct runtime *runtime = find_runtime(engine, which);
	const bool has_workdir = which >= GB_RUNTIME_WORKPLACES;
	char program[PATH_MAX];
	if (!gb_runtime_worker(engine, which, program, sizeof program, err))
		return false;
	const bool has_warm = options->warm != GB_NONE && !runtime->is_single && !has_workdir;
	const struct gb_pool_options pool = {
	    .program = program,
	    .shards = runtime->is_single || has_workdir ? 1 : options->shards,
	    /* gb_engine_create waits for the pools; later, the runs of other languages go on. */
	    .one_by_one = engine->created,
	    .warm = has_warm ? GB_OR(options->warm, runtime->warm) : 0,
	    .max_cells = runtime->is_single ? 1 : 0,
	    .cell_memory = CELL_MEMORY,
	    .prime_ns = runtime->prime_ms * 1000000ull,
	    .on_ready = gb_run_on_cell_ready,
	    .on_begin = gb_run_on_cell_begin,
	    .on_end = gb_run_on_cell_end,
	    .open_network = runtime->room == GB_ROOM_NONE ? gb_network_open_channel : gb_network_open,
	    .close_network = gb_network_close,
	    .data = engine,
	};
	return gb_pool_create(engine->port, plan, &pool, &engine->pools[which], err);
}

void gb_runtime_clean_up(struct gb_engine *engine, enum gb_runtime which) {
	if (!engine->pools[which] || !gb_pool_is_over(engine->pools[which]))
		return;
	gb_pool_destroy(engine->pools[which]);
	engine->pools[which] = NULL;
}

bool gb_runtime_start(struct gb_engine *engine, enum gb_runtime which, struct gb_err *err) {
	struct gb_plan *plan;
	/* Inside a callback, functions of a pool that is over may be on the stack. It stays until the next
	 * turn; taking a cell from it fails with the reason. */
	if (!engine->in_callback)
		gb_runtime_clean_up(engine, which);
	if (engine->pools[which])
		return true;
	if ((gb_workplace_of(engine, which) >= GB_RUNTIME_NETWORK && !gb_network_init(engine, err)) ||
	    !gb_runtime_plan(engine, which, &plan, err))
		return false;
	bool started = gb_runtime_start_behind(engine, which, plan, err);
	gb_plan_destroy(plan);
	return started;
}
