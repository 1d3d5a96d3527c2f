import { Connection } from './connection.js';
import { GloveboxError } from './errors.js';
import { checkClient, checkRun, checkSession, encodeRun } from './options.js';
import type { CodeExecutionOptions, GloveboxOptions, SessionOptions } from './options.js';
import { OpenSession } from './open-session.js';
import type { Session, SessionInfo } from './session.js';
import type { JsonObject } from './protocol.js';
import { Run } from './run.js';
import type { CodeExecution } from './handle.js';

/** A Glovebox of one's own. The first run starts it; a program that waits for no run may end without closing it. */
export class Glovebox {
  readonly #options: GloveboxOptions;
  #connection: Connection | undefined;
  #closed = false;

  constructor(options: GloveboxOptions = {}) {
    checkClient(options);
    this.#options = { ...options };
  }

  /**
   * Runs `source` as an ES module in a fresh sandbox.
   *
   * Throws a TypeError if the options are wrong, and a SerializationError if they hold what cannot be handed in. The
   * handle rejects with a GloveboxError if the run could not take place; however the code itself ends is a result.
   */
  runCode(source: string, options: CodeExecutionOptions = {}): CodeExecution {
    checkRun(source, options);
    const run = new Run(options.report);
    const message = encodeRun(source, options, this.#options.limits, run.bridge);
    try {
      this.#connect().start(run, message);
    } catch (error) {
      run.fail(error as GloveboxError);
    }
    return run.handle;
  }

  /** Opens a session, which lives until it is killed, this Glovebox is closed, or nobody has used it for long. */
  async openSession(options: SessionOptions = {}): Promise<Session> {
    checkSession(options);
    const connection = this.#connect();
    const reply = await connection.ask('session_open', { ...(options as JsonObject) });
    return new OpenSession(connection, reply.session as unknown as SessionInfo, this.#options.limits);
  }

  /** The sessions that live, and those that have ended lately; of one conversation, or all. */
  async sessions(conversation?: string): Promise<SessionInfo[]> {
    const reply = await this.#connect().ask('session_list', conversation === undefined ? {} : { conversation });
    return reply.sessions as unknown as SessionInfo[];
  }

  /** Ends all sessions of a conversation, and tells how many there were. */
  async cleanup(conversation: string, reason?: string): Promise<number> {
    const fields = { conversation, ...(reason !== undefined && { reason }) };
    return (await this.#connect().ask('session_cleanup', fields)).count as number;
  }

  /** Ends all runs and the process. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#connection?.close(closed());
  }

  #connect(): Connection {
    if (this.#closed) throw closed();
    if (!this.#connection?.usable) this.#connection = new Connection(this.#options);
    return this.#connection;
  }
}

function closed(): GloveboxError {
  return new GloveboxError('closed', 'this Glovebox has been closed');
}
