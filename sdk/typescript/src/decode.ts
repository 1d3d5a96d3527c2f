import { setKey } from './encode.js';
import { SerializationError } from './errors.js';
import { ProtocolError, type Json, type JsonObject } from './protocol.js';

/** Finds functions and promises by id; undefined for an unknown id. */
export interface Importer {
  importFunction(id: number, fromSandbox: boolean): unknown;
  importPromise(id: number, fromSandbox: boolean): unknown;
}

type Bytes = ArrayBuffer;
type ViewClass = new (buffer: Bytes, byteOffset?: number, length?: number) => ArrayBufferView;

/** More than the depth of any value that a Glovebox writes, and less than the depth that overflows the stack. */
const MAX_DEPTH = 1500;

const ERRORS = new Map<string, ErrorConstructor>(
  [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((type) => [type.name, type]),
);

const VIEWS = new Set(
  ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float16', 'Float32', 'Float64']
    .concat(['BigInt64', 'BigUint64'])
    .map((name) => `${name}Array`)
    .concat('DataView'),
);

/** Decodes the values of one line. The decoded values are new and plain, and do not affect prototypes. */
export class Decoder {
  readonly #line: unknown;
  readonly #importer: Importer;
  /** The JSON forms of shared values, by id; collected at the first reference. */
  #forms: Map<number, Json> | undefined;
  readonly #shared = new Map<number, unknown>();

  constructor(line: unknown, importer: Importer) {
    this.#line = line;
    this.#importer = importer;
  }

  /** `name` is the name of the value in errors. */
  decode(json: Json | undefined, name: string): unknown {
    if (json === undefined) throw new ProtocolError(`there is no ${name}`);
    try {
      return this.#value(json, 0);
    } catch (thrown) {
      if (thrown instanceof Unsupported) throw new SerializationError(name, thrown.message);
      throw thrown;
    }
  }

  /** `id` is the id of a shared value. A container is registered before its content, which may refer to it. */
  #value(json: Json, depth: number, id?: number): unknown {
    if (typeof json !== 'object' || json === null) return json;
    if (depth > MAX_DEPTH) throw new ProtocolError('a value is nested too deeply');
    if (Array.isArray(json)) return this.#array(json, depth, id);
    if (Object.hasOwn(json, '$type')) return this.#tagged(json, depth, id);
    return this.#entries({}, Object.keys(json), (key) => json[key]!, depth, id);
  }

  #tagged(json: JsonObject, depth: number, id?: number): unknown {
    switch (json.$type) {
      case 'undefined':
        return undefined;
      case 'number':
        return Number(text(json, 'value'));
      case 'bigint':
        return decodeBigint(text(json, 'value'));
      case 'Object':
        return this.#object(list(json, 'entries'), depth, id);
      case 'Map':
        return this.#map(list(json, 'entries'), depth, id);
      case 'Set':
        return this.#set(list(json, 'values'), depth, id);
      case 'Error':
        return this.#error(json, depth, id);
      case 'shared':
        return this.#sharedValue(whole(json, 'id'), json.value!, depth);
      case 'ref':
        return this.#reference(whole(json, 'id'), depth);
      case 'function':
        return known(this.#importer.importFunction(whole(json, 'id'), json.owner === 'sandbox'));
      case 'promise':
        return known(this.#importer.importPromise(whole(json, 'id'), json.owner === 'sandbox'));
      default:
        return this.#keep(id, this.#leaf(json, depth));
    }
  }

  #leaf(json: JsonObject, depth: number): unknown {
    switch (json.$type) {
      case 'Date':
        return new Date(json.value === null ? NaN : text(json, 'value'));
      case 'ArrayBuffer':
        return decodeBytes(text(json, 'data'));
      case 'RegExp':
        return decodeRegExp(text(json, 'source'), text(json, 'flags'));
      default:
        return this.#view(json, depth);
    }
  }

  #array(json: Json[], depth: number, id?: number): unknown[] {
    const array: unknown[] = this.#keep(id, new Array<unknown>(json.length));
    json.forEach((item, i) => {
      if (!isHole(item)) array[i] = this.#value(item, depth + 1);
    });
    return array;
  }

  #object(entries: Json[], depth: number, id?: number): object {
    const pairs = new Map(entries.map((entry) => pair(entry) as [string, Json]));
    return this.#entries({}, pairs.keys(), (key) => pairs.get(key)!, depth, id);
  }

  #entries(into: object, keys: Iterable<string>, get: (key: string) => Json, depth: number, id?: number): object {
    this.#keep(id, into);
    for (const key of keys) setKey(into, key, this.#value(get(key), depth + 1));
    return into;
  }

  #map(entries: Json[], depth: number, id?: number): Map<unknown, unknown> {
    const map = this.#keep(id, new Map<unknown, unknown>());
    for (const entry of entries) {
      const [key, value] = pair(entry);
      map.set(this.#value(key, depth + 1), this.#value(value, depth + 1));
    }
    return map;
  }

  #set(values: Json[], depth: number, id?: number): Set<unknown> {
    const set = this.#keep(id, new Set<unknown>());
    for (const value of values) set.add(this.#value(value, depth + 1));
    return set;
  }

  #error(json: JsonObject, depth: number, id?: number): Error {
    const error = this.#keep(id, decodeError(text(json, 'name'), text(json, 'message'), json.stack));
    if (json.cause !== undefined) hide(error, 'cause', this.#value(json.cause, depth + 1));
    if (json.errors !== undefined) hide(error, 'errors', this.#value(json.errors, depth + 1));
    return error;
  }

  #view(json: JsonObject, depth: number): ArrayBufferView {
    const name = text(json, '$type');
    if (!VIEWS.has(name)) throw new ProtocolError(`there are no values of the type ${JSON.stringify(name)}`);
    const View = (globalThis as unknown as Record<string, ViewClass | undefined>)[name];
    if (!View) throw new Unsupported(`this version of Node.js has no ${name}`);
    if (json.data !== undefined) return makeView(View, decodeBytes(text(json, 'data')));
    const buffer = this.#value(json.buffer!, depth + 1) as Bytes;
    return makeView(View, buffer, whole(json, 'byteOffset'), whole(json, 'length'));
  }

  #sharedValue(id: number, json: Json, depth: number): unknown {
    if (this.#shared.has(id)) return this.#shared.get(id);
    return this.#keep(id, this.#value(json, depth + 1, id));
  }

  /** A reference may come before the shared value. */
  #reference(id: number, depth: number): unknown {
    if (this.#shared.has(id)) return this.#shared.get(id);
    this.#forms ??= findShared(this.#line);
    const form = this.#forms.get(id);
    if (form === undefined) throw new ProtocolError(`there is no shared value with the id ${id}`);
    return this.#sharedValue(id, form, depth);
  }

  #keep<T>(id: number | undefined, value: T): T {
    if (id !== undefined) this.#shared.set(id, value);
    return value;
  }
}

