/* What the calls other than runCode return: a handle of the run, which resolves to a RunResult. */
import type { CodeExecutionError } from './handle.js';
import type { RunResult } from './tables.js';

export type { RunResult } from './tables.js';

/** The handle of a run. Await it to get the result. */
export interface RunExecution extends PromiseLike<RunResult> {
  /** Ends the run at once: see {@link CodeExecution.terminate}. */
  terminate(reason?: string): void;
  /** True until there is a result. */
  readonly running: boolean;
  /** The values given to `report` so far. Live: it grows while the code runs. */
  readonly reports: readonly unknown[];
}

export interface RunError extends CodeExecutionError {
  /** A stable name, for programs, of the limit or rule that ended the run. */
  code?: string;
}
