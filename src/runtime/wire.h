/*
 * What crosses the wall: payloads of frames, as CBOR. Fields stand in a fixed order; a value graph, whose
 * references are numbered from its own beginning, comes last or alone.
 *
 * Host to worker, once:
 * JOB	source, filename, export or null, flags, memory limit, output limit, result limit, report limit, call
 *	limit, calls, calls in flight, CPU seconds,
 *	number of modules and for each its name and source,
 *	imports (object), globals (object), arguments (array): one graph, in which these three have no number;
 *	settings of the runtime's own (object)
 *
 * Worker to host:
 * LOG	level, milliseconds since 1970, arguments (array)
 * OUTPUT	stream (1 stdout, 2 stderr), bytes
 * DISPLAY	object: media type to text or bytes
 * FILE	path in the box, bytes: made or changed by the run
 * EXIT	the exit code that the program asked for; true if that was the end of the session as well
 * AWAITING	the prompt, as text: what runs waits for input; or null: it goes on
 * TERMINAL	bytes
 * RESULT	status, peak memory, truncated, error or null, and on success the value; the last frame of a run.
 *	A session then waits for the next JOB. error: array of name, message, stack, code, specifier,
 *	filename (each text or null), line, column
 *
 * Host to worker, at any time, to a session that has a terminal:
 * INPUT	bytes
 * RESIZE	columns, rows
 * ATTACH, DETACH	nothing
 *
 * A session's job is interrupted by SIGINT, once, and then by GB_SIGNAL_AGAIN until it has ended. Their value
 * (si_value) is the number of the job that is meant, from 1 for the session's first: so one that comes too
 * late stops nobody, and one that comes before its job has been read stops it when it is.
 *
 * Both ways, about functions and promises that one side has lent to the other:
 * CALL	call, function, arguments (array)
 * ANSWER	call, gb_wire_answer, value unless it is a promise
 *
 * A call's number is its caller's. A promise is "called", without arguments, by the side that received it;
 * the answer is what it settles with. A caller that is answered with PROMISED gets a second answer later;
 * workers never say that, the host only does so to let the code go on.
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
	GB_JOB_EXPORT_REQUIRED = 1, /* without this a module that lacks the export gives undefined */
	GB_JOB_REPORT = 2,          /* there is a function report() */
	GB_JOB_TYPESCRIPT = 4,      /* the modules are TypeScript */
	GB_JOB_SESSION = 8,         /* more jobs will follow; the settings say so too */
	GB_JOB_VERSION = 16,        /* keepers: start the program with --version, and run no source */
};

enum { GB_WIRE_ERROR_TEXTS = 6, GB_WIRE_ERROR_FIELDS = 8 };

/* How deep a value may nest when it crosses. */
enum { GB_WIRE_DEPTH_MAX = 500 };

/* How many functions and promises a side may lend to the other in one run. */
enum { GB_WIRE_LENT_MAX = 1 << 16 };

/* Calls in flight may hold this many times the bytes of one. */
enum { GB_WIRE_IN_FLIGHT_FACTOR = 4 };

/* How many files a run may send. */
enum { GB_WIRE_FILES_MAX = 1000 };

/* Bytes of a prompt, and how often a run may wait: after each key, where somebody types in a full-screen
 * program. */
enum { GB_WIRE_PROMPT_MAX = 1024, GB_WIRE_AWAITING_MAX = 1000000 };

/* Bytes that are typed or shown at once, and the size of a terminal. */
enum { GB_WIRE_TERMINAL_MAX = 64 << 10, GB_WIRE_COLUMNS_MAX = 1000 };

/* The function that report() is. */
#define GB_WIRE_REPORT UINT32_MAX

/* Heads around a call's arguments or an answer's value. */
enum { GB_WIRE_CALL_SLACK = 64 };

#endif
