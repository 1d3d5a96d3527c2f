/*
 * The codes of errors, in one table: error.code of a result, the code of an 'error' message of glovebox stdio,
 * and the code of what the SDK throws. A new code is a row here and the place that reports it.
 *
 *	const char *hint = gb_error_hint(result->error.code);
 *	if (hint)
 *		fprintf(stderr, "hint: %s\n", hint);
 */
#ifndef GLOVEBOX_ERRORS_H
#define GLOVEBOX_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * X(CONSTANT, code, where, output, what, hint)
 *
 *	where	the statuses of results that have it; "message": an 'error' message; "sdk": thrown by the SDK
 *	output	CUT: the worker may have ended in the middle of the code's output; WHOLE: all other codes. The output
 *		of runs that are terminated or out of memory counts as cut by their status.
 *	what	what happened
 *	hint	what to do; "" where the error's own message says it, or nothing general can be said
 */
// clang-format off
#define GB_ERROR_TABLE(X) \
	/* limits and the worker process (src/engine) */ \
	X(TIMEOUT, "timeout", "terminated", WHOLE, "the run took longer than its time limit", \
	    "allow it more time (--timeout, timeoutMs), or have it do less") \
	X(CPU_LIMIT, "cpu_limit", "terminated", WHOLE, "the run used more CPU time than its time limit", \
	    "allow it more time (--timeout, timeoutMs), or have it do less") \
	X(MEMORY, "memory", "memory", WHOLE, "the run needed more memory than its limit", \
	    "allow it more memory (--memory, memoryBytes), or have it keep less at a time") \
	X(OUTPUT_LIMIT, "output_limit", "terminated", WHOLE, "the run wrote more than can be kept", \
	    "have it write less, or write to a file") \
	X(RESULT_SIZE, "result_size", "error", WHOLE, "the result is larger than its limit", \
	    "have it return less, or raise the limit (resultBytes, limits.*.result)") \
	X(BRIDGE, "bridge", "terminated", WHOLE, "the host sent the run more answers and calls than the run reads", \
	    "have the code await its calls, and answer with less") \
	X(INTERRUPTED, "interrupted", "terminated, error", WHOLE, "the caller interrupted the run", "") \
	X(TERMINATED, "terminated", "terminated", WHOLE, "the caller ended the run, or the run's session ended", "") \
	X(AWAITING_INPUT, "awaiting_input", "terminated", WHOLE, "the program waits for input", \
	    "pass the input with the code, or run it with \"onInput\":\"wait\" and send an input") \
	X(CRASHED, "crashed", "error", CUT, "a signal ended the worker process of the run", \
	    "run it again; if that fails too, report the code that causes it") \
	X(NO_ANSWER, "no_answer", "error", CUT, "the worker process of the run ended without a result", \
	    "run it again; if that fails too, report the code that causes it") \
	X(PROTOCOL, "protocol", "error, sdk", CUT, "the worker process, or the server of an SDK, sent an invalid message", \
	    "run it again; if that fails too, report the code that causes it") \
	X(SANDBOX_LOST, "sandbox_lost", "error", CUT, "the zygote that the run's process belongs to has ended", "run it again") \
	X(WALL, "wall", "denied, error", CUT, "a layer of the sandbox could not be set up", \
	    "run 'glovebox doctor': it says which layers this machine has") \
	X(REFUSED, "refused", "denied, message", WHOLE, "the request could not be carried out; the message says why", "") \
	/* the code (src/runtime) */ \
	X(EXIT, "exit", "error", WHOLE, "the code called sys.exit() with a status other than 0", "") \
	X(EXIT_CODE, "exit_code", "error", WHOLE, "the program ended with a status other than 0", "") \
	X(SIGNAL, "signal", "error", WHOLE, "a signal ended the program", "") \
	X(FILES, "files", "error", WHOLE, "the input files could not be written", \
	    "pass fewer or smaller files, with paths that do not conflict") \
	X(RESTRICTED, "restricted", "error", WHOLE, "the code uses something that restricted mode refuses", \
	    "do it another way, or run it without restricted mode") \
	X(NO_EXPORT, "no_export", "link_error", WHOLE, "there is no export, or no function, of that name", \
	    "export it, or name another one (--fn, execute.fn)") \
	X(NOT_A_FUNCTION, "not_a_function", "error", WHOLE, "arguments were given for an export that is not a function", \
	    "leave the arguments out, or name a function (--fn, execute.fn)") \
	X(NEVER_SETTLES, "never_settles", "error", WHOLE, "the code awaits a promise that can never settle", \
	    "await only host calls and promises that the code itself settles") \
	X(MODULE_DENIED, "module_denied", "error", WHOLE, "the code imports a module that it may not use", \
	    "allow the module by name (--allow, allowedModules, node.allowedModules)") \
	X(MODULE_NOT_FOUND, "module_not_found", "error", WHOLE, "the code imports a module that is not there", \
	    "pass its source (modules), or a folder with the package (--packages, programs.nodePackages)") \
	X(REQUIRE_ESM, "require_esm", "error", WHOLE, "the code requires an ES module", "use import instead of require") \
	X(DENIED, "denied", "error", WHOLE, "the code calls a function that sandboxed code does not have", "") \
	/* requests of agents (src/gate) */ \
	X(DISABLED, "disabled", "denied", WHOLE, "agents may not run code", "") \
	X(RUNTIME_DISABLED, "runtime_disabled", "denied", WHOLE, "the language is not installed, or agents may not use it", \
	    "'glovebox doctor' lists the languages that are installed; agent.allowedRuntimes says which agents may use") \
	X(SESSIONS_DISABLED, "sessions_disabled", "denied", WHOLE, "agents may not have sessions", \
	    "run the code without a session, or set agent.persistentSessions") \
	X(CODE_SIZE, "code_size", "denied", WHOLE, "the code is too long, or contains a zero byte", \
	    "send less code at a time, or raise agent.maxCodeSize") \
	X(GUARD, "guard", "denied", WHOLE, "the guard found something in the code that is not allowed", "") \
	X(TOO_MANY, "too_many", "denied", WHOLE, "too many runs or sessions are active", "try again when some have ended") \
	X(CALLS_PER_TURN, "calls_per_turn", "denied", WHOLE, "all calls of this turn are used", \
	    "continue in the next turn, or do more in one call") \
	X(ENERGY, "energy", "denied", WHOLE, "there is not enough energy", "wait; 'glovebox energy' shows for how long") \
	X(NOT_APPROVED, "not_approved", "denied", WHOLE, "a person has denied the request, or did not decide in time", "") \
	X(WITHDRAWN, "withdrawn", "denied", WHOLE, "the caller has taken the request back", "") \
	X(NOT_AWAITING_INPUT, "not_awaiting_input", "denied", WHOLE, "nothing in the session waits for this input", \
	    "send input only for the prompt that waits") \
	X(AUDIT, "audit", "denied", WHOLE, "the request cannot be recorded in the audit log", \
	    "check that the state directory can be written, and run 'glovebox audit verify'") \
	X(MASKING, "masking", "denied, error", WHOLE, "secrets could not be masked, so the output is not shown", \
	    "check the settings secrets.* with 'glovebox config check'") \
	X(UNKNOWN_SESSION, "unknown_session", "denied, message", WHOLE, "there is no such session, or it has ended", \
	    "list the sessions ('glovebox session list'), or open another one") \
	/* messages (src/server) */ \
	X(MALFORMED, "malformed", "message", WHOLE, "the line is not a JSON object; `message` names line and column", "") \
	X(TOO_LONG, "too_long", "message, sdk", WHOLE, \
	    "the line is longer than lines may be, or holds more values than a message may; it was skipped", \
	    "send less at a time") \
	X(UNKNOWN_TYPE, "unknown_type", "message", WHOLE, "there is no such `type`", "") \
	X(INVALID, "invalid", "message", WHOLE, "a field is missing, unknown, of the wrong type or out of range: `field`", "") \
	X(UNKNOWN_RUN, "unknown_run", "message", WHOLE, "there never was a run of that number", "") \
	X(UNKNOWN_CALL, "unknown_call", "message", WHOLE, "there was no call of that number, or it has its answer already", "") \
	/* the SDK (sdk/typescript) */ \
	X(NOT_FOUND, "not_found", "sdk", WHOLE, "there is no program 'glovebox'", \
	    "build or install it, or name it with the option path or GLOVEBOX_PATH") \
	X(SPAWN_FAILED, "spawn_failed", "sdk", WHOLE, "'glovebox stdio' could not be started", "") \
	X(CONNECTION_LOST, "connection_lost", "sdk", WHOLE, "the server has ended, or closed the connection", \
	    "make another Glovebox") \
	X(CLOSED, "closed", "sdk", WHOLE, "this Glovebox has been closed", "make another Glovebox") \
	X(RUN_ENDED, "run_ended", "sdk", WHOLE, "the run that the function or promise belongs to has ended", "")
// clang-format on

/* GB_CODE_TIMEOUT is "timeout", and so on. */
#define GB_ERROR_DECLARE(constant, code, ...) extern const char GB_CODE_##constant[sizeof(code)];
GB_ERROR_TABLE(GB_ERROR_DECLARE)
#undef GB_ERROR_DECLARE

struct gb_error_info {
	const char *code, *where, *what, *hint;
	bool cuts_output;
};

/* In the order of the table. */
extern const struct gb_error_info gb_error_infos[];
extern const size_t gb_error_infos_count;

/* NULL if @code is not in the table, or NULL itself. */
const struct gb_error_info *gb_error_find(const char *code);
/* What to do about it; NULL if nothing general can be said, or the code is not in the table. */
const char *gb_error_hint(const char *code);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
