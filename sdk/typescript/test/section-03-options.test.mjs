/* The effect of each option. Invalid options are tested in options.test.mjs. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { Glovebox, runCode } from 'glovebox';
import { endsWith, typesReason, valueOf } from './helpers.mjs';

const noTypes = await typesReason();

test('3 unknown keys are rejected', () => {
  assert.throws(() => runCode('export default 1', { unknown: 1 }), { name: 'TypeError', message: /options\.unknown/ });
});

test('3 a deadline is not an option', () => {
  assert.throws(() => runCode('export default 1', { timeout: 1000 }), { name: 'TypeError', message: /terminate\(\)/ });
});

test('3 TypeScript is the default', { skip: noTypes }, async () => {
  assert.equal(await valueOf('const n: number = 1; export default n as unknown'), 1);
});

test('3 language: javascript is not transformed', async () => {
  assert.equal(await valueOf('export default 1 < 2', { language: 'javascript' }), true);
  await endsWith('link_error', 'const n: number = 1; export default n', { language: 'javascript' });
});

test('3 memoryLimitBytes ends a run that needs more', async () => {
  const greedy = 'const all = []; for (;;) all.push(new Uint8Array(1e5))';
  await endsWith('memory', greedy, { memoryLimitBytes: 16 * 1024 * 1024 });
});

test('3 filename is in errors and stack traces', async () => {
  const { error } = await endsWith('error', '\nthrow new Error("here")', { filename: 'agent/step-1.js' });
  assert.equal(error.filename, 'agent/step-1.js');
  assert.equal(error.line, 2);
  assert.match(error.stack, /agent\/step-1\.js:2/);
});

test('3 filename is <runCode> by default', async () => {
  const { error } = await endsWith('error', 'throw new Error("here")');
  assert.equal(error.filename, '<runCode>');
});

test('3 report is called for every value, in order', async () => {
  const seen = [];
  const { reports } = await endsWith('success', 'for (const x of [1, "b", { c: 3n }]) report(x); export default 0', {
    report: (value) => void seen.push(value),
  });
  assert.deepEqual(seen, [1, 'b', { c: 3n }]);
  assert.deepEqual(reports, seen);
});

const increment = (types) => `
  export function increment(n${types ? ': number' : ''})${types ? ': number' : ''} {
    return n + 1;
  }

  export default function fallback() {
    return 123;
  }
`;

test('3.1 the selected export is executed', async () => {
  assert.equal(await valueOf(increment(false), { execute: { fn: 'increment', args: [100] } }), 101);
});

test('3.1 the selected export is executed, with types', { skip: noTypes }, async () => {
  assert.equal(await valueOf(increment(true), { execute: { fn: 'increment', args: [100] } }), 101);
});

test('3.1 without execute it is the default export without arguments', async () => {
  assert.equal(await valueOf(increment(false)), 123);
  assert.equal(await valueOf('export default (...args) => args.length'), 0);
  assert.equal(await valueOf('export default (...args) => args.length', { execute: {} }), 0);
  assert.equal(await valueOf('export default (...args) => args.length', { execute: { args: [1, 2] } }), 2);
  assert.equal(await valueOf(increment(false), { execute: { fn: 'default' } }), 123);
});

test('3.1 the return value of a function is awaited', async () => {
  assert.equal(await valueOf('export const f = async (n) => n * 2', { execute: { fn: 'f', args: [4] } }), 8);
  assert.equal(await valueOf('export default () => ({ then(done) { done("thenable") } })'), 'thenable');
});

test('3.1 an export that is not a function is the result', async () => {
  assert.deepEqual(await valueOf('export const list = [1, 2]', { execute: { fn: 'list' } }), [1, 2]);
  assert.deepEqual(await valueOf('export const list = [1, 2]', { execute: { fn: 'list', args: [] } }), [1, 2]);
});

test('3.1 an export that is not a function takes no arguments', async () => {
  const { error } = await endsWith('error', 'export default 1', { execute: { args: [1] } });
  assert.match(error.message, /not a function/);
});

test('3.1 a missing export is a link error', async () => {
  const { error } = await endsWith('link_error', 'export const here = 1', { execute: { fn: 'there' } });
  assert.match(error.message, /there/);
  await endsWith('link_error', 'export const here = 1');
});

test('3.1 arguments are marshaled like other values', async () => {
  const args = [undefined, 1n, NaN, new Map([['a', new Date(0)]]), [, 1], (n) => n + 1];
  const source = `export default (u, big, nan, map, sparse, fn) => [
    u === undefined, big === 1n, Number.isNaN(nan), map.get('a').getTime() === 0, !(0 in sparse), fn(1) === 2,
  ]`;
  assert.deepEqual(await valueOf(source, { execute: { args } }), Array(6).fill(true));
});

test('3.2 named imports and namespace imports', async () => {
  const files = new Map([['a', 'hello']]);
  const imports = {
    fs: { readFile: async (path) => files.get(path), writeFile: async (path, data) => void files.set(path, data) },
  };
  const source = `
    import { readFile, writeFile } from 'fs';
    import * as fs from 'fs';
    await writeFile('b', await readFile('a') + ' there');
    export default [await fs.readFile('b'), fs.readFile === readFile, Object.keys(fs).sort()];
  `;
  assert.deepEqual(await valueOf(source, { imports }), ['hello there', true, ['readFile', 'writeFile']]);
});

test('3.2 the default export is the value at the key default', async () => {
  const imports = { greeter: { default: (name) => `hi, ${name}` } };
  assert.equal(await valueOf("import greet from 'greeter'; export default greet('you')", { imports }), 'hi, you');
});

test('3.2 scoped bare specifiers, and values that are not functions', async () => {
  const imports = { '@scope/pkg': { version: '1.2', list: [1n] } };
  const source = "import { version, list } from '@scope/pkg'; export default [version, list[0]]";
  assert.deepEqual(await valueOf(source, { imports }), ['1.2', 1n]);
});

test('3.2 URLs fail at link time', async () => {
  for (const url of ['https://example.com/a.js', 'file:///etc/passwd', 'data:text/javascript,export default 1']) {
    const { error } = await endsWith('link_error', `import x from '${url}'; export default x`);
    assert.equal(error.specifier, url);
  }
});

test('3.2 nothing is resolved from packages, builtins or disk', async () => {
  for (const specifier of ['fs', 'node:fs', 'typescript', 'lodash', '/etc/hostname', '#internal']) {
    const { error } = await endsWith('link_error', `import x from '${specifier}'; export default x`);
    assert.equal(error.specifier, specifier);
  }
});

test('3.2 the error of an unknown specifier has specifier and position', async () => {
  const { error } = await endsWith('link_error', "const a = 1;\nimport { x } from 'nowhere';\nexport default x");
  assert.equal(error.specifier, 'nowhere');
  assert.equal(error.filename, '<runCode>');
  assert.equal(error.line, 2);
  assert.ok(error.column >= 1);
});

test('3.2 a name that is not exported fails linkage', async () => {
  const { error } = await endsWith('link_error', "import { x } from 'lib'; export default x", {
    imports: { lib: { y: 1 } },
  });
  assert.match(error.message, /x/);
  await endsWith('link_error', "import lib from 'lib'; export default lib", { imports: { lib: { y: 1 } } });
});

test('3.3 the example', async () => {
  const source = `
    import { add } from './math.js';
    export const result = add(1, 2);
  `;
  const modules = { './math.js': 'export const add = (a, b) => a + b;' };
  assert.equal(await valueOf(source, { execute: { fn: 'result' }, modules }), 3);
});

test('3.3 modules import each other, as siblings and parents', async () => {
  const modules = {
    './lib/math.js':
      "import { one } from './numbers.js'; import { two } from '../two.js'; export const sum = one + two;",
    './lib/numbers.js': 'export const one = 1;',
    './two.js': 'export const two = 2;',
  };
  assert.equal(await valueOf("export { sum as default } from './lib/math.js'", { modules }), 3);
});

test('3.3 the entry’s imports resolve from filename', async () => {
  const modules = { './lib/near.js': 'export default "near"', './far.js': 'export default "far"' };
  const source = "import near from './near.js'; import far from '../far.js'; export default [near, far]";
  assert.deepEqual(await valueOf(source, { modules, filename: 'lib/entry.js' }), ['near', 'far']);
});

test('3.3 modules share one sandbox, and are evaluated once', async () => {
  const modules = {
    './state.js': 'export const state = { n: 0 }; state.n++;',
    './a.js': "import { state } from './state.js'; state.n += 10; export default state;",
  };
  const source = "import a from './a.js'; import { state } from './state.js'; export default [a === state, state.n]";
  assert.deepEqual(await valueOf(source, { modules }), [true, 11]);
});

test('3.3 modules see imports and globals', async () => {
  const modules = { './a.js': "import { f } from 'lib'; export default f(n)" };
  const options = { modules, imports: { lib: { f: (n) => n + 1 } }, globals: { n: 1 } };
  assert.equal(await valueOf("export { default } from './a.js'", options), 2);
});

test('3.3 modules may be TypeScript', { skip: noTypes }, async () => {
  const modules = { './math.ts': 'export const add = (a: number, b: number): number => a + b;' };
  assert.equal(await valueOf("import { add } from './math.ts'; export default add(1, 2)", { modules }), 3);
});

test('3.3 a module that is not in the options is not read from disk', async () => {
  for (const specifier of ['./package.json', './missing.js', '../../../etc/passwd']) {
    await endsWith('link_error', `import x from '${specifier}'; export default x`);
  }
});

test('3.3 a syntax error in a module is a link error that names it', async () => {
  const { error } = await endsWith('link_error', "import './bad.js'; export default 1", {
    modules: { './bad.js': 'export default }' },
  });
  assert.equal(error.name, 'SyntaxError');
  assert.match(error.filename, /bad\.js/);
});

const globals = { console: { log: () => {} }, getMessage: async () => 'hello', n: 5 };

test('3.4 globals are free identifiers', async () => {
  const source = "console.log('hi'); const m = await getMessage(); export default [m, n]";
  assert.deepEqual(await valueOf(source, { globals }), ['hello', 5]);
});

test('3.4 globals are not on globalThis', async () => {
  const source = `
    export default [
      globalThis.console, globalThis.getMessage, 'n' in globalThis,
      Reflect.ownKeys(globalThis).some((key) => ['console', 'getMessage', 'n'].includes(key)),
    ]
  `;
  assert.deepEqual(await valueOf(source, { globals }), [undefined, undefined, false, false]);
  assert.equal(await valueOf('export default globalThis.console'), undefined);
});

/* 3.5: every kind of value, in both directions, with a real sandbox. */

