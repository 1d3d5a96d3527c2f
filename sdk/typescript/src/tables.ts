/* Written by scripts/tables from the tables of the C sources: 'make tables' writes it again. */
import type { CodeExecutionLog } from './handle.js';
import type { RunError } from './run-result.js';

/** The language of code: a name, or an alias such as `'ts'` or `'bash'`. */
export type Language = 'typescript' | 'ts' | 'javascript' | 'js' | 'python' | 'py' | 'python3' | 'shell' | 'sh' | 'bash' | 'node' | 'nodejs' | 'deno';
export const LANGUAGES: readonly Language[] = ['typescript', 'ts', 'javascript', 'js', 'python', 'py', 'python3', 'shell', 'sh', 'bash', 'node', 'nodejs', 'deno'];

/** The codes of errors; docs/PROTOCOL.md has their meanings and remedies. */
export type ErrorCode =
  | 'timeout'
  | 'cpu_limit'
  | 'memory'
  | 'output_limit'
  | 'result_size'
  | 'bridge'
  | 'interrupted'
  | 'terminated'
  | 'awaiting_input'
  | 'crashed'
  | 'no_answer'
  | 'protocol'
  | 'sandbox_lost'
  | 'wall'
  | 'refused'
  | 'exit'
  | 'exit_code'
  | 'signal'
  | 'files'
  | 'restricted'
  | 'no_export'
  | 'not_a_function'
  | 'never_settles'
  | 'module_denied'
  | 'module_not_found'
  | 'require_esm'
  | 'denied'
  | 'disabled'
  | 'runtime_disabled'
  | 'sessions_disabled'
  | 'code_size'
  | 'guard'
  | 'too_many'
  | 'calls_per_turn'
  | 'energy'
  | 'not_approved'
  | 'withdrawn'
  | 'not_awaiting_input'
  | 'audit'
  | 'masking'
  | 'unknown_session'
  | 'malformed'
  | 'too_long'
  | 'unknown_type'
  | 'invalid'
  | 'unknown_run'
  | 'unknown_call'
  | 'not_found'
  | 'spawn_failed'
  | 'connection_lost'
  | 'closed'
  | 'run_ended';

/** The limits of a run; the settings have maxima for some. */
export interface Limits {
  /** Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise. */
  timeoutMs?: number;
  /** Output and console calls; the rest is cut and `truncated` is set. */
  outputBytes?: number;
  /** The result. */
  resultBytes?: number;
  /** All reports together. */
  reportBytes?: number;
  /** The arguments of one call of a host function, or its answer. */
  callBytes?: number;
  /** Calls of host functions in total. */
  maxCalls?: number;
  /** Pending calls of host functions; together they may hold at most four times `callBytes`. */
  maxCallsInFlight?: number;
  /** Network: connections in total. */
  maxConnections?: number;
  /** Network: bytes that all connections together send. */
  sentBytes?: number;
  /** Network: bytes that all connections together receive. */
  receivedBytes?: number;
  /** Network: time to look a name up and to connect. */
  connectMs?: number;
  /** Network: time in which a connection transfers nothing; it is closed then. */
  idleMs?: number;
}

export const LIMITS: readonly (keyof Limits)[] = ['timeoutMs', 'outputBytes', 'resultBytes', 'reportBytes', 'callBytes', 'maxCalls', 'maxCallsInFlight', 'maxConnections', 'sentBytes', 'receivedBytes', 'connectMs', 'idleMs'];

/** The limits of a run of an agent; values above the maxima of the settings are reduced to them. */
export interface AgentLimits {
  /** Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise. */
  timeoutMs?: number;
  /** Maximum memory: of the heap; in shell, Node.js and Deno, of all processes together. */
  memoryBytes?: number;
  /** Output and console calls; the rest is cut and `truncated` is set. */
  outputBytes?: number;
  /** The result. */
  resultBytes?: number;
}

export const AGENT_LIMITS: readonly (keyof AgentLimits)[] = ['timeoutMs', 'memoryBytes', 'outputBytes', 'resultBytes'];

/** A field of a request: its name, and the kind that says how it is checked and written. */
export interface Field {
  name: string;
  kind: 'language' | 'text' | 'input' | 'flag' | 'args' | 'names' | 'variables' | 'imports' | 'sources' | 'files' | 'id' | 'json' | 'session' | 'choice';
  choices?: readonly string[];
}

