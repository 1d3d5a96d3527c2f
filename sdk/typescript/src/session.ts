/* Sessions: the handle, and the state that the server reports. */
import type { SessionExecuteOptions } from './options.js';
import type { RunExecution } from './run-result.js';

/** The state of a session at the time of the reply. */
export interface SessionInfo {
  /** 128 random bits, in hexadecimal. */
  id: string;
  name: string;
  conversationId: string;
  runtime: string;
  profile?: string;
  /** The hosts that its runs can reach, separated by commas. */
  net?: string;
  /** The directory that its runs have as `/box`, with `:rw` if they can write there. */
  workdir?: string;
  /** Ports on 127.0.0.1 of the host that lead to ports inside it. */
  exposed?: { port: number; on?: number; path?: string }[];
  state: 'idle' | 'executing' | 'awaiting_input' | 'terminated';
  /** Milliseconds since 1970. */
  createdAt: number;
  /** When a run last started or ended; for a terminated session, when it was terminated. */
  lastUsedAt: number;
  /** Runs that have started executing. */
  executionCount: number;
  /** The sum of the tokens added by `update`. */
  totalTokens: number;
  /** Runs in the queue. */
  queued: number;
  trusted: boolean;
  /** Why it was terminated. */
  reason?: string;
  /** The prompt, while it awaits input. */
  prompt?: string;
}

/** A run in a session: await it for its result. */
export interface SessionExecution extends RunExecution {
  /** Asks the code to stop, as Ctrl-C does; the session continues. A queued run is removed. */
  interrupt(): void;
}

/** A sandbox that outlives a run: definitions of a run are visible to later runs. */
export interface Session {
  readonly id: string;
  readonly name: string;
  /**
   * Runs `source` in this session, after all earlier runs. The value of its last expression is the result. Throws a
   * TypeError if the options are invalid, and a SerializationError if they contain a value that cannot be serialized.
   */
  execute(source: string, options?: SessionExecuteOptions): SessionExecution;
  /** The current state; available for a while after the session has ended. */
  info(): Promise<SessionInfo>;
  /**
   * Listens on 127.0.0.1 of the host, on the port `on` or a free one (see `exposed`), and connects to a server that
   * listens on `port` inside the session. If `on` is an absolute path, it makes a unix socket there instead. Rejects if
   * the session was opened without `net`.
   */
  expose(port: number, on?: number | string): Promise<SessionInfo>;
  /** Asks the running code to stop. Rejects if no run executes. */
  interrupt(): Promise<SessionInfo>;
  /** Sends input to the run that executes. Rejects in languages that take no input while they run. */
  send(text: string): Promise<SessionInfo>;
  /** Sets whether the session is trusted, or adds tokens that its code has cost. */
  update(notes: { trusted?: boolean; addTokens?: number }): Promise<SessionInfo>;
  /** Ends the session, with its runs. */
  kill(reason?: string): Promise<SessionInfo>;
}