/** Well-formed, but not supported here. */
class Unsupported extends Error {}

function known(callable: unknown): unknown {
  if (callable === undefined) throw new Unsupported('there is no such function or promise');
  return callable;
}

function findShared(line: unknown): Map<number, Json> {
  const found = new Map<number, Json>();
  const todo = [line];
  while (todo.length > 0) {
    const json = todo.pop();
    if (typeof json !== 'object' || json === null) continue;
    const { $type, id, value } = json as JsonObject;
    if ($type === 'shared') found.set(id as number, value!);
    for (const child of Object.values(json)) todo.push(child);
  }
  return found;
}

function isHole(json: Json): boolean {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && json.$type === 'hole';
}

function decodeBigint(digits: string): bigint {
  try {
    return digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits);
  } catch {
    throw new ProtocolError('a bigint has no number');
  }
}

/** In a separate buffer, not in the pool that Buffers are allocated from. */
function decodeBytes(data: string): Bytes {
  const bytes = new Uint8Array(Buffer.byteLength(data, 'base64'));
  Buffer.from(bytes.buffer).write(data, 'base64');
  return bytes.buffer;
}

function makeView(View: ViewClass, ...args: ConstructorParameters<ViewClass>): ArrayBufferView {
  try {
    return new View(...args);
  } catch {
    throw new ProtocolError('a view does not fit its buffer');
  }
}

/** The stack is the sandbox's, or none: the host's own would only mislead. It begins with the message, as here. */
function decodeError(name: string, message: string, stack: Json | undefined): Error {
  const error = name === 'AggregateError' ? new AggregateError([], message) : new (ERRORS.get(name) ?? Error)(message);
  if (error.name !== name) hide(error, 'name', name);
  const heading = `${name}: ${message}`;
  hide(error, 'stack', typeof stack === 'string' ? `${heading}\n${stack}` : heading);
  return error;
}

function hide(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, enumerable: false, configurable: true, writable: true });
}

function decodeRegExp(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    throw new Unsupported(`this version of Node.js does not know the regular expression /${source}/${flags}`);
  }
}

function text(json: JsonObject, field: string): string {
  const value = json[field];
  if (typeof value !== 'string') throw new ProtocolError(`${String(json.$type)}.${field} is not a string`);
  return value;
}

function whole(json: JsonObject, field: string): number {
  const value = json[field];
  if (typeof value !== 'number') throw new ProtocolError(`${String(json.$type)}.${field} is not a number`);
  return value;
}

function list(json: JsonObject, field: string): Json[] {
  const value = json[field];
  if (!Array.isArray(value)) throw new ProtocolError(`${String(json.$type)}.${field} is not an array`);
  return value;
}

function pair(json: Json): [Json, Json] {
  if (!Array.isArray(json) || json.length !== 2) throw new ProtocolError('an entry is not a pair');
  return json as [Json, Json];
}
