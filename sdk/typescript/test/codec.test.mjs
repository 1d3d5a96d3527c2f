/* Encoding and decoding of values: ambiguous ones, hostile ones, large ones. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { SerializationError } from 'glovebox';
import { Decoder } from '../dist/decode.js';
import { Encoder } from '../dist/encode.js';

const callables = {
  exportFunction: () => ({ $type: 'function', id: 1 }),
  exportPromise: () => ({ $type: 'promise', id: 2 }),
  importFunction: (id) => (id === 1 ? Function.prototype : undefined),
  importPromise: () => undefined,
};

function encode(value) {
  const encoder = new Encoder(callables);
  const line = {};
  encoder.put(line, 'value', value, 'globals');
  encoder.finish('globals');
  return JSON.stringify(line);
}

function decode(text) {
  const line = JSON.parse(text);
  return new Decoder(line, callables).decode(line.value, 'value');
}

const form = (value) => JSON.stringify(JSON.parse(encode(value)).value);
const parsed = (json) => decode(`{"value":${json}}`);
const there = (value) => decode(encode(value));
const deep = (depth, wrap = (inner) => [inner]) => {
  let value = 1;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
};

/** Encodes the value, compares the text, and compares the decoded value. */
function crosses(name, value, text, back = value) {
  test(name, () => {
    if (text !== undefined) assert.equal(form(value), text);
    assert.deepStrictEqual(there(value), back);
  });
}

function refused(name, value, path, why) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => encode(value),
      (error) => {
        assert.ok(error instanceof SerializationError);
        assert.equal(error.name, 'SerializationError');
        assert.equal(error.path, path);
        assert.ok(error.message.startsWith(`${path}: `), error.message);
        assert.match(error.message, why);
        return true;
      },
    );
  });
}

crosses('undefined', undefined, '{"$type":"undefined"}');
crosses(
  'null, booleans, strings, numbers',
  [null, true, false, '', 'a"\n', 0, -1.5, 1e21],
  '[null,true,false,"","a\\"\\n",0,-1.5,1e+21]',
);
crosses('NaN', NaN, '{"$type":"number","value":"NaN"}');
crosses(
  'infinities',
  [Infinity, -Infinity],
  '[{"$type":"number","value":"Infinity"},{"$type":"number","value":"-Infinity"}]',
);
crosses('minus zero', -0, '{"$type":"number","value":"-0"}');
crosses(
  'bigints',
  [0n, -123n, 2n ** 64n],
  '[{"$type":"bigint","value":"0"},{"$type":"bigint","value":"-123"},{"$type":"bigint","value":"18446744073709551616"}]',
);
crosses('a lone surrogate', ['\ud800', 'a\udc00b', '😀'], '["\\ud800","a\\udc00b","😀"]');
crosses('a lone surrogate in a key', { '\udfff': 1 }, '{"\\udfff":1}');
crosses('a sparse array', [1, , 3, ,], '[1,{"$type":"hole"},3,{"$type":"hole"}]');
crosses('undefined in an array is not a hole', [undefined], '[{"$type":"undefined"}]');
crosses('an object with a key $type', { $type: 'Map', a: 1 }, '{"$type":"Object","entries":[["$type","Map"],["a",1]]}');
crosses(
  'a Map',
  new Map([
    ['a', 1],
    [new Map(), NaN],
  ]),
  '{"$type":"Map","entries":[["a",1],[{"$type":"Map","entries":[]},{"$type":"number","value":"NaN"}]]}',
);
crosses('a Set', new Set([1, 'a', undefined]), '{"$type":"Set","values":[1,"a",{"$type":"undefined"}]}');
crosses('a Date', new Date(0), '{"$type":"Date","value":"1970-01-01T00:00:00.000Z"}');
crosses('the first and last dates', [new Date(-8.64e15), new Date(8.64e15)]);
crosses('a RegExp', /a\/b+/giu, '{"$type":"RegExp","source":"a\\\\/b+","flags":"giu"}');
crosses('an ArrayBuffer', new Uint8Array([1, 2]).buffer, '{"$type":"ArrayBuffer","data":"AQI="}');
crosses('an empty typed array', new Uint8Array(), '{"$type":"Uint8Array","data":""}');
crosses('an object without prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}', { a: 1 });
crosses(
  'an object literal of another realm',
  runInNewContext('({ a: [1, new Map([[1, 2]]), new Date(0)] })'),
  undefined,
  { a: [1, new Map([[1, 2]]), new Date(0)] },
);
crosses('symbol keys are left out, as in a structured clone', { a: 1, [Symbol('b')]: 2 }, '{"a":1}', { a: 1 });
crosses(
  'non-enumerable and inherited properties are left out',
  Object.defineProperty({ a: 1 }, 'b', { value: 2 }),
  '{"a":1}',
  { a: 1 },
);
crosses(
  'a getter is read',
  {
    get a() {
      return 1;
    },
  },
  '{"a":1}',
  { a: 1 },
);
crosses('toJSON is a name like any other', { toJSON: 1 }, '{"toJSON":1}');
crosses('a proxy is what it shows', new Proxy({ a: 1 }, { get: () => 2 }), '{"a":2}', { a: 2 });
crosses('a proxy of an array', new Proxy([1, 2], {}), '[1,2]', [1, 2]);

