/* Options as fields of a message. All values of a message use one encoder: an object that occurs in several options is
 * one object in the sandbox. */
import { Encoder, memberText, setKey, type Exporter } from './encode.js';
import type { AgentExecuteOptions, AgentInputOptions, CodeExecutionOptions, Limits } from './options.js';
import type { RunOptions, SessionExecuteOptions } from './options.js';
import type { Json, JsonObject } from './protocol.js';
import { AGENT_LIMITS, LIMITS } from './tables.js';

/** The fields `source`, `options` and `limits` of a run. Throws a SerializationError for an unsupported value. */
export function encodeRun(
  source: string,
  options: CodeExecutionOptions,
  limits: Limits | undefined,
  exporter: Exporter,
): JsonObject {
  const encoder = new Encoder(exporter);
  const encoded: JsonObject = { execute: encodeExecute(options.execute, encoder), ...encodeCommon(options, encoder) };
  encoder.finish('options');
  return { source, options: encoded, ...(limits && { limits: { ...limits } }) };
}

/** The fields of a run in any language. */
export function encodeAnyRun(
  source: string,
  options: RunOptions,
  given: Limits | undefined,
  exporter: Exporter,
): JsonObject {
  const { execute, profile, stdin, files, restricted, allowedModules } = options;
  const encoder = new Encoder(exporter);
  const encoded = encodeCommon(options, encoder);
  if (execute) encoded.execute = encodeGivenExecute(execute, encoder);
  if (files) encoded.files = encodeNamed(files, 'files', encoder);
  if (allowedModules) encoder.put(encoded, 'allowedModules', [...allowedModules], 'allowedModules');
  encoder.finish('options');
  const limits = choose(LIMITS, options, given);
  return { source, options: Object.assign(encoded, defined({ profile, stdin, restricted })), limits };
}

/** The fields of a run in a session. */
export function encodeExecution(
  source: string,
  session: string,
  options: SessionExecuteOptions,
  given: Limits | undefined,
  exporter: Exporter,
): JsonObject {
  const { execute, timeoutMs, reset, stdin, files } = options;
  const encoder = new Encoder(exporter);
  const encoded = encodeCommon(options, encoder);
  if (execute?.fn !== undefined) encoded.execute = encodeGivenExecute(execute, encoder);
  if (files) encoded.files = encodeNamed(files, 'files', encoder);
  encoder.finish('options');
  if (reset) encoded.reset = true;
  if (stdin !== undefined) encoded.stdin = stdin;
  const limits: JsonObject = { ...(given as JsonObject | undefined), ...defined({ timeoutMs }) };
  return { source, session, options: encoded, limits };
}

/** The fields of an agent's request. Throws a SerializationError for an unsupported value. */
export function encodeAgentRun(source: string, options: AgentExecuteOptions, given: Limits | undefined): JsonObject {
  const { language, args, conversation, turn, purpose, session, tier, onInput } = options;
  const texts = { language, conversation, turn, purpose, session, tier, onInput };
  const message: JsonObject = { source, ...defined(texts) };
  const limits = choose(AGENT_LIMITS, options, given);
  if (Object.keys(limits).length > 0) message.limits = limits;
  if (!args) return message;
  const encoder = new Encoder();
  encoder.put(message, 'args', args, 'args');
  encoder.finish('options');
  return message;
}

/** The fields of an agent's input. */
export function encodeAgentInput(text: string, options: AgentInputOptions): JsonObject {
  const { conversation, session, turn, purpose } = options;
  return { text, ...defined({ conversation, session, turn, purpose }) };
}

/** The options that all kinds of runs have. */
function encodeCommon(options: Omit<RunOptions, 'execute'>, encoder: Encoder): JsonObject {
  const { imports, modules, globals, language, memoryLimitBytes, filename, report } = options;
  const encoded: JsonObject = {};
  if (imports) encoded.imports = encodeImports(imports, encoder);
  if (modules) encoded.modules = { ...modules };
  if (globals) encoded.globals = encodeNamed(globals, 'globals', encoder);
  if (language !== undefined) encoded.language = language;
  if (memoryLimitBytes !== undefined) encoded.memoryLimitBytes = memoryLimitBytes;
  if (filename !== undefined) encoded.filename = filename;
  if (report) encoded.report = true;
  return encoded;
}

function encodeExecute(execute: CodeExecutionOptions['execute'], encoder: Encoder): JsonObject {
  return encodeGivenExecute({ ...execute, fn: execute?.fn ?? 'default' }, encoder);
}

function encodeGivenExecute({ fn, args }: { fn?: string; args?: unknown[] }, encoder: Encoder): JsonObject {
  const encoded: JsonObject = fn === undefined ? {} : { fn };
  if (args) encoder.put(encoded, 'args', args, 'args');
  return encoded;
}

function encodeImports(imports: Record<string, Record<string, unknown>>, encoder: Encoder): JsonObject {
  const encoded: JsonObject = {};
  for (const [specifier, names] of Object.entries(imports)) {
    setKey(encoded, specifier, encodeNamed(names, `imports${memberText(specifier)}`, encoder));
  }
  return encoded;
}

/** Encodes each member by itself: `values` may be any object, such as the namespace of a module. */
function encodeNamed(values: Record<string, unknown>, name: string, encoder: Encoder): JsonObject {
  const encoded: JsonObject = {};
  for (const key of Object.keys(values)) encoder.putMember(encoded, key, values, name);
  return encoded;
}

/** The limits of a run; for those that are missing, the limits of its Glovebox. */
function choose(names: readonly string[], options: object, given: object | undefined): JsonObject {
  const own = options as Record<string, number | undefined>;
  const usual = (given ?? {}) as Record<string, number | undefined>;
  return defined(Object.fromEntries(names.map((name) => [name, own[name] ?? usual[name]])));
}

/** The fields that are not undefined. */
function defined(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
