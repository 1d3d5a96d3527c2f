/* Runs an agent's code, which can call tools of this program: docs/EXECUTOR.md. */
import { resolve } from 'node:path';
import type { AgentPending } from './agent.js';
import { Glovebox } from './client.js';
import { messageOf } from './errors.js';
import type { ExecutionResult, ExecutorLanguage } from './executor-types.js';
import { ToolRegistry } from './registry.js';

/** Executes code: TypeScript, as the body of an async function, or Python. The promise of `execute` never rejects. */
export type CodeRuntime = {
  execute(code: string, toolStubs: string): Promise<ExecutionResult>;
};

/** Limits of each execution. Defaults and maxima come from the settings of Glovebox. */
export interface RuntimeConfig {
  /** Hosts that the code may reach. Each must be in the setting `network.allowlist`. */
  allowed_hosts?: readonly string[];
  /** The only folder of this machine that the code can read and write: it is `/box` there. See docs/WORKDIR.md. */
  working_dir?: string;
  /** Milliseconds. */
  code_timeout?: number;
  /** Bytes. */
  max_code_size?: number;
  /** Bytes. */
  max_output_size?: number;
  max_tool_calls_per_exec?: number;
}

/** The source of the program's tools: a {@link ToolRegistry}, or another object with these methods. */
export interface ToolSource {
  /** Returns code, in the language of the executor, that defines one function per tool; each calls
   * `__callTool__(name, params)`. */
  generateStubs?(): string;
  dispatch(name: string, params: Record<string, unknown>): unknown;
}

export interface ExecutorOptions {
  /** Default: a new client. A client with the option `decides: ['executor']` lets this program decide on requests. */
  glovebox?: Glovebox;
  /** Default: `'typescript'`. */
  language?: ExecutorLanguage;
  /** Shown with the request for approval, and recorded. */
  purpose?: string;
  conversation?: string;
  turn?: string;
  onOutput?: (text: string) => void;
  onDebug?: (message: string) => void;
  /** Called when the code waits for approval. */
  onPending?: (pending: AgentPending) => void;
}

/** The stubs of `registry` and of `execute` are in the language of the code. */
export function createExecutor(
  config: RuntimeConfig,
  registry: ToolSource,
  options: ExecutorOptions = {},
): CodeRuntime {
  const { glovebox = new Glovebox(), onOutput, onDebug, onPending, ...requestOptions } = options;
  const dispatch = (name: string, params: Record<string, unknown>) => registry.dispatch(name, params);
  const baseRequest = {
    ...requestOptions,
    ...(config.code_timeout !== undefined && { timeoutMs: config.code_timeout }),
    ...(config.max_code_size !== undefined && { maxCodeBytes: config.max_code_size }),
    ...(config.max_output_size !== undefined && { maxOutputBytes: config.max_output_size }),
    ...(config.allowed_hosts?.length && { net: config.allowed_hosts }),
    ...(config.working_dir && { workdir: `${resolve(config.working_dir)}:rw` }),
    ...(config.max_tool_calls_per_exec !== undefined && { maxToolCalls: config.max_tool_calls_per_exec }),
  };
  return {
    async execute(code, toolStubs) {
      try {
        const stubs = toolStubs || (registry.generateStubs?.() ?? '');
        const tools = registry instanceof ToolRegistry ? JSON.stringify(registry.list()) : undefined;
        return await glovebox.executeWithTools(
          { ...baseRequest, source: code, ...(stubs && { stubs }), ...(tools !== undefined && { tools }) },
          { dispatch, onOutput, onDebug, onPending },
        );
      } catch (error) {
        return { success: false, output: '', error: messageOf(error), tool_calls_made: 0, duration_ms: 0 };
      }
    },
  };
}