const cycle = { name: 'cycle' };
cycle.self = cycle;
const values = {
  strings: ['', 'a', 'ü😀', '\u0000', '\ud800 lone', 'x'.repeat(100_000)],
  numbers: [0, -0, 1.5, -1e300, NaN, Infinity, -Infinity, Number.MAX_SAFE_INTEGER, 5e-324],
  others: [true, false, null, undefined],
  bigints: [0n, -1n, 2n ** 64n, -(2n ** 40000n)],
  objects: { a: { b: [1, { c: 2 }] }, '': 0, 'a b': 1, $type: 'Map' },
  sparse: [1, , 3, ,],
  maps: new Map([['a', new Map([[NaN, -0]])]]),
  sets: new Set([1, 'a', null]),
  dates: [new Date(0), new Date(8.64e15), new Date(-1)],
  bytes: new Uint8Array([0, 1, 255]),
  buffer: new Uint8Array([1, 2, 3]).buffer,
  views: [
    new Int16Array([-1]),
    new Float32Array([0.5]),
    new BigUint64Array([2n ** 63n]),
    new DataView(new ArrayBuffer(2)),
  ],
  regexp: /a+(?<n>b)/giu,
  cycle,
};
for (const [name, value] of Object.entries(values)) {
  test(`3.5 ${name}: as global, as argument of a call, and as result`, async () => {
    let echoed;
    const source = 'echo(value); export default value';
    const options = { globals: { value, echo: (back) => void (echoed = back) } };
    assert.deepStrictEqual(await valueOf(source, options), value);
    assert.deepStrictEqual(echoed, value);
  });
}