test('an invalid Date', () => {
  assert.equal(form(new Date(NaN)), '{"$type":"Date","value":null}');
  const back = there(new Date(NaN));
  assert.ok(back instanceof Date);
  assert.ok(Number.isNaN(back.getTime()));
});

test('a long bigint is hexadecimal', () => {
  for (const big of [2n ** 40000n, -(2n ** 40001n) + 1n]) {
    assert.match(form(big), /"-?0x[0-9a-f]+"/);
    assert.equal(there(big), big);
  }
  assert.match(form(2n ** 32768n - 1n), /"\d{9865}"/);
});

test('__proto__ is encoded and decoded as an own key, without prototype pollution', () => {
  const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  assert.equal(form(hostile), '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  for (const back of [
    there(hostile),
    parsed('{"$type":"Object","entries":[["__proto__",{"polluted":1}],["$type",1]]}'),
  ]) {
    assert.deepEqual(Object.getOwnPropertyDescriptor(back, '__proto__')?.value, { polluted: 1 });
    assert.equal(Object.getPrototypeOf(back), Object.prototype);
    assert.equal(back.polluted, undefined);
  }
  assert.equal({}.polluted, undefined);
  const shared = {};
  const twice = JSON.parse('{"__proto__":0,"again":0}');
  Object.defineProperty(twice, '__proto__', { value: shared, enumerable: true });
  twice.again = shared;
  const back = there(twice);
  assert.equal(Object.getOwnPropertyDescriptor(back, '__proto__').value, back.again);
});

const VIEWS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
];
for (const View of VIEWS) crosses(View.name, new View([1, 2, 255]));
for (const View of [BigInt64Array, BigUint64Array]) crosses(View.name, new View([1n, 2n ** 62n]));
crosses('a DataView', new DataView(new Uint8Array([1, 2, 3]).buffer), '{"$type":"DataView","data":"AQID"}');

test('Float16Array, if this Node.js has it', () => {
  const json = '{"$type":"Float16Array","data":"ADw="}';
  if (typeof Float16Array === 'undefined') {
    assert.throws(() => parsed(json), { name: 'SerializationError', message: /no Float16Array/ });
  } else {
    assert.deepStrictEqual(parsed(json), new Float16Array([1]));
    assert.equal(form(new Float16Array([1])), json);
  }
});

