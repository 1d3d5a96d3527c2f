/* What a caller holds of a session, and hears about it. */
import type { SessionExecuteOptions } from './options.js';
import type { RunExecution } from './run-result.js';

/** A session as it was when it was asked for. */
export interface SessionInfo {
  /** 128 random bits, in hexadecimal. */
  id: string;
  name: string;
  conversationId: string;
  runtime: string;
  profile?: string;
  state: 'idle' | 'executing' | 'awaiting_input' | 'terminated';
  /** Milliseconds since 1970. */
  createdAt: number;
  /** When it last began or ended a run; once it is terminated, when that was. */
  lastUsedAt: number;
  /** Runs that have begun. */
  executionCount: number;
  /** What was added by `update`. */
  totalTokens: number;
  /** Runs that wait. */
  queued: number;
  trusted: boolean;
  /** Why it is terminated. */
  reason?: string;
  /** What it asks for while it awaits input. */
  prompt?: string;
}

/** A run in a session: await it for its result. */
export interface SessionExecution extends RunExecution {
  /** Asks the code to stop, as Ctrl-C does; the session stays. A run that has not begun is withdrawn. */
  interrupt(): void;
}

/** A sandbox that remembers: what one run defines, the next one finds. */
export interface Session {
  readonly id: string;
  readonly name: string;
  /**
   * Runs `source` in this session, after those before it. The value of its last expression is the result. Throws a
   * TypeError if the options are wrong, and a SerializationError if they hold what cannot be handed in.
   */
  execute(source: string, options?: SessionExecuteOptions): SessionExecution;
  /** How it is now; also once it has ended, for a while. */
  info(): Promise<SessionInfo>;
  /** Asks what executes to stop. Rejects if nothing does. */
  interrupt(): Promise<SessionInfo>;
  /** Input for what executes and awaits some. Rejects in languages that take none while they run. */
  send(text: string): Promise<SessionInfo>;
  /** Notes that it is trusted, or tokens that its code has cost. */
  update(notes: { trusted?: boolean; addTokens?: number }): Promise<SessionInfo>;
  /** Ends it, and whatever it does. */
  kill(reason?: string): Promise<SessionInfo>;
}