test('3.5 an invalid date', async () => {
  const back = await valueOf('export default [value, value.getTime()]', { globals: { value: new Date(NaN) } });
  assert.ok(back[0] instanceof Date);
  assert.ok(Number.isNaN(back[0].getTime()));
  assert.ok(Number.isNaN(back[1]));
});

test('3.5 values created in the sandbox', async () => {
  const source = `export default {
    error: new RangeError('far'), date: new Date(5), map: new Map([[{}, 1n]]), hole: [, 1],
    view: new Uint16Array(new ArrayBuffer(6), 2, 1), lone: '\\udc00', proto: JSON.parse('{"__proto__":{"x":1}}'),
  }`;
  const back = await valueOf(source);
  assert.ok(back.error instanceof RangeError);
  assert.equal(back.error.message, 'far');
  assert.deepEqual(back.date, new Date(5));
  assert.deepEqual([...back.map], [[{}, 1n]]);
  assert.equal(0 in back.hole, false);
  assert.equal(back.view.byteOffset, 2);
  assert.equal(back.view.buffer.byteLength, 6);
  assert.equal(back.lone, '\udc00');
  assert.deepEqual(Object.getOwnPropertyDescriptor(back.proto, '__proto__').value, { x: 1 });
  assert.equal(back.proto.x, undefined);
  assert.equal({}.x, undefined);
});

