#include "config/settings.h"

#include "base/cleanup.h"

#define KB 1024.0
#define MB (1024 * KB)
#define GB (1024 * MB)
#define S  1000.0
#define H  (3600 * S)
#define D  (24 * H)

#define AT(field)      offsetof(struct gb_config, field)
#define RANGE(low, up) .min = (low), .max = (up)
#define ALIAS(...)     .aliases = {__VA_ARGS__}
/* What a project file may do with it. */
#define TIGHTEN(how) .project = GB_PROJECT_##how
/* It does not affect what runs. */
#define APART .apart = true
/* Nothing uses it yet. */
#define UNAVAILABLE    .unavailable = true
#define CODE_EXECUTION "security.codeExecution."

/* Limits of runs of one runtime: defaults and maxima. */
#define LIMITS(name, runtime, memory)                                                                        \
	{"limits." name ".timeout", GB_SETTING_DURATION, AT(limits[runtime].timeout_ms), "30s", RANGE(1, D), \
	    .at_most = "limits." name ".maxTimeout", TIGHTEN(LOWER),                                         \
	    .help = name ": timeout of a run that names none"},                                              \
	    {"limits." name ".maxTimeout", GB_SETTING_DURATION, AT(limits[runtime].max_timeout_ms), "1h",    \
		RANGE(1, D), TIGHTEN(LOWER), .help = name ": longest timeout that a run can ask for"},       \
	    {"limits." name ".memory", GB_SETTING_SIZE, AT(limits[runtime].memory_bytes), memory,            \
		RANGE(MB, 64 * GB), .at_most = "limits." name ".maxMemory", TIGHTEN(LOWER),                  \
		.help = name ": memory of a run that names no limit"},                                       \
	    {"limits." name ".maxMemory", GB_SETTING_SIZE, AT(limits[runtime].max_memory_bytes), "4G",       \
		RANGE(MB, 64 * GB), TIGHTEN(LOWER), .help = name ": most memory that a run can ask for"},    \
	    {"limits." name ".output", GB_SETTING_SIZE, AT(limits[runtime].output_bytes), "1M",              \
		RANGE(KB, 256 * MB), .at_most = "limits." name ".maxOutput", TIGHTEN(LOWER),                 \
		.help = name ": output of a run that names no limit"},                                       \
	    {"limits." name ".maxOutput", GB_SETTING_SIZE, AT(limits[runtime].max_output_bytes), "256M",     \
		RANGE(KB, 256 * MB), TIGHTEN(LOWER), .help = name ": most output that a run can ask for"},   \
	    {"limits." name ".result", GB_SETTING_SIZE, AT(limits[runtime].result_bytes), "16M",             \
		RANGE(KB, GB), .at_most = "limits." name ".maxResult", TIGHTEN(LOWER),                       \
		.help = name ": size of the result of a run that names no limit"},                           \
	{                                                                                                    \
		"limits." name ".maxResult", GB_SETTING_SIZE, AT(limits[runtime].max_result_bytes), "256M",  \
		    RANGE(KB, GB), TIGHTEN(LOWER), .help = name ": largest result that a run can ask for"    \
	}

#define LANGUAGE_LIMITS(section, name, memory, ...) LIMITS(name, GB_CONFIG_##section, #memory "M"),

/*
 * Why project files cannot set some settings that look harmless: a shorter audit.maxAge deletes records of
 * the owner, a longer one keeps records that the owner wants deleted; secrets.patterns could mask the code
 * that the audit log must show; e2b.apiKey selects the environment variable that is sent to E2B.
 */