test('a view of a part of its buffer', () => {
  const back = there(new Uint16Array(new Uint8Array([1, 2, 3, 4, 5, 6]).buffer, 2, 1));
  assert.deepStrictEqual(back, new Uint16Array([0x0403]));
  assert.equal(back.byteOffset, 2);
  assert.equal(back.buffer.byteLength, 6);
});

test('bytes outside all views are not sent', () => {
  const secret = new Uint8Array([1, 2, 3, 4]).buffer;
  assert.deepStrictEqual(new Uint8Array(there(new Uint8Array(secret, 1, 2)).buffer), new Uint8Array([0, 2, 3, 0]));
  assert.deepStrictEqual(
    new Uint8Array(there([new Uint8Array(secret, 1, 2), secret])[1]),
    new Uint8Array([1, 2, 3, 4]),
  );
});

test('views that share a buffer share it after decoding', () => {
  const buffer = new ArrayBuffer(8);
  for (const value of [
    [new Uint8Array(buffer), new DataView(buffer, 4), buffer],
    [buffer, new Uint8Array(buffer), new DataView(buffer, 4)],
  ]) {
    const back = there(value);
    const bytes = back.find((item) => item instanceof Uint8Array);
    const view = back.find((item) => item instanceof DataView);
    assert.equal(bytes.buffer, view.buffer);
    assert.ok(back.includes(bytes.buffer));
    bytes[4] = 7;
    assert.equal(view.getUint8(0), 7);
  }
});

test('a buffer is encoded at its first occurrence', () => {
  const buffer = new ArrayBuffer(1);
  assert.equal(
    form([new Uint8Array(buffer), buffer]),
    '[{"$type":"Uint8Array","buffer":{"$type":"shared","id":0,"value":{"$type":"ArrayBuffer","data":"AA=="}},"byteOffset":0,"length":1},{"$type":"ref","id":0}]',
  );
});

test('a Buffer is sent as a Uint8Array of its own bytes only', () => {
  const [one, two] = [Buffer.from('ab'), Buffer.from('cd')]; // both from Node's pool
  assert.equal(
    form([one, two, one]),
    '[{"$type":"shared","id":0,"value":{"$type":"Uint8Array","data":"YWI="}},{"$type":"Uint8Array","data":"Y2Q="},{"$type":"ref","id":0}]',
  );
});

test('32 MiB of bytes', () => {
  const bytes = new Uint8Array(32 * 1024 * 1024).map((_, i) => i);
  assert.ok(Buffer.from(there(bytes)).equals(bytes));
});

test('errors are sent with name and message, never with the host’s stack', () => {
  class OurError extends RangeError {
    name = 'OurError';
    secret = 1;
  }
  const own = Object.assign(new Error('a'), { name: undefined, message: 5 });
  assert.equal(form(new TypeError('no')), '{"$type":"Error","name":"TypeError","message":"no"}');
  assert.equal(form(new OurError('b')), '{"$type":"Error","name":"OurError","message":"b"}');
  assert.equal(form(own), '{"$type":"Error","name":"Error","message":""}');
  assert.equal(form(new AggregateError([1], 'all')), '{"$type":"Error","name":"AggregateError","message":"all","errors":[1]}');
  assert.equal(form(new DOMException('gone', 'AbortError')), '{"$type":"Error","name":"AbortError","message":"gone"}');
});

test('errors of the sandbox become Error objects, with the sandbox’s stack or none', () => {
  const error = parsed('{"$type":"Error","name":"TypeError","message":"no","stack":"    at <runCode>:1:1"}');
  assert.ok(error instanceof TypeError);
  assert.equal(error.message, 'no');
  assert.equal(error.stack, 'TypeError: no\n    at <runCode>:1:1');
  const other = parsed('{"$type":"Error","name":"MyError","message":"no"}');
  assert.ok(other instanceof Error);
  assert.equal(other.name, 'MyError');
  assert.equal(other.stack, 'MyError: no');
  assert.deepEqual(Object.keys(other), []);
});

