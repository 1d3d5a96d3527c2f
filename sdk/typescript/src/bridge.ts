import { Decoder, type Importer } from './decode.js';
import { Encoder, type Exporter } from './encode.js';
import { GloveboxError, messageOf, SerializationError } from './errors.js';
import type { AnswerMessage, CallMessage, Json, JsonObject, Outgoing } from './protocol.js';

type Callable = (...args: unknown[]) => unknown;
type Settled = { resolve(value: unknown): void; reject(reason: unknown): void };

/** Sends a message about the run; throws a GloveboxError if it is too long. */
export type Send = (message: Outgoing) => void;

/** All functions in this process that call into a sandbox, of all runs. */
const sandboxFunctions = new WeakSet<object>();

/** The functions and promises of one run that one side owns and the other uses. */
export class Bridge implements Exporter, Importer {
  readonly #send: Send;
  #ended = false;

  /** Functions and promises of the host, by the ids that the host assigned. */
  readonly #exported = new Map<number, Callable | Promise<unknown>>();
  readonly #exportedIds = new Map<object, number>();

  /** Functions and promises of the sandbox, by the ids that the sandbox assigned. */
  readonly #imported = new Map<number, Callable | Promise<unknown>>();
  readonly #importedIds = new Map<object, number>();

  /** Pending calls from the host to the sandbox. */
  readonly #calls = new Map<number, Settled>();
  #lastCall = 0;

  /** Calls whose answer was rejected and has been replaced; each is replaced once. */
  readonly #replaced = new Set<number>();

  constructor(send: Send) {
    this.#send = send;
  }

  exportFunction(fn: Function): Json {
    const tag = this.#exportTag('function', fn as Callable);
    const name = tag.owner ? undefined : nameOf(fn);
    return name === undefined ? tag : { ...tag, name };
  }

  exportPromise(promise: Promise<unknown>): Json {
    promise.then(undefined, () => {}); // a rejection goes to the sandbox; it must not be unhandled here
    return this.#exportTag('promise', promise);
  }

  importFunction(id: number, fromSandbox: boolean): unknown {
    if (!fromSandbox) return this.#exported.get(id);
    return this.#imported.get(id) ?? this.#import(id, this.#sandboxFunction(id));
  }

  importPromise(id: number, fromSandbox: boolean): unknown {
    if (!fromSandbox) return this.#exported.get(id);
    return this.#imported.get(id) ?? this.#import(id, this.#call(id, []));
  }

  /** The sandbox calls a host function, or awaits a host promise. */
  onCall(message: CallMessage): void {
    const target = this.#exported.get(message.function);
    if (target === undefined) {
      this.#answerThrow(message.call, new Error('there is no such function'));
    } else if (typeof target !== 'function') {
      this.#answerLater(message.call, target);
    } else {
      this.answer(message.call, () => {
        const args = new Decoder(message, this).decode(message.args, 'args') as unknown[];
        return Reflect.apply(target, undefined, args);
      });
    }
  }

  /** Answers a call or report with the value that `produce` returns or throws. */
  answer(call: number, produce: () => unknown): void {
    try {
      const value = produce();
      if (!isThenable(value)) return this.#answerReturn(call, value);
      this.#sendIfRunning({ type: 'answer', call, promise: true });
      this.#answerLater(call, value);
    } catch (thrown) {
      this.#answerThrow(call, thrown);
    }
  }

  /** The sandbox has answered a call of the host. */
  onAnswer(message: AnswerMessage): void {
    const waiting = this.#takeCall(message.call);
    if (!waiting) return;
    if (message.ended) return waiting.reject(runEnded());
    try {
      const threw = message.throw !== undefined;
      const value = new Decoder(message, this).decode(threw ? message.throw : message.return, 'return value');
      if (threw) waiting.reject(value);
      else waiting.resolve(refuseThenable(value));
    } catch (error) {
      waiting.reject(error);
      if (!(error instanceof SerializationError)) throw error;
    }
  }

  /** The server rejected a call of the host. */
  onCallRefused(call: number, error: GloveboxError): void {
    this.#takeCall(call)?.reject(error);
  }

