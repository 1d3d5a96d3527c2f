/*
 * The fields of a result and the limits of a run, one row each.
 *
 * A row generates the member of the struct (glovebox.h), the code that writes it as JSON and reads it back, its
 * masking, the option of the command line, the type and the reader of the TypeScript SDK, and the rows in
 * docs/PROTOCOL.md. To add a field: add its row, set the member where its value is known, and run 'make tables'.
 */
#ifndef GLOVEBOX_FIELDS_H
#define GLOVEBOX_FIELDS_H

/*
 * ROW(kind, member, json, when, doc), in the order of the JSON object. Kinds with more than one member have a
 * macro of their own: LIST for arrays with a count, STREAM for bytes with a length. glovebox.h (GB_MEMBER_...)
 * defines the kinds and the members of struct gb_result that each kind has.
 *
 * when is ALWAYS, or IF_SET: omitted from the JSON if it is NULL, undefined, empty, false or 0.
 *
 * Secrets are masked in every kind whose content the code controls (values, texts, errors).
 */
// clang-format off
#define GB_RESULT_FIELDS(ROW, LIST, STREAM) \
	ROW(ID, run_id, "runId", ALWAYS, "the run's unique id, for audit logs; empty if the code was not run") \
	ROW(STATUS, status, "status", ALWAYS, "how the run ended; `denied`: the code was not run, and `error.code` says why") \
	ROW(VALUE, value, "result", IF_SET, "the value of a successful run, unless it is undefined") \
	LIST(VALUES, reports, "reports", ALWAYS, "the values given to `report()`, in order") \
	LIST(LOGS, logs, "logs", ALWAYS, "the calls of `console`, in order, unless the caller's globals have a `console`") \
	LIST(DISPLAYS, displays, "displays", IF_SET, "the program's displays, such as figures: each maps media types to text or bytes") \
	ROW(FILES, files, "files", IF_SET, "the files that the program created or changed in its working directory, by path") \
	STREAM(OUTPUT, stdout, "stdout", ALWAYS, "the program's standard output") \
	STREAM(OUTPUT, stderr, "stderr", ALWAYS, "the program's standard error") \
	ROW(INTEGER, exit_code, "exitCode", ALWAYS, "0 on success, otherwise 1 or the program's own exit status") \
	ROW(FLAG, timed_out, "timedOut", ALWAYS, "whether the run exceeded its time limit") \
	ROW(FLAG, truncated, "truncated", ALWAYS, "whether output was cut because it exceeded its limit") \
	ROW(ERROR, error, "error", IF_SET, "the error, unless `status` is `success`") \
	ROW(MS, duration_ms, "durationMs", ALWAYS, "milliseconds from the request to the result") \
	ROW(COUNT, memory_used_bytes, "memoryUsedBytes", IF_SET, "peak memory, of the heap or of all processes; absent if unknown, as for a terminated run")

/*
 * X(member, width, json, place, unit, fallback, least, most, has_flag, flag, enforcer, agents, doc): a
 * member of struct gb_run_options, where 0 means the default.
 *
 *	width		of the unsigned member: 32 or 64
 *	json		its name in the 'limits' of a message
 *	place		its place in a 'run' message: LIMITS, or OPTIONS (there under the name of runCode's contract)
 *	unit		MS, BYTES or COUNT
 *	fallback	the value if neither the request nor a setting has one; 0: the default of the language
 *	least, most	the values that the engine accepts
 *	has_flag, flag	the option of the command line: FLAG, "timeout", or NO_FLAG, ""
 *	enforcer	WORKER: sent with the job, in this order; or HOST
 *	agents		AGENT: an agent may request it; or CALLER: only the caller may
 */
#define GB_LIMIT_FIELDS(X) \
	X(timeout_ms, 64, "timeoutMs", LIMITS, MS, 30000, 1, UINT64_MAX, FLAG, "timeout", HOST, AGENT, \
	    "maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise") \
	X(memory_bytes, 64, "memoryBytes", OPTIONS, BYTES, 0, GB_MEMORY_MIN, 64ull << 30, FLAG, "memory", WORKER, AGENT, \
	    "maximum memory: of the heap, or of all processes where a program runs the code") \
	X(output_bytes, 64, "outputBytes", LIMITS, BYTES, 1ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, AGENT, \
	    "output and console calls; the rest is cut and `truncated` is set") \
	X(result_bytes, 64, "resultBytes", LIMITS, BYTES, 16ull << 20, 1, 1ull << 30, NO_FLAG, "", WORKER, AGENT, \
	    "the result") \
	X(report_bytes, 64, "reportBytes", LIMITS, BYTES, 16ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, CALLER, \
	    "all reports together") \
	X(call_bytes, 64, "callBytes", LIMITS, BYTES, 16ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, CALLER, \
	    "the arguments of one call of a host function, or its answer") \
	X(max_calls, 32, "maxCalls", LIMITS, COUNT, 100000, 1, UINT32_MAX, NO_FLAG, "", WORKER, CALLER, \
	    "calls of host functions in total") \
	X(max_in_flight, 32, "maxCallsInFlight", LIMITS, COUNT, 1000, 1, UINT32_MAX, NO_FLAG, "", WORKER, CALLER, \
	    "pending calls of host functions; together they may hold at most four times `callBytes`")
// clang-format on

#endif