test('cycles and shared references', () => {
  const map = new Map();
  const value = { list: [], map, set: new Set([map]) };
  value.list.push(value, value.list);
  map.set(map, value);
  const back = there(value);
  assert.equal(back.list[0], back);
  assert.equal(back.list[1], back.list);
  assert.equal(back.map.get(back.map), back);
  assert.ok(back.set.has(back.map));
  const date = new Date(0);
  const [a, b] = there([date, date]);
  assert.equal(a, b);
});

test('equal primitives are not shared, equal objects stay distinct', () => {
  assert.equal(
    form(['a', 'a', 1n, 1n, {}, {}]),
    '["a","a",{"$type":"bigint","value":"1"},{"$type":"bigint","value":"1"},{},{}]',
  );
});

test('a reference may come before or inside the shared value', () => {
  const back = parsed(
    '[{"$type":"ref","id":1},{"$type":"ref","id":0},{"$type":"shared","id":0,"value":{"a":{"$type":"shared","id":1,"value":[{"$type":"ref","id":0}]}}}]',
  );
  assert.equal(back[0], back[2].a);
  assert.equal(back[1], back[2]);
  assert.equal(back[0][0], back[2]);
});

test('ids are unique in a line, and an object in two values of a line stays one object', () => {
  const encoder = new Encoder(callables);
  const line = {};
  const [one, two] = [{}, {}];
  encoder.put(line, 'a', [one, one], 'a');
  encoder.put(line, 'b', [two, two, one], 'b');
  encoder.finish('b');
  assert.equal(
    JSON.stringify(line),
    '{"a":[{"$type":"shared","id":0,"value":{}},{"$type":"ref","id":0}],"b":[{"$type":"shared","id":1,"value":{}},{"$type":"ref","id":1},{"$type":"ref","id":0}]}',
  );
});

test('a million keys', () => {
  const value = Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => [`k${i}`, i]));
  const back = there(value);
  assert.equal(Object.keys(back).length, 1e6);
  assert.equal(back.k999999, 999999);
});

test('nesting up to a depth of 500', () => {
  assert.deepEqual(there(deep(500)), deep(500));
  assert.deepEqual(
    there(deep(166, (inner) => new Map([[1, inner]]))),
    deep(166, (inner) => new Map([[1, inner]])),
  );
});

test('nested shared values stay within the depth that Glovebox reads', () => {
  const keep = [];
  const value = [deep(497, (inner) => (keep.push([inner]), keep.at(-1))), keep];
  assert.throws(() => encode(value), { name: 'SerializationError', message: /nested too deeply/ });
});

for (const [kind, wrap] of [
  ['arrays', (v) => [v]],
  ['objects', (a) => ({ a })],
  ['maps', (v) => new Map([[1, v]])],
]) {
  test(`${kind} nested 100,000 deep are refused`, () => {
    assert.throws(() => encode(deep(1e5, wrap)), { name: 'SerializationError', message: /nested more than 500 deep/ });
  });
}
test('a value that is nested too deeply is not decoded', () => {
  assert.throws(() => decode(`{"value":${'['.repeat(1e5)}${']'.repeat(1e5)}}`), { message: /nested too deeply/ });
});