const struct gb_setting gb_settings[] = {
    {"stateDir", GB_SETTING_PATH, AT(state_dir), "",
	.help = "state directory; \"\" is $XDG_STATE_HOME/glovebox or ~/.local/state/glovebox"},

    {"agent.enabled", GB_SETTING_BOOL, AT(agent.enabled), "false", ALIAS({CODE_EXECUTION "enabled"}),
	TIGHTEN(LOWER), .help = "whether agents can run code; if not, their tools do not exist"},
    {"agent.autoApprove", GB_SETTING_BOOL, AT(agent.auto_approve), "false",
	ALIAS({CODE_EXECUTION "autoApprove"}), TIGHTEN(LOWER),
	.help = "run code of agents without approval by a person"},
    {"agent.allowedRuntimes", GB_SETTING_RUNTIMES, AT(agent.allowed_runtimes),
	"[javascript, python, node, shell]", ALIAS({CODE_EXECUTION "allowedRuntimes"}), TIGHTEN(SUBSET),
	.help = "runtimes that agents can use"},
    {"agent.maxExecutionTime", GB_SETTING_DURATION, AT(agent.max_execution_ms), "180s", RANGE(100, D),
	ALIAS({CODE_EXECUTION "maxExecutionTime", GB_UNIT_MILLISECONDS}), TIGHTEN(LOWER),
	.help = "maximum time of one execution of an agent, and its default"},
    {"agent.maxOutputSize", GB_SETTING_SIZE, AT(agent.max_output_bytes), "1M", RANGE(KB, 256 * MB),
	ALIAS({CODE_EXECUTION "maxOutputSize"}, {"agent.max_output_size"}), TIGHTEN(LOWER),
	.help = "maximum output of one execution of an agent, and its default; the rest is cut"},
    {"agent.maxCodeSize", GB_SETTING_SIZE, AT(agent.max_code_bytes), "50K", RANGE(KB, 16 * MB),
	ALIAS({"agent.max_code_size"}), TIGHTEN(LOWER),
	.help = "longer code of an agent is refused before it runs"},
    {"agent.maxConcurrentSessions", GB_SETTING_COUNT, AT(agent.max_concurrent_sessions), "5", RANGE(1, 1000),
	ALIAS({CODE_EXECUTION "maxConcurrentSessions"}), TIGHTEN(LOWER), APART,
	.help = "maximum number of sessions of one conversation at the same time"},
    {"agent.maxConcurrentRuns", GB_SETTING_COUNT, AT(agent.max_runs), "32", RANGE(1, 1000), TIGHTEN(LOWER),
	APART,
	.help =
	    "executions of agents at the same time in one process, including those that wait for approval"},
    {"agent.maxConcurrentRunsPerTransport", GB_SETTING_COUNT, AT(agent.max_runs_of_transport), "32",
	RANGE(1, 1000), ALIAS({"agent.maxConcurrentRunsPerFace"}), TIGHTEN(LOWER), APART,
	.help = "the same for one transport: the command line (cli), clients of 'stdio' (sdk) and of 'mcp' "
		"(mcp)"},
    {"agent.maxConcurrentRunsPerConversation", GB_SETTING_COUNT, AT(agent.max_runs_of_conversation), "8",
	RANGE(1, 1000), TIGHTEN(LOWER), APART, .help = "the same for one conversation"},
    {"agent.callsPerTurn", GB_SETTING_COUNT, AT(agent.calls_per_turn), "25", RANGE(1, 10000), TIGHTEN(LOWER),
	APART, .help = "executions in one turn of the model, if the request names its turn"},
    {"agent.persistentSessions", GB_SETTING_BOOL, AT(agent.persistent_sessions), "true",
	ALIAS({CODE_EXECUTION "persistentSessions"}), TIGHTEN(LOWER),
	.help = "whether executions can keep their state in sessions"},

    {"core.callsPerTurn", GB_SETTING_COUNT, AT(core.calls_per_turn), "1", RANGE(1, 100),
	ALIAS({"core.maxCallsPerTurn"}), TIGHTEN(LOWER), APART,
	.help = "core.execute: calls in one turn of the model"},
    {"core.maxTimeout", GB_SETTING_DURATION, AT(core.max_timeout_ms), "5s", RANGE(100, H), TIGHTEN(LOWER),
	.help = "core.execute, isolated tier: a longer timeout is lowered to this"},
    {"core.maxNetworkTimeout", GB_SETTING_DURATION, AT(core.max_network_timeout_ms), "30s", RANGE(100, H),
	TIGHTEN(LOWER), UNAVAILABLE,
	.help = "core.execute, network tier: a longer timeout is lowered to this"},
    {"core.maxResultSize", GB_SETTING_SIZE, AT(core.max_result_bytes), "32K", RANGE(KB, 16 * MB),
	TIGHTEN(LOWER), .help = "core.execute: a longer result is cut"},

    {"executor.timeout", GB_SETTING_DURATION, AT(executor.timeout_ms), "60s", RANGE(100, D),
	ALIAS({"agent.code_timeout", GB_UNIT_MILLISECONDS}), TIGHTEN(LOWER),
	.help = "code with tools: timeout"},
    {"executor.maxToolCalls", GB_SETTING_COUNT, AT(executor.max_tool_calls), "25", RANGE(0, 100000),
	ALIAS({"agent.max_tool_calls_per_exec"}), TIGHTEN(LOWER),
	.help = "code with tools: tool calls in one execution"},
    {"executor.workingDir", GB_SETTING_PATH, AT(executor.working_dir), "", ALIAS({"runtime.working_dir"}),
	.help =
	    "code with tools: the folder that it can read and write if its caller names none; \"\": none"},

    {"actions.enabled", GB_SETTING_BOOL, AT(actions.enabled), "true", TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: false refuses them, whatever the embedding program says"},
    {"actions.timeout", GB_SETTING_DURATION, AT(actions.timeout_ms), "30s", RANGE(1, D),
	ALIAS({"settings.code.default_timeout"}, {"settings.code.timeout_seconds"}), TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: timeout of a call that names none"},
    {"actions.memory", GB_SETTING_SIZE, AT(actions.memory_bytes), "256M", RANGE(MB, 64 * GB),
	ALIAS({"settings.code.max_memory_mb", GB_UNIT_MEGABYTES}), TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: memory of a call that names none"},
    {"actions.output", GB_SETTING_SIZE, AT(actions.output_bytes), "64K", RANGE(KB, 256 * MB),
	ALIAS({"settings.code.max_output_bytes"}), TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: output of a call that names none"},
    {"actions.mode", GB_SETTING_MODE, AT(actions.mode), "restricted", ALIAS({"settings.code.sandbox_mode"}),
	TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: restricted or not; e2b is for the Python package"},
    {"actions.allowNetwork", GB_SETTING_BOOL, AT(actions.allow_network), "false",
	ALIAS({"settings.code.allow_network"}), TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: whether code can reach the hosts in network.allowlist"},
    {"actions.allowFilesystem", GB_SETTING_BOOL, AT(actions.allow_filesystem), "false",
	ALIAS({"settings.code.allow_filesystem"}), TIGHTEN(LOWER),
	.help = "code.execute and code.sandbox: whether code can write files, in its own folder"},
    {"actions.allowedModules", GB_SETTING_MODULES, AT(actions.allowed_modules), "[]",
	ALIAS({"settings.code.allowed_modules"}), TIGHTEN(SUBSET),
	.help = "code.execute and code.sandbox: modules that restricted Python can import, of a call that "
		"names none"},
    {"e2b.apiKey", GB_SETTING_VARIABLE, AT(e2b.key_variable), "${E2B_API_KEY}",
	ALIAS({"secrets.E2B_API_KEY"}), UNAVAILABLE,
	.help = "the environment variable that holds the E2B key; never the key itself"},

    {"approvals.timeout", GB_SETTING_DURATION, AT(approvals.timeout_ms), "5m", RANGE(S, D), TIGHTEN(LOWER),
	APART, .help = "how long an execution waits for a decision; after that it is denied"},
    {"approvals.waive", GB_SETTING_FACES, AT(approvals.waive), "[]", TIGHTEN(SUBSET),
	.help = "interfaces of agents (faces) whose code runs without approval; agent.autoApprove waives "
		"approval for all"},

    {"mcp.trustClientApproval", GB_SETTING_BOOL, AT(mcp.trust_client), "false", TIGHTEN(LOWER),
	.help = "whether an answer that an MCP client gives for its user decides on an execution"},
    {"mcp.heartbeat", GB_SETTING_DURATION, AT(mcp.heartbeat_ms), "15s", RANGE(100, 29 * S), APART,
	.help = "how often a tool call of an MCP client that takes long reports its progress"},

    {"sessions.max", GB_SETTING_COUNT, AT(sessions.max), "64", RANGE(1, 10000), TIGHTEN(LOWER), APART,
	.help = "maximum number of sessions of all conversations at the same time"},
    {"sessions.idleTimeout", GB_SETTING_DURATION, AT(sessions.idle_ms), "30m", RANGE(S, 30 * D),
	TIGHTEN(LOWER), APART, .help = "a session that is not used for this time ends"},
    {"sessions.maxAge", GB_SETTING_DURATION, AT(sessions.max_age_ms), "24h", RANGE(S, 30 * D), TIGHTEN(LOWER),
	APART, .help = "every session ends after this time"},
    {"sessions.queue", GB_SETTING_COUNT, AT(sessions.queue), "16", RANGE(0, 1000), TIGHTEN(LOWER), APART,
	.help = "maximum number of executions that wait for one session"},

    {"service.keepResults", GB_SETTING_COUNT, AT(service.keep_results), "20", RANGE(0, 10000), TIGHTEN(LOWER),
	APART,
	.help = "finished executions that a server keeps, so that other clients can get their results"},
    {"service.keepTime", GB_SETTING_DURATION, AT(service.keep_ms), "1m", RANGE(S, D), TIGHTEN(LOWER), APART,
	.help = "how long it keeps them"},
    {"service.replay", GB_SETTING_SIZE, AT(service.replay_bytes), "256K", RANGE(0, 256 << 20), TIGHTEN(LOWER),
	APART, .help = "output of each execution that is kept for subscribers that come late or read slowly"},

    {"energy.enabled", GB_SETTING_BOOL, AT(energy.enabled), "true", TIGHTEN(HIGHER), APART,
	.help = "whether runs of energy.faces cost energy and are denied without it"},
    {"energy.faces", GB_SETTING_FACES, AT(energy.faces), "[core_execute]", TIGHTEN(ADD), APART,
	.help = "interfaces of agents (faces) whose runs cost energy; execute_code is 'glovebox execute' and "
		"the SDKs' execute"},
    {"energy.initial", GB_SETTING_REAL, AT(energy.initial), "1", RANGE(0, 1000), .at_most = "energy.maximum",
	APART, .help = "energy at the first start"},
    {"energy.maximum", GB_SETTING_REAL, AT(energy.maximum), "1", RANGE(0.01, 1000), APART,
	.help = "maximum energy"},
    {"energy.rechargePerHour", GB_SETTING_REAL, AT(energy.recharge_per_hour), "0.5", RANGE(0, 1000), APART,
	.help = "energy that is regained in one hour"},
    {"energy.costIsolated", GB_SETTING_REAL, AT(energy.cost_isolated), "0.05", RANGE(0, 1000),
	TIGHTEN(HIGHER), APART, .help = "cost of one execution of the isolated tier"},
    {"energy.costNetwork", GB_SETTING_REAL, AT(energy.cost_network), "0.15", RANGE(0, 1000), TIGHTEN(HIGHER),
	APART, .help = "cost of one execution of the network tier"},
    {"energy.gate", GB_SETTING_REAL, AT(energy.gate), "0.15", RANGE(0, 1000), TIGHTEN(HIGHER), APART,
	.help = "with less energy no execution is allowed"},
    {"energy.gateNetwork", GB_SETTING_REAL, AT(energy.gate_network), "0.3", RANGE(0, 1000), TIGHTEN(HIGHER),
	APART, .help = "with less energy only the isolated tier is allowed"},

    {"guard.enabled", GB_SETTING_BOOL, AT(guard.enabled), "true", TIGHTEN(HIGHER),
	.help = "whether code is checked before it runs; the sandbox is the boundary, not this check"},
    {"guard.javascript", GB_SETTING_TEXTS, AT(guard.javascript), "[]", TIGHTEN(ADD),
	.help =
	    "more patterns that JavaScript, Node.js and Deno code must not contain, such as \"process.env\""},
    {"guard.shell", GB_SETTING_TEXTS, AT(guard.shell), "[]", TIGHTEN(ADD),
	.help = "more commands that shell scripts must not call, such as \"curl\""},

    {"secrets.patterns", GB_SETTING_TEXTS, AT(secrets.patterns), "[]",
	.help = "more regular expressions of text that is masked in output"},
    {"secrets.environment", GB_SETTING_VARIABLES, AT(secrets.environment), "[]",
	.help = "environment variables whose values are masked in output"},
    {"secrets.maskRun", GB_SETTING_MASKING, AT(secrets.mask_run), "all", TIGHTEN(LOWER), APART,
	.help = "output of 'run' and of command line sessions: mask all secrets, registered ones, or none"},
    {"secrets.maskStdio", GB_SETTING_MASKING, AT(secrets.mask_stdio), "registered", TIGHTEN(LOWER), APART,
	.help = "the same for runs of clients of 'stdio'; execute is always masked"},

    {"network.allowlist", GB_SETTING_HOSTS, AT(network.allowlist), "[]",
	ALIAS({"sandbox.networkAllowlist"}, {"runtime.allowed_hosts"}), TIGHTEN(SUBSET),
	.help = "hosts that code of the network tier can reach, such as api.example.com, *.example.com, "
		"db.test:5432"},
    {"network.proxy", GB_SETTING_HOST, AT(network.proxy), "",
	.help = "HTTP proxy for all connections of code, as host:port (port 8080 if none is named); \"\": "
		"connect directly"},
    {"network.authorities", GB_SETTING_PATH, AT(network.authorities), "",
	.help = "file of certificates (PEM): authorities that code of the network tier trusts as well"},
    {"network.maxConnections", GB_SETTING_COUNT, AT(network.max_connections), "1000", RANGE(1, 1000000),
	TIGHTEN(LOWER), .help = "connections of one run"},
    {"network.maxSent", GB_SETTING_SIZE, AT(network.sent_bytes), "64M", RANGE(1, 1024 * GB), TIGHTEN(LOWER),
	.help = "bytes that all connections of one run send"},
    {"network.maxReceived", GB_SETTING_SIZE, AT(network.received_bytes), "1G", RANGE(1, 1024 * GB),
	TIGHTEN(LOWER), .help = "bytes that all connections of one run receive"},
    {"network.connectTimeout", GB_SETTING_DURATION, AT(network.connect_ms), "10s", RANGE(1, H),
	TIGHTEN(LOWER), .help = "time to look a name up and to connect"},
    {"network.idleTimeout", GB_SETTING_DURATION, AT(network.idle_ms), "60s", RANGE(1, D), TIGHTEN(LOWER),
	.help = "a connection that transfers nothing for so long is closed"},
    {"network.recordBodies", GB_SETTING_BOOL, AT(network.record_bodies), "false", TIGHTEN(LOWER),
	.help = "record the beginnings of the bodies of requests that are read, masked"},

    {"audit.directory", GB_SETTING_PATH, AT(audit.directory), "", APART,
	.help = "folder of the audit log; \"\" is stateDir"},
    {"audit.maxAge", GB_SETTING_DURATION, AT(audit.max_age_ms), "365d", RANGE(0, 36500 * D), APART,
	.help = "older records are deleted; 0 keeps all"},
    {"audit.maxSize", GB_SETTING_SIZE, AT(audit.max_bytes), "1G", RANGE(0, 1024 * GB), APART,
	.help = "above this size the oldest records are deleted; 0 keeps all"},

    {"programs.shell", GB_SETTING_PATH, AT(programs.shell), "",
	.help = "path of bash; \"\": search the PATH"},
    {"programs.node", GB_SETTING_PATH, AT(programs.node), "",
	.help = "path of Node.js; \"\": search the PATH"},
    {"programs.deno", GB_SETTING_PATH, AT(programs.deno), "", .help = "path of Deno; \"\": search the PATH"},
    {"programs.nodePackages", GB_SETTING_PATH, AT(programs.node_packages), "",
	.help = "folder of packages that node.allowedModules can name; \"\": none"},
    {"node.allowedModules", GB_SETTING_MODULES, AT(node.allowed_modules), "[" GB_CONFIG_NODE_SAFE "]",
	TIGHTEN(SUBSET),
	.help = "modules that Node.js code can import; node:safe: built-in ones such as fs, path and crypto "
		"(NODE.md)"},
    {"python.restricted", GB_SETTING_BOOL, AT(python.restricted), "false", TIGHTEN(HIGHER),
	.help = "Python of agents: reject risky constructs; best effort, not a boundary"},
    {"python.allowedModules", GB_SETTING_MODULES, AT(python.allowed_modules), "[]", TIGHTEN(SUBSET),
	.help = "modules that restricted Python can import"},
    {"python.profiles", GB_SETTING_PROFILES, AT(python.profiles), "{}",
	.help = "profiles: a name, and the modules that are loaded in advance"},
    {"shell.restricted", GB_SETTING_BOOL, AT(shell.restricted), "true", TIGHTEN(HIGHER),
	.help = "shell of agents: reject dangerous commands; best effort, not a boundary"},

    GB_LANGUAGE_SECTION_TABLE(LANGUAGE_LIMITS)};
const size_t gb_settings_count = GB_COUNT(gb_settings);
