/*
 * The fields of a request, of an agent's statement about it, of a result, and the limits of a run, one row each.
 *
 * A row generates the member of the struct (glovebox.h), the code that writes it as JSON and reads it back, its
 * masking, the option of the command line, the type, the check, the writer and the reader of the TypeScript SDK,
 * and the rows in docs/PROTOCOL.md. To add a field: add its row, use or set the member, and run 'make tables'.
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
	ROW(VALUE, denials, "denials", IF_SET, "what was refused to the code: an array of `{kind, host, port, rule, reason, remedy}`, see [NETWORK.md](NETWORK.md#denials); `kind` is `network`, `module` or `memory`, and only the first has `host` and `port`") \
	ROW(VALUE, connections, "connections", IF_SET, "the attempts of the code to reach hosts: `{list, dropped}`, see [NETWORK.md](NETWORK.md)") \
	ROW(MS, duration_ms, "durationMs", ALWAYS, "milliseconds from the request to the result") \
	ROW(COUNT, memory_used_bytes, "memoryUsedBytes", IF_SET, "peak memory, of the heap or of all processes; absent if unknown, as for a terminated run")

/*
 * X(kind, member, json, place, origin, scope, needs, job, agents, has_flag, flag, argument, help, doc): a member of
 * struct gb_run_options, where 0 means that the request does not have it.
 *
 *	kind		its types (GB_OPTION_... of glovebox.h), and how an option of the command line sets it
 *	json		its name in a message
 *	place		its place in a 'run' message: OPTIONS, or EXECUTE (options.execute)
 *	origin		CONTRACT: an option of runCode; or GLOVEBOX: only of runs in any language
 *	scope		ANY run; NEW: not in an existing session ('session_open' has it); SESSION: only in sessions
 *	needs		what a language must have: EVERY language has it, or a trait (engine.h)
 *	job		JOB: has its own place in the job; SETTING: sent among the settings by its JSON name; or HOST
 *	agents		AGENT: an 'execute' message may have it; or CALLER: only the caller's own runs may
 *	has_flag, ...	the option of the command line, its argument and its help: FLAG, or NO_FLAG
 */