  /** The server rejected an answer of the host; the code still waits for one. */
  onAnswerRefused(call: number, error: GloveboxError): void {
    if (this.#replaced.has(call)) return;
    this.#replaced.add(call);
    this.#answerThrow(call, error);
  }

  /** The run has ended: reject all pending calls. */
  end(): void {
    this.#ended = true;
    for (const { reject } of this.#calls.values()) reject(runEnded());
    this.#calls.clear();
    this.#exported.clear();
    this.#exportedIds.clear();
  }

  #exportTag(type: 'function' | 'promise', value: Callable | Promise<unknown>): JsonObject {
    const theirs = this.#importedIds.get(value);
    if (theirs !== undefined) return { $type: type, id: theirs, owner: 'sandbox' };
    let id = this.#exportedIds.get(value);
    if (id === undefined) {
      id = this.#exported.size + 1;
      this.#exported.set(id, value);
      this.#exportedIds.set(value, id);
    }
    return { $type: type, id };
  }

  #import<T extends Callable | Promise<unknown>>(id: number, value: T): T {
    this.#imported.set(id, value);
    this.#importedIds.set(value, id);
    return value;
  }

  #sandboxFunction(id: number): Callable {
    const fn = (...args: unknown[]) => this.#call(id, args);
    sandboxFunctions.add(fn);
    return fn;
  }

  #call(id: number, args: unknown[]): Promise<unknown> {
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#ended) throw runEnded();
      const call = ++this.#lastCall;
      this.#sendValue({ type: 'call', call, function: id }, 'args', args);
      this.#calls.set(call, { resolve, reject });
    });
    answer.catch(() => {}); // a sandbox must not be able to end this process by an unhandled rejection
    return answer;
  }

  #takeCall(call: number): Settled | undefined {
    const waiting = this.#calls.get(call);
    this.#calls.delete(call);
    return waiting;
  }

  #answerLater(call: number, promise: PromiseLike<unknown>): void {
    Promise.resolve(promise).then(
      (value) => this.#answerReturn(call, value),
      (reason: unknown) => this.#answerThrow(call, reason),
    );
  }

  #answerReturn(call: number, value: unknown): void {
    try {
      this.#sendValue({ type: 'answer', call }, 'return', value);
    } catch (error) {
      this.#answerThrow(call, error);
    }
  }

  #answerThrow(call: number, thrown: unknown): void {
    try {
      this.#sendValue({ type: 'answer', call }, 'throw', thrown);
    } catch (error) {
      // Replaced instead of cut: the filter that masks output does not recognise a part of a secret.
      const text = messageOf(error);
      const message = text.length <= 1000 ? text : 'the answer cannot be sent';
      this.#sendIfRunning({ type: 'answer', call, throw: { $type: 'Error', name: 'SerializationError', message } });
    }
  }

  /** Sends `message` with the form of `value` as its `field`. */
  #sendValue(message: Outgoing, field: 'args' | 'return' | 'throw', value: unknown): void {
    if (this.#ended) return;
    const name = { args: 'args', return: 'return value', throw: 'thrown value' }[field];
    const encoder = new Encoder(this);
    encoder.put(message, field, value, name);
    encoder.finish(name);
    this.#sendIfRunning(message);
  }

  #sendIfRunning(message: Outgoing): void {
    if (!this.#ended) this.#send(message);
  }
}

/**
 * Whether the return value of a host function is awaited. An object from the sandbox that has a function `then` is not:
 * it is data that the host function passed on.
 */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const { then } = value as { then?: unknown };
  return typeof then === 'function' && !sandboxFunctions.has(then);
}

/** A promise cannot be fulfilled with a thenable: resolving would call `then`, which the sandbox controls. */
function refuseThenable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (typeof (value as { then?: unknown }).then !== 'function') return value;
  throw new SerializationError('return value', 'an object with a function "then" cannot be returned');
}

function nameOf(fn: Function): string | undefined {
  try {
    return typeof fn.name === 'string' && fn.name !== '' ? fn.name : undefined;
  } catch {
    return undefined; // a revoked proxy
  }
}

function runEnded(): GloveboxError {
  return new GloveboxError('run_ended', 'the run that this function or promise belongs to has ended');
}
