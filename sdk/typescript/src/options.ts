import type { AgentPending } from './agent.js';
import { isIdentifier, memberText } from './encode.js';
import { AGENT_LIMITS, LANGUAGES, LIMITS, type AgentLimits, type Language, type Limits } from './tables.js';

export type { Limits } from './tables.js';

export interface CodeExecutionOptions {
  /** The export that is the result, and what it is called with if it is a function: `{ fn: 'default', args: [] }`. */
  execute?: {
    fn?: string;
    args?: unknown[];
  };
  /** Modules for bare specifiers: `{ fs: { readFile } }` is for `import { readFile } from 'fs'`. */
  imports?: Record<string, Record<string, unknown>>;
  /** Source of further modules, by relative specifier: `{ './math.js': 'export const one = 1' }`. */
  modules?: Record<string, string>;
  /** Identifiers that all modules see. They are not on `globalThis`. */
  globals?: Record<string, unknown>;
  /** `'typescript'` unless said otherwise. */
  language?: 'javascript' | 'typescript';
  /** Of the sandbox's heap; beyond it the run ends with the status `'memory'`. */
  memoryLimitBytes?: number;
  /** What stack traces call the source, and where its relative imports start: `'<runCode>'`. */
  filename?: string;
  /** Called with each value that the code gives to `report`. What it returns is what `report` returns. */
  report?: (value: unknown) => void;
}

/** Of a run in any language; which options one has, docs/PROTOCOL.md tells. */
export interface RunOptions extends Omit<CodeExecutionOptions, 'language'>, Limits {
  /** `'typescript'` unless said otherwise. */
  language?: Language;
  /** Python: `'stdlib'`, or `'data'` with numpy, pandas and matplotlib loaded. */
  profile?: string;
  /** What the program reads from its standard input. */
  stdin?: string;
  /** Path to text or bytes, put into the folder that the program runs in. */
  files?: Record<string, string | Uint8Array>;
  /** Python, shell: reject risky constructs. */
  restricted?: boolean;
  /** Python, Node.js: what the code may import. */
  allowedModules?: string[];
  /** Called with what the program writes, as it happens. */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
}

export interface SessionOptions {
  /** `'typescript'` unless said otherwise. */
  language?: Exclude<Language, 'deno'>;
  /** Python: `'stdlib'`, or `'data'` with numpy, pandas and matplotlib loaded. */
  profile?: string;
  /** Unique among those that live. */
  name?: string;
  /** What it belongs to; `cleanup` ends all of one. */
  conversation?: string;
  /** Take one that fits, if there is one, instead of opening another. */
  reuse?: boolean;
}

/** As for `runCode`; `execute` calls a function of the session's, whose result counts. */
export interface SessionExecuteOptions extends Omit<CodeExecutionOptions, 'language'> {
  /** After this it is interrupted, and the session stays. */
  timeoutMs?: number;
  /** Forget first what was defined before. */
  reset?: boolean;
  /** Python: what the program reads. */
  stdin?: string;
  /** Python: path to text or bytes, put into the folder that it runs in. */
  files?: Record<string, string | Uint8Array>;
  /** Called with what the program writes, as it happens. */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  /** Called when the program awaits input: see {@link Session.send}. */
  onPrompt?: (prompt: string) => void;
}

/** What an agent can ask for. */
export interface AgentExecuteOptions extends AgentLimits {
  /** `'typescript'` unless said otherwise. */
  language?: Language;
  /** What the export is called with if it is a function. Functions and promises cannot cross here. */
  args?: unknown[];
  /** Whose request it is: sessions, trust and limits are a conversation's. */
  conversation?: string;
  /** Of the model: the settings say how many executions there may be in one. */
  turn?: string;
  /** Why the agent wants to run this, in its own words: shown to the person who decides, and recorded. */
  purpose?: string;
  /**
   * `true`: in the conversation's session of this language; if there is none, one is opened when the code runs. Or the
   * id of one of its sessions. Otherwise it runs alone.
   */
  session?: boolean | string;
  /** `'isolated'` unless said otherwise; `'network'` is not yet available, and refused. */
  tier?: 'isolated' | 'network';
  /** Called when a person is asked; again if the rules have changed meanwhile. */
  onPending?: (pending: AgentPending) => void;
  /** Called with what the program writes, as it happens. */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  /**
   * What happens when code in a session waits for input. `'end'`, the default: it ends at once, with the error code
   * `'awaiting_input'` and the prompt in the message. `'wait'`: it goes on waiting, for `inputForAgent`.
   */
  onInput?: 'end' | 'wait';
  /** Called when the program awaits input, with the prompt and the id of the session. */
  onPrompt?: (prompt: string, session: string) => void;
}

/** Whose input it is, and for which session. */
export interface AgentInputOptions {
  conversation: string;
  /** The id of the session that waits, as `onPrompt` tells it. */
  session: string;
  /** Of the model: an input is one of the executions that there may be in a turn. */
  turn?: string;
  /** Why the agent wants to run this, in its own words: shown to the person who decides, and recorded. */
  purpose?: string;
  /** Called when a person is asked. */
  onPending?: (pending: AgentPending) => void;
}

