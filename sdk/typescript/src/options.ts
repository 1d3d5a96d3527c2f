import type { AgentPending } from './agent.js';
import { isIdentifier, memberText } from './encode.js';
import {
  AGENT_FIELDS,
  AGENT_LIMITS,
  INPUT_FIELDS,
  LANGUAGES,
  LIMITS,
  RUN_FIELDS,
  SESSION_FIELDS,
  type AgentFields,
  type AgentLimits,
  type Field,
  type InputFields,
  type Language,
  type Limits,
  type RunFields,
  type SessionFields,
} from './tables.js';

export type { Limits } from './tables.js';

export interface CodeExecutionOptions {
  /** The export that is the result, and its arguments if it is a function. Default: `{ fn: 'default', args: [] }`. */
  execute?: {
    fn?: string;
    args?: unknown[];
  };
  /** Modules by bare specifier: `{ fs: { readFile } }` provides `import { readFile } from 'fs'`. */
  imports?: Record<string, Record<string, unknown>>;
  /** The sources of more modules, by relative specifier: `{ './math.js': 'export const one = 1' }`. */
  modules?: Record<string, string>;
  /** Variables that are visible in all modules. They are not properties of `globalThis`. */
  globals?: Record<string, unknown>;
  /** Default: `'typescript'`. */
  language?: 'javascript' | 'typescript';
  /** The limit of the sandbox's heap; a run that exceeds it ends with the status `'memory'`. */
  memoryLimitBytes?: number;
  /** The name of the source in stack traces, and the base of its relative imports. Default: `'<runCode>'`. */
  filename?: string;
  /** Called with each value that the code passes to `report`; its return value is the return value of `report`. */
  report?: (value: unknown) => void;
}

/** Options of a run in any language; docs/PROTOCOL.md lists the options of each language. */
export interface RunOptions extends Omit<CodeExecutionOptions, 'language'>, RunFields, Limits {
  /** Default: `'typescript'`. */
  language?: Language;
  /** Called with output of the program while it runs. */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
}

export interface SessionOptions {
  /** Default: `'typescript'`. */
  language?: Exclude<Language, 'deno'>;
  /** Python: `'stdlib'`, or `'data'` with numpy, pandas and matplotlib loaded. */
  profile?: string;
  /** The hosts that its runs can reach, within the setting `network.allowlist`: see docs/NETWORK.md. */
  net?: string[];
  /** A directory, `DIR` to read or `DIR:rw` to read and write, that its runs have as `/box`: see docs/WORKDIR.md. */
  workdir?: string;
  /** Unique among live sessions. */
  name?: string;
  /** The conversation that the session belongs to; `cleanup` ends all sessions of one. */
  conversation?: string;
  /** Use an existing session that matches, if there is one, instead of opening another. */
  reuse?: boolean;
}

/** As for `runCode`; `execute` calls a function of the session, and its return value is the result. */
export interface SessionExecuteOptions extends Omit<CodeExecutionOptions, 'language'>, SessionFields {
  /** The time limit; a run that exceeds it is interrupted, and the session continues. */
  timeoutMs?: number;
  /** Called with output of the program while it runs. */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  /** Called when the program awaits input: see {@link Session.send}. */
  onPrompt?: (prompt: string) => void;
}

/** The options of an agent's request. */
export interface AgentExecuteOptions extends AgentFields, AgentLimits {
  /** Called when the request waits for approval; again if the rules have changed meanwhile. */
  onPending?: (pending: AgentPending) => void;
  /** Called with output of the program while it runs. */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  /** Called when the program awaits input, with the prompt and the id of the session. */
  onPrompt?: (prompt: string, session: string) => void;
}

/** The options of an agent's input; `session` is the id that `onPrompt` was called with. */
export interface AgentInputOptions extends InputFields {
  /** Called when the request waits for approval. */
  onPending?: (pending: AgentPending) => void;
}

