/* Code with tools: what is sent, and what comes back. */
import type { AgentPending } from './agent.js';

/** The result of code with tools. */
export interface ExecutionResult {
  success: boolean;
  /** What the code has written with `output` and `console`, and the value that it has returned, one per line. */
  output: string;
  error?: string;
  tool_calls_made: number;
  duration_ms: number;
}

/** What an executor does for its code. */
export interface ExecutorHost {
  dispatch(name: string, params: Record<string, unknown>): unknown;
  onOutput?: ((text: string) => void) | undefined;
  onDebug?: ((message: string) => void) | undefined;
  onPending?: ((pending: AgentPending) => void) | undefined;
}

export type ExecutorLanguage = 'typescript' | 'javascript' | 'deno' | 'python';

/** The code and its limits: the message `executor` of docs/PROTOCOL.md. */
export interface ExecutorRequest {
  source: string;
  /** JSON: the tools with their schemas. */
  tools?: string;
  /** The functions of the tools, in TypeScript, or for Python in Python. */
  stubs?: string;
  language?: ExecutorLanguage;
  timeoutMs?: number;
  maxCodeBytes?: number;
  maxOutputBytes?: number;
  maxToolCalls?: number;
  /** Hosts that the code reaches, of those in the setting `network.allowlist`. */
  net?: readonly string[];
  /** A directory, `DIR` to read or `DIR:rw` to read and write, that the code has as `/box`: see docs/WORKDIR.md. */
  workdir?: string;
  purpose?: string;
  conversation?: string;
  turn?: string;
}