test('3.5 __proto__ is an ordinary key in the sandbox too', async () => {
  const value = JSON.parse('{"__proto__":{"polluted":1}}');
  const source = 'export default [Object.keys(value), value.polluted, ({}).polluted]';
  assert.deepEqual(await valueOf(source, { globals: { value } }), [['__proto__'], undefined, undefined]);
});

test('3.5 a million keys, in both directions', async () => {
  const value = Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => [`k${i}`, i]));
  const options = { globals: { value }, memoryLimitBytes: 512 * 1024 * 1024 };
  assert.equal(await valueOf('export default Object.keys(value).length', options), 1e6);
  const source = 'const o = {}; for (let i = 0; i < 1e6; i++) o["k" + i] = i; export default o';
  assert.equal(Object.keys(await valueOf(source, { memoryLimitBytes: 512 * 1024 * 1024 })).length, 1e6);
});

const HOSTILE = {
  'a getter that throws': '({ get a() { throw new Error("not today") } })',
  'a proxy that throws': '({ a: new Proxy({}, { ownKeys() { throw new Error("not today") } }) })',
  'a proxy, as in a structured clone': '({ a: new Proxy({ b: 1 }, {}) })',
  'a revoked proxy': '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { a: proxy } })()',
  'a symbol': '({ a: Symbol("x") })',
  'a weak map': '({ a: new WeakMap() })',
  'a class instance': '({ a: new (class Thing { x = 1 })() })',
  'what is nested 100,000 deep': '(() => { let v = []; for (let i = 0; i < 1e5; i++) v = [v]; return { a: v } })()',
};
for (const [name, expression] of Object.entries(HOSTILE)) {
  test(`3.5 ${name} cannot leave the sandbox: as result, as argument, as report`, async () => {
    const result = await endsWith('error', `export default ${expression}`);
    assert.ok(result.error.message);
    const options = { globals: { f: () => assert.fail('called') }, report: () => assert.fail('called') };
    const source = `
      const attempt = (use) => { try { use(${expression}); return 'crossed' } catch (error) { return error instanceof Error } };
      export default [attempt(f), attempt(report)];
    `;
    assert.deepEqual(await valueOf(source, options), [true, true]);
  });
}

