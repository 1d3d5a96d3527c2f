/* The handle and the result of all calls except runCode: a run in any language, with all fields. */
import type { CodeExecutionError } from './handle.js';
import type { RunResult } from './tables.js';

export type { RunResult } from './tables.js';

/** A run: await it for its result. */
export interface RunExecution extends PromiseLike<RunResult> {
  /** Ends the run at once: see {@link CodeExecution.terminate}. */
  terminate(reason?: string): void;
  /** True until there is a result. */
  readonly running: boolean;
  /** The values given to `report` so far. Live: it grows while the code runs. */
  readonly reports: readonly unknown[];
}

export interface RunError extends CodeExecutionError {
  /** The limit or rule that ended the run, for programs. */
  code?: string;
}
