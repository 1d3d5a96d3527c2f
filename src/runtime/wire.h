/*
 * What a job, a result and a log line look like on the wire: payloads of frames, as CBOR. Fields stand in a
 * fixed order; a value graph, whose references are numbered from its own beginning, comes last or alone.
 *
 * JOB	source, filename, export or null, memory limit, output limit, result limit, CPU seconds, flags,
 *	globals (object), arguments (array)
 * RESULT	status, peak memory, truncated, error or null, and on success the value
 *	error: array of name, message, stack, code, specifier, filename (each text or null), line, column
 * LOG	level, milliseconds since 1970, arguments (array)
 */
#ifndef GB_RUNTIME_WIRE_H
#define GB_RUNTIME_WIRE_H

enum gb_wire_status {
	GB_WIRE_SUCCESS,
	GB_WIRE_ERROR,
	GB_WIRE_MEMORY,
	GB_WIRE_LINK_ERROR,
};

/* The selected export must be there; without this flag a module without it gives undefined. */
enum { GB_JOB_EXPORT_REQUIRED = 1 };

enum { GB_WIRE_ERROR_TEXTS = 6, GB_WIRE_ERROR_FIELDS = 8 };

/* How deep a value may nest when it crosses. */
enum { GB_WIRE_DEPTH_MAX = 500 };

#endif
