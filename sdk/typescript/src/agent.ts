/* The handle and the result of an agent's request. */
import type { RunResult } from './run-result.js';

/** A run that an agent has requested: await it for its result. */
export interface AgentExecution extends PromiseLike<AgentResult> {
  /**
   * Withdraws a request that waits for approval; terminates a running one, or interrupts it if it runs in a session,
   * which continues. Further calls have no effect.
   */
  terminate(reason?: string): void;
  /** True until there is a result. */
  readonly running: boolean;
}

/**
 * A refused request has a result too: its status is `'denied'`, and its `error.code` names the rule. Secrets in it are
 * masked. `durationMs` includes the time until the approval.
 */
export interface AgentResult extends RunResult {
  /** The id of the session that it ran in, if any. */
  session?: string;
}

/** A request that waits for approval. */
export interface AgentPending {
  /** The id of the approval, as in `glovebox approvals show`. */
  approval: string;
  /** The request is denied if it has not been decided by then. */
  expiresAt: Date;
}
