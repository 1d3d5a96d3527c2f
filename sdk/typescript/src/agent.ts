/* What a caller holds while an agent's request lives, and gets when it has ended. */
import type { RunResult } from './run-result.js';

/** A run that an agent wants: await it for its result. */
export interface AgentExecution extends PromiseLike<AgentResult> {
  /**
   * Withdraws it while it waits for a person; ends it once it runs, or only interrupts it if it is in a session, which
   * stays. Again: no effect.
   */
  terminate(reason?: string): void;
  /** Until there is a result. */
  readonly running: boolean;
}

/**
 * Also what is refused has one: its status is `'denied'`, and its `error.code` the rule. Secrets in it are masked. The
 * time that a person took to decide is part of `durationMs`.
 */
export interface AgentResult extends RunResult {
  /** The id of the session that it ran in, if it did. */
  session?: string;
}

/** A person is asked. */
export interface AgentPending {
  /** Which approval it waits for: `glovebox approvals show` names it so. */
  approval: string;
  /** Nobody having decided until then is a denial. */
  expiresAt: Date;
}
