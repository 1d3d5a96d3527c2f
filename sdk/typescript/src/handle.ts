/* The handle and the result of runCode. */

/** A run: await it for its result. */
export interface CodeExecution extends PromiseLike<CodeExecutionResult> {
  /**
   * Ends the run at once, with the status `'terminated'` and `reason` as the error message: its first 4,095 bytes, with
   * U+FFFD in place of U+0000. Further calls have no effect.
   */
  terminate(reason?: string): void;
  /** True until there is a result. */
  readonly running: boolean;
  /** The values given to `report` so far. Live: it grows while the code runs. */
  readonly reports: readonly unknown[];
}

export interface CodeExecutionResult {
  status: 'success' | 'error' | 'memory' | 'terminated' | 'link_error';
  /** The selected export, or its return value if it is a function; promises are awaited. Only on success. */
  result?: unknown;
  reports: unknown[];
  /** The calls of `console`, unless `globals` has a `console`. */
  logs: CodeExecutionLog[];
  /** Present unless the status is `'success'`. */
  error?: CodeExecutionError;
  /** From the call of `runCode` to this result. */
  durationMs: number;
  /** The peak size of the sandbox's heap. Absent if unknown, as for a terminated run. */
  memoryUsedBytes?: number;
}

export interface CodeExecutionLog {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  args: unknown[];
  timestamp: number;
}

export interface CodeExecutionError {
  name: string;
  message: string;
  /** The stack in the sandbox. */
  stack?: string;
  /** The module specifier that could not be linked. */
  specifier?: string;
  filename?: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
}