test('3.5 the same reference stays the same', async () => {
  const same = { n: 1 };
  const back = await valueOf('export default [a === b.list[0], [a, a]]', { globals: { a: same, b: { list: [same] } } });
  assert.equal(back[0], true);
  assert.equal(back[1][0], back[1][1]);
});

test('3.5 values are copies: changes are not visible to the other side', async () => {
  const data = { list: [1] };
  await valueOf('data.list.push(2); data.more = true; export default data', { globals: { data } });
  assert.deepEqual(data, { list: [1] });
});

test('3.5 a function is callable, with arguments and return value marshaled', async () => {
  const seen = [];
  const f = (...args) => {
    seen.push(args);
    return new Map([['got', args.length]]);
  };
  const back = await valueOf('export default [typeof f, f(1, [2n], undefined).get("got")]', { globals: { f } });
  assert.deepEqual(back, ['function', 3]);
  assert.deepEqual(seen, [[1, [2n], undefined]]);
});

test('3.5 functions nested in values, methods of bridged objects', async () => {
  const api = { v1: { add: (a, b) => a + b }, list: [() => 'first'] };
  assert.deepEqual(await valueOf('export default [api.v1.add(1, 2), api.list[0]()]', { globals: { api } }), [
    3,
    'first',
  ]);
});

test('3.5 the same function twice is one function', async () => {
  const f = () => 1;
  assert.equal(await valueOf('export default a === b', { globals: { a: f, b: f } }), true);
  assert.equal(await valueOf('export default same(a) === a', { globals: { a: f, same: (x) => x } }), true);
});

test('3.5 a bridged function gets no this', async () => {
  let seen = [];
  function look() {
    seen.push(this);
  }
  await valueOf('look(); api.look(); look.call({ secret: 1 }); export default 0', { globals: { look, api: { look } } });
  assert.deepEqual(seen, [undefined, undefined, undefined]);
});

test('3.5 only the name of a bridged function is visible', async () => {
  const secret = 'hidden';
  const f = Object.assign(() => secret, { token: secret });
  const source = 'export default [String(f).includes("secret"), f.token, Object.keys(f)]';
  assert.deepEqual(await valueOf(source, { globals: { f } }), [false, undefined, []]);
});

test('3.5 the host can call a function of the code', async () => {
  const map = async (list, fn) => Promise.all(list.map((item) => fn(item)));
  const source = 'export default await map([1, 2, 3], (n) => n * n)';
  assert.deepEqual(await valueOf(source, { globals: { map } }), [1, 4, 9]);
});

test('3.5 functions of the code: async, throwing, and passed back', async () => {
  const globals = {
    attempt: async (fn) => {
      try {
        return ['returned', await fn()];
      } catch (error) {
        return ['threw', error instanceof RangeError, error.message];
      }
    },
    same: (fn) => fn,
  };
  const source = `
    const f = async () => 'later';
    export default [
      await attempt(f), await attempt(() => { throw new RangeError('mine') }), same(f) === f,
    ]
  `;
  assert.deepEqual(await valueOf(source, { globals }), [['returned', 'later'], ['threw', true, 'mine'], true]);
});

