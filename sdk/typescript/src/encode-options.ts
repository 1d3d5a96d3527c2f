/* Options as fields of a message. All values of a message use one encoder: an object that occurs in several options is
 * one object in the sandbox. */
import { Encoder, memberText, setKey, type Exporter } from './encode.js';
import type { AgentExecuteOptions, AgentInputOptions, CodeExecutionOptions, Limits } from './options.js';
import type { RunOptions, SessionExecuteOptions } from './options.js';
import type { Json, JsonObject } from './protocol.js';
import { AGENT_FIELDS, AGENT_LIMITS, INPUT_FIELDS, LIMITS, RUN_FIELDS, SESSION_FIELDS, type Field } from './tables.js';

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
  const encoder = new Encoder(exporter);
  const encoded = encodeCommon(options, encoder);
  if (options.execute) encoded.execute = encodeGivenExecute(options.execute, encoder);
  encodeFields(encoded, RUN_FIELDS, options, encoder);
  encoder.finish('options');
  return { source, options: encoded, limits: choose(LIMITS, options, given) };
}

/** The fields of a run in a session. */
export function encodeExecution(
  source: string,
  session: string,
  options: SessionExecuteOptions,
  given: Limits | undefined,
  exporter: Exporter,
): JsonObject {
  const { execute, timeoutMs } = options;
  const encoder = new Encoder(exporter);
  const encoded = encodeCommon(options, encoder);
  if (execute?.fn !== undefined) encoded.execute = encodeGivenExecute(execute, encoder);
  encodeFields(encoded, SESSION_FIELDS, options, encoder);
  encoder.finish('options');
  const limits: JsonObject = { ...(given as JsonObject | undefined), ...defined({ timeoutMs }) };
  return { source, session, options: encoded, limits };
}

/** The fields of an agent's request. Throws a SerializationError for an unsupported value. */
export function encodeAgentRun(source: string, options: AgentExecuteOptions, given: Limits | undefined): JsonObject {
  const encoder = new Encoder();
  const message: JsonObject = { source };
  encodeFields(message, AGENT_FIELDS, options, encoder);
  encoder.finish('options');
  const limits = choose(AGENT_LIMITS, options, given);
  if (Object.keys(limits).length > 0) message.limits = limits;
  return message;
}

/** The fields of an agent's input. */
export function encodeAgentInput(text: string, options: AgentInputOptions): JsonObject {
  const message: JsonObject = { text };
  encodeFields(message, INPUT_FIELDS, options, new Encoder());
  return message;
}

/** Adds the fields of a table that are given. */
function encodeFields(encoded: JsonObject, fields: readonly Field[], options: object, encoder: Encoder): void {
  const given = options as Record<string, unknown>;
  for (const { name, kind } of fields) {
    const value = given[name];
    if (value === undefined) continue;
    if (kind === 'files') encoded[name] = encodeNamed(value as Record<string, unknown>, name, encoder);
    else if (kind === 'names') encoder.put(encoded, name, [...(value as string[])], name);
    else if (kind === 'args' || kind === 'json') encoder.put(encoded, name, value, name);
    else encoded[name] = value as Json;
  }
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
