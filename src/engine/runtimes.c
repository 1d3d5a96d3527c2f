/* The one table of runtimes: which worker program, in what kind of room. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/workers.h"
#include "sandbox/plan.h"

/* What Debian's Python reads: its library, shared libraries and where their names lead, time zones, fonts. */
static const char *const python_paths[] = {"/usr/lib", "/usr/lib64", "/usr/share/zoneinfo",
    "/usr/share/matplotlib", "/usr/share/fonts", "/usr/share/python3", "/etc/alternatives",
    "/etc/ld.so.cache", "/etc/matplotlibrc", "/etc/fonts", "/dev/null", "/dev/zero", "/dev/urandom",
    "/dev/random", NULL};

static const struct runtime {
	const char *worker;
	const char *profile;
	const char *const *paths; /* NULL: an empty room */
} runtimes[GB_RUNTIMES] = {
    [GB_RUNTIME_JS] = {"glovebox-js", "", NULL},
    [GB_RUNTIME_PYTHON] = {"glovebox-python", "stdlib", python_paths},
    [GB_RUNTIME_PYTHON_DATA] = {"glovebox-python", "data", python_paths},
};

bool gb_runtime_find(
    enum gb_language language, const char *profile, enum gb_runtime *ret, struct gb_err *err) {
	if (language != GB_PYTHON) {
		*ret = GB_RUNTIME_JS;
		return !profile || gb_fail(err, GB_EINVAL, 0, "profile: JavaScript has none");
	}
	for (int i = GB_RUNTIME_PYTHON; i <= GB_RUNTIME_PYTHON_DATA; i++)
		if (strcmp(profile ? profile : "stdlib", runtimes[i].profile) == 0) {
			*ret = (enum gb_runtime)i;
			return true;
		}
	return gb_fail(err, GB_EINVAL, 0, "profile: there is no '%s'; there are stdlib and data", profile);
}

static uint64_t three_quarters_of_memory(void) {
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
}

static bool make_plan(const struct runtime *runtime, struct gb_plan *plan, struct gb_err *err) {
	bool ok = runtime->paths ? gb_plan_init_room(plan, GB_ROOM_FURNISHED, BOX_BYTES, err) &&
				       gb_plan_add_paths(plan, runtime->paths, err)
				 : gb_plan_init(plan, err);
	if (ok)
		memcpy(plan->profile, runtime->profile, strlen(runtime->profile) + 1);
	return ok;
}

bool gb_runtime_start(struct gb_engine *engine, enum gb_runtime which, struct gb_err *err) {
	const struct gb_engine_options *options = &engine->options;
	const struct runtime *runtime = &runtimes[which];
	char program[PATH_MAX];
	struct gb_plan plan;
	if (engine->pools[which])
		return true;
	if (!gb_worker_find(engine->worker_dir, runtime->worker, program, sizeof program, err) ||
	    !make_plan(runtime, &plan, err))
		return false;
	const struct gb_pool_options pool = {
	    .program = program,
	    .shards = options->shards,
	    .warm = options->warm == GB_NONE ? 0 : GB_OR(options->warm, DEFAULT_WARM),
	    .memory_bytes = GB_OR(options->memory_bytes, three_quarters_of_memory()),
	    .max_cells = GB_OR(options->max_runs, DEFAULT_MAX_RUNS),
	    .plan = &plan,
	    .on_ready = gb_run_on_cell_ready,
	    .on_end = gb_run_on_cell_end,
	};
	return gb_pool_create(&engine->loop, &pool, &engine->pools[which], err);
}
