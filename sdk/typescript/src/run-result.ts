/* What every call but runCode gives: a run in any language, with all that is known about it. */
import type { CodeExecutionError } from './handle.js';
import type { RunResult } from './tables.js';

export type { RunResult } from './tables.js';

/** A run: await it for its result. */
export interface RunExecution extends PromiseLike<RunResult> {
  /** Ends the run at once: see {@link CodeExecution.terminate}. */
  terminate(reason?: string): void;
  /** Until there is a result. */
  readonly running: boolean;
  /** What has been given to `report` so far. Live: it grows while the code runs. */
  readonly reports: readonly unknown[];
}

export interface RunError extends CodeExecutionError {
  /** Which limit or rule it was, for programs. */
  code?: string;
}
