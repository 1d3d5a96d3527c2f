/* Enforces the memory limit of a cell, during and between runs. */
#include <unistd.h>

#include "base/io.h"
#include "runtime/program/keeper.h"
#include "runtime/program/memory.h"
#include "sandbox/worker.h"

#define MS 1000000ull

/* Short runs end before the first check. Between runs an idle session costs nothing, or a check every few
 * seconds if its program can become active on its own. */
enum { FIRST_CHECK_MS = 10, CHECK_MS = 20, IDLE_CHECK_MS = 50, IDLE_CHECK_MAX_MS = 3200 };

void gb_keeper_watch(struct gb_keeper *keeper, uint64_t limit, uint64_t job_bytes) {
	keeper->memory_limit = limit;
	keeper->memory_peak = 0;
	keeper->out_of_memory = false;
	keeper->watched = true;
	keeper->next_check_ns = gb_now_ns() + FIRST_CHECK_MS * MS;
	gb_memory_begin(job_bytes);
}

static bool needs_too_much(struct gb_keeper *keeper) {
	struct gb_memory memory = gb_memory_measure(keeper->memory_limit);
	keeper->memory_peak = memory.pages > keeper->memory_peak ? memory.pages : keeper->memory_peak;
	return memory.used > keeper->memory_limit || gb_memory_was_killed();
}

static void end_for_memory(struct gb_keeper *keeper) {
	keeper->out_of_memory = true;
	gb_keeper_stop(keeper);
}

void gb_keeper_check_memory(struct gb_keeper *keeper) {
	if (!keeper->memory_limit || keeper->out_of_memory || gb_now_ns() < keeper->next_check_ns)
		return;
	if (needs_too_much(keeper))
		end_for_memory(keeper);
	keeper->next_check_ns = gb_now_ns() + CHECK_MS * MS;
}

void gb_keeper_check_oom_kills(struct gb_keeper *keeper) {
	if (!keeper->out_of_memory && gb_memory_was_killed())
		end_for_memory(keeper);
}

static int until(uint64_t at) {
	uint64_t now = gb_now_ns();
	return at > now ? (int)((at - now) / MS) + 1 : 0;
}

int gb_keeper_check_timeout(const struct gb_keeper *keeper, int timeout_ms) {
	int left = until(keeper->next_check_ns);
	return keeper->memory_limit && (timeout_ms < 0 || left < timeout_ms) ? left : timeout_ms;
}

/* --- between runs --- */

void gb_keeper_begin_idle(struct gb_keeper *keeper) {
	keeper->check_interval_ns = IDLE_CHECK_MS * MS;
	keeper->next_check_ns = gb_now_ns() + keeper->check_interval_ns;
}

int gb_keeper_idle_timeout(const struct gb_keeper *keeper) {
	return keeper->watched && keeper->memory_limit && keeper->next_check_ns ? until(keeper->next_check_ns)
										: -1;
}

void gb_keeper_check_idle_memory(struct gb_keeper *keeper, bool woken) {
	if (keeper->out_of_memory)
		_exit(GB_CELL_EXIT_MEMORY);
	if (!keeper->watched || !keeper->memory_limit)
		return;
	if (woken && !keeper->next_check_ns)
		gb_keeper_begin_idle(keeper);
	if (!keeper->next_check_ns || gb_now_ns() < keeper->next_check_ns)
		return;
	if (needs_too_much(keeper)) {
		gb_keeper_stop(keeper);
		_exit(GB_CELL_EXIT_MEMORY);
	}
	if (gb_memory_has_others(keeper->pid)) {
		gb_keeper_begin_idle(keeper);
		return;
	}
	keeper->check_interval_ns = keeper->check_interval_ns < IDLE_CHECK_MAX_MS * MS
					? keeper->check_interval_ns * 2
					: keeper->check_interval_ns;
	keeper->next_check_ns = keeper->inert_when_idle ? 0 : gb_now_ns() + keeper->check_interval_ns;
}
