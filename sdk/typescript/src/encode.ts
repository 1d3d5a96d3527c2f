import { types } from 'node:util';
import { messageOf, SerializationError } from './errors.js';
import type { Json, JsonObject } from './protocol.js';

/** Functions and promises are not serialized: the other side gets an id for them. */
export interface Exporter {
  exportFunction(fn: Function): Json;
  exportPromise(promise: Promise<unknown>): Json;
}

type Holder = JsonObject | Json[];
type Key = string | number;
/** One step of the path from the root to a value: a property, or a text such as `.keys()[0]`. */
type Step = Key | { text: string };

/** An object that has been encoded, and the place of its JSON form. */
interface Met {
  holder: Holder;
  key: Key;
  /** Set at the second reference. */
  id?: number;
}

/** An ArrayBuffer with its views. */
interface Backing {
  node: JsonObject;
  buffer: ArrayBuffer;
  met: Met;
  /** Whether the buffer is a value itself, not only the buffer of a view. */
  given: boolean;
  views: { node: JsonObject; bytes: Uint8Array }[];
}

/** The maximal depth of a value. A Map counts three levels, a Set two, as in the JSON form. */
const MAX_DEPTH = 500;
/** The depth of brackets in a line that every Glovebox reads, less the brackets of the message itself. */
const MAX_BRACKETS = 990;
/** The number of values in a line that every Glovebox reads. */
const MAX_VALUES = 4_194_304;
/** A chain of causes is cut here. */
const MAX_CAUSES = 32;
/** Bigints of this size or more are written in hexadecimal. */
const LONG_BIGINT = 1n << 32768n;

/**
 * Encodes values as JSON. One encoder writes one line: its ids are unique in the line, and an object that occurs in
 * several values of the line stays one object.
 */
export class Encoder {
  readonly #exporter: Exporter | undefined;
  readonly #met = new Map<object, Met>();
  readonly #backings = new Map<ArrayBuffer, Backing>();
  #path: Step[] = [];
  #values = 0;
  #shared = 0;
  #deepest = 0;
  /** The depth of nested causes of errors. */
  #causes = 0;

  /** Without an exporter, functions and promises are rejected. */
  constructor(exporter?: Exporter) {
    this.#exporter = exporter;
  }

  /** Stores the JSON form of `value` in `holder[key]`. `name` is the name of the value in errors. */
  put(holder: Holder, key: Key, value: unknown, name: string): void {
    this.#path = [{ text: name }];
    this.#guard(() => this.#put(holder, key, value, 0));
  }

  /** Stores the JSON form of `object[key]` in `holder[key]`. `name` is the name of the object in errors. */
  putMember(holder: JsonObject, key: string, object: object, name: string): void {
    this.#path = [{ text: name }];
    this.#guard(() => this.#putStep(holder, key, object, key, key, 0));
  }