class Socket {}
refused('a class instance', { user: { socket: new Socket() } }, 'globals.user.socket', /an instance of Socket/);
refused('in an array', [0, { 'a b': new Socket() }], 'globals[1]["a b"]', /Socket/);
refused('in a Map', new Map([['k', new Socket()]]), 'globals.values()[0]', /Socket/);
refused('a key of a Map', new Map([[new Socket(), 1]]), 'globals.keys()[0]', /Socket/);
refused('in a Set', new Set([1, new Socket()]), 'globals.values()[1]', /Socket/);
refused('a symbol', { s: Symbol('x') }, 'globals.s', /a symbol/);
refused('a WeakMap', { w: new WeakMap() }, 'globals.w', /WeakMap/);
refused('a WeakSet', [new WeakSet()], 'globals[0]', /WeakSet/);
refused('a WeakRef', [new WeakRef({})], 'globals[0]', /WeakRef/);
refused('a boxed string', [new String('a')], 'globals[0]', /String/);
refused('a boxed symbol', [Object(Symbol())], 'globals[0]', /Symbol/);
refused('a SharedArrayBuffer', [new SharedArrayBuffer(1)], 'globals[0]', /SharedArrayBuffer/);
refused('a view of a SharedArrayBuffer', [new Uint8Array(new SharedArrayBuffer(1))], 'globals[0]', /SharedArrayBuffer/);
refused('a generator', [(function* () {})()], 'globals[0]', /prototype of its own|Generator/);
refused('an object with a prototype', [Object.create({ a: 1 })], 'globals[0]', /a prototype of its own/);
refused('a subclass of Map', [new (class Names extends Map {})()], 'globals[0]', /an instance of Names/);
refused('a subclass of Set', [new (class Names extends Set {})()], 'globals[0]', /an instance of Names/);
refused('a subclass of Date', [new (class Day extends Date {})()], 'globals[0]', /an instance of Day/);
refused('a subclass of Array', [new (class List extends Array {})()], 'globals[0]', /an instance of List/);
refused(
  'a subclass of Float32Array',
  [new (class Vector extends Float32Array {})(1)],
  'globals[0]',
  /an instance of Vector/,
);
refused(
  'a getter that throws',
  {
    a: {
      get b() {
        throw new Error('not today');
      },
    },
  },
  'globals.a.b',
  /not today/,
);
refused(
  'a getter that throws something odd',
  {
    get b() {
      throw Object.create(null);
    },
  },
  'globals.b',
  /cannot be shown/,
);
refused(
  'a proxy that throws',
  [
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('private');
        },
      },
    ),
  ],
  'globals[0]',
  /private/,
);
refused('a proxy of a Map, which is no Map', [new Proxy(new Map(), {})], 'globals[0]', /Map/);
refused('an array of four billion holes', [new Array(2 ** 32 - 1)], 'globals[0]', /longer than/);
refused(
  'five million values',
  Array.from({ length: 6 }, () => new Array(1e6).fill(0)),
  'globals[4][194298]',
  /more than 4194304/,
);

test('refused: a revoked proxy', () => {
  for (const target of [{}, []]) {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    assert.throws(() => encode({ p: proxy }), { name: 'SerializationError', path: 'globals.p', message: /revoked/ });
  }
});

test('refused: a buffer that has been transferred', () => {
  const buffer = new ArrayBuffer(8);
  const view = new Uint8Array(buffer);
  structuredClone(buffer, { transfer: [buffer] });
  assert.throws(() => encode([buffer]), { name: 'SerializationError', path: 'globals[0]' });
  assert.throws(() => encode([view]), { name: 'SerializationError', path: 'globals[0]' });
});

test('invalid values from the server are refused', () => {
  for (const json of [
    '{"$type":"Unheard"}',
    '{"$type":"constructor","data":""}',
    '{"$type":"Buffer","data":""}',
    '{"$type":7}',
    '{"$type":"bigint","value":"x"}',
    '{"$type":"bigint"}',
    '{"$type":"Map","entries":[1]}',
    '{"$type":"Set"}',
    '{"$type":"ref","id":0}',
    '{"$type":"Uint16Array","data":"AA=="}',
    '{"$type":"Uint8Array","buffer":{"$type":"ArrayBuffer","data":"AA=="},"byteOffset":0,"length":2}',
    '{"$type":"function","id":99}',
  ]) {
    assert.throws(() => parsed(json), Error, json);
  }
});

test('a regular expression that this Node.js does not know is named', () => {
  assert.throws(() => parsed('{"$type":"RegExp","source":"(","flags":""}'), {
    name: 'SerializationError',
    message: /regular expression/,
  });
});
