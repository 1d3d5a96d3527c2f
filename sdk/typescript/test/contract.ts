/*
 * Compiled, not run: the declarations of the contract and those of the SDK are assignable to each other in both
 * directions. section-12-types.test.mjs also compiles copies in which one line of the contract is changed, each of which
 * must fail.
 */
import { runCode } from 'glovebox';
import type * as Sdk from 'glovebox';

interface CodeExecutionOptions {
  execute?: {
    fn?: string;
    args?: unknown[];
  };
  imports?: Record<string, Record<string, unknown>>;
  modules?: Record<string, string>;
  globals?: Record<string, unknown>;
  language?: 'javascript' | 'typescript';
  memoryLimitBytes?: number;
  filename?: string;
  report?: (value: unknown) => void;
}

interface CodeExecution extends PromiseLike<CodeExecutionResult> {
  terminate(reason?: string): void;
  readonly running: boolean;
  readonly reports: readonly unknown[];
}

interface CodeExecutionResult {
  status: 'success' | 'error' | 'memory' | 'terminated' | 'link_error';
  result?: unknown;
  reports: unknown[];
  logs: CodeExecutionLog[];
  error?: CodeExecutionError;
  durationMs: number;
  memoryUsedBytes?: number;
}

interface CodeExecutionLog {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  args: unknown[];
  timestamp: number;
}

interface CodeExecutionError {
  name: string;
  message: string;
  stack?: string;
  specifier?: string;
  filename?: string;
  line?: number;
  column?: number;
}

type RunCode = (source: string, options?: CodeExecutionOptions) => CodeExecution;

/** Assignable in both directions, with the same fields: an additional optional field would still be assignable. */
function same<A extends B, B extends C, C = A>(..._: SameKeys<A, B>): void {}
type SameKeys<A, B> = [keyof A, keyof B] extends [keyof B, keyof A] ? [] : [fields: 'are not the same'];

same<Sdk.CodeExecutionOptions, CodeExecutionOptions>();
same<NonNullable<Sdk.CodeExecutionOptions['execute']>, NonNullable<CodeExecutionOptions['execute']>>();
same<Sdk.CodeExecution, CodeExecution>();
same<Sdk.CodeExecutionResult, CodeExecutionResult>();
same<Sdk.CodeExecutionLog, CodeExecutionLog>();
same<Sdk.CodeExecutionError, CodeExecutionError>();

export const ours: RunCode = runCode;
export const theirs = (contract: RunCode): typeof runCode => contract;
export const method = (client: Sdk.Glovebox): RunCode => client.runCode.bind(client);