  /** An exception of a getter or proxy becomes a SerializationError that names its place. */
  #guard(put: () => void): void {
    try {
      put();
    } catch (thrown) {
      if (thrown instanceof SerializationError) throw thrown;
      this.#refuse(`reading it threw: ${messageOf(thrown)}`);
    }
  }

  /** Must be called after the last value. */
  finish(name: string): void {
    for (const backing of this.#backings.values()) finishBacking(backing);
    if (this.#deepest + Math.min(this.#shared, this.#deepest) > MAX_BRACKETS) {
      throw new SerializationError(name, 'it is nested too deeply');
    }
  }

  #put(holder: Holder, key: Key, value: unknown, depth: number): void {
    if (++this.#values > MAX_VALUES) this.#refuse(`there are more than ${MAX_VALUES} values`);
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return setKey(holder, key, value);
      case 'number':
        return setKey(holder, key, encodeNumber(value));
      case 'undefined':
        return setKey(holder, key, { $type: 'undefined' });
      case 'bigint':
        return setKey(holder, key, { $type: 'bigint', value: encodeBigint(value) });
      case 'function':
        if (!this.#exporter || this.#causes > 0) this.#refuse('a function cannot cross here');
        return setKey(holder, key, this.#exporter.exportFunction(value));
      case 'object':
        return value === null ? setKey(holder, key, null) : this.#putObject(holder, key, value, depth);
      default:
        this.#refuse(`a ${typeof value} cannot cross`);
    }
  }

  #putObject(holder: Holder, key: Key, value: object, depth: number): void {
    if (types.isPromise(value)) return this.#putPromise(holder, key, value);
    if (types.isArrayBuffer(value)) return this.#putBuffer(holder, key, value, true);
    const met = this.#met.get(value);
    if (met) return this.#putReference(holder, key, met);
    this.#met.set(value, { holder, key });

    if (Array.isArray(value)) return this.#putArray(holder, key, value, depth);
    if (ArrayBuffer.isView(value)) return this.#putView(holder, key, value);
    if (types.isMap(value)) return this.#putMap(holder, key, value, depth);
    if (types.isSet(value)) return this.#putSet(holder, key, value, depth);
    if (types.isDate(value)) return this.#putDate(holder, key, value);
    if (types.isRegExp(value)) return this.#putRegExp(holder, key, value);
    if (isError(value)) return this.#putError(holder, key, value, depth);
    this.#putPlain(holder, key, value, depth);
  }

  #putPromise(holder: Holder, key: Key, promise: Promise<unknown>): void {
    if (!this.#exporter || this.#causes > 0) this.#refuse('a promise cannot cross here');
    setKey(holder, key, this.#exporter.exportPromise(promise));
  }

  #putReference(holder: Holder, key: Key, met: Met): void {
    if (met.id === undefined) {
      met.id = this.#shared++;
      const value = Reflect.get(met.holder, met.key) as Json;
      setKey(met.holder, met.key, { $type: 'shared', id: met.id, value });
    }
    setKey(holder, key, { $type: 'ref', id: met.id });
  }

  #putArray(holder: Holder, key: Key, array: unknown[], depth: number): void {
    this.#refuseSubclass(array, 2);
    const below = this.#descend(depth, 1);
    const length = array.length;
    if (length > MAX_VALUES) this.#refuse(`the array is longer than ${MAX_VALUES}`);
    const node: Json[] = [];
    setKey(holder, key, node);
    for (let i = 0; i < length; i++) {
      if (!Object.hasOwn(array, i)) node[i] = { $type: 'hole' };
      else this.#putStep(node, i, array, i, i, below);
    }
  }

  #putPlain(holder: Holder, key: Key, object: object, depth: number): void {
    if (!isPlain(object)) this.#refuse(`${describe(object)} cannot cross`);
    const keys = Object.keys(object);
    if (keys.includes('$type')) {
      const below = this.#descend(depth, 3);
      const entries = this.#putTagged(holder, key, 'Object', 'entries');
      for (const name of keys) {
        const entry: Json[] = [name];
        entries.push(entry);
        this.#putStep(entry, 1, object, name, name, below);
      }
    } else {
      const below = this.#descend(depth, 1);
      const node: JsonObject = {};
      setKey(holder, key, node);
      for (const name of keys) this.#putStep(node, name, object, name, name, below);
    }
  }

  #putMap(holder: Holder, key: Key, map: Map<unknown, unknown>, depth: number): void {
    this.#refuseSubclass(map, 2);
    const below = this.#descend(depth, 3);
    const entries = this.#putTagged(holder, key, 'Map', 'entries');
    // Copy the entries before reading from them: a getter could change the map.
    const snapshot: [unknown, unknown][] = [];
    Map.prototype.forEach.call(map, (value, name) => snapshot.push([name, value]));
    snapshot.forEach((pair, i) => {
      const entry: Json[] = [];
      entries.push(entry);
      this.#putStep(entry, 0, pair, 0, { text: `.keys()[${i}]` }, below);
      this.#putStep(entry, 1, pair, 1, { text: `.values()[${i}]` }, below);
    });
  }

  #putSet(holder: Holder, key: Key, set: Set<unknown>, depth: number): void {
    this.#refuseSubclass(set, 2);
    const below = this.#descend(depth, 2);
    const values = this.#putTagged(holder, key, 'Set', 'values');
    const snapshot: unknown[] = [];
    Set.prototype.forEach.call(set, (value) => snapshot.push(value));
    for (let i = 0; i < snapshot.length; i++) {
      this.#putStep(values, i, snapshot, i, { text: `.values()[${i}]` }, below);
    }
  }

  #putDate(holder: Holder, key: Key, date: Date): void {
    this.#refuseSubclass(date, 2);
    const time = Date.prototype.getTime.call(date);
    setKey(holder, key, { $type: 'Date', value: Number.isNaN(time) ? null : new Date(time).toISOString() });
  }

  /** Values in its cause or errors that cannot be serialized are replaced by a description; the error is kept. */
  #putError(holder: Holder, key: Key, error: Error, depth: number): void {
    const node: JsonObject = encodeError(error);
    setKey(holder, key, node);
    if (this.#causes === MAX_CAUSES) return;
    const below = this.#descend(depth, 1);
    this.#causes++;
    for (const part of ['cause', 'errors'] as const) {
      const property = Object.getOwnPropertyDescriptor(error, part);
      if (!property || !('value' in property) || (part === 'errors' && !Array.isArray(property.value))) continue;
      this.#putLeniently(node, part, property.value, below);
    }
    this.#causes--;
  }

  #putLeniently(holder: Holder, key: Key, value: unknown, depth: number): void {
    const path = this.#path.length;
    const causes = this.#causes;
    try {
      this.#put(holder, key, value, depth);
    } catch (thrown) {
      if (!(thrown instanceof SerializationError)) throw thrown;
      if (typeof value === 'object' && value !== null) this.#met.delete(value);
      this.#path.length = path;
      this.#causes = causes;
      setKey(holder, key, typeof value === 'object' && value !== null ? `[${describe(value)}]` : `[${typeof value}]`);
    }
  }

  #putRegExp(holder: Holder, key: Key, regexp: RegExp): void {
    this.#refuseSubclass(regexp, 2);
    setKey(holder, key, { $type: 'RegExp', source: regexp.source, flags: regexp.flags });
  }

  /**
   * A view is encoded with its buffer, as in a structured clone. A Buffer is encoded with its own bytes only: the rest
   * of its ArrayBuffer is a pool with unrelated data.
   */
  #putView(holder: Holder, key: Key, view: ArrayBufferView): void {
    const kind = kindOfView(view);
    if (Buffer.isBuffer(view)) return setKey(holder, key, { $type: kind, data: base64(view) });
    this.#refuseSubclass(view, kind === 'DataView' ? 2 : 3);
    const { buffer, byteOffset, byteLength } = view;
    if (!types.isArrayBuffer(buffer)) this.#refuse('a view of a SharedArrayBuffer cannot cross');
    const bytes = new Uint8Array(buffer, byteOffset, byteLength); // throws if the buffer has been transferred
    const node: JsonObject = { $type: kind };
    setKey(holder, key, node);
    this.#putBuffer(node, 'buffer', buffer, false);
    node.byteOffset = byteOffset;
    node.length = types.isTypedArray(view) ? view.length : byteLength;
    this.#backings.get(buffer)!.views.push({ node, bytes });
  }

  #putBuffer(holder: Holder, key: Key, buffer: ArrayBuffer, given: boolean): void {
    this.#refuseSubclass(buffer, 2);
    const known = this.#backings.get(buffer);
    if (known) {
      known.given ||= given;
      return this.#putReference(holder, key, known.met);
    }
    new Uint8Array(buffer); // throws if it has been transferred
    const node = { $type: 'ArrayBuffer' };
    const met = { holder, key };
    this.#backings.set(buffer, { node, buffer, met, given, views: [] });
    setKey(holder, key, node);
  }

  /** Stores `{"$type":type, [field]:[]}` and returns the empty array. */
  #putTagged(holder: Holder, key: Key, type: string, field: string): Json[] {
    const items: Json[] = [];
    setKey(holder, key, { $type: type, [field]: items });
    return items;
  }

  /** Stores the JSON form of `from[at]`. */
  #putStep(holder: Holder, key: Key, from: object, at: Key, step: Step, depth: number): void {
    this.#path.push(step); // before reading, so that the error of a throwing getter names it
    const value = (from as Record<Key, unknown>)[at];
    if (this.#causes > 0) this.#putLeniently(holder, key, value, depth);
    else this.#put(holder, key, value, depth);
    this.#path.pop();
  }

  #descend(depth: number, brackets: number): number {
    const below = depth + brackets;
    if (below > MAX_DEPTH) this.#refuse(`it is nested more than ${MAX_DEPTH} deep`);
    this.#deepest = Math.max(this.#deepest, below);
    return below;
  }

  /** `prototypes` is the length of the prototype chain of a direct instance of the class. */
  #refuseSubclass(value: object, prototypes: number): void {
    let count = 0;
    for (let at: object | null = value; (at = Object.getPrototypeOf(at) as object | null);) count++;
    if (count > prototypes) this.#refuse(`${describe(value)} cannot cross`);
  }

  #refuse(why: string): never {
    throw new SerializationError(pathText(this.#path), why);
  }
}