/** The fields of a run in any language that runCode does not have. */
export interface RunFields {
  /** Python, shell, Node.js, Deno: the standard input of the program. */
  stdin?: string;
  /** Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory. */
  files?: Record<string, string | Uint8Array>;
  /** Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line "size path" each. */
  take?: string[];
  /** Python: `stdlib`, `data` with numpy, pandas and matplotlib loaded, or a profile of the settings. */
  profile?: string;
  /** Python, shell: reject risky constructs; a convenience, not a security boundary. */
  restricted?: boolean;
  /** Python with `restricted`, Node.js: the modules that the code may import; an empty array allows none; default: none in Python, `node:safe` in Node.js. */
  allowedModules?: string[];
  /** The hosts that the code can reach, each `name`, `name:port` or `*.domain`, within the setting `network.allowlist`: see [NETWORK.md](NETWORK.md); default: none. */
  net?: string[];
  /** A directory of this machine, `DIR` to read or `DIR:rw` to read and write: the code has it as `/box`, and no other directory; see [WORKDIR.md](WORKDIR.md); default: none. */
  workdir?: string;
}

/** As a table. */
export const RUN_FIELDS: readonly Field[] = [
  { name: 'stdin', kind: 'input' },
  { name: 'files', kind: 'files' },
  { name: 'take', kind: 'names' },
  { name: 'profile', kind: 'text' },
  { name: 'restricted', kind: 'flag' },
  { name: 'allowedModules', kind: 'names' },
  { name: 'net', kind: 'names' },
  { name: 'workdir', kind: 'text' },
];

/** The same for a run in a session. */
export interface SessionFields {
  /** Python, shell, Node.js, Deno: the standard input of the program. */
  stdin?: string;
  /** Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory. */
  files?: Record<string, string | Uint8Array>;
  /** Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line "size path" each. */
  take?: string[];
  /** Python, shell: reject risky constructs; a convenience, not a security boundary. */
  restricted?: boolean;
  /** Python with `restricted`, Node.js: the modules that the code may import; an empty array allows none; default: none in Python, `node:safe` in Node.js. */
  allowedModules?: string[];
  /** The hosts that the code can reach, each `name`, `name:port` or `*.domain`, within the setting `network.allowlist`: see [NETWORK.md](NETWORK.md); default: none. */
  net?: string[];
  /** In a session: delete all definitions of earlier runs first. */
  reset?: boolean;
}

/** As a table. */
export const SESSION_FIELDS: readonly Field[] = [
  { name: 'stdin', kind: 'input' },
  { name: 'files', kind: 'files' },
  { name: 'take', kind: 'names' },
  { name: 'restricted', kind: 'flag' },
  { name: 'allowedModules', kind: 'names' },
  { name: 'net', kind: 'names' },
  { name: 'reset', kind: 'flag' },
];

/** The fields of an agent's request, beside its source and limits. */
export interface AgentFields {
  /** A language or alias of the table of docs/PROTOCOL.md; default: `typescript`. */
  language?: Language;
  /** The arguments of the function, or a script's parameters; those of an agent must not contain functions or promises. */
  args?: unknown[];
  /** Python, shell, Node.js, Deno: path to text or bytes; created in the program's working directory. */
  files?: Record<string, string | Uint8Array>;
  /** Python, shell, Node.js, Deno: paths in the working directory of files that `files` of the result contains even if the code did not change them; `.` is a list of all files, one line "size path" each. */
  take?: string[];
  /** Python, shell: reject risky constructs; a convenience, not a security boundary. */
  restricted?: boolean;
  /** The conversation of the request: sessions, trust and limits belong to a conversation. */
  conversation?: string;
  /** `true`: run in the conversation's session of this language, which is opened when the code runs if there is none; or the id of one of its sessions; default: run without a session. */
  session?: boolean | string;
  /** The turn of the model: the settings limit the executions per turn (`agent.callsPerTurn`). */
  turn?: string;
  /** The agent's reason: shown with the request for approval, and recorded. */
  purpose?: string;
  /** The output that the agent expects: recorded. */
  expectedOutput?: string;
  /** The origin of the request, any value: recorded. */
  trace?: unknown;
  /** `isolated` is the default; with `network`, the code can reach the hosts in the setting `network.allowlist`, see [NETWORK.md](NETWORK.md). */
  tier?: 'isolated' | 'network';
  /** The behaviour when code in a session waits for input; `end`, the default: the run ends at once, as `terminated` with the code `awaiting_input` and the prompt in the message; `wait`: it continues to wait, for an `input`. */
  onInput?: 'end' | 'wait';
}

