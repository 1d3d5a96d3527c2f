import { AsyncResource } from 'node:async_hooks';
import type { AgentPending, AgentResult } from './agent.js';
import { Bridge } from './bridge.js';
import { Decoder } from './decode.js';
import { GloveboxError, SerializationError } from './errors.js';
import type { CodeExecution, CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from './handle.js';
import { reasonField, type Json, type JsonObject, type Outgoing } from './protocol.js';
import type { OutputMessage, PendingMessage, ReportMessage, ResultMessage } from './protocol.js';

import type { RunError, RunResult } from './run-result.js';
import type { SessionExecution } from './session.js';
import { RESULT_FIELDS, type ResultKind } from './tables.js';

/** Callbacks during a run. */
export interface Listeners {
  report?: ((value: unknown) => void) | undefined;
  onOutput?: ((text: string, stream: 'stdout' | 'stderr') => void) | undefined;
  onPrompt?: ((prompt: string, session: string) => void) | undefined;
  onPending?: ((pending: AgentPending) => void) | undefined;
}

/**
 * The client's side of a run: its handle, and the messages for it.
 *
 * It is an AsyncResource because all runs share a connection, which the first run opened: host functions must still see
 * the AsyncLocalStorage of the caller that started their own run.
 */
export class Run extends AsyncResource {
  readonly handle: SessionExecution;
  readonly bridge = new Bridge((message) => this.#send(message));
  readonly #listeners: Listeners;
  readonly #reports: unknown[] = [];
  readonly #began = performance.now();
  #send: (message: Outgoing) => void = () => {};
  #running = true;
  #terminated = false;
  readonly #settled: Promise<RunResult>;
  #resolve!: (result: RunResult) => void;
  #reject!: (error: GloveboxError) => void;

  constructor({ report, onOutput, onPrompt, onPending }: Listeners) {
    super('CodeExecution');
    this.#listeners = { report, onOutput, onPrompt, onPending };
    this.#settled = new Promise<RunResult>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const handle = this.#makeHandle(this.#settled);
    this.handle = Object.freeze(Object.assign(handle, { interrupt: () => this.#interrupt() }));
  }

  /** The handle of runCode; its result has only the fields of runCode's contract. */
  codeExecution(): CodeExecution {
    return Object.freeze(this.#makeHandle(this.#settled.then(toCodeExecutionResult)));
  }

  /** The run has been sent; `send` sends further messages about it. */
  attach(send: (message: Outgoing) => void): void {
    this.#send = send;
  }

  onReport(message: ReportMessage): void {
    this.bridge.answer(message.call, () => {
      const value = new Decoder(message, this.bridge).decode(message.value, 'report');
      this.#reports.push(value);
      const { report } = this.#listeners;
      return report?.(value);
    });
  }

  /** In a microtask: an exception of a listener is uncaught, as with any event, and does not affect the run. */
  onOutput({ text, stream }: OutputMessage): void {
    const { onOutput } = this.#listeners;
    if (onOutput) queueMicrotask(() => onOutput(text, stream));
  }

  onPrompt(prompt: string, session: string): void {
    const { onPrompt } = this.#listeners;
    if (onPrompt) queueMicrotask(() => onPrompt(prompt, session));
  }

  onPending({ approval, expiresAt }: PendingMessage): void {
    const { onPending } = this.#listeners;
    if (onPending) queueMicrotask(() => onPending({ approval, expiresAt: new Date(expiresAt) }));
  }

  onResult(message: ResultMessage): void {
    const result = readResult(message, this.bridge);
    this.#end();
    this.#resolve({ ...result, reports: [...this.#reports], durationMs: performance.now() - this.#began });
  }

  fail(error: GloveboxError): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#running = false;
    this.bridge.end();
  }

  #terminate(reason: string | undefined): void {
    if (!this.#running || this.#terminated) return;
    this.#send({ type: 'terminate', ...reasonField(reason) });
    this.#terminated = true;
  }

  #interrupt(): void {
    if (this.#running) this.#send({ type: 'interrupt' });
  }

  /** The methods do not use `this`, so that they can be passed as functions. */
  #makeHandle<T>(settled: Promise<T>): PromiseLike<T> & Omit<CodeExecution, 'then'> {
    settled.catch(() => {}); // a run that is not awaited may fail without an unhandled rejection
    const isRunning = () => this.#running;
    return {
      then: (fulfilled, rejected) => settled.then(fulfilled, rejected),
      terminate: (reason) => this.#terminate(reason),
      get running() {
        return isRunning();
      },
      reports: readOnly(this.#reports),
    };
  }
}

/** A live, read-only view of the array. */
function readOnly(array: unknown[]): readonly unknown[] {
  const refuse = () => false;
  return new Proxy(array, { set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse });
}

/** Throws a GloveboxError for a denied run: its code was not run. */
function toCodeExecutionResult(full: RunResult): CodeExecutionResult {
  const { status, reports, logs, error, durationMs } = full;
  if (status === 'denied') throw new GloveboxError(error?.code ?? status, error?.message ?? 'the run was denied');
  return {
    status,
    ...('result' in full && { result: full.result }),
    reports,
    logs,
    ...(error && { error: toCodeExecutionError(error) }),
    durationMs,
    ...(full.memoryUsedBytes !== undefined && { memoryUsedBytes: full.memoryUsedBytes }),
  };
}

function toCodeExecutionError({ code, ...error }: RunError): CodeExecutionError {
  return error;
}

/** The fields that are read from the message, for runs of all kinds. */
type Read = Omit<AgentResult, 'reports' | 'durationMs'>;

function readResult(message: ResultMessage, bridge: Bridge): Read {
  const { result, session } = message;
  const decoder = new Decoder(message, bridge);
  const fields: Record<string, unknown> = {};
  for (const { name, kind, optional } of RESULT_FIELDS) {
    const json = result[name];
    if (!READ_APART.has(name) && (json !== undefined || !optional)) fields[name] = readField(kind, json, name, decoder);
  }
  if (fields.runId === '') delete fields.runId; // a refused run has none
  return { ...(fields as unknown as Read), ...readOutcome(result, decoder), ...(session !== undefined && { session }) };
}

/** Read by readOutcome, or determined by the client. */
const READ_APART: ReadonlySet<string> = new Set(['status', 'result', 'error', 'reports', 'durationMs']);

/** A field of the result, or the default of a missing field. */
function readField(kind: ResultKind, json: Json | undefined, name: string, decoder: Decoder): unknown {
  switch (kind) {
    case 'logs':
      return ((json ?? []) as unknown as LogMessage[]).map((log) => readLog(log, decoder));
    case 'displays':
      return ((json ?? []) as Json[]).map((display) => readBytes(display, name, decoder));
    case 'files':
      return readBytes(json ?? {}, name, decoder);
    case 'values':
      return ((json ?? []) as Json[]).map((value) => decoder.decode(value, name));
    case 'value':
      return json === undefined ? undefined : decoder.decode(json, name);
    case 'error':
      return readError((json ?? {}) as JsonObject);
    case 'flag':
      return json ?? false;
    case 'integer':
    case 'count':
    case 'ms':
      return json ?? 0;
    case 'id':
    case 'status':
    case 'output':
    case 'text':
      return json ?? '';
  }
}

function readOutcome(result: JsonObject, decoder: Decoder): Pick<RunResult, 'status' | 'result' | 'error'> {
  const status = result.status as RunResult['status'];
  if (status !== 'success') return { status, error: readError((result.error ?? {}) as JsonObject) };
  try {
    return { status, result: result.result === undefined ? undefined : decoder.decode(result.result, 'result') };
  } catch (error) {
    if (!(error instanceof SerializationError)) throw error;
    return { status: 'error', error: { name: error.name, message: error.message } };
  }
}

function readError(error: JsonObject): RunError {
  const fields = pick(error, ['name', 'message', 'code', 'stack', 'specifier', 'filename', 'line', 'column']);
  return { name: 'Error', message: '', ...fields };
}

interface LogMessage {
  level: string;
  args: Json[];
  timestamp: number;
}

function readLog(log: LogMessage, decoder: Decoder): CodeExecutionLog {
  const args = log.args.map((arg) => {
    try {
      return decoder.decode(arg, 'log');
    } catch (error) {
      if (!(error instanceof SerializationError)) throw error;
      return error.message;
    }
  });
  return { level: log.level as CodeExecutionLog['level'], args, timestamp: log.timestamp };
}

/** An object whose values are texts or bytes, which can always be decoded. */
function readBytes(json: Json, name: string, decoder: Decoder): Record<string, string | Uint8Array> {
  const object = decoder.decode(json, name) as Record<string, string | Uint8Array | ArrayBuffer>;
  const entries = Object.entries(object);
  return Object.fromEntries(entries.map(([key, it]) => [key, it instanceof ArrayBuffer ? new Uint8Array(it) : it]));
}

function pick(from: Record<string, unknown>, keys: string[]): object {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]]));
}
