import { AsyncResource } from 'node:async_hooks';
import type { AgentPending } from './agent.js';
import type { GloveboxError } from './errors.js';
import { ProtocolError, type JsonObject, type Outgoing, type PendingMessage } from './protocol.js';
import type { ToolOutput } from './tool.js';

/** The client's side of one call of a tool. An AsyncResource for the same reason as Run. */
export class ToolCall extends AsyncResource {
  readonly output: Promise<ToolOutput>;
  readonly #onPending: ((pending: AgentPending) => void) | undefined;
  #resolve!: (output: ToolOutput) => void;
  #reject!: (error: GloveboxError) => void;

  constructor(onPending: ((pending: AgentPending) => void) | undefined) {
    super('ToolCall');
    this.#onPending = onPending;
    this.output = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  attach(_send: (message: Outgoing) => void): void {}

  deliver(message: JsonObject): void {
    if (message.type === 'tool_result') return this.#resolve({ output: message.output as string });
    if (message.type !== 'pending') throw new ProtocolError(`a tool gets no message '${String(message.type)}'`);
    const { approval, expiresAt } = message as unknown as PendingMessage;
    const onPending = this.#onPending;
    if (onPending) queueMicrotask(() => onPending({ approval, expiresAt: new Date(expiresAt) }));
  }

  fail(error: GloveboxError): void {
    this.#reject(error);
  }
}
