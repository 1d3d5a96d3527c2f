/* Limits of the engine's own. Those that a run can choose are rows of glovebox/fields.h. */
#ifndef GB_ENGINE_LIMITS_H
#define GB_ENGINE_LIMITS_H

#include "base/fields.h"
#include "glovebox/glovebox.h"

#define CELL_MEMORY (256ull << 20) /* of a cell with programs that has no run yet */
#define JOB_MAX     (128ull << 20)
#define OUTBOX_MAX  (512ull << 20) /* maximum of frames queued for a run that does not read */

/* Displays of one run. The worker has its own, lower limit, which code can circumvent. */
enum { DISPLAYS_MAX = 200 };
#define DISPLAY_BYTES (33ull << 20) /* the worker's own limit, plus overhead */
#define BOX_BYTES     (64ull << 20) /* of each of /box and /tmp */

#define PROCESSES_MAX 32768u /* maximum processes and threads of an engine, in all its cells */

#define DEFAULT_WARM     4u
#define DEFAULT_MAX_RUNS 1024u

/* A decoded value takes more memory than its bytes; this bounds the ratio. */
#define VALUES_FACTOR 8u
#define VALUES_SLACK  (1u << 20)

/* The maximum memory per encoded byte: a value, and its place in a list. */
#define VALUE_BYTES 40u

/* Room for heads and error texts around the result. */
#define FRAME_SLACK (512u << 10)

/* The memory that the output and the values of a run take now, in bytes. */
size_t gb_run_memory(const struct gb_run *run);

/* Whether @language has what @need says. (language.c) */
bool gb_language_has(enum gb_language language, enum gb_need need);

#define GB_OR(value, fallback) ((value) ? (value) : (fallback))

/* gb_limit_timeout_ms(options) and so on: what the run asks for, or the default. */
#define LIMIT(member, width, json, place, contract, unit, fallback, ...)                                     \
	static inline uint##width##_t gb_limit_##member(const struct gb_run_options *options) {              \
		return GB_OR(options->member, (uint##width##_t)(fallback));                                  \
	}
GB_LIMIT_FIELDS(LIMIT)
#undef LIMIT

#endif