/** Errors are sent without their stack, which would disclose details of the host. */
function encodeError(error: Error): JsonObject {
  return { $type: 'Error', name: textOf(error, 'name') ?? 'Error', message: textOf(error, 'message') ?? '' };
}

function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function textOf(error: Error, field: 'name' | 'message'): string | undefined {
  const text: unknown = error[field];
  return typeof text === 'string' ? text : undefined;
}

/** Treats `__proto__` as an ordinary key. */
export function setKey(holder: object, key: Key, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (holder as Record<Key, unknown>)[key] = value;
  }
}

function encodeNumber(number: number): Json {
  const plain = Number.isFinite(number) && !Object.is(number, -0);
  return plain ? number : { $type: 'number', value: Object.is(number, -0) ? '-0' : String(number) };
}

function encodeBigint(bigint: bigint): string {
  const magnitude = bigint < 0n ? -bigint : bigint;
  const text = magnitude < LONG_BIGINT ? String(magnitude) : `0x${magnitude.toString(16)}`;
  return bigint < 0n ? `-${text}` : text;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Uses the short form for the only view of a buffer if it covers the whole buffer. */
function finishBacking({ node, buffer, met, given, views }: Backing): void {
  const [only] = views;
  if (only && !given && met.id === undefined && only.bytes.byteLength === buffer.byteLength) {
    delete only.node.buffer;
    delete only.node.byteOffset;
    delete only.node.length;
    only.node.data = base64(only.bytes);
  } else {
    node.data = base64(given ? new Uint8Array(buffer) : shownBytes(buffer, views));
  }
}

/**
 * The bytes of a buffer that is not itself a value. Bytes outside its views become zeros: they may be unrelated data,
 * such as other parts of the pool that Buffers are allocated from.
 */
function shownBytes(buffer: ArrayBuffer, views: Backing['views']): Uint8Array {
  const shown = new Uint8Array(buffer.byteLength);
  for (const { bytes } of views) shown.set(bytes, bytes.byteOffset);
  return shown;
}

function kindOfView(view: ArrayBufferView): string {
  return types.isTypedArray(view) ? view[Symbol.toStringTag] : 'DataView';
}

/** An object literal, of this realm or another, or one without a prototype. */
function isPlain(object: object): boolean {
  if (types.isBoxedPrimitive(object) || types.isArgumentsObject(object)) return false;
  const prototype = Object.getPrototypeOf(object) as object | null;
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

function describe(object: object): string {
  try {
    const { constructor } = object;
    const name: unknown = typeof constructor === 'function' && constructor.name;
    if (typeof name === 'string' && name !== '' && name !== 'Object') return `an instance of ${name}`;
  } catch {
    // A getter or proxy threw.
  }
  return 'an object with a prototype of its own';
}

/** The path as text; of a long path, the beginning and the end. */
function pathText(path: Step[]): string {
  const shown = path.length <= 40 ? path : [...path.slice(0, 30), { text: ' … ' }, ...path.slice(-5)];
  return shown.map(stepText).join('');
}

function stepText(step: Step): string {
  if (typeof step === 'object') return step.text;
  if (typeof step === 'number') return `[${step}]`;
  return memberText(step);
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** `.key`, or `["key"]` where that is not possible. */
export function memberText(key: string): string {
  return isIdentifier(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