test('3.5 a promise is a promise, in both directions', async () => {
  let settled;
  const globals = {
    good: Promise.resolve({ n: 1 }),
    bad: Promise.reject(new TypeError('no')),
    slow: new Promise((resolve) => setTimeout(resolve, 20, 'slow')),
    take: async (promise) => {
      settled = [promise instanceof Promise, await promise];
    },
  };
  const source = `
    const results = [good instanceof Promise, await good, await bad.catch((e) => [e.name, e.message]), await slow];
    await take(Promise.resolve('theirs'));
    export default results;
  `;
  assert.deepEqual(await valueOf(source, { globals }), [true, { n: 1 }, ['TypeError', 'no'], 'slow']);
  assert.deepEqual(settled, [true, 'theirs']);
});

test('3.5 an unsupported value is a SerializationError with its path', () => {
  const cases = [new (class Thing {})(), new WeakMap(), new WeakRef({}), Symbol('host')];
  for (const value of cases) {
    assert.throws(() => runCode('', { globals: { user: { value } } }), {
      name: 'SerializationError',
      path: 'globals.user.value',
      message: /^globals\.user\.value: /,
    });
  }
});

test('3.5 an unsupported return value of a host function is a SerializationError in the code', async () => {
  const globals = { sync: () => ({ x: new WeakMap() }), asynchronous: async () => ({ x: Symbol('x') }) };
  const source = `
    const caught = [];
    try { sync() } catch (error) { caught.push(error.name, error.message) }
    try { await asynchronous() } catch (error) { caught.push(error.name, error.message) }
    export default caught;
  `;
  const [name, message, laterName, laterMessage] = await valueOf(source, { globals });
  assert.equal(name, 'SerializationError');
  assert.match(message, /^return value\.x: an instance of WeakMap/);
  assert.equal(laterName, 'SerializationError');
  assert.match(laterMessage, /^return value\.x: a symbol/);
});

test('3.5 a plain answer is returned synchronously, a promise can be awaited', async () => {
  const globals = { now: () => 1, soon: async () => 2 };
  const source = 'const p = soon(); export default [now() + 1, p instanceof Promise, await p]';
  assert.deepEqual(await valueOf(source, { globals }), [2, true, 2]);
});

test('3.5 many bridges at once', async () => {
  const globals = { slow: (n) => new Promise((resolve) => setTimeout(resolve, (n * 7) % 20, n)) };
  const source = 'export default await Promise.all(Array.from({ length: 100 }, (_, n) => slow(n)))';
  assert.deepEqual(
    await valueOf(source, { globals }),
    Array.from({ length: 100 }, (_, n) => n),
  );
});

test('3.5 one object in imports, globals and args is one object in the sandbox', async () => {
  const shared = { n: 1, list: [] };
  shared.self = shared;
  const source = `
    import { given as imported, list } from 'lib';
    export const f = (argument, items) => {
      argument.n++;
      return [imported === argument, argument === given, given.self === given, list === items, items === given.list, given.n];
    };
  `;
  const result = await valueOf(source, {
    execute: { fn: 'f', args: [shared, shared.list] },
    imports: { lib: { given: shared, list: shared.list } },
    globals: { given: shared },
  });
  assert.deepEqual(result, [true, true, true, true, true, 2]);
  assert.equal(shared.n, 1);
});

test('3.5 the array of arguments may also occur in other options', async () => {
  const args = [1, 2];
  const options = { execute: { fn: 'f', args }, globals: { args } };
  assert.deepEqual(await valueOf('export const f = (...given) => [given, args]', options), [args, args]);
});

