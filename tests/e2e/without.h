/*
 * Engines whose sandbox lacks one protection. A test of a protection runs the same scripts twice:
 * in the full sandbox, where the attack must fail, and in this one, where it must succeed.
 *
 *	struct gb_engine *engine =
 *	    engine_without(GB_SHELL, GB_LAYER_NET, (struct gb_engine_options){.shards = 1});
 */
#ifndef GB_TESTS_E2E_WITHOUT_H
#define GB_TESTS_E2E_WITHOUT_H

#include "e2e/engine.h"
#include "engine/engine.h"
#include "sandbox/linux/plan.h"

/* An engine for @language only, with the plan as changed by @weaken. NULL, with the reason printed, if
 * sandboxes cannot be started with it. */
static inline struct gb_engine *engine_behind(enum gb_language language,
    void (*weaken)(struct gb_plan *plan, unsigned layers), unsigned layers,
    struct gb_engine_options options) {
	struct gb_plan *plan = NULL;
	struct gb_err err = {0};
	enum gb_runtime runtime;
	/* 0 would mean JavaScript; this bit belongs to no language. */
	options.ready = 1u << GB_LANGUAGES;
	struct gb_engine *engine = engine_with(options);
	if (!engine)
		return NULL;
	bool ok = gb_runtime_find(engine, language, NULL, &runtime, &err) &&
		  gb_runtime_plan(engine, runtime, &plan, &err);
	if (ok)
		weaken(plan, layers);
	ok =
	    ok && gb_runtime_start_behind(engine, runtime, plan, &err) && gb_engine_await_pools(engine, &err);
	gb_plan_destroy(plan);
	if (ok)
		return engine;
	printf("# %s\n", err.message);
	gb_engine_destroy(engine);
	return NULL;
}

static inline void leave_out_layers(struct gb_plan *plan, unsigned layers) {
	plan->layers &= ~layers;
}

/* @layers_left_out: a combination of enum gb_layer. GB_LAYER_MOUNT is special: it gives cells their own
 * mounts and their own processes; without it a shell finds its files only in a shared root: see
 * shared-root.h. */
static inline struct gb_engine *engine_without(
    enum gb_language language, unsigned layers_left_out, struct gb_engine_options options) {
	return engine_behind(language, leave_out_layers, layers_left_out, options);
}

/* A cell that shares the host's network namespace and has no control group counts the host's sockets as its
 * own. This limit leaves room for those of a busy machine. */
#define MEMORY_BESIDE_HOST_SOCKETS (60ull << 30)

#endif
