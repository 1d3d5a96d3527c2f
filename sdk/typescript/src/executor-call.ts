import { AsyncResource } from 'node:async_hooks';
import { messageOf, type GloveboxError } from './errors.js';
import type { ExecutionResult, ExecutorHost } from './executor-types.js';
import { ProtocolError, type JsonObject, type Outgoing, type PendingMessage } from './protocol.js';

/** The client's side of one execution of code with tools. An AsyncResource for the same reason as Run. */
export class ExecutorCall extends AsyncResource {
  readonly result: Promise<ExecutionResult>;
  readonly #host: ExecutorHost;
  #send: (message: Outgoing) => void = () => {};
  #resolve!: (result: ExecutionResult) => void;
  #reject!: (error: GloveboxError) => void;

  constructor(host: ExecutorHost) {
    super('ExecutorCall');
    this.#host = host;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  attach(send: (message: Outgoing) => void): void {
    this.#send = send;
  }

  deliver(message: JsonObject): void {
    switch (message.type) {
      case 'executor_result':
        return this.#resolve(message.result as unknown as ExecutionResult);
      case 'executor_output':
        return later(this.#host.onOutput, message.text as string);
      case 'executor_debug':
        return later(this.#host.onDebug, message.text as string);
      case 'pending': {
        const { approval, expiresAt } = message as unknown as PendingMessage;
        return later(this.#host.onPending, { approval, expiresAt: new Date(expiresAt) });
      }
      case 'tool_call':
        return void this.#call(message as unknown as { call: number; name: string; params: string });
      default:
        throw new ProtocolError(`an executor gets no message '${String(message.type)}'`);
    }
  }

  fail(error: GloveboxError): void {
    this.#reject(error);
  }

  /** Never rejects: whatever happens, the code gets an answer. */
  async #call({ call, name, params }: { call: number; name: string; params: string }): Promise<void> {
    const answer = (fields: JsonObject) => this.#send({ type: 'tool_answer', call, ...fields });
    try {
      const value = await this.#host.dispatch(name, JSON.parse(params) as Record<string, unknown>);
      const result = JSON.stringify(value) as string | undefined;
      answer(result === undefined ? {} : { result });
    } catch (error) {
      try {
        answer({ error: messageOf(error) });
      } catch {
        answer({ error: 'the error is too long for a message' });
      }
    }
  }
}

/** A callback that throws must not close the connection. */
function later<T>(callback: ((value: T) => void) | undefined, value: T): void {
  if (callback) queueMicrotask(() => callback(value));
}
