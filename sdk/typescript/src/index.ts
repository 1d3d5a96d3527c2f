import { Glovebox } from './client.js';
import type { CodeExecution } from './handle.js';
import type { CodeExecutionOptions, RunOptions } from './options.js';
import type { RunExecution } from './run-result.js';

export { Glovebox } from './client.js';
export { GloveboxError, SerializationError } from './errors.js';
export { createExecutor } from './executor.js';
export { ToolRegistry } from './registry.js';
export type { CodeRuntime, ExecutorOptions, RuntimeConfig, ToolSource } from './executor.js';
export type { ExecutionResult, ExecutorHost, ExecutorLanguage, ExecutorRequest } from './executor-types.js';
export type { JsonSchema, McpClient, Tool, ToolDefinition } from './registry.js';
export type { AgentExecution, AgentPending, AgentResult } from './agent.js';
export type { CoreExecuteArguments, ToolOutput } from './tool.js';
export type { RunError, RunExecution, RunResult } from './run-result.js';
export type { Session, SessionExecution, SessionInfo } from './session.js';
export type { ErrorCode, Language } from './tables.js';
export type { CodeExecutionOptions, GloveboxOptions, Limits, RunOptions } from './options.js';
export type { AgentExecuteOptions, AgentInputOptions, SessionExecuteOptions, SessionOptions } from './options.js';
export type { CodeExecution, CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from './handle.js';

let shared: Glovebox | undefined;

/** Runs `source` in a fresh sandbox: see {@link Glovebox.runCode}. All calls share one Glovebox. */
export function runCode(source: string, options?: CodeExecutionOptions): CodeExecution {
  return own().runCode(source, options);
}

/** Runs `source` in any language: see {@link Glovebox.run}. All calls share one Glovebox. */
export function run(source: string, options?: RunOptions): RunExecution {
  return own().run(source, options);
}

function own(): Glovebox {
  return (shared ??= new Glovebox());
}
