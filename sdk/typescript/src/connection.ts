import { GloveboxError, messageOf } from './errors.js';
import { LineSplitter } from './lines.js';
import type { GloveboxOptions } from './options.js';
import { MAX_LINE_BYTES, PROTOCOL, ProtocolError } from './protocol.js';
import type { AnswerMessage, CallMessage, ErrorMessage, JsonObject } from './protocol.js';
import type { Outgoing, OutputMessage, PendingMessage, ReportMessage, ResultMessage } from './protocol.js';
import type { Run } from './run.js';
import { ExecutorCall } from './executor-call.js';
import { ToolCall } from './tool-call.js';
import { openTransport, type Transport } from './transport.js';

/** How long to wait for the server to exit before it is killed. */
const EXIT_TIMEOUT_MS = 2000;

/** Something that has a number, gets messages and has one result. */
type Numbered = Run | ToolCall | ExecutorCall;
/** The last message of each. */
const LAST = new Set(['result', 'tool_result', 'executor_result']);

type Waiting = { resolve(reply: JsonObject): void; reject(error: GloveboxError): void };

/** The connection to one `glovebox stdio`, with its active runs. */
export class Connection {
  readonly #transport: Transport;
  readonly #runs = new Map<number, Numbered>();
  readonly #requests = new Map<number, Waiting>();
  readonly #helloRequests = new Set<Waiting>();
  readonly #gone: Promise<void>;
  #hello: JsonObject | undefined;
  #lastRequest = 0;
  #lastRun = 0;
  #error: GloveboxError | undefined;
  #resolveGone!: () => void;

