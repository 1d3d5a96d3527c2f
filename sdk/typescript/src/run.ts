import { AsyncResource } from 'node:async_hooks';
import type { AgentPending, AgentResult } from './agent.js';
import { Bridge } from './bridge.js';
import { Decoder } from './decode.js';
import { SerializationError, type GloveboxError } from './errors.js';
import type { CodeExecution, CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from './handle.js';
import type { Json, JsonObject, Outgoing } from './protocol.js';
import type { OutputMessage, PendingMessage, ReportMessage, ResultMessage } from './protocol.js';

type Result = ResultMessage['result'];

/** Whom to tell what while the run lives. */
export interface Listeners {
  report?: ((value: unknown) => void) | undefined;
  onOutput?: ((text: string, stream: 'stdout' | 'stderr') => void) | undefined;
  onPrompt?: ((prompt: string, session: string) => void) | undefined;
  onPending?: ((pending: AgentPending) => void) | undefined;
}

/**
 * One run on our side: its handle, and what arrives for it.
 *
 * All runs share a connection, which was opened by whoever came first. What the host's functions find in an
 * AsyncLocalStorage must still be what the caller of their own runCode had there: hence the resource.
 */
export class Run extends AsyncResource {
  readonly handle: CodeExecution;
  readonly bridge = new Bridge((message) => this.#send(message));
  readonly #listeners: Listeners;
  readonly #reports: unknown[] = [];
  readonly #began = performance.now();
  #send: (message: Outgoing) => void = () => {};
  #running = true;
  #terminated = false;
  #resolve!: (result: CodeExecutionResult) => void;
  #reject!: (error: GloveboxError) => void;

  constructor({ report, onOutput, onPrompt, onPending }: Listeners) {
    super('CodeExecution');
    this.#listeners = { report, onOutput, onPrompt, onPending };
    const settled = new Promise<CodeExecutionResult>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    settled.catch(() => {}); // a run that nobody waits for may fail
    this.handle = this.#makeHandle(settled);
  }

  /** The run has begun; this is how it speaks. */
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

  /** What a listener throws is its own problem, as with any event. */
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
    this.#terminated = true;
    this.#send({ type: 'terminate', ...(reason !== undefined && { reason: String(reason) }) });
  }

  #interrupt(): void {
    if (this.#running) this.#send({ type: 'interrupt' });
  }

  /** Without `this`, so that its methods may be passed around. */
  #makeHandle(settled: Promise<CodeExecutionResult>): CodeExecution {
    const isRunning = () => this.#running;
    const reports = readOnly(this.#reports);
    return Object.freeze<CodeExecution & { interrupt(): void }>({
      then: (fulfilled, rejected) => settled.then(fulfilled, rejected),
      terminate: (reason) => this.#terminate(reason),
      interrupt: () => this.#interrupt(),
      get running() {
        return isRunning();
      },
      reports,
    });
  }
}

/** The array as it is at any time, but not to be changed. */
function readOnly(array: unknown[]): readonly unknown[] {
  const refuse = () => false;
  return new Proxy(array, { set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse });
}

/** What a run of any kind has; which fields there are is the server's to say. */
type Read = Omit<CodeExecutionResult, 'reports' | 'durationMs'> & Pick<AgentResult, 'displays' | 'session'>;

function readResult(message: ResultMessage, bridge: Bridge): Read {
  const { result, session } = message;
  const decoder = new Decoder(message, bridge);
  const outcome = readOutcome(result, decoder);
  return {
    ...outcome,
    logs: (result.logs ?? []).map((log) => readLog(log, decoder)),
    ...pick(result, ['memoryUsedBytes', 'timedOut', 'truncated', 'stdout', 'stderr', 'exitCode']),
    ...(result.runId !== '' && pick(result, ['runId'])), // what was refused has none
    ...(result.displays && { displays: result.displays.map((display) => readDisplay(display, decoder)) }),
    ...(session !== undefined && { session }),
  };
}

function readOutcome(result: Result, decoder: Decoder): Pick<CodeExecutionResult, 'status' | 'result' | 'error'> {
  const status = result.status as CodeExecutionResult['status'];
  if (status !== 'success') return { status, error: readError(result.error ?? {}) };
  try {
    return { status, result: result.result === undefined ? undefined : decoder.decode(result.result, 'result') };
  } catch (error) {
    if (!(error instanceof SerializationError)) throw error;
    return { status: 'error', error: { name: error.name, message: error.message } };
  }
}

function readError(error: JsonObject): CodeExecutionError {
  const fields = pick(error, ['name', 'message', 'code', 'stack', 'specifier', 'filename', 'line', 'column']);
  return { name: 'Error', message: '', ...fields };
}

function readLog(log: { level: string; args: Json[]; timestamp: number }, decoder: Decoder): CodeExecutionLog {
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

/** Media types with text or bytes, which always cross. */
function readDisplay(display: Json, decoder: Decoder): Record<string, string | Uint8Array> {
  return decoder.decode(display, 'display') as Record<string, string | Uint8Array>;
}

function pick(from: Record<string, unknown>, keys: string[]): object {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]]));
}
