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
}

export const LIMITS: readonly (keyof Limits)[] = ['timeoutMs', 'outputBytes', 'resultBytes', 'reportBytes', 'callBytes', 'maxCalls', 'maxCallsInFlight'];

/** The limits of a run of an agent; values above the maxima of the settings are reduced to them. */
export interface AgentLimits {
  /** Maximum duration; a run that exceeds it is interrupted in a session, and terminated otherwise. */
  timeoutMs?: number;
  /** Maximum memory: of the heap, or of all processes where a program runs the code. */
  memoryBytes?: number;
  /** Output and console calls; the rest is cut and `truncated` is set. */
  outputBytes?: number;
  /** The result. */
  resultBytes?: number;
}

export const AGENT_LIMITS: readonly (keyof AgentLimits)[] = ['timeoutMs', 'memoryBytes', 'outputBytes', 'resultBytes'];

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
  { name: 'durationMs', kind: 'ms', optional: false },
  { name: 'memoryUsedBytes', kind: 'count', optional: true },
];
