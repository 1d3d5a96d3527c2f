import type { AgentExecution } from './agent.js';
import { Connection } from './connection.js';
import { GloveboxError } from './errors.js';
import { encodeAgentInput, encodeAgentRun, encodeAnyRun, encodeRun } from './encode-options.js';
import { checkAgentInput, checkAgentRun, checkAnyRun, checkClient, checkRun, checkSession, checkText } from './options.js';
import type {
  AgentExecuteOptions,
  AgentInputOptions,
  CodeExecutionOptions,
  GloveboxOptions,
  RunOptions,
  SessionOptions,
} from './options.js';
import { OpenSession } from './open-session.js';
import type { Session, SessionInfo } from './session.js';
import { reasonField, type JsonObject } from './protocol.js';
import { Run } from './run.js';
import type { RunExecution } from './run-result.js';
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
    const run = new Run({ report: options.report });
    this.#start(run, 'run', encodeRun(source, options, this.#options.limits, run.bridge));
    return run.codeExecution();
  }

  /**
   * Runs `source`, which may be in any language, in a fresh sandbox, and gives all that is known about it: what it
   * wrote, its exit code, its files. Throws and rejects as `runCode` does; a run that was denied is a result.
   */
  run(source: string, options: RunOptions = {}): RunExecution {
    checkAnyRun(source, options);
    const run = new Run({ report: options.report, onOutput: options.onOutput });
    return this.#start(run, 'run', encodeAnyRun(source, options, this.#options.limits, run.bridge));
  }

  /** Opens a session, which lives until it is killed, this Glovebox is closed, or nobody has used it for long. */
  async openSession(options: SessionOptions = {}): Promise<Session> {
    checkSession(options);
    const connection = this.#connect();
    const reply = await connection.ask('session_open', { ...(options as JsonObject) });
    return new OpenSession(connection, reply.session as unknown as SessionInfo, this.#options.limits);
  }

  /**
   * From now on `value` is masked in all that runs say: theirs of `runCode`, of sessions, and of agents; in whatever
   * spelling (base64, hexadecimal, in an address or in JSON). It is kept in memory, until this Glovebox is closed.
   */
  async addSecret(name: string, value: string): Promise<void> {
    checkText(name, 'name');
    checkText(value, 'value');
    await this.#connect().ask('secret_add', { name, value });
  }

  /** The sessions that live, and those that have ended lately; of one conversation, or all. */
  async sessions(conversation?: string): Promise<SessionInfo[]> {
    const reply = await this.#connect().ask('session_list', conversation === undefined ? {} : { conversation });
    return reply.sessions as unknown as SessionInfo[];
  }

  /** Ends all sessions of a conversation, and tells how many there were. */
  async cleanup(conversation: string, reason?: string): Promise<number> {
    const fields = { conversation, ...reasonField(reason) };
    return (await this.#connect().ask('session_cleanup', fields)).count as number;
  }

  /**
   * Runs `source` because an agent wants that: if the settings let agents run code, when a person has approved it or
   * the settings say that nobody needs to, with secrets masked, and recorded. `runCode` is for code of your own.
   *
   * Throws a TypeError if the options are wrong, and a SerializationError if `args` hold what cannot be handed in. The
   * handle rejects with a GloveboxError if the request could not be made; that it is refused is a result.
   */
  executeForAgent(source: string, options: AgentExecuteOptions = {}): AgentExecution {
    checkAgentRun(source, options);
    const message = encodeAgentRun(source, options, this.#options.limits);
    return this.#start(new Run(options), 'execute', message) as unknown as AgentExecution;
  }

  /**
   * Types `text`, newline included, for a run of an agent's that waits for input: one that was executed with
   * `onInput: 'wait'`, in the session that `onPrompt` has told. It is approved, masked and recorded as code is, with the
   * prompt that it answers; its result is a `'success'` when it was typed.
   */
  inputForAgent(text: string, options: AgentInputOptions): AgentExecution {
    checkAgentInput(text, options);
    return this.#start(new Run(options), 'input', encodeAgentInput(text, options)) as unknown as AgentExecution;
  }

  /**
   * Whether the settings let agents run code at all, as they were when the connection was made. If they have changed
   * since, only a request shows it.
   */
  async agentsEnabled(): Promise<boolean> {
    return (await this.#connect().hello()).agent === true;
  }

  /** The sessions of agents, as `sessions` has those of your own. Rejects if agents may not run code. */
  async agentSessions(conversation?: string): Promise<SessionInfo[]> {
    if (conversation !== undefined) checkText(conversation, 'conversation');
    const fields = { agent: true, ...(conversation !== undefined && { conversation }) };
    return (await this.#connect().ask('session_list', fields)).sessions as unknown as SessionInfo[];
  }

  /** Ends a session of an agent's, and whatever it does. */
  async killAgentSession(session: string, reason?: string): Promise<SessionInfo> {
    checkText(session, 'session');
    const fields = { agent: true, session, ...reasonField(reason) };
    return (await this.#connect().ask('session_kill', fields)).session as unknown as SessionInfo;
  }

  /** Ends all sessions that agents have in a conversation, and tells how many there were. */
  async cleanupAgentSessions(conversation: string, reason?: string): Promise<number> {
    checkText(conversation, 'conversation');
    const fields = { agent: true, conversation, ...reasonField(reason) };
    return (await this.#connect().ask('session_cleanup', fields)).count as number;
  }

  /** Ends all runs and the process. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#connection?.close(closed());
  }

  #start(run: Run, type: 'run' | 'execute' | 'input', message: JsonObject): RunExecution {
    try {
      this.#connect().start(run, type, message);
    } catch (error) {
      run.fail(error as GloveboxError);
    }
    return run.handle;
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
