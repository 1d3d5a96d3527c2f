/*
 * The protocol between host and worker: payloads of frames, as CBOR. Fields are in a fixed order; a value
 * graph numbers its references from its own beginning, and is the last or only field.
 *
 * Host to worker, once:
 * JOB	source, filename, export or null, flags, memory limit, output limit, result limit, report limit, call
 *	limit, calls, calls in flight, CPU seconds,
 *	number of modules and for each its name and source,
 *	imports (object), globals (object), arguments (array): one graph, in which these three have no number;
 *	runtime-specific settings (object)
 *
 * Worker to host:
 * LOG	level, milliseconds since 1970, arguments (array)
 * OUTPUT	stream (1 stdout, 2 stderr), bytes
 * DISPLAY	object: media type to text or bytes
 * FILE	path in the box, bytes: created or changed by the run
 * EXIT	exit code of the program; true if the session has ended with it
 * AWAITING	prompt (text): the code waits for input; or null: it no longer waits
 * TERMINAL	bytes
 * RESULT	status, peak memory, truncated, error or null, on success the value; the last frame of a run.
 *	A session then waits for the next JOB. error: array of name, message, stack, code, specifier,
 *	filename (each text or null), line, column
 *
 * Host to worker, at any time, to a session that has a terminal:
 * INPUT	bytes
 * RESIZE	columns, rows
 * ATTACH, DETACH	nothing
 *
 * The host interrupts a session's job by one SIGINT, and then by GB_SIGNAL_AGAIN until the job has ended. The
 * signal's value (si_value) is the number of the job, from 1 for the session's first: a signal that arrives
 * after its job is ignored, and one that arrives before its job has been read interrupts that job once it is
 * read.
 *
 * Both ways, for functions and promises that one side has lent to the other:
 * CALL	call, function, arguments (array)
 * ANSWER	call, gb_wire_answer, and a value unless the answer is PROMISED
 *
 * The caller chooses the number of a call. A promise is "called", without arguments, by the side that
 * received it; the answer is the value that it settles with. After PROMISED a second answer follows. Only the
 * host sends PROMISED, so that the code can continue; workers never do.
 */
#ifndef GB_RUNTIME_WIRE_H
#define GB_RUNTIME_WIRE_H

enum gb_wire_status {
	GB_WIRE_SUCCESS,
	GB_WIRE_ERROR,
	GB_WIRE_MEMORY,
	GB_WIRE_LINK_ERROR,
};

enum gb_wire_answer { GB_WIRE_RETURNED, GB_WIRE_THROWN, GB_WIRE_PROMISED };

enum {
	GB_JOB_EXPORT_REQUIRED = 1, /* without this flag, a module that lacks the export returns undefined */
	GB_JOB_REPORT = 2,          /* the code gets a function report() */
	GB_JOB_TYPESCRIPT = 4,      /* the modules are TypeScript */
	GB_JOB_SESSION = 8,         /* more jobs follow; also in the settings */
	GB_JOB_VERSION = 16,        /* keepers: run the program with --version, without source */
	GB_JOB_BODY = 32,       /* JavaScript: a function body; the result is what it returns, as JSON text */
	GB_JOB_LAST_VALUE = 64, /* JavaScript: without exports, the last expression is the result */
};

/* Settings: texts around the source, which together with it are the module. */
#define GB_SETTING_HEAD "head"
#define GB_SETTING_TAIL "tail"
/* An object: names of variables, and their values, which are placeholders of secrets. */
#define GB_SETTING_SECRETS "secrets"
/* Settings that are true or missing. */
#define GB_SETTING_ACTION    "action"
#define GB_SETTING_READ_ONLY "readOnly"

enum { GB_WIRE_ERROR_TEXTS = 6, GB_WIRE_ERROR_FIELDS = 8 };

/* Maximum nesting depth of a value. */
enum { GB_WIRE_DEPTH_MAX = 500 };

/* Maximum number of functions and promises that one side may lend to the other in one run. */
enum { GB_WIRE_LENT_MAX = 1 << 16 };

/* All calls in flight together may hold this many times the maximum size of one call. */
enum { GB_WIRE_IN_FLIGHT_FACTOR = 4 };

/* Maximum number of files that a run may return. */
enum { GB_WIRE_FILES_MAX = 1000 };

/* Maximum bytes of a prompt, and number of AWAITING frames in a run: a full-screen program waits after each
 * key. */
enum { GB_WIRE_PROMPT_MAX = 1024, GB_WIRE_AWAITING_MAX = 1000000 };

/* Maximum bytes of one INPUT or TERMINAL frame, and maximum columns or rows of a terminal. */
enum { GB_WIRE_TERMINAL_MAX = 64 << 10, GB_WIRE_COLUMNS_MAX = 1000 };

/* The function id of report(). */
#define GB_WIRE_REPORT UINT32_MAX

/* Room for the CBOR heads around a call's arguments or an answer's value. */
enum { GB_WIRE_CALL_SLACK = 64 };

#endif