export interface GloveboxOptions {
  /** The program `glovebox`. Otherwise it is found by GLOVEBOX_PATH, beside this package, or on the PATH. */
  path?: string;
  /** Instead: a whole command that speaks the protocol, such as `['ssh', 'box', 'glovebox', 'stdio']`. */
  command?: readonly string[];
  /** Instead: the socket of a `glovebox stdio --socket` that runs already. */
  socket?: string;
  /** Environment of the process; this one's unless given. */
  env?: Record<string, string | undefined>;
  /** The file that the process reads its settings from, instead of where it would find one: docs/CONFIGURATION.md. */
  configFile?: string;
  /** Settings of the process, before those of file and environment: `{ 'agent.enabled': true }`. */
  settings?: Record<string, string | number | boolean>;
  limits?: Limits;
}

type Check = (value: unknown, name: string) => void;
type Checks<T> = { [Key in keyof Required<T>]: Check };

const NO_DEADLINE = 'there is no deadline option; call terminate() of the handle when time is up';
const HINTS: Record<string, string> = {
  timeout: NO_DEADLINE,
  timeoutMs: NO_DEADLINE,
  deadline: NO_DEADLINE,
  signal: 'there is no such option; call terminate() of the handle when the signal is aborted',
};

const NOT_BARE = /^(\.{0,2}\/|\.{1,2}$|https?:|file:|data:)/;

const runChecks: Checks<CodeExecutionOptions> = {
  execute: (value, name) => checkFields(value, name, { fn: isString, args: isArray }),
  imports: (value, name) => checkEach(value, name, isBareSpecifier, areExports),
  modules: (value, name) => checkEach(value, name, isRelativeSpecifier, isString),
  globals: (value, name) => checkEach(value, name, isName),
  language: (value, name) => isOneOf(value, name, ['javascript', 'typescript']),
  memoryLimitBytes: isPositiveInteger,
  filename: isString,
  report: isFunction,
};

const executeChecks: Checks<SessionExecuteOptions> = {
  execute: runChecks.execute,
  imports: runChecks.imports,
  modules: runChecks.modules,
  globals: runChecks.globals,
  memoryLimitBytes: isPositiveInteger,
  filename: isString,
  report: isFunction,
  timeoutMs: isPositiveInteger,
  reset: isBoolean,
  stdin: isString,
  files: isObject,
  onOutput: isFunction,
  onPrompt: isFunction,
};

const limitChecks = checkNumbers(LIMITS);

const anyRunChecks: Checks<RunOptions> = {
  ...runChecks,
  ...limitChecks,
  language: (value, name) => isOneOf(value, name, LANGUAGES),
  profile: isString,
  stdin: isString,
  files: isObject,
  restricted: isBoolean,
  allowedModules: isArray,
  onOutput: isFunction,
};

const sessionChecks: Checks<SessionOptions> = {
  language: isString, // which there are, the server knows
  profile: isString,
  name: isString,
  conversation: isString,
  reuse: isBoolean,
};

const agentChecks: Checks<AgentExecuteOptions> = {
  language: (value, name) => isOneOf(value, name, LANGUAGES),
  args: isArray,
  conversation: checkText,
  turn: checkText,
  purpose: checkText,
  session: isSessionChoice,
  tier: (value, name) => isOneOf(value, name, ['isolated', 'network']),
  ...checkNumbers(AGENT_LIMITS),
  onInput: (value, name) => isOneOf(value, name, ['end', 'wait']),
  onPending: isFunction,
  onOutput: isFunction,
  onPrompt: isFunction,
};

const inputChecks: Checks<AgentInputOptions> = {
  conversation: checkText,
  session: checkText,
  turn: checkText,
  purpose: checkText,
  onPending: isFunction,
};

const clientChecks: Checks<GloveboxOptions> = {
  path: isString,
  command: isCommand,
  socket: isString,
  env: isObject,
  configFile: checkText,
  settings: (value, name) => checkEach(value, name, isSettingName, isSetting),
  limits: (value, name) => checkFields(value, name, limitChecks),
};

function checkNumbers<Name extends string>(names: readonly Name[]): Record<Name, Check> {
  return Object.fromEntries(names.map((name) => [name, isPositiveInteger])) as Record<Name, Check>;
}

/** Throws a TypeError that names what is wrong. */
export function checkRun(source: unknown, options: unknown): void {
  isString(source, 'source');
  checkFields(options, 'options', runChecks, HINTS);
}

/** Throws a TypeError that names what is wrong. */
export function checkAnyRun(source: unknown, options: unknown): void {
  isString(source, 'source');
  checkFields(options, 'options', anyRunChecks);
}

/** Throws a TypeError that names what is wrong. */
export function checkExecute(source: unknown, options: unknown): void {
  isString(source, 'source');
  checkFields(options, 'options', executeChecks);
}

/** Throws a TypeError that names what is wrong. */
export function checkSession(options: unknown): void {
  checkFields(options, 'options', sessionChecks);
}

