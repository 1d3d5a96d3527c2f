/* How much memory a cell needs, while a run goes on and between runs. */
#include <unistd.h>

#include "base/io.h"
#include "runtime/program/keeper.h"
#include "runtime/program/memory.h"
#include "sandbox/protocol.h"

#define MS 1000000ull

/* Short runs are over before the first look. Between runs an idle session costs nothing, or a look every few
 * seconds if its program may do something by itself. */
enum { FIRST_LOOK_MS = 10, LOOK_MS = 20, REST_LOOK_MS = 50, REST_LOOK_MAX_MS = 3200 };

void gb_keeper_watch(struct gb_keeper *keeper, uint64_t limit, uint64_t job_bytes) {
	keeper->memory_limit = limit;
	keeper->memory_peak = 0;
	keeper->out_of_memory = false;
	keeper->watched = true;
	keeper->look_at = gb_now_ns() + FIRST_LOOK_MS * MS;
	gb_memory_begin(job_bytes);
}

static bool needs_too_much(struct gb_keeper *keeper) {
	struct gb_memory memory = gb_memory_look(keeper->memory_limit);
	keeper->memory_peak = memory.pages > keeper->memory_peak ? memory.pages : keeper->memory_peak;
	return memory.used > keeper->memory_limit || gb_memory_was_killed();
}

static void end_for_memory(struct gb_keeper *keeper) {
	keeper->out_of_memory = true;
	gb_keeper_stop(keeper);
}

void gb_keeper_look(struct gb_keeper *keeper) {
	if (!keeper->memory_limit || keeper->out_of_memory || gb_now_ns() < keeper->look_at)
		return;
	if (needs_too_much(keeper))
		end_for_memory(keeper);
	keeper->look_at = gb_now_ns() + LOOK_MS * MS;
}

void gb_keeper_look_for_kills(struct gb_keeper *keeper) {
	if (!keeper->out_of_memory && gb_memory_was_killed())
		end_for_memory(keeper);
}

static int until(uint64_t at) {
	uint64_t now = gb_now_ns();
	return at > now ? (int)((at - now) / MS) + 1 : 0;
}

int gb_keeper_until_look(const struct gb_keeper *keeper, int timeout_ms) {
	int left = until(keeper->look_at);
	return keeper->memory_limit && (timeout_ms < 0 || left < timeout_ms) ? left : timeout_ms;
}

/* --- between runs --- */

void gb_keeper_begin_rest(struct gb_keeper *keeper) {
	keeper->pause_ns = REST_LOOK_MS * MS;
	keeper->look_at = gb_now_ns() + keeper->pause_ns;
}

int gb_keeper_until_rest_look(const struct gb_keeper *keeper) {
	return keeper->watched && keeper->memory_limit && keeper->look_at ? until(keeper->look_at) : -1;
}

void gb_keeper_look_at_rest(struct gb_keeper *keeper, bool stirred) {
	if (keeper->out_of_memory)
		_exit(GB_CELL_EXIT_MEMORY);
	if (!keeper->watched || !keeper->memory_limit)
		return;
	if (stirred && !keeper->look_at)
		gb_keeper_begin_rest(keeper);
	if (!keeper->look_at || gb_now_ns() < keeper->look_at)
		return;
	if (needs_too_much(keeper)) {
		gb_keeper_stop(keeper);
		_exit(GB_CELL_EXIT_MEMORY);
	}
	if (gb_memory_has_others(keeper->pid)) {
		gb_keeper_begin_rest(keeper);
		return;
	}
	keeper->pause_ns = keeper->pause_ns < REST_LOOK_MAX_MS * MS ? keeper->pause_ns * 2 : keeper->pause_ns;
	keeper->look_at = keeper->rests_alone ? 0 : gb_now_ns() + keeper->pause_ns;
}