  constructor(options: GloveboxOptions) {
    this.#gone = new Promise((resolve) => (this.#resolveGone = resolve));
    this.#transport = openTransport(options, (error) => {
      this.#fail(error);
      this.#resolveGone();
    });
    const splitter = new LineSplitter(MAX_LINE_BYTES, (line) => this.#receive(line));
    this.#transport.input.on('data', (chunk: Buffer) => this.#checkProtocol(() => splitter.push(chunk)));
    this.#transport.hold(false);
    if (options.decides?.length) void this.ask('hello', { decides: [...options.decides] }).catch(() => {});
  }

  get usable(): boolean {
    return this.#error === undefined;
  }

  start(run: Numbered, type: 'run' | 'execute' | 'input' | 'tool' | 'executor', fields: JsonObject): void {
    if (this.#error) return run.fail(this.#error);
    const number = ++this.#lastRun;
    try {
      this.#send(number, { type, ...fields });
    } catch (error) {
      return run.fail(error as GloveboxError);
    }
    run.attach((message) => this.#send(number, message));
    this.#runs.set(number, run);
    this.#transport.hold(true);
  }

  /** Sends a request, and resolves with the reply. */
  ask(type: string, fields: JsonObject): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#error) throw this.#error;
      const request = ++this.#lastRequest;
      this.#transport.output.write(toLine({ type, request, ...fields }));
      this.#requests.set(request, { resolve, reject });
      this.#transport.hold(true);
    });
  }

  /** Resolves with the server's hello message. */
  hello(): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#error) throw this.#error;
      if (this.#hello) return resolve(this.#hello);
      this.#helloRequests.add({ resolve, reject });
      this.#transport.hold(true);
    });
  }

  /** Ends all runs, and resolves when the server has exited. */
  async close(error: GloveboxError): Promise<void> {
    this.#transport.hold(true);
    this.#fail(error, false);
    const timer = setTimeout(() => this.#transport.end(true), EXIT_TIMEOUT_MS);
    await this.#gone;
    clearTimeout(timer);
  }

  #send(run: number, message: Outgoing): void {
    const { type, ...fields } = message;
    // The run number comes first: if the line is too long, the server can still tell which run it belongs to.
    if (this.usable) this.#transport.output.write(toLine({ type, run, ...fields }));
  }

  #receive(line: string): void {
    if (!this.usable) return;
    const message = parse(line);
    if (message.type === 'hello') return this.#onHello(message);
    if (message.type === 'error') return this.#onError(message as unknown as ErrorMessage);
    if (message.request !== undefined) return this.#take(message.request as number)?.resolve(message);
    const number = message.run as number;
    const run = this.#runs.get(number);
    if (!run) return; // it has ended, or was never started
    run.runInAsyncScope(deliver, undefined, run, message);
    if (LAST.has(message.type as string)) this.#forget(number);
  }

  #onHello(message: JsonObject): void {
    checkHello(message);
    this.#hello = message;
    for (const { resolve } of this.#helloRequests) resolve(message);
    this.#helloRequests.clear();
    this.#release();
  }

  #onError({ code, message, about, run: number, call, request, field }: ErrorMessage): void {
    const error = new GloveboxError(code, message, field);
    if (request !== undefined) return this.#take(request)?.reject(error);
    if (number === undefined) return this.#fail(error); // a message was lost, and it is unknown which
    const run = this.#runs.get(number);
    if (!run || about === 'terminate' || about === 'interrupt') return;
    if (about === 'tool_answer') return; // the code has ended meanwhile
    if (run instanceof ToolCall || run instanceof ExecutorCall) return this.#refuse(number, run, error);
    if (about === 'answer' && call !== undefined) return run.bridge.onAnswerRefused(call, error);
    if (about === 'call' && call !== undefined) return run.bridge.onCallRefused(call, error);
    this.#refuse(number, run, error);
  }

  #refuse(number: number, run: Numbered, error: GloveboxError): void {
    run.fail(error);
    this.#forget(number);
  }

  #take(request: number): Waiting | undefined {
    const waiting = this.#requests.get(request);
    this.#requests.delete(request);
    this.#release();
    return waiting;
  }

  #forget(number: number): void {
    this.#runs.delete(number);
    this.#release();
  }

  #release(): void {
    if (this.#runs.size + this.#requests.size + this.#helloRequests.size === 0) this.#transport.hold(false);
  }

  /** Closes the connection if the server violates the protocol. */
  #checkProtocol(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      this.#fail(new GloveboxError('protocol', `the server does not keep to the protocol: ${messageOf(error)}`));
    }
  }

  #fail(error: GloveboxError, atOnce = true): void {
    if (!this.usable) return;
    this.#error = error;
    this.#transport.end(atOnce);
    for (const run of this.#runs.values()) run.fail(error);
    this.#runs.clear();
    for (const { reject } of this.#requests.values()) reject(error);
    this.#requests.clear();
    for (const { reject } of this.#helloRequests) reject(error);
    this.#helloRequests.clear();
  }
}

function deliver(run: Numbered, message: JsonObject): void {
  if (run instanceof ToolCall || run instanceof ExecutorCall) return run.deliver(message);
  switch (message.type) {
    case 'call':
      return run.bridge.onCall(message as unknown as CallMessage);
    case 'report':
      return run.onReport(message as unknown as ReportMessage);
    case 'answer':
      return run.bridge.onAnswer(message as unknown as AnswerMessage);
    case 'result':
      return run.onResult(message as unknown as ResultMessage);
    case 'output':
      return run.onOutput(message as unknown as OutputMessage);
    case 'prompt':
      return run.onPrompt(message.prompt as string, message.session as string);
    case 'pending':
      return run.onPending(message as unknown as PendingMessage);
    case 'display': // also contained in the result
    case 'log':
      return;
    default:
      throw new ProtocolError(`there is no message of the type ${JSON.stringify(message.type)}`);
  }
}

/** Throws a GloveboxError if the line is too long. */
function toLine(message: JsonObject): string {
  let line = '';
  try {
    line = `${JSON.stringify(message)}\n`;
  } catch {
    // The text exceeds the maximal length of a string.
  }
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  const fits = line.length * 3 <= MAX_LINE_BYTES || Buffer.byteLength(line) <= MAX_LINE_BYTES;
  if (line && fits) return line;
  throw new GloveboxError('too_long', `the message takes more than ${MAX_LINE_BYTES} bytes`);
}

function parse(line: string): JsonObject {
  const message: unknown = JSON.parse(line);
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new ProtocolError('a line is not an object');
  }
  return message as JsonObject;
}

function checkHello({ protocol, version }: JsonObject): void {
  if (protocol === PROTOCOL) return;
  throw new ProtocolError(
    `this SDK speaks protocol ${PROTOCOL}, Glovebox ${String(version)} speaks ${String(protocol)}`,
  );
}
