/*
 * The fields of a result and the limits of a run: one row each, and everything else follows from the row.
 *
 * A row makes the member of the struct (glovebox.h), its JSON and the way back, its masking, the command
 * line's option, the type and the reader of the TypeScript SDK, and the tables of docs/PROTOCOL.md. To add a
 * field: write its row, set it where it is known, and run 'make tables'.
 */
#ifndef GLOVEBOX_FIELDS_H
#define GLOVEBOX_FIELDS_H

/*
 * ROW(kind, member, json, when, doc), in the order of the JSON object. Kinds with more than one member have a
 * macro of their own: LIST for arrays with a count, STREAM for bytes with a length. The kinds, and the members
 * of struct gb_result that each makes, are in glovebox.h (GB_MEMBER_...).
 *
 * when is ALWAYS, or IF_SET: left out of the JSON where it is NULL, undefined, empty, false or 0.
 *
 * Whatever the code can choose (values, texts, errors) is masked by its kind.
 */
// clang-format off
#define GB_RESULT_FIELDS(ROW, LIST, STREAM) \
	ROW(ID, run_id, "runId", ALWAYS, "the run's id, for audit logs: no other run has it; empty if the code was not run") \
	ROW(STATUS, status, "status", ALWAYS, "how the run ended; `denied`: the code was not run, and `error.code` says why") \
	ROW(VALUE, value, "result", IF_SET, "the value, on success, unless it is undefined") \
	LIST(VALUES, reports, "reports", ALWAYS, "the values given to `report()`, in order") \
	LIST(LOGS, logs, "logs", ALWAYS, "the calls of `console`, in order, unless the caller's globals have a `console`") \
	LIST(DISPLAYS, displays, "displays", IF_SET, "what the program has shown, such as figures: for each its media types, with text or bytes") \
	ROW(FILES, files, "files", IF_SET, "the files that the program made or changed in the folder it runs in, by path") \
	STREAM(OUTPUT, stdout, "stdout", ALWAYS, "what the program wrote to its standard output") \
	STREAM(OUTPUT, stderr, "stderr", ALWAYS, "what the program wrote to its standard error") \
	ROW(INTEGER, exit_code, "exitCode", ALWAYS, "0 on success, otherwise 1 or the program's own exit status") \
	ROW(FLAG, timed_out, "timedOut", ALWAYS, "whether the run took longer than its time limit") \
	ROW(FLAG, truncated, "truncated", ALWAYS, "whether output was cut: there was more of it than the limit allows") \
	ROW(ERROR, error, "error", IF_SET, "what went wrong, unless `status` is `success`") \
	ROW(MS, duration_ms, "durationMs", ALWAYS, "milliseconds from the request to the result") \
	ROW(COUNT, memory_used_bytes, "memoryUsedBytes", IF_SET, "peak memory, of the heap or of all processes; absent where it is unknown, as for a terminated run")

/*
 * X(member, width, json, place, unit, fallback, least, most, has_flag, flag, enforcer, agents, doc): a
 * member of struct gb_run_options, in which 0 means the default.
 *
 *	width		of the unsigned member: 32 or 64
 *	json		its name in the 'limits' of a message
 *	place		of it in a 'run' message: LIMITS, or OPTIONS (runCode's contract has it there, by another name)
 *	unit		MS, BYTES or COUNT
 *	fallback	what it is where neither the request nor a setting says; 0: the language's own
 *	least, most	the values that the engine accepts
 *	has_flag, flag	of the command line: FLAG, "timeout", or NO_FLAG, ""
 *	enforcer	WORKER: sent with the job, in this order; or HOST
 *	agents		AGENT: an agent can ask for it; or CALLER
 */
#define GB_LIMIT_FIELDS(X) \
	X(timeout_ms, 64, "timeoutMs", LIMITS, MS, 30000, 1, UINT64_MAX, FLAG, "timeout", HOST, AGENT, \
	    "how long the run may take; then it is interrupted in a session, and terminated otherwise") \
	X(memory_bytes, 64, "memoryBytes", OPTIONS, BYTES, 0, GB_MEMORY_MIN, 64ull << 30, FLAG, "memory", WORKER, AGENT, \
	    "memory that the run may use: of the heap, or of all processes where a program runs the code") \
	X(output_bytes, 64, "outputBytes", LIMITS, BYTES, 1ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, AGENT, \
	    "output and console calls; the rest is cut and `truncated` is set") \
	X(result_bytes, 64, "resultBytes", LIMITS, BYTES, 16ull << 20, 1, 1ull << 30, NO_FLAG, "", WORKER, AGENT, \
	    "the result") \
	X(report_bytes, 64, "reportBytes", LIMITS, BYTES, 16ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, CALLER, \
	    "all reports together") \
	X(call_bytes, 64, "callBytes", LIMITS, BYTES, 16ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, CALLER, \
	    "the arguments of one call of a host function, or its answer") \
	X(max_calls, 32, "maxCalls", LIMITS, COUNT, 100000, 1, UINT32_MAX, NO_FLAG, "", WORKER, CALLER, \
	    "calls of host functions, in all") \
	X(max_in_flight, 32, "maxCallsInFlight", LIMITS, COUNT, 1000, 1, UINT32_MAX, NO_FLAG, "", WORKER, CALLER, \
	    "calls of host functions without an answer; together at most four times `callBytes`")
// clang-format on

#endif