#define GB_REQUEST_FIELDS(X) \
	X(LANGUAGE, language, "language", OPTIONS, CONTRACT, NEW, EVERY, HOST, AGENT, FLAG, "language", "", "", \
	    "a language or alias of the [table](#languages); default: `typescript`") \
	X(TEXT, filename, "filename", OPTIONS, CONTRACT, ANY, EVERY, JOB, CALLER, NO_FLAG, "", "", "", \
	    "the name of the source in stack traces and `import.meta.url`, and the base of its relative imports; default: `<runCode>`") \
	X(TEXT, fn, "fn", EXECUTE, CONTRACT, ANY, MODULES, JOB, CALLER, FLAG, "fn", "NAME", \
	    "the export that is the result; called if it is a function", \
	    "the export that is the result, called if it is a function; in a session: a function to call afterwards") \
	X(ARGS, args, "args", EXECUTE, CONTRACT, ANY, EVERY, JOB, AGENT, FLAG, "args", "JSON", \
	    "an array: the arguments of the function, or a script's parameters", \
	    "the arguments of the function, or a script's parameters; those of an agent must not contain functions or promises") \
	X(VARIABLES, globals, "globals", OPTIONS, CONTRACT, ANY, MODULES, JOB, CALLER, FLAG, "input", "NAME=JSON", \
	    "define the variable NAME for the code; may be repeated", \
	    "identifier to value: variables that are visible in all modules") \
	X(IMPORTS, imports, "imports", OPTIONS, CONTRACT, ANY, MODULES, JOB, CALLER, NO_FLAG, "", "", "", \
	    "specifier to name to value: modules for `import { name } from 'specifier'`; bare specifiers only") \
	X(SOURCES, modules, "modules", OPTIONS, CONTRACT, ANY, MODULES, JOB, CALLER, NO_FLAG, "", "", "", \
	    "relative specifier to source text: `{\"./math.js\":\"export const one = 1\"}`") \
	X(FLAG, report, "report", OPTIONS, CONTRACT, ANY, MODULES, JOB, CALLER, NO_FLAG, "", "", "", \
	    "the code has a function `report(value)`") \
	X(INPUT, input, "stdin", OPTIONS, GLOVEBOX, ANY, BOX, SETTING, CALLER, FLAG, "stdin", "TEXT", \
	    "the standard input of a program", \
	    "Python, shell, Node.js, Deno: the standard input of the program") \
	X(FILES, files, "files", OPTIONS, GLOVEBOX, ANY, BOX, SETTING, AGENT, FLAG, "file", "PATH", \
	    "put a copy of PATH, a file or a folder, into the program's folder; may be repeated", \
	    "Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory") \
	X(NAMES, take, "take", OPTIONS, GLOVEBOX, ANY, BOX, SETTING, AGENT, NO_FLAG, "", "", "", \
	    "Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line \"size path\" each") \
	X(TEXT, profile, "profile", OPTIONS, GLOVEBOX, NEW, PROFILES, HOST, CALLER, FLAG, "profile", "NAME", \
	    "Python: stdlib, or data (numpy, pandas, matplotlib loaded); with --session, for a new session", \
	    "Python: `stdlib`, `data` with numpy, pandas and matplotlib loaded, or a profile of the settings") \
	X(FLAG, restricted, "restricted", OPTIONS, GLOVEBOX, ANY, RESTRICTED, SETTING, AGENT, FLAG, "restricted", NULL, \
	    "Python, shell: reject risky constructs", \
	    "Python, shell: reject risky constructs; a convenience, not a security boundary") \
	X(NAMES, allowed_modules, "allowedModules", OPTIONS, GLOVEBOX, ANY, ALLOWLIST, SETTING, CALLER, FLAG, "allow", "MODULE", \
	    "Node.js, Python with --restricted: let it import MODULE; may be repeated", \
	    "Python with `restricted`, Node.js: the modules that the code may import; an empty array allows none; default: none in Python, `node:safe` in Node.js") \
	X(NAMES, net, "net", OPTIONS, GLOVEBOX, ANY, NET, SETTING, CALLER, FLAG, "net", "HOST,...", \
	    "let it reach HOST, HOST:PORT or *.DOMAIN, if network.allowlist has it", \
	    "the hosts that the code can reach, each `name`, `name:port` or `*.domain`, within the setting `network.allowlist`: see [NETWORK.md](NETWORK.md); default: none") \
	X(TEXT, workdir, "workdir", OPTIONS, GLOVEBOX, NEW, EVERY, HOST, CALLER, FLAG, "workdir", "DIR[:rw]", \
	    "let it read the directory DIR, and with :rw write there; it is /box for the code", \
	    "a directory of this machine, `DIR` to read or `DIR:rw` to read and write: the code has it as `/box`, and no other directory; see [WORKDIR.md](WORKDIR.md); default: none") \
	X(FLAG, reset, "reset", OPTIONS, GLOVEBOX, SESSION, SESSIONS, SETTING, CALLER, FLAG, "reset", NULL, \
	    "delete all earlier definitions first", \
	    "in a session: delete all definitions of earlier runs first")

/*
 * X(kind, member, json, max, inputs, has_flag, flag, argument, help, doc): a field of an agent's request ('execute')
 * beside its code, and of its input.
 *
 *	kind		ID: a text that is not empty; TEXT: shown or recorded; JSON: any value, recorded; SESSION;
 *			CHOICE: GB_AGENT_member_CHOICES has the words
 *	max		bytes of a text
 *	inputs		whether an 'input' message has it: REQUIRED, OPTIONAL or NONE
 */
#define GB_AGENT_FIELDS(X) \
	X(ID, conversation, "conversation", 200, REQUIRED, FLAG, "conversation", "ID", \
	    "the conversation of the request: 'approvals trust' applies to a conversation", \
	    "the conversation of the request: sessions, trust and limits belong to a conversation") \
	X(SESSION, session, "session", 200, REQUIRED, NO_FLAG, "", "", "", \
	    "`true`: run in the conversation's session of this language, which is opened when the code runs if there is none; or the id of one of its sessions; default: run without a session") \
	X(ID, turn, "turn", 200, OPTIONAL, FLAG, "turn", "ID", \
	    "the turn of the model: the number of calls per turn is limited", \
	    "the turn of the model: the settings limit the executions per turn (`agent.callsPerTurn`)") \
	X(TEXT, purpose, "purpose", 4096, OPTIONAL, FLAG, "purpose", "TEXT", \
	    "the purpose of the code: shown with the request for approval, and recorded", \
	    "the agent's reason: shown with the request for approval, and recorded") \
	X(TEXT, expected, "expectedOutput", 4096, NONE, FLAG, "expected-output", "TEXT", \
	    "the output that the agent expects: recorded", \
	    "the output that the agent expects: recorded") \
	X(JSON, trace, "trace", 16384, NONE, FLAG, "trace", "JSON", \
	    "the origin of the request: recorded", \
	    "the origin of the request, any value: recorded") \
	X(CHOICE, tier, "tier", 0, NONE, FLAG, "tier", "TIER", \
	    "isolated, the default; or network: the code can reach the hosts in network.allowlist", \
	    "`isolated` is the default; with `network`, the code can reach the hosts in the setting `network.allowlist`, see [NETWORK.md](NETWORK.md)") \
	X(CHOICE, on_input, "onInput", 0, NONE, NO_FLAG, "", "", "", \
	    "the behaviour when code in a session waits for input; `end`, the default: the run ends at once, as `terminated` with the code `awaiting_input` and the prompt in the message; `wait`: it continues to wait, for an `input`")

