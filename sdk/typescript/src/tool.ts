/* The tools that an agent calls. */
import type { Json } from './protocol.js';

/** The arguments of the tool `core.execute`. */
export interface CoreExecuteArguments {
  /** Why the code is run: shown with the request for approval, and recorded. */
  purpose: string;
  /** JavaScript: the body of an async function, which returns the value. */
  code: string;
  /** Milliseconds; a value outside the range of the settings is lowered or raised to it. */
  timeout?: number;
  tier?: 'isolated' | 'network';
  /** What the value should look like: recorded. */
  expectedOutput?: string;
  /** The origin of the request: recorded. */
  trace?: Json;
  /** The conversation, and the turn of the model: the calls in one turn are limited. */
  conversation?: string;
  turn?: string;
}

/** The answer of a tool. */
export interface ToolOutput {
  output: string;
}