const ALIKE = {
  'a class instance': 'new (class Socket {})()',
  'an object with a prototype': 'Object.create({})',
  'a subclass of Array': 'new (class List extends Array {})()',
  'a subclass of Map': 'new (class Names extends Map {})()',
  'a subclass of Set': 'new (class Names extends Set {})()',
  'a subclass of Date': 'new (class Day extends Date {})()',
  'a subclass of RegExp': 'new (class Rule extends RegExp {})("a")',
  'a subclass of a typed array': 'new (class Vector extends Float64Array {})(1)',
  'a subclass of ArrayBuffer': 'new (class Memory extends ArrayBuffer {})(1)',
  'a boxed number': 'new Number(1)',
  'a weak map': 'new WeakMap()',
  'a weak reference': 'new WeakRef({})',
  'a symbol': 'Symbol("s")',
};
for (const [name, expression] of Object.entries(ALIKE)) {
  test(`3.5 ${name} is refused in both directions, with the same message`, async () => {
    const place = `{ list: [new Map([["k", { "odd key": ${expression} }]])] }`;
    const value = new Function(`return ${place}`)();
    let entering;
    assert.throws(() => runCode('', { globals: { value } }), (error) => (entering = error).name === 'SerializationError');
    const { error: leaving } = await endsWith('error', `export default ${place}`);
    assert.equal(leaving.name, 'SerializationError');
    assert.match(leaving.message, /^result\.list\[0\]\.values\(\)\[0\]\["odd key"\]: an? .* cannot cross$/);
    assert.equal(leaving.message.replace(/^result/, ''), entering.message.replace(/^globals\.value/, ''));
  });
}

test('3.5 the name of a function is not cut', async () => {
  for (const name of ['a\0b', 'é'.repeat(300), 'half \ud800', '']) {
    const f = Object.defineProperty(() => 1, 'name', { value: name });
    assert.deepEqual(await valueOf('export default [f.name, f()]', { globals: { f } }), [name, 1]);
  }
});

test('3.2 names with U+0000 are refused instead of cut', () => {
  const named = { name: 'TypeError', message: /U\+0000|NUL/ };
  assert.throws(() => runCode('', { imports: { 'a\0b': { one: 1 } } }), named);
  assert.throws(() => runCode('', { imports: { a: { 'one\0two': 1 } } }), named);
  assert.throws(() => runCode('', { modules: { './a\0b.js': '' } }), named);
});

test('3.5 cause and errors of an error are passed in both directions', async () => {
  const loop = new RangeError('l');
  loop.cause = loop;
  const make = () => {
    const all = new AggregateError([new TypeError('t'), 1], 'all');
    throw new Error('a', { cause: new SyntaxError('b', { cause: all }) });
  };
  const source = `
    let caught; try { make() } catch (error) { caught = error }
    const { cause } = caught;
    const inside = [cause instanceof SyntaxError, cause.cause instanceof AggregateError, cause.cause.errors[0].message,
      given.cause === given, cause.stack.includes('test.mjs')];
    export default { inside, caught, given, odd: odd.cause };
  `;
  const odd = new Error('o', { cause: { socket: new (class Socket {})(), f() {}, n: 1 } });
  const { inside, caught, given, odd: described } = await valueOf(source, { globals: { make, given: loop, odd } });
  assert.deepEqual(inside, [true, true, 't', true, false]);
  assert.ok(caught.cause instanceof SyntaxError && caught.cause.cause instanceof AggregateError);
  assert.equal(caught.cause.cause.errors[0].message, 't');
  assert.equal(caught.cause.cause.errors[1], 1);
  assert.ok(given instanceof RangeError && given.cause === given);
  assert.deepEqual(Object.keys(caught), []);
  assert.deepEqual(described, { socket: '[an instance of Socket]', f: '[function]', n: 1 });
});

test('3.5 a long chain of causes is cut', async () => {
  let chain = new Error('end');
  for (let i = 0; i < 5000; i++) chain = new Error(`e${i}`, { cause: chain });
  const source = 'let n = 0; for (let at = chain; at; at = at.cause) n++; export default n';
  assert.equal(await valueOf(source, { globals: { chain } }), 33);
});

test('3.5 a secret in a cause is masked', async () => {
  const client = new Glovebox();
  await client.addSecret('WORDS', 'correct horse battery');
  const source = "const e = new Error('a', { cause: new Error('correct horse battery') }); e.cause.cause = e; export default e";
  const { result } = await client.runCode(source);
  await client.close();
  assert.equal(result.cause.message, '***');
  assert.equal(result.cause.cause, result);
});
