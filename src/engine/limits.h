/* The one table of what a run may use: defaults where nothing is said, and what can be asked for at most. */
#ifndef GB_ENGINE_LIMITS_H
#define GB_ENGINE_LIMITS_H

#include <stdint.h>

#define DEFAULT_MEMORY     (64ull << 20)
#define PROGRAM_MEMORY     (256ull << 20) /* of all processes of a run, where programs run it */
#define MEMORY_MAX         (64ull << 30)
#define DEFAULT_TIMEOUT_MS 30000ull
#define DEFAULT_OUTPUT     (1ull << 20)
#define OUTPUT_MAX         (256ull << 20)
#define DEFAULT_RESULT     (16ull << 20)
#define RESULT_MAX         (1ull << 30)
#define DEFAULT_REPORT     (16ull << 20)
#define REPORT_MAX         (256ull << 20)
#define DEFAULT_CALL       (16ull << 20)
#define CALL_MAX           (256ull << 20)
#define DEFAULT_CALLS      100000u
#define DEFAULT_IN_FLIGHT  1000u
#define JOB_MAX            (128ull << 20)
#define OUTBOX_MAX         (512ull << 20) /* what waits for a run that does not read, at most */

/* Displays of one run. A worker has its own, lower limit, which code can get around. */
enum { DISPLAYS_MAX = 200 };
#define DISPLAY_BYTES (33ull << 20) /* the worker's own limit, and what is around it */
#define BOX_BYTES     (64ull << 20) /* of /box, and of /tmp */

#define CELL_OVERHEAD (16ull << 20) /* of the kernel's, for the processes of a cell with programs */
#define PROCESSES_MAX 32768u /* processes and threads that an engine may have at once, in all its cells */

#define DEFAULT_WARM     4u
#define DEFAULT_MAX_RUNS 1024u

/* Decoded, a value takes more room than its bytes; how much more is not up to the sandbox. */
#define VALUES_FACTOR 8u
#define VALUES_SLACK  (1u << 20)

/* The most that a byte can become: a value, and its place in a list. */
#define VALUE_BYTES 40u

/* Heads and error texts around the result proper. */
#define FRAME_SLACK (512u << 10)

#define GB_OR(value, fallback) ((value) ? (value) : (fallback))

#endif
