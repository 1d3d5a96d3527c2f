import type { Connection } from './connection.js';
import type { GloveboxError } from './errors.js';
import { encodeExecution } from './encode-options.js';
import { checkExecute } from './options.js';
import type { Limits, SessionExecuteOptions } from './options.js';
import { reasonField, type JsonObject } from './protocol.js';
import { Run } from './run.js';
import type { Session, SessionExecution, SessionInfo } from './session.js';

/** The client's view of a session: each method sends a message. */
export class OpenSession implements Session {
  readonly id: string;
  readonly name: string;
  readonly #connection: Connection;
  readonly #limits: Limits | undefined;

  constructor(connection: Connection, info: SessionInfo, limits: Limits | undefined) {
    this.#connection = connection;
    this.#limits = limits;
    this.id = info.id;
    this.name = info.name;
  }

  execute(source: string, options: SessionExecuteOptions = {}): SessionExecution {
    checkExecute(source, options);
    const run = new Run(options);
    const message = encodeExecution(source, this.id, options, this.#limits, run.bridge);
    try {
      this.#connection.start(run, 'run', message);
    } catch (error) {
      run.fail(error as GloveboxError);
    }
    return run.handle;
  }

  async info(): Promise<SessionInfo> {
    return this.#ask('session_get');
  }

  async expose(port: number, on?: number | string): Promise<SessionInfo> {
    return this.#ask('session_expose', { port, ...(on !== undefined && (typeof on === 'string' ? { path: on } : { on })) });
  }

  async interrupt(): Promise<SessionInfo> {
    return this.#ask('session_interrupt');
  }

  async send(text: string): Promise<SessionInfo> {
    return this.#ask('session_send', { text: String(text) });
  }

  async update({ trusted, addTokens }: { trusted?: boolean; addTokens?: number }): Promise<SessionInfo> {
    return this.#ask('session_update', {
      ...(trusted !== undefined && { trusted }),
      ...(addTokens !== undefined && { addTokens }),
    });
  }

  async kill(reason?: string): Promise<SessionInfo> {
    return this.#ask('session_kill', reasonField(reason));
  }

  async #ask(type: string, fields: JsonObject = {}): Promise<SessionInfo> {
    const reply = await this.#connection.ask(type, { session: this.id, ...fields });
    return reply.session as unknown as SessionInfo;
  }
}
