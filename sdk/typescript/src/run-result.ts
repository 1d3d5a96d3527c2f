/* What every call but runCode gives: a run in any language, with all that is known about it. */
import type { CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from './handle.js';

/** A run: await it for its result. */
export interface RunExecution extends PromiseLike<RunResult> {
  /** Ends the run at once: see {@link CodeExecution.terminate}. */
  terminate(reason?: string): void;
  /** Until there is a result. */
  readonly running: boolean;
  /** What has been given to `report` so far. Live: it grows while the code runs. */
  readonly reports: readonly unknown[];
}

export interface RunResult {
  /** `'denied'`: the code was not run at all, and `error.code` says why. */
  status: CodeExecutionResult['status'] | 'denied';
  /** The value, on success. */
  result?: unknown;
  reports: unknown[];
  /** What was given to `console`, unless there was one in `globals`. */
  logs: CodeExecutionLog[];
  /** Unless the status is `'success'`. */
  error?: RunError;
  /** From the call to this result. */
  durationMs: number;
  /** The peak, of the heap or of all processes. Absent where that is unknown, as of a run that was terminated. */
  memoryUsedBytes?: number;
  /** What the program wrote. */
  stdout: string;
  stderr: string;
  exitCode: number;
  /** What it has shown, such as figures: of each its media types, with text or bytes. Only if there is any. */
  displays?: Record<string, string | Uint8Array>[];
  /** What it has made or changed in the folder that it runs in, by path. Only if there is any. */
  files?: Record<string, Uint8Array>;
  /** It took longer than it may. */
  timedOut: boolean;
  /** More was logged or written than the limit lets through. */
  truncated: boolean;
  /** For audit logs: no other run has it. Absent if it was not run at all. */
  runId?: string;
}

export interface RunError extends CodeExecutionError {
  /** Which limit or rule it was, for programs. */
  code?: string;
}
