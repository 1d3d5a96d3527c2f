/* Code of an agent that calls tools of this program: docs/EXECUTOR.md. */
import type { AgentPending } from './agent.js';
import { Glovebox } from './client.js';
import { messageOf } from './errors.js';
import type { ExecutionResult } from './executor-types.js';
import { ToolRegistry } from './registry.js';

/** Executes TypeScript, the body of an async function. Never rejects. */
export type CodeRuntime = {
  execute(code: string, toolStubs: string): Promise<ExecutionResult>;
};

/** Limits; the settings of Glovebox have defaults and maxima. */
export interface RuntimeConfig {
  /** Hosts that the code may reach, of those in the setting `network.allowlist`; in a language that has a network. */
  allowed_hosts?: readonly string[];
  /** The only folder that the code can read and write. Not yet available: the code has no files. */
  working_dir?: string;
  /** Milliseconds. */
  code_timeout?: number;
  /** Bytes. */
  max_code_size?: number;
  max_output_size?: number;
  max_tool_calls_per_exec?: number;
}

/** The tools of the program. A {@link ToolRegistry} is one. */
export interface ToolSource {
  /** TypeScript: a function for each tool, which calls `__callTool__(name, params)`. */
  generateStubs?(): string;
  dispatch(name: string, params: Record<string, unknown>): unknown;
}

export interface ExecutorOptions {
  /** Default: one of its own. `decides: ['executor']` of its options states that this program decides on requests. */
  glovebox?: Glovebox;
  /** Default: `'typescript'`. */
  language?: 'typescript' | 'javascript' | 'deno';
  /** Shown with the request for approval, and recorded. */
  purpose?: string;
  conversation?: string;
  turn?: string;
  onOutput?: (text: string) => void;
  onDebug?: (message: string) => void;
  /** Called when the code waits for approval. */
  onPending?: (pending: AgentPending) => void;
}

const NOT_YET: Record<string, string> = {
  working_dir: 'a working directory of code with tools is not yet available; leave working_dir out',
};

/** Throws a TypeError if `config` has something that is not available: the code would run with less than it expects. */
export function createExecutor(
  config: RuntimeConfig,
  registry: ToolSource,
  options: ExecutorOptions = {},
): CodeRuntime {
  if (config.working_dir !== undefined) throw new TypeError(`config.working_dir: ${NOT_YET.working_dir}`);
  const { glovebox = new Glovebox(), onOutput, onDebug, onPending, ...stated } = options;
  const dispatch = (name: string, params: Record<string, unknown>) => registry.dispatch(name, params);
  const fixed = {
    ...stated,
    ...(config.code_timeout !== undefined && { timeoutMs: config.code_timeout }),
    ...(config.max_code_size !== undefined && { maxCodeBytes: config.max_code_size }),
    ...(config.max_output_size !== undefined && { maxOutputBytes: config.max_output_size }),
    ...(config.allowed_hosts?.length && { net: config.allowed_hosts }),
    ...(config.max_tool_calls_per_exec !== undefined && { maxToolCalls: config.max_tool_calls_per_exec }),
  };
  return {
    async execute(code, toolStubs) {
      try {
        const stubs = toolStubs || (registry.generateStubs?.() ?? '');
        const tools = registry instanceof ToolRegistry ? JSON.stringify(registry.list()) : undefined;
        return await glovebox.executeWithTools(
          { ...fixed, source: code, ...(stubs && { stubs }), ...(tools !== undefined && { tools }) },
          { dispatch, onOutput, onDebug, onPending },
        );
      } catch (error) {
        return { success: false, output: '', error: messageOf(error), tool_calls_made: 0, duration_ms: 0 };
      }
    },
  };
}
