import type { AgentExecution, AgentPending } from './agent.js';
import { Connection } from './connection.js';
import { GloveboxError, messageOf } from './errors.js';
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
import type { CoreExecuteArguments, ToolOutput } from './tool.js';
import { ToolCall } from './tool-call.js';
import { ExecutorCall } from './executor-call.js';
import type { ExecutionResult, ExecutorHost, ExecutorRequest } from './executor-types.js';

/** A connection to a `glovebox` process, started by the first run. It does not keep an idle program alive. */
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
   * Throws a TypeError if the options are invalid, and a SerializationError if they contain a value that cannot be
   * serialized. The handle rejects with a GloveboxError if the code was not run; an error of the code is a result.
   */
  runCode(source: string, options: CodeExecutionOptions = {}): CodeExecution {
    checkRun(source, options);
    const run = new Run({ report: options.report });
    this.#start(run, 'run', encodeRun(source, options, this.#options.limits, run.bridge));
    return run.codeExecution();
  }

  /**
   * Runs `source`, in any language, in a fresh sandbox. The result has all fields, such as output, exit code and files.
   * Throws and rejects like `runCode`; a denied run is a result.
   */
  run(source: string, options: RunOptions = {}): RunExecution {
    checkAnyRun(source, options);
    const run = new Run({ report: options.report, onOutput: options.onOutput });
    return this.#start(run, 'run', encodeAnyRun(source, options, this.#options.limits, run.bridge));
  }

  /** Opens a session, which lives until it is killed, is idle for too long, or this Glovebox is closed. */
  async openSession(options: SessionOptions = {}): Promise<Session> {
    checkSession(options);
    const connection = this.#connect();
    const reply = await connection.ask('session_open', { ...(options as JsonObject) });
    return new OpenSession(connection, reply.session as unknown as SessionInfo, this.#options.limits);
  }

  /**
   * Masks `value` from now on in all output and results of runs, sessions and agents, also in encoded form (base64,
   * hexadecimal, percent-encoded, in JSON). It is kept in memory until this Glovebox is closed.
   */
  async addSecret(name: string, value: string): Promise<void> {
    checkText(name, 'name');
    checkText(value, 'value');
    await this.#connect().ask('secret_add', { name, value });
  }

  /** Live and recently ended sessions, of one conversation or of all. */
  async sessions(conversation?: string): Promise<SessionInfo[]> {
    const reply = await this.#connect().ask('session_list', conversation === undefined ? {} : { conversation });
    return reply.sessions as unknown as SessionInfo[];
  }

  /** Ends all sessions of a conversation, and resolves with their number. */
  async cleanup(conversation: string, reason?: string): Promise<number> {
    const fields = { conversation, ...reasonField(reason) };
    return (await this.#connect().ask('session_cleanup', fields)).count as number;
  }

  /**
   * Runs `source` for an agent: only if the settings let agents run code, after approval unless the settings waive it,
   * with secrets masked, and recorded in the audit log. `runCode` is for code of the calling program.
   *
   * Throws a TypeError if the options are invalid, and a SerializationError if `args` contain a value that cannot be
   * serialized. The handle rejects with a GloveboxError if the request could not be made; a refusal is a result.
   */
  executeForAgent(source: string, options: AgentExecuteOptions = {}): AgentExecution {
    checkAgentRun(source, options);
    const message = encodeAgentRun(source, options, this.#options.limits);
    return this.#start(new Run(options), 'execute', message) as unknown as AgentExecution;
  }

  /**
   * Sends `text`, newline included, to an agent's run that waits for input: a run with `onInput: 'wait'`, in the
   * session that `onPrompt` was called with. It is approved, masked and recorded like code, together with the prompt.
   * The status of its result is `'success'` if the text was sent.
   */
  inputForAgent(text: string, options: AgentInputOptions): AgentExecution {
    checkAgentInput(text, options);
    return this.#start(new Run(options), 'input', encodeAgentInput(text, options)) as unknown as AgentExecution;
  }

  /**
   * Calls the tool `core.execute` for an agent: docs/CORE_EXECUTE.md. Never rejects: `output` is the JSON text of the
   * value, or says why there is none. `onPending` is called when the request waits for approval.
   */
  async coreExecute(
    args: CoreExecuteArguments,
    options: { onPending?: (pending: AgentPending) => void } = {},
  ): Promise<ToolOutput> {
    try {
      const call = new ToolCall(options.onPending);
      this.#connect().start(call, 'tool', { name: 'core.execute', arguments: { ...args } as unknown as JsonObject });
      return await call.output;
    } catch (error) {
      return { output: `EXECUTION_ERROR: ${messageOf(error)}` };
    }
  }

  /**
   * Executes code that calls tools of this program; {@link createExecutor} is the usual way to it. Rejects if the
   * request could not be made.
   */
  async executeWithTools(request: ExecutorRequest, host: ExecutorHost): Promise<ExecutionResult> {
    const call = new ExecutorCall(host);
    this.#connect().start(call, 'executor', { ...request } as unknown as JsonObject);
    return call.result;
  }

  /**
   * Whether the settings let agents run code, according to the settings at the time of the connection. Later changes
   * only show in the results of requests.
   */
  async agentsEnabled(): Promise<boolean> {
    return (await this.#connect().hello()).agent === true;
  }

  /** Like `sessions`, for the sessions of agents. Rejects if agents may not run code. */
  async agentSessions(conversation?: string): Promise<SessionInfo[]> {
    if (conversation !== undefined) checkText(conversation, 'conversation');
    const fields = { agent: true, ...(conversation !== undefined && { conversation }) };
    return (await this.#connect().ask('session_list', fields)).sessions as unknown as SessionInfo[];
  }

  /** Ends a session of an agent, with its runs. */
  async killAgentSession(session: string, reason?: string): Promise<SessionInfo> {
    checkText(session, 'session');
    const fields = { agent: true, session, ...reasonField(reason) };
    return (await this.#connect().ask('session_kill', fields)).session as unknown as SessionInfo;
  }

  /** Ends all sessions of agents in a conversation, and resolves with their number. */
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