export interface GloveboxOptions {
  /** The path of `glovebox`. Default: GLOVEBOX_PATH, then the tree in which this package is installed, then the PATH. */
  path?: string;
  /** Instead of `path`: a command that speaks the protocol, such as `['ssh', 'box', 'glovebox', 'stdio']`. */
  command?: readonly string[];
  /** Instead of `path`: the socket of a running `glovebox stdio --socket`. */
  socket?: string;
  /** The environment of the process. Default: the environment of this process. */
  env?: Record<string, string | undefined>;
  /** The settings file of the process, instead of the default ones: docs/CONFIGURATION.md. */
  configFile?: string;
  /** Settings of the process, which override file and environment: `{ 'agent.enabled': true }`. */
  settings?: Record<string, string | number | boolean>;
  /** States that this program decides on requests of these faces itself, so that no person is asked. */
  decides?: readonly ('executor' | 'actions')[];
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

/* How each kind of field is checked; the server checks the rest. */
const kindChecks: Record<Field['kind'], Check> = {
  language: (value, name) => isOneOf(value, name, LANGUAGES),
  text: isString,
  input: isString,
  flag: isBoolean,
  args: isArray,
  names: isArray,
  variables: isObject,
  imports: isObject,
  sources: isObject,
  files: isObject,
  id: checkText,
  json: () => undefined,
  session: isSessionChoice,
  choice: () => undefined, // checkTable has the words
};

const { language: _language, ...sharedChecks } = runChecks;

const executeChecks: Checks<SessionExecuteOptions> = {
  ...sharedChecks,
  ...checkTable<SessionFields>(SESSION_FIELDS),
  timeoutMs: isPositiveInteger,
  onOutput: isFunction,
  onPrompt: isFunction,
};

const limitChecks = checkNumbers(LIMITS);

const anyRunChecks: Checks<RunOptions> = {
  ...runChecks,
  ...limitChecks,
  ...checkTable<RunFields>(RUN_FIELDS),
  language: kindChecks.language,
  onOutput: isFunction,
};

const sessionChecks: Checks<SessionOptions> = {
  language: isString, // the server checks which languages have sessions
  profile: isString,
  net: isArray,
  workdir: isString,
  name: isString,
  conversation: isString,
  reuse: isBoolean,
};

const agentChecks: Checks<AgentExecuteOptions> = {
  ...checkTable<AgentFields>(AGENT_FIELDS),
  ...checkNumbers(AGENT_LIMITS),
  onPending: isFunction,
  onOutput: isFunction,
  onPrompt: isFunction,
};

const inputChecks: Checks<AgentInputOptions> = {
  ...checkTable<InputFields>(INPUT_FIELDS),
  session: checkText,
  onPending: isFunction,
};

const clientChecks: Checks<GloveboxOptions> = {
  path: isString,
  command: isCommand,
  socket: isString,
  env: isObject,
  configFile: checkText,
  settings: (value, name) => checkEach(value, name, isSettingName, isSetting),
  decides: (value, name) => {
    isArray(value, name);
    (value as unknown[]).forEach((face, i) => isOneOf(face, `${name}[${i}]`, ['executor', 'actions']));
  },
  limits: (value, name) => checkFields(value, name, limitChecks),
};

/** The checks of the fields of a table, whose texts the server takes without NUL. */
function checkTable<T>(fields: readonly Field[]): Checks<T> {
  const checks = fields.map(({ name, kind, choices }) => {
    const check: Check = choices ? (value, path) => isOneOf(value, path, choices) : kindChecks[kind];
    return [name, check];
  });
  return Object.fromEntries(checks) as Checks<T>;
}

function checkNumbers<Name extends string>(names: readonly Name[]): Record<Name, Check> {
  return Object.fromEntries(names.map((name) => [name, isPositiveInteger])) as Record<Name, Check>;
}

/** Throws a TypeError that names the invalid field. */
export function checkRun(source: unknown, options: unknown): void {
  isString(source, 'source');
  checkFields(options, 'options', runChecks, HINTS);
}

/** Throws a TypeError that names the invalid field. */
export function checkAnyRun(source: unknown, options: unknown): void {
  isString(source, 'source');
  checkFields(options, 'options', anyRunChecks);
}

/** Throws a TypeError that names the invalid field. */
export function checkExecute(source: unknown, options: unknown): void {
  isString(source, 'source');
  checkFields(options, 'options', executeChecks);
}

/** Throws a TypeError that names the invalid field. */
export function checkSession(options: unknown): void {
  checkFields(options, 'options', sessionChecks);
}

/** Throws a TypeError that names the invalid field. */
export function checkAgentRun(source: unknown, options: AgentExecuteOptions): void {
  isString(source, 'source');
  checkFields(options, 'options', agentChecks);
  if (options.session && !options.conversation) {
    throw new TypeError("options.conversation: must be given, because a session belongs to a conversation");
  }
}

/** Throws a TypeError that names the invalid field. */
export function checkAgentInput(text: unknown, options: AgentInputOptions): void {
  checkText(text, 'text');
  checkFields(options, 'options', inputChecks);
  for (const name of ['conversation', 'session'] as const) {
    if (!options[name]) throw new TypeError(`options.${name}: must be given`);
  }
}

/** Throws a TypeError that names the invalid field. The server would cut a text at a NUL. */
export function checkText(value: unknown, name: string): void {
  if (typeof value !== 'string' || value.includes('\0')) {
    throw new TypeError(`${name}: must be a string without NUL`);
  }
}

/** Throws a TypeError that names the invalid field. */
export function checkClient(options: GloveboxOptions): void {
  checkFields(options, 'options', clientChecks);
  const given = (['path', 'command', 'socket'] as const).filter((key) => options[key] !== undefined);
  if (given.length > 1) throw new TypeError(`options: ${given.join(' and ')} exclude each other`);
  const other = given.find((key) => key !== 'path');
  const own = (['configFile', 'settings'] as const).find((key) => options[key] !== undefined);
  if (other && own) throw new TypeError(`options.${own}: cannot be combined with options.${other}`);
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
    throw new TypeError(`${name}: must be true, for the conversation's session, or the id of a session`);
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
