import { Glovebox } from './client.js';
import type { CodeExecutionOptions } from './options.js';
import type { CodeExecution } from './handle.js';

export { Glovebox } from './client.js';
export { GloveboxError, SerializationError } from './errors.js';
export type { AgentExecution, AgentPending, AgentResult } from './agent.js';
export type { Session, SessionExecution, SessionInfo, SessionResult } from './session.js';
export type { CodeExecutionOptions, GloveboxOptions, Limits } from './options.js';
export type { AgentExecuteOptions, AgentInputOptions, SessionExecuteOptions, SessionOptions } from './options.js';
export type { CodeExecution, CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from './handle.js';

let shared: Glovebox | undefined;

/** Runs `source` in a fresh sandbox: see {@link Glovebox.runCode}. All calls share one Glovebox. */
export function runCode(source: string, options?: CodeExecutionOptions): CodeExecution {
  shared ??= new Glovebox();
  return shared.runCode(source, options);
}