/** Throws a TypeError that names what is wrong. */
export function checkAgentRun(source: unknown, options: AgentExecuteOptions): void {
  isString(source, 'source');
  checkFields(options, 'options', agentChecks);
  if (options.session && !options.conversation) {
    throw new TypeError("options.conversation: must be given, since a session is a conversation's");
  }
}

/** Throws a TypeError that names what is wrong. */
export function checkAgentInput(text: unknown, options: AgentInputOptions): void {
  checkText(text, 'text');
  checkFields(options, 'options', inputChecks);
  for (const name of ['conversation', 'session'] as const) {
    if (!options[name]) throw new TypeError(`options.${name}: must be given`);
  }
}

/** Throws a TypeError that names what is wrong. NUL would end a text early in a Glovebox. */
export function checkText(value: unknown, name: string): void {
  if (typeof value !== 'string' || value.includes('\0')) {
    throw new TypeError(`${name}: must be a string without NUL`);
  }
}

/** Throws a TypeError that names what is wrong. */
export function checkClient(options: GloveboxOptions): void {
  checkFields(options, 'options', clientChecks);
  const given = (['path', 'command', 'socket'] as const).filter((key) => options[key] !== undefined);
  if (given.length > 1) throw new TypeError(`options: ${given.join(' and ')} exclude each other`);
  const other = given.find((key) => key !== 'path');
  const own = (['configFile', 'settings'] as const).find((key) => options[key] !== undefined);
  if (other && own) throw new TypeError(`options.${own}: is for the program glovebox; there is a ${other} instead`);
}

function checkFields(value: unknown, name: string, checks: Record<string, Check>, hints: Record<string, string> = {}) {
  isObject(value, name);
  for (const key of Object.keys(value)) {
    const path = `${name}${memberText(key)}`;
    if (!Object.hasOwn(checks, key)) {
      const hint = Object.hasOwn(hints, key) ? hints[key] : `there is no such option; there are ${names(checks)}`;
      throw new TypeError(`${path}: ${hint}`);
    }
    const field: unknown = value[key];
    if (field !== undefined) checks[key]!(field, path);
  }
}

function checkEach(value: unknown, name: string, checkKey: Check, checkValue?: Check): void {
  isObject(value, name);
  for (const key of Object.keys(value)) {
    const path = `${name}${memberText(key)}`;
    checkKey(key, path);
    checkValue?.(value[key], path);
  }
}

function isString(value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string') throw new TypeError(`${name}: must be a string`);
}

function isObject(value: unknown, name: string): asserts value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`${name}: must be an object`);
  }
}

function isBoolean(value: unknown, name: string): void {
  if (typeof value !== 'boolean') throw new TypeError(`${name}: must be true or false`);
}

function isArray(value: unknown, name: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${name}: must be an array`);
}

function isFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') throw new TypeError(`${name}: must be a function`);
}

function isPositiveInteger(value: unknown, name: string): void {
  if (!Number.isSafeInteger(value) || (value as number) <= 0)
    throw new TypeError(`${name}: must be a positive integer`);
}

function isSessionChoice(value: unknown, name: string): void {
  if (typeof value === 'boolean') return;
  if (typeof value !== 'string' || value === '' || value.includes('\0')) {
    throw new TypeError(`${name}: must be true, for the conversation's own, or the id of one`);
  }
}

function isOneOf(value: unknown, name: string, choices: readonly string[]): void {
  if (choices.includes(value as string)) return;
  const quoted = choices.map((choice) => `'${choice}'`);
  throw new TypeError(`${name}: must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`);
}

function isSettingName(key: unknown, name: string): void {
  if (!/^[\w.-]+$/.test(key as string)) throw new TypeError(`${name}: must be the name of a setting`);
}

function isSetting(value: unknown, name: string): void {
  if (typeof value === 'boolean' || Number.isFinite(value)) return;
  if (typeof value !== 'string' || value.includes('\0')) {
    throw new TypeError(`${name}: must be true, false, a number, or a string without NUL`);
  }
}

function isCommand(value: unknown, name: string): void {
  if (!Array.isArray(value) || value.length === 0 || !value.every((part) => typeof part === 'string')) {
    throw new TypeError(`${name}: must be an array of strings, the program first`);
  }
}

function isBareSpecifier(key: unknown, name: string): void {
  if (key === '' || NOT_BARE.test(key as string)) {
    throw new TypeError(`${name}: must be a bare specifier; relative ones belong to options.modules`);
  }
  checkText(key, name);
}

function areExports(value: unknown, name: string): void {
  checkEach(value, name, checkText);
}

function isRelativeSpecifier(key: unknown, name: string): void {
  if (!/^\.{1,2}\/./.test(key as string)) {
    throw new TypeError(
      `${name}: must be a relative specifier such as './helpers.js'; others belong to options.imports`,
    );
  }
  checkText(key, name);
}

function isName(key: unknown, name: string): void {
  if (!isIdentifier(key as string)) throw new TypeError(`${name}: must be an identifier`);
}

function names(checks: Record<string, Check>): string {
  return Object.keys(checks).join(', ');
}