/* The words of each CHOICE, in the order of their numbers. */
#define GB_AGENT_tier_CHOICES "isolated", "network"
#define GB_AGENT_on_input_CHOICES "end", "wait"

/*
 * X(member, width, json, place, unit, fallback, least, most, has_flag, flag, enforcer, agents, doc): a
 * member of struct gb_run_options, where 0 means the default.
 *
 *	width		of the unsigned member: 32 or 64
 *	json		its name in the 'limits' of a message
 *	place, contract	its place in a 'run' message: LIMITS, "", or OPTIONS and its name there, that of runCode's
 *			contract
 *	unit		MS, BYTES or COUNT
 *	fallback	the value if neither the request nor a setting has one; 0: the default of the language
 *	least, most	the values that the engine accepts
 *	has_flag, flag	the option of the command line: FLAG, "timeout", or NO_FLAG, ""
 *	enforcer	WORKER: sent with the job, in this order; or HOST
 *	agents		AGENT: an agent may request it; or CALLER: only the caller may
 */
#define GB_LIMIT_FIELDS(X) \
	X(timeout_ms, 64, "timeoutMs", LIMITS, "", MS, 30000, 1, UINT64_MAX, FLAG, "timeout", HOST, AGENT, \
	    "maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise") \
	X(memory_bytes, 64, "memoryBytes", OPTIONS, "memoryLimitBytes", BYTES, 0, GB_MEMORY_MIN, 64ull << 30, FLAG, "memory", WORKER, AGENT, \
	    "maximum memory: of the heap; in shell, Node.js and Deno, of all processes together") \
	X(output_bytes, 64, "outputBytes", LIMITS, "", BYTES, 1ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, AGENT, \
	    "output and console calls; the rest is cut and `truncated` is set") \
	X(result_bytes, 64, "resultBytes", LIMITS, "", BYTES, 16ull << 20, 1, 1ull << 30, NO_FLAG, "", WORKER, AGENT, \
	    "the result") \
	X(report_bytes, 64, "reportBytes", LIMITS, "", BYTES, 16ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, CALLER, \
	    "all reports together") \
	X(call_bytes, 64, "callBytes", LIMITS, "", BYTES, 16ull << 20, 1, 256ull << 20, NO_FLAG, "", WORKER, CALLER, \
	    "the arguments of one call of a host function, or its answer") \
	X(max_calls, 32, "maxCalls", LIMITS, "", COUNT, 100000, 1, UINT32_MAX, NO_FLAG, "", WORKER, CALLER, \
	    "calls of host functions in total") \
	X(max_in_flight, 32, "maxCallsInFlight", LIMITS, "", COUNT, 1000, 1, UINT32_MAX, NO_FLAG, "", WORKER, CALLER, \
	    "pending calls of host functions; together they may hold at most four times `callBytes`") \
	X(max_connections, 32, "maxConnections", LIMITS, "", COUNT, 1000, 1, 1000000, NO_FLAG, "", HOST, CALLER, \
	    "network: connections in total") \
	X(sent_bytes, 64, "sentBytes", LIMITS, "", BYTES, 64ull << 20, 1, 1ull << 50, NO_FLAG, "", HOST, CALLER, \
	    "network: bytes that all connections together send") \
	X(received_bytes, 64, "receivedBytes", LIMITS, "", BYTES, 1ull << 30, 1, 1ull << 50, NO_FLAG, "", HOST, CALLER, \
	    "network: bytes that all connections together receive") \
	X(connect_ms, 32, "connectMs", LIMITS, "", MS, 10000, 1, 3600000, NO_FLAG, "", HOST, CALLER, \
	    "network: time to look a name up and to connect") \
	X(idle_ms, 32, "idleMs", LIMITS, "", MS, 60000, 1, 86400000, NO_FLAG, "", HOST, CALLER, \
	    "network: time in which a connection transfers nothing; it is closed then")
// clang-format on

#endif
