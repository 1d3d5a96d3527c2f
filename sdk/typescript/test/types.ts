/* Compiled, not run: properties of the exported types, and code that must not compile. */
import { Glovebox, GloveboxError, run, runCode, SerializationError } from 'glovebox';
import type { CodeExecution, CodeExecutionError, CodeExecutionLog } from 'glovebox';
import type { AgentExecuteOptions, AgentExecution, AgentPending, AgentResult, GloveboxOptions } from 'glovebox';
import type { Language } from 'glovebox';
import type { CodeExecutionOptions, CodeExecutionResult, RunError, RunExecution, RunResult } from 'glovebox';
import type { SessionExecution, SessionInfo } from 'glovebox';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { [Key in keyof T]: T[Key] };
function holds<_T extends true>(): void {}

interface Options {
  execute?: { fn?: string; args?: unknown[] };
  imports?: Record<string, Record<string, unknown>>;
  modules?: Record<string, string>;
  globals?: Record<string, unknown>;
  language?: 'javascript' | 'typescript';
  memoryLimitBytes?: number;
  filename?: string;
  report?: (value: unknown) => void;
}
holds<Same<Flat<CodeExecutionOptions>, Flat<Options>>>();

interface Handle extends PromiseLike<CodeExecutionResult> {
  terminate(reason?: string): void;
  readonly running: boolean;
  readonly reports: readonly unknown[];
}
holds<Same<Flat<CodeExecution>, Flat<Handle>>>();

interface Log {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  args: unknown[];
  timestamp: number;
}
holds<Same<Flat<CodeExecutionLog>, Flat<Log>>>();

interface Failure {
  name: string;
  message: string;
  stack?: string;
  specifier?: string;
  filename?: string;
  line?: number;
  column?: number;
}
holds<Same<Flat<CodeExecutionError>, Flat<Failure>>>();
holds<Same<Flat<RunError>, Flat<Failure & { code?: string }>>>();

interface Result {
  status: 'success' | 'error' | 'memory' | 'terminated' | 'link_error';
  result?: unknown;
  reports: unknown[];
  logs: CodeExecutionLog[];
  error?: CodeExecutionError;
  durationMs: number;
  memoryUsedBytes?: number;
}
holds<Same<Flat<CodeExecutionResult>, Flat<Result>>>();
holds<Same<RunResult['status'], Result['status'] | 'denied'>>();
holds<Same<Flat<Omit<RunResult, 'status' | 'error' | keyof More>>, Flat<Omit<Result, 'status' | 'error'>>>>();

interface More {
  stdout: string;
  stderr: string;
  exitCode: number;
  displays?: Record<string, string | Uint8Array>[];
  files?: Record<string, Uint8Array>;
  timedOut: boolean;
  truncated: boolean;
  runId?: string;
  denials?: unknown;
  connections?: unknown;
}
holds<Same<Flat<Pick<RunResult, keyof More>>, Flat<More>>>();
holds<Same<ReturnType<typeof run>, RunExecution>>();
holds<Same<ReturnType<Glovebox['run']>, RunExecution>>();
holds<Same<Awaited<SessionExecution>, RunResult>>();
holds<Same<Parameters<typeof runCode>, [source: string, options?: CodeExecutionOptions]>>();
holds<Same<ReturnType<typeof runCode>, CodeExecution>>();

interface AgentOptions {
  language?: Language;
  args?: unknown[];
  files?: Record<string, string | Uint8Array>;
  take?: string[];
  conversation?: string;
  turn?: string;
  purpose?: string;
  expectedOutput?: string;
  trace?: unknown;
  restricted?: boolean;
  session?: boolean | string;
  tier?: 'isolated' | 'network';
  onInput?: 'end' | 'wait';
  timeoutMs?: number;
  memoryBytes?: number;
  outputBytes?: number;
  resultBytes?: number;
  onPending?: (pending: AgentPending) => void;
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  onPrompt?: (prompt: string, session: string) => void;
}
holds<Same<Flat<AgentExecuteOptions>, Flat<AgentOptions>>>();
holds<Same<Flat<AgentPending>, { approval: string; expiresAt: Date }>>();
holds<Same<Flat<Omit<AgentResult, 'session'>>, Flat<RunResult>>>();
holds<Same<AgentResult['session'], string | undefined>>();

interface AgentHandle extends PromiseLike<AgentResult> {
  terminate(reason?: string): void;
  readonly running: boolean;
}
holds<Same<Flat<AgentExecution>, Flat<AgentHandle>>>();
holds<Same<ReturnType<Glovebox['executeForAgent']>, AgentExecution>>();
holds<Same<GloveboxOptions['settings'], Record<string, string | number | boolean> | undefined>>();
holds<Same<GloveboxOptions['configFile'], string | undefined>>();

export async function usesForAgents(glovebox: Glovebox): Promise<string> {
  if (!(await glovebox.agentsEnabled())) return 'no';
  const run = glovebox.executeForAgent('6 * 7', {
    language: 'python',
    conversation: 'c',
    session: true,
    onPending: ({ approval, expiresAt }) => [approval.length, expiresAt.getTime()],
  });
  const { status, error, stdout, session } = await run;
  // @ts-expect-error there are no reports
  run.reports;
  // @ts-expect-error it may have run without a session
  await glovebox.killAgentSession(session);
  // @ts-expect-error agents cannot use functions of the client
  glovebox.executeForAgent('', { imports: {} });
  // @ts-expect-error there is no such language
  glovebox.executeForAgent('', { language: 'cobol' });
  const list: SessionInfo[] = await glovebox.agentSessions('c');
  const ended: number = await glovebox.cleanupAgentSessions('c');
  return `${status} ${error?.code} ${stdout} ${list.length} ${ended}`;
}

export async function uses(): Promise<string> {
  const run = runCode('export default 1', {
    imports: { fs: { readFile: async (path: string) => path } },
    globals: { count: 1n },
    report: (value) => [value],
  });
  run.terminate('enough');
  const result = await run;
  if (result.status !== 'success') return result.error?.message ?? '';
  // @ts-expect-error the result has the type unknown
  result.result.length;
  // @ts-expect-error reports are read only
  run.reports.push(1);
  // @ts-expect-error running is read only
  run.running = false;
  // @ts-expect-error there is no such option
  runCode('', { timeout: 100 });
  // @ts-expect-error there is no such language
  runCode('', { language: 'python' });

  const client = new Glovebox({ path: '/usr/bin/glovebox', limits: { timeoutMs: 1000 } });
  await client.runCode('export default 1');
  await client.close();
  const failure: Error = new GloveboxError('closed', 'closed');
  return failure instanceof SerializationError ? failure.path : '';
}
