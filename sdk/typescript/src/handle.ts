/* What a caller of runCode holds while a run lives, and gets when it has ended. */

/** A run: await it for its result. */
export interface CodeExecution extends PromiseLike<CodeExecutionResult> {
  /**
   * Ends the run at once, with the status `'terminated'` and `reason` as its error's message: the first 4,095 bytes of
   * it, with U+FFFD in place of U+0000. Again: no effect.
   */
  terminate(reason?: string): void;
  /** Until there is a result. */
  readonly running: boolean;
  /** What has been given to `report` so far. Live: it grows while the code runs. */
  readonly reports: readonly unknown[];
}

export interface CodeExecutionResult {
  status: 'success' | 'error' | 'memory' | 'terminated' | 'link_error';
  /** The selected export, if it was a function what it returned, promises awaited. Only on success. */
  result?: unknown;
  reports: unknown[];
  /** What was given to `console`, unless there was one in `globals`. */
  logs: CodeExecutionLog[];
  /** Unless the status is `'success'`. */
  error?: CodeExecutionError;
  /** From the call of `runCode` to this result. */
  durationMs: number;
  /** The highest that the sandbox's heap has been. Absent where that is unknown, as of a run that was terminated. */
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
  /** The sandbox's own. */
  stack?: string;
  /** The module specifier that could not be linked. */
  specifier?: string;
  filename?: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
}