/** As a table. */
export const AGENT_FIELDS: readonly Field[] = [
  { name: 'language', kind: 'language' },
  { name: 'args', kind: 'args' },
  { name: 'files', kind: 'files' },
  { name: 'take', kind: 'names' },
  { name: 'restricted', kind: 'flag' },
  { name: 'conversation', kind: 'id' },
  { name: 'session', kind: 'session' },
  { name: 'turn', kind: 'id' },
  { name: 'purpose', kind: 'text' },
  { name: 'expectedOutput', kind: 'text' },
  { name: 'trace', kind: 'json' },
  { name: 'tier', kind: 'choice', choices: ['isolated', 'network'] },
  { name: 'onInput', kind: 'choice', choices: ['end', 'wait'] },
];

/** The fields of an agent's input, beside its text. */
export interface InputFields {
  /** The conversation of the request: sessions, trust and limits belong to a conversation. */
  conversation: string;
  /** The id of the session that waits for input. */
  session: string;
  /** The turn of the model: the settings limit the executions per turn (`agent.callsPerTurn`). */
  turn?: string;
  /** The agent's reason: shown with the request for approval, and recorded. */
  purpose?: string;
}

/** As a table. */
export const INPUT_FIELDS: readonly Field[] = [
  { name: 'conversation', kind: 'id' },
  { name: 'session', kind: 'session' },
  { name: 'turn', kind: 'id' },
  { name: 'purpose', kind: 'text' },
];

/** The result of all calls except runCode, with all fields. */
export interface RunResult {
  /** The run's unique id, for audit logs; empty if the code was not run. */
  runId?: string;
  /** How the run ended; `denied`: the code was not run, and `error.code` says why. */
  status: 'success' | 'error' | 'memory' | 'terminated' | 'link_error' | 'denied';
  /** The value of a successful run, unless it is undefined. */
  result?: unknown;
  /** The values given to `report()`, in order. */
  reports: unknown[];
  /** The calls of `console`, in order, unless the caller's globals have a `console`. */
  logs: CodeExecutionLog[];
  /** The program's displays, such as figures: each maps media types to text or bytes. */
  displays?: Record<string, string | Uint8Array>[];
  /** The files that the program created or changed in its working directory, by path. */
  files?: Record<string, Uint8Array>;
  /** The program's standard output. */
  stdout: string;
  /** The program's standard error. */
  stderr: string;
  /** 0 on success, otherwise 1 or the program's own exit status. */
  exitCode: number;
  /** Whether the run exceeded its time limit. */
  timedOut: boolean;
  /** Whether output was cut because it exceeded its limit. */
  truncated: boolean;
  /** The error, unless `status` is `success`. */
  error?: RunError;
  /** What was refused to the code: an array of `{kind, host, port, rule, reason, remedy}`, see [NETWORK.md](NETWORK.md#denials); `kind` is `network`, `module` or `memory`, and only the first has `host` and `port`. */
  denials?: unknown;
  /** The attempts of the code to reach hosts: `{list, dropped}`, see [NETWORK.md](NETWORK.md). */
  connections?: unknown;
  /** Milliseconds from the request to the result. */
  durationMs: number;
  /** Peak memory, of the heap or of all processes; absent if unknown, as for a terminated run. */
  memoryUsedBytes?: number;
}

export type ResultKind = 'id' | 'value' | 'values' | 'displays' | 'files' | 'logs' | 'output' | 'text' | 'flag' | 'integer' | 'count' | 'ms' | 'error' | 'status';
export const RESULT_FIELDS: readonly { name: keyof RunResult; kind: ResultKind; optional: boolean }[] = [
  { name: 'runId', kind: 'id', optional: false },
  { name: 'status', kind: 'status', optional: false },
  { name: 'result', kind: 'value', optional: true },
  { name: 'reports', kind: 'values', optional: false },
  { name: 'logs', kind: 'logs', optional: false },
  { name: 'displays', kind: 'displays', optional: true },
  { name: 'files', kind: 'files', optional: true },
  { name: 'stdout', kind: 'output', optional: false },
  { name: 'stderr', kind: 'output', optional: false },
  { name: 'exitCode', kind: 'integer', optional: false },
  { name: 'timedOut', kind: 'flag', optional: false },
  { name: 'truncated', kind: 'flag', optional: false },
  { name: 'error', kind: 'error', optional: true },
  { name: 'denials', kind: 'value', optional: true },
  { name: 'connections', kind: 'value', optional: true },
  { name: 'durationMs', kind: 'ms', optional: false },
  { name: 'memoryUsedBytes', kind: 'count', optional: true },
];
